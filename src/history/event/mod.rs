//! The events: one line of history each, named as scripts know them.
//!
//! Field order is the order in the file.

mod agenda;
mod header;
mod item;
mod live;
mod merge;
mod remote;
mod round;
mod step;

pub use agenda::{
    AgendaUpdated, ConflictResolved, PLACEHOLDER, PointOpened, QuestionAnswered, RECORDED_BY_STEP, SCRIPTED,
};
pub use header::{
    NO_MODEL, PersonaInfo, Price, ProviderSettings, PseudonymMap, SeatInfo, SessionOpened, TEXTS, Wrapped,
};
pub use item::{
    AgentWork, ItemStatus, LeaksFound, Link, LinkRecorded, PreviousArtifact, ReviewContext, ReviewRecorded,
    StageContext, TaskWritten, WorkItemClaimed, WorkItemOffered, WorkItemReturned,
};
pub use live::{
    ArtifactRecorded, DeadlineExtended, PROJECT, RoundRevised, SeatRetried, SessionForked, SynthesisRecorded,
};
pub use merge::{CollectedIdea, IdeasMerged, Merge, MergedOption, SetAside};
pub use remote::{Door, EnvelopeRefused, RefusalWord, RemoteSeat, SealedBy, SeatInvited, SeatJoined};
pub use round::{
    AnswerRevealed, BallotSealed, CloseReason, RoundClosed, RoundOpened, SeatFailed, Tally, Written,
};
pub use step::{
    ApprovalGiven, ApprovalRequested, PauseReason, RoundOutcome, SessionClosed, Status, StepFinished,
    key_file_left,
};

use crate::round::seal::SealTo;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::timestamp::Timestamp;

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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The header: everything the session needs to be replayed anywhere, alone.
    SessionOpened(Box<SessionOpened>),
    StepStarted {
        step: String,
        kind: String,
        /// How many steps have begun, this one included; nested ones are counted with theirs.
        iteration: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        within: Option<String>,
        /// The items that an `each` runs its steps for.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        items: Vec<serde_json::Value>,
    },
    /// Rounds that open from here on show this of `CONTEXT.md`.
    ContextChanged {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
    },
    RoundOpened(Arc<RoundOpened>),
    /// One seat is handed the snapshot, or one agent its input.
    WorkItemOffered(Arc<WorkItemOffered>),
    WorkItemClaimed(WorkItemClaimed),
    /// Something came back for a work item of an agent, or nothing did.
    WorkItemReturned(Arc<WorkItemReturned>),
    ReviewRecorded(ReviewRecorded),
    LinkRecorded(LinkRecorded),
    /// A task's status and evidence are in the file of the tasks, or could not be written there.
    TaskWritten(TaskWritten),
    BallotSealed(BallotSealed),
    SeatInvited(SeatInvited),
    SeatJoined(SeatJoined),
    EnvelopeRefused(EnvelopeRefused),
    SeatFailed(SeatFailed),
    SeatExcused {
        step: String,
        round: String,
        participant: String,
        reason: String,
    },
    SeatRetried(SeatRetried),
    /// A seat's answer came after the close: it is refused and never counted, and not a word of it kept.
    LateAnswerRefused {
        step: String,
        round: String,
        participant: String,
    },
    RoundClosed(RoundClosed),
    /// What one seat held; in roster order, in the same write as the close.
    AnswerRevealed(Arc<AnswerRevealed>),
    /// The round's key is gone: what it sealed cannot be opened.
    KeyLost {
        step: String,
        round: String,
        participants: Vec<String>,
    },
    /// The facilitator has the seats whose answers were lost asked again.
    SeatsAskedAgain {
        step: String,
        round: String,
        participants: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seal: Option<SealTo>,
    },
    /// Answers name a seat, a model or a maker; what is handed on of them is settled.
    LeaksFound(Arc<LeaksFound>),
    TallyMade(Box<Tally>),
    StepFinished(Arc<StepFinished>),
    ApprovalRequested(ApprovalRequested),
    ApprovalGiven(ApprovalGiven),
    IdeasMerged(Box<IdeasMerged>),
    AgendaUpdated(AgendaUpdated),
    ConflictOpened(Box<PointOpened>),
    ConflictResolved(ConflictResolved),
    QuestionOpened(Box<PointOpened>),
    QuestionAnswered(QuestionAnswered),
    Warning {
        message: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        round: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        participant: Option<String>,
    },
    /// The key file of a closed round could not be removed; the key is published, so nothing is lost.
    KeyFileLeft {
        step: String,
        round: String,
        cause: String,
    },
    SessionPaused {
        reason: PauseReason,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<String>,
    },
    SessionResumed {
        program: String,
        texts: String,
        /// Bytes of a torn write that were cut off and kept aside.
        #[serde(default, skip_serializing_if = "is_zero")]
        torn_bytes: u64,
    },
    RoundRevised(RoundRevised),
    ArtifactRecorded(ArtifactRecorded),
    SynthesisRecorded(SynthesisRecorded),
    DeadlineExtended(DeadlineExtended),
    /// The facilitator has a counted round asked again, as a new round of its step.
    RoundAskedAgain {
        step: String,
        round: String,
    },
    /// Another session's history ends here; what follows is this one's own.
    SessionForked(SessionForked),
    SessionClosed(SessionClosed),
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Event {
    pub fn warning(message: &str) -> Self {
        Self::Warning { message: message.to_owned(), step: None, round: None, participant: None }
    }
}
