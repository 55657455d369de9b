//! Tasks file of a definition, and the file with its tasks' state.

use std::path::Path;

use serde_json::{Map, Value as Json, json};

use super::definition::Definition;
use super::keys::check::Keys;
use super::keys::spec::KeySpec;
use super::load::entries::{Entries, Findings};
use super::task::{Report, links, tasks};
use crate::diagnostic::Diagnostic;
use crate::yaml::{Out, Value, read, read_yaml_or_json};

/// Path of a project's tasks file, for messages.
pub const TASKS_FILE: &str = ".s2s/tasks.yaml";

#[derive(Debug, Clone)]
pub struct Tasks {
    pub definition: Definition,
    pub problems: Vec<Diagnostic>,
    pub doubts: Vec<Diagnostic>,
}

impl Definition {
    /// Adds the tasks, links and reports of a tasks file; entries of the definition win over those of the
    /// same id. The statuses in `state` then replace those of the tasks.
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
        let keys: Vec<_> = Definition::KEYS.iter().filter(is_kept).collect();
        Keys { what: "the tasks file", places: &[], known: &keys, is_open: false }.check(&node, &found);
        if let Some(entries) = Entries::from_node(&node, &found) {
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
        let reports = entries.maps("reports").map(Report::read);
        definition.reports.extend(reports.filter(|report| !report.agent.is_empty()));
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct TaskMark {
    pub task: String,
    pub status: String,
    pub evidence: Map<String, Json>,
}

/// Returns the path of the state file: `tasks.state.yaml` next to `tasks.yaml`.
pub fn state_file(tasks: &str) -> String {
    Path::new(tasks).with_extension("state.yaml").to_string_lossy().into_owned()
}

impl TaskMark {
    /// Returns the state file's text with this mark added; `None` if it already has the mark.
    pub fn put_into(&self, text: &str, file: &str) -> Result<Option<String>, Diagnostic> {
        let mut marks = read_state(text, file)?;
        let mut mark = json!({ "status": self.status });
        if !self.evidence.is_empty() {
            mark["evidence"] = self.evidence.clone().into();
        }
        if marks.get(&self.task) == Some(&mark) {
            return Ok(None);
        }
        marks.insert(self.task.clone(), mark);
        let text = Out::json_document(&marks.into(), true);
        Ok(Some(format!(
            "# Written by roundtable: the tracker's state of the tasks in the file next to it.\n{text}"
        )))
    }
}

impl Definition {
    /// Sets the statuses of a state file on the tasks.
    pub(super) fn take_task_state(&mut self, text: &str, file: &str) -> Result<(), Diagnostic> {
        let marks = read_state(text, file)?;
        for task in &mut self.tasks {
            if let Some(status) = marks.get(&task.id).and_then(|mark| mark["status"].as_str()) {
                task.set_status(status);
            }
        }
        Ok(())
    }
}

/// Reads a state file: a map by task id; every entry needs a `status`.
fn read_state(text: &str, file: &str) -> Result<Map<String, Json>, Diagnostic> {
    let node = read(text, file)?;
    let is_mark = |mark: &Json| mark["status"].is_string();
    match node.to_json() {
        Json::Null => Ok(Map::new()),
        Json::Object(marks) if marks.values().all(is_mark) => Ok(marks),
        _ => Err(node
            .problem(file, "this is no state of tasks: ids, each with a `status`")
            .hint("correct it, or remove the file to start over")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn marks_are_added_once_and_others_stay() {
        assert_eq!(state_file(".s2s/tasks.yaml"), ".s2s/tasks.state.yaml");
        let evidence = json!({"Tests": "4 passed"}).as_object().unwrap().clone();
        let mark = TaskMark { task: "B".to_owned(), status: "DONE".to_owned(), evidence };
        let first = mark.put_into("", "f").unwrap().unwrap();
        assert!(first.ends_with("B:\n  status: DONE\n  evidence:\n    Tests: \"4 passed\"\n"), "{first}");
        assert_eq!(mark.put_into(&first, "f"), Ok(None));
        let held = TaskMark { status: "HELD".to_owned(), evidence: Map::new(), ..mark.clone() };
        let other = TaskMark { task: "A".to_owned(), ..held.clone() }.put_into(&first, "f").unwrap().unwrap();
        assert_eq!(other, first.clone() + "A:\n  status: HELD\n");
        assert!(held.put_into(&first, "f").unwrap().unwrap().ends_with("next to it.\nB:\n  status: HELD\n"));
        for text in ["B: DONE\n", "- B\n", "B: {evidence: {}}\n"] {
            assert!(mark.put_into(text, "f").unwrap_err().message.contains("no state of tasks"), "{text}");
        }
        assert!(mark.put_into("B: [", "f").unwrap_err().to_string().starts_with("f:"));
    }
}
