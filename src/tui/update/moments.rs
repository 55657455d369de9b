//! What is looked at of the past: a moment of a replay, an earlier round.

use crossterm::event::KeyEvent;

use crate::tui::keymap::Action;
use crate::tui::model::{Model, Pane};

pub fn replay_action(model: &mut Model, action: Action) {
    let replay = &mut model.replay;
    match action {
        Action::NextEvent => replay.step(true),
        Action::PreviousEvent => replay.step(false),
        Action::NextRound => replay.round(true),
        Action::PreviousRound => replay.round(false),
        Action::GoToStart => replay.seek(0),
        Action::GoToEnd => replay.seek(replay.len()),
        Action::PlayPause => replay.toggle(),
        Action::PlayFaster => replay.change_speed(true),
        Action::PlaySlower => replay.change_speed(false),
        Action::NextReveal => replay.seek(replay.next_reveal().unwrap_or(replay.at())),
        Action::JumpToTenth => model.notice = Some("Press 0 to 9 to jump.".to_owned()),
        _ => {}
    }
    model.scroll = [0; Pane::ALL.len()];
}

/// Goes to a tenth of the time line: the first of the action's keys to its start, the last to nine tenths.
pub fn to_tenth(model: &mut Model, key: &KeyEvent) {
    let tenth = model.keys.place_of(Action::JumpToTenth, key).unwrap_or(0);
    let whole = model.replay.played_at(model.replay.len());
    let at = model.replay.count_by(whole * tenth as u64 / 10);
    model.replay.seek(at.max(1));
    model.scroll = [0; Pane::ALL.len()];
}

/// Looks at the round before the one shown, or at the one after it.
pub fn look_back(model: &mut Model, further: bool) {
    // A drafted round comes after all that were opened.
    let rounds = model.session().rounds.len();
    let newest = rounds + usize::from(model.live().is_some_and(|live| live.preview.is_some()));
    let to = if further { model.rounds_back + 1 } else { model.rounds_back.saturating_sub(1) };
    if to >= newest || to == model.rounds_back {
        let text =
            if further { "This is the first round." } else { "This is the newest round. [ goes back." };
        model.notice = Some(text.to_owned());
        return;
    }
    (model.rounds_back, model.scroll) = (to, [0; Pane::ALL.len()]);
    if to > 0 {
        model.notice = Some(format!("Round {} of {newest}, as it was. Press ] to come back.", newest - to));
        model.focus = Pane::Seats;
    }
}
