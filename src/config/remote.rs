//! `remote` and `worker`: where remote seats reach a session, the workers that it knows, and what this machine
//! answers for seats of sessions elsewhere.

use std::net::SocketAddr;
use std::num::NonZeroU64;
use std::path::PathBuf;

use indexmap::IndexMap;
use serde::Deserialize;

use crate::round::seal::sign::named_key;

/// The address at which `serve` and the screen listen for remote seats, and its encryption.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DoorAddress {
    /// The address to listen at, in place of 127.0.0.1:8700.
    pub bind: Option<SocketAddr>,
    /// Listens at this machine's address in its network.
    pub lan: bool,
    pub self_signed: bool,
    /// The files of a certificate and of its private key.
    pub certificate: Option<(PathBuf, PathBuf)>,
    /// The https address whose proxy or tunnel leads here.
    pub behind: Option<String>,
}

/// A NATS server, `nats://HOST:PORT` or `tls://HOST:PORT`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NatsConfig {
    pub url: Option<String>,
    pub creds_file: Option<PathBuf>,
}

/// The NATS server of workers, and who they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkersConfig {
    pub nats: NatsConfig,
    /// The public key of each worker, in hex.
    pub keys: IndexMap<String, String>,
}

/// A number greater than 0.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "f64")]
pub struct Positive(pub f64);

impl TryFrom<f64> for Positive {
    type Error = &'static str;

    fn try_from(number: f64) -> Result<Self, Self::Error> {
        if number > 0.0 { Ok(Self(number)) } else { Err("a number greater than 0 is wanted") }
    }
}

/// A public key in hex.
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownWorker {
    key: PublicKey,
}

/// Defaults for the options of `roundtable worker`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WorkerConfig {
    pub nats: NatsConfig,
    /// The tables that may ask.
    pub table_keys: Vec<PublicKey>,
    /// Models that may be asked, the usual one first.
    pub models: Vec<String>,
    /// The most that all answers may cost, in US dollars.
    pub max_usd: Option<Positive>,
    pub in_flight: Option<NonZeroU64>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RemoteConfig {
    bind: Option<String>,
    lan: bool,
    self_signed: bool,
    cert_file: Option<PathBuf>,
    key_file: Option<PathBuf>,
    behind: Option<String>,
    nats: NatsConfig,
    workers: IndexMap<String, KnownWorker>,
}

impl RemoteConfig {
    pub fn workers_config(&self) -> WorkersConfig {
        let keys = self.workers.iter().map(|(name, worker)| (name.clone(), worker.key.0.clone())).collect();
        WorkersConfig { nats: self.nats.clone(), keys }
    }

    pub fn door_address(self) -> Result<DoorAddress, &'static str> {
        let bind = self.bind.map(|address| address.parse()).transpose();
        let bind =
            bind.map_err(|_| "`bind` of `remote` is an address with a port, such as `127.0.0.1:8700`")?;
        if self.lan && bind.is_some() {
            return Err("`remote` has either `lan` or `bind`");
        }
        let certificate = match (self.cert_file, self.key_file) {
            (Some(_), Some(_)) if self.self_signed => {
                return Err("`remote` has either `self_signed` or `cert_file`");
            }
            (Some(certificate), Some(key)) => Some((certificate, key)),
            (None, None) => None,
            _ => return Err("`remote` needs both `cert_file` and `key_file`"),
        };
        let (lan, self_signed, behind) = (self.lan, self.self_signed, self.behind);
        Ok(DoorAddress { bind, lan, self_signed, certificate, behind })
    }
}
