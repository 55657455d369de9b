//! Tasks, links and reports, of a definition or of a file of tasks: what a tracker hands on, and what is linked
//! to what. The other names a person may use for the same are read here.

use serde_json::{Map, Value};

use super::keys::spec::KeyType::Text;
use super::keys::spec::{MapSpec, REQUIRED, key};
use super::load::entries::{Entries, as_text, keys};
use crate::diagnostic::Diagnostic;
use crate::yaml::{Node, Value as Yaml};

pub const TRACKER: &str = "tracker";

/// Keys of a task's row in linked tasks, in their order.
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

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Task {
    pub id: String,
    pub title: String,
    pub description: String,
    pub test_steps: Vec<String>,
    /// 1 urgent to 4 low, 0 none.
    pub priority: u8,
    /// Warning about a priority that could not be read.
    pub doubt: Option<Diagnostic>,
    /// `OPEN`, `DONE`, or the tracker's own word.
    pub status: String,
    pub row: Map<String, Value>,
    /// Deleted tasks are in nobody's rows.
    pub deleted: bool,
    pub place: (u64, u64),
}

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
    /// A typed edge between two things.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct LinkDefinition as "link" ("a link") {
        id: String = key("id", REQUIRED, "Its id.", "l1"),
        from: String = key("fromId", REQUIRED, "Its start: a task, an agent or a saved session.", "agent-1"),
        to: String = key("toId", REQUIRED, "Its end.", "APP-15"),
        /// `agent_task` names a task's agent.
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

keys! {
    /// A task as it is written.
    pub struct TaskKeys as "task" ("a task") {
        id: Option<String> = key("id", "`issue_id`", "Its id; required if there is no `issue_id`.", "APP-15"),
        issue_id: Option<String> = key("issue_id", "", "Another name of `id`.", "APP-15"),
        title: String = key("title", "", "Its title.", "\"Dark mode\""),
        description: String = key("description", "", "What to do.", "\"Add a switch.\""),
        test_steps: Vec<String> = key("test_steps", "", "How to test it.", "[\"click the switch\"]"),
        steps: Vec<String> = key("steps", "", "Another name of `test_steps`.", "[\"click the switch\"]"),
        status: Option<String> = key("status", "OPEN", "Its status.", "DONE"),
        priority: Option<Node> =
            key("priority", "0", "1 (urgent) to 4 (low), 0 for none, or a word such as `high`.", "2"),
        deleted_at: Option<Value> =
            key("deletedAt", "", "The time of its deletion; with one it is left out.", "2026-01-31"),
    }
}

pub const TASK: MapSpec = MapSpec {
    others: Some(
        "A row of linked tasks also has its `statusSince`, `estimate`, `timeSpent`, `createdAt`, `labels` and \
         `languageCode`. Other keys are left out.",
    ),
    ..TaskKeys::MAP
};

impl Task {
    pub fn is_done(status: &str) -> bool {
        let word = status.to_lowercase();
        matches!(word.as_str(), "done" | "closed" | "completed" | "cancelled" | "canceled" | "rejected")
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

/// The number of a priority: 1 urgent … 4 low, 0 none. Words and `P2` are read too.
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

/// An issue's or an implementation's keys under their written names; other values are as they were.
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

/// The entries in their order, each alias that stands alone under its written name.
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
    let mut tasks: Vec<Task> = Vec::new();
    for inner in entries.maps("tasks") {
        let task = task(inner);
        if task.id.is_empty() {
            inner.refuse(inner.node, "a task has no `id`", "add `id: APP-15`");
        } else if tasks.iter().any(|other| other.id == task.id) {
            inner.refuse(inner.node, format!("duplicate task id `{}`", task.id), "give each its own id");
        }
        tasks.push(task);
    }
    tasks
}

fn task(inner: Entries<'_>) -> Task {
    let TaskKeys { id, issue_id, title, description, test_steps, steps, status, priority, deleted_at } =
        TaskKeys::read(inner);
    let id = id.or(issue_id).unwrap_or_default();
    let status = status.unwrap_or_else(|| "OPEN".to_owned());
    let (priority, doubt) = priority.map_or((0, None), |node| read_priority(&node, &id, inner.found.file));
    let mut row = Map::new();
    for key in ROW_KEYS {
        let written = inner.node(key).map(Node::to_json);
        let value = match key {
            "id" => id.as_str().into(),
            "title" => title.as_str().into(),
            "status" => status.as_str().into(),
            "priority" if written.as_ref().is_some_and(|value| !value.is_null()) => priority.into(),
            "labels" => written.unwrap_or_else(|| Value::Array(Vec::new())),
            _ => written.unwrap_or_default(),
        };
        row.insert(key.to_owned(), value);
    }
    Task {
        id,
        title,
        description,
        test_steps: if test_steps.is_empty() { steps } else { test_steps },
        priority,
        doubt,
        status,
        row,
        deleted: deleted_at.is_some(),
        place: inner.place(),
    }
}

/// The number of a task's priority, and what is to be said of one that cannot be read.
fn read_priority(node: &Node, id: &str, file: &str) -> (u8, Option<Diagnostic>) {
    let written = match &node.value {
        Yaml::Number(number) => number.to_string(),
        _ => as_text(node).unwrap_or_default(),
    };
    let number = priority_of(&written);
    let doubt = number.is_none().then(|| {
        let hint = "write 1 (urgent) to 4 (low) or 0, or one of urgent, high, medium, low, none";
        let message = format!("`priority` of task `{id}` is read as 0: `{written}` is none");
        node.problem(file, message).hint(hint)
    });
    (number.unwrap_or(0), doubt)
}

pub fn links(entries: Entries<'_>) -> Vec<LinkDefinition> {
    let mut links: Vec<LinkDefinition> = Vec::new();
    for inner in entries.maps("links") {
        let link = LinkDefinition::read(inner);
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
