//! Strength of a result and the seats that support it, with their wording.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::decimal::Score;

/// Strength of a result, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Nothing was decided.
    None,
    Weak,
    /// At least three quarters of the seats asked support the result.
    Strong,
    /// All seats asked support the result.
    Unanimous,
}

impl Tier {
    pub const ASKED: [(&'static str, Self); 3] =
        [("weak", Self::Weak), ("strong", Self::Strong), ("unanimous", Self::Unanimous)];

    pub fn name(self) -> &'static str {
        Self::ASKED.iter().find(|(_, tier)| *tier == self).map_or("none", |(name, _)| name)
    }
}

/// Seats that support a result, of those asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Backing {
    pub votes: Score,
    pub of: Score,
    /// Set if both are sums of weights.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_weight: bool,
    pub deed: Deed,
    /// Reason to rate the result as weak although most seats support it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub but: Option<WeakBecause>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    Chose,
    Approve,
    ScoreHighest,
    RankFirst,
    Support,
    GaveSame,
    GaveClose,
    GaveWide,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Error)]
#[serde(rename_all = "snake_case")]
pub enum WeakBecause {
    #[error("a tie was broken")]
    TieBroken,
    #[error("only one seat supports it")]
    OneSeat,
    #[error("{} answers behind it are scripted", some_of(*.scripted, *.of))]
    Scripted { scripted: usize, of: usize },
    #[error("{} are one model ({model})", if *.seats == 2 { "both".to_owned() } else { format!("all {seats}") })]
    OneModel { seats: usize, model: String },
    #[error("their answers are the same or nearly the same text")]
    SameText,
    /// A provider reports that it read less than half of the prompt.
    #[error("a service may have cut the prompt")]
    PromptCut,
}

/// Formats "all" or "2 of the 3".
fn some_of(some: usize, all: usize) -> String {
    if some == all { "all".to_owned() } else { format!("{some} of the {all}") }
}

impl Backing {
    /// Formats "4 of 5 seats chose it".
    pub fn behind(&self) -> String {
        self.worded(self.whom())
    }

    fn whom(&self) -> &'static str {
        match self.by_weight {
            true => "of the weight",
            false if self.of.to_string() == "1" => "seat",
            false => "seats",
        }
    }

    fn worded(&self, whom: &str) -> String {
        let deed = match self.deed {
            Deed::Chose => "chose it",
            Deed::Approve => "approve of it",
            Deed::ScoreHighest => "score it highest",
            Deed::RankFirst => "put it before each other option",
            Deed::Support => "support it",
            Deed::GaveSame => "gave it",
            Deed::GaveClose => "gave an estimate, and the middle half is close",
            Deed::GaveWide => "gave an estimate, and the middle half is wide",
        };
        format!("{} of {} {whom} {deed}", self.votes, self.of)
    }
}

impl fmt::Display for Backing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.worded(&format!("{} asked", self.whom())))?;
        self.but.as_ref().map_or(Ok(()), |but| write!(f, ", but {but}"))
    }
}
