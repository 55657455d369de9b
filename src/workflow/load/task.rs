//! Reads tasks, links and reports, of a definition or of a file of tasks.

use super::entries::Entries;
use super::map_reader::as_text;
use crate::diagnostic::Diagnostic;
use crate::workflow::keys::spec::KeyType::{Any, Text, Texts};
use crate::workflow::keys::spec::{MapSpec, key, map};
use crate::workflow::task::{LinkDefinition, ROW_KEYS, Report, Task, TrackerFile, priority_of};
use crate::yaml::{Node, Value};

pub const TASK: MapSpec = MapSpec {
    others: Some(
        "A row of linked tasks also has its `statusSince`, `estimate`, `timeSpent`, `createdAt`, `labels` and \
         `languageCode`. Other keys are left out.",
    ),
    ..map(
        "task",
        "a task",
        &[
            key("id", Text, "`issue_id`", "Its id; required if there is no `issue_id`.", "APP-15"),
            key("issue_id", Text, "", "Another name of `id`.", "APP-15"),
            key("title", Text, "", "Its title.", "\"Dark mode\""),
            key("description", Text, "", "What to do.", "\"Add a switch.\""),
            key("test_steps", Texts, "", "How to test it.", "[\"click the switch\"]"),
            key("steps", Texts, "", "Another name of `test_steps`.", "[\"click the switch\"]"),
            key("status", Text, "OPEN", "Its status.", "DONE"),
            key("priority", Any, "0", "1 (urgent) to 4 (low), 0 for none, or a word such as `high`.", "2"),
            key("deletedAt", Any, "", "The time of its deletion; with one it is left out.", "2026-01-31"),
        ],
    )
};

pub fn tasks(entries: Entries<'_>) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    for inner in entries.maps("tasks") {
        let id = inner.text("id").or_else(|| inner.text("issue_id")).unwrap_or_default();
        if id.is_empty() {
            inner.refuse(inner.node, "a task has no `id`", "add `id: APP-15`");
        } else if tasks.iter().any(|other| other.id == id) {
            inner.refuse(inner.node, format!("duplicate task id `{id}`"), "give each its own id");
        }
        tasks.push(task(inner, id));
    }
    tasks
}

fn task(inner: Entries<'_>, id: String) -> Task {
    let title = inner.text("title").unwrap_or_default();
    let status = inner.text("status").unwrap_or_else(|| "OPEN".to_owned());
    let (priority, doubt) = priority(inner, &id);
    let mut test_steps = inner.texts("test_steps");
    if test_steps.is_empty() {
        test_steps = inner.texts("steps");
    }
    let mut row = serde_json::Map::new();
    for key in ROW_KEYS {
        let written = inner.node(key).map(Node::to_json);
        let value = match key {
            "id" => id.as_str().into(),
            "title" => title.as_str().into(),
            "status" => status.as_str().into(),
            "priority" if written.as_ref().is_some_and(|value| !value.is_null()) => priority.into(),
            "labels" => written.unwrap_or_else(|| serde_json::Value::Array(Vec::new())),
            _ => written.unwrap_or_default(),
        };
        row.insert(key.to_owned(), value);
    }
    Task {
        id,
        title,
        description: inner.text("description").unwrap_or_default(),
        test_steps,
        priority,
        doubt,
        status,
        row,
        deleted: inner.has("deletedAt"),
        place: (inner.node.line, inner.node.column),
    }
}

/// Returns the file of the tasks, if they have one.
pub fn tracker(entries: Entries<'_>) -> Option<TrackerFile> {
    let inner = entries.map("tracker")?;
    let tracker = TrackerFile { place: (inner.node.line, inner.node.column), ..TrackerFile::read(inner) };
    if entries.has("tasks") {
        let hint = format!("move the tasks to `{}`, or leave `tracker` out", tracker.file);
        entries.refuse(inner.node, "both `tasks` and `tracker.file` say what the tasks are", hint);
    }
    Some(tracker)
}

/// The number of a task's priority, and what is to be said of one that cannot be read.
fn priority(inner: Entries<'_>, id: &str) -> (u8, Option<Diagnostic>) {
    let Some(node) = inner.node("priority") else { return (0, None) };
    let written = match &node.value {
        Value::Number(number) => number.to_string(),
        _ => as_text(node).unwrap_or_default(),
    };
    let number = priority_of(&written);
    let doubt = number.is_none().then(|| {
        let hint = "write 1 (urgent) to 4 (low) or 0, or one of urgent, high, medium, low, none";
        let message = format!("`priority` of task `{id}` is read as 0: `{written}` is none");
        node.problem(inner.found.file, message).hint(hint)
    });
    (number.unwrap_or(0), doubt)
}

pub fn links(entries: Entries<'_>) -> Vec<LinkDefinition> {
    let mut links: Vec<LinkDefinition> = Vec::new();
    for inner in entries.maps("links") {
        let place = (inner.node.line, inner.node.column);
        let link = LinkDefinition { place, ..LinkDefinition::read(inner) };
        if !link.from.is_empty() && link.from == link.to {
            let message = format!("link `{}` leads from `{}` to itself", link.id, link.from);
            inner.refuse(inner.node, message, "point `toId` at something else");
        } else if !link.id.is_empty() && links.iter().any(|other| other.id == link.id) {
            inner.refuse(inner.node, format!("duplicate link id `{}`", link.id), "give each its own id");
        }
        links.push(link);
    }
    links
}

pub fn reports(entries: Entries<'_>) -> Vec<Report> {
    entries.maps("reports").map(Report::read).collect()
}
