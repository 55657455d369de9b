//! The tracker's tasks as they stand after the results so far, and whose state is not written yet.

use indexmap::IndexMap;

use super::event::{ItemStatus, TaskWritten, WorkItemReturned};
use super::state::Session;
use crate::workflow::{TRACKER, Task, TaskMark};

/// What the tracker made of a task and is not in the state of the tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct UnwrittenTask {
    pub step: String,
    pub item: String,
    pub mark: TaskMark,
}

/// That a task's status is not in the state of the tasks, why, and what to do.
pub fn not_written(task: &str, file: &str, error: &str) -> String {
    format!(
        "the status of task `{task}` is not written to `{file}`: {error}; put that right, and `roundtable resume` writes it"
    )
}

impl Session {
    /// The definition's tasks, each with the status the tracker gave it last; deleted ones left out.
    pub fn tasks(&self) -> Vec<Task> {
        let known = self.definition.iter().flat_map(|definition| &definition.tasks);
        let mut tasks: Vec<Task> = known.filter(|task| !task.deleted).cloned().collect();
        for (_, id, status) in self.marks() {
            if let Some(task) = tasks.iter_mut().find(|task| task.id == id) {
                task.set_status(status);
            }
        }
        tasks
    }

    /// What the tracker made of tasks, with the task's id and its new status.
    fn marks(&self) -> impl Iterator<Item = (&WorkItemReturned, &str, &str)> {
        let returned = self.items.values().flat_map(|item| &item.returned).map(|(back, _)| &**back);
        returned.filter_map(|back| {
            let is_trackers = back.status == ItemStatus::Completed
                && self.seat_info(&back.participant).is_some_and(|seat| seat.model == TRACKER);
            let (id, status) = (back.data["issue_id"].as_str()?, back.data["status"].as_str()?);
            is_trackers.then_some((back, id, status))
        })
    }

    /// What is to be written of the tasks' state, the last of each task; nothing where they have no file, and
    /// nothing that a rehearsal led to.
    pub fn unwritten_tasks(&self) -> Vec<UnwrittenTask> {
        if self.tasks_file().is_none() || self.has_rehearsal() {
            return Vec::new();
        }
        let last: IndexMap<&str, (&WorkItemReturned, &str)> =
            self.marks().map(|(back, id, status)| (id, (back, status))).collect();
        let unwritten = last.into_iter().filter(|(_, (back, _))| !self.written.contains(&back.item));
        let mark = |(id, (back, status)): (&str, (&WorkItemReturned, &str))| UnwrittenTask {
            step: back.step.clone(),
            item: back.item.clone(),
            mark: TaskMark {
                task: id.to_owned(),
                status: status.to_owned(),
                evidence: back.data["evidence"].as_object().cloned().unwrap_or_default(),
            },
        };
        unwritten.map(mark).collect()
    }

    /// The file of the tasks, as the definition names it.
    pub fn tasks_file(&self) -> Option<&str> {
        Some(self.definition.as_ref()?.tracker.as_ref()?.file.as_str())
    }

    pub(crate) fn note_written(&mut self, written: &TaskWritten) {
        match &written.error {
            Some(error) => self.warnings.push(not_written(&written.task, &written.file, error)),
            None => self.written.push(written.item.clone()),
        }
    }
}
