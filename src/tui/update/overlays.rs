//! What lies over the panes: search, palette, lists; and what a click means.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::actions::perform;
use super::forms;
use super::invite;
use super::lists::{FORMATS, agenda_entry, show_item};
use super::message::Effect;
use super::search::find;
use super::seating;
use crate::tui::form;
use crate::tui::home::OpenTarget;
use crate::tui::keymap::{Action, KeyBinding, matching};
use crate::tui::model::{MenuKind, Mode, Model, Overlay, Pane};
use crate::tui::view::Target;

/// Typing in a line: whether the key did that.
pub fn type_in(words: &mut String, key: &KeyEvent) -> bool {
    match key.code {
        KeyCode::Backspace => {
            words.pop();
            true
        }
        KeyCode::Char('u') if key.modifiers.contains(KeyModifiers::CONTROL) => {
            words.clear();
            true
        }
        KeyCode::Char(c) if !key.modifiers.contains(KeyModifiers::CONTROL) => {
            words.push(c);
            true
        }
        _ => false,
    }
}

pub fn search(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
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
            find(model, true);
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

pub fn palette(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    let place = model.screen_state();
    let Some(Overlay::Palette(typed, row)) = &mut model.overlay else { return Vec::new() };
    let found = matching(place, typed);
    match key.code {
        KeyCode::Esc => model.overlay = None,
        KeyCode::Up => *row = row.saturating_sub(1),
        KeyCode::Down => *row = (*row + 1).min(found.len().saturating_sub(1)),
        KeyCode::Enter => {
            let row = *row;
            return chosen_action(model, &found, row);
        }
        _ => {
            if type_in(typed, key) {
                *row = 0;
            }
        }
    }
    Vec::new()
}

fn chosen_action(model: &mut Model, found: &[&'static KeyBinding], row: usize) -> Vec<Effect> {
    let chosen = found.get(row).map(|binding| binding.action);
    model.overlay = None;
    chosen.map_or_else(Vec::new, |action| perform(model, action))
}

pub fn menu(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    let page = usize::from(model.size.1 / 2);
    let Some(Overlay::Menu(menu)) = &mut model.overlay else { return Vec::new() };
    let last = menu.rows.len().saturating_sub(1);
    match key.code {
        KeyCode::Esc | KeyCode::Char('q') => model.overlay = None,
        KeyCode::Up | KeyCode::Char('k') => menu.at = menu.at.saturating_sub(1),
        KeyCode::Down | KeyCode::Char('j') => menu.at = (menu.at + 1).min(last),
        KeyCode::Home | KeyCode::Char('g') => menu.at = 0,
        KeyCode::End | KeyCode::Char('G') => menu.at = last,
        KeyCode::PageDown => menu.at = (menu.at + page).min(last),
        KeyCode::PageUp => menu.at = menu.at.saturating_sub(page),
        KeyCode::Char(' ') if menu.kind == MenuKind::SeatModel => {
            let menu = menu.clone();
            model.overlay = None;
            return seating::chosen(model, &menu, true);
        }
        KeyCode::Enter => {
            let (kind, at) = (menu.kind, menu.at);
            return choose(model, kind, at);
        }
        _ => {}
    }
    Vec::new()
}

fn choose(model: &mut Model, kind: MenuKind, at: usize) -> Vec<Effect> {
    let Some(Overlay::Menu(mut menu)) = model.overlay.take() else { return Vec::new() };
    menu.at = at;
    match kind {
        MenuKind::UsualModel | MenuKind::SeatModel | MenuKind::RetryModel => {
            seating::chosen(model, &menu, false)
        }
        MenuKind::Invitation => invite::chosen(model, &menu),
        MenuKind::Report => FORMATS.get(at).map_or_else(Vec::new, |(name, _)| vec![Effect::Report(name)]),
        MenuKind::Artifact => {
            let session = model.session();
            let artifacts = session.definition.as_ref().map_or(&[][..], |d| &d.artifacts);
            let known = at.checked_sub(1).and_then(|index| artifacts.get(index));
            let form = form::artifact(session, known);
            forms::open(model, form)
        }
        MenuKind::Agenda => agenda_entry(model, at),
        MenuKind::Unfinished if at == 0 => {
            vec![Effect::Open(OpenTarget::Resume(std::path::PathBuf::from(&model.file)))]
        }
        MenuKind::Item => {
            show_item(model, at);
            Vec::new()
        }
        MenuKind::Unfinished | MenuKind::ReadOnly => Vec::new(),
    }
}

pub fn click(model: &mut Model, target: Target) -> Vec<Effect> {
    match (&mut model.overlay, target) {
        (Some(Overlay::Form(form)), Target::Field(at)) => {
            form.at = at;
            form.show_cursor();
        }
        (Some(Overlay::Menu(menu)), Target::Choice(at)) => {
            let kind = menu.kind;
            return choose(model, kind, at);
        }
        (Some(Overlay::Palette(typed, _)), Target::Choice(at)) => {
            let typed = typed.clone();
            let found = matching(model.screen_state(), &typed);
            return chosen_action(model, &found, at);
        }
        (None, Target::Key(action)) => return perform(model, action),
        (None, Target::Row(at)) if model.home.at == at => return perform(model, Action::OpenRow),
        (None, Target::Row(at)) => model.home.at = at,
        (None, Target::Pane(pane)) => model.focus = pane,
        (None, Target::Moment(at)) => {
            model.replay.seek(at);
            (model.scroll, model.hit) = ([0; Pane::ALL.len()], None);
        }
        (None, Target::Seat(at)) => {
            (model.seat, model.focus) = (at, Pane::Seats);
            model.scroll[Pane::Answer.index()] = 0;
        }
        _ => {}
    }
    Vec::new()
}
