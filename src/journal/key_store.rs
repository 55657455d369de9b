//! The keys of open rounds: outside the session file, owner-only, synced, erased at the close.

use std::path::{Path, PathBuf};

use super::storage::{Disk, DiskError};
use crate::history::Session;
use crate::round::seal::RoundKey;

/// A folder of keys.
#[derive(Clone)]
pub struct KeyStore {
    disk: Disk,
    dir: PathBuf,
}

impl KeyStore {
    /// Keys under `dir`, which is made when the first key is kept.
    pub fn new(disk: Disk, dir: &Path) -> Self {
        Self { disk, dir: dir.to_owned() }
    }

    /// Where the key of a session's round lies; rounds go by their number.
    fn path(&self, session: &str, round: u32) -> PathBuf {
        self.dir.join(format!("{session}.{round}.key"))
    }

    /// Keeps a key; it is on disk when this returns.
    ///
    /// # Errors
    /// When it cannot be written: the round must not be opened then.
    pub fn keep(&self, session: &str, round: u32, key: &RoundKey) -> Result<(), DiskError> {
        self.disk.make_own_dir(&self.dir)?;
        self.disk.write_whole(&self.path(session, round), format!("{}\n", key.publish()).as_bytes())
    }

    /// The key; `None` when it is gone, or what lies there is no key.
    ///
    /// # Errors
    /// When it cannot be read for another reason: it is not lost then.
    pub fn find(&self, session: &str, round: u32) -> Result<Option<RoundKey>, DiskError> {
        match self.disk.read_own(&self.path(session, round), 1024) {
            Ok(bytes) => {
                Ok(std::str::from_utf8(&bytes).ok().and_then(|text| RoundKey::from_hex(text.trim_end())))
            }
            Err(error) if error.cause.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Erases the keys of a session that is over: a crash may have come between its last write and
    /// the erasure. Gives what could not be removed.
    pub fn erase_all(&self, session: &Session) -> Vec<DiskError> {
        let numbers = session.rounds.iter().map(|round| round.opened.number);
        numbers.filter_map(|number| self.erase(&session.id, number).err()).collect()
    }

    /// Erases a key.
    ///
    /// # Errors
    /// When it is there and cannot be removed.
    pub fn erase(&self, session: &str, round: u32) -> Result<(), DiskError> {
        self.disk.erase(&self.path(session, round))
    }
}
