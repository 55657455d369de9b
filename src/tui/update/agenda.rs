//! The agenda as a list: new entries, items with their status, conflicts and questions. Enter changes the
//! chosen one, resolves or answers it.

use super::forms;
use super::message::Effect;
use crate::tui::agenda_list::{AgendaRow, agenda_rows};
use crate::tui::form;
use crate::tui::model::{Menu, MenuKind, Model, Overlay};

pub fn show(model: &mut Model) {
    let rows = agenda_rows(&model.session().agenda).iter().map(AgendaRow::text).collect();
    let title = "Agenda, conflicts, questions".to_owned();
    let hint = "Enter changes, resolves, answers or adds".to_owned();
    let menu = Menu { hint, ..Menu::of(MenuKind::Agenda, title, rows) };
    model.overlay = Some(Overlay::Menu(menu));
}

pub fn chosen(model: &mut Model, at: usize) -> Vec<Effect> {
    let session = model.session();
    let row = agenda_rows(&session.agenda).into_iter().nth(at);
    let form = row.and_then(|row| form::agenda(session, row.form?));
    match form {
        Some(form) if model.live().is_some() && session.header.is_some() => forms::open(model, form),
        Some(_) => {
            model.notice = Some("The agenda changes while a session runs.".to_owned());
            Vec::new()
        }
        None => {
            model.notice = Some("It is resolved or answered already.".to_owned());
            Vec::new()
        }
    }
}
