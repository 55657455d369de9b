//! Command-line arguments.

use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

use crate::config::remote::RemoteConfig;
use crate::tally::{Choose, Fraction};
use crate::workflow::parse_duration;

/// Ask several AI participants the same question blind, count the votes, and keep a verifiable record.
#[derive(Debug, Parser)]
#[command(name = "roundtable", version, args_conflicts_with_subcommands = true)]
pub struct Args {
    /// Command, unless definitions run.
    #[command(subcommand)]
    pub verb: Option<Verb>,
    /// Definitions or sessions to run, and options.
    #[command(flatten)]
    pub run: RunArgs,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Ask models a question, blind, and count their votes
    Ask(AskArgs),
    /// Run definitions or sessions without the terminal UI (as --batch)
    Run(Box<RunArgs>),
    /// Resume an unfinished session
    Resume(ResumeArgs),
    /// Run without the terminal UI, let `remote/link` seats vote in a browser, and `remote/inbox` agents poll
    Serve(ServeArgs),
    /// Do an agent's work in a session that is served
    Inbox {
        #[command(subcommand)]
        verb: InboxVerb,
    },
    /// Answer questions of remote sessions with this machine's models
    #[cfg(feature = "nats")]
    Worker(WorkerArgs),
    /// Serve a coding assistant over MCP: it convenes panels, and sees no answer before the close
    Mcp(McpArgs),
    /// Replay a session
    Replay {
        /// Session: a file or an id (default: the newest)
        file: Option<PathBuf>,
        /// Print plain text (default when not a terminal)
        #[arg(long, conflicts_with = "json")]
        text: bool,
        /// Print one JSON object per event
        #[arg(long)]
        json: bool,
        /// Stop at this event
        #[arg(long, value_name = "SEQ")]
        at: Option<u64>,
        #[command(flatten)]
        trust: TrustFlag,
    },
    /// Verify session files
    Verify(VerifyArgs),
    /// Print the exact prompts and replies of each participant
    Trace {
        /// Session: a file or an id (default: the newest)
        file: Option<PathBuf>,
        /// Print one JSON object per work item
        #[arg(long)]
        json: bool,
    },
    /// Write a report of a session
    Report(ReportArgs),
    /// Count ballots from a file, or recount a round under another rule
    Tally {
        /// Session: a file or an id (default: the newest); its recorded decision does not change
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
        /// Print each definition with the steps of its discussions in their place
        #[arg(long)]
        expand: bool,
        /// Ask local servers whether the first prompts fit into their windows
        #[arg(long, conflicts_with = "expand")]
        probe: bool,
    },
    /// Print the JSON Schema of definitions, for editors
    Schema,
    /// Print a round's snapshot, byte for byte
    Snapshot {
        /// Definition; `roundtable trace` prints what a session sent
        file: PathBuf,
        /// Select a round (default: the first)
        #[arg(long)]
        step: Option<String>,
        /// Include the lines addressed to this participant
        #[arg(long = "for", value_name = "PARTICIPANT")]
        seat: Option<String>,
    },
    /// List the strategies of discussions, or print one
    Strategies {
        /// Strategy to print
        name: Option<String>,
    },
    /// List personas, or print one
    Personas {
        /// Persona to print
        name: Option<String>,
    },
    /// List saved sessions, or the decisions of all of them, newest first
    Sessions {
        /// List decisions: date, question, outcome, strength, status, who adopted it, what it replaces
        #[arg(long)]
        decisions: bool,
        /// Print decisions as JSON, a line each
        #[arg(long, requires = "decisions", conflicts_with = "markdown")]
        json: bool,
        /// Print decisions as a Markdown table
        #[arg(long, requires = "decisions")]
        markdown: bool,
    },
    /// Check provider keys, servers and models
    Doctor {
        /// `provider` or `provider/model` (default: all); exit 5 if one that you name is unreachable
        #[arg(value_name = "PROVIDER")]
        providers: Vec<String>,
        /// Measure what a program sends, with a recorder on this machine in place of its service
        #[arg(long, conflicts_with = "probe")]
        wiretap: bool,
        /// Send a one-word request and measure latency
        #[arg(long)]
        probe: bool,
        #[command(flatten)]
        trust: TrustFlag,
    },
    /// Create a `.s2s` folder for this project, or print a definition made from a block of context
    Init {
        /// Print the definition of a `participant_context` block (YAML, or Markdown that holds one)
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
        /// Let coding assistants call `roundtable mcp`: write the entry of Claude Code to `.mcp.json`, and print
        /// it for others
        #[arg(long, conflicts_with = "from")]
        agent: bool,
    },
    /// Write the manual pages of all commands
    #[command(hide = true)]
    Man {
        /// Folder of the pages
        #[arg(long, value_name = "FOLDER")]
        out: PathBuf,
    },
    /// Print shell completions
    #[command(hide = true)]
    Completions {
        /// Shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Clone, Copy, Default, ClapArgs)]
pub struct TrustFlag {
    /// Allow the project's programs, addresses, keys and a `.s2s` of another owner for this run
    #[arg(long)]
    pub trust: bool,
}

#[derive(Debug, Clone, Default, ClapArgs)]
pub struct RunArgs {
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
    /// Print prompts and cost estimate; send nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Let placeholders answer for all models, programs and people: a rehearsal that decides nothing
    #[arg(long)]
    pub rehearse: bool,
    /// Set the seed of seats without one
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub common: RunOptions,
    /// Seats for people behind links; set by `serve`.
    #[arg(skip)]
    pub invite: Vec<String>,
}

/// Options for opening a new session.
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
    /// Also write a report, unless the terminal UI runs: .md, .html, .json, .csv, .sarif, .xml or .madr.md
    /// (repeatable)
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

impl From<ResumeArgs> for RunArgs {
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

#[derive(Debug, Clone, ClapArgs)]
pub struct ServeArgs {
    /// Definition with `remote/link` seats, or an unfinished session (.s2s)
    pub file: PathBuf,
    #[command(flatten)]
    pub door: RemoteConfig,
    /// Seat these people behind links, as `{name: NAME, model: remote/link}` in the definition would
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub invite: Vec<String>,
    /// Also write links and agent tokens to a new file (readable only by you)
    #[arg(long, value_name = "FILE")]
    pub links: Option<PathBuf>,
    /// Serve the result for at most this long after the last count, until everybody has seen it
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = seconds)]
    pub linger: u64,
    #[command(flatten)]
    pub opening: OpeningOptions,
    #[command(flatten)]
    pub common: RunOptions,
}

impl From<&ServeArgs> for RunArgs {
    fn from(args: &ServeArgs) -> Self {
        Self {
            files: vec![args.file.clone()],
            batch: true,
            opening: args.opening.clone(),
            invite: args.invite.clone(),
            common: args.common.clone(),
            ..Self::default()
        }
    }
}

#[derive(Debug, Clone, Subcommand)]
pub enum InboxVerb {
    /// Run a command for each work item: the prompt on its stdin, the answer from its stdout
    Run(InboxArgs),
}

#[derive(Debug, Clone, ClapArgs)]
pub struct InboxArgs {
    /// Trust only this certificate (PEM), such as the one `serve` made
    #[arg(long, value_name = "FILE")]
    pub cert: Option<PathBuf>,
    /// End when there was no work for this long (default: when the session ends)
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub wait: Option<u64>,
    /// Command and its arguments
    #[arg(value_name = "COMMAND", required = true, last = true)]
    pub command: Vec<String>,
}

#[cfg(feature = "nats")]
#[derive(Debug, Clone, ClapArgs)]
#[command(args_conflicts_with_subcommands = true)]
pub struct WorkerArgs {
    #[command(subcommand)]
    pub verb: Option<WorkerVerb>,
    /// Find questions on this NATS server (`nats://…` or `tls://…`)
    #[arg(long, value_name = "URL")]
    pub nats: Option<String>,
    /// Set the worker's name (`remote/nats/NAME`)
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    #[command(flatten)]
    pub trust: TrustFlag,
}

#[cfg(feature = "nats")]
#[derive(Debug, Clone, Subcommand)]
pub enum WorkerVerb {
    /// Print this machine's public key (created on first use)
    Keygen,
    /// Print the public key for workers' `table_keys` (created on first use)
    TableKey,
}

#[derive(Debug, Clone, Default, ClapArgs)]
pub struct McpArgs {
    /// Ask these participants unless the assistant names others (default: five personas)
    #[arg(long, value_name = "A,B")]
    pub participants: Vec<String>,
    /// Set the default model, or NAME=provider/model for one seat (repeatable)
    #[arg(long, value_name = "MODEL")]
    pub model: Vec<String>,
    /// Stop each session before its cost can exceed USD, whatever the assistant allows
    #[arg(long, value_name = "USD", value_parser = dollars, allow_negative_numbers = true)]
    pub max_usd: Option<f64>,
    #[command(flatten)]
    pub trust: TrustFlag,
}

#[derive(Debug, Clone, ClapArgs)]
pub struct VerifyArgs {
    /// Sessions: files or ids (default: the newest); one alone with --expect and --receipt
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Require this hash in the file, or one that begins with these 16 digits or more
    #[arg(long, value_name = "HASH")]
    pub expect: Option<String>,
    /// Check the receipt of a remote seat
    #[arg(long, value_name = "RECEIPT|FILE")]
    pub receipt: Option<String>,
    /// Also print what a file cannot prove
    #[arg(long)]
    pub explain: bool,
}

#[derive(Debug, Clone, ClapArgs)]
pub struct TallyArgs {
    /// Read ballots from a file (.json, .yaml, .csv; `-` for stdin)
    #[arg(long, value_name = "FILE", conflicts_with = "round")]
    pub ballots: Option<PathBuf>,
    /// Select the round (required if several have ballots)
    #[arg(long, value_name = "ID")]
    pub round: Option<String>,
    /// Use this rule: plurality, majority, supermajority, unanimous, weighted-majority, consent, approval,
    /// score, borda, irv, schulze, median
    #[arg(long, value_name = "RULE", required_unless_present_any = ["all", "supported"])]
    pub rule: Option<String>,
    /// Use every rule that fits the round, and mark differences
    #[arg(long, conflicts_with = "ballots")]
    pub all: bool,
    /// Threshold for supermajority (≥) or weighted-majority (>), e.g. 2/3
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub threshold: Option<Fraction>,
    /// Choose this many options by approval or score; `half`: all that half of the seats approve
    #[arg(long, value_name = "N", conflicts_with = "all", value_parser = several)]
    pub choose: Option<Choose>,
    /// Count only ballots whose answer cites something in the snapshot
    #[arg(long, conflicts_with = "ballots")]
    pub supported: bool,
    /// Print one JSON object per rule
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, ClapArgs)]
pub struct ReportArgs {
    /// Session: a file or an id (default: the newest)
    pub file: Option<PathBuf>,
    /// Select the format (default: the ending of --out, else md)
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    /// Write to this file (repeatable; default: stdout); with --number, a folder
    #[arg(long, short, value_name = "OUT")]
    pub out: Vec<PathBuf>,
    /// Report the decision of this round alone
    #[arg(long, value_name = "ID")]
    pub round: Option<String>,
    /// Name the decision record `0014-title.md`, in the folder of --out
    #[arg(long, value_name = "N", requires = "out", value_parser = clap::value_parser!(u32).range(1..=9999))]
    pub number: Option<u32>,
    /// Print the whole report on a terminal, too
    #[arg(long)]
    pub full: bool,
    /// Write a decision record even if nothing was decided
    #[arg(long)]
    pub even_undecided: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Markdown
    #[value(alias = "markdown")]
    Md,
    /// JSON
    Json,
    /// Web page
    Html,
    /// Architecture decision record
    Madr,
    /// CSV, one row per seat
    Csv,
    /// JUnit XML, one case per round
    Junit,
    /// Annotations of a GitHub workflow
    Github,
    /// SARIF 2.1.0, the findings of a session
    Sarif,
}

const ENDINGS: [(&str, Format); 9] = [
    (".madr.md", Format::Madr),
    (".md", Format::Md),
    (".html", Format::Html),
    (".htm", Format::Html),
    (".sarif", Format::Sarif),
    (".sarif.json", Format::Sarif),
    (".xml", Format::Junit),
    (".json", Format::Json),
    (".csv", Format::Csv),
];

impl Format {
    pub fn of_file(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_lowercase();
        ENDINGS.into_iter().find_map(|(ending, format)| name.ends_with(ending).then_some(format))
    }
}

/// Reads an amount greater than 0.
fn dollars(text: &str) -> Result<f64, String> {
    let amount = text.parse::<f64>().ok().filter(|amount| amount.is_finite() && *amount > 0.0);
    amount.ok_or_else(|| "expected an amount greater than 0, such as 0.50".to_owned())
}

/// Reads a time such as `90s` or `5m` as seconds; a number alone is seconds.
fn seconds(text: &str) -> Result<u64, String> {
    let of_time = || Some(parse_duration(text)? / 1000);
    text.parse().ok().or_else(of_time).ok_or_else(|| "expected a time such as `90s` or `5m`".to_owned())
}

fn share(text: &str) -> Result<Fraction, &'static str> {
    Fraction::parse(text).ok_or("expected a share above 0 and up to 1, such as 2/3 or 0.6667")
}

fn several(text: &str) -> Result<Choose, &'static str> {
    Choose::parse(text).ok_or("expected a number of options, or `half`")
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
}
