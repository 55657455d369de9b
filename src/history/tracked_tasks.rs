//! The tracker's tasks as they stand after the results so far, and whose state is not written yet.

use std::sync::Arc;

use super::event::{ItemStatus, TaskWritten, WorkItemReturned};
use super::state::Session;
use crate::workflow::{TRACKER, TaskMark};

/// A mark of the tracker that the file of the tasks does not have yet.
#[derive(Debug, Clone, PartialEq)]
pub struct UnwrittenTask {
    pub step: String,
    pub item: String,
    pub mark: TaskMark,
}

pub fn not_written(task: &str, file: &str, error: &str) -> String {
    format!(
        "the status of task `{task}` is not written to `{file}`: {error}; put that right, and `roundtable resume` writes it"
    )
}

impl Session {
    pub(super) fn note_mark(&mut self, back: &Arc<WorkItemReturned>) {
        let (Some(id), Some(status)) = (back.data["issue_id"].as_str(), back.data["status"].as_str()) else {
            return;
        };
        let is_trackers = self.seat_info(&back.participant).is_some_and(|seat| seat.model == TRACKER);
        if is_trackers && back.status == ItemStatus::Completed {
            let tasks = Arc::make_mut(&mut self.tasks);
            if let Some(task) = tasks.iter_mut().find(|task| task.id == id) {
                task.set_status(status);
            }
            self.marks.insert(id.to_owned(), (Arc::clone(back), false));
        }
    }

    /// Empty without a file of the tasks, and in a rehearsal.
    pub fn unwritten_tasks(&self) -> Vec<UnwrittenTask> {
        if self.tasks_file().is_none() {
            return Vec::new();
        }
        let mark = |(id, (back, _)): (&String, &(Arc<WorkItemReturned>, bool))| UnwrittenTask {
            step: back.step.clone(),
            item: back.item.clone(),
            mark: TaskMark {
                task: id.clone(),
                status: back.data["status"].as_str().unwrap_or_default().to_owned(),
                evidence: back.data["evidence"].as_object().cloned().unwrap_or_default(),
            },
        };
        let unwritten: Vec<_> =
            self.marks.iter().filter(|(_, (_, is_written))| !is_written).map(mark).collect();
        if unwritten.is_empty() || self.has_rehearsal() { Vec::new() } else { unwritten }
    }

    pub fn tasks_file(&self) -> Option<&str> {
        Some(self.definition.as_ref()?.tracker.as_ref()?.file.as_str())
    }

    pub(crate) fn note_written(&mut self, written: &TaskWritten) {
        match &written.error {
            Some(error) => self.warnings.push(not_written(&written.task, &written.file, error)),
            None => {
                if let Some((back, is_written)) = self.marks.get_mut(&written.task) {
                    *is_written |= back.item == written.item;
                }
            }
        }
    }
}
