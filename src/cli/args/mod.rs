//! Command-line arguments.

mod remote;
mod run;

use std::path::{Path, PathBuf};

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

use crate::tally::{Choose, Fraction};

pub use remote::{InboxArgs, InboxVerb, McpArgs, ServeArgs};
#[cfg(feature = "nats")]
pub use remote::{WorkerArgs, WorkerVerb};
pub use run::{AskArgs, Json, OpeningOptions, ResumeArgs, Run, RunOptions, TrialOptions};

/// Ask several AI participants the same question blind, count the votes, and keep a verifiable record.
#[derive(Debug, Parser)]
#[command(name = "roundtable", version, args_conflicts_with_subcommands = true)]
pub struct Args {
    /// Command, unless definitions run.
    #[command(subcommand)]
    pub verb: Option<Verb>,
    /// Definitions or sessions to run, and options.
    #[command(flatten)]
    pub run: Run,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Ask models a question, blind, and count their votes
    Ask(AskArgs),
    /// Run definitions or sessions without the terminal UI (as --batch)
    Run(Box<Run>),
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
    /// Print a snapshot or an agent's prompt, byte for byte
    Snapshot {
        /// Definition; `roundtable trace` prints what a session sent
        file: PathBuf,
        /// Select a round's or agent's step (default: first round)
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
    /// Choose so many options by approval or score; `half`: all that half of the seats approve
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
    (".junit.xml", Format::Junit),
    (".json", Format::Json),
    (".csv", Format::Csv),
];

impl Format {
    pub fn of_file(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_lowercase();
        ENDINGS.into_iter().find_map(|(ending, format)| name.ends_with(ending).then_some(format))
    }

    pub fn ending(self) -> &'static str {
        ENDINGS.into_iter().find(|(_, format)| *format == self).map_or(".txt", |(ending, _)| ending)
    }
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
