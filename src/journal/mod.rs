//! The `.s2s` file: appended to, synced, read by its bytes, verified.
//!
//! Nothing is acknowledged before it is on disk. Every byte of the file is covered by a hash; a torn
//! tail is distinguished from damage; the key of an open round lies outside the file. Knows the events and
//! the fold, no participant and no face.

mod document;
mod key_store;
mod reader;
mod storage;
mod verify;
mod writer;

pub use document::{Chain, FORMAT, NO_HASH};
pub use key_store::{KeyStore, SessionClaim, TABLE_KEY, WORKER_KEY};
pub use reader::{Damage, EventLog, LogReader, fold, read_log};
pub use storage::{Disk, DiskError, FaultInjector, InjectedFault, StorageOp};
pub use verify::{
    DocumentPlace, OTHER_TEXTS, UNCHECKED, UNPROVEN, Verification, Verifier, VerifyFinding, unwritten, verify,
};
pub use writer::{Journal, OpenJournalError, OpenedJournal};
