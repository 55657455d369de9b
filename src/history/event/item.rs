//! What happens to a work item of an agent: offered, claimed, returned.
//!
//! A round's work items are offered by the same event and settle by sealing; what is only an
//! agent's is left out of them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with_macros::skip_serializing_none;

use crate::history::timestamp::Timestamp;
use crate::round::answer::AnswerRecord;
use crate::workflow::ExpectedOutput;

/// One work item. A round's prompt is the round's `rules`, a blank line, `snapshot`, `address`, a
/// blank line, persona. An agent's is `prompt`, or the whole work item as JSON; the persona's text, a block
/// on its stage and its own `rules` go before it as the system's part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkItemOffered {
    pub step: String,
    /// The round; none for an agent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub round: String,
    pub participant: String,
    pub item: String,
    pub model: String,
    pub available_skills: Vec<String>,
    /// The address lines, appended to the snapshot; none for an agent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub address: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub persona: String,
    /// SHA-256 of the whole prompt; of an agent's, without the system's part.
    pub prompt_sha256: String,
    /// SHA-256 of the snapshot, or of the input as JSON.
    pub context_sha256: String,
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Box<AgentWork>>,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentWork {
    /// `input`, an explicit reference, `context`, `error`.
    pub input: Map<String, Value>,
    pub stage_context: StageContext,
    /// The form of its answer, and the lines of the facilitator.
    pub rules: Option<String>,
    pub prompt: Option<String>,
    pub linked_tasks: Option<String>,
    pub review_context: Option<ReviewContext>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StageContext {
    pub stage_description: String,
    pub expected_output: ExpectedOutput,
    pub available_skills: Vec<String>,
    pub previous_artifacts: Vec<PreviousArtifact>,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PreviousArtifact {
    pub artifact_id: String,
    pub version: u32,
    pub kind: String,
    pub stage: String,
    pub created_at: Timestamp,
    pub content: Option<Value>,
}

/// The author stands here by tag, never by name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewContext {
    pub target_artifact_id: String,
    pub target_author_tag: String,
    pub review_criteria: Vec<String>,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkItemClaimed {
    pub step: String,
    pub participant: String,
    pub item: String,
    pub attempt: u32,
    pub holder: Option<String>,
    pub until: Timestamp,
}

#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkItemReturned {
    pub step: String,
    pub participant: String,
    pub item: String,
    pub attempt: u32,
    pub status: ItemStatus,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub data: Value,
    pub error: Option<String>,
    #[serde(flatten)]
    pub record: AnswerRecord,
    pub exit_status: Option<String>,
    pub stderr: Option<String>,
    /// The standard output of a program that failed: the last 64 KiB.
    pub stdout: Option<String>,
    /// Who returns it; its claim is on record.
    #[serde(skip)]
    pub holder: Option<String>,
}

impl WorkItemReturned {
    /// The output of a program that failed, standard output first.
    pub fn output(&self) -> Option<String> {
        let both = [&self.stdout, &self.stderr].into_iter().flatten().map(|output| output.trim_end());
        let both: Vec<&str> = both.filter(|output| !output.is_empty()).collect();
        (self.status == ItemStatus::Failed && !both.is_empty()).then(|| both.join("\n"))
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemStatus {
    Completed,
    #[default]
    Failed,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReviewRecorded {
    pub step: String,
    pub participant: String,
    pub item: String,
    pub artifact: String,
    pub criteria: Vec<String>,
    pub feedback: Value,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Link {
    pub id: String,
    pub from_id: String,
    pub to_id: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub created_at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeakKind {
    Seat,
    Model,
    Maker,
}

impl LeakKind {
    pub fn words(self) -> &'static str {
        match self {
            Self::Seat => "names a participant",
            Self::Model => "names a model",
            Self::Maker => "names a maker of models",
        }
    }

    /// What stands for such a name in a masked copy, where it has no pseudonym.
    pub fn mask(self) -> &'static str {
        match self {
            Self::Seat => "[participant]",
            Self::Model => "[model]",
            Self::Maker => "[maker]",
        }
    }
}

/// A name in an answer to a work item.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leak {
    pub participant: String,
    pub item: String,
    pub kind: LeakKind,
    pub text: String,
    /// What stands for it in the copy that is handed on; it stays when absent.
    #[serde(rename = "as")]
    pub mask: Option<String>,
}
