//! The engine's state: session, journal, seats, what is staged. Its methods are in the files beside.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::arrival::{Arrival, DueAnswer};
use super::budget::Budget;
use super::facilitator::{Facilitator, SeatReplacer};
use super::request_pool::RequestPool;
use crate::core::{Command, Refusal, RequestedEvidence, decide};
use crate::history::{Event, LogEntry, PauseReason, Session, TimedEvent, Timestamp};
use crate::journal::{DiskError, Journal, KeyStore};
use crate::participants::Participant;
use crate::participants::progress::ProgressBoard;
use crate::round::material::EvidenceSource;
use crate::workflow::TaskMark;

/// Sees every event once it is on disk.
pub trait Observer: Send {
    /// Is shown the event, and the state, which may be some events further.
    fn on_event(&mut self, _line: &LogEntry, _session: &Session) {}

    /// Is shown the state once for all events that were shown together.
    fn on_written(&mut self, _session: &Session) {}
}

pub type SeatedParticipants = HashMap<String, Arc<dyn Participant>>;

/// Acknowledged events are in the file, whatever the error is.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The core refused what it had asked for: a bug in this program.
    #[error("unexpected: {0}")]
    Refused(#[from] Refusal),
    /// A seat has no participant, or the facilitator's answer cannot be used.
    #[error("{0}")]
    Table(String),
}

pub type ContextFile<'a> = Box<dyn FnMut() -> Result<Option<String>, String> + Send + 'a>;

/// Reads evidence as a snapshot shows it: `source`, `lines`, `content` and so on; or returns in words
/// why it cannot.
pub type ReadEvidence<'a> = Box<dyn FnMut(&EvidenceSource) -> Result<Map<String, Value>, String> + Send + 'a>;

/// Writes the state of a task to the file of that name, or returns in words why it cannot.
pub type TasksFile<'a> = Box<dyn FnMut(&str, &TaskMark) -> Result<(), String> + Send + 'a>;

pub struct EngineConfig<'a> {
    pub keys: KeyStore,
    pub table: SeatedParticipants,
    pub context_file: ContextFile<'a>,
    pub evidence: ReadEvidence<'a>,
    pub tasks_file: TasksFile<'a>,
    pub replace_seat: SeatReplacer<'a>,
    pub observer: &'a mut dyn Observer,
    pub facilitator: &'a mut dyn Facilitator,
    /// Cancelled when the session is to pause at once.
    pub interrupt: CancellationToken,
    pub budget: Option<Budget>,
    pub progress: ProgressBoard,
}

pub(super) type CommitResult = (Journal, Result<Vec<LogEntry>, DiskError>);

pub struct Engine<'a> {
    pub session: Session,
    /// The journal, unless a write is running.
    pub(super) journal: Option<Journal>,
    pub(super) writing: Option<JoinHandle<CommitResult>>,
    /// On disk and not shown yet.
    pub(super) unshown: Vec<LogEntry>,
    pub(super) config: EngineConfig<'a>,
    /// Tasks are to be written once what is staged is on disk.
    pub(super) is_task_due: bool,
    pub(super) requested: RequestedEvidence,
    /// The reason of a facilitator who leaves while seats are asked.
    pub(super) leave_reason: Option<PauseReason>,
    pub(super) arrivals: Option<mpsc::Receiver<Arrival>>,
    /// Answers to remote seats that are sent once what is staged is on disk.
    pub(super) due: Vec<DueAnswer>,
    pub(super) staged: Vec<TimedEvent>,
    pub(super) pool: RequestPool,
    /// The round whose key is to be erased once what is staged is on disk.
    pub(super) spent_key: Option<u32>,
    pub(super) now: fn() -> Timestamp,
}

impl<'a> Engine<'a> {
    pub fn new(session: Session, journal: Journal, config: EngineConfig<'a>) -> Self {
        let mut engine = Self {
            session,
            journal: Some(journal),
            writing: None,
            unshown: Vec::new(),
            config,
            is_task_due: false,
            requested: RequestedEvidence::default(),
            leave_reason: None,
            arrivals: None,
            due: Vec::new(),
            staged: Vec::new(),
            pool: RequestPool::default(),
            spent_key: None,
            now: crate::clock::now,
        };
        // What an earlier run left unwritten is written first.
        engine.note_marks();
        engine
    }

    /// Decides a command and folds its events; they are on disk after the next [`Engine::commit`].
    pub fn stage(&mut self, command: Command) -> Result<(), Refusal> {
        let at = (self.now)();
        let events = decide(&self.session, command, at)?;
        self.stage_events(events, at);
        Ok(())
    }

    pub(super) fn decide(&self, command: Command) -> Result<Vec<Event>, Refusal> {
        decide(&self.session, command, (self.now)())
    }

    pub(super) fn stage_events(&mut self, events: Vec<Event>, at: Timestamp) {
        for event in events {
            let stamped = TimedEvent { at, event };
            self.session.apply(&stamped);
            self.staged.push(stamped);
        }
    }
}
