//! Marking a task in the text of its file: status and evidence, and no other byte.

use serde_json::{Map, Value as Json};

use super::load::task::read_tasks;
use crate::yaml::{Node, Value, with_entry};

/// What the tracker made of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskMark {
    pub task: String,
    /// What it was called when it was read.
    pub title: String,
    /// Its new status.
    pub status: String,
    /// What shows it.
    pub evidence: Map<String, Json>,
    /// The statuses it may still have in the file.
    pub before: Vec<String>,
}

impl TaskMark {
    /// The text of the file with this in it; none where it stands there already.
    ///
    /// # Errors
    /// Why not, in words: the file cannot be read, the task is not in it any more or is another one,
    /// somebody else has changed its status, or its lines cannot be changed alone.
    pub fn put_into(&self, text: &str, file: &str) -> Result<Option<String>, String> {
        let node = Self::read(text, file)?;
        let id = &self.task;
        let Some((index, task)) = find(&node, id) else { return Err(format!("it holds no task `{id}` now")) };
        let written = |key| entry(task, key).map(Node::to_json);
        let text_of = |key| entry(task, key).and_then(super::as_text);
        let title = text_of("title").unwrap_or_default();
        if title != self.title {
            return Err(format!("`{id}` was \"{}\" and is \"{title}\" now: another task", self.title));
        }
        let status = text_of("status").unwrap_or_else(|| "OPEN".to_owned());
        let evidence = written("evidence").filter(|evidence| !evidence.is_null());
        let is_marked = status == self.status;
        let is_shown =
            self.evidence.is_empty() || evidence.as_ref() == Some(&Json::Object(self.evidence.clone()));
        if is_marked && is_shown {
            return Ok(None);
        }
        let is_expected = self.before.contains(&status) || (is_marked && evidence.is_none());
        if !is_expected {
            let with = if is_marked { " with other evidence" } else { "" };
            return Err(format!("somebody else has made `{id}` {status}{with}"));
        }
        self.edited(text, file, &node, index).map(Some).ok_or_else(|| {
            format!("the lines of `{id}` cannot be changed alone: write one key a line, without anchors")
        })
    }

    fn read(text: &str, file: &str) -> Result<Node, String> {
        read_tasks(text, file).map_err(|problem| problem.to_string())
    }

    /// The text with status and evidence set, if nothing else reads differently then.
    fn edited(&self, text: &str, file: &str, node: &Node, index: usize) -> Option<String> {
        let (mark, body) = text.strip_prefix('\u{feff}').map_or(("", text), |body| ("\u{feff}", body));
        let mut body = body.to_owned();
        let mut wanted = node.to_json();
        let evidence = (!self.evidence.is_empty()).then(|| Json::Object(self.evidence.clone()));
        let entries = [("status", Some(Json::String(self.status.clone()))), ("evidence", evidence)];
        for (key, value) in entries {
            let Some(value) = value else { continue };
            let node = Self::read(&body, file).ok()?;
            body = with_entry(&body, find(&node, &self.task)?.1, key, &value)?;
            wanted["tasks"][index][key] = value;
        }
        let is_right = Self::read(&body, file).ok()?.to_json() == wanted;
        is_right.then(|| format!("{mark}{body}"))
    }
}

fn entry<'a>(map: &'a Node, key: &str) -> Option<&'a Node> {
    let Value::Map(entries) = &map.value else { return None };
    entries.iter().find(|(known, _)| known.text == key).map(|(_, node)| node)
}

/// The task of that id, and its place in the list.
fn find<'a>(node: &'a Node, id: &str) -> Option<(usize, &'a Node)> {
    let Value::List(tasks) = &entry(node, "tasks")?.value else { return None };
    let is_it = |task: &&Node| {
        let written = entry(task, "id").or_else(|| entry(task, "issue_id"));
        written.and_then(super::as_text).is_some_and(|known| known == id)
    };
    tasks.iter().position(|task| is_it(&task)).map(|index| (index, &tasks[index]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn mark() -> TaskMark {
        TaskMark {
            task: "B".to_owned(),
            title: "Page".to_owned(),
            status: "DONE".to_owned(),
            evidence: json!({"Tests": "4 passed"}).as_object().unwrap().clone(),
            before: vec!["OPEN".to_owned()],
        }
    }

    #[test]
    fn it_is_put_in_once_and_never_over_what_somebody_else_wrote() {
        let text = "\u{feff}# mine\ntasks:\n  - {id: A, title: Other}\n  - id: B # b\n    title: Page\n";
        let marked = mark().put_into(text, "f").unwrap().unwrap();
        assert_eq!(marked, text.to_owned() + "    status: DONE\n    evidence:\n      Tests: \"4 passed\"\n");
        assert_eq!(mark().put_into(&marked, "f"), Ok(None));
        // Who wrote the status alone is given the evidence.
        let alone = text.to_owned() + "    status: DONE\n";
        assert_eq!(mark().put_into(&alone, "f").unwrap().unwrap(), marked);
        let without = TaskMark { evidence: Map::new(), ..mark() };
        assert_eq!(without.put_into(text, "f").unwrap().unwrap(), alone);
        assert_eq!(without.put_into(&marked, "f"), Ok(None));
        let refused = |more: &str| mark().put_into(&(text.to_owned() + more), "f").unwrap_err();
        assert_eq!(refused("    status: HELD\n"), "somebody else has made `B` HELD");
        assert_eq!(
            refused("    status: DONE\n    evidence: {a: b}\n"),
            "somebody else has made `B` DONE with other evidence"
        );
        let other = mark().put_into(&text.replace("Page", "Pages"), "f").unwrap_err();
        assert_eq!(other, "`B` was \"Page\" and is \"Pages\" now: another task");
        assert_eq!(mark().put_into("tasks: []\n", "f").unwrap_err(), "it holds no task `B` now");
        assert!(mark().put_into("tasks: [", "f").unwrap_err().starts_with("f:1:"));
        let held = TaskMark { before: vec!["OPEN".to_owned(), "HELD".to_owned()], ..mark() };
        assert!(held.put_into(&(text.to_owned() + "    status: HELD\n"), "f").unwrap().is_some());
    }

    #[test]
    fn what_cannot_be_changed_alone_is_left_as_it_is() {
        for text in [
            "tasks:\n  - id: B\n    title: Page\n    status: >-\n      OPEN\n",
            "tasks:\n  - &b {id: B, title: Page}\n  - {id: C, labels: *b}\n",
            "tasks:\n  - id: B\n    title: Page\n    description: |+\n      text\n\n\n",
        ] {
            let why = mark().put_into(text, "f").unwrap_err();
            assert!(why.contains("cannot be changed alone"), "{text}: {why}");
        }
    }
}
