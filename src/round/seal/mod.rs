//! The seal of a record, with a commitment to it: [`hpke`] to the public key of the round, so that who seals
//! cannot open.
//!
//! [`SealedRecord`] has no way to its text; only the round's key, published when the round closes, opens
//! it. Keys and nonces are arguments: this file draws no randomness. The seal is against every
//! surface and reader of the file, not against the owner of the machine.
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
/// The cipher's tag stands behind the text.
pub(super) const TAG: usize = 16;

/// The length a text is padded to, so that its own says little: 8 KiB, else the next power of two up to
/// 256 KiB; none if it is longer.
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

/// The private key of one round. It is never printed, and stays in one place of
/// memory until it is wiped.
#[derive(Clone, PartialEq, Eq)]
pub struct RoundKey {
    private: Box<Zeroizing<[u8; 32]>>,
    public: [u8; 32],
}

impl RoundKey {
    /// A key from 32 random bytes. X25519 ignores five bits of a key; they are set as it takes them, so that
    /// a key has one form.
    pub fn new(mut bytes: [u8; 32]) -> Self {
        bytes[0] &= 0xf8;
        bytes[31] = bytes[31] & 0x3f | 0x40;
        Self { public: hpke::public_key(&bytes), private: Box::new(Zeroizing::new(bytes)) }
    }

    /// A key in the form of [`RoundKey::publish`]; `None` of any other text.
    pub fn from_hex(text: &str) -> Option<Self> {
        unhex(text).map(Self::new).filter(|key| key.publish() == text)
    }

    /// The form in which a closed round publishes it, and in which the key file keeps it.
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
    pub cipher: [u8; 32],
    pub commitment: [u8; 32],
}

/// The binding of a sealed record; opening it under any other fails.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    pub session: String,
    pub round: String,
    pub participant: String,
    pub snapshot_sha256: String,
    /// The hash of the document that opened the round, in hex: it covers all that was decided before.
    pub opened_sha256: String,
}

impl Binding {
    pub fn info(&self) -> Vec<u8> {
        self.bytes(LABEL)
    }

    /// Each part preceded by its length, so that no two bindings share their bytes.
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

/// A sealed record: ciphertext and commitment, and no way to the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedRecord {
    /// SHA-256(0x00 ‖ commitment nonce ‖ record), in hex.
    pub commitment: String,
    pub enc: String,
    /// The ciphertext; in base64 where it is written down.
    #[serde(with = "in_base64")]
    pub sealed: Vec<u8>,
}

impl SealedRecord {
    pub fn hashes(&self) -> SealHashes {
        SealHashes { commitment: self.commitment.clone(), sealed_sha256: sha256_hex(&self.sealed) }
    }
}

/// The part of a sealed record that is kept after the reveal.
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
    /// The key, the binding or a byte is not the one it was sealed with.
    #[error("the sealed record does not open under this key for this seat")]
    WrongKey,
    /// Its length or what follows the record is not the padding of such a record.
    #[error("the sealed record is not padded as such records are")]
    Padding,
    /// It opens, and is not what was committed to.
    #[error("the sealed record is not the one that was committed to")]
    WrongCommitment,
}

pub fn commit(nonce: &[u8; 32], record: &[u8]) -> String {
    hex(&Sha256::new().chain_update([0]).chain_update(nonce).chain_update(record).finalize())
}

/// Whom a record is sealed to: the holder of the private key of this public one.
#[derive(Clone)]
pub struct Sealer([u8; 32]);

impl Sealer {
    pub fn new(key: &RoundKey) -> Self {
        Self(key.public)
    }

    /// A public key in hex.
    pub fn to(public_key: &str) -> Option<Self> {
        unhex(public_key).map(Self)
    }

    /// Seals a record. `None` if it is too long, or sealed to a public key that hides nothing.
    pub fn seal(&self, nonces: &Nonces, binding: &Binding, record: &str) -> Option<SealedRecord> {
        let length = padded_length(HEAD + record.len())?;
        // Encrypted where it stands, with room for the tag: no copy of the text is left in memory.
        let mut text = Zeroizing::new(Vec::with_capacity(length + TAG));
        text.extend(nonces.commitment);
        text.extend((record.len() as u64).to_be_bytes());
        text.extend(record.as_bytes());
        text.resize(length, 0);
        let commitment = commit(&nonces.commitment, record.as_bytes());
        let aad = unhex::<32>(&commitment)?;
        let enc = hex(&hpke::seal(&self.0, &nonces.cipher, &binding.info(), &aad, &mut text)?);
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
