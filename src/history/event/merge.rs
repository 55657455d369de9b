//! Ideas merged into options: each stands in one option, or is set aside for a reason.

use serde::{Deserialize, Serialize};

/// An idea of a round, as whoever merges is shown it: without its author.
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergedOption {
    pub id: String,
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
