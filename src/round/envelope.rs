//! What a remote seat sends: a sealed and signed ballot, which nobody can read, or a signed failure. Both are
//! read strictly.

use serde::{Deserialize, Serialize};

use super::seal::sign::{SigningKey, failed_message, is_signed};
use super::seal::{AssociatedData, SealedRecord, TAG, in_base64, padded_length};

pub const VERSION: u32 = 3;

pub const MAX_ENVELOPE: usize = 512 * 1024;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Envelope {
    pub v: u32,
    /// The id of the delivery that it answers.
    pub delivery: String,
    pub session: String,
    pub round: String,
    pub participant: String,
    pub snapshot_sha256: String,
    pub opened_sha256: String,
    pub commitment: String,
    pub enc: String,
    #[serde(with = "in_base64")]
    pub sealed: Vec<u8>,
    pub signature: String,
}

pub const MAX_REASON: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailedDelivery {
    pub v: u32,
    /// The id of the delivery that it answers.
    pub delivery: String,
    pub session: String,
    pub round: String,
    pub participant: String,
    pub failed: Failure,
    #[serde(default)]
    pub signature: String,
}

/// A failure at a seat; never a word of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// At most [`MAX_REASON`] bytes.
    pub reason: String,
    pub timed_out: bool,
    pub tries: u32,
}

impl Envelope {
    /// Reads JSON; `None` if it is no envelope of this version.
    pub fn read(json: &[u8]) -> Option<Self> {
        let envelope: Self = serde_json::from_slice(json).ok()?;
        let (snapshot, opened) = (&envelope.snapshot_sha256, &envelope.opened_sha256);
        let hashes = [&envelope.delivery, snapshot, opened, &envelope.commitment, &envelope.enc];
        let is_formed = envelope.v == VERSION
            && hashes.into_iter().all(|hash| is_hex(hash, 32))
            && is_hex(&envelope.signature, 64);
        is_formed.then_some(envelope)
    }

    pub fn binding(&self) -> AssociatedData<'_> {
        AssociatedData {
            session: &self.session,
            round: &self.round,
            participant: &self.participant,
            snapshot_sha256: &self.snapshot_sha256,
            opened_sha256: &self.opened_sha256,
        }
    }

    pub fn seal(&self) -> SealedRecord {
        SealedRecord {
            commitment: self.commitment.clone(),
            enc: self.enc.clone(),
            sealed: self.sealed.clone(),
        }
    }

    pub fn is_too_long(&self) -> bool {
        padded_length(self.sealed.len().saturating_sub(TAG)).is_none()
    }

    /// Returns whether what is sealed has a length that padding leads to.
    pub fn is_padded(&self) -> bool {
        self.sealed.len().checked_sub(TAG).is_some_and(|length| padded_length(length) == Some(length))
    }
}

fn is_hex(text: &str, bytes: usize) -> bool {
    text.len() == 2 * bytes && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl FailedDelivery {
    /// Reads JSON; `None` if it is no failure of this version.
    pub fn read(json: &[u8]) -> Option<Self> {
        let failed: Self = serde_json::from_slice(json).ok()?;
        let is_formed = failed.v == VERSION
            && failed.has_short_reason()
            && is_hex(&failed.delivery, 32)
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
        let Failure { reason, timed_out, tries } = &self.failed;
        let (timed_out, tries) = (timed_out.to_string(), tries.to_string());
        failed_message(&[
            &self.delivery,
            &self.session,
            &self.round,
            &self.participant,
            reason,
            &timed_out,
            &tries,
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_signed_in_every_part() {
        let key = SigningKey::new([0x44; 32]);
        let of = |reason: &str, tries| {
            let failed = Failure { reason: reason.to_owned(), timed_out: false, tries };
            let [session, round, participant] = ["s", "vote", "ann"].map(str::to_owned);
            let delivery = "00".repeat(32);
            FailedDelivery {
                v: VERSION,
                delivery,
                session,
                round,
                participant,
                failed,
                signature: String::new(),
            }
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
            forged(FailedDelivery { round: "vote2".to_owned(), ..of("no answer", 3) }),
            forged(FailedDelivery {
                session: "sv".to_owned(),
                round: "ote".to_owned(),
                ..of("no answer", 3)
            }),
            forged(FailedDelivery { participant: "bob".to_owned(), ..of("no answer", 3) }),
            forged(FailedDelivery { delivery: "11".repeat(32), ..of("no answer", 3) }),
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
