//! Events of steps and of the session: starts, results, questions, answers, the end.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with_macros::skip_serializing_none;

use super::facilitator::{CollectedIdea, DEFINITION, Merge, PLACEHOLDER, SCRIPTED};
use crate::history::timestamp::Timestamp;

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepStarted {
    pub step: String,
    pub kind: String,
    /// Number of top-level steps started so far, including this one.
    pub iteration: u32,
    pub within: Option<String>,
    /// Items for which an `each` step runs its steps.
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
    /// The winner is weaker than the round requires.
    Weak,
    /// The rule found no winner, or the round has no rule.
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
    /// Template of the message, if it has one.
    pub written: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ideas: Vec<CollectedIdea>,
    /// A model's proposal, or a blank form for one.
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
    /// `facilitator`, `scripted`, `definition` or `placeholder`.
    pub by: String,
    pub name: Option<String>,
    /// Ideas as options, if the approval merges them; logged as `ideas_merged`.
    #[serde(skip)]
    pub merge: Option<Box<Merge>>,
}

impl ApprovalGiven {
    /// Creates a person's answer to the current question; an empty comment becomes `None`.
    pub fn by_person(approved: bool, comment: String) -> Self {
        let comment = Some(comment).filter(|comment| !comment.is_empty());
        Self { approved, comment, ..Self::yes("", "facilitator") }
    }

    pub fn yes(step: &str, by: &str) -> Self {
        let (step, by) = (step.to_owned(), by.to_owned());
        Self { step, approved: true, choice: None, comment: None, edited: None, by, name: None, merge: None }
    }

    /// Checks if the definition holds this answer; such an answer adopts nothing.
    pub fn is_of_definition(&self) -> bool {
        self.by == DEFINITION
    }

    /// Returns the answerer for display, such as a name or "a script".
    pub fn approver(&self) -> String {
        match (&self.name, self.by.as_str()) {
            (Some(name), SCRIPTED) => format!("{name} (by answers file)"),
            (Some(name), DEFINITION) => format!("{name} (by the definition)"),
            (None, DEFINITION) => "the definition".to_owned(),
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
    /// A step failed and no route handles it, or a limit ended the session.
    Failed,
    /// An approval was rejected and no route handles it.
    Rejected,
    /// A limit on time or cost stopped it.
    Stopped,
}

impl Status {
    pub fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Rejected => "rejected",
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
    /// A person must answer this question.
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
