//! The forms of the agenda: a new entry, another status, how a conflict is resolved, an answer.

use super::build::form;
use super::{Field, Form, FormKind};
use crate::core::AgendaChange;
use crate::history::{Point, Session, option_id};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgendaForm {
    NewItem,
    NewConflict,
    NewQuestion,
    Item(String),
    Conflict(String),
    Question(String),
}

/// The form; `None` if what it is about is not there.
pub fn agenda(session: &Session, of: AgendaForm) -> Option<Form> {
    let title = |hint| Field::line("title", "title", hint, "");
    let description = || Field::text("description", "description", "Full text (optional)", "");
    let known = &session.agenda;
    let (heading, fields, intro) = match &of {
        AgendaForm::NewItem => ("New agenda item".to_owned(), vec![title("One line")], String::new()),
        AgendaForm::NewConflict => {
            let change = Field::line("change", "change", "What would have to change (optional)", "");
            ("New conflict".to_owned(), vec![title("One line"), description(), change], String::new())
        }
        AgendaForm::NewQuestion => {
            ("New question".to_owned(), vec![title("The question"), description()], String::new())
        }
        AgendaForm::Item(id) => {
            let item = known.item(id)?;
            let reason = item.reason.as_deref().unwrap_or_default();
            let fields = vec![
                Field::line("title", "title", "One line", &item.title),
                Field::line("status", "status", "open, done, dropped, or a word of your own", &item.status),
                Field::line("reason", "reason", "Why it has this status (optional)", reason),
            ];
            (format!("Agenda item {id}"), fields, String::new())
        }
        AgendaForm::Conflict(id) => {
            let point = known.conflicts.iter().find(|point| point.id == *id)?;
            let how = Field::text("how", "how", "How it is resolved", "");
            (format!("Resolve {id}"), vec![how], about(point))
        }
        AgendaForm::Question(id) => {
            let point = known.questions.iter().find(|point| point.id == *id)?;
            let answer = Field::text("answer", "answer", "The answer", "");
            (format!("Answer {id}"), vec![answer], about(point))
        }
    };
    let kept_as = format!("{}-agenda-{}", session.id, option_id(&heading));
    Some(Form { intro, ..form(FormKind::Agenda(of), heading, fields, kept_as) })
}

fn about(point: &Point) -> String {
    let change = point.minimum_change.as_ref().map(|change| format!("Would pass with: {change}"));
    let parts = [Some(point.title.clone()), point.description.clone(), change];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// The change that a form asks for. What is missing is refused by the core.
pub fn change(form: &Form, of: &AgendaForm) -> AgendaChange {
    let value = |id: &str| form.value(id).trim().to_owned();
    let optional = |id: &str| Some(value(id)).filter(|text| !text.is_empty());
    match of {
        AgendaForm::NewItem => {
            let (id, title) = (option_id(&value("title")), Some(value("title")));
            AgendaChange::Item { id, title, status: None, reason: None }
        }
        AgendaForm::NewConflict => AgendaChange::OpenConflict {
            title: value("title"),
            description: optional("description"),
            minimum_change: optional("change"),
        },
        AgendaForm::NewQuestion => {
            AgendaChange::OpenQuestion { title: value("title"), description: optional("description") }
        }
        AgendaForm::Item(id) => AgendaChange::Item {
            id: id.clone(),
            title: optional("title"),
            status: optional("status"),
            reason: optional("reason"),
        },
        AgendaForm::Conflict(id) => AgendaChange::ResolveConflict { id: id.clone(), how: value("how") },
        AgendaForm::Question(id) => AgendaChange::AnswerQuestion { id: id.clone(), answer: value("answer") },
    }
}
