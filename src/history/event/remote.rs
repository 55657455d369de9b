//! Events of remote seats: invited, joined with their own key, envelopes refused.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use super::super::timestamp::Timestamp;

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RemoteSeat {
    pub door: Door,
    /// Worker that answers for the seat, behind NATS.
    pub worker: Option<String>,
    /// Public key for the seat's signatures, in hex, if known from the start.
    pub key: Option<String>,
}

impl RemoteSeat {
    /// Parses `remote/link`, `remote/inbox`, `remote/nats/WORKER` or `remote/nats/WORKER/provider/model`.
    pub fn from_model(model: &str) -> Option<Self> {
        let mut parts = model.strip_prefix("remote/")?.splitn(3, '/');
        // A worker's name becomes part of a NATS subject.
        let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let is_named = |worker: &&str| !worker.is_empty() && worker.bytes().all(is_of_name);
        let (door, worker) = match (parts.next()?, parts.next(), parts.next()) {
            ("link", None, None) => (Door::Link, None),
            ("inbox", None, None) => (Door::Inbox, None),
            ("nats", Some(worker), model) if is_named(&worker) && model != Some("") => {
                (Door::Nats, Some(worker.to_owned()))
            }
            _ => return None,
        };
        Some(Self { door, worker, key: None })
    }

    /// Checks if a program answers; its replies carry more data than a person's browser sends.
    pub fn is_by_program(&self) -> bool {
        self.door != Door::Link
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Door {
    Link,
    Inbox,
    Nats,
}

/// Invitation of a remote seat; it withdraws an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatInvited {
    pub participant: String,
    pub invitation: String,
    pub expires: Timestamp,
}

/// Accepted invitation; from now on this key signs the seat's ballots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatJoined {
    pub participant: String,
    pub invitation: String,
    pub key: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvelopeRefused {
    pub step: String,
    pub round: String,
    pub participant: String,
    pub why: RefusalWord,
    pub commitment: String,
}

/// Reason of a refusal to a remote client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalWord {
    Stale,
    AlreadySealed,
    RoundClosed,
    SeatExcused,
    TooLong,
    BadLength,
    BadSignature,
    NoSuchInvitation,
    AlreadyPinned,
    Malformed,
    NotAParticipant,
    NoSuchAgent,
    NotOffered,
    AlreadyClaimed,
    NotLeaseHolder,
    LeaseExpired,
    NoFeedback,
    DoesNotFit,
    /// The session is paused or could not write to its file; a later answer may count.
    TheSessionIsNotRunning,
    NotBeforeTheClose,
    NoSuchPage,
    NoSuchSnapshot,
    TooManyTries,
}

impl fmt::Display for RefusalWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = serde_json::to_value(self).unwrap_or_default();
        f.write_str(&word.as_str().unwrap_or_default().replace('_', " "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remote_model_names_its_door() {
        let of = |model| RemoteSeat::from_model(model).map(|remote| (remote.door, remote.worker));
        assert_eq!(of("remote/link"), Some((Door::Link, None)));
        assert_eq!(of("remote/inbox"), Some((Door::Inbox, None)));
        let fleet = Some((Door::Nats, Some("fleet".to_owned())));
        assert_eq!(of("remote/nats/fleet"), fleet);
        assert_eq!(of("remote/nats/fleet/ollama/llama3.2"), fleet);
        let wrong =
            ["remote/", "remote/link/", "remote/inbox/x", "remote/nats", "remote/nats/", "remote/nats/a.b"];
        for model in wrong.into_iter().chain(["remote/nats/a/", "remote/nats/*", "remote/fax", "ollama/x"]) {
            assert_eq!(of(model), None, "{model}");
        }
    }
}
