//! The file of the tracker's tasks: written once the tracker's result is on disk in the log.
//!
//! What could not be written is tried again with the next task, and when the session is resumed.

use super::state::Engine;
use crate::core::{Command, Refusal};

impl Engine<'_> {
    /// Has the file written after the log, where there is something to write.
    pub(super) fn note_marks(&mut self) {
        self.is_task_due = !self.session.unwritten_tasks().is_empty();
    }

    /// Writes what is due; what led to it is on disk. A session that is over keeps no further record.
    pub(super) fn write_tasks(&mut self) -> Result<(), Refusal> {
        let is_due = std::mem::take(&mut self.is_task_due) && self.session.closed.is_none();
        let name = self.session.tasks_file().filter(|_| is_due).map(str::to_owned);
        let (write, Some(name)) = (&mut self.tasks_file, name) else { return Ok(()) };
        let tried = self.session.unwritten_tasks().into_iter();
        let tried: Vec<_> = tried.map(|mark| (mark.item, write(&name, &mark.mark).err())).collect();
        for (item, error) in tried {
            let told = error.clone().map(|error| (item.clone(), error));
            if told.as_ref().is_none_or(|told| !self.unwritten.contains(told)) {
                self.unwritten.extend(told);
                self.stage(Command::RecordTask { item, error })?;
            }
        }
        Ok(())
    }
}
