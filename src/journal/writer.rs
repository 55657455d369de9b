//! Journal: acknowledges events once they are written and synced.
//!
//! After a failed write or sync the journal refuses everything, because later events could not be
//! distinguished from lost ones.

use std::path::{Path, PathBuf};

use super::document::Chain;
use super::reader::{Damage, EventLog, read_log};
use super::storage::{Disk, DiskError, LogFile};
use super::verify::unwritten;
use crate::history::{LogEntry, TimedEvent};

/// Open session file, locked against other writers.
pub struct Journal {
    file: LogFile,
    chain: Chain,
    failed: bool,
}

pub struct OpenedJournal {
    pub journal: Journal,
    pub log: EventLog,
    /// File to which a torn write was moved.
    pub torn: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum OpenJournalError {
    /// The storage failed, or another program has the file open.
    #[error(transparent)]
    Disk(#[from] DiskError),
    #[error(transparent)]
    Damage(#[from] Damage),
    /// The file was torn before its header was complete; it stays unchanged.
    #[error("the file contains no complete header: nothing was recorded in it")]
    NothingRecorded,
}

impl Journal {
    pub fn create(disk: &Disk, path: &Path) -> Result<Self, DiskError> {
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            disk.make_dir(parent)?;
        }
        let file = disk.create_log(path)?;
        Ok(Self { file, chain: Chain::default(), failed: false })
    }

    /// Opens a session file to continue it. Moves a torn write at its end to a separate file, and writes the
    /// missing events of the last decision.
    pub fn open(disk: &Disk, path: &Path) -> Result<OpenedJournal, OpenJournalError> {
        let mut file = disk.open_log(path)?;
        let bytes = file.read_all()?;
        let mut log = read_log(&bytes)?;
        if log.lines.is_empty() {
            return Err(OpenJournalError::NothingRecorded);
        }
        let chain = Chain::after(&log.lines);
        let torn = (log.torn > 0).then(|| save_torn(disk, path, log.good, &bytes[log.good..])).transpose()?;
        if torn.is_some() {
            file.truncate(log.good as u64)?;
        }
        let mut journal = Self { file, chain, failed: false };
        let unwritten = unwritten(&log.lines);
        if !unwritten.is_empty() {
            log.lines.extend(journal.append(unwritten)?);
        }
        Ok(OpenedJournal { journal, log, torn })
    }

    /// Appends events and waits until they are on disk.
    ///
    /// # Errors
    /// If the write or the sync fails, none of the events counts as recorded. The journal then refuses further
    /// events.
    pub fn append(&mut self, events: Vec<TimedEvent>) -> Result<Vec<LogEntry>, DiskError> {
        if self.failed {
            let cause = std::io::Error::other("an earlier write failed");
            return Err(DiskError { what: "write to", path: self.path().to_owned(), cause, locked: None });
        }
        let mut chain = self.chain.clone();
        let lines = self.write(events, &mut chain).and_then(|lines| self.file.sync().map(|()| lines));
        self.failed = lines.is_err();
        if self.failed && self.chain.seq == 0 {
            // Nothing was acknowledged, and an empty file would be of no use.
            self.file.discard();
        } else if !self.failed {
            self.chain = chain;
        }
        lines
    }

    /// Writes documents in parts, because those of 10,000 seats have 110 MB.
    fn write(&mut self, events: Vec<TimedEvent>, chain: &mut Chain) -> Result<Vec<LogEntry>, DiskError> {
        const PART: usize = 1 << 20;
        let (mut lines, mut text) = (Vec::with_capacity(events.len()), String::new());
        for stamped in events {
            if text.len() > PART {
                self.file.append(text.as_bytes())?;
                text.clear();
            }
            lines.push(chain.write(stamped, &mut text));
        }
        self.file.append(text.as_bytes())?;
        Ok(lines)
    }

    pub fn path(&self) -> &Path {
        self.file.path()
    }

    pub fn entries(&self) -> usize {
        usize::try_from(self.chain.seq).unwrap_or(usize::MAX)
    }

    pub fn head(&self) -> &str {
        &self.chain.head
    }
}

/// Saves a torn write at byte `offset` in a separate file; never overwrites a different one.
fn save_torn(disk: &Disk, path: &Path, offset: usize, torn: &[u8]) -> Result<PathBuf, DiskError> {
    let named = |suffix: String| {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(suffix);
        path.with_file_name(name)
    };
    let mut aside = named(format!(".torn-{offset}"));
    let mut count = 1;
    while aside.exists() {
        if disk.read(&aside, u64::MAX)? == torn {
            return Ok(aside);
        }
        count += 1;
        aside = named(format!(".torn-{offset}.{count}"));
    }
    disk.write_whole(&aside, torn)?;
    Ok(aside)
}
