//! Loading tasks, links and reports.

use super::map_reader::{Fields, as_text};
use crate::diagnostic::Diagnostic;
use crate::workflow::definition::Definition;
use crate::workflow::task::{LinkDefinition, ROW_KEYS, Report, Task, TrackerFile, priority_of};
use crate::yaml::{Node, Value, read, read_json};

/// Starts on each map of a list.
fn each<'a>(
    fields: &mut Fields<'a>,
    key: &'static str,
    what: &str,
    problems: &mut Vec<Diagnostic>,
    mut read: impl FnMut(&'a Node, &mut Fields<'a>),
) {
    let file = fields.file();
    for node in fields.list(key) {
        match Fields::from_node(node, what, file) {
            Err(problem) => problems.push(problem),
            Ok(mut inner) => {
                read(node, &mut inner);
                problems.extend(inner.finish(&[]));
            }
        }
    }
}

/// The tasks of a definition.
pub fn tasks(fields: &mut Fields<'_>, problems: &mut Vec<Diagnostic>) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    each(fields, "tasks", "a task", problems, |node, inner| {
        let id = inner.text("id").or_else(|| inner.text("issue_id")).unwrap_or_default();
        inner.node("issue_id");
        if id.is_empty() && inner.problems.is_empty() {
            inner.refuse(node, "a task needs an `id`", "add `id: APP-15`");
        }
        if tasks.iter().any(|other| other.id == id) {
            inner.refuse(node, format!("two tasks have the id `{id}`"), "give each its own id");
        }
        let title = inner.text("title").unwrap_or_default();
        let status = inner.text("status").unwrap_or_else(|| "OPEN".to_owned());
        let (priority, doubt) = priority(inner, &id);
        let (mut test_steps, steps) = (inner.texts("test_steps"), inner.texts("steps"));
        if test_steps.is_empty() {
            test_steps = steps;
        }
        let mut row = serde_json::Map::new();
        for key in ROW_KEYS {
            let written = inner.node(key).map(Node::to_json);
            let value = match key {
                "id" => id.as_str().into(),
                "title" => title.as_str().into(),
                "status" => status.as_str().into(),
                "labels" => written.unwrap_or_else(|| serde_json::Value::Array(Vec::new())),
                _ => written.unwrap_or_default(),
            };
            row.insert(key.to_owned(), value);
        }
        // Known, and in no row: rows carry reports in its place.
        inner.node("latestSummary");
        inner.node("evidence");
        tasks.push(Task {
            id,
            title,
            description: inner.text("description").unwrap_or_default(),
            test_steps,
            priority,
            doubt,
            status,
            row,
            deleted: inner.flag("deleted").unwrap_or(false) || inner.has("deletedAt"),
            place: (node.line, node.column),
        });
        inner.node("deletedAt");
    });
    tasks
}

/// Where the tasks are kept, if in a file of their own.
pub fn tracker(fields: &mut Fields<'_>, problems: &mut Vec<Diagnostic>) -> Option<TrackerFile> {
    let node = fields.node("tracker")?;
    let mut inner = match Fields::from_node(node, "tracker", fields.file()) {
        Ok(inner) => inner,
        Err(problem) => {
            problems.push(problem.hint(format!("write `tracker: {{file: {TASKS_FILE}}}`")));
            return None;
        }
    };
    let file = inner.text("file").unwrap_or_default();
    if file.trim().is_empty() && inner.problems.is_empty() {
        inner.refuse(node, "`tracker` needs a `file`", format!("write `tracker: {{file: {TASKS_FILE}}}`"));
    }
    problems.extend(inner.finish(&[]));
    if fields.has("tasks") {
        let hint = format!("move the tasks to `{file}`, or leave `tracker` out");
        fields.refuse(node, "both `tasks` and `tracker.file` say what the tasks are", hint);
    }
    Some(TrackerFile { file, place: (node.line, node.column) })
}

/// The number of a task's priority, and what is to be said of one that cannot be read.
fn priority(inner: &mut Fields<'_>, id: &str) -> (u8, Option<Diagnostic>) {
    let Some(node) = inner.node("priority") else { return (0, None) };
    let written = match &node.value {
        Value::Number(number) => number.to_string(),
        _ => as_text(node).unwrap_or_default(),
    };
    let number = priority_of(&written);
    let doubt = number.is_none().then(|| {
        let hint = "write 1 (urgent) to 4 (low) or 0, or one of urgent, high, medium, low, none";
        let message = format!("`priority` of task `{id}` is read as 0: `{written}` is none");
        node.problem(inner.file(), message).hint(hint)
    });
    (number.unwrap_or(0), doubt)
}

/// The links of a definition.
pub fn links(fields: &mut Fields<'_>, problems: &mut Vec<Diagnostic>) -> Vec<LinkDefinition> {
    let mut links: Vec<LinkDefinition> = Vec::new();
    each(fields, "links", "a link", problems, |node, inner| {
        let mut text = |key| inner.text(key).unwrap_or_default();
        let link = LinkDefinition {
            id: text("id"),
            from: text("fromId"),
            to: text("toId"),
            kind: text("type"),
            created_at: text("createdAt"),
            place: (node.line, node.column),
        };
        if [&link.id, &link.from, &link.to, &link.kind].into_iter().any(String::is_empty) {
            let hint = "write {id: l1, fromId: agent-1, toId: APP-15, type: agent_task, createdAt: …}";
            inner.refuse(node, "a link needs `id`, `fromId`, `toId` and `type`", hint);
        } else if link.from == link.to {
            let hint = "point `toId` at something else";
            inner.refuse(node, format!("link `{}` leads from `{}` to itself", link.id, link.from), hint);
        } else if links.iter().any(|other| other.id == link.id) {
            inner.refuse(node, format!("two links have the id `{}`", link.id), "give each its own id");
        }
        links.push(link);
    });
    links
}

/// The reports of a definition.
pub fn reports(fields: &mut Fields<'_>, problems: &mut Vec<Diagnostic>) -> Vec<Report> {
    let mut reports = Vec::new();
    each(fields, "reports", "a report", problems, |node, inner| {
        let agent = inner.text("agentId").unwrap_or_default();
        if agent.is_empty() && inner.problems.is_empty() {
            inner.refuse(node, "a report needs an `agentId`", "add `agentId: agent-1`");
        }
        reports.push(Report {
            agent,
            scope: inner.text("scope").unwrap_or_else(|| "current".to_owned()),
            created_at: inner.text("createdAt").unwrap_or_default(),
            content: inner.text("content").unwrap_or_default(),
        });
    });
    reports
}

/// Where a project keeps tasks of its own, for messages.
pub const TASKS_FILE: &str = ".s2s/tasks.yaml";

/// A definition with the tasks of a file.
#[derive(Debug, Clone)]
pub struct Tasks {
    pub definition: Definition,
    /// What of the file could not be read.
    pub problems: Vec<Diagnostic>,
    /// What is to be said of what was read.
    pub doubts: Vec<Diagnostic>,
}

/// Reads the text of such a file, YAML or JSON.
pub fn read_tasks(text: &str, file: &str) -> Result<Node, Diagnostic> {
    if text.trim_start().starts_with('{') { read_json(text, file) } else { read(text, file) }
}

impl Definition {
    /// The definition with the tasks, links and reports of a file: its own, or the project's; what the
    /// definition has of the same id stays.
    #[must_use]
    pub fn with_tasks(self, text: &str) -> Tasks {
        let name = self.tracker.as_ref().map_or(TASKS_FILE, |tracker| tracker.file.as_str()).to_owned();
        let mut read = Tasks { definition: self, problems: Vec::new(), doubts: Vec::new() };
        let node = match read_tasks(text, &name) {
            Ok(node) if node.value == Value::Null => return read,
            Ok(node) => node,
            Err(problem) => {
                read.problems.push(problem);
                return read;
            }
        };
        match Fields::from_node(&node, "the tasks file", &name) {
            Ok(fields) => read.take(fields),
            Err(problem) => read.problems.push(problem),
        }
        read
    }
}

impl Tasks {
    fn take(&mut self, mut fields: Fields<'_>) {
        let Self { definition, problems, doubts } = self;
        let (tasks, links) = (tasks(&mut fields, problems), links(&mut fields, problems));
        let reports = reports(&mut fields, problems);
        problems.extend(fields.finish(&[]));
        for task in tasks {
            if !task.id.is_empty() && !definition.tasks.iter().any(|known| known.id == task.id) {
                doubts.extend(task.doubt.clone());
                definition.tasks.push(task);
            }
        }
        for link in links {
            let is_whole = ![&link.id, &link.from, &link.to, &link.kind].into_iter().any(String::is_empty);
            if is_whole && link.from != link.to && !definition.links.iter().any(|known| known.id == link.id) {
                definition.links.push(link);
            }
        }
        definition.reports.extend(reports.into_iter().filter(|report| !report.agent.is_empty()));
    }
}
