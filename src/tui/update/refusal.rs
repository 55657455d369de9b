//! Why an action cannot work now. Who asks the core asks for what an order would be refused for, so
//! that no form is filled in for nothing.

use super::invite::seat_to_invite;
use crate::core::{Command, decide};
use crate::insight::round_view::is_revealed;
use crate::tui::keymap::{Action, ScreenState};
use crate::tui::model::{Mode, Model};

/// Returns why an action cannot work now, in one line.
pub fn refusal(model: &Model, action: Action) -> Option<String> {
    let session = model.session();
    let needs = |is_there: bool, why: &str| (!is_there).then(|| why.to_owned());
    match action {
        Action::ExcuseSeat | Action::RetrySeat => {
            let Some(round) = session.open_round() else { return needs(false, NO_ROUND) };
            let (round, participant) = (round.opened.round.clone(), model.seat_to_help()?);
            let command = if action == Action::ExcuseSeat {
                Command::Excuse { round, participant, reason: "-".to_owned() }
            } else {
                Command::Retry { round, participant, model: None }
            };
            decide(session, command, model.now).err().map(|refusal| refusal.to_string())
        }
        Action::InviteSeat => needs(seat_to_invite(model).is_some(), NOT_LINKED),
        Action::CloseRound => needs(session.open_round().is_some(), NO_ROUND),
        Action::ExtendDeadline => match session.open_round() {
            None => needs(false, NO_ROUND),
            Some(round) => needs(round.deadline_ms.is_some(), "This round has no deadline."),
        },
        Action::ChooseModel if !matches!(model.mode, Mode::Home) => needs(
            model.is_undecided(),
            "The session has begun: models stay. While a round is open, r asks a seat with another.",
        ),
        Action::EditRound | Action::ChooseParticipants => {
            needs(model.preview().is_some(), "No round is drafted yet. o starts the first step.")
        }
        Action::OtherRules => {
            let shown = model.shown_round().filter(|_| model.preview().is_none());
            let why = "No round is counted yet. Other rules apply after the reveal.";
            needs(shown.is_some_and(is_revealed), why)
        }
        Action::NextEvent | Action::NextRound if matches!(model.mode, Mode::Replay) => {
            let is_end = model.replay.at() == model.replay.len();
            needs(!is_end, "This is the last event. Press g for the start.")
        }
        Action::NextReveal => {
            needs(model.replay.next_reveal().is_some(), "No reveal after this moment. Press g for the start.")
        }
        Action::NextSeat | Action::PreviousSeat => {
            needs(model.seat_count() > 0, "No seats yet: no round is drafted or open.")
        }
        _ => None,
    }
}

const NOT_LINKED: &str =
    "No seat is remote. Before the session begins, m gives a seat the model remote/link.";
const NO_ROUND: &str = "No round is open: a step is running. Tab leads to the steps.";

/// Returns where the action of a key that has none in this state would work.
pub fn elsewhere(model: &Model, key: &crossterm::event::KeyEvent, state: ScreenState) -> Option<String> {
    let (binding, label) = model.keys.in_another_state(key)?;
    Some(format!("No effect in {}. {label}: {} · in {}", state.word(), binding.name, binding.places()))
}
