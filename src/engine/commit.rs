//! Writing the log beside the work: one write at a time, in a thread of its own.

use futures::future::FutureExt;
use tokio::task::{JoinError, JoinHandle};

use super::{Engine, EngineError};
use crate::history::{LogEntry, TimedEvent};
use crate::journal::{DiskError, Journal};

/// A journal after a write, and what it wrote.
pub(super) type CommitResult = (Journal, Result<Vec<LogEntry>, DiskError>);

/// The end of the write that is running, if one is.
pub(super) async fn ended(writing: &mut Option<JoinHandle<CommitResult>>) -> Result<CommitResult, JoinError> {
    match writing {
        Some(writing) => writing.await,
        None => std::future::pending().await,
    }
}

/// From so many events, or seats, on it pays to work ahead.
const MUCH: usize = 256;

impl Engine<'_> {
    /// Puts what is staged on disk, then shows it.
    ///
    /// # Errors
    /// When the storage fails; nothing staged counts as recorded then.
    pub async fn commit(&mut self) -> Result<(), EngineError> {
        loop {
            if let Some(writing) = &mut self.writing {
                let ended = writing.await;
                self.written(ended)?;
            }
            if self.is_written() {
                break;
            }
            self.begin_write()?;
        }
        if let Some(number) = self.spent_key.take() {
            self.erase_key(number)?;
        }
        Ok(self.write_tasks()?)
    }

    /// The hash of the last document on disk.
    pub fn last_hash(&self) -> String {
        self.journal.as_ref().map(|journal| journal.head().to_owned()).unwrap_or_default()
    }

    /// Whether nothing waits to be written.
    fn is_written(&self) -> bool {
        self.staged.is_empty() && !self.journal.as_ref().is_some_and(Journal::holds_back)
    }

    /// Begins to write what is staged. While a write is running, more is staged and shares the next.
    pub(super) fn begin_write(&mut self) -> Result<(), EngineError> {
        if self.is_written() { Ok(()) } else { self.with_staged(Journal::append) }
    }

    /// Takes in a write that has ended, and begins the next.
    pub(super) fn write_on(&mut self) -> Result<(), EngineError> {
        self.take_in_written()?;
        self.begin_write()
    }

    fn take_in_written(&mut self) -> Result<(), EngineError> {
        match self.writing.as_mut().and_then(FutureExt::now_or_never) {
            Some(ended) => self.written(ended),
            None => Ok(()),
        }
    }

    /// Begins to render what is staged where that is much, while more is decided that shares its write.
    pub(super) fn render_ahead(&mut self) -> Result<(), EngineError> {
        self.take_in_written()?;
        if self.staged.len() < MUCH {
            return Ok(());
        }
        self.with_staged(|journal, events| journal.render(events).map(|()| Vec::new()))
    }

    /// Begins to write a large round that is counted, while its step is finished.
    pub(super) async fn write_counted(&mut self) -> Result<(), EngineError> {
        if self.session.rounds.last().is_none_or(|round| round.seats.len() < MUCH) {
            return Ok(());
        }
        if let Some(writing) = &mut self.writing {
            let ended = writing.await;
            self.written(ended)?;
        }
        self.begin_write()
    }

    /// Gives what is staged to the journal, in a thread of its own, unless the journal is at work.
    fn with_staged(
        &mut self,
        work: impl FnOnce(&mut Journal, Vec<TimedEvent>) -> Result<Vec<LogEntry>, DiskError> + Send + 'static,
    ) -> Result<(), EngineError> {
        if self.writing.is_some() {
            return Ok(());
        }
        let Some(mut journal) = self.journal.take() else {
            return Err(EngineError::Table(
                "the session file was given up after an earlier fault".to_owned(),
            ));
        };
        let events = std::mem::take(&mut self.staged);
        self.writing = Some(tokio::task::spawn_blocking(move || {
            let lines = work(&mut journal, events);
            (journal, lines)
        }));
        Ok(())
    }

    /// Takes in a write that has ended. What is on disk is shown once the state holds nothing beyond
    /// it, since watchers are shown the state too.
    pub(super) fn written(&mut self, ended: Result<CommitResult, JoinError>) -> Result<(), EngineError> {
        self.writing = None;
        let (journal, lines) = ended.map_err(|error| EngineError::Table(error.to_string()))?;
        self.journal = Some(journal);
        self.unshown.extend(lines?);
        if self.is_written() {
            for line in self.unshown.drain(..) {
                self.observer.on_event(&line, &self.session);
            }
        }
        Ok(())
    }
}
