//! What a facilitator, a script, a count or a step's `record` changes: the next round, material, notes, the
//! agenda, merged ideas.
//!
//! The agenda's `by` is `facilitator` for an order, `tally` for what a count of a consent round
//! opens or resolves, and [`RECORDED_BY_STEP`] for what a step's `record` names.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use serde_with_macros::skip_serializing_none;

/// The `by` of an artifact that was read from the project's files.
pub const PROJECT: &str = "project";
/// The `by` of answers of an answers file.
pub const SCRIPTED: &str = "scripted";
/// The `by` of answers that stand for a person in a rehearsal.
pub const PLACEHOLDER: &str = "placeholder";
/// The `by` of entries of a step's `record`.
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

/// A conflict or an open question. One that is opened again under its id replaces the earlier one.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Point {
    /// The whole text of one that the definition gives no id.
    pub id: String,
    pub title: String,
    pub description: Option<String>,
    pub minimum_change: Option<String>,
    pub step: Option<String>,
    pub round: Option<String>,
    pub participant: Option<String>,
    pub by: String,
    /// The definition's own entry, of one that it has.
    #[serde(skip)]
    pub written: Option<Value>,
    /// The reason why it was resolved or answered; empty if no block was left.
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

/// A round step as the facilitator wants it from its next opening on.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundRevised {
    pub step: String,
    /// The round's own keys, whole, as a definition writes them: `question`, `exploration`, `ballot`,
    /// `rule`, `ties`, `quorum`, `close`, `deadline`.
    pub form: String,
    /// The seats that are asked; all of them when absent.
    pub participants: Option<Vec<String>>,
    /// The models that answer for seats from now on.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub models: IndexMap<String, String>,
}

/// An artifact, new or in place of the one of its id; the next round sees it.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactRecorded {
    /// The artifact, as a definition writes one: `id`, `summary`, `title`, `description` …
    pub artifact: Map<String, Value>,
    pub by: String,
    pub step: Option<String>,
    pub stage: Option<String>,
    pub kind: Option<String>,
    /// Counts the step's artifacts, from 1.
    pub version: Option<u32>,
    pub item: Option<String>,
    pub record_of: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectedIdea {
    /// Its seat and its number in that seat's answer, from 1: `qa-lead#2`.
    pub id: String,
    pub title: String,
    pub text: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merge {
    pub options: Vec<MergedOption>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set_aside: Vec<SetAside>,
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
pub struct SetAside {
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
