//! Writing the log beside the work: one write at a time, in a thread of its own.

use futures::future::FutureExt;
use tokio::task::JoinError;

use super::{Engine, EngineError};
use crate::journal::{DiskError, Journal};
use crate::session::Line;

/// A journal after a write, and what it wrote.
pub(super) type Written = (Journal, Result<Vec<Line>, DiskError>);

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
            if self.staged.is_empty() {
                break;
            }
            self.begin_write()?;
        }
        if let Some(number) = self.spent_key.take() {
            self.erase_key(number)?;
        }
        Ok(())
    }

    /// Begins to write what is staged. While a write is running, more is staged and shares the next.
    pub(super) fn begin_write(&mut self) -> Result<(), EngineError> {
        if self.staged.is_empty() || self.writing.is_some() {
            return Ok(());
        }
        let Some(mut journal) = self.journal.take() else {
            return Err(EngineError::Table(
                "the session file was given up after an earlier fault".to_owned(),
            ));
        };
        let events = std::mem::take(&mut self.staged);
        self.writing = Some(tokio::task::spawn_blocking(move || {
            let lines = journal.append(events);
            (journal, lines)
        }));
        Ok(())
    }

    /// Begins to write what is staged where that is much, so that it is written while more is decided.
    pub(super) fn write_ahead(&mut self) -> Result<(), EngineError> {
        const MUCH: usize = 256;
        if let Some(ended) = self.writing.as_mut().and_then(FutureExt::now_or_never) {
            self.written(ended)?;
        }
        if self.staged.len() >= MUCH { self.begin_write() } else { Ok(()) }
    }

    /// Takes in a write that has ended. What is on disk is shown once the state holds nothing beyond
    /// it, since watchers are shown the state too.
    pub(super) fn written(&mut self, ended: Result<Written, JoinError>) -> Result<(), EngineError> {
        self.writing = None;
        let (journal, lines) = ended.map_err(|error| EngineError::Table(error.to_string()))?;
        self.journal = Some(journal);
        self.unshown.extend(lines?);
        if self.staged.is_empty() {
            for line in self.unshown.drain(..) {
                self.observer.saw(&line, &self.session);
            }
        }
        Ok(())
    }
}
