//! Loading numbered material and the agenda.

use super::entries::Entries;
use crate::round::material::{AgendaItem, Artifact};
use crate::yaml::Node;

/// The numbered material.
pub fn artifacts(entries: Entries<'_>) -> Vec<Artifact> {
    let mut artifacts: Vec<Artifact> = Vec::new();
    for inner in entries.maps("artifacts") {
        let id = inner.text("id").unwrap_or_default();
        let title = inner.text("title");
        let summary = inner.text("summary").or_else(|| title.clone());
        if !inner.has("summary") && !inner.has("title") {
            inner.refuse(inner.node, "an artifact has no `summary` or `title`", "add `summary: \"…\"`");
        }
        if !id.is_empty() && artifacts.iter().any(|other| other.id == id) {
            inner.refuse(inner.node, format!("duplicate artifact id `{id}`"), "give each its own id");
        }
        let mut details = Vec::new();
        details.extend(title.map(|title| ("title", title.into())));
        for key in ["kind", "status", "priority", "description", "content", "acceptance"] {
            details.extend(inner.node(key).map(|node| (key, Node::to_json(node))));
        }
        let relevant = inner.flag("relevant").unwrap_or(false);
        artifacts.push(Artifact { id, summary: summary.unwrap_or_default(), details, relevant });
    }
    artifacts
}

/// The agenda.
pub fn agenda(entries: Entries<'_>) -> Vec<AgendaItem> {
    let item = |inner: Entries<'_>| {
        let title = inner.text("title");
        let id = inner.text("id").or_else(|| title.clone()).unwrap_or_default();
        let status = inner.text("status").unwrap_or_else(|| "open".to_owned());
        AgendaItem { title: title.unwrap_or_else(|| id.clone()), id, status }
    };
    entries.maps("agenda").map(item).collect()
}
