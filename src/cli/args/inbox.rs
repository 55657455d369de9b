//! Options of `inbox`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

/// What an agent does with its work, and how the session is reached.
#[derive(Debug, Clone, ClapArgs)]
pub struct InboxArgs {
    #[command(subcommand)]
    pub verb: InboxVerb,
    /// Read `ROUNDTABLE_URL` and `ROUNDTABLE_TOKEN` from this file (mode 600) instead of the environment
    #[arg(long, value_name = "FILE", global = true)]
    pub access: Option<PathBuf>,
    /// Trust only this certificate (PEM), such as the one `serve` made
    #[arg(long, value_name = "FILE", global = true)]
    pub cert: Option<PathBuf>,
    /// Set the lease holder's name (default: the agent's name; a new one for each `run`)
    #[arg(long, value_name = "NAME", global = true)]
    pub holder: Option<String>,
}

/// What is done with work items.
#[derive(Debug, Clone, Subcommand)]
pub enum InboxVerb {
    /// List open work, oldest first (exit 4 if there is none)
    Poll {
        /// Wait for work this many seconds
        #[arg(long, value_name = "SECONDS", default_value_t = 0)]
        wait: u64,
        /// Print one JSON object per work item
        #[arg(long)]
        json: bool,
    },
    /// Claim a work item and print its prompt (exit 4 if there is none)
    Take {
        /// Work item (default: the oldest)
        item: Option<String>,
        /// Wait for work this many seconds
        #[arg(long, value_name = "SECONDS", default_value_t = 0)]
        wait: u64,
        /// Print the whole work item as JSON
        #[arg(long)]
        json: bool,
    },
    /// Keep a claim for another 300 seconds
    Renew {
        /// Work item
        item: String,
    },
    /// Complete a work item
    Return {
        /// Work item
        item: String,
        /// File with the answer; `-` for stdin
        #[arg(long, value_name = "FILE", default_value = "-")]
        data: PathBuf,
    },
    /// Answer a round, and print the receipt of the sealed ballot
    Answer {
        /// Work item of the round
        item: String,
        /// File with the answer; `-` for stdin
        #[arg(long, value_name = "FILE", default_value = "-")]
        data: PathBuf,
    },
    /// Fail a work item (counts as an attempt)
    Fail {
        /// Work item
        item: String,
        /// File with the reason; `-` for stdin
        #[arg(long, value_name = "FILE", default_value = "-")]
        data: PathBuf,
    },
    /// Run a command for each work item: the prompt on its stdin, the answer from its stdout
    Run {
        /// End when there was no work for this many seconds (default: when the session ends)
        #[arg(long, value_name = "SECONDS")]
        wait: Option<u64>,
        /// Command and its arguments
        #[arg(value_name = "COMMAND", required = true, last = true)]
        command: Vec<String>,
    },
}
