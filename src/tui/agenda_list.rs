//! The agenda as rows to choose from: what can be added, items, conflicts and questions.

use super::form::AgendaForm;
use crate::history::{Agenda, Point};
use crate::insight::wording;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgendaGroup {
    New,
    Item,
    Conflict,
    Question,
}

impl AgendaGroup {
    pub fn heading(self) -> &'static str {
        match self {
            Self::New => "",
            Self::Item => "Items",
            Self::Conflict => "Conflicts",
            Self::Question => "Questions",
        }
    }
}

#[derive(Debug, Clone)]
pub struct AgendaRow {
    pub group: AgendaGroup,
    /// Empty where its title is its id.
    pub id: String,
    pub title: String,
    /// Its status unless it is just open, or how it is settled or could be.
    pub more: String,
    pub is_open: bool,
    /// What Enter opens; nothing for what is settled.
    pub form: Option<AgendaForm>,
}

impl AgendaRow {
    fn new(title: &str, form: AgendaForm) -> Self {
        let (id, title, more) = (String::new(), title.to_owned(), String::new());
        Self { group: AgendaGroup::New, id, title, more, is_open: true, form: Some(form) }
    }

    fn point(group: AgendaGroup, point: &Point, of: fn(String) -> AgendaForm) -> Self {
        let more = match (&point.settled, &point.minimum_change) {
            (Some(how), _) => wording::settled(how).to_owned(),
            (None, Some(change)) => format!("would pass with: {change}"),
            (None, None) => String::new(),
        };
        let id = if point.id == point.title { String::new() } else { point.id.clone() };
        let form = point.is_open().then(|| of(point.id.clone()));
        Self { group, id, title: point.title.clone(), more, is_open: point.is_open(), form }
    }

    pub fn text(&self) -> String {
        let noun = match (self.group, self.is_open) {
            (AgendaGroup::New, _) => return self.title.clone(),
            (AgendaGroup::Item, _) => "agenda",
            (AgendaGroup::Conflict, true) => "conflict",
            (AgendaGroup::Conflict, false) => "resolved",
            (AgendaGroup::Question, true) => "question",
            (AgendaGroup::Question, false) => "answered",
        };
        let more = if self.more.is_empty() { String::new() } else { format!(" · {}", self.more) };
        format!("{noun:9} {:9} {}{more}", self.id, self.title)
    }
}

/// The rows of the agenda: what can be added first, then items, conflicts and questions.
pub fn agenda_rows(agenda: &Agenda) -> Vec<AgendaRow> {
    let mut rows = vec![
        AgendaRow::new("+ new agenda item", AgendaForm::NewItem),
        AgendaRow::new("+ new conflict", AgendaForm::NewConflict),
        AgendaRow::new("+ new question", AgendaForm::NewQuestion),
    ];
    rows.extend(agenda.items.iter().map(|item| {
        let reason = item.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let more = format!("{}{reason}", item.status);
        AgendaRow {
            group: AgendaGroup::Item,
            id: item.id.clone(),
            title: item.title.clone(),
            more: if more == "open" { String::new() } else { more },
            is_open: item.is_open(),
            form: Some(AgendaForm::Item(item.id.clone())),
        }
    }));
    let conflict = |point| AgendaRow::point(AgendaGroup::Conflict, point, AgendaForm::Conflict);
    rows.extend(agenda.conflicts.iter().map(conflict));
    let question = |point| AgendaRow::point(AgendaGroup::Question, point, AgendaForm::Question);
    rows.extend(agenda.questions.iter().map(question));
    rows
}
