//! Command-line arguments.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

use crate::tally::{Strength, WeightBasis};

/// Ask several AI participants the same question blind, count the votes, and keep a verifiable record.
#[derive(Debug, Parser)]
#[command(
    name = "roundtable",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Exit codes: 0 finished · 1 unexpected failure · 2 error in usage, configuration, definition or file · \
                  3 finished without a decision · 4 waiting for a person · 5 participants unreachable, or cost or \
                  time limit reached · 6 verification failed · 129, 130, 143 ended by SIGHUP, SIGINT, SIGTERM \
                  (resumable)"
)]
pub struct Args {
    /// Command, unless definitions run.
    #[command(subcommand)]
    pub verb: Option<Verb>,
    /// Definitions or sessions to run, and options.
    #[command(flatten)]
    pub run: Run,
    /// Allow the project's programs, addresses, keys and a `.s2s` of another owner for this run
    #[arg(long, global = true)]
    pub trust: bool,
}

/// Options of a run.
#[derive(Debug, Clone, Default, ClapArgs)]
#[expect(clippy::struct_excessive_bools, clippy::struct_field_names, reason = "each is a flag of its own")]
pub struct Run {
    /// Definition (YAML or JSON) or session (.s2s) to open; with --batch, several, or `-` for stdin (default: home screen)
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Run without the terminal UI
    #[arg(long)]
    pub batch: bool,
    /// Print events as NDJSON
    #[arg(long)]
    pub json: bool,
    /// Override the definition's input (text, or JSON that starts with { or [)
    #[arg(long, value_name = "TEXT")]
    pub input: Option<String>,
    /// Read scripted answers by step id (YAML or JSON)
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,
    /// Set the default model, or NAME=provider/model for one seat (repeatable)
    #[arg(long, value_name = "MODEL")]
    pub model: Vec<String>,
    /// Use only these participants, in this order
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub participants: Vec<String>,
    /// Save to a new file, or to a directory for several inputs
    #[arg(long, value_name = "PATH")]
    pub save: Option<PathBuf>,
    /// Add a file of evidence, with lines if wanted (`src/a.rs:10-80`; `-`: stdin; repeatable)
    #[arg(long, value_name = "PATH[:LINES]")]
    pub evidence: Vec<String>,
    /// Add what changed between two commits as evidence (`main...HEAD`; repeatable)
    #[arg(long, value_name = "RANGE")]
    pub diff: Vec<String>,
    /// Send evidence even if it looks like it holds a key or password
    #[arg(long, value_name = "allow", value_parser = ["allow"])]
    pub secrets: Option<String>,
    /// Print prompts and cost estimate; send nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Stop before cost can exceed USD
    #[arg(long, value_name = "USD", value_parser = dollars, allow_negative_numbers = true)]
    pub max_usd: Option<f64>,
    /// Set the seed of seats without one
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Print only errors to stderr
    #[arg(long, short)]
    pub quiet: bool,
    /// Write one receipt per sealed answer to a new file (`-`: stderr)
    #[arg(long, value_name = "FILE")]
    pub receipts: Option<PathBuf>,
    /// After a key loss, ask the affected seats again
    #[arg(long)]
    pub ask_again: bool,
    /// Copy of the global flag.
    #[arg(skip)]
    pub trust: bool,
}

fn dollars(text: &str) -> Result<f64, String> {
    let amount = text.parse::<f64>().ok().filter(|amount| amount.is_finite() && *amount > 0.0);
    amount.ok_or_else(|| "expected an amount greater than 0, such as 0.50".to_owned())
}

/// Commands other than running definitions.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Resume an unfinished session
    #[command(mut_arg("files", |files| files.help("Unfinished session (.s2s)")))]
    Resume(Run),
    /// Replay a session
    Replay {
        /// Session (.s2s)
        file: PathBuf,
        /// Print plain text (default when not a terminal)
        #[arg(long, conflicts_with = "json")]
        text: bool,
        /// Print one JSON object per event
        #[arg(long)]
        json: bool,
        /// Stop at this event
        #[arg(long, value_name = "SEQ")]
        at: Option<u64>,
    },
    /// Verify a session file
    Verify {
        /// Session (.s2s)
        file: PathBuf,
        /// Require this hash in the file
        #[arg(long, value_name = "HASH")]
        expect: Option<String>,
        /// Check a receipt or a file of receipts
        #[arg(long = "receipt", value_name = "RECEIPT|FILE")]
        receipts: Vec<String>,
        /// Also print what a file cannot prove
        #[arg(long)]
        explain: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the exact prompts and replies of each participant
    Trace {
        /// Session (.s2s)
        file: PathBuf,
        /// Select one participant
        #[arg(long)]
        participant: Option<String>,
        /// Select one round
        #[arg(long)]
        round: Option<String>,
        /// Print one JSON object per work item
        #[arg(long)]
        json: bool,
    },
    /// Write a report of a session
    Report {
        /// Session (.s2s)
        file: PathBuf,
        /// Select the format
        #[arg(long, value_enum, default_value_t = Format::Md)]
        format: Format,
        /// Write to this file (default: stdout)
        #[arg(long, short, value_name = "OUT")]
        out: Option<PathBuf>,
    },
    /// Count ballots from a file, or recount a round under another rule
    Tally {
        /// Session (.s2s); its recorded decision does not change
        file: Option<PathBuf>,
        /// Ballots and rules
        #[command(flatten)]
        args: TallyArgs,
    },
    /// Check definitions for errors and warnings (exit 2 on errors)
    Check {
        /// Definitions, or `-` for stdin
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        /// Print one JSON object per finding
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of definitions, for editors
    Schema,
    /// Print a snapshot or an agent's prompt, byte for byte
    Snapshot {
        /// Definition or session
        file: PathBuf,
        /// Select a round's or agent's step (default: first round)
        #[arg(long)]
        step: Option<String>,
        /// Include the lines addressed to this participant
        #[arg(long = "for", value_name = "PARTICIPANT")]
        seat: Option<String>,
        /// Override the definition's input
        #[arg(long, value_name = "TEXT")]
        input: Option<String>,
    },
    /// List personas, or print one
    Personas {
        /// Persona to print
        name: Option<String>,
    },
    /// List saved sessions, or print one
    Sessions {
        /// Command
        #[command(subcommand)]
        verb: Option<SessionsVerb>,
    },
    /// Print effective settings and their sources
    Config {
        /// Command
        #[command(subcommand)]
        verb: Option<ConfigVerb>,
    },
    /// Check provider keys, reachability and models
    Doctor {
        /// `provider` or `provider/model` (default: all); exit 5 if one is unreachable
        #[arg(value_name = "PROVIDER")]
        providers: Vec<String>,
        /// Measure what a program sends, with a recorder on this machine in place of its service
        #[arg(long, conflicts_with = "probe")]
        wiretap: bool,
        /// Send a one-word request and measure latency
        #[arg(long)]
        probe: bool,
        /// Print one JSON object per provider
        #[arg(long)]
        json: bool,
    },
    /// Create a `.s2s` folder for this project
    Init,
    /// Print the manual page
    Man,
    /// Print shell completions
    Completions {
        /// Shell
        shell: clap_complete::Shell,
    },
}

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

/// Commands for saved sessions.
#[derive(Debug, Clone, Subcommand)]
pub enum SessionsVerb {
    /// List sessions, newest first
    List,
    /// Print one session, by id or file
    Show {
        /// Session id or file
        id: String,
    },
}

/// Commands for the configuration.
#[derive(Debug, Clone, Copy, Subcommand)]
pub enum ConfigVerb {
    /// Print effective settings and their sources
    Show,
}

/// Format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Markdown
    Md,
    /// JSON
    Json,
    /// Web page
    Html,
    /// Architecture decision record
    Madr,
    /// CSV, one row per seat
    Csv,
}

impl Format {
    /// Returns the file extension.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Md => "md",
            Self::Json => "json",
            Self::Html => "html",
            Self::Madr => "decision.md",
            Self::Csv => "csv",
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory as _};

    use super::Args;

    fn helps(command: &Command) -> Vec<String> {
        let own = command.get_arguments().filter_map(|arg| arg.get_help()).chain(command.get_about());
        let own = own.map(ToString::to_string);
        own.chain(command.get_subcommands().flat_map(helps)).collect()
    }

    #[test]
    fn every_help_text_is_one_short_line() {
        let helps = helps(&Args::command());
        assert!(helps.len() > 50, "{helps:?}");
        for help in helps {
            let is_list = help.starts_with("Use this rule: ");
            assert!(is_list || help.chars().count() <= 120, "{help}");
            assert!(
                !help.ends_with('.') && help.starts_with(|c: char| c.is_uppercase() || c == '`'),
                "{help}"
            );
        }
    }

    #[test]
    fn resume_takes_sessions_only() {
        let command = Args::command();
        let resume = command.find_subcommand("resume").expect("a command");
        let files = resume.get_arguments().find(|arg| arg.get_id() == "files").expect("an argument");
        assert_eq!(files.get_help().expect("help").to_string(), "Unfinished session (.s2s)");
    }
}
