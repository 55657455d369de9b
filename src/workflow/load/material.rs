//! Loading what is on the table: numbered material and the agenda.

use super::map_reader::Fields;
use crate::diagnostic::Diagnostic;
use crate::round::material::{AgendaItem, Artifact};

/// The numbered material.
pub fn artifacts(fields: &mut Fields<'_>, file: &str, problems: &mut Vec<Diagnostic>) -> Vec<Artifact> {
    let mut artifacts: Vec<Artifact> = Vec::new();
    for node in fields.list("artifacts") {
        let mut inner = match Fields::from_node(node, "an artifact", file) {
            Ok(inner) => inner,
            Err(problem) => {
                problems.push(problem.hint("write `{id: REQ-001, summary: \"…\"}`"));
                continue;
            }
        };
        let id = inner.text("id").unwrap_or_default();
        let title = inner.text("title");
        let summary = inner.text("summary").or_else(|| title.clone());
        if inner.problems.is_empty() && (id.is_empty() || summary.is_none()) {
            inner.refuse(node, "artifact needs an `id` and a `summary` or `title`", "add what is missing");
        }
        if artifacts.iter().any(|other| other.id == id) {
            inner.refuse(node, format!("two artifacts have the id `{id}`"), "give each its own id");
        }
        let relevant = inner.flag("relevant").unwrap_or(false);
        let mut details = Vec::new();
        details.extend(title.map(|title| ("title", title.into())));
        for key in ["kind", "status", "priority", "description", "content", "acceptance"] {
            details.extend(inner.node(key).map(|node| (key, node.to_json())));
        }
        problems.extend(inner.finish(&[]));
        artifacts.push(Artifact { id, summary: summary.unwrap_or_default(), details, relevant });
    }
    artifacts
}

/// What is to be discussed.
pub fn agenda(fields: &mut Fields<'_>, file: &str, problems: &mut Vec<Diagnostic>) -> Vec<AgendaItem> {
    let mut items = Vec::new();
    for node in fields.list("agenda") {
        match Fields::from_node(node, "an agenda item", file) {
            Err(problem) => problems.push(problem),
            Ok(mut inner) => {
                let title = inner.text("title");
                let id = inner.text("id").or_else(|| title.clone()).unwrap_or_default();
                let status = inner.text("status").unwrap_or_else(|| "open".to_owned());
                items.push(AgendaItem { title: title.unwrap_or_else(|| id.clone()), id, status });
                problems.extend(inner.finish(&[]));
            }
        }
    }
    items
}
