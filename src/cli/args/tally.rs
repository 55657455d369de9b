//! Ballots to count, and the rules.

use std::path::PathBuf;

use clap::Args as ClapArgs;

#[derive(Debug, Clone, ClapArgs)]
pub struct TallyArgs {
    /// Read ballots from a file (.json, .yaml, .csv; `-` for stdin)
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

#[derive(Debug, Clone, ClapArgs)]
pub struct Rules {
    /// Use this rule: plurality, majority, supermajority, unanimous, weighted-majority, consent, approval, score, borda, irv, schulze, median
    #[arg(long, value_name = "RULE")]
    pub rule: Option<String>,
    /// Use every rule that fits the round, and mark differences
    #[arg(long, conflicts_with = "ballots")]
    pub all: bool,
    /// Threshold for supermajority (≥) or weighted-majority (>), e.g. 2/3
    #[arg(long, value_name = "SHARE")]
    pub threshold: Option<String>,
    /// Choose so many options by approval or score; `half`: all that half of the seats approve
    #[arg(long, value_name = "N", conflicts_with = "all")]
    pub choose: Option<String>,
    /// Break ties with this seed
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}
