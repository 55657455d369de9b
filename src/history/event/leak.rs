//! What the leak scan found in the answers of one step, and what is handed on of them.

use serde::{Deserialize, Serialize};

use crate::identity::Leak;
use crate::workflow::LeakAction;

/// What was found before a step's answers were handed on. The answers themselves stay as they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaksFound {
    pub step: String,
    /// The round; none for agents.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub round: String,
    /// What becomes of an answer with findings.
    pub action: LeakAction,
    /// The findings, by work item, each item's in the order of its text.
    pub found: Vec<Leak>,
}

/// What was found in one answer, and what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeakReport {
    /// What becomes of it.
    pub action: LeakAction,
    /// The findings, in the order of its text.
    pub found: Vec<Leak>,
}
