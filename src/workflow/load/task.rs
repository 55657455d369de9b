//! Loading tasks, links and reports, of a definition or of a file of tasks.

use super::entries::Entries;
use super::entries::Findings;
use super::map_reader::as_text;
use crate::diagnostic::Diagnostic;
use crate::workflow::definition::Definition;
use crate::workflow::keys::check::Keys;
use crate::workflow::keys::spec::KeySpec;
use crate::workflow::keys::tables::DEFINITION;
use crate::workflow::task::{LinkDefinition, ROW_KEYS, Report, Task, TrackerFile, priority_of};
use crate::workflow::task_state::state_file;
use crate::yaml::{Node, Value, read_yaml_or_json};

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
    let file = inner.text("file").unwrap_or_default();
    if entries.has("tasks") {
        let hint = format!("move the tasks to `{file}`, or leave `tracker` out");
        entries.refuse(inner.node, "both `tasks` and `tracker.file` say what the tasks are", hint);
    }
    Some(TrackerFile { file, place: (inner.node.line, inner.node.column) })
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
        let text = |key| inner.text(key).unwrap_or_default();
        let link = LinkDefinition {
            id: text("id"),
            from: text("fromId"),
            to: text("toId"),
            kind: text("type"),
            created_at: text("createdAt"),
            place: (inner.node.line, inner.node.column),
        };
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
    let report = |inner: Entries<'_>| Report {
        agent: inner.text("agentId").unwrap_or_default(),
        scope: inner.text("scope").unwrap_or_else(|| "current".to_owned()),
        created_at: inner.text("createdAt").unwrap_or_default(),
        content: inner.text("content").unwrap_or_default(),
    };
    entries.maps("reports").map(report).collect()
}

/// A project's own tasks, for messages.
pub const TASKS_FILE: &str = ".s2s/tasks.yaml";

#[derive(Debug, Clone)]
pub struct Tasks {
    pub definition: Definition,
    pub problems: Vec<Diagnostic>,
    pub doubts: Vec<Diagnostic>,
}

impl Definition {
    /// The definition with the tasks, links and reports of a file: its own, or the project's; what the
    /// definition has of the same id stays. The file's `state` is read over it.
    #[must_use]
    pub fn with_tasks(self, text: &str, state: Option<&str>) -> Tasks {
        let name = self.tracker.as_ref().map_or(TASKS_FILE, |tracker| tracker.file.as_str()).to_owned();
        let mut read = Tasks { definition: self, problems: Vec::new(), doubts: Vec::new() };
        let node = match read_yaml_or_json(text, &name) {
            Ok(node) if node.value == Value::Null => return read,
            Ok(node) => node,
            Err(problem) => {
                read.problems.push(problem);
                return read;
            }
        };
        let found = Findings::new(&name);
        let is_kept = |key: &&'static KeySpec| ["tasks", "links", "reports"].contains(&key.name);
        let keys: Vec<_> = DEFINITION.keys.iter().filter(is_kept).collect();
        Keys { what: "the tasks file", places: &[], known: &keys, is_open: false }.check(&node, &found);
        if let Some(entries) = Entries::of(&node, &found) {
            read.take(entries);
        }
        read.problems = found.problems.take();
        let state = state.map(|state| read.definition.take_task_state(state, &state_file(&name)));
        read.problems.extend(state.and_then(Result::err));
        read
    }
}

impl Tasks {
    fn take(&mut self, entries: Entries<'_>) {
        let Self { definition, doubts, .. } = self;
        for task in tasks(entries) {
            if !task.id.is_empty() && !definition.tasks.iter().any(|known| known.id == task.id) {
                doubts.extend(task.doubt.clone());
                definition.tasks.push(task);
            }
        }
        for link in links(entries) {
            let is_whole = ![&link.id, &link.from, &link.to, &link.kind].into_iter().any(String::is_empty);
            if is_whole && link.from != link.to && !definition.links.iter().any(|known| known.id == link.id) {
                definition.links.push(link);
            }
        }
        definition.reports.extend(reports(entries).into_iter().filter(|report| !report.agent.is_empty()));
    }
}
