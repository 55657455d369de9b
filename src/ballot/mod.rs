//! Ballot kinds, one file each, with their shared form, answer and parser.
//!
//! Pure. A new kind needs its module, a line in [`BallotKind::spec`], variants in `model.rs` and lines in
//! `summary.rs`. Counting belongs to `tally`; snapshots and seals belong to `round`.

mod answer_schema;
mod approval;
mod choice;
mod consent;
mod estimate;
mod findings;
mod ideas;
mod instructions;
mod kind;
mod model;
mod parse;
mod position;
mod ranking;
mod score;
mod summary;

pub use answer_schema::ReplySchema;
pub use findings::{count_by_severity, line_range, place};
pub use instructions::answer_rules;
pub use kind::{FormField, Input, KindInfo, KindSpec, RehearsalInput, Scale, typed_number};
pub use model::{
    Answer, Ballot, BallotForm, BallotKind, Finding, Idea, OptionOrder, OptionText, ParsedReply, Severity,
    Stance,
};
pub use parse::{ONLY_THINKING, holds_no_answer, read_reply};

use strum::VariantArray as _;

/// Ballot keys that answers of every kind recognize; other keys are known only in answers of their kind.
const EVERYWHERE: [&str; 9] =
    ["vote", "approve", "ranking", "scores", "estimate", "abstain", "consent", "minimum_change", "position"];

impl BallotKind {
    pub fn spec(self) -> &'static dyn KindSpec {
        match self {
            Self::Position => &position::PositionKind,
            Self::Choice => &choice::ChoiceKind,
            Self::Approval => &approval::ApprovalKind,
            Self::Ranking => &ranking::RankingKind,
            Self::Score => &score::ScoreKind,
            Self::Consent => &consent::ConsentKind,
            Self::Estimate => &estimate::EstimateKind,
            Self::Ideas => &ideas::IdeasKind,
            Self::Findings => &findings::FindingsKind,
        }
    }

    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::VARIANTS.iter().copied().find(|kind| kind.name() == name)
    }

    pub fn names() -> Vec<&'static str> {
        Self::VARIANTS.iter().map(|kind| kind.name()).collect()
    }

    pub fn info(self) -> KindInfo {
        self.spec().info()
    }

    pub fn key(self) -> &'static str {
        self.info().keys.first().copied().unwrap_or_default()
    }

    pub fn ballot_keys(self) -> impl Iterator<Item = &'static str> {
        EVERYWHERE.into_iter().chain(self.info().keys.iter().copied())
    }
}
