//! State of a tracker's tasks: kept next to their file by task id, and read over it.

use std::path::Path;

use serde_json::{Map, Value as Json, json};

use super::definition::Definition;
use crate::diagnostic::Diagnostic;
use crate::yaml::{Out, read};

#[derive(Debug, Clone, PartialEq)]
pub struct TaskMark {
    pub task: String,
    pub status: String,
    pub evidence: Map<String, Json>,
}

/// The file that holds the state of the tasks in a file: `tasks.state.yaml` beside `tasks.yaml`.
pub fn state_file(tasks: &str) -> String {
    Path::new(tasks).with_extension("state.yaml").to_string_lossy().into_owned()
}

impl TaskMark {
    /// The text of the state file with this in it; none where it stands there already.
    ///
    /// # Errors
    /// What of the text is no state of tasks.
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
        Ok(Some(format!("# Written by roundtable: what the tracker made of the tasks beside it.\n{text}")))
    }
}

impl Definition {
    /// Takes the statuses of a state file over those of the tasks.
    ///
    /// # Errors
    /// What of the text is no state of tasks.
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

/// The entries of a state file by task id: maps with a status.
fn read_state(text: &str, file: &str) -> Result<Map<String, Json>, Diagnostic> {
    let node = read(text, file)?;
    let is_mark = |mark: &Json| mark["status"].is_string();
    match node.to_json() {
        Json::Null => Ok(Map::new()),
        Json::Object(marks) if marks.values().all(is_mark) => Ok(marks),
        _ => Err(node
            .problem(file, "this is no state of tasks: ids, each with a `status`")
            .hint("put it right, or remove the file to begin anew")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_mark_is_put_in_once_and_the_others_stay() {
        assert_eq!(state_file(".s2s/tasks.yaml"), ".s2s/tasks.state.yaml");
        let evidence = json!({"Tests": "4 passed"}).as_object().unwrap().clone();
        let mark = TaskMark { task: "B".to_owned(), status: "DONE".to_owned(), evidence };
        let first = mark.put_into("", "f").unwrap().unwrap();
        assert!(first.ends_with("B:\n  status: DONE\n  evidence:\n    Tests: \"4 passed\"\n"), "{first}");
        assert_eq!(mark.put_into(&first, "f"), Ok(None));
        let held = TaskMark { status: "HELD".to_owned(), evidence: Map::new(), ..mark.clone() };
        let other = TaskMark { task: "A".to_owned(), ..held.clone() }.put_into(&first, "f").unwrap().unwrap();
        assert_eq!(other, first.clone() + "A:\n  status: HELD\n");
        assert!(held.put_into(&first, "f").unwrap().unwrap().ends_with("beside it.\nB:\n  status: HELD\n"));
        for text in ["B: DONE\n", "- B\n", "B: {evidence: {}}\n"] {
            assert!(mark.put_into(text, "f").unwrap_err().message.contains("no state of tasks"), "{text}");
        }
        assert!(mark.put_into("B: [", "f").unwrap_err().to_string().starts_with("f:"));
    }
}
