//! The events: one line of history each, named as scripts know them.
//!
//! Field order is the order in the file. A format change adds fields with defaults; it renames none.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::moment::Moment;
use crate::round::ballot::{Ballot, BallotForm};
use crate::round::record::{Outcome, Record, Returned, Usage};
use crate::round::seal::Sealed;
use crate::tally::{Rule, Ties, Verdict};
use crate::workflow::Close;

/// An event and when it happened.
#[derive(Debug, Clone, PartialEq)]
pub struct Stamped {
    /// When.
    pub at: Moment,
    /// What.
    pub event: Event,
}

/// An event with its place in the log's chain.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its number, from 0.
    pub seq: u64,
    /// The hash of the document before it.
    pub prev: String,
    /// The hash of its own document.
    pub hash: String,
    /// What happened, and when.
    pub stamped: Stamped,
}

/// Everything that can happen in a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The header: everything the session needs to be replayed anywhere, alone.
    SessionOpened(Box<SessionOpened>),
    /// A step begins.
    StepStarted {
        /// The step.
        step: String,
        /// Its type.
        kind: String,
        /// How many steps have begun, this one included.
        iteration: u32,
    },
    /// A round is frozen and open.
    RoundOpened(Box<RoundOpened>),
    /// One seat is handed the snapshot.
    WorkItemOffered(WorkItemOffered),
    /// A seat's answer is sealed.
    BallotSealed(BallotSealed),
    /// A seat failed on the way.
    SeatFailed(SeatFailed),
    /// The facilitator let a seat go.
    SeatExcused {
        /// The step.
        step: String,
        /// The round.
        round: String,
        /// The seat.
        participant: String,
        /// Why.
        reason: String,
    },
    /// The round is closed; its key is published.
    RoundClosed(RoundClosed),
    /// What one seat held; in roster order, in the same write as the close.
    AnswerRevealed(Box<AnswerRevealed>),
    /// The round's key is gone: what it sealed cannot be opened.
    KeyLost {
        /// The step.
        step: String,
        /// The round.
        round: String,
        /// The seats whose answers are lost.
        participants: Vec<String>,
    },
    /// The facilitator has the seats whose answers were lost asked again.
    SeatsAskedAgain {
        /// The step.
        step: String,
        /// The round.
        round: String,
        /// Those seats.
        participants: Vec<String>,
    },
    /// The ballots are counted.
    TallyMade(Box<Tally>),
    /// A step has its result.
    StepFinished(StepFinished),
    /// A person is asked.
    ApprovalRequested(ApprovalRequested),
    /// A person answered.
    ApprovalGiven(ApprovalGiven),
    /// Something a person should know of.
    Warning {
        /// What.
        message: String,
        /// The step, if it is one step's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<String>,
        /// The round, if it is one round's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        round: Option<String>,
        /// The seat, if it is one seat's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        participant: Option<String>,
    },
    /// The session rests and can be resumed.
    SessionPaused {
        /// Why.
        reason: String,
        /// The step that waits for a person, if one does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<String>,
    },
    /// The session goes on.
    SessionResumed {
        /// The program that goes on with it.
        program: String,
        /// Bytes of a torn write that were cut off and kept aside.
        #[serde(default, skip_serializing_if = "is_zero")]
        torn_bytes: u64,
    },
    /// The session is over.
    SessionClosed(SessionClosed),
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The header of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionOpened {
    /// The session's id.
    pub session: String,
    /// The format's version.
    pub format: u32,
    /// The program that wrote it.
    pub program: String,
    /// The definition's file name, without its folder.
    pub definition_file: String,
    /// SHA-256 of the definition's text.
    pub definition_sha256: String,
    /// The definition's whole text, byte-order mark removed.
    pub definition: String,
    /// The session's input.
    pub input: Value,
    /// The seed given, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The roster.
    pub participants: Vec<SeatInfo>,
    /// The personas of the roster.
    pub personas: Vec<PersonaInfo>,
}

/// One seat of the roster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SeatInfo {
    /// Its name.
    pub name: String,
    /// Its persona's name.
    pub persona: String,
    /// `provider/model`, or `rehearsal`.
    pub model: String,
    /// What its ballot weighs where a rule counts weights.
    pub weight: f64,
    /// Its seed, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The steps in which its answers come from a script.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scripted: Vec<String>,
}

/// One persona, as it was when the session opened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PersonaInfo {
    /// Its name.
    pub name: String,
    /// SHA-256 of its text.
    pub sha256: String,
    /// Its line for lists.
    pub description: String,
    /// Its tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What it cares for.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub priorities: IndexMap<String, f64>,
    /// Its text.
    pub text: String,
}

/// A round, frozen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoundOpened {
    /// The step.
    pub step: String,
    /// The round's id: the step's, with `.2`, `.3` … when it runs again.
    pub round: String,
    /// Its number in the session, from 1.
    pub number: u32,
    /// What is asked.
    pub question: String,
    /// The form of an answer.
    pub ballot: BallotForm,
    /// How ballots are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
    /// What happens when options are level.
    pub ties: Ties,
    /// How many seats must take part for a decision.
    pub quorum: usize,
    /// When it closes by itself.
    pub close: Close,
    /// How long it may stay open, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
    /// The seats, in the order of reveal.
    pub seats: Vec<String>,
    /// The rules of the table: the first part of every prompt.
    pub rules: String,
    /// The snapshot's size in bytes.
    pub snapshot_bytes: usize,
    /// The tokens of one prompt's shared part, estimated.
    pub estimated_tokens: usize,
    /// SHA-256 of the snapshot.
    pub snapshot_sha256: String,
    /// The snapshot.
    pub snapshot: String,
}

/// One hand-over. The prompt is `rules`, a blank line, `snapshot`, `address`, a blank line, persona.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkItemOffered {
    /// The step.
    pub step: String,
    /// The round.
    pub round: String,
    /// The seat.
    pub participant: String,
    /// The item's id.
    pub item: String,
    /// `provider/model`.
    pub model: String,
    /// What it may use: nothing, in a round.
    pub available_skills: Vec<String>,
    /// The address lines, appended to the snapshot.
    pub address: String,
    /// The persona whose text ends the prompt.
    pub persona: String,
    /// SHA-256 of the whole prompt.
    pub prompt_sha256: String,
    /// SHA-256 of the snapshot.
    pub context_sha256: String,
}

/// A sealed answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BallotSealed {
    /// The step.
    pub step: String,
    /// The round.
    pub round: String,
    /// The seat.
    pub participant: String,
    /// From the round's opening to the seal, in milliseconds.
    pub elapsed_ms: u64,
    /// Ciphertext and commitment.
    #[serde(flatten)]
    pub seal: Sealed,
}

/// A seat from which nothing came back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatFailed {
    /// The step.
    pub step: String,
    /// The round.
    pub round: String,
    /// The seat.
    pub participant: String,
    /// Why.
    pub reason: String,
    /// Whether time ran out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    /// Requests made.
    pub tries: u32,
    /// From the round's opening to the failure, in milliseconds.
    pub elapsed_ms: u64,
}

/// Why a round closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CloseReason {
    /// No seat is open any more.
    All,
    /// As many seats are sealed as the quorum asks.
    Quorum,
    /// Its time is up.
    Deadline,
    /// The facilitator closed it.
    Facilitator,
}

/// The end of a round.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundClosed {
    /// The step.
    pub step: String,
    /// The round.
    pub round: String,
    /// Why it closed.
    pub reason: CloseReason,
    /// Seats still open: recorded as missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The round's key, in hex.
    pub key: String,
}

/// What one seat held.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnswerRevealed {
    /// The step.
    pub step: String,
    /// The round.
    pub round: String,
    /// The seat.
    pub participant: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Why, where that needs saying.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// `provider/model`.
    pub model: String,
    /// The countable part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ballot: Option<Ballot>,
    /// The answer's fields.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub answer: Map<String, Value>,
    /// Keys that were kept and not obeyed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// Every reply as it came.
    #[serde(default)]
    pub replies: Vec<Returned>,
    /// Requests made.
    pub tries: u32,
    /// From the first request to the last byte, in milliseconds.
    pub latency_ms: u64,
    /// Tokens, if the service told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Usage>,
    /// The commitment's nonce, in hex.
    pub nonce: String,
}

impl AnswerRevealed {
    /// What a sealed record says, once opened.
    pub fn of(step: &str, record: Record, nonce: String) -> Self {
        Self {
            step: step.to_owned(),
            round: record.round,
            participant: record.participant,
            outcome: record.outcome,
            reason: record.reason,
            model: record.model,
            ballot: record.ballot,
            answer: record.answer,
            flags: record.flags,
            replies: record.replies,
            tries: record.tries,
            latency_ms: record.latency_ms,
            tokens: record.tokens,
            nonce,
        }
    }
}

/// A count: who took part, and what the rule found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// The step.
    pub step: String,
    /// The round.
    pub round: String,
    /// The rule; none when the round is counted and not decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
    /// Seats asked.
    pub asked: usize,
    /// Seats sealed.
    pub sealed: usize,
    /// Valid ballots, abstentions not among them.
    pub answered: usize,
    /// Stated abstentions.
    pub abstained: usize,
    /// Replies that did not meet the form.
    pub invalid: usize,
    /// Participants that declined.
    pub refused: usize,
    /// Seats from which nothing came back, time-outs among them.
    pub failed: usize,
    /// Seats still open at the close.
    pub missing: usize,
    /// Seats let go.
    pub excused: usize,
    /// Seats that had to take part.
    pub quorum: usize,
    /// Whether that many did: answered or abstained.
    pub quorum_met: bool,
    /// Whether there is a decision.
    pub decided: bool,
    /// What the rule found.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// A step's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepFinished {
    /// The step.
    pub step: String,
    /// The step again, under the result's own name for it.
    pub step_id: String,
    /// Whether it succeeded.
    pub success: bool,
    /// What it yields.
    pub data: Value,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// When it began.
    pub start_time: Moment,
    /// When it ended.
    pub end_time: Moment,
    /// How long it took, in milliseconds.
    pub duration: u64,
}

/// A person is asked for a yes or no, or to choose among level options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ApprovalRequested {
    /// The step.
    pub step: String,
    /// What is asked.
    pub message: String,
    /// The options to choose from, when a tie is to be resolved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// The session's input.
    pub input: Value,
    /// The results so far.
    pub context: Map<String, Value>,
}

/// A person's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalGiven {
    /// The step.
    pub step: String,
    /// Yes or no.
    pub approved: bool,
    /// The option chosen, when a tie was to be resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// What the person added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// `facilitator`, or `scripted`.
    pub by: String,
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It came to its end.
    Finished,
    /// A step failed and nothing said where to go, or a limit ended it.
    Failed,
    /// An approval was refused and nothing said where to go.
    Rejected,
    /// It rests.
    Paused,
    /// A cap on time or money stopped it, or nobody could be reached.
    Stopped,
}

impl Status {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Rejected => "rejected",
            Self::Paused => "paused",
            Self::Stopped => "stopped",
        }
    }
}

/// The end of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionClosed {
    /// How it ended.
    pub status: Status,
    /// Why, where that needs saying.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The exit code of a headless run that ends here.
    pub exit_code: u8,
}
