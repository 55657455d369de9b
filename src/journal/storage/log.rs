//! An open, locked session file: created or reopened, appended to, synced, truncated.
//!
//! A write counts only once it is on disk in the file that its path still names.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};

use super::{Disk, DiskError, GONE, StorageOp, fail, owner_only, unlinked};

/// Attempts to get a held lock, and the wait between them: two seconds in total, in which a killed process
/// releases it.
const LOCK_TRIES: u32 = 400;
const LOCK_WAIT: std::time::Duration = std::time::Duration::from_millis(5);

pub struct LogFile {
    disk: Disk,
    path: PathBuf,
    file: File,
}

impl Disk {
    /// Creates a log, owner-only and locked. The file must not exist, or be empty as after a kill before the
    /// first write. A failure leaves no new file.
    pub fn create_log(&self, path: &Path) -> Result<LogFile, DiskError> {
        if let Some(empty) = self.empty_log(path)? {
            return Ok(empty);
        }
        let make = || -> io::Result<File> {
            self.announce(StorageOp::Open, path)?;
            owner_only().create_new(true).read(true).append(true).open(path)
        };
        let file = make().map_err(fail("make", path))?;
        let ready = self.lock(&file, path).and_then(|()| self.sync_parent(path).map_err(fail("make", path)));
        match ready {
            Ok(()) => Ok(LogFile { disk: self.clone(), path: path.to_owned(), file }),
            Err(error) => {
                let _ = fs::remove_file(path);
                Err(error)
            }
        }
    }

    /// Opens and locks the existing log if it is empty, and restricts it to its owner.
    fn empty_log(&self, path: &Path) -> Result<Option<LogFile>, DiskError> {
        let is_empty = |meta: &fs::Metadata| meta.is_file() && meta.len() == 0;
        if !fs::symlink_metadata(path).is_ok_and(|meta| is_empty(&meta)) {
            return Ok(None);
        }
        let log = self.open_log(path)?;
        let own = || -> io::Result<bool> {
            #[cfg(unix)]
            log.file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
            self.sync_parent(path)?;
            // Another program may have written to it before the lock.
            Ok(is_empty(&log.file.metadata()?))
        };
        let is_ours = own().map_err(fail("make", path))?;
        Ok(is_ours.then_some(log))
    }

    pub fn open_log(&self, path: &Path) -> Result<LogFile, DiskError> {
        let open = || -> io::Result<File> {
            self.announce(StorageOp::Open, path)?;
            unlinked(OpenOptions::new().read(true).append(true), path)
        };
        let file = open().map_err(fail("open", path))?;
        self.lock(&file, path)?;
        Ok(LogFile { disk: self.clone(), path: path.to_owned(), file })
    }

    /// Opens and locks a file that other programs replace as a whole; returns the current one.
    pub fn open_whole(&self, path: &Path) -> Result<LogFile, DiskError> {
        loop {
            let file = self.open_log(path)?;
            if file.is_in_place() {
                return Ok(file);
            }
        }
    }

    fn lock(&self, file: &File, path: &Path) -> Result<(), DiskError> {
        self.announce(StorageOp::Lock, path).map_err(fail("lock", path))?;
        // A child process that was just started briefly holds a copy of an earlier lock.
        let mut taken = file.try_lock();
        for _ in 0..LOCK_TRIES {
            if !matches!(taken, Err(TryLockError::WouldBlock)) {
                break;
            }
            std::thread::park_timeout(LOCK_WAIT);
            taken = file.try_lock();
        }
        taken.map_err(|error| match error {
            TryLockError::WouldBlock => {
                let process = holder(file).map(|process| format!(" (process {process})"));
                let holder = format!("another roundtable{}", process.unwrap_or_default());
                let cause = io::Error::new(io::ErrorKind::ResourceBusy, format!("{holder} has it open"));
                DiskError { what: "open", path: path.to_owned(), cause, locked: Some(holder) }
            }
            TryLockError::Error(cause) => fail("lock", path)(cause),
        })
    }
}

impl LogFile {
    pub fn append(&mut self, bytes: &[u8]) -> Result<(), DiskError> {
        self.disk.write(&mut self.file, &self.path, bytes).map_err(fail("write to", &self.path))
    }

    /// Waits until everything appended is on disk, and checks that the path still names this file.
    pub fn sync(&mut self) -> Result<(), DiskError> {
        let sync = self.disk.announce(StorageOp::Sync, &self.path).and_then(|()| self.file.sync_data());
        sync.map_err(fail("sync", &self.path))?;
        if self.is_in_place() {
            return Ok(());
        }
        let cause = io::Error::new(io::ErrorKind::NotFound, "it was removed, moved or replaced meanwhile");
        Err(fail(GONE, &self.path)(cause))
    }

    fn is_in_place(&self) -> bool {
        let same = |there: fs::Metadata, own: fs::Metadata| {
            #[cfg(unix)]
            {
                use std::os::unix::fs::MetadataExt as _;
                (there.dev(), there.ino()) == (own.dev(), own.ino())
            }
            #[cfg(not(unix))]
            {
                there.is_file() && own.is_file()
            }
        };
        fs::symlink_metadata(&self.path)
            .and_then(|there| Ok(same(there, self.file.metadata()?)))
            .unwrap_or(false)
    }

    pub fn read_all(&mut self) -> Result<Vec<u8>, DiskError> {
        let mut read = || -> io::Result<Vec<u8>> {
            self.disk.announce(StorageOp::Read, &self.path)?;
            let mut bytes = Vec::new();
            self.file.rewind()?;
            self.file.read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        read().map_err(fail("read", &self.path))
    }

    /// Replaces the file by a new one with these bytes and the same permissions. Programs that wait in
    /// [`Disk::open_whole`] get the new one.
    pub fn replace(self, bytes: &[u8]) -> Result<(), DiskError> {
        let mode = self.file.metadata().map_err(fail("read", &self.path))?.permissions();
        self.disk.replace_file(&self.path, bytes, Some(&mode))
    }

    /// Truncates the file to `length` bytes and waits until that is on disk.
    pub fn truncate(&mut self, length: u64) -> Result<(), DiskError> {
        let cut =
            self.disk.announce(StorageOp::Truncate, &self.path).and_then(|()| self.file.set_len(length));
        cut.map_err(fail("cut", &self.path))?;
        self.sync()
    }

    /// Removes the file if the path still names it; ignores errors.
    pub fn discard(&self) {
        if !self.is_in_place() {
            return;
        }
        let _ = self.disk.announce(StorageOp::Remove, &self.path).and_then(|()| fs::remove_file(&self.path));
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Returns the process that holds a file's lock, if the system reports it: only on Linux, and only processes
/// that are visible here.
fn holder(file: &File) -> Option<u32> {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt as _;
        let meta = file.metadata().ok()?;
        lock_process(&std::fs::read_to_string("/proc/locks").ok()?, meta.dev(), meta.ino())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = file;
        None
    }
}

/// Finds the process in the line of a file: `1: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF`.
#[cfg(any(target_os = "linux", test))]
fn lock_process(locks: &str, device: u64, inode: u64) -> Option<u32> {
    let major = ((device >> 8) & 0xfff) | ((device >> 32) & !0xfff);
    let minor = (device & 0xff) | ((device >> 12) & !0xff);
    let file = format!("{major:02x}:{minor:02x}:{inode}");
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let place = words.iter().position(|word| *word == file)?;
        // A process of another namespace has the number 0.
        words.get(place.checked_sub(1)?)?.parse().ok().filter(|process| *process > 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_process_of_a_lock() {
        let locks = "1: POSIX  ADVISORY  WRITE 77 fe:00:131 0 EOF\n2: FLOCK  ADVISORY  WRITE 1234 fe:00:5678 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 99 fe:00:5678 0 EOF\n3: FLOCK  ADVISORY  WRITE 0 08:11:9 0 EOF\n";
        assert_eq!(lock_process(locks, 0xfe00, 5678), Some(1234));
        assert_eq!(lock_process(locks, 0xfe00, 131), Some(77));
        for (device, inode) in [(0x0811, 9), (0x0811, 131), (0xfe00, 567)] {
            assert_eq!(lock_process(locks, device, inode), None);
        }
        assert_eq!(lock_process("a b", 0, 0), None);
    }
}
