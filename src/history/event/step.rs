//! Events around rounds: a step's result, a person's answer, the session's end.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with_macros::skip_serializing_none;

use super::facilitator::{CollectedIdea, Merge, PLACEHOLDER, SCRIPTED};
use crate::history::timestamp::Timestamp;

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepStarted {
    pub step: String,
    pub kind: String,
    /// The steps that have begun, this one included; nested ones are counted with theirs.
    pub iteration: u32,
    pub within: Option<String>,
    /// The items that an `each` runs its steps for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Value>,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepFinished {
    pub step: String,
    pub step_id: String,
    pub success: bool,
    pub data: Value,
    pub error: Option<String>,
    pub start_time: Timestamp,
    pub end_time: Timestamp,
    pub duration: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoundOutcome {
    Decided,
    Tie,
    Blocked,
    NoQuorum,
    /// There is a winner, not as strong as the round asks for.
    Weak,
    /// The rule found no winner, or there is no rule.
    Undecided,
    Abstained,
    Failed,
}

impl RoundOutcome {
    pub fn is_undecided(self) -> bool {
        !matches!(self, Self::Decided | Self::Failed)
    }
}

#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ApprovalRequested {
    pub step: String,
    pub message: String,
    /// The template of the message, where it has one.
    pub written: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ideas: Vec<CollectedIdea>,
    /// A model's proposal, or the blank form of one.
    pub proposal: Option<Value>,
    pub input: Value,
    pub context: Map<String, Value>,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalGiven {
    pub step: String,
    pub approved: bool,
    pub choice: Option<String>,
    pub comment: Option<String>,
    pub edited: Option<Value>,
    /// `facilitator`, `scripted` or `placeholder`.
    pub by: String,
    pub name: Option<String>,
    /// The ideas as options, where that was asked and the answer is yes; on record as `ideas_merged`.
    #[serde(skip)]
    pub merge: Option<Box<Merge>>,
}

impl ApprovalGiven {
    /// A person's yes or no to what is asked now; an empty comment is none.
    pub fn of_person(approved: bool, comment: String) -> Self {
        let comment = Some(comment).filter(|comment| !comment.is_empty());
        Self { approved, comment, ..Self::yes("", "facilitator") }
    }

    pub fn yes(step: &str, by: &str) -> Self {
        let (step, by) = (step.to_owned(), by.to_owned());
        Self { step, approved: true, choice: None, comment: None, edited: None, by, name: None, merge: None }
    }

    /// Returns who answered, for people: a name, "facilitator", "a script" or "a placeholder".
    pub fn approver(&self) -> String {
        match (&self.name, self.by.as_str()) {
            (Some(name), SCRIPTED) => format!("{name} (by answers file)"),
            (Some(name), _) => name.clone(),
            (None, SCRIPTED) => "a script".to_owned(),
            (None, PLACEHOLDER) => "a placeholder".to_owned(),
            (None, by) => by.to_owned(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Finished,
    /// A step failed and nothing said where to go, or a limit ended it.
    Failed,
    /// An approval was refused and nothing said where to go.
    Rejected,
    Paused,
    /// A cap on time or money stopped it, or nobody could be reached.
    Stopped,
}

impl Status {
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PauseReason {
    /// Failed seats keep the open round below its quorum.
    QuorumUnreachable,
    Left,
    Interrupted,
    /// A person has to answer this.
    Waiting(String),
}

const UNREACHABLE: &str =
    "failed seats keep the round below its quorum; nothing is revealed, and resuming asks them again";

impl fmt::Display for PauseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::QuorumUnreachable => UNREACHABLE,
            Self::Left => "left by the facilitator",
            Self::Interrupted => "interrupted",
            Self::Waiting(message) => message,
        })
    }
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionClosed {
    pub status: Status,
    pub reason: Option<String>,
    pub exit_code: u8,
}
