//! The tasks that a tracker marks by what it returns.

use std::sync::Arc;

use super::event::{ItemStatus, WorkItemReturned};
use super::state::Session;
use crate::workflow::{TRACKER, TaskMark};

impl Session {
    /// The tracker's mark on a task, if that is what came back.
    fn mark(&self, back: &WorkItemReturned) -> Option<TaskMark> {
        let is_trackers = self.seat_info(&back.participant).is_some_and(|seat| seat.model == TRACKER);
        if !is_trackers || back.status != ItemStatus::Completed {
            return None;
        }
        let text = |key: &str| back.data[key].as_str().map(str::to_owned);
        let evidence = back.data["evidence"].as_object().cloned().unwrap_or_default();
        Some(TaskMark { task: text("issue_id")?, status: text("status")?, evidence })
    }

    pub(super) fn note_mark(&mut self, back: &WorkItemReturned) {
        let Some(mark) = self.mark(back) else { return };
        let tasks = Arc::make_mut(&mut self.tasks);
        if let Some(task) = tasks.iter_mut().find(|task| task.id == mark.task) {
            task.set_status(&mark.status);
        }
    }

    /// The marks of steps that run, which the file of the tasks may not have yet. Empty without such a file, and
    /// in a rehearsal.
    pub fn due_marks(&self) -> Vec<TaskMark> {
        if self.tasks_file().is_none() || self.has_rehearsal() {
            return Vec::new();
        }
        let items = self.active_steps().flat_map(|run| &run.items).filter_map(|id| self.items.get(id));
        items.filter_map(|item| self.mark(item.completed()?)).collect()
    }

    pub fn tasks_file(&self) -> Option<&str> {
        Some(self.definition().tracker.as_ref()?.file.as_str())
    }
}
