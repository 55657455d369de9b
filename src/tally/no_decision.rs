//! Reasons why a count decides nothing, as data, each with its wording.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::decimal::Score;
use super::rule::Rule;
use super::strength::Tier;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Error)]
#[serde(rename_all = "snake_case")]
pub enum NoDecision {
    #[error("no ballot names an option")]
    NoBallots,
    #[error("no ballot gives an estimate")]
    NoEstimates,
    #[error("tie between {}", and_list(.0))]
    Tie(Vec<String>),
    /// Of several to be chosen these are level for the last places.
    #[error("tie for the last place between {}", and_list(.0))]
    EdgeTie(Vec<String>),
    #[error("no option has half of the seats asked")]
    NoneByHalf,
    /// More orders of equals than are followed; what is named won under some of them.
    #[error("unresolved tie: more than {orders} orders of equals; found so far: {}", and_list(.found))]
    OpenTie { orders: usize, found: Vec<String> },
    #[error("no {}: {most} of {of} is the most, {}", .rule.name().replace('-', " "), in_need(*.rule, .needed, *.more))]
    BelowShare {
        rule: Rule,
        most: Score,
        of: Score,
        needed: String,
        /// Set where the share must be exceeded, not only reached.
        more: bool,
    },
    #[error("a single ballot is not unanimity")]
    SingleBallot,
    #[error("not unanimous: a ballot names no option")]
    BallotWithoutOption,
    #[error("not unanimous: {options} options are named, the first has {most} of {of}")]
    NotUnanimous { options: usize, most: Score, of: Score },
    /// A ballot puts more options in one place than it can be split between.
    #[error("a ballot puts more than {0} options in one place: it cannot be split")]
    Unsplittable(u64),
    #[error("blocked by {}", .0.join(", "))]
    Blocked(Vec<String>),
    #[error("{} unreadable {} may block", .0, by_count(*.0, "reply", "replies"))]
    MayBlock(usize),
    #[error("no support")]
    NoSupport,
    #[error("no quorum: {seats}")]
    NoQuorum { seats: Shortfall },
    #[error(
        "{placeholders} of {seats} {} {}", by_count(*.seats, "seat", "seats"),
        by_count(*.placeholders as usize, "is a placeholder", "are placeholders")
    )]
    Placeholders { placeholders: u32, seats: usize },
    #[error("{}, {} was asked for", .tier.name(), .wanted.name())]
    TooWeak { tier: Tier, wanted: Tier },
}

/// A quorum that was not met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Error)]
#[error("{took_part} of {asked} took part, {needed} {} needed", by_count(*.needed, "is", "are"))]
pub struct Shortfall {
    pub took_part: usize,
    pub asked: usize,
    pub needed: usize,
}

impl NoDecision {
    /// The same with other names for the seats that block, in the order of those.
    #[must_use]
    pub fn with_blockers(&self, renamed: impl FnOnce(&[String]) -> Vec<String>) -> Self {
        match self {
            Self::Blocked(seats) => Self::Blocked(renamed(seats)),
            other => other.clone(),
        }
    }
}

/// "3 are needed", "more than 2/3 is needed".
fn in_need(rule: Rule, needed: &str, more: bool) -> String {
    match (rule, more) {
        (_, true) => format!("more than {needed} is needed"),
        (Rule::Majority, false) => format!("{needed} are needed"),
        (_, false) => format!("{needed} is needed"),
    }
}

fn by_count<'a>(count: usize, one: &'a str, more: &'a str) -> &'a str {
    if count == 1 { one } else { more }
}

/// "a", "a and b", "a, b and c".
pub fn and_list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
