//! The events: one line of history each, named as scripts know them.
//!
//! Field order is the order in the file.

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
    // The header: everything the session needs to be replayed anywhere, alone.
    SessionOpened(Box<SessionOpened>),
    StepStarted(StepStarted),
    // Rounds that open from here on show this of `CONTEXT.md`.
    ContextChanged { text: Option<String> },
    RoundOpened(Arc<RoundOpened>),
    // One seat is handed the snapshot, or one agent its input.
    WorkItemOffered(Arc<WorkItemOffered>),
    WorkItemClaimed(WorkItemClaimed),
    // Something came back for a work item of an agent, or nothing did.
    WorkItemReturned(Arc<WorkItemReturned>),
    ReviewRecorded(ReviewRecorded),
    LinkRecorded { step: String, link: Link },
    BallotSealed(BallotSealed),
    SeatInvited(SeatInvited),
    SeatJoined(SeatJoined),
    EnvelopeRefused(EnvelopeRefused),
    SeatFailed(SeatFailed),
    SeatExcused { step: String, round: String, participant: String, reason: String },
    // A seat of the open round that has sealed nothing is asked again, and what it was asked before is given up.
    // A model named here answers for it from now on, in later rounds too.
    SeatRetried { step: String, round: String, participant: String, model: Option<String> },
    // A seat's answer came after the close: it is refused and never counted, and not a word of it kept.
    LateAnswerRefused { step: String, round: String, participant: String },
    RoundClosed(RoundClosed),
    // In roster order, in the same write as the close.
    AnswerRevealed(Arc<AnswerRevealed>),
    // The round's key is gone: what it sealed cannot be opened.
    KeyLost { step: String, round: String, participants: Vec<String> },
    SeatsAskedAgain { step: String, round: String, participants: Vec<String>, seal: Option<SealTo> },
    // Names in a step's answers, by work item, each item's in the order of its text. The answers stay as they are.
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
    // `torn_bytes` of a torn write were cut off and kept aside.
    SessionResumed { program: String, texts: String, torn_bytes: Option<u64> },
    RoundRevised(RoundRevised),
    ArtifactRecorded(ArtifactRecorded),
    // The facilitator's note on a closed round; later snapshots carry it as the round's `synthesis`.
    SynthesisRecorded { step: String, round: String, text: String },
    // The deadline is in all, from the round's opening.
    DeadlineExtended { step: String, round: String, deadline_ms: u64 },
    // The facilitator has a counted round asked again, as a new round of its step.
    RoundAskedAgain { step: String, round: String },
    // Another session's history ends here; what follows is this one's own.
    SessionForked { session: String, from: String, at_seq: u64 },
    SessionClosed(SessionClosed),
}

impl Event {
    pub fn warning(message: &str) -> Self {
        Self::Warning { message: message.to_owned(), step: None, round: None, participant: None }
    }
}
