//! Options of `serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::run::{Run, RunOptions};
use crate::config::remote::DoorAddress;

/// A run with remote seats, and where its door is.
#[derive(Debug, Clone, ClapArgs)]
pub struct ServeArgs {
    /// Definition with `remote/link` seats, or an unfinished session (.s2s)
    pub file: PathBuf,
    #[command(flatten)]
    pub door: DoorArgs,
    /// Seat these people behind links, as `{name: NAME, model: remote/link}` in the definition would
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub invite: Vec<String>,
    /// Also write links and agent tokens to a new file (readable only by you)
    #[arg(long, value_name = "FILE")]
    pub links: Option<PathBuf>,
    /// Serve the result for this many seconds after the session ends
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub linger: u64,
    /// Override the definition's input (text, or JSON that starts with { or [)
    #[arg(long, value_name = "TEXT")]
    pub input: Option<String>,
    /// Set the default model, or NAME=provider/model for one seat (repeatable)
    #[arg(long, value_name = "MODEL")]
    pub model: Vec<String>,
    /// Save to a new file
    #[arg(long, value_name = "PATH")]
    pub save: Option<PathBuf>,
    #[command(flatten)]
    pub common: RunOptions,
}

/// Where the door is; without any of it, as the configuration's `remote` says.
#[derive(Debug, Clone, ClapArgs)]
pub struct DoorArgs {
    /// Listen at this address (default: 127.0.0.1:8700); non-loopback addresses require HTTPS
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub bind: Option<SocketAddr>,
    /// Listen at this machine's address in its network, over HTTPS
    #[arg(long, conflicts_with = "bind")]
    pub lan: bool,
    /// Certificate chain for HTTPS (PEM)
    #[arg(long, value_name = "FILE", requires = "key")]
    pub cert: Option<PathBuf>,
    /// Private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
    /// Make a certificate; browsers warn of it once
    #[arg(long, conflicts_with = "cert")]
    pub self_signed: bool,
    /// Use this public HTTPS URL in links (of a proxy or tunnel to this port)
    #[arg(long, value_name = "URL")]
    pub behind: Option<String>,
}

impl From<&DoorArgs> for DoorAddress {
    fn from(args: &DoorArgs) -> Self {
        Self {
            bind: args.bind,
            lan: args.lan,
            self_signed: args.self_signed,
            certificate: args.cert.clone().zip(args.key.clone()),
            behind: args.behind.clone(),
        }
    }
}

impl From<&ServeArgs> for Run {
    fn from(args: &ServeArgs) -> Self {
        Self {
            files: vec![args.file.clone()],
            batch: true,
            input: args.input.clone(),
            model: args.model.clone(),
            save: args.save.clone(),
            invite: args.invite.clone(),
            common: args.common.clone(),
            ..Self::default()
        }
    }
}

/// A link, and who answers.
#[derive(Debug, clap::Args)]
pub struct SeatArgs {
    /// The link that you were sent, in quotes; `-` reads it from standard input, unseen by other users
    #[arg(value_name = "LINK")]
    pub link: String,
    /// Take the answer from a file (YAML or JSON) instead of the terminal
    #[arg(long, value_name = "FILE")]
    pub answer: Option<PathBuf>,
    /// Trust only this certificate (PEM), such as the one `serve` made
    #[arg(long, value_name = "FILE")]
    pub cert: Option<PathBuf>,
}
