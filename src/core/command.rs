//! Commands that a session accepts, and their refusal.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::history::{
    ApprovalGiven, CloseReason, EnvelopeRefused, Event, PauseReason, RefusalWord, RoundRevised, SeatFailed,
    SeatInvited, SeatJoined, SessionOpened, WorkItemReturned,
};
use crate::round::envelope::{Envelope, FailedDelivery};
use crate::round::seal::{RoundKey, SealTo, SealedRecord};

#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    Open(Box<SessionOpened>),
    // Starts the next step; while a parallel runs, its next unstarted step.
    StartStep,
    // Offers the work items of an agent or review step; without any, the step fails.
    Offer { step: String },
    // Claims a work item, also one whose lease has expired.
    Claim(ItemHolder),
    Renew(ItemHolder),
    // Records a returned work item; its step and attempt are filled in.
    Return(Box<WorkItemReturned>),
    // Opens the round of the running step: freezes the snapshot and offers it to every seat.
    // `project_summary` is the current `CONTEXT.md`; the definition's own summary has priority.
    OpenRound { project_summary: Option<String>, seal: Option<SealTo> },
    Seal { round: String, participant: String, seal: SealedRecord },
    Invite(SeatInvited),
    // Records the key of a remote seat that accepts its invitation.
    Join(SeatJoined),
    // Records a ballot that a remote seat has sealed and signed.
    SealRemote(Box<Envelope>),
    // Records the signed message of a remote seat that it has no ballot.
    FailRemote(Box<FailedDelivery>),
    // Records a rejected envelope; its step is filled in.
    RefuseEnvelope(EnvelopeRefused),
    // Records that a seat failed; step and time are filled in from the round.
    Fail(Box<SeatFailed>),
    Excuse { participant: String, reason: String },
    // Retries a seat of the open round, with another model if one is named.
    Retry { participant: String, model: Option<String> },
    // Closes the round with its key and reveals the answers that the key opens.
    CloseRound { reason: CloseReason, key: RoundKey },
    Tally,
    // Asks the person the question of a running step; ends the step if it has no question.
    AskPerson { step: String },
    // Records a person's answer, or a person's acceptance of the counted round's result.
    Answer(ApprovalGiven),
    ChangeAgenda(AgendaChange),
    // Changes the round step that opens next.
    ReviseRound(RoundRevised),
    // Adds an artifact, or replaces the one with its id.
    RecordArtifact { artifact: Map<String, Value>, by: String },
    // Records a note on a closed round; an empty text removes an earlier note.
    RecordSynthesis { round: String, text: String },
    ExtendDeadline { more_ms: u64 },
    // Repeats the counted round as a new round of its step.
    AskRoundAgain,
    // Forks the session: a new one starts with the history up to event `at_seq`.
    Fork { session: String, at_seq: u64 },
    LoseKey,
    AskAgain { seal: Option<SealTo> },
    FinishStep { step: String },
    // Pauses the session; `step` is the one that waits for a person, if any.
    Pause { reason: PauseReason, step: Option<String> },
    // Resumes the session. `torn_bytes` is the length of a torn write that was cut off.
    Resume { program: String, torn_bytes: Option<u64> },
    // Stops the session at a limit of time or cost.
    Stop { reason: String },
    Close,
}

/// Work item and its claimant; `holder` distinguishes workers of one participant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemHolder {
    pub item: String,
    pub participant: String,
    pub holder: Option<String>,
}

/// Requested change of the agenda. Variants have the names of the lists; opened points get the next free id.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum AgendaChange {
    /// Changes title or status of an agenda item; adds an item if the id is new.
    #[serde(rename = "agenda")]
    Item { id: String, title: Option<String>, status: Option<String>, reason: Option<String> },
    #[serde(rename = "conflicts")]
    OpenConflict { title: String, description: Option<String>, minimum_change: Option<String> },
    #[serde(rename = "resolved")]
    ResolveConflict { id: String, how: String },
    #[serde(rename = "questions")]
    OpenQuestion { title: String, description: Option<String> },
    #[serde(rename = "answered")]
    AnswerQuestion { id: String, answer: String },
}

/// Refusal of a command, which changes nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("{0}")]
    Said(String),
    #[error("{0}")]
    Word(RefusalWord),
    #[error("{0}: {1}")]
    Because(RefusalWord, String),
}

impl From<RefusalWord> for Refusal {
    fn from(word: RefusalWord) -> Self {
        Self::Word(word)
    }
}

impl<T: Into<String>> From<T> for Refusal {
    fn from(said: T) -> Self {
        Self::Said(said.into())
    }
}

pub(crate) type DecideResult = Result<Vec<Event>, Refusal>;

pub(crate) fn refuse<T>(why: impl Into<Refusal>) -> Result<T, Refusal> {
    Err(why.into())
}

/// Returns from the calling function with a refusal if the condition is true.
macro_rules! refuse_if {
    ($condition:expr, $why:expr) => {
        if $condition {
            return Err($why.into());
        }
    };
}
pub(crate) use refuse_if;
