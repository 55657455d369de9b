//! State of the engine: session, journal, seats and staged events.

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

/// Receives every event once it is on disk.
pub trait Observer: Send {
    /// Receives an event and the state, which may be some events ahead.
    fn on_event(&mut self, _line: &LogEntry, _session: &Session) {}

    /// Receives the state once after a group of events.
    fn on_written(&mut self, _session: &Session) {}
}

pub type SeatedParticipants = HashMap<String, Arc<dyn Participant>>;

/// Error that ends a run; acknowledged events are in the file in any case.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The core refused a command of the engine: a bug in this program.
    #[error("unexpected: {0}")]
    Refused(#[from] Refusal),
    /// Any other reason, such as a seat without participant or an unusable answer of the facilitator.
    #[error("{0}")]
    Other(String),
}

pub type ContextFile<'a> = Box<dyn FnMut() -> Result<Option<String>, String> + Send + 'a>;

/// Reads evidence for a snapshot: `source`, `lines`, `content` and so on; the error is a message for people.
pub type ReadEvidence<'a> = Box<dyn FnMut(&EvidenceSource) -> Result<Map<String, Value>, String> + Send + 'a>;

/// Writes an update to the tasks file of that name; the error is a message for people.
pub type TasksFile<'a> = Box<dyn FnMut(&str, &TaskMark) -> Result<(), String> + Send + 'a>;

pub struct EngineConfig<'a> {
    pub keys: KeyStore,
    pub participants: SeatedParticipants,
    pub context_file: ContextFile<'a>,
    pub evidence: ReadEvidence<'a>,
    pub tasks_file: TasksFile<'a>,
    pub replace_seat: SeatReplacer<'a>,
    pub observer: &'a mut dyn Observer,
    pub facilitator: &'a mut dyn Facilitator,
    /// Cancelled to pause the session at once.
    pub interrupt: CancellationToken,
    pub budget: Option<Budget>,
    pub progress: ProgressBoard,
}

pub(super) type CommitResult = (Journal, Result<Vec<LogEntry>, DiskError>);

pub struct Engine<'a> {
    pub session: Session,
    /// `None` while a write is running.
    pub(super) journal: Option<Journal>,
    pub(super) writing: Option<JoinHandle<CommitResult>>,
    /// Events on disk that are not published yet.
    pub(super) unshown: Vec<LogEntry>,
    pub(super) config: EngineConfig<'a>,
    /// The tasks file must be written once the staged events are on disk.
    pub(super) is_task_due: bool,
    pub(super) requested: RequestedEvidence,
    /// Reason of a facilitator who leaves while seats are asked.
    pub(super) leave_reason: Option<PauseReason>,
    pub(super) arrivals: Option<mpsc::Receiver<Arrival>>,
    /// Answers to remote seats, to send once the staged events are on disk.
    pub(super) due: Vec<DueAnswer>,
    pub(super) staged: Vec<TimedEvent>,
    pub(super) pool: RequestPool,
    /// Round whose key must be erased once the staged events are on disk.
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
        // An earlier run may have ended before it wrote the task updates.
        engine.note_due_tasks();
        engine
    }

    /// Decides a command and applies its events; they are on disk after the next [`Engine::commit`].
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
