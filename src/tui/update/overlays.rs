//! What lies over the panes: the words searched for, lists; and what a click means.

use crossterm::event::{KeyCode, KeyEvent};

use super::actions::perform;
use super::message::Effect;
use super::search::find;
use super::{invite, lists, seating};
use crate::tui::home::OpenTarget;
use crate::tui::keymap::{Action, BINDINGS};
use crate::tui::list::{ListEvent, ListKind, ModelTarget, type_in};
use crate::tui::model::{Mode, Model, Overlay, Pane};
use crate::tui::view::Target;

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

pub fn list(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    let page = usize::from(model.size.1 / 2);
    let Some(Overlay::List(list)) = &mut model.overlay else { return Vec::new() };
    let pressed = list.press(key, page);
    match pressed {
        ListEvent::Moved => Vec::new(),
        ListEvent::Closed => {
            model.overlay = None;
            Vec::new()
        }
        ListEvent::Chosen | ListEvent::ChosenForAll => choose(model, pressed == ListEvent::ChosenForAll),
    }
}

fn choose(model: &mut Model, for_all: bool) -> Vec<Effect> {
    let Some(Overlay::List(list)) = &model.overlay else { return Vec::new() };
    let Some((at, row)) = list.chosen().map(|(at, row)| (at, row.clone())) else { return Vec::new() };
    let kind = list.kind.clone();
    model.overlay = None;
    match kind {
        ListKind::Palette => {
            let found = BINDINGS.iter().find(|binding| binding.id == row.value);
            found.map_or_else(Vec::new, |binding| perform(model, binding.action))
        }
        ListKind::Models(ModelTarget::Seat(_)) if for_all => {
            seating::give(model, &ModelTarget::AllSeats, row.value)
        }
        ListKind::Models(target) => seating::give(model, &target, row.value),
        ListKind::Invitation(seat) => invite::chosen(model, &seat, at),
        ListKind::Report => {
            lists::FORMATS.get(at).map_or_else(Vec::new, |(name, _)| vec![Effect::Report(name)])
        }
        ListKind::Material => lists::material_chosen(model, &row.value),
        ListKind::Agenda => lists::agenda_entry(model, at),
        ListKind::Steps => {
            lists::show_step(model, &row.value);
            Vec::new()
        }
        ListKind::Unfinished if at == 0 => {
            vec![Effect::Open(OpenTarget::Resume(std::path::PathBuf::from(&model.file)))]
        }
        ListKind::Unfinished => Vec::new(),
    }
}

pub fn click(model: &mut Model, target: Target) -> Vec<Effect> {
    match (&mut model.overlay, target) {
        (Some(Overlay::Form(form)), Target::Field(at)) => {
            form.at = at;
            form.show_cursor();
        }
        (Some(Overlay::List(list)), Target::Choice(at)) => {
            list.at = at;
            return choose(model, false);
        }
        (None, Target::Key(action)) => return perform(model, action),
        (None, Target::Row(at)) if model.home.at == at => return perform(model, Action::OpenItem),
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
