//! Seats that are somewhere else: invited, joined with a key of their own, their envelopes refused.

use serde::{Deserialize, Serialize};

use super::super::timestamp::Timestamp;

/// The model of a seat that is invited by a link.
pub const LINK_MODEL: &str = "remote/link";

/// How a remote seat is reached.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RemoteSeat {
    pub door: Door,
}

/// What carries offers and envelopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Door {
    /// A person's browser or terminal, by a link.
    Link,
}

/// Who sealed a ballot, where that was not this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SealedBy {
    /// The seat, which signed it.
    Seat,
}

/// A remote seat is invited; an earlier invitation of the seat is withdrawn by it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatInvited {
    pub participant: String,
    /// SHA-256 of the token in the link.
    pub invitation: String,
    /// Until when the invitation can be taken.
    pub expires: Timestamp,
}

/// An invitation is taken: from here on the seat's ballots are signed with this key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatJoined {
    pub participant: String,
    pub invitation: String,
    /// The seat's public key, 32 bytes in hex.
    pub key: String,
}

/// A ballot of a remote seat that does not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvelopeRefused {
    pub step: String,
    pub round: String,
    pub participant: String,
    pub why: String,
    pub commitment: String,
}
