//! The agenda as a list: new entries, items with their status, conflicts and questions. Enter changes the
//! chosen one, resolves or answers it.

use super::forms;
use super::message::Effect;
use crate::history::{Agenda, Point};
use crate::insight::wording;
use crate::tui::form::{self, AgendaForm};
use crate::tui::model::{Menu, MenuKind, Model, Overlay};

pub fn show(model: &mut Model) {
    let rows = rows(&model.session().agenda).into_iter().map(|(row, _)| row).collect();
    let title = "Agenda, conflicts, questions".to_owned();
    let hint = "Enter changes, resolves, answers or adds".to_owned();
    let menu = Menu { hint, ..Menu::of(MenuKind::Agenda, title, rows) };
    model.overlay = Some(Overlay::Menu(menu));
}

/// Opens the form of the chosen row.
pub fn chosen(model: &mut Model, at: usize) -> Vec<Effect> {
    let session = model.session();
    let row = rows(&session.agenda).into_iter().nth(at);
    let form = row.and_then(|(_, of)| form::agenda(session, of?));
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

/// Each row, and what Enter opens; nothing for what is settled.
fn rows(agenda: &Agenda) -> Vec<(String, Option<AgendaForm>)> {
    let mut rows = vec![
        ("+ new agenda item".to_owned(), Some(AgendaForm::NewItem)),
        ("+ new conflict".to_owned(), Some(AgendaForm::NewConflict)),
        ("+ new question".to_owned(), Some(AgendaForm::NewQuestion)),
    ];
    for item in &agenda.items {
        let reason = item.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let when = item.done_when.as_ref().filter(|_| item.is_open());
        let when = when.map(|when| format!(", until: {}", when.words())).unwrap_or_default();
        let row = format!("agenda    {:9} {}: {}{reason}{when}", item.id, item.title, item.status);
        rows.push((row, Some(AgendaForm::Item(item.id.clone()))));
    }
    let point = |noun: &str, point: &Point, of: fn(String) -> AgendaForm| {
        let id = if point.id == point.title { "" } else { &point.id };
        let more = match (&point.settled, &point.minimum_change) {
            (Some(how), _) => format!(" · {}", wording::settled(how)),
            (None, Some(change)) => format!(" · would pass with: {change}"),
            (None, None) => String::new(),
        };
        let row = format!("{noun:9} {id:9} {}{more}", point.title);
        (row, point.is_open().then(|| of(point.id.clone())))
    };
    rows.extend(agenda.conflicts.iter().map(|one| {
        let noun = if one.is_open() { "conflict" } else { "resolved" };
        point(noun, one, AgendaForm::Conflict)
    }));
    rows.extend(agenda.questions.iter().map(|one| {
        let noun = if one.is_open() { "question" } else { "answered" };
        point(noun, one, AgendaForm::Question)
    }));
    rows
}
