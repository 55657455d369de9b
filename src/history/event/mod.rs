//! Session events, one per log entry.
//!
//! Event names are public, for scripts. Field order is the order in the file.

mod facilitator;
mod header;
mod item;
mod remote;
mod round;
mod step;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use super::timestamp::Timestamp;
use crate::round::seal::SealTo;

pub use facilitator::*;
pub use header::*;
pub use item::*;
pub use remote::*;
pub use round::*;
pub use step::*;

#[derive(Debug, Clone, PartialEq)]
pub struct TimedEvent {
    pub at: Timestamp,
    pub event: Event,
}

#[derive(Debug, Clone, PartialEq)]
pub struct LogEntry {
    pub seq: u64,
    pub prev: String,
    pub hash: String,
    pub stamped: TimedEvent,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    SessionOpened(Box<SessionOpened>),
    StepStarted(StepStarted),
    // New text of `CONTEXT.md`, for rounds that open from now on.
    ContextChanged { text: Option<String> },
    RoundOpened(Arc<RoundOpened>),
    // Hands the snapshot to one seat, or its input to one agent.
    WorkItemOffered(Arc<WorkItemOffered>),
    WorkItemClaimed(WorkItemClaimed),
    // Result or failure of an agent's attempt at a work item.
    WorkItemReturned(Arc<WorkItemReturned>),
    ReviewRecorded(ReviewRecorded),
    LinkRecorded { step: String, link: Link },
    BallotSealed(BallotSealed),
    SeatInvited(SeatInvited),
    SeatJoined(SeatJoined),
    EnvelopeRefused(EnvelopeRefused),
    SeatFailed(SeatFailed),
    SeatExcused { step: String, round: String, participant: String, reason: String },
    // Retries a seat of the open round that has not sealed and abandons its earlier request. A model named here
    // answers for the seat from now on, also in later rounds.
    SeatRetried { step: String, round: String, participant: String, model: Option<String> },
    // Refuses an answer after the close; it is never counted, and nothing of it is stored.
    LateAnswerRefused { step: String, round: String, participant: String },
    RoundClosed(RoundClosed),
    // In roster order, in the same write as the close.
    AnswerRevealed(Arc<AnswerRevealed>),
    // The round's key is lost, so its sealed answers cannot be opened.
    KeyLost { step: String, round: String, participants: Vec<String> },
    SeatsAskedAgain { step: String, round: String, participants: Vec<String>, seal: Option<SealTo> },
    // Names in a step's answers, by work item and in text order. The answers stay unchanged.
    LeaksFound { step: String, round: Option<String>, found: Vec<Leak> },
    TallyMade(Box<Tally>),
    StepFinished(Arc<StepFinished>),
    ApprovalRequested(ApprovalRequested),
    ApprovalGiven(ApprovalGiven),
    IdeasMerged(Box<IdeasMerged>),
    AgendaUpdated(AgendaUpdated),
    ConflictOpened(Point),
    ConflictResolved(ConflictResolved),
    QuestionOpened(Point),
    QuestionAnswered { id: String, answer: String, step: Option<String>, by: String },
    Warning { message: String, step: Option<String>, round: Option<String>, participant: Option<String> },
    SessionPaused { reason: PauseReason, step: Option<String> },
    // `torn_bytes` of a torn write were cut off and saved separately.
    SessionResumed { program: String, texts: String, torn_bytes: Option<u64> },
    RoundRevised(RoundRevised),
    ArtifactRecorded(ArtifactRecorded),
    // The facilitator's note on a closed round; later snapshots include it as the round's `synthesis`.
    SynthesisRecorded { step: String, round: String, text: String },
    // Total time, measured from the round's opening.
    DeadlineExtended { step: String, round: String, deadline_ms: u64 },
    // Repeats a counted round as a new round of its step.
    RoundAskedAgain { step: String, round: String },
    // Ends the history copied from another session.
    SessionForked { session: String, from: String, at_seq: u64 },
    SessionClosed(SessionClosed),
}

impl Event {
    pub fn warning(message: &str) -> Self {
        Self::Warning { message: message.to_owned(), step: None, round: None, participant: None }
    }
}
