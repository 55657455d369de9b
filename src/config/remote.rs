//! Settings `remote` and `worker`, for seats on other machines.
//!
//! They contain the address for remote seats, the known workers, and defaults of this machine's own worker.

use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Args;
use indexmap::IndexMap;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::remote::ShownResults;
use crate::round::seal::sign::named_key;

/// NATS server, `nats://HOST:PORT` or `tls://HOST:PORT`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a map of keys")]
pub struct NatsConfig {
    pub url: Option<String>,
    pub creds_file: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
pub struct Positive(pub f64);

impl TryFrom<f64> for Positive {
    type Error = &'static str;

    fn try_from(number: f64) -> Result<Self, Self::Error> {
        if number > 0.0 { Ok(Self(number)) } else { Err("a number greater than 0 is wanted") }
    }
}

/// Public key in hex.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct PublicKey(pub String);

impl TryFrom<String> for PublicKey {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let hint = "no public key: `roundtable worker keygen` and `table-key` print one, `ed25519:…`";
        named_key(&text).map(Self).ok_or(hint)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownWorker {
    pub key: PublicKey,
}

/// Defaults for the options of `roundtable worker`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "a map of keys")]
pub struct WorkerConfig {
    pub nats: NatsConfig,
    /// Keys of the sessions that may ask.
    pub table_keys: Vec<PublicKey>,
    /// Models that may be asked, the default first.
    pub models: Vec<String>,
    /// Limit of the total cost of all answers, in US dollars.
    pub max_usd: Option<Positive>,
    pub in_flight: Option<NonZeroU64>,
}

// Options of `serve`, or settings of the same names; `nats` and `workers` are settings only. A doc comment here
// would appear in the help of `serve`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Args)]
#[serde(default, deny_unknown_fields, expecting = "a map of keys")]
pub struct RemoteConfig {
    /// Listen at this address (default: 127.0.0.1:8700); non-loopback addresses require HTTPS
    #[arg(long, value_name = "ADDRESS:PORT")]
    #[serde(deserialize_with = "address_with_port")]
    pub bind: Option<SocketAddr>,
    /// Listen at this machine's address in its network, over HTTPS
    #[arg(long, conflicts_with = "bind")]
    pub lan: bool,
    /// Make a certificate; browsers warn of it once
    #[arg(long)]
    pub self_signed: bool,
    /// Use this public HTTPS URL in links (of a proxy or tunnel to this port)
    #[arg(long, value_name = "URL")]
    pub behind: Option<String>,
    /// Show voters this much of the result (default: all)
    #[arg(long, value_enum, value_name = "PART")]
    pub results: Option<ShownResults>,
    #[arg(skip)]
    pub nats: NatsConfig,
    #[arg(skip)]
    pub workers: IndexMap<String, KnownWorker>,
}

fn address_with_port<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SocketAddr>, D::Error> {
    let wrong = |_| D::Error::custom("an address with a port is wanted, such as `127.0.0.1:8700`");
    String::deserialize(from)?.parse().map(Some).map_err(wrong)
}
