//! The cost of a worker's models, in a file, and the limit on it.
//!
//! Before a model is asked, the most that its answer may cost is counted; afterwards, what it did cost is
//! counted in its place. So nothing is forgotten when the program dies between the two: it counts as its
//! worst. All processes of one worker on a machine share the file.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::journal::{Disk, DiskError};

/// A limit, and the file with what is counted so far, in billionths of a US dollar.
#[derive(Clone)]
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
    pub async fn reserve(&self, dollars: f64) -> Result<bool, DiskError> {
        self.change(0, nano(dollars), self.limit).await
    }

    /// Counts what an answer has cost in place of what was reserved for it.
    ///
    /// # Errors
    /// When it cannot be noted: what was reserved stays counted.
    pub async fn settle(&self, reserved: f64, cost: f64) -> Result<(), DiskError> {
        self.change(nano(reserved), nano(cost), u64::MAX).await.map(drop)
    }

    /// Counts `more` in place of `less`, up to a limit; other work goes on while another process has the file.
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
                number.ok_or_else(|| self.failed("read", std::io::Error::other("it holds no number")))
            }
            Err(error) if error.cause.kind() == std::io::ErrorKind::NotFound => Ok(0),
            Err(error) => Err(error),
        }
    }

    /// Waits until no other process changes the file.
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
    async fn what_was_spent_or_may_have_been_is_counted_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let money = || Money::new(Disk::default(), folder.path(), 1.0);
        assert!(money().reserve(0.4).await.unwrap());
        money().settle(0.4, 0.1).await.unwrap();
        // Its process dies: it counts as its worst.
        assert!(money().reserve(0.8).await.unwrap());
        assert!((money().spent().unwrap() - 0.9).abs() < 1e-6);
        assert!(!money().reserve(0.2).await.unwrap());
        assert!(money().reserve(0.0).await.unwrap(), "what is free is not refused");
        assert!(money().reserve(0.1).await.unwrap());
        assert!(!money().reserve(0.000_001).await.unwrap());
    }

    #[tokio::test]
    async fn a_damaged_file_is_not_taken_for_nothing() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("spent"), "x").unwrap();
        Money::new(Disk::default(), folder.path(), 1.0).reserve(0.1).await.unwrap_err();
    }

    #[tokio::test]
    async fn many_at_once_do_not_exceed_the_limit_and_hold_nobody_up() {
        let folder = tempfile::tempdir().unwrap();
        let money = || Money::new(Disk::default(), folder.path(), 0.55);
        let held = money().hold().unwrap();
        let asked: Vec<_> = (0..12)
            .map(|_| {
                let money = money();
                tokio::spawn(async move { money.reserve(0.1).await.unwrap() })
            })
            .collect();
        // Another process has the file: other work goes on.
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        assert!(asked.iter().all(|asked| !asked.is_finished()));
        drop(held);
        let borne = futures::future::join_all(asked).await;
        assert_eq!(borne.into_iter().filter(|borne| *borne.as_ref().unwrap()).count(), 5);
    }
}
