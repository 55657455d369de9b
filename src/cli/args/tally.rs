//! Ballots to count, and the rules.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use crate::tally::{Strength, WeightBasis};

/// Ballots to count, and rules.
#[derive(Debug, Clone, ClapArgs)]
pub struct TallyArgs {
    /// Read ballots from a file (.json, .yaml, .csv, PrefLib's .soc .soi .toc .toi; `-` for stdin)
    #[arg(long, value_name = "FILE")]
    pub ballots: Option<PathBuf>,
    /// Select the round (required if several have ballots)
    #[arg(long, value_name = "ID")]
    pub round: Option<String>,
    /// Rules
    #[command(flatten)]
    pub rules: Rules,
    /// Count only ballots whose answer cites something in the snapshot
    #[arg(long, conflicts_with = "ballots")]
    pub supported: bool,
    /// Print one JSON object per rule
    #[arg(long)]
    pub json: bool,
}

/// Voting rules and their options.
#[derive(Debug, Clone, ClapArgs)]
pub struct Rules {
    /// Use this rule: plurality, majority, supermajority, unanimous, weighted-majority, consent, approval, score-mean, score-median, borda, irv, condorcet, copeland, minimax, ranked-pairs, schulze, majority-judgment, median
    #[arg(long, value_name = "RULE")]
    pub rule: Option<String>,
    /// Use every applicable rule and mark differences
    #[arg(long)]
    pub all: bool,
    /// Threshold for supermajority (≥) or weighted-majority (>), e.g. 2/3
    #[arg(long, value_name = "SHARE")]
    pub threshold: Option<String>,
    /// Measure pairwise victories by
    #[arg(long, value_enum, default_value_t = StrengthArg::WinningVotes)]
    pub strength: StrengthArg,
    /// Weight basis of weighted-majority
    #[arg(long, value_enum, default_value_t = ByArg::Weight)]
    pub by: ByArg,
    /// Break ties with this seed
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// Measure of a pairwise victory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StrengthArg {
    /// Votes of the winning side
    WinningVotes,
    /// Difference between both sides
    Margins,
}

impl From<StrengthArg> for Strength {
    fn from(arg: StrengthArg) -> Self {
        match arg {
            StrengthArg::WinningVotes => Self::WinningVotes,
            StrengthArg::Margins => Self::Margins,
        }
    }
}

/// Weight basis of a weighted majority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ByArg {
    /// Weights
    Weight,
    /// Weight times stated confidence
    Confidence,
}

impl From<ByArg> for WeightBasis {
    fn from(arg: ByArg) -> Self {
        match arg {
            ByArg::Weight => Self::Weight,
            ByArg::Confidence => Self::Confidence,
        }
    }
}
