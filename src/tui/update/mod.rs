//! The one place where the model changes: a message in, effects out.

mod actions;
mod ask;
mod engine_events;
mod forms;
mod invite;
mod lists;
mod message;
mod moments;
mod overlays;
mod reading;
mod refusal;
mod scroll;
mod search;
mod seating;

pub use forms::cannot_begin;
pub use invite::{access_word, begun, invitation};
pub use message::{Effect, Message};
pub use refusal::refusal;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::keymap::Action;
use super::model::{LeaveTarget, Mode, Model, Overlay};
use actions::perform;
use ask::leave;

pub fn update(model: &mut Model, message: Message) -> Vec<Effect> {
    match message {
        Message::Resize(width, height) => model.size = (width, height),
        Message::Pass(millis) => model.replay.pass(millis),
        Message::Tick(now) => model.now = now,
        Message::Progress(progress) => model.progress = progress,
        Message::Doctor(found) => lists::doctor(model, found),
        Message::Paste(text) => return paste(model, &text),
        Message::Key(key) if key.kind != KeyEventKind::Release => return press(model, &key),
        Message::Key(_) => {}
        Message::Click(target) => return overlays::click(model, target),
        Message::Wheel(pane, lines) => scroll::wheel(model, pane, lines),
        Message::EngineUpdate(said) => return engine_events::on_engine_update(model, said),
        Message::Asked(seat, again) => engine_events::asked(model, seat, again),
        Message::LoadProgress(read) => engine_events::reading(model, read),
        Message::Sources(found) => (model.sources, model.is_finding_sources) = (found, false),
        Message::Home(home) => {
            model.home.take(*home);
            // Who is past the home screen has been told by the draft.
            let told = model.home.notices.join(" · ");
            if matches!(model.mode, Mode::Home) && !told.is_empty() {
                model.notice = Some(told);
            }
            forms::home_read(model);
        }
        Message::Drafted(draft) => return engine_events::drafted(model, *draft),
        Message::Context(read) => engine_events::context(model, read),
        Message::Paths(found) => return forms::complete_path(model, &found),
        Message::Kept(name, text) => forms::restore_draft(model, &name, &text),
        Message::Busy(what) => {
            if let Some((shown, _)) = &mut model.busy {
                *shown = sentence(&what);
            }
        }
        Message::Say(words) => model.notice = Some(words),
    }
    Vec::new()
}

fn press(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    model.notice = None;
    let is_interrupt = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
    let is_suspend = key.code == KeyCode::Char('z') && key.modifiers.contains(KeyModifiers::CONTROL);
    match &mut model.overlay {
        _ if is_interrupt => leave(model, LeaveTarget::Quit),
        _ if is_suspend => vec![Effect::Suspend],
        _ if key.code == KeyCode::Esc && model.busy.is_some() => {
            (model.busy, model.notice) = (None, Some("Cancelled. Nothing was changed.".to_owned()));
            vec![Effect::CancelOpening]
        }
        Some(Overlay::Search(_)) => overlays::search(model, key),
        Some(Overlay::List(_)) => overlays::list(model, key),
        Some(Overlay::Text(_)) => reading::press(model, key),
        Some(Overlay::Form(_)) => forms::press(model, key),
        Some(Overlay::Ask(_)) => ask::press(model, key),
        None => {
            let state = model.screen_state();
            if let Some(action) = model.keys.action(key, state) {
                if action == Action::JumpToTenth {
                    moments::to_tenth(model, key);
                    return Vec::new();
                }
                return perform(model, action);
            }
            model.notice = refusal::elsewhere(model, key, state);
            Vec::new()
        }
    }
}

/// What a diagnostic says, as the beginning of a line.
fn sentence(message: &str) -> String {
    let message = message.replace('`', "");
    let mut letters = message.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

fn paste(model: &mut Model, text: &str) -> Vec<Effect> {
    // What is pasted into a one-line field is its first line, and not more than a line can hold.
    let line = || -> String { text.lines().next().unwrap_or_default().chars().take(1000).collect() };
    match &mut model.overlay {
        Some(Overlay::Search(words)) => words.push_str(&line()),
        Some(Overlay::List(list)) => list.paste(&line()),
        Some(Overlay::Form(_)) => return forms::paste(model, text),
        _ => {}
    }
    Vec::new()
}
