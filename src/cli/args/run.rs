//! Options of a run, new, asked or resumed.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::TrustFlag;

#[derive(Debug, Clone, Default, ClapArgs)]
pub struct Run {
    /// Definition (YAML or JSON) or session (.s2s) to open; with --batch, several, or `-` for stdin (default:
    /// home screen)
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Run without the terminal UI
    #[arg(long)]
    pub batch: bool,
    #[command(flatten)]
    pub opening: OpeningOptions,
    /// Use only these participants, in this order (maps in braces: `{name: ana, model: human}`)
    #[arg(long, value_name = "A,B")]
    pub participants: Vec<String>,
    /// Add a file of evidence, with lines if wanted (`src/a.rs:10-80`; `-`: stdin; repeatable)
    #[arg(long, value_name = "PATH[:LINES]")]
    pub evidence: Vec<String>,
    /// Add what changed between two commits as evidence (`main...HEAD`; repeatable)
    #[arg(long, value_name = "RANGE")]
    pub diff: Vec<String>,
    /// Send evidence even if it looks like it holds a key or password
    #[arg(long, value_name = "allow", value_parser = ["allow"])]
    pub secrets: Option<String>,
    #[command(flatten)]
    pub trial: TrialOptions,
    /// Set the seed of seats without one
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub common: RunOptions,
    /// Of `serve`: seats for people behind links.
    #[arg(skip)]
    pub invite: Vec<String>,
}

/// Options that a new session opens with.
#[derive(Debug, Clone, Default, PartialEq, ClapArgs)]
pub struct OpeningOptions {
    /// Override the definition's input (text, or JSON that starts with { or [)
    #[arg(long, value_name = "TEXT")]
    pub input: Option<String>,
    /// Set the default model, or NAME=provider/model for one seat (repeatable)
    #[arg(long, value_name = "MODEL")]
    pub model: Vec<String>,
    /// Save to a new file, or to a directory for several inputs
    #[arg(long, value_name = "PATH")]
    pub save: Option<PathBuf>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, ClapArgs)]
pub struct TrialOptions {
    /// Print prompts and cost estimate; send nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Let placeholders answer for all models, programs and people: a rehearsal that decides nothing
    #[arg(long)]
    pub rehearse: bool,
}

#[derive(Debug, Clone, Default, ClapArgs)]
pub struct RunOptions {
    /// Print events as NDJSON, or only the result, as one line per file
    #[arg(long, value_enum, value_name = "events|result", num_args = 0..=1, require_equals = true,
          default_missing_value = "events", hide_possible_values = true)]
    pub json: Option<Json>,
    /// Read scripted answers by step id (YAML or JSON)
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,
    /// Stop before cost can exceed USD
    #[arg(long, value_name = "USD", value_parser = dollars, allow_negative_numbers = true)]
    pub max_usd: Option<f64>,
    /// Print only errors to stderr
    #[arg(long, short)]
    pub quiet: bool,
    /// Without the terminal UI, also write a report: .md, .html, .json, .csv or .madr.md (repeatable)
    #[arg(long, short, value_name = "OUT")]
    pub out: Vec<PathBuf>,
    /// After a key loss, ask the affected seats again
    #[arg(long)]
    pub ask_again: bool,
    /// Print the whole report on a terminal, too
    #[arg(long)]
    pub full: bool,
    #[command(flatten)]
    pub trust: TrustFlag,
}

#[derive(Debug, Clone, ClapArgs)]
pub struct AskArgs {
    /// Question
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

#[derive(Debug, Clone, ClapArgs)]
pub struct ResumeArgs {
    /// Unfinished sessions: files or ids (default: the newest)
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub common: RunOptions,
}

impl From<ResumeArgs> for Run {
    fn from(args: ResumeArgs) -> Self {
        Self { files: args.files, batch: true, common: args.common, ..Self::default() }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Json {
    /// Every event, one per line
    Events,
    /// The result, one line per file
    Result,
}

/// Reads an amount above 0.
pub(super) fn dollars(text: &str) -> Result<f64, String> {
    let amount = text.parse::<f64>().ok().filter(|amount| amount.is_finite() && *amount > 0.0);
    amount.ok_or_else(|| "expected an amount greater than 0, such as 0.50".to_owned())
}
