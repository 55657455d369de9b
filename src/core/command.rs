//! The commands: all that may be asked of a session, and the word for "no".

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::history::{
    ApprovalGiven, CloseReason, EnvelopeRefused, Event, PauseReason, RefusalWord, RoundRevised, SeatFailed,
    SeatInvited, SeatJoined, SessionOpened, WorkItemReturned,
};
use crate::round::envelope::{Envelope, FailedDelivery};
use crate::round::seal::{RoundKey, SealTo, SealedRecord};

/// An order of the facilitator, or of the engine in the facilitator's place.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    Open(Box<SessionOpened>),
    // Begins the next step: one inside the parallel that runs while that has one left.
    StartStep,
    // Offers the work items of an agent's or a review's step; the step fails where there are none.
    Offer { step: String },
    // Takes a work item, or takes it over from a holder whose lease ran out.
    Claim(ItemHolder),
    Renew(ItemHolder),
    // Takes in a returned work item; its step and try are filled in.
    Return(Box<WorkItemReturned>),
    // Freezes the snapshot and hands it to every seat of the step that runs. The `project_summary` is
    // `CONTEXT.md` as it is now; the definition's own goes before it.
    OpenRound { project_summary: Option<String>, seal: Option<SealTo> },
    Seal { round: String, participant: String, seal: SealedRecord },
    Invite(SeatInvited),
    // Takes in the key of a remote seat that takes its invitation.
    Join(SeatJoined),
    // Takes in the ballot that a remote seat has sealed and signed.
    SealRemote(Box<Envelope>),
    // Takes in that a remote seat has no ballot to give, as it has signed.
    FailRemote(Box<FailedDelivery>),
    // Puts a refused envelope on record; its step is filled in.
    RefuseEnvelope(EnvelopeRefused),
    // Takes in that nothing came back; step and time are those of the round.
    Fail(Box<SeatFailed>),
    // Lets a seat of the open round go.
    Excuse { participant: String, reason: String },
    // Asks a seat of the open round again, by another model where one is named.
    Retry { participant: String, model: Option<String> },
    // Closes the round with its key, and reveals what that opens.
    CloseRound { reason: CloseReason, key: RoundKey },
    Tally,
    // Asks the person what a step that runs asks; it ends here where there is nothing to ask.
    AskPerson { step: String },
    // Takes in a person's answer, or that a person accepts the result of the round that was counted.
    Answer(ApprovalGiven),
    ChangeAgenda(AgendaChange),
    // Changes the round step that is to open next.
    ReviseRound(RoundRevised),
    // Adds an artifact, or puts it in the place of the one of its id.
    RecordArtifact { artifact: Map<String, Value>, by: String },
    // Notes something on a closed round; an empty text takes an earlier note back.
    RecordSynthesis { round: String, text: String },
    // Gives the open round this much more time.
    ExtendDeadline { more_ms: u64 },
    // Asks the counted round again, as a new round of its step.
    AskRoundAgain,
    // Begins a session of its own with the history up to the event `at_seq`.
    Fork { session: String, at_seq: u64 },
    LoseKey,
    AskAgain { seal: Option<SealTo> },
    FinishStep { step: String },
    // Puts the session to rest; `step` is the one that waits for a person, if one does.
    Pause { reason: PauseReason, step: Option<String> },
    // Goes on after a rest, or a kill: then so many bytes of a torn write were cut off.
    Resume { program: String, torn_bytes: Option<u64> },
    // Stops for a cap on time or money.
    Stop { reason: String },
    Close,
}

/// A work item, and who has or wants it; a participant with several workers names the `holder`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemHolder {
    pub item: String,
    pub participant: String,
    pub holder: Option<String>,
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

/// The refusal of a command: nothing has changed.
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

impl<T: Into<String>> From<T> for Refusal {
    fn from(said: T) -> Self {
        Self::Said(said.into())
    }
}

pub(crate) type DecideResult = Result<Vec<Event>, Refusal>;

pub(crate) fn refuse<T>(why: impl Into<Refusal>) -> Result<T, Refusal> {
    Err(why.into())
}

/// Refuses from inside a function if the condition holds.
macro_rules! refuse_if {
    ($condition:expr, $why:expr) => {
        if $condition {
            return Err($why.into());
        }
    };
}
pub(crate) use refuse_if;
