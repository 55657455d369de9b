//! Reasons why a count decides nothing, as data with their wording.

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
    /// Options tied for the last of several places.
    #[error("tie for the last place between {}", and_list(.0))]
    EdgeTie(Vec<String>),
    #[error("no option has half of the seats asked")]
    NoneByHalf,
    /// Too many elimination orders; the options in `found` win under some of them.
    #[error("unresolved tie: more than {orders} orders of equals; found so far: {}", and_list(.found))]
    OpenTie { orders: usize, found: Vec<String> },
    #[error("no {}: {most} of {of} is the most, {}", .rule.name().replace('-', " "), needed_phrase(*.rule, .needed, *.more))]
    BelowShare {
        rule: Rule,
        most: Score,
        of: Score,
        needed: String,
        /// Set if the share must be exceeded, not only reached.
        more: bool,
    },
    #[error("a single ballot is not unanimity")]
    SingleBallot,
    #[error("not unanimous: a ballot names no option")]
    BallotWithoutOption,
    #[error("not unanimous: {options} options are named, the first has {most} of {of}")]
    NotUnanimous { options: usize, most: Score, of: Score },
    /// A ballot ranks too many options in one place to split it exactly.
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

/// Unmet quorum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Error)]
#[error("{took_part} of {asked} took part, {needed} {} needed", by_count(*.needed, "is", "are"))]
pub struct Shortfall {
    pub took_part: usize,
    pub asked: usize,
    pub needed: usize,
}

impl NoDecision {
    /// Returns the reason with other names for the blocking seats, in the same order.
    #[must_use]
    pub fn with_blockers(&self, renamed: impl FnOnce(&[String]) -> Vec<String>) -> Self {
        match self {
            Self::Blocked(seats) => Self::Blocked(renamed(seats)),
            other => other.clone(),
        }
    }
}

/// Formats "3 are needed" or "more than 2/3 is needed".
fn needed_phrase(rule: Rule, needed: &str, more: bool) -> String {
    match (rule, more) {
        (_, true) => format!("more than {needed} is needed"),
        (Rule::Majority, false) => format!("{needed} are needed"),
        (_, false) => format!("{needed} is needed"),
    }
}

fn by_count<'a>(count: usize, one: &'a str, more: &'a str) -> &'a str {
    if count == 1 { one } else { more }
}

/// Joins names as "a", "a and b" or "a, b and c".
pub fn and_list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
