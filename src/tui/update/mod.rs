//! The one place where the model changes: a message in, effects out.

mod actions;
mod engine_events;
mod forms;
mod overlays;

use std::collections::HashMap;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

pub use actions::perform;
pub use forms::cannot_begin;
pub use overlays::{matching, unfinished};

use super::home::{Home, OpenTarget};
use super::host::{Draft, LoadProgress};
use super::keymap::Action;
use super::live::EngineUpdate;
use super::model::{LeaveTarget, Mode, Model, Overlay, Pane};
use crate::config::doctor::ProbeLevel;
use crate::engine::FacilitatorRequest;
use crate::history::Timestamp;
use crate::participants::progress::Progress;

/// What happened outside.
#[derive(Debug, Clone)]
pub enum Message {
    Key(KeyEvent),
    Paste(String),
    /// The terminal has this size now.
    Resize(u16, u16),
    /// This many milliseconds passed while the replay plays.
    Pass(u64),
    /// It is this late.
    Tick(Timestamp),
    /// How the providers fare.
    Doctor(String),
    /// How the requests of the open round stand.
    Progress(HashMap<String, Progress>),
    /// Something was clicked.
    Click(Target),
    /// The wheel was turned over a pane, this many lines down.
    Wheel(Option<Pane>, i32),
    /// The engine tells something.
    EngineUpdate(EngineUpdate),
    /// A person who takes a seat is asked; again, where an earlier answer did not count.
    Asked(String, Option<String>),
    /// A part of a replay was read.
    LoadProgress(LoadProgress),
    /// The home screen was read.
    Home(Box<Home>),
    /// A session is ready to be looked at before it begins.
    Drafted(Box<Draft>),
    /// `CONTEXT.md` was read.
    Context(Result<Option<String>, String>),
    /// A text comes back from the person's editor.
    Edited(String),
    /// What was typed into this form before comes back.
    Kept(String, String),
    /// A word to the person.
    Say(String),
}

/// What can be clicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Pane(Pane),
    /// A seat, by its place in the roster.
    Seat(usize),
    /// A row of the home screen, by its place among those shown.
    Row(usize),
    /// A field of the form.
    Field(usize),
    /// A row of the menu or the palette.
    Choice(usize),
    /// A key of the footer.
    Key(Action),
}

/// What is to be done outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Leave the program.
    Quit,
    /// Stop the process until the shell lets it go on.
    Suspend,
    /// Have the engine, started for it if none works, carry this out.
    Order(FacilitatorRequest),
    /// Begin with the session that is looked at.
    Begin,
    /// Agree to what was asked, and go on with what it was asked for.
    Agree,
    /// Open what a row leads to.
    Open(OpenTarget),
    /// What the person in this seat answers.
    Reply(String, String),
    /// Read the home screen again.
    ReadHome,
    /// Check every provider this deep.
    Doctor(ProbeLevel),
    /// Read `CONTEXT.md` again.
    ReadContext,
    /// Put this on the clipboard.
    Copy(String),
    /// Write a report in this format.
    Report(&'static str),
    /// Have the person edit this text in an editor of their own.
    Edit(String),
    /// Keep what is typed into the form of this name; `None` forgets it.
    Keep(String, Option<String>),
    /// Keep what is typed into the form once the person pauses.
    KeepSoon,
    /// Bring back what was typed into the form of this name.
    Recall(String),
}

/// Changes the model by one message.
pub fn update(model: &mut Model, message: Message) -> Vec<Effect> {
    match message {
        Message::Resize(width, height) => model.size = (width, height),
        Message::Pass(millis) => model.replay.pass(millis),
        Message::Tick(now) => model.now = now,
        Message::Progress(progress) => model.progress = progress,
        Message::Doctor(found) => overlays::doctor(model, found),
        Message::Paste(text) => return paste(model, &text),
        Message::Key(key) if key.kind != KeyEventKind::Release => return press(model, &key),
        Message::Key(_) => {}
        Message::Click(target) => return overlays::click(model, target),
        Message::Wheel(pane, lines) => actions::wheel(model, pane, lines),
        Message::EngineUpdate(said) => return engine_events::on_engine_update(model, said),
        Message::Asked(seat, again) => engine_events::asked(model, seat, again),
        Message::LoadProgress(read) => engine_events::reading(model, read),
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
        Message::Edited(text) => return forms::edited(model, &text),
        Message::Kept(name, text) => forms::restore_draft(model, &name, &text),
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
        Some(Overlay::Help(_)) => overlays::help(model, key),
        Some(Overlay::Search(_)) => overlays::search(model, key),
        Some(Overlay::Palette(..)) => overlays::palette(model, key),
        Some(Overlay::Menu(_)) => overlays::menu(model, key),
        Some(Overlay::Text(_)) => overlays::reading(model, key),
        Some(Overlay::Agree(_)) => overlays::agreeing(model, key),
        Some(Overlay::Form(_)) => forms::press(model, key),
        Some(Overlay::Leave(..)) => leaving(model, key),
        None => model
            .keys
            .action(key, model.screen_state())
            .map_or_else(Vec::new, |action| perform(model, action)),
    }
}

fn paste(model: &mut Model, text: &str) -> Vec<Effect> {
    // What is pasted into a one-line field is its first line, and not more than a line can hold.
    let line = || -> String { text.lines().next().unwrap_or_default().chars().take(1000).collect() };
    match &mut model.overlay {
        Some(Overlay::Search(words) | Overlay::Palette(words, _)) => words.push_str(&line()),
        Some(Overlay::Form(_)) => return forms::paste(model, text),
        _ => {}
    }
    Vec::new()
}

/// Leaves, or asks first where a session is at work. What is typed is kept either way.
pub fn leave(model: &mut Model, to: LeaveTarget) -> Vec<Effect> {
    let is_at_work = matches!(&model.mode, Mode::Live(live) if live.draft.is_none() && live.ended.is_none());
    let is_out = model.session().open_round().is_some() || model.session().open_items().next().is_some();
    // Who presses it twice means it.
    if !is_at_work || !is_out || matches!(model.overlay, Some(Overlay::Leave(..))) {
        return left(model, to);
    }
    let form = match model.overlay.take() {
        Some(Overlay::Form(form)) => Some(form),
        _ => None,
    };
    model.overlay = Some(Overlay::Leave(to, form));
    Vec::new()
}

fn left(model: &mut Model, to: LeaveTarget) -> Vec<Effect> {
    let form = match model.overlay.take() {
        Some(Overlay::Form(form) | Overlay::Leave(_, Some(form))) => Some(form),
        _ => None,
    };
    let kept = form.filter(|form| form.kept() != form.filled);
    let mut effects: Vec<Effect> =
        kept.map(|form| Effect::Keep(form.kept_as.clone(), Some(form.kept()))).into_iter().collect();
    if to == LeaveTarget::Quit {
        effects.push(Effect::Quit);
        return effects;
    }
    model.show(Mode::Home, super::replay::Replay::new(Vec::new()), String::new());
    effects.push(Effect::ReadHome);
    effects
}

fn leaving(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    let Some(Overlay::Leave(to, _)) = &model.overlay else { return Vec::new() };
    let to = *to;
    match key.code {
        KeyCode::Char('y' | 'q') | KeyCode::Enter => left(model, to),
        KeyCode::Esc | KeyCode::Char('n') => {
            if let Some(Overlay::Leave(_, form)) = model.overlay.take() {
                model.overlay = form.map(Overlay::Form);
            }
            Vec::new()
        }
        _ => Vec::new(),
    }
}
