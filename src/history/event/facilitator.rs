//! Events of changes to a running session: next round, artifacts, notes, agenda, merged ideas.
//!
//! The agenda's `by` is `facilitator` for the facilitator's changes. It is `tally` for points that the count of
//! a consent round opens or resolves, and [`RECORDED_BY_STEP`] for a step's `record`.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with_macros::skip_serializing_none;

/// `by` of an artifact that was read from the project's files.
pub const PROJECT: &str = "project";
/// `by` of answers from an answers file.
pub const SCRIPTED: &str = "scripted";
/// `by` of answers in the definition.
pub const DEFINITION: &str = "definition";
/// `by` of placeholder answers in a rehearsal.
pub const PLACEHOLDER: &str = "placeholder";
/// `by` of entries from a step's `record`.
pub const RECORDED_BY_STEP: &str = "step";

#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgendaUpdated {
    pub id: String,
    pub title: Option<String>,
    pub status: Option<String>,
    pub reason: Option<String>,
    pub step: Option<String>,
    pub by: String,
}

/// Conflict or open question; a new one with the same id replaces it.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// The whole text, if the definition has no id for it.
    pub id: String,
    pub title: String,
    pub description: Option<String>,
    pub minimum_change: Option<String>,
    pub step: Option<String>,
    pub round: Option<String>,
    pub participant: Option<String>,
    pub by: String,
    /// The entry as the definition wrote it, if any.
    #[serde(skip)]
    pub written: Option<Value>,
    /// The resolution or answer; empty if no block remained.
    #[serde(skip)]
    pub settled: Option<String>,
}

#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictResolved {
    pub id: String,
    pub how: Option<String>,
    pub step: Option<String>,
    pub round: Option<String>,
    pub by: String,
}

/// Changed round step, effective from its next opening.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundRevised {
    pub step: String,
    /// Complete keys of the round, written as in a definition: `question`, `exploration`, `ballot`, `rule`,
    /// `ties`, `quorum`, `close`, `deadline`.
    pub form: String,
    /// Seats to ask; all if absent.
    pub participants: Option<Vec<String>>,
    /// New models of seats, from now on.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub models: IndexMap<String, String>,
}

/// Artifact that is new or replaces the one with its id.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactRecorded {
    /// The artifact as a definition writes it: `id`, `summary`, `title`, `description` …
    pub artifact: Map<String, Value>,
    pub by: String,
    pub step: Option<String>,
    pub stage: Option<String>,
    pub kind: Option<String>,
    /// Version of a step's result, from 1.
    pub version: Option<u32>,
    pub item: Option<String>,
    pub record_of: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectedIdea {
    /// Seat and number within its answer, from 1: `qa-lead#2`.
    pub id: String,
    pub title: String,
    pub text: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merge {
    pub options: Vec<MergedOption>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set_aside: Vec<SkippedIdea>,
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergedOption {
    pub id: String,
    pub title: String,
    pub description: Option<String>,
    pub from: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedIdea {
    pub idea: String,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdeasMerged {
    pub step: String,
    pub round: String,
    #[serde(flatten)]
    pub merge: Merge,
    pub by: String,
}
