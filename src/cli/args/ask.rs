//! Options of `ask`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::RunOptions;

#[derive(Debug, Clone, ClapArgs)]
pub struct AskArgs {
    /// Question; on a terminal it is asked for
    pub question: Option<String>,
    /// Options to vote on (default: none, each seat answers in its own words)
    #[arg(value_name = "OPTION")]
    pub options: Vec<String>,
    /// Ask these models, or other participants (default on a terminal: local servers and the configured model)
    #[arg(long, alias = "model", value_name = "MODEL,...")]
    pub with: Vec<String>,
    /// Add a file as evidence, with lines if wanted (`src/a.rs:10-80`; `-`: stdin; repeatable)
    #[arg(long, value_name = "FILE")]
    pub about: Vec<String>,
    /// Add background that every seat reads
    #[arg(long, value_name = "TEXT")]
    pub background: Option<String>,
    /// Decide by this rule (default: majority, with options)
    #[arg(long)]
    pub rule: Option<String>,
    /// Lead a discussion of several blind rounds, such as delphi
    #[arg(long, value_name = "NAME")]
    pub strategy: Option<String>,
    /// Name the session or decision record that this decision replaces
    #[arg(long, value_name = "SESSION|ADR")]
    pub supersedes: Option<String>,
    /// Ask without confirmation
    #[arg(long, short)]
    pub yes: bool,
    /// Write the definition that asks the same to a new file
    #[arg(long, value_name = "FILE")]
    pub save_as: Option<PathBuf>,
    /// Let placeholders answer: a rehearsal that decides nothing
    #[arg(long)]
    pub rehearse: bool,
    #[command(flatten)]
    pub common: RunOptions,
}
