//! What a worker's models have cost, in a file, and the limit on it.
//!
//! Before a model is asked, the most that its answer may cost is counted; afterwards, what it did cost is
//! counted in its place. So nothing is forgotten when the program dies between the two: it counts as its
//! worst. All processes of one worker on a machine share the file.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::journal::{Disk, DiskError};

/// A limit, and the file with what is counted so far, in billionths of a US dollar.
pub struct Money {
    disk: Disk,
    file: PathBuf,
    /// Held while the file is changed.
    lock: PathBuf,
    limit: u64,
}

/// Billionths of a US dollar.
fn nano(dollars: f64) -> u64 {
    (dollars * 1e9).ceil() as u64
}

impl Money {
    /// A limit in US dollars, with what is counted in a worker's folder.
    pub fn new(disk: Disk, folder: &Path, limit: f64) -> Self {
        let (file, lock) = (folder.join("spent"), folder.join("spent.lock"));
        Self { disk, file, lock, limit: nano(limit) }
    }

    /// Reserves what an answer may cost at most; `false` where the limit does not bear it.
    ///
    /// # Errors
    /// When it cannot be noted: nobody must be asked then.
    pub fn reserve(&self, dollars: f64) -> Result<bool, DiskError> {
        let more = nano(dollars);
        if more == 0 {
            return Ok(true);
        }
        let _held = self.hold()?;
        let sum = self.counted()?.saturating_add(more);
        if sum > self.limit {
            return Ok(false);
        }
        self.write(sum)?;
        Ok(true)
    }

    /// Counts what an answer has cost in place of what was reserved for it.
    ///
    /// # Errors
    /// When it cannot be noted: what was reserved stays counted.
    pub fn settle(&self, reserved: f64, cost: f64) -> Result<(), DiskError> {
        if nano(reserved) == 0 && nano(cost) == 0 {
            return Ok(());
        }
        let _held = self.hold()?;
        let left = self.counted()?.saturating_sub(nano(reserved));
        self.write(left.saturating_add(nano(cost)))
    }

    pub fn spent(&self) -> Result<f64, DiskError> {
        Ok(self.counted()? as f64 / 1e9)
    }

    fn counted(&self) -> Result<u64, DiskError> {
        let failed = |cause| DiskError { what: "read", path: self.file.clone(), cause, locked: None };
        match self.disk.read_own(&self.file, 64) {
            Ok(bytes) => {
                let number = std::str::from_utf8(&bytes).ok().and_then(|text| text.trim().parse().ok());
                number.ok_or_else(|| failed(std::io::Error::other("it holds no number")))
            }
            Err(error) if error.cause.kind() == std::io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error),
        }
    }

    fn write(&self, counted: u64) -> Result<(), DiskError> {
        self.disk.write_whole(&self.file, format!("{counted}\n").as_bytes())
    }

    /// Waits until no other process changes the file.
    fn hold(&self) -> Result<File, DiskError> {
        let held = File::create(&self.lock).and_then(|file| file.lock().map(|()| file));
        held.map_err(|cause| DiskError { what: "lock", path: self.lock.clone(), cause, locked: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_spent_or_may_have_been_is_counted_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let money = || Money::new(Disk::default(), folder.path(), 1.0);
        assert!(money().reserve(0.4).unwrap());
        money().settle(0.4, 0.1).unwrap();
        // Its process dies: it counts as its worst.
        assert!(money().reserve(0.8).unwrap());
        assert!((money().spent().unwrap() - 0.9).abs() < 1e-6);
        assert!(!money().reserve(0.2).unwrap());
        assert!(money().reserve(0.0).unwrap(), "what is free is not refused");
        assert!(money().reserve(0.1).unwrap());
        assert!(!money().reserve(0.000_001).unwrap());
    }

    #[test]
    fn a_damaged_file_is_not_taken_for_nothing() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("spent"), "x").unwrap();
        Money::new(Disk::default(), folder.path(), 1.0).reserve(0.1).unwrap_err();
    }

    #[test]
    fn many_at_once_do_not_exceed_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let borne = std::thread::scope(|scope| {
            let ask = || Money::new(Disk::default(), folder.path(), 0.55).reserve(0.1).unwrap();
            let asked: Vec<_> = (0..12).map(|_| scope.spawn(ask)).collect();
            asked.into_iter().filter_map(|asked| asked.join().ok()).filter(|borne| *borne).count()
        });
        assert_eq!(borne, 5);
    }
}
