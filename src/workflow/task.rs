//! Tasks, links and reports of a definition or a tasks file.

use serde_json::{Map, Value};

use super::keys::spec::KeyType::{Text, Texts};
use super::keys::spec::{MapSpec, REQUIRED, key};
use super::load::entries::{Entries, as_text, keys, texts};
use crate::diagnostic::Diagnostic;
use crate::yaml::{Node, Value as Yaml};

pub const TRACKER: &str = "tracker";

/// Keys of a row of linked tasks, in output order.
pub const ROW_KEYS: [&str; 10] = [
    "id",
    "title",
    "status",
    "statusSince",
    "priority",
    "estimate",
    "timeSpent",
    "createdAt",
    "labels",
    "languageCode",
];

keys! {
    #[derive(Debug, Clone, Default, PartialEq)]
    pub struct Task as "task" ("a task") {
        id: String as (Text) = key("id", "`issue_id`", "Its id; required if there is no `issue_id`.", "APP-15")
            => |entries: Entries<'_>| entries.text("id").or(entries.text("issue_id")).unwrap_or_default(),
        title: String = key("title", "", "Its title.", "\"Dark mode\""),
        description: String = key("description", "", "What to do.", "\"Add a switch.\""),
        test_steps: Vec<String> as (Texts) = key("test_steps", "", "How to test it.", "[\"click the switch\"]")
            => |entries: Entries<'_>| {
                let steps = |key| entries.node(key).map(texts).filter(|steps| !steps.is_empty());
                steps("test_steps").or_else(|| steps("steps")).unwrap_or_default()
            },
        /// `OPEN`, `DONE`, or the tracker's own word.
        status: String as (Text) = key("status", "OPEN", "Its status.", "DONE")
            => |entries: Entries<'_>| entries.text("status").unwrap_or_else(|| "OPEN".to_owned()),
        priority: u8 =
            key("priority", "0", "1 (urgent) to 4 (low), 0 for none, or a word such as `high`.", "2")
            => |entries: Entries<'_>| priority(entries).unwrap_or_default(),
        /// Deleted tasks appear in no row.
        deleted: bool =
            key("deletedAt", "", "The time of its deletion; with one it is left out.", "2026-01-31")
            => |entries: Entries<'_>| entries.has("deletedAt"),
    } also {
        key("issue_id", "", "Another name of `id`.", "APP-15").with_type(Text),
        key("steps", "", "Another name of `test_steps`.", "[\"click the switch\"]").with_type(Texts),
    } and {
        /// Warning about a priority that could not be read.
        doubt: Option<Diagnostic>,
        row: Map<String, Value>,
        place: (u64, u64) => Entries::place,
    }
}

pub const TASK: MapSpec = MapSpec {
    others: Some(
        "A row of linked tasks also has its `statusSince`, `estimate`, `timeSpent`, `createdAt`, `labels` and \
         `languageCode`. Other keys are left out.",
    ),
    ..Task::MAP
};

impl Task {
    pub(crate) fn set_status(&mut self, status: &str) {
        status.clone_into(&mut self.status);
        self.row.insert("status".to_owned(), status.into());
    }
}

keys! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct TrackerFile as "tracker" ("`tracker`") {
        file: String = key(
            "file",
            REQUIRED,
            "A file with `tasks`, only read; `tasks.state.yaml` next to it keeps their state.",
            ".s2s/tasks.yaml",
        ),
    } and {
        place: (u64, u64) => Entries::place,
    }
}

keys! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct LinkDefinition as "link" ("a link") {
        id: String = key("id", REQUIRED, "Its id.", "l1"),
        from: String = key("fromId", REQUIRED, "Its start: a task, an agent or a saved session.", "agent-1"),
        to: String = key("toId", REQUIRED, "Its end.", "APP-15"),
        /// `agent_task` assigns a task to an agent.
        kind: String = key("type", REQUIRED, "Its type.", "agent_task"),
        created_at: String = key("createdAt", "", "The time it was created.", "2026-01-31"),
    } and {
        place: (u64, u64) => Entries::place,
    }
}

keys! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Report as "report" ("a report") {
        agent: String = key("agentId", REQUIRED, "The agent that wrote it.", "agent-1"),
        scope: String as (Text) = key(
            "scope",
            "current",
            "Its scope.",
            "current",
        ) => |entries: Entries<'_>| entries.text("scope").unwrap_or_else(|| "current".to_owned()),
        created_at: String = key("createdAt", "", "The time it was created.", "2026-01-31"),
        content: String = key("content", "", "Its text.", "Done."),
    }
}

impl Task {
    pub fn is_done(status: &str) -> bool {
        let word = status.to_lowercase();
        matches!(word.as_str(), "done" | "closed" | "completed" | "cancelled" | "canceled" | "rejected")
    }

    fn row_value(&self, key: &str, written: Entries<'_>) -> Value {
        let value = written.node(key).map(Node::to_json);
        match key {
            "id" => self.id.as_str().into(),
            "title" => self.title.as_str().into(),
            "status" => self.status.as_str().into(),
            "priority" if value.is_some() => self.priority.into(),
            "labels" => value.unwrap_or_else(|| Value::Array(Vec::new())),
            _ => value.unwrap_or_default(),
        }
    }

    pub fn issue(&self) -> Value {
        serde_json::json!({
            "issue_id": self.id,
            "title": self.title,
            "description": self.description,
            "test_steps": self.test_steps,
            "priority": self.priority,
        })
    }
}

/// Parses a priority: 1 (urgent) to 4 (low), 0 for none; also words such as `high`, and `P2`.
pub fn priority_of(written: &str) -> Option<u8> {
    let word = written.trim().to_lowercase();
    let number = word.strip_prefix('p').unwrap_or(&word).parse::<u8>().ok();
    match word.as_str() {
        "urgent" | "critical" | "p0" => Some(1),
        "high" => Some(2),
        "medium" | "normal" => Some(3),
        "low" => Some(4),
        "none" | "no priority" => Some(0),
        _ => number.filter(|number| *number <= 4),
    }
}

/// Renames alternative keys of issues and implementation results; returns other values unchanged.
pub fn with_written_names(value: Value) -> Value {
    let Value::Object(mut map) = value else { return value };
    if map.contains_key("files_changed") {
        map = renamed(map, &[("screenshots", "screenshot_paths"), ("tests", "test_results")]);
    }
    for key in ["next_issue", "issue"] {
        if let Some(Value::Object(inner)) = map.get_mut(key) {
            *inner = issue(std::mem::take(inner));
        }
    }
    let is_issue = map.contains_key("title")
        && ["steps", "test_steps"].iter().any(|key| map.contains_key(*key))
        && ["id", "issue_id"].iter().any(|key| map.contains_key(*key));
    Value::Object(if is_issue { issue(map) } else { map })
}

fn issue(map: Map<String, Value>) -> Map<String, Value> {
    let mut issue = renamed(map, &[("id", "issue_id"), ("steps", "test_steps")]);
    if let Some(Value::String(word)) = issue.get("priority")
        && let Some(number) = priority_of(word)
    {
        issue.insert("priority".to_owned(), number.into());
    }
    issue
}

/// Renames each alternative key whose standard key is absent; keeps the order.
fn renamed(map: Map<String, Value>, names: &[(&str, &str)]) -> Map<String, Value> {
    let mut out = Map::with_capacity(map.len());
    let taken: Vec<String> = map.keys().cloned().collect();
    for (key, value) in map {
        let written =
            names.iter().find(|(alias, name)| *alias == key && !taken.iter().any(|key| key == name));
        out.insert(written.map_or(key, |(_, name)| (*name).to_owned()), value);
    }
    out
}

pub fn tasks(entries: Entries<'_>) -> Vec<Task> {
    entries.unique("tasks", "task", task, |task| &task.id)
}

fn task(inner: Entries<'_>) -> Task {
    let mut task = Task::read(inner);
    task.row = ROW_KEYS.iter().map(|key| ((*key).to_owned(), task.row_value(key, inner))).collect();
    task.doubt = priority(inner).err().map(|written| {
        let hint = "write 1 (urgent) to 4 (low) or 0, or one of urgent, high, medium, low, none";
        let message = format!("`priority` of task `{}` is read as 0: `{written}` is none", task.id);
        inner.node("priority").unwrap_or(inner.node).problem(inner.found.file, message).hint(hint)
    });
    if task.id.is_empty() {
        inner.refuse(inner.node, "a task has no `id`", "add `id: APP-15`");
    }
    task
}

/// Returns a task's priority, or the text that cannot be read.
fn priority(task: Entries<'_>) -> Result<u8, String> {
    let written = match task.node("priority") {
        None => return Ok(0),
        Some(Node { value: Yaml::Number(number), .. }) => number.to_string(),
        Some(node) => as_text(node).unwrap_or_default(),
    };
    priority_of(&written).ok_or(written)
}

pub fn links(entries: Entries<'_>) -> Vec<LinkDefinition> {
    let link = |inner: Entries<'_>| {
        let mut link = LinkDefinition::read(inner);
        if !link.from.is_empty() && link.from == link.to {
            let message = format!("link `{}` leads from `{}` to itself", link.id, link.from);
            inner.refuse(inner.node, message, "point `toId` at something else");
            // Otherwise a duplicate id would be reported as a second error.
            link.id.clear();
        }
        link
    };
    entries.unique("links", "link", link, |link| &link.id)
}

#[cfg(test)]
mod tests {
    use super::with_written_names;
    use serde_json::json;

    #[test]
    fn aliases_are_read_and_the_written_names_kept() {
        let cases = [
            (
                json!({"files_changed": ["a"], "screenshots": ["b"], "tests": {"passed": true}}),
                json!({"files_changed": ["a"], "screenshot_paths": ["b"], "test_results": {"passed": true}}),
            ),
            (
                json!({"done": 1, "next_issue": {"id": "A-1", "title": "t", "steps": ["s"]}}),
                json!({"done": 1, "next_issue": {"issue_id": "A-1", "title": "t", "test_steps": ["s"]}}),
            ),
            (json!({"done": 1, "next_issue": null}), json!({"done": 1, "next_issue": null})),
            (json!({"tests": 5, "id": "x"}), json!({"tests": 5, "id": "x"})),
            (
                json!({"id": "A-1", "title": "t", "description": "d", "steps": ["s"], "priority": "high"}),
                json!({"issue_id": "A-1", "title": "t", "description": "d", "test_steps": ["s"], "priority": 2}),
            ),
            (
                json!({"issue": {"id": "A-1", "steps": [], "priority": "P1"}, "id": 1}),
                json!({"issue": {"issue_id": "A-1", "test_steps": [], "priority": 1}, "id": 1}),
            ),
            (json!({"next_issue": {"priority": "soon"}}), json!({"next_issue": {"priority": "soon"}})),
            (json!({"id": "x", "title": "no steps"}), json!({"id": "x", "title": "no steps"})),
            (
                json!({"files_changed": [], "tests": 1, "test_results": 2}),
                json!({"files_changed": [], "tests": 1, "test_results": 2}),
            ),
            (json!("text"), json!("text")),
        ];
        for (value, wanted) in cases {
            assert_eq!(with_written_names(value), wanted);
        }
    }
}
