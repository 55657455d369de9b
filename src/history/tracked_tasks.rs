//! The tracker's tasks as they stand after the results so far, and which are not in their file yet.

use super::event::{ItemStatus, TaskWritten, WorkItemReturned};
use super::state::Session;
use crate::workflow::{TRACKER, Task, TaskMark};

/// What the tracker made of a task and is not in the file of the tasks.
#[derive(Debug, Clone, PartialEq)]
pub struct UnwrittenTask {
    pub step: String,
    /// The work item.
    pub item: String,
    /// What is to be written.
    pub mark: TaskMark,
}

/// That a task's status is not in the file of the tasks, why, and what to do.
pub fn not_written(task: &str, file: &str, error: &str) -> String {
    format!(
        "the status of task `{task}` is not written to `{file}`: {error}; put that right, and `roundtable resume` writes it, or write it there yourself"
    )
}

impl Session {
    /// The definition's tasks, each with the status the tracker gave it last; deleted ones left out.
    pub fn tasks(&self) -> Vec<Task> {
        let mut tasks = self.tasks_as_read();
        for (_, id, status) in self.marks() {
            if let Some(task) = tasks.iter_mut().find(|task| task.id == id) {
                status.clone_into(&mut task.status);
                task.row.insert("status".to_owned(), status.into());
            }
        }
        tasks
    }

    fn tasks_as_read(&self) -> Vec<Task> {
        let Some(definition) = &self.definition else { return Vec::new() };
        definition.tasks.iter().filter(|task| !task.deleted).cloned().collect()
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

    /// What is to be written to the file of the tasks, the last of each task; nothing where they have none,
    /// and nothing that a rehearsal led to.
    pub fn unwritten_tasks(&self) -> Vec<UnwrittenTask> {
        if self.tasks_file().is_none() || self.has_rehearsal() {
            return Vec::new();
        }
        self.tasks_as_read().into_iter().filter_map(|task| self.unwritten(task)).collect()
    }

    fn unwritten(&self, task: Task) -> Option<UnwrittenTask> {
        let mut before = vec![task.status];
        let mut last: Option<(&WorkItemReturned, &str)> = None;
        for (back, _, status) in self.marks().filter(|(_, id, _)| *id == task.id) {
            if let Some((_, earlier)) = last.replace((back, status)) {
                before.push(earlier.to_owned());
            }
            if self.written.contains(&back.item) {
                before = vec![status.to_owned()];
                last = None;
            }
        }
        let (back, status) = last?;
        let evidence = back.data["evidence"].as_object().cloned().unwrap_or_default();
        let mark = TaskMark { task: task.id, title: task.title, status: status.to_owned(), evidence, before };
        Some(UnwrittenTask { step: back.step.clone(), item: back.item.clone(), mark })
    }

    /// The file that the tasks are written back to, as the definition names it.
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
