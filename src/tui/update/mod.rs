//! Central `update` function: one message changes the model and returns effects.

mod actions;
mod ask;
mod engine_events;
mod forms;
mod lists;
mod search;

pub use engine_events::replay_shown;
pub use forms::cannot_begin;
pub use lists::begun;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::frame::Pane;
use super::host::{Effect, Message};
use super::keys;
use super::list::{ListEvent, type_in};
use super::model::{LeaveTarget, Mode, Model, Overlay};
use super::reading::TextEvent;
use crate::insight::wording::capital;
use actions::{perform, scroll_pane};
use ask::leave;

pub fn update(model: &mut Model, message: Message) -> Vec<Effect> {
    match message {
        Message::Resize(width, height) => model.size = (width, height),
        Message::Pass(millis) => model.replay.pass(millis),
        Message::Tick(now) => model.now = now,
        Message::Progress(progress) => model.progress = progress,
        Message::Doctor(found) => lists::doctor(model, found),
        Message::Paste(text) => return paste(model, &text),
        Message::Key(key) => return press(model, &key),
        Message::EngineUpdate(said) => return engine_events::on_engine_update(model, said),
        Message::Asked(seat) => engine_events::asked(model, seat),
        Message::Sources(found) => model.home.sources = Some(found),
        Message::Home(home) => {
            model.home.take(*home);
            // Other screens show their own notices.
            let told = model.home.notices.join(" · ");
            if matches!(model.mode, Mode::Home) && !told.is_empty() {
                model.notice = Some(told);
            }
        }
        Message::Drafted(draft) => return engine_events::drafted(model, *draft),
        Message::Context(read) => engine_events::context(model, read),
        Message::Paths(found) => return forms::complete_path(model, &found),
        Message::Kept(name, text) => forms::restore_draft(model, &name, &text),
        Message::Busy(what) => {
            if let Some((shown, _)) = &mut model.busy {
                *shown = capital(&what.replace('`', ""));
            }
        }
        Message::Say(words) => model.notice = Some(words),
    }
    Vec::new()
}

fn press(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    model.notice = None;
    let is_interrupt = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
    let half = model.size.1 / 2;
    match &mut model.overlay {
        _ if is_interrupt => leave(model, LeaveTarget::Quit),
        _ if key.code == KeyCode::Esc && model.busy.is_some() => {
            (model.busy, model.notice) = (None, Some("Cancelled. Nothing was changed.".to_owned()));
            vec![Effect::CancelOpening]
        }
        Some(Overlay::Search(_)) => search_key(model, key),
        Some(Overlay::List(list)) => match list.press(key, usize::from(half)) {
            ListEvent::Moved => Vec::new(),
            ListEvent::Closed => {
                model.overlay = None;
                Vec::new()
            }
            ListEvent::Chosen(for_all) => lists::choose(model, for_all),
        },
        Some(Overlay::Text(_)) => text_key(model, key),
        Some(Overlay::Form(form)) => {
            // The question stays readable while the person answers it.
            let is_answer = form.is_answer();
            match key.code {
                KeyCode::PageUp if is_answer => scroll_pane(model, Pane::Question, -i32::from(half)),
                KeyCode::PageDown if is_answer => scroll_pane(model, Pane::Question, i32::from(half)),
                _ => return forms::press(model, key),
            }
            Vec::new()
        }
        Some(Overlay::Ask(_)) => ask::press(model, key),
        None => {
            let state = model.screen_state();
            if let Some((binding, _)) = keys::pressed(key, Some(state)) {
                return perform(model, binding.action);
            }
            // The key works in another state.
            model.notice = keys::pressed(key, None).map(|(binding, label)| {
                let (name, places) = (binding.name, binding.places());
                format!("No effect in {}. {label}: {name} · {places}", state.name())
            });
            Vec::new()
        }
    }
}

fn paste(model: &mut Model, text: &str) -> Vec<Effect> {
    // A one-line field gets the first line of a paste, at most 1,000 characters.
    let line = || -> String { text.lines().next().unwrap_or_default().chars().take(1000).collect() };
    match &mut model.overlay {
        Some(Overlay::Search(words)) => words.push_str(&line()),
        Some(Overlay::List(list)) => list.paste(&line()),
        Some(Overlay::Form(_)) => return forms::paste(model, text),
        _ => {}
    }
    Vec::new()
}

fn search_key(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    let is_home = matches!(model.mode, Mode::Home);
    let Some(Overlay::Search(words)) = &mut model.overlay else { return Vec::new() };
    match key.code {
        KeyCode::Esc => {
            model.overlay = None;
            if is_home {
                model.home.words.clear();
            }
        }
        KeyCode::Enter if is_home => model.overlay = None,
        KeyCode::Enter => {
            model.words = std::mem::take(words);
            (model.overlay, model.hit) = (None, None);
            search::find(model, true);
        }
        _ => {
            type_in(words, key);
            if is_home {
                model.home.words.clone_from(words);
                model.home.at = 0;
            }
        }
    }
    Vec::new()
}

fn text_key(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    let size = model.size;
    let Some(Overlay::Text(read)) = &mut model.overlay else { return Vec::new() };
    match read.press(key, size) {
        TextEvent::Stayed => {}
        TextEvent::Closed => model.overlay = None,
        TextEvent::OtherSeat(forward) => actions::read_other_seat(model, forward),
        TextEvent::Copied(text) => {
            model.notice = Some(format!("Copied {} characters to the clipboard.", text.chars().count()));
            return vec![Effect::Copy(text)];
        }
        TextEvent::Agreed => {
            model.overlay = None;
            return vec![Effect::Agree];
        }
        TextEvent::Declined => {
            model.overlay = None;
            model.notice = Some("Not allowed: nothing was run or sent.".to_owned());
        }
    }
    Vec::new()
}
