//! The commands: all that may be asked of a session, and the word for "no".

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::history::{
    ApprovalGiven, CloseReason, Event, Merge, PauseReason, RefusalWord, RoundRevised, SeatFailed,
    SeatInvited, SeatJoined, SessionOpened, WorkItemReturned,
};
use crate::round::envelope::{Envelope, FailedDelivery};
use crate::round::seal::{RoundKey, SealTo, SealedRecord};

/// What the facilitator, or the engine in the facilitator's place, wants done.
#[derive(Debug, Clone)]
pub enum Command {
    Open(Box<SessionOpened>),
    /// Begin the next step: one inside the parallel that runs while that has one left.
    StartStep,
    /// Hand out the work items of an agent's or a review's step; the step fails where there are none.
    Offer {
        step: String,
    },
    /// Take a work item, or take it over from a holder whose lease ran out.
    Claim {
        item: String,
        participant: String,
        /// Who works on it, where the participant has several workers.
        holder: Option<String>,
    },
    Renew {
        item: String,
        participant: String,
        holder: Option<String>,
    },
    Return {
        /// What came back; its step and try are filled in.
        back: Box<WorkItemReturned>,
        holder: Option<String>,
    },
    /// Freeze the snapshot and hand it to every seat of the step that runs.
    OpenRound {
        /// `CONTEXT.md` as it is now; the definition's own summary goes before it.
        project_summary: Option<String>,
        seal: Option<SealTo>,
    },
    /// Hand the open round's snapshot to the seats that a torn write left without a work item.
    OfferRest,
    Seal {
        round: String,
        participant: String,
        seal: SealedRecord,
    },
    Invite(SeatInvited),
    /// Take in the key of a remote seat that takes its invitation.
    Join(SeatJoined),
    /// Take in the ballot that a remote seat has sealed and signed.
    SealRemote(Box<Envelope>),
    /// Take in that a remote seat has no ballot to give, as it has signed.
    FailRemote(Box<FailedDelivery>),
    RefuseEnvelope {
        round: String,
        participant: String,
        why: RefusalWord,
        commitment: String,
    },
    /// Take in that nothing came back; step and time are those of the round.
    Fail(Box<SeatFailed>),
    Excuse {
        round: String,
        participant: String,
        reason: String,
    },
    /// Ask a seat of the open round again, by another model where one is named.
    Retry {
        round: String,
        participant: String,
        /// The model, if it is to be another one.
        model: Option<String>,
    },
    /// Close the open round; what is sealed can be revealed then.
    CloseRound {
        reason: CloseReason,
        key: RoundKey,
    },
    Reveal,
    Tally,
    RecordResult {
        step: String,
    },
    /// Put a completed review's feedback on record, where a torn write left it out.
    RecordReview {
        item: String,
    },
    /// Ask the person what a step that runs asks; it ends here where there is nothing to ask.
    AskPerson {
        step: String,
    },
    /// Take in what a person answers, or that a person accepts the result of the round that was counted.
    Answer(ApprovalGiven),
    /// Take in what the person made of the ideas of a round.
    Merge {
        merge: Merge,
        given: ApprovalGiven,
    },
    ChangeAgenda {
        change: AgendaChange,
        /// `facilitator`, or `scripted`.
        by: String,
    },
    /// Change the round step that is to open next.
    ReviseRound(RoundRevised),
    /// Add an artifact, or put it in the place of the one of its id.
    RecordArtifact {
        artifact: Map<String, Value>,
        by: String,
    },
    RecordSynthesis {
        round: String,
        /// The note; empty takes an earlier one back.
        text: String,
    },
    ExtendDeadline {
        /// How long it may stay open in all, in milliseconds from its opening.
        deadline_ms: u64,
    },
    /// Ask the counted round again, as a new round of its step.
    AskRoundAgain,
    /// Begin a session of its own with the history so far.
    Fork {
        session: String,
        /// The `seq` of the last event before it.
        at_seq: u64,
    },
    LoseKey,
    AskAgain {
        seal: Option<SealTo>,
    },
    FinishStep {
        step: String,
    },
    /// Note that what a work item made of a task is in the file of the tasks, or why not.
    RecordTask {
        item: String,
        error: Option<String>,
    },
    KeyFileLeft {
        round: String,
        cause: String,
    },
    Pause {
        reason: PauseReason,
        /// The step that waits for a person, if one does.
        step: Option<String>,
    },
    Resume {
        program: String,
        /// Bytes of a torn write that were cut off.
        torn_bytes: u64,
    },
    /// Stop for a cap on time or money.
    Stop {
        reason: String,
    },
    Close,
}

/// A change of the agenda that somebody asks for, in the list of its name; what is opened gets the next
/// free id.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum AgendaChange {
    /// Gives an agenda item another title or status; a new one if there is none with that id.
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

/// Why a command was refused; nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("{0}")]
    Said(String),
    #[error("{0}")]
    Word(RefusalWord),
    /// A word, and what there is to say about it.
    #[error("{0}: {1}")]
    Because(RefusalWord, String),
}

impl From<RefusalWord> for Refusal {
    fn from(word: RefusalWord) -> Self {
        Self::Word(word)
    }
}

impl From<String> for Refusal {
    fn from(said: String) -> Self {
        Self::Said(said)
    }
}

impl From<&str> for Refusal {
    fn from(said: &str) -> Self {
        Self::Said(said.to_owned())
    }
}

pub(crate) type DecideResult = Result<Vec<Event>, Refusal>;

pub(crate) fn refuse<T>(why: impl Into<Refusal>) -> Result<T, Refusal> {
    Err(why.into())
}
