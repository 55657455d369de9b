//! Options of `worker`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

/// Where a worker finds its questions, and how it answers them.
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
    #[arg(long, value_name = "USD", value_parser = super::run::dollars)]
    pub max_usd: Option<f64>,
    /// Ask this model (repeatable; the first where a seat names none)
    #[arg(long = "model", value_name = "MODEL")]
    pub models: Vec<String>,
    /// End when there is nothing to answer
    #[arg(long)]
    pub until_idle: bool,
}

/// What belongs to the setup of a worker.
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
