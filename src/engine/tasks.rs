//! The file of the tracker's tasks: written once what the tracker made of a task is on disk in the log.
//!
//! What could not be written is tried again with the next task, and when the session is resumed.

use super::Engine;
use crate::core::{Command, Refusal};
use crate::workflow::TaskMark;

/// Writes what was made of a task to the file of that name, or says in words why not.
pub type TasksFile<'a> = Box<dyn FnMut(&str, &TaskMark) -> Result<(), String> + Send + 'a>;

/// Who writes to the file of the tasks, and what is due there.
#[derive(Default)]
pub(super) struct TasksKept<'a> {
    file: Option<TasksFile<'a>>,
    /// Whether something is to be written once what is staged is on disk.
    pub is_due: bool,
    /// What was told already: the work item, and why it is not written.
    told: Vec<(String, String)>,
}

impl<'a> Engine<'a> {
    /// Keeps the tasks in their file, where the definition names one; what an earlier run left unwritten
    /// is written first.
    pub fn keeps_tasks(&mut self, file: TasksFile<'a>) {
        self.tasks.file = Some(file);
        self.note_marks();
    }

    /// Has the file written after the log, where there is something to write.
    pub(super) fn note_marks(&mut self) {
        self.tasks.is_due = self.tasks.file.is_some() && !self.session.unwritten_tasks().is_empty();
    }

    /// Writes what is due; what led to it is on disk. A session that is over keeps no further record.
    pub(super) fn write_tasks(&mut self) -> Result<(), Refusal> {
        let is_due = std::mem::take(&mut self.tasks.is_due) && self.session.closed.is_none();
        let name = self.session.tasks_file().filter(|_| is_due).map(str::to_owned);
        let (Some(write), Some(name)) = (&mut self.tasks.file, name) else { return Ok(()) };
        let tried = self.session.unwritten_tasks().into_iter();
        let tried: Vec<_> = tried.map(|mark| (mark.item, write(&name, &mark.mark).err())).collect();
        for (item, error) in tried {
            let told = error.clone().map(|error| (item.clone(), error));
            if told.as_ref().is_none_or(|told| !self.tasks.told.contains(told)) {
                self.tasks.told.extend(told);
                self.stage(Command::RecordTask { item, error })?;
            }
        }
        Ok(())
    }
}
