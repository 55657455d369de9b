//! What is sealed of a seat: everything an answer's content could be read from.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::ballot::Ballot;

/// What became of a seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// A valid ballot.
    Answered,
    /// A stated abstention.
    Abstained,
    /// A reply that did not meet the form, twice.
    Invalid,
    /// The participant or its service declined.
    Refused,
    /// Nothing came back.
    Failed,
    /// Time ran out for this seat.
    TimedOut,
    /// Still open when the round closed.
    Missing,
    /// The facilitator let it go.
    Excused,
}

impl Outcome {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Abstained => "abstained",
            Self::Invalid => "invalid",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::Missing => "missing",
            Self::Excused => "excused",
        }
    }
}

/// Tokens as the service counted them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the prompt, cached ones included.
    pub input: u64,
    /// Tokens of the reply.
    pub output: u64,
    /// Tokens of the prompt that came from the service's cache.
    pub cached: u64,
}

/// One reply as it came, and why it was not counted if it was not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Returned {
    /// The text as it was.
    pub text: String,
    /// Why the participant was asked again, or why the answer is not valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The sealed record of one seat, its keys in this order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The session's id.
    pub session: String,
    /// The round's id.
    pub round: String,
    /// The seat's name.
    pub participant: String,
    /// The hash of the snapshot it answered.
    pub snapshot_sha256: String,
    /// `provider/model`.
    pub model: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Why, where that needs saying.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
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
    pub replies: Vec<Returned>,
    /// Requests made.
    pub tries: u32,
    /// From the first request to the last byte, in milliseconds.
    pub latency_ms: u64,
    /// Tokens, if the service told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Usage>,
}

impl Record {
    /// The text that is sealed. `None` if it cannot be written.
    pub fn to_json(&self) -> Option<String> {
        // Room for the reply and about as much again, which is what the answer's fields take of it.
        let replies: usize = self.replies.iter().map(|reply| reply.text.len()).sum();
        let mut text = Vec::with_capacity(512 + 3 * replies);
        serde_json::to_writer(&mut text, self).ok()?;
        String::from_utf8(text).ok()
    }
}
