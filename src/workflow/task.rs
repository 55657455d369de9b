//! Tasks, links and reports of a definition: what a tracker hands on, and what is linked to what.
//!
//! Plain data with the written names; the other names a person may use for the same are read here.

use serde_json::{Map, Value};

use super::keys::spec::KeyType::Text;
use super::keys::spec::{MapSpec, REQUIRED, key, map};
use super::load::entries::{Entries, keys};
use crate::diagnostic::Diagnostic;

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
    pub struct TrackerFile {
        file: String = key(
            "file",
            Text,
            REQUIRED,
            "A file with `tasks`, only read; `tasks.state.yaml` next to it keeps their state.",
            ".s2s/tasks.yaml",
        ),
    } and {
        place: (u64, u64),
    }
}

keys! {
    /// A typed edge between two things.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct LinkDefinition {
        id: String = key("id", Text, REQUIRED, "Its id.", "l1"),
        from: String =
            key("fromId", Text, REQUIRED, "Its start: a task, an agent or a saved session.", "agent-1"),
        to: String = key("toId", Text, REQUIRED, "Its end.", "APP-15"),
        /// `agent_task` names a task's agent.
        kind: String = key("type", Text, REQUIRED, "Its type.", "agent_task"),
        created_at: String = key("createdAt", Text, "", "The time it was created.", "2026-01-31"),
    } and {
        place: (u64, u64),
    }
}

keys! {
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Report {
        agent: String = key("agentId", Text, REQUIRED, "The agent that wrote it.", "agent-1"),
        scope: String =
            key("scope", Text, "current", "Its scope.", "current")
            => |entries: Entries<'_>| entries.text("scope").unwrap_or_else(|| "current".to_owned()),
        created_at: String = key("createdAt", Text, "", "The time it was created.", "2026-01-31"),
        content: String = key("content", Text, "", "Its text.", "Done."),
    }
}

pub const TRACKER_FILE: MapSpec = map("tracker", "`tracker`", TrackerFile::KEYS);
pub const LINK: MapSpec = map("link", "a link", LinkDefinition::KEYS);
pub const REPORT: MapSpec = map("report", "a report", Report::KEYS);

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
