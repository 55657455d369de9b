//! Loading tasks, links and reports.

use super::definition::Definition;
use super::fields::{Fields, as_text};
use super::task::{Link, ROW_KEYS, Report, Task};
use crate::problem::Problem;
use crate::yaml::{Node, Value, read, read_json};

/// A number of `priority`: 1 urgent … 4 low, 0 none; the words are read too.
const PRIORITIES: [(&str, u8); 8] = [
    ("urgent", 1),
    ("critical", 1),
    ("high", 2),
    ("medium", 3),
    ("normal", 3),
    ("low", 4),
    ("none", 0),
    ("no priority", 0),
];

/// Starts on each map of a list.
fn each<'a>(
    fields: &mut Fields<'a>,
    key: &'static str,
    what: &str,
    problems: &mut Vec<Problem>,
    mut read: impl FnMut(&'a Node, &mut Fields<'a>),
) {
    let file = fields.file();
    for node in fields.list(key) {
        match Fields::of(node, what, file) {
            Err(problem) => problems.push(problem),
            Ok(mut inner) => {
                read(node, &mut inner);
                problems.extend(inner.finish(&[]));
            }
        }
    }
}

/// The tasks of a definition.
pub fn tasks(fields: &mut Fields<'_>, problems: &mut Vec<Problem>) -> Vec<Task> {
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
        let priority = priority(inner);
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
        tasks.push(Task {
            id,
            title,
            description: inner.text("description").unwrap_or_default(),
            test_steps,
            priority,
            status,
            row,
            deleted: inner.flag("deleted").unwrap_or(false) || inner.has("deletedAt"),
            place: (node.line, node.column),
        });
        inner.node("deletedAt");
    });
    tasks
}

fn priority(inner: &mut Fields<'_>) -> u8 {
    let Some(node) = inner.node("priority") else { return 0 };
    let word = as_text(node).unwrap_or_default().to_lowercase();
    let number = match &node.value {
        Value::Number(number) => number.as_u64().and_then(|n| u8::try_from(n).ok()).filter(|n| *n <= 4),
        _ => PRIORITIES.iter().find(|(known, _)| *known == word).map(|(_, number)| *number),
    };
    if number.is_none() {
        let hint = "write 1 (urgent) to 4 (low) or 0, or one of urgent, high, medium, low, none";
        inner.refuse(node, format!("`priority` is not one: `{word}`"), hint);
    }
    number.unwrap_or(0)
}

/// The links of a definition.
pub fn links(fields: &mut Fields<'_>, problems: &mut Vec<Problem>) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::new();
    each(fields, "links", "a link", problems, |node, inner| {
        let mut text = |key| inner.text(key).unwrap_or_default();
        let link = Link {
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
pub fn reports(fields: &mut Fields<'_>, problems: &mut Vec<Problem>) -> Vec<Report> {
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

impl Definition {
    /// The definition with the tasks, links and reports of the project's own file; what it has of the
    /// same id stays.
    ///
    /// # Errors
    /// The file's first problem.
    pub fn with_tasks(mut self, text: &str, file: &str) -> Result<Self, Problem> {
        let is_json = text.trim_start().starts_with('{');
        let node = if is_json { read_json(text, file)? } else { read(text, file)? };
        if node.value == Value::Null {
            return Ok(self);
        }
        let mut problems = Vec::new();
        let mut fields = Fields::of(&node, "the tasks file", file)?;
        let (tasks, links) = (tasks(&mut fields, &mut problems), links(&mut fields, &mut problems));
        let reports = reports(&mut fields, &mut problems);
        problems.extend(fields.finish(&[]));
        if let Some(problem) = problems.into_iter().next() {
            return Err(problem);
        }
        for task in tasks {
            if !self.tasks.iter().any(|known| known.id == task.id) {
                self.tasks.push(task);
            }
        }
        for link in links {
            if !self.links.iter().any(|known| known.id == link.id) {
                self.links.push(link);
            }
        }
        self.reports.extend(reports);
        Ok(self)
    }
}
