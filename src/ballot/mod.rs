//! Ballot kinds, one file each, and what all of them share: the form, the answer, reading a reply.
//!
//! Pure. A kind is registered here: its module, its variant of [`BallotKind`] with its line in
//! [`BallotKind::ALL`] and [`BallotKind::spec`], and its variant of [`Ballot`]. Nothing outside its file
//! asks which kind a ballot is. Counting is `tally`'s, the snapshot and the seal are `round`'s.

mod answer_schema;
mod approval;
mod choice;
mod consent;
mod estimate;
mod ideas;
mod instructions;
mod kind;
mod parse;
mod position;
mod ranking;
mod score;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

pub use answer_schema::answer_schema;
pub use consent::Stance;
pub use ideas::Idea;
pub use instructions::answer_rules;
pub use kind::{
    FormField, FormKeys, FormValues, Input, Instructions, KindSpec, RehearsedBallot, Scale, Stage,
    typed_number,
};
pub use parse::read_reply;

/// What kind of answer a question asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BallotKind {
    /// Free text with structure: the default.
    #[default]
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
    /// Ideas, each with a title and a text.
    Ideas,
}

impl BallotKind {
    /// Every kind with the word that names it in a definition.
    pub const ALL: [(&'static str, Self); 8] = [
        ("position", Self::Position),
        ("choice", Self::Choice),
        ("approval", Self::Approval),
        ("ranking", Self::Ranking),
        ("score", Self::Score),
        ("consent", Self::Consent),
        ("estimate", Self::Estimate),
        ("ideas", Self::Ideas),
    ];

    /// What distinguishes this kind from the others.
    pub fn spec(self) -> &'static dyn KindSpec {
        match self {
            Self::Position => &position::Position,
            Self::Choice => &choice::Choice,
            Self::Approval => &approval::Approval,
            Self::Ranking => &ranking::Ranking,
            Self::Score => &score::Score,
            Self::Consent => &consent::Consent,
            Self::Estimate => &estimate::Estimate,
            Self::Ideas => &ideas::Ideas,
        }
    }
}

/// The form participants fill in: fixed in the definition, part of the snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BallotForm {
    /// The kind of answer.
    pub kind: BallotKind,
    /// The options as the definition spells them; empty for kinds without options.
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

    /// The place of an option.
    fn place(&self, option: &str) -> Option<usize> {
        self.options.iter().position(|known| known == option)
    }

    /// The key its ballot stands under.
    fn key(&self) -> &'static str {
        self.kind.key()
    }
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
    /// Ideas in the order of the reply, each with a title of its own.
    Ideas(Vec<Idea>),
    /// A stated abstention, under every kind.
    Abstain,
}

impl Ballot {
    /// Its kind; an abstention has none.
    pub fn kind(&self) -> Option<BallotKind> {
        Some(match self {
            Self::Position => BallotKind::Position,
            Self::Choice(_) => BallotKind::Choice,
            Self::Approval(_) => BallotKind::Approval,
            Self::Ranking(_) => BallotKind::Ranking,
            Self::Scores(_) => BallotKind::Score,
            Self::Estimate(_) => BallotKind::Estimate,
            Self::Consent(..) => BallotKind::Consent,
            Self::Ideas(_) => BallotKind::Ideas,
            Self::Abstain => return None,
        })
    }
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
