//! Data types of ballots: kind, form, ballot and answer.

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
    /// Structured free text; the default.
    #[default]
    Position,
    Choice,
    Approval,
    /// Options in order; ties and omissions are allowed.
    Ranking,
    Score,
    /// `support`, `stand-aside` or `block`.
    Consent,
    Estimate,
    Ideas,
    Findings,
}

/// Form that participants fill in; fixed in the definition, part of the snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BallotForm {
    pub kind: BallotKind,
    /// Options as the definition spells them; empty for kinds without options.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<String>,
    #[serde(default, skip_serializing_if = "OptionOrder::is_same")]
    pub order: OptionOrder,
    /// The options are answers, labeled by author; a seat does not rank its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exclude_own: bool,
    /// Form of a revision: an answer also states the reason of a change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_revision: bool,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub about: IndexMap<String, OptionText>,
    /// Lowest score or estimate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Number>,
    /// Highest score or estimate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Number>,
    /// Cards of an estimate, lowest first; if empty, any number is allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cards: Vec<String>,
    /// Cards that mean an abstention, such as `?`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub abstain: Vec<String>,
}

/// Order in which seats see the options; the snapshot has one order for all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptionOrder {
    #[default]
    Same,
    /// Each seat sees an order drawn by seed.
    PerSeat,
    /// Half of the seats see the reverse order.
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

    /// Creates a form over these options, without a scale or cards.
    pub fn over(kind: BallotKind, options: Vec<String>) -> Self {
        Self { kind, options, ..Self::default() }
    }

    pub fn place(&self, option: &str) -> Option<usize> {
        self.options.iter().position(|known| known == option)
    }

    /// Checks if ballots of both forms are comparable: same kind, options, scale and cards.
    pub fn is_like(&self, other: &Self) -> bool {
        let parts = |form: &Self| (form.kind, form.min.clone(), form.max.clone());
        parts(self) == parts(other) && self.options == other.options && self.cards == other.cards
    }

    pub(super) fn key(&self) -> &'static str {
        self.kind.key()
    }
}

/// Countable part of a valid answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ballot {
    /// Answer to an open question; only its presence counts.
    Position,
    Choice(String),
    /// Approved options, in form order.
    Approval(Vec<String>),
    /// Ranks, best first, each with its tied options; omitted options rank last.
    Ranking(Vec<Vec<String>>),
    /// Score of each option, in form order.
    Scores(IndexMap<String, Number>),
    /// Number, or card as the form spells it.
    Estimate(Value),
    /// Stance, and the minimum change of a block if stated.
    Consent(Stance, Option<String>),
    /// Ideas in reply order, with unique titles.
    Ideas(Vec<Idea>),
    /// Findings in reply order; empty if nothing was found.
    Findings(Vec<Finding>),
    /// Explicit abstention, valid for every kind.
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

/// Valid reply to a form.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub ballot: Ballot,
    /// Known fields, validated, in form order, then other keys as given.
    pub content: Map<String, Value>,
    /// Notes for a person, such as keys that were stored but ignored.
    pub flags: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum ParsedReply {
    /// Fits the form; includes abstentions.
    Answered(Answer),
    /// Block without a minimum change. The participant is asked once more, with this reason; the block counts
    /// either way.
    BareBlock(Answer, String),
    /// Does not fit the form; a re-ask includes the reason.
    Invalid(String),
    Refused(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stance {
    Support,
    /// Has doubts but does not object.
    StandAside,
    /// Objects until a minimum change is made.
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
    /// Unique within the ballot.
    pub title: String,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// First and last line, counted from 1; only set if `file` is.
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
