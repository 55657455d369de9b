//! Changes of the agenda, of conflicts and of open questions.
//!
//! `by` is `facilitator` or `scripted` for an order, `tally` for what a count of a consent round opens or
//! resolves, and `step` for what a step's `record` names.

use serde::{Deserialize, Serialize};

use super::Event;

/// Who gives the orders of an answers file.
pub const SCRIPTED: &str = "scripted";
/// Who answers for a person in a rehearsal.
pub const PLACEHOLDER: &str = "placeholder";
/// Who records what a step's `record` names.
pub const RECORDED_BY_STEP: &str = "step";

/// An agenda item is new, or has another title or status.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgendaUpdated {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    pub by: String,
}

/// A conflict or a question is open; a conflict of the same id has another minimum change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PointOpened {
    pub id: String,
    pub title: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum_change: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participant: Option<String>,
    pub by: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictResolved {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<String>,
    pub by: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionAnswered {
    pub id: String,
    pub answer: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    pub by: String,
}

impl Event {
    pub fn record_of(&self) -> Option<&str> {
        self.origin().filter(|(by, _)| *by == RECORDED_BY_STEP).and_then(|(_, step)| step)
    }

    pub fn is_scripted_change(&self) -> bool {
        !matches!(self, Self::ArtifactRecorded(_)) && self.origin().is_some_and(|(by, _)| by == SCRIPTED)
    }

    /// Who changes the agenda by it, and the step that led to it.
    fn origin(&self) -> Option<(&str, Option<&str>)> {
        let (by, step) = if let Self::AgendaUpdated(event) = self {
            (&event.by, &event.step)
        } else if let Self::ConflictOpened(event) | Self::QuestionOpened(event) = self {
            (&event.by, &event.step)
        } else if let Self::ConflictResolved(event) = self {
            (&event.by, &event.step)
        } else if let Self::QuestionAnswered(event) = self {
            (&event.by, &event.step)
        } else if let Self::ArtifactRecorded(event) = self {
            (&event.by, &event.record_of)
        } else {
            return None;
        };
        Some((by, step.as_deref()))
    }
}
