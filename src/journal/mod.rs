//! The `.s2s` file: appended to, synced, read by its bytes, verified.
//!
//! Nothing is acknowledged before it is on disk. Every byte of the file is covered by a hash; a torn
//! tail is told from damage; the key of an open round lies outside the file. Knows the events and
//! the fold, no participant and no face.

mod disk;
mod document;
mod holder;
mod keys;
mod read;
mod verify;
mod write;

pub use disk::{Disk, DiskError, FaultInjector, InjectedFault, LockOwner, StorageOp};
pub use document::{FORMAT, NO_HASH, write_document};
pub use keys::KeyStore;
pub use read::{Damage, EventLog, LogReader, fold, read_log};
pub use verify::{DocumentPlace, Finding, UNPROVEN, Verification, verify};
pub use write::{Journal, OpenJournalError, OpenedJournal, named_session};
