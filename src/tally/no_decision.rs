//! Reasons why a count decides nothing, as data; [`Display`](fmt::Display) is their wording.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::decimal::Score;
use super::rule::Rule;
use super::strength::Tier;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoDecision {
    NoBallots,
    NoEstimates,
    Tie(Vec<String>),
    /// Of several to be chosen these are level for the last places.
    EdgeTie(Vec<String>),
    /// No option has half of those asked.
    NoneByHalf,
    /// More orders of equals than are followed; what is named won under some of them.
    OpenTie {
        orders: usize,
        found: Vec<String>,
    },
    BelowShare {
        rule: Rule,
        most: Score,
        of: Score,
        needed: String,
        /// Set where the share must be exceeded, not only reached.
        more: bool,
    },
    SingleBallot,
    BallotWithoutOption,
    NotUnanimous {
        options: usize,
        most: Score,
        of: Score,
    },
    /// A ballot puts more options in one place than it can be split between.
    Unsplittable(u64),
    Blocked(Vec<String>),
    MayBlock(usize),
    NoSupport,
    NoQuorum(Shortfall),
    Placeholders {
        placeholders: u32,
        seats: usize,
    },
    TooWeak {
        tier: Tier,
        wanted: Tier,
    },
}

/// The part of a quorum that was not met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shortfall {
    Seats { took_part: usize, asked: usize, needed: usize },
    Ballots { cast: usize, asked: usize, needed: usize },
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

impl fmt::Display for NoDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBallots => f.write_str("no ballot names an option"),
            Self::NoEstimates => f.write_str("no ballot gives an estimate"),
            Self::EdgeTie(options) => write!(f, "tie for the last place between {}", and_list(options)),
            Self::NoneByHalf => f.write_str("no option has half of the seats asked"),
            Self::Tie(winners) => write!(f, "tie between {}", and_list(winners)),
            Self::OpenTie { orders, found } => {
                let found = and_list(found);
                write!(f, "unresolved tie: more than {orders} orders of equals; found so far: {found}")
            }
            Self::BelowShare { rule, most, of, needed, more } => {
                let more = if *more { "more than " } else { "" };
                let are = if *rule == Rule::Majority && more.is_empty() { "are" } else { "is" };
                let rule = rule.name().replace('-', " ");
                write!(f, "no {rule}: {most} of {of} is the most, {more}{needed} {are} needed")
            }
            Self::SingleBallot => f.write_str("a single ballot is not unanimity"),
            Self::BallotWithoutOption => f.write_str("not unanimous: a ballot names no option"),
            Self::NotUnanimous { options, most, of } => {
                write!(f, "not unanimous: {options} options are named, the first has {most} of {of}")
            }
            Self::Unsplittable(most) => {
                write!(f, "a ballot puts more than {most} options in one place: it cannot be split")
            }
            Self::Blocked(seats) => write!(f, "blocked by {}", seats.join(", ")),
            Self::MayBlock(1) => f.write_str("1 unreadable reply may block"),
            Self::MayBlock(replies) => write!(f, "{replies} unreadable replies may block"),
            Self::NoSupport => f.write_str("no support"),
            Self::NoQuorum(shortfall) => write!(f, "no quorum: {shortfall}"),
            Self::Placeholders { placeholders, seats } => {
                let s = if *seats == 1 { "" } else { "s" };
                let are = if *placeholders == 1 { "is a placeholder" } else { "are placeholders" };
                write!(f, "{placeholders} of {seats} seat{s} {are}")
            }
            Self::TooWeak { tier, wanted } => {
                write!(f, "{}, {} was asked for", tier.name(), wanted.name())
            }
        }
    }
}

impl fmt::Display for Shortfall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (some, asked, did, needed) = match self {
            Self::Seats { took_part, asked, needed } => (took_part, asked, "took part", needed),
            Self::Ballots { cast, asked, needed } => {
                (cast, asked, "cast a ballot that is no abstention", needed)
            }
        };
        let are = if *needed == 1 { "is" } else { "are" };
        write!(f, "{some} of {asked} {did}, {needed} {are} needed")
    }
}

/// "a", "a and b", "a, b and c".
pub fn and_list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
