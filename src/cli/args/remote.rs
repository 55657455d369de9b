//! Options of `serve`, `inbox`, `worker` and `mcp`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use super::TrustFlag;
use super::run::{OpeningOptions, Run, RunOptions, dollars};
use crate::config::remote::RemoteConfig;
use crate::workflow::parse_duration;

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
    /// Serve the result for this long after the session ends
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = seconds)]
    pub linger: u64,
    #[command(flatten)]
    pub opening: OpeningOptions,
    #[command(flatten)]
    pub common: RunOptions,
}

/// Seconds of a time such as `90s` or `5m`; a number alone is seconds.
fn seconds(text: &str) -> Result<u64, String> {
    let of_time = || Some(parse_duration(text)? / 1000);
    text.parse().ok().or_else(of_time).ok_or_else(|| "expected a time such as `90s` or `5m`".to_owned())
}

impl From<&ServeArgs> for Run {
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
    /// Read `ROUNDTABLE_URL` and `ROUNDTABLE_TOKEN` from this file (mode 600) instead of the environment
    #[arg(long, value_name = "FILE")]
    pub access: Option<PathBuf>,
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
    /// Read the server's credentials from this file (mode 600)
    #[arg(long, value_name = "FILE")]
    pub creds: Option<PathBuf>,
    /// Answer this many questions at once (default: 16)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub in_flight: Option<u64>,
    /// Stop before the total cost can exceed USD
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub max_usd: Option<f64>,
    /// Ask this model (repeatable; the first where a seat names none)
    #[arg(long = "model", value_name = "MODEL")]
    pub models: Vec<String>,
    /// End when there is nothing to answer
    #[arg(long)]
    pub until_idle: bool,
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
    /// Print the permissions that a worker needs on the NATS server, and no others
    Permissions {
        /// Worker
        name: String,
    },
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
