//! What a remote seat sends: a sealed and signed ballot. Read strictly; what it holds nobody can read.

use serde::{Deserialize, Serialize};

use super::seal::{AssociatedData, SealedRecord, in_base64};

/// The version of offers and envelopes.
pub const VERSION: u32 = 2;

/// The most bytes of an envelope's JSON.
pub const MAX_ENVELOPE: usize = 512 * 1024;

/// A ballot on its way.
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
    pub commitment: String,
    pub enc: String,
    #[serde(with = "in_base64")]
    pub sealed: Vec<u8>,
    pub signature: String,
}

/// What is wrong with the length of a sealed text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrongLength {
    TooLong,
    /// No length that padding leads to.
    NotPadded,
}

impl Envelope {
    /// Reads JSON; `None` if it is no envelope of this version.
    pub fn read(json: &[u8]) -> Option<Self> {
        let envelope: Self = serde_json::from_slice(json).ok()?;
        let is_hex = |text: &str, bytes: usize| {
            text.len() == 2 * bytes && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        let hashes = [&envelope.delivery, &envelope.snapshot_sha256, &envelope.commitment, &envelope.enc];
        let is_formed = envelope.v == VERSION
            && hashes.into_iter().all(|hash| is_hex(hash, 32))
            && is_hex(&envelope.signature, 64);
        is_formed.then_some(envelope)
    }

    /// What its seal must be bound to.
    pub fn binding(&self) -> AssociatedData<'_> {
        AssociatedData {
            session: &self.session,
            round: &self.round,
            participant: &self.participant,
            snapshot_sha256: &self.snapshot_sha256,
        }
    }

    /// Its seal.
    pub fn seal(&self) -> SealedRecord {
        SealedRecord {
            commitment: self.commitment.clone(),
            nonce: None,
            enc: Some(self.enc.clone()),
            sealed: self.sealed.clone(),
        }
    }

    /// What is wrong with the length of what is sealed, if anything is.
    pub fn wrong_length(&self) -> Option<WrongLength> {
        const TAG: usize = 16;
        const LENGTHS: std::ops::RangeInclusive<usize> = 8 * 1024..=256 * 1024;
        match self.sealed.len().checked_sub(TAG) {
            Some(length) if length > *LENGTHS.end() => Some(WrongLength::TooLong),
            Some(length) if length.is_power_of_two() && LENGTHS.contains(&length) => None,
            _ => Some(WrongLength::NotPadded),
        }
    }
}
