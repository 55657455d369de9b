//! The types of the room: the kinds, the form, the ballot and the answer.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};
use strum::{IntoStaticStr, VariantArray};

#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum BallotKind {
    /// Free text with structure: the default.
    #[default]
    Position,
    Choice,
    Approval,
    /// Options in order, ties and truncation allowed.
    Ranking,
    Score,
    /// `support`, `stand-aside` or `block`.
    Consent,
    Estimate,
    Ideas,
    Findings,
}

/// The form participants fill in: fixed in the definition, part of the snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BallotForm {
    pub kind: BallotKind,
    /// The options as the definition spells them; empty for kinds without options.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    #[serde(default, skip_serializing_if = "OptionOrder::is_same")]
    pub order: OptionOrder,
    /// The options are answers, named by who gave them, and nobody ranks their own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exclude_own: bool,
    /// It is filled in again, and an answer says what changed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_revision: bool,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub about: IndexMap<String, OptionText>,
    /// The lowest score or estimate, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Number>,
    /// The highest score or estimate, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Number>,
    /// The cards of an estimate, lowest first; empty where any number will do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cards: Vec<String>,
    /// Words on cards that abstain, such as `?`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub abstain: Vec<String>,
}

/// In what order seats are shown the options; the snapshot keeps one order for all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptionOrder {
    #[default]
    Same,
    /// Each in an order of its own, drawn by seed.
    PerSeat,
    /// Half of them the other way round.
    Mirrored,
}

impl OptionOrder {
    pub const WORDS: [(&str, Self); 3] =
        [("same", Self::Same), ("per-seat", Self::PerSeat), ("mirrored", Self::Mirrored)];

    pub fn is_same(&self) -> bool {
        *self == Self::Same
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionText {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl OptionText {
    pub fn entries(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = [("title", &self.title), ("description", &self.description)];
        all.into_iter().filter_map(|(key, text)| Some((key, text.as_deref()?)))
    }
}

impl BallotForm {
    pub fn position() -> Self {
        Self::over(BallotKind::Position, Vec::new())
    }

    /// A form over these options, without a scale or cards.
    pub fn over(kind: BallotKind, options: Vec<String>) -> Self {
        Self { kind, options, ..Self::default() }
    }

    pub fn place(&self, option: &str) -> Option<usize> {
        self.options.iter().position(|known| known == option)
    }

    /// Tells if its ballots compare with those of another form: the same kind over the same options.
    pub fn is_like(&self, other: &Self) -> bool {
        let parts = |form: &Self| (form.kind, form.min.clone(), form.max.clone());
        parts(self) == parts(other) && self.options == other.options && self.cards == other.cards
    }

    pub(super) fn key(&self) -> &'static str {
        self.kind.key()
    }
}

/// The countable part of a valid answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ballot {
    /// An open answer: nothing to count but that it is there.
    Position,
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
    /// Findings in the order of the reply; none if nothing was found.
    Findings(Vec<Finding>),
    /// A stated abstention, under every kind.
    Abstain,
}

impl Ballot {
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
            Self::Findings(_) => BallotKind::Findings,
            Self::Abstain => return None,
        })
    }
}

/// A reply that met its form.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub ballot: Ballot,
    /// The answer's known fields, validated, in the form's order, then its other keys as given.
    pub content: Map<String, Value>,
    /// Keys that were kept and not obeyed, and other readings a person should know of.
    pub flags: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ParsedReply {
    /// It meets the form (an abstention does too).
    Answered(Answer),
    /// A block that states no minimum change: asked for it once more, with this reason, and a block all
    /// the same.
    BareBlock(Answer, String),
    /// It does not meet the form; the participant gets the reason when it is asked again.
    Invalid(String),
    Refused(String),
}

/// A consent ballot's stance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stance {
    Support,
    /// Has doubts and does not stand in the way.
    StandAside,
    /// Stands in the way until a minimum change is made.
    Block,
}

impl Stance {
    pub const WORDS: [(&str, Self); 3] =
        [("support", Self::Support), ("stand-aside", Self::StandAside), ("block", Self::Block)];

    pub fn name(self) -> &'static str {
        Self::WORDS[self as usize].0
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Idea {
    /// The name it goes by; no other idea of the ballot has it.
    pub title: String,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The first and the last line, counted from 1; only beside a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
    pub severity: Severity,
    pub claim: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    Low,
    Medium,
    High,
    Critical,
}

impl Severity {
    pub const WORDS: [(&str, Self); 4] =
        [("low", Self::Low), ("medium", Self::Medium), ("high", Self::High), ("critical", Self::Critical)];

    pub fn name(self) -> &'static str {
        Self::WORDS[self as usize].0
    }
}
