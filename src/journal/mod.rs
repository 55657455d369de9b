//! The `.s2s` session file: append, sync, read, verify.
//!
//! Nothing is acknowledged before it is on disk. A hash covers every byte of the file. A torn tail is
//! distinguished from damage. The key of an open round is never in the file. Knows the events and the fold, but
//! no participants or front ends.

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
