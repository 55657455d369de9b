//! The arguments, as clap reads them.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

use crate::tally::{Strength, WeightBasis};

/// Blind rounds among AI participants: one frozen context, sealed answers, ballots that count.
#[derive(Debug, Parser)]
#[command(
    name = "roundtable",
    version,
    args_conflicts_with_subcommands = true,
    after_help = "Exit codes: 0 finished · 1 unexpected failure · 2 usage, configuration, definition or file · \
                  3 finished without a decision · 4 stopped, waiting for a person · 5 participants unreachable, \
                  or a budget or time cap stopped it · 6 verification failed · 129, 130, 143 ended by SIGHUP, \
                  SIGINT, SIGTERM (resumable)"
)]
pub struct Args {
    /// What to do with files that are there already.
    #[command(subcommand)]
    pub verb: Option<Verb>,
    /// What to run.
    #[command(flatten)]
    pub run: Run,
    /// For this run, agree to what the project names: programs, addresses, keys; accept a `.s2s` of another owner
    #[arg(long, global = true)]
    pub trust: bool,
}

/// A headless run.
#[derive(Debug, Clone, Default, ClapArgs)]
#[expect(clippy::struct_excessive_bools, clippy::struct_field_names, reason = "each is a flag of its own")]
pub struct Run {
    /// On a terminal, one definition (YAML or JSON) to open as a draft, or one session (.s2s) to look at or go on with; none: the home screen. With --batch, definitions, unfinished sessions, or `-` for standard input
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Run headless
    #[arg(long)]
    pub batch: bool,
    /// Print every event as one line of JSON
    #[arg(long)]
    pub json: bool,
    /// The session's input, in place of the definition's; text, or JSON that starts with { or [
    #[arg(long, value_name = "TEXT")]
    pub input: Option<String>,
    /// Answers by step id for approvals and seats (YAML or JSON)
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,
    /// The model of seats that name none, or of one seat: NAME=provider/model
    #[arg(long, value_name = "MODEL")]
    pub model: Vec<String>,
    /// Seat these, in this order
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub participants: Vec<String>,
    /// Where to save: a new file, or a folder when several files are run
    #[arg(long, value_name = "PATH")]
    pub save: Option<PathBuf>,
    /// Show what would be sent, and send nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Stop before the session could cost more
    #[arg(long, value_name = "USD", value_parser = dollars, allow_negative_numbers = true)]
    pub max_usd: Option<f64>,
    /// A seed for seats that have none
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Say nothing on standard error but errors
    #[arg(long, short)]
    pub quiet: bool,
    /// Write a receipt for each answer to this new file when it is sealed (`-`: standard error)
    #[arg(long, value_name = "FILE")]
    pub receipts: Option<PathBuf>,
    /// When the key of an open round is lost: ask the seats again whose answers are lost
    #[arg(long)]
    pub ask_again: bool,
    /// As the flag of every verb says.
    #[arg(skip)]
    pub trust: bool,
}

fn dollars(text: &str) -> Result<f64, String> {
    let amount = text.parse::<f64>().ok().filter(|amount| amount.is_finite() && *amount > 0.0);
    amount.ok_or_else(|| "give an amount above 0, such as 0.50".to_owned())
}

/// Everything but running definitions.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Go on with an unfinished session
    Resume(Run),
    /// Show a session's events again; needs nothing but the file
    Replay {
        /// The session
        file: PathBuf,
        /// As plain text (the default in a pipe; on a terminal it is a film)
        #[arg(long, conflicts_with = "json")]
        text: bool,
        /// As one line of JSON an event
        #[arg(long)]
        json: bool,
        /// Only up to the event with this number
        #[arg(long, value_name = "SEQ")]
        at: Option<u64>,
    },
    /// Check a session file: chain, prompts, seals, tally
    Verify {
        /// The session
        file: PathBuf,
        /// A hash noted earlier that must stand in the file
        #[arg(long, value_name = "HASH")]
        expect: Option<String>,
        /// A receipt that a seat was given when its answer was sealed, or a file of them
        #[arg(long = "receipt", value_name = "RECEIPT|FILE")]
        receipts: Vec<String>,
        /// Say what is proven and what is not
        #[arg(long)]
        explain: bool,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show exactly what was sent to each participant and what came back
    Trace {
        /// The session
        file: PathBuf,
        /// Only this seat
        #[arg(long)]
        participant: Option<String>,
        /// Only this round
        #[arg(long)]
        round: Option<String>,
        /// As one line of JSON a hand-over
        #[arg(long)]
        json: bool,
    },
    /// Write a report of a session
    Report {
        /// The session
        file: PathBuf,
        /// The format
        #[arg(long, value_enum, default_value_t = Format::Md)]
        format: Format,
        /// Where to write it; standard output when absent
        #[arg(long, short, value_name = "OUT")]
        out: Option<PathBuf>,
    },
    /// Count ballots by a rule: those of a file, or those of a session's round by another rule
    Tally {
        /// A session; its recorded decision stays what it is
        file: Option<PathBuf>,
        /// What to count, and how
        #[command(flatten)]
        args: TallyArgs,
    },
    /// Say everything that is wrong or odd in definitions; exit 2 if one would not load
    Check {
        /// The definitions, or `-` for standard input
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        /// As one line of JSON a finding
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of definitions, for editors
    Schema,
    /// Print the exact bytes of a snapshot, or of an agent's prompt, without sending anything
    Snapshot {
        /// A definition, or a session
        file: PathBuf,
        /// The round's or the agent's step; the first round when absent
        #[arg(long)]
        step: Option<String>,
        /// With the address lines of this participant
        #[arg(long = "for", value_name = "PARTICIPANT")]
        seat: Option<String>,
        /// The session's input, in place of the definition's
        #[arg(long, value_name = "TEXT")]
        input: Option<String>,
    },
    /// List the personas, or show one
    Personas {
        /// The one to show
        name: Option<String>,
    },
    /// List saved sessions, or show one
    Sessions {
        /// What to do
        #[command(subcommand)]
        verb: Option<SessionsVerb>,
    },
    /// Show every setting and where it comes from
    Config {
        /// What to do
        #[command(subcommand)]
        verb: Option<ConfigVerb>,
    },
    /// Check each provider: its key, its address, its models, and what to do about what fails
    Doctor {
        /// Only these, `provider` or `provider/model`; exit 5 if one of them does not answer
        #[arg(value_name = "PROVIDER")]
        providers: Vec<String>,
        /// Ask a model of each for one word, and time it
        #[arg(long)]
        probe: bool,
        /// As one line of JSON a provider
        #[arg(long)]
        json: bool,
    },
    /// Make a `.s2s` folder for this project
    Init,
    /// Print the manual page
    Man,
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// What to count, and how.
#[derive(Debug, Clone, ClapArgs)]
pub struct TallyArgs {
    /// A ballot file: .json, .yaml, .csv, or PrefLib's .soc .soi .toc .toi; `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub ballots: Option<PathBuf>,
    /// The round of the session; needed when several have ballots
    #[arg(long, value_name = "ID")]
    pub round: Option<String>,
    /// By which rule
    #[command(flatten)]
    pub rules: Rules,
    /// As one line of JSON a rule
    #[arg(long)]
    pub json: bool,
}

/// By which rule to count.
#[derive(Debug, Clone, ClapArgs)]
pub struct Rules {
    /// plurality, majority, supermajority, unanimous, weighted-majority, consent, approval, score-mean, score-median, borda, irv, condorcet, copeland, minimax, ranked-pairs, schulze, majority-judgment, median
    #[arg(long, value_name = "RULE")]
    pub rule: Option<String>,
    /// Every rule that can count these ballots, with a mark where the outcome differs
    #[arg(long)]
    pub all: bool,
    /// The share a supermajority reaches or a weighted majority exceeds, such as 2/3 or 0.6667
    #[arg(long, value_name = "SHARE")]
    pub threshold: Option<String>,
    /// How pairwise victories are measured
    #[arg(long, value_enum, default_value_t = StrengthArg::WinningVotes)]
    pub strength: StrengthArg,
    /// What a weighted majority adds up
    #[arg(long, value_enum, default_value_t = ByArg::Weight)]
    pub by: ByArg,
    /// Break a tie by this seed
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// How pairwise victories are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StrengthArg {
    /// By the votes of the winning side
    WinningVotes,
    /// By how many more votes the winning side has
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

/// What a weighted majority adds up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ByArg {
    /// Weights
    Weight,
    /// The confidence each ballot states, times its weight
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

/// What to do with saved sessions.
#[derive(Debug, Clone, Subcommand)]
pub enum SessionsVerb {
    /// List them, newest first
    List,
    /// Show one, by id or file
    Show {
        /// The session's id, or its file
        id: String,
    },
}

/// What to do with the configuration.
#[derive(Debug, Clone, Copy, Subcommand)]
pub enum ConfigVerb {
    /// Show every setting and where it comes from
    Show,
}

/// A report's format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Markdown
    Md,
    /// JSON
    Json,
    /// A web page
    Html,
    /// An architecture decision record
    Madr,
    /// One line a seat, for a spreadsheet
    Csv,
}

impl Format {
    /// What a file of it ends in.
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
