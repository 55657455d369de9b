//! Spool of a worker: replies on their way to the queue.
//!
//! A reply is on disk before it is sent, so that a crash does not make a model answer twice. After delivery its
//! file is emptied and kept for 30 days, to recognize a repeated offer.

use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::clock::system_time;
use crate::journal::{Disk, DiskError};
use crate::remote::nats::send::SeatReply;

const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);
const MAX_MESSAGE: u64 = 2 * 1024 * 1024;

pub struct Spool {
    disk: Disk,
    folder: PathBuf,
}

impl Spool {
    pub fn open(disk: Disk, folder: &Path) -> Result<Self, DiskError> {
        let folder = folder.join("spool");
        disk.make_own_dir(&folder)?;
        Ok(Self { disk, folder })
    }

    /// Stores a reply; it is on disk when this returns.
    pub fn keep(&self, reply: &SeatReply) -> Result<(), DiskError> {
        let json = serde_json::to_vec(reply).unwrap_or_default();
        self.disk.write_whole(&self.file(&reply.ids().delivery), &json)
    }

    /// Returns the stored reply; `None` if it is missing or damaged.
    pub fn find(&self, delivery: &str) -> Result<Option<SeatReply>, DiskError> {
        match self.disk.read_own(&self.file(delivery), MAX_MESSAGE) {
            Ok(bytes) => Ok(SeatReply::read(&bytes)),
            Err(error) if error.cause.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub fn all(&self) -> Result<Vec<SeatReply>, DiskError> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().filter_map(Result::ok);
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let of_name = |name: String| self.find(name.strip_suffix(".json")?).transpose();
        names.filter_map(of_name).collect()
    }

    /// Empties a delivered reply without a sync: after a power cut the queue recognizes the duplicate.
    pub fn finish(&self, delivery: &str) -> Result<(), DiskError> {
        let path = self.file(delivery);
        File::create(&path).map(drop).map_err(|cause| DiskError { what: "write", path, cause, locked: None })
    }

    pub fn is_done(&self, delivery: &str) -> bool {
        self.file(delivery).metadata().is_ok_and(|meta| meta.len() == 0)
    }

    fn file(&self, delivery: &str) -> PathBuf {
        self.folder.join(format!("{delivery}.json"))
    }

    /// Deletes the marks of replies delivered more than 30 days ago.
    pub fn forget_old(&self) {
        let time = system_time() - KEPT;
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().filter_map(Result::ok);
        for entry in entries {
            let is_old = |meta: &Metadata| meta.len() == 0 && meta.modified().is_ok_and(|at| at < time);
            if entry.metadata().is_ok_and(|meta| is_old(&meta)) {
                // A file that remains is deleted next time.
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round::envelope::{DeliveryIds, FailedDelivery, Failure, VERSION};

    fn reply(delivery: &str) -> SeatReply {
        let [session, round, participant] = ["s", "r", "p"].map(str::to_owned);
        let failed = Failure { reason: "none".to_owned(), timed_out: false, tries: 1 };
        let ids = DeliveryIds { delivery: delivery.to_owned(), session, round, participant };
        SeatReply::Failed(Box::new(FailedDelivery { v: VERSION, ids, failed, signature: "00".repeat(64) }))
    }

    #[test]
    fn stored_replies_remain_until_delivered() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Spool::open(Disk::default(), folder.path()).unwrap();
        let [a, b] = ["a", "b"].map(|letter| letter.repeat(64));
        let (one, two) = (reply(&a), reply(&b));
        open().keep(&one).unwrap();
        open().keep(&two).unwrap();
        assert_eq!(open().find(&a).unwrap(), Some(one.clone()));
        assert_eq!(open().all().unwrap().len(), 2);
        assert!(!open().is_done(&a));
        open().finish(&a).unwrap();
        assert!(open().is_done(&a));
        assert_eq!(open().all().unwrap(), [two]);
    }

    #[test]
    fn deliveries_are_remembered_for_30_days() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::open(Disk::default(), folder.path()).unwrap();
        let (old, new) = ("a".repeat(64), "b".repeat(64));
        for (delivery, days) in [(&old, 31), (&new, 29)] {
            spool.finish(delivery).unwrap();
            let file = File::open(spool.file(delivery)).unwrap();
            file.set_modified(system_time() - Duration::from_secs(days * 24 * 3600)).unwrap();
        }
        spool.forget_old();
        assert!(!spool.is_done(&old) && spool.is_done(&new));
    }

    #[test]
    fn unwritable_reply_is_an_error() {
        use crate::journal::{InjectedFault, StorageOp};
        let folder = tempfile::tempdir().unwrap();
        Spool::open(Disk::default(), folder.path()).unwrap();
        let gate = |op: StorageOp, _: &Path| {
            (op == StorageOp::Sync).then_some(InjectedFault::Fail(std::io::ErrorKind::StorageFull))
        };
        let spool = Spool::open(Disk::with_injector(std::sync::Arc::new(gate)), folder.path()).unwrap();
        spool.keep(&reply(&"a".repeat(64))).unwrap_err();
        assert!(spool.all().unwrap().is_empty());
    }
}
