//! Messages of a remote seat: strictly parsed ballots and failures.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::seal::sign::{SigningKey, failed_message, is_signed};
use super::seal::{Binding, SealedRecord, TAG, padded_length};

pub const VERSION: u32 = 3;

pub const MAX_ENVELOPE: usize = 512 * 1024;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope {
    pub v: u32,
    /// Id of the delivery that the envelope answers.
    pub delivery: String,
    #[serde(flatten)]
    pub binding: Binding,
    #[serde(flatten)]
    pub seal: SealedRecord,
    pub signature: String,
}

pub const MAX_REASON: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedDelivery {
    pub v: u32,
    #[serde(flatten)]
    pub ids: DeliveryIds,
    pub failed: Failure,
    #[serde(default)]
    pub signature: String,
}

/// Ids common to an offer and its answers, in every version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryIds {
    pub delivery: String,
    pub session: String,
    pub round: String,
    pub participant: String,
}

impl DeliveryIds {
    pub fn new(delivery: String, binding: Binding) -> Self {
        let Binding { session, round, participant, .. } = binding;
        Self { delivery, session, round, participant }
    }
}

/// Failure at a seat; never contains text of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// At most [`MAX_REASON`] bytes.
    pub reason: String,
    pub timed_out: bool,
    pub tries: u32,
}

impl Envelope {
    /// Parses JSON; `None` if it is no envelope of this version.
    pub fn read(json: &[u8]) -> Option<Self> {
        let envelope: Self = read_whole(json, 11)?;
        let Self { delivery, binding: Binding { snapshot_sha256, opened_sha256, .. }, seal, .. } = &envelope;
        let hashes = [delivery, snapshot_sha256, opened_sha256, &seal.commitment, &seal.enc];
        let is_formed = envelope.v == VERSION
            && hashes.into_iter().all(|hash| is_hex(hash, 32))
            && is_hex(&envelope.signature, 64);
        is_formed.then_some(envelope)
    }

    pub fn is_too_long(&self) -> bool {
        padded_length(self.seal.sealed.len().saturating_sub(TAG)).is_none()
    }

    /// Returns whether the sealed text has a valid padded length.
    pub fn is_padded(&self) -> bool {
        self.seal.sealed.len().checked_sub(TAG).is_some_and(|length| padded_length(length) == Some(length))
    }
}

/// Parses JSON with exactly `keys` keys, none of them unknown.
fn read_whole<T: DeserializeOwned>(json: &[u8], keys: usize) -> Option<T> {
    let all: Map<String, Value> = serde_json::from_slice(json).ok()?;
    serde_json::from_slice(json).ok().filter(|_| all.len() == keys)
}

/// Returns whether the text is `bytes` bytes in lower-case hex.
pub fn is_hex(text: &str, bytes: usize) -> bool {
    text.len() == 2 * bytes && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl FailedDelivery {
    /// Parses JSON; `None` if it is no failure of this version.
    pub fn read(json: &[u8]) -> Option<Self> {
        let failed: Self = read_whole(json, 7)?;
        let is_formed = failed.v == VERSION
            && failed.has_short_reason()
            && is_hex(&failed.ids.delivery, 32)
            && is_hex(&failed.signature, 64);
        is_formed.then_some(failed)
    }

    pub fn has_short_reason(&self) -> bool {
        let reason = &self.failed.reason;
        reason.len() <= MAX_REASON && !reason.chars().any(char::is_control)
    }

    #[must_use]
    pub fn sign(self, key: &SigningKey) -> Self {
        let signature = key.sign(&self.message());
        Self { signature, ..self }
    }

    pub fn is_signed_by(&self, key: &str) -> bool {
        is_signed(key, &self.message(), &self.signature)
    }

    fn message(&self) -> Vec<u8> {
        let DeliveryIds { delivery, session, round, participant } = &self.ids;
        let Failure { reason, timed_out, tries } = &self.failed;
        let (timed_out, tries) = (timed_out.to_string(), tries.to_string());
        failed_message(&[delivery, session, round, participant, reason, &timed_out, &tries])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_signed_in_every_part() {
        let key = SigningKey::new([0x44; 32]);
        let ids = |delivery: &str, session: &str, round: &str, participant: &str| {
            let [session, round, participant] = [session, round, participant].map(str::to_owned);
            DeliveryIds { delivery: delivery.repeat(32), session, round, participant }
        };
        let of = |reason: &str, tries| FailedDelivery {
            v: VERSION,
            ids: ids("00", "s", "vote", "ann"),
            failed: Failure { reason: reason.to_owned(), timed_out: false, tries },
            signature: String::new(),
        };
        let failed = of("no answer", 3).sign(&key);
        assert!(failed.is_signed_by(&key.public()));
        let json = serde_json::to_vec(&failed).expect("JSON");
        assert_eq!(FailedDelivery::read(&json), Some(failed.clone()));
        let signature = &failed.signature;
        let forged = |other: FailedDelivery| FailedDelivery { signature: signature.clone(), ..other };
        let others = [
            forged(of("no answers", 3)),
            forged(of("no answer", 4)),
            forged(FailedDelivery { ids: ids("00", "s", "vote2", "ann"), ..of("no answer", 3) }),
            forged(FailedDelivery { ids: ids("00", "sv", "ote", "ann"), ..of("no answer", 3) }),
            forged(FailedDelivery { ids: ids("00", "s", "vote", "bob"), ..of("no answer", 3) }),
            forged(FailedDelivery { ids: ids("11", "s", "vote", "ann"), ..of("no answer", 3) }),
        ];
        for other in others {
            assert!(!other.is_signed_by(&key.public()), "{other:?}");
        }
        for reason in ["x".repeat(201), "a\nb".to_owned()] {
            let json = serde_json::to_vec(&of(&reason, 1).sign(&key)).expect("JSON");
            assert_eq!(FailedDelivery::read(&json), None, "{reason}");
        }
    }
}
