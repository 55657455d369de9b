//! Sealing of records: encryption to the round's public key ([`hpke`]), and a commitment.
//!
//! Only the round's key, published when the round closes, opens a [`SealedRecord`]; the sealing side cannot.
//! Keys and nonces are arguments. The seal protects against readers of screen and files, not against the
//! machine's owner.
//!
//! Sealed text: 32-byte commitment nonce ‖ 8-byte big-endian length ‖ record ‖ zeros, see `padded_length`.
//! Commitment: SHA-256(0x00 ‖ commitment nonce ‖ record).

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::snapshot::{hex, sha256_hex, unhex};

pub mod hpke;
pub mod sign;

const LABEL: &str = "roundtable seal 3";
const HEAD: usize = 40;
/// Length of the cipher's tag, which follows the text.
pub(super) const TAG: usize = 16;

/// Returns the length to which a text is padded, so that its own length reveals little: 8 KiB, else the next
/// power of two up to 256 KiB. Returns `None` for a longer text.
pub(super) fn padded_length(text: usize) -> Option<usize> {
    const SMALLEST: usize = 8 * 1024;
    const LARGEST: usize = 256 * 1024;
    text.checked_next_power_of_two().map(|n| n.max(SMALLEST)).filter(|n| *n <= LARGEST)
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealTo {
    pub suite: String,
    pub public_key: String,
}

impl SealTo {
    pub fn is_known(&self) -> bool {
        self.suite == hpke::SUITE && unhex::<32>(&self.public_key).is_some()
    }
}

/// Private key of one round. `Debug` hides it; its box is not copied by moves and is wiped when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct RoundKey {
    private: Box<Zeroizing<[u8; 32]>>,
    public: [u8; 32],
}

impl RoundKey {
    /// Creates a key from 32 random bytes. Sets the five bits that X25519 ignores, so that each key has one
    /// form.
    pub fn new(mut bytes: [u8; 32]) -> Self {
        bytes[0] &= 0xf8;
        bytes[31] = bytes[31] & 0x3f | 0x40;
        Self { public: hpke::public_key(&bytes), private: Box::new(Zeroizing::new(bytes)) }
    }

    /// Parses the form of [`RoundKey::publish`]; `None` for any other text.
    pub fn from_hex(text: &str) -> Option<Self> {
        unhex(text).map(Self::new).filter(|key| key.publish() == text)
    }

    /// Returns the form used in the key file and in a closed round.
    pub fn publish(&self) -> String {
        hex(&self.private[..])
    }

    pub fn seal_to(&self) -> SealTo {
        SealTo { suite: hpke::SUITE.to_owned(), public_key: hex(&self.public) }
    }
}

impl std::fmt::Debug for RoundKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RoundKey(…)")
    }
}

#[derive(Clone)]
pub struct Nonces {
    /// Private key for single use.
    pub ephemeral: [u8; 32],
    pub commitment: [u8; 32],
}

/// Context of a sealed record; opening it with any other context fails.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    pub session: String,
    pub round: String,
    pub participant: String,
    pub snapshot_sha256: String,
    /// Hash, in hex, of the document that opened the round. It covers all earlier events.
    pub opened_sha256: String,
}

impl Binding {
    pub fn info(&self) -> Vec<u8> {
        self.bytes(LABEL)
    }

    /// Prefixes each part with its length, so that different bindings have different bytes.
    fn bytes(&self, purpose: &str) -> Vec<u8> {
        let Self { session, round, participant, snapshot_sha256, opened_sha256 } = self;
        let parts = [session, round, participant, snapshot_sha256, opened_sha256];
        let mut bytes = purpose.as_bytes().to_vec();
        for part in parts {
            bytes.extend((part.len() as u64).to_be_bytes());
            bytes.extend(part.as_bytes());
        }
        bytes
    }
}

/// Ciphertext and commitment of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedRecord {
    /// SHA-256(0x00 ‖ commitment nonce ‖ record), in hex.
    pub commitment: String,
    pub enc: String,
    /// Ciphertext; written in base64.
    #[serde(with = "in_base64")]
    pub sealed: Vec<u8>,
}

impl SealedRecord {
    pub fn hashes(&self) -> SealHashes {
        SealHashes { commitment: self.commitment.clone(), sealed_sha256: sha256_hex(&self.sealed) }
    }
}

/// Hashes of a sealed record that remain after the reveal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealHashes {
    pub commitment: String,
    /// SHA-256 of the ciphertext, in hex.
    pub sealed_sha256: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsealedRecord {
    pub record: String,
    pub nonce: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnsealError {
    /// Not hex, or of the wrong length.
    #[error("the sealed record is malformed")]
    Malformed,
    /// Sealed with another key or binding, or changed since.
    #[error("the sealed record does not open under this key for this seat")]
    WrongKey,
    /// Wrong length, or other bytes than zeros after the record.
    #[error("the sealed record is not padded as such records are")]
    Padding,
    /// Opens, but does not match the commitment.
    #[error("the sealed record is not the one that was committed to")]
    WrongCommitment,
}

pub fn commit(nonce: &[u8; 32], record: &[u8]) -> String {
    hex(&Sha256::new().chain_update([0]).chain_update(nonce).chain_update(record).finalize())
}

/// Public key that records are sealed to.
#[derive(Clone)]
pub struct Sealer([u8; 32]);

impl Sealer {
    pub fn new(key: &RoundKey) -> Self {
        Self(key.public)
    }

    /// Parses a public key in hex.
    pub fn to(public_key: &str) -> Option<Self> {
        unhex(public_key).map(Self)
    }

    /// Seals a record. Returns `None` if it is too long, or if the public key would hide nothing.
    pub fn seal(&self, nonces: &Nonces, binding: &Binding, record: &str) -> Option<SealedRecord> {
        let length = padded_length(HEAD + record.len())?;
        // Encrypted in place, with room for the tag, so that no copy of the text stays in memory.
        let mut text = Zeroizing::new(Vec::with_capacity(length + TAG));
        text.extend(nonces.commitment);
        text.extend((record.len() as u64).to_be_bytes());
        text.extend(record.as_bytes());
        text.resize(length, 0);
        let commitment = commit(&nonces.commitment, record.as_bytes());
        let aad = unhex::<32>(&commitment)?;
        let enc = hex(&hpke::seal(&self.0, &nonces.ephemeral, &binding.info(), &aad, &mut text)?);
        Some(SealedRecord { commitment, enc, sealed: std::mem::take(&mut *text) })
    }
}

pub fn unseal(
    key: &RoundKey,
    binding: &Binding,
    sealed: &SealedRecord,
) -> Result<UnsealedRecord, UnsealError> {
    let mut text = sealed.sealed.clone();
    let enc = unhex(&sealed.enc).ok_or(UnsealError::Malformed)?;
    let aad: [u8; 32] = unhex(&sealed.commitment).ok_or(UnsealError::Malformed)?;
    let opened = hpke::open(&key.private, &key.public, &enc, &binding.info(), &aad, &mut text);
    let length = opened.ok_or(UnsealError::WrongKey)?.len();
    text.truncate(length);
    let (commitment_nonce, rest) = text.split_first_chunk::<32>().ok_or(UnsealError::Malformed)?;
    let (length, rest) = rest.split_first_chunk::<8>().ok_or(UnsealError::Malformed)?;
    let length = usize::try_from(u64::from_be_bytes(*length)).map_err(|_| UnsealError::Malformed)?;
    let (record, zeros) = rest.split_at_checked(length).ok_or(UnsealError::Malformed)?;
    if padded_length(HEAD + length) != Some(HEAD + rest.len()) || zeros.iter().any(|byte| *byte != 0) {
        return Err(UnsealError::Padding);
    }
    if commit(commitment_nonce, record) != sealed.commitment {
        return Err(UnsealError::WrongCommitment);
    }
    let record = String::from_utf8(record.to_vec()).map_err(|_| UnsealError::Malformed)?;
    Ok(UnsealedRecord { record, nonce: hex(commitment_nonce) })
}

pub(super) mod in_base64 {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize as _, Deserializer, Serializer, de};

    pub(in crate::round) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub(in crate::round) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map_err(|_| de::Error::custom("a sealed answer is no base64"))
    }
}

#[cfg(test)]
mod tests;
