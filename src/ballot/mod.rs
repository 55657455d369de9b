//! Ballot forms, what participants are told about them, and reading a reply against one.
//!
//! Pure. Counting is `tally`'s, the snapshot and the seal are `round`'s.

mod answer_schema;
mod instructions;
mod parse;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

pub use crate::tally::BallotKind;
pub use answer_schema::answer_schema;
pub use instructions::answer_rules;
pub use parse::{may_block, read_reply};

/// The form participants fill in: fixed in the definition, part of the snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BallotForm {
    /// The kind of answer.
    pub kind: BallotKind,
    /// The options as the definition spells them; empty for `position`, `consent` and `estimate`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    /// The lowest score or estimate, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Number>,
    /// The highest score or estimate, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Number>,
    /// The cards of an estimate, lowest first; empty where any number will do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cards: Vec<String>,
}

impl BallotForm {
    /// The form of an open question.
    pub fn position() -> Self {
        Self::over(BallotKind::Position, Vec::new())
    }

    /// A form over these options, without a scale or cards.
    pub fn over(kind: BallotKind, options: Vec<String>) -> Self {
        Self { kind, options, min: None, max: None, cards: Vec::new() }
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
    /// Stands in the way until a minimum change is made.
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
    /// The options approved of, in the order of the form.
    Approval(Vec<String>),
    /// Places from the first on, each with the options that share it; options left out stand below.
    Ranking(Vec<Vec<String>>),
    /// A score for each option, in the order of the form.
    Scores(IndexMap<String, Number>),
    /// A number, or a card as the form spells it.
    Estimate(Value),
    /// A stance, and of a block the minimum change if it states one.
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
pub enum ParsedReply {
    /// It meets the form (an abstention does too).
    Answered(Answer),
    /// A block that states no minimum change: asked for it once more, with this reason, and a block all
    /// the same.
    BareBlock(Answer, String),
    /// It does not meet the form; the reason is told to the participant when it is asked again.
    Invalid(String),
    /// The participant declined to answer at all.
    Refused(String),
}
