//! Ballot forms and what a valid answer to one holds.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What kind of answer a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BallotKind {
    /// Free text with structure: the default.
    Position,
    /// One of the options.
    Choice,
    /// A set of options.
    Approval,
    /// Options in order, ties and truncation allowed.
    Ranking,
    /// A number for each option.
    Score,
    /// `support`, `stand-aside` or `block`.
    Consent,
    /// A number or a card.
    Estimate,
}

impl BallotKind {
    /// Every kind with the word that names it in a definition.
    pub const NAMES: [(&'static str, Self); 7] = [
        ("position", Self::Position),
        ("choice", Self::Choice),
        ("approval", Self::Approval),
        ("ranking", Self::Ranking),
        ("score", Self::Score),
        ("consent", Self::Consent),
        ("estimate", Self::Estimate),
    ];

    /// The word that names it.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, kind)| *kind == self).map_or("position", |(name, _)| name)
    }
}

/// The form participants fill in: fixed in the definition, part of the snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BallotForm {
    /// The kind of answer.
    pub kind: BallotKind,
    /// The options as the definition spells them; empty for `position`, `consent` and `estimate`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
}

impl BallotForm {
    /// The form of an open question.
    pub fn position() -> Self {
        Self { kind: BallotKind::Position, options: Vec::new() }
    }
}

/// A consent ballot's stance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stance {
    /// Goes along.
    Support,
    /// Has doubts and does not stand in the way.
    StandAside,
    /// Stands in the way until the stated minimum change is made.
    Block,
}

/// The countable part of a valid answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ballot {
    /// An open answer: nothing to count but that it is there.
    Position,
    /// One option, spelt as in the form.
    Choice(String),
    /// A stance; a block states the minimum change.
    Consent(Stance, Option<String>),
    /// A stated abstention, under every kind.
    Abstain,
}

/// A reply that met its form.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The countable part.
    pub ballot: Ballot,
    /// The answer's known fields, validated, in the form's order, then its other keys as given.
    pub content: Map<String, Value>,
    /// Keys that were kept and not obeyed, and other readings a person should know of.
    pub flags: Vec<String>,
}

/// How a reply was read.
#[derive(Debug, Clone, PartialEq)]
pub enum Reading {
    /// It meets the form (an abstention does too).
    Answered(Answer),
    /// It does not meet the form; the reason is told to the participant when it is asked again.
    Invalid(String),
    /// The participant declined to answer at all.
    Refused(String),
}
