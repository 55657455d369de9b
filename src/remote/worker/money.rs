//! Cost limit of a worker, with its total in a file.
//!
//! The maximum cost of an answer is added before the model is asked, and replaced by the actual cost afterwards.
//! If the program dies in between, the maximum stays counted. All processes of one worker on a machine share the
//! file.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::journal::{Disk, DiskError};

/// Limit, and the file with the total so far, in billionths of a US dollar.
#[derive(Clone)]
pub struct Money {
    disk: Disk,
    file: PathBuf,
    /// Locked while the file is changed.
    lock: PathBuf,
    limit: u64,
}

/// Converts dollars to billionths, rounded up.
fn nano(dollars: f64) -> u64 {
    (dollars * 1e9).ceil() as u64
}

impl Money {
    /// Returns a limit in US dollars, with the total in a worker's folder.
    pub fn new(disk: Disk, folder: &Path, limit: f64) -> Self {
        let (file, lock) = (folder.join("spent"), folder.join("spent.lock"));
        Self { disk, file, lock, limit: nano(limit) }
    }

    /// Reserves the maximum cost of an answer; `false` if it exceeds the limit.
    ///
    /// # Errors
    /// The file cannot be written; the model must not be asked.
    pub async fn reserve(&self, dollars: f64) -> Result<bool, DiskError> {
        self.change(0, nano(dollars), self.limit).await
    }

    /// Replaces a reservation by the actual cost.
    ///
    /// # Errors
    /// The file cannot be written; the reservation stays counted.
    pub async fn settle(&self, reserved: f64, cost: f64) -> Result<(), DiskError> {
        self.change(nano(reserved), nano(cost), u64::MAX).await.map(drop)
    }

    /// Replaces `less` by `more` in the total, up to a limit; other tasks continue while it waits.
    async fn change(&self, less: u64, more: u64, limit: u64) -> Result<bool, DiskError> {
        if less == 0 && more == 0 {
            return Ok(true);
        }
        let money = self.clone();
        let changed = tokio::task::spawn_blocking(move || {
            let _held = money.hold()?;
            let sum = money.counted()?.saturating_sub(less).saturating_add(more);
            if sum > limit {
                return Ok(false);
            }
            money.disk.write_whole(&money.file, format!("{sum}\n").as_bytes()).map(|()| true)
        });
        changed.await.unwrap_or_else(|error| Err(self.failed("count", std::io::Error::other(error))))
    }

    pub fn spent(&self) -> Result<f64, DiskError> {
        Ok(self.counted()? as f64 / 1e9)
    }

    fn counted(&self) -> Result<u64, DiskError> {
        match self.disk.read_own(&self.file, 64) {
            Ok(bytes) => {
                let number = std::str::from_utf8(&bytes).ok().and_then(|text| text.trim().parse().ok());
                number.ok_or_else(|| self.failed("read", std::io::Error::other("it contains no number")))
            }
            Err(error) if error.cause.kind() == std::io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// Locks the file against other processes.
    fn hold(&self) -> Result<File, DiskError> {
        let held = File::create(&self.lock).and_then(|file| file.lock().map(|()| file));
        held.map_err(|cause| self.failed("lock", cause))
    }

    fn failed(&self, what: &'static str, cause: std::io::Error) -> DiskError {
        DiskError { what, path: self.file.clone(), cause, locked: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn costs_and_reservations_survive_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let money = || Money::new(Disk::default(), folder.path(), 1.0);
        assert!(money().reserve(0.4).await.unwrap());
        money().settle(0.4, 0.1).await.unwrap();
        // The process dies, so the maximum stays counted.
        assert!(money().reserve(0.8).await.unwrap());
        assert!((money().spent().unwrap() - 0.9).abs() < 1e-6);
        assert!(!money().reserve(0.2).await.unwrap());
        assert!(money().reserve(0.0).await.unwrap(), "what is free is not refused");
        assert!(money().reserve(0.1).await.unwrap());
        assert!(!money().reserve(0.000_001).await.unwrap());
    }

    #[tokio::test]
    async fn damaged_file_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("spent"), "x").unwrap();
        Money::new(Disk::default(), folder.path(), 1.0).reserve(0.1).await.unwrap_err();
    }

    #[tokio::test]
    async fn concurrent_reservations_keep_the_limit_and_do_not_block() {
        let folder = tempfile::tempdir().unwrap();
        let money = || Money::new(Disk::default(), folder.path(), 0.55);
        let held = money().hold().unwrap();
        let asked: Vec<_> = (0..12)
            .map(|_| {
                let money = money();
                tokio::spawn(async move { money.reserve(0.1).await.unwrap() })
            })
            .collect();
        // Another process has the lock; other tasks continue.
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        assert!(asked.iter().all(|asked| !asked.is_finished()));
        drop(held);
        let borne = futures::future::join_all(asked).await;
        assert_eq!(borne.into_iter().filter(|borne| *borne.as_ref().unwrap()).count(), 5);
    }
}
