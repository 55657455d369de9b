//! Log writes in parallel to the work: one at a time, in a separate thread.

use tokio::task::JoinError;

use super::state::{CommitResult, Engine, EngineError};
use crate::journal::{DiskError, Journal};
use crate::workflow::state_file;

impl Engine<'_> {
    /// Writes the staged events to disk, then publishes them.
    ///
    /// # Errors
    /// If the storage fails, none of the staged events counts as recorded.
    pub async fn commit(&mut self) -> Result<(), EngineError> {
        loop {
            if let Some(writing) = &mut self.writing {
                let ended = writing.await;
                self.written(ended)?;
            }
            if self.staged.is_empty() {
                break;
            }
            self.begin_write()?;
        }
        if let Some(number) = self.spent_key.take() {
            self.config.keys.erase(&self.session.id, number);
        }
        self.write_tasks()
    }

    pub fn last_hash(&self) -> String {
        self.journal.as_ref().map(|journal| journal.head().to_owned()).unwrap_or_default()
    }

    pub fn entries(&self) -> usize {
        self.journal.as_ref().map_or(0, Journal::entries)
    }

    /// Starts to write the staged events. Events that are staged during a write share the next one.
    pub(super) fn begin_write(&mut self) -> Result<(), EngineError> {
        if self.staged.is_empty() || self.writing.is_some() {
            return Ok(());
        }
        let given_up = "the session file was given up after an earlier error";
        let mut journal = self.journal.take().ok_or_else(|| EngineError::Other(given_up.to_owned()))?;
        let events = std::mem::take(&mut self.staged);
        self.writing = Some(tokio::task::spawn_blocking(move || {
            let lines = journal.append(events);
            (journal, lines)
        }));
        Ok(())
    }

    /// Handles a write that has ended. Events are published once the whole state is on disk, because observers
    /// see the state too.
    pub(super) fn written(&mut self, ended: Result<CommitResult, JoinError>) -> Result<(), EngineError> {
        self.writing = None;
        let (journal, lines) = ended.map_err(|error| EngineError::Other(error.to_string()))?;
        self.journal = Some(journal);
        let lines = lines?;
        for line in &lines {
            self.session.note_hash(line);
        }
        self.unshown.extend(lines);
        if self.staged.is_empty() {
            for line in self.unshown.drain(..) {
                self.config.observer.on_event(&line, &self.session);
            }
            self.config.observer.on_written(&self.session);
            self.answer_due();
        }
        Ok(())
    }

    pub(super) fn note_due_tasks(&mut self) {
        self.is_task_due = !self.session.due_marks().is_empty();
    }

    /// Writes the tracker's task updates to the tasks file; their events are on disk. A failure ends the run,
    /// and the next run retries, because the step is still running.
    fn write_tasks(&mut self) -> Result<(), EngineError> {
        let Some(name) = self.session.tasks_file().filter(|_| self.is_task_due) else { return Ok(()) };
        for mark in self.session.due_marks() {
            (self.config.tasks_file)(name, &mark).map_err(|why| DiskError {
                what: "write the status of a task to",
                path: state_file(name).into(),
                cause: std::io::Error::other(why),
                locked: None,
            })?;
        }
        self.is_task_due = false;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::with_engine;
    use crate::core::Command;
    use crate::history::Timestamp;

    #[test]
    fn events_are_published_once_the_whole_state_is_on_disk() {
        let ann = json!({"name": "ann", "persona": "ann", "model": "test/a", "weight": 1.0});
        with_engine(
            ("question: q\n", &[ann], std::collections::HashMap::new()),
            || Timestamp(1),
            |engine| {
                for (more, unshown) in [(true, 1), (false, 0)] {
                    let mut journal = engine.journal.take().unwrap();
                    let lines = journal.append(std::mem::take(&mut engine.staged));
                    if more {
                        engine.stage(Command::StartStep).unwrap();
                    }
                    engine.written(Ok((journal, lines))).unwrap();
                    assert_eq!(engine.unshown.len(), unshown);
                }
            },
        );
    }
}
