//! Events of an agent's work item: offered, claimed, returned.
//!
//! A round's work items use the same offer event and settle by sealing. They omit the fields that only agents
//! need.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with_macros::skip_serializing_none;

use crate::history::timestamp::Timestamp;
use crate::round::answer::AnswerRecord;
use crate::workflow::ExpectedOutput;

/// Work item. [`Prompt`](crate::round::prompt::Prompt) describes the prompt of a round. An agent's prompt is
/// `prompt`, or the whole work item as JSON. Its system part is the persona, a block on its stage and `rules`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkItemOffered {
    pub step: String,
    /// Round id; empty for an agent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub round: String,
    pub participant: String,
    pub item: String,
    pub model: String,
    pub available_skills: Vec<String>,
    /// Addressed lines, appended to the snapshot; empty for an agent.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub address: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub persona: String,
    /// SHA-256 of the whole prompt; for an agent, without the system part.
    pub prompt_sha256: String,
    /// SHA-256 of the snapshot, or of the input as JSON.
    pub context_sha256: String,
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Box<AgentWork>>,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentWork {
    /// Keys: `input`, a referenced result, loop items, `context`, `error`; in a review also `artifact`.
    pub input: Map<String, Value>,
    pub stage_context: StageContext,
    /// Answer format, and the facilitator's lines.
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

/// Names the author by tag only.
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
    /// Standard output of a failed program: the last 64 KiB.
    pub stdout: Option<String>,
    /// Worker that returns the item; the log has its claim.
    #[serde(skip)]
    pub holder: Option<String>,
}

impl WorkItemReturned {
    /// Returns the output of a failed program, standard output first.
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
    pub fn description(self) -> &'static str {
        match self {
            Self::Seat => "names a participant",
            Self::Model => "names a model",
            Self::Maker => "names a maker of models",
        }
    }

    /// Returns the replacement for such a name in a masked copy, if it has no pseudonym.
    pub fn mask(self) -> &'static str {
        match self {
            Self::Seat => "[participant]",
            Self::Model => "[model]",
            Self::Maker => "[maker]",
        }
    }
}

/// Identity leak: a name in an answer to a work item.
#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leak {
    pub participant: String,
    pub item: String,
    pub kind: LeakKind,
    pub text: String,
    /// Replacement in the disclosed copy; absent if the name stays.
    #[serde(rename = "as")]
    pub mask: Option<String>,
}
