//! The agenda, conflicts and questions, as rows of a list over the panes.

use crate::history::{Agenda, Point};
use crate::insight::wording;

pub struct AgendaRow {
    /// The list of the change that Enter prepares, as [`crate::core::AgendaChange`] is written; none for a
    /// settled entry.
    pub change: Option<&'static str>,
    /// Empty for a new entry.
    pub id: String,
    pub text: String,
}

/// All entries, and where the agenda may change those that make a new one.
pub fn rows(agenda: &Agenda, may_change: bool) -> Vec<AgendaRow> {
    let new =
        |change, noun| AgendaRow { change: Some(change), id: String::new(), text: format!("+ new {noun}") };
    let mut rows =
        vec![new("agenda", "agenda item"), new("conflicts", "conflict"), new("questions", "question")];
    rows.retain(|_| may_change);
    rows.extend(agenda.items.iter().map(|item| {
        let reason = item.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let more = Some(format!("{}{reason}", item.status)).filter(|more| more != "open");
        row(Some("agenda"), "agenda", &item.id, &item.title, more)
    }));
    rows.extend(agenda.conflicts.iter().map(|it| point(it, "resolved", "conflict")));
    rows.extend(agenda.questions.iter().map(|it| point(it, "answered", "question")));
    rows
}

/// A conflict or question, which is settled by a change of the list `settles`.
fn point(point: &Point, settles: &'static str, noun: &str) -> AgendaRow {
    let change = point.is_open().then_some(settles);
    let would = point.minimum_change.as_ref().map(|change| format!("would pass with: {change}"));
    let more = point.settled.as_ref().map(|how| wording::settled(how).to_owned()).or(would);
    row(change, if change.is_some() { noun } else { settles }, &point.id, &point.title, more)
}

fn row(change: Option<&'static str>, noun: &str, id: &str, title: &str, more: Option<String>) -> AgendaRow {
    let shown_id = if id == title { "" } else { id };
    let more = more.map(|more| format!(" · {more}")).unwrap_or_default();
    AgendaRow { change, id: id.to_owned(), text: format!("{noun:9} {shown_id:9} {title}{more}") }
}
