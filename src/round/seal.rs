//! The seal: XChaCha20-Poly1305 under a key of the round, with a commitment to the record.
//!
//! [`SealedRecord`] has no way to its text; only the round's key, published when the round closes, opens
//! it. Keys and nonces are arguments: this file draws no randomness. The seal is against every
//! surface and reader of the file, not against the owner of the machine.
//!
//! Sealed text: 32-byte commitment nonce ‖ 8-byte big-endian length ‖ record ‖ zeros, see [`Padding`].
//! Commitment: SHA-256(0x00 ‖ commitment nonce ‖ record).

use chacha20poly1305::aead::AeadInOut as _;
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::snapshot::{hex, unhex};

const HEAD: usize = 40;
/// The cipher's tag stands behind the text.
const TAG: usize = 16;

/// What a sealed text is padded to, so that its length says little.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Padding {
    /// 8 KiB, else the next power of two up to 256 KiB.
    Classes,
    /// The next multiple of 4 KiB: in sessions without `reply_rules`.
    Steps,
}

impl Padding {
    /// The length a text is padded to; none if it is too long.
    fn length(self, text: usize) -> Option<usize> {
        const STEP: usize = 4096;
        const SMALLEST: usize = 8 * 1024;
        const LARGEST: usize = 256 * 1024;
        match self {
            Self::Steps => Some(text.next_multiple_of(STEP)),
            Self::Classes => {
                text.checked_next_power_of_two().map(|n| n.max(SMALLEST)).filter(|n| *n <= LARGEST)
            }
        }
    }
}

/// The key of one round. It is never printed, and stays in one place of memory until it is wiped.
#[derive(Clone, PartialEq, Eq)]
pub struct RoundKey(Box<Zeroizing<[u8; 32]>>);

impl RoundKey {
    /// A key from 32 random bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Box::new(Zeroizing::new(bytes)))
    }

    /// A key from its published form.
    pub fn from_hex(text: &str) -> Option<Self> {
        unhex(text).map(Self::new)
    }

    /// The form in which a closed round publishes it, and in which the key file keeps it.
    pub fn publish(&self) -> String {
        hex(&self.0[..])
    }
}

impl std::fmt::Debug for RoundKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RoundKey(…)")
    }
}

/// The randomness one sealing uses up.
#[derive(Clone)]
pub struct Nonces {
    /// For the cipher.
    pub cipher: [u8; 24],
    /// For the commitment.
    pub commitment: [u8; 32],
}

/// What a sealed record is bound to; opening it under any other binding fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AssociatedData<'a> {
    /// The session's id.
    pub session: &'a str,
    /// The round's id.
    pub round: &'a str,
    /// The seat's name.
    pub participant: &'a str,
    /// The snapshot's hash in hex.
    pub snapshot_sha256: &'a str,
}

impl AssociatedData<'_> {
    /// Each part preceded by its length, so that no two bindings share their bytes.
    fn bytes(&self) -> Vec<u8> {
        const NAME: &[u8] = b"roundtable seal 1";
        let parts = [self.session, self.round, self.participant, self.snapshot_sha256];
        let length = parts.iter().map(|part| size_of::<u64>() + part.len()).sum::<usize>();
        let mut bytes = Vec::with_capacity(NAME.len() + length);
        bytes.extend(NAME);
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
    /// The cipher's 24-byte nonce, in hex.
    pub nonce: String,
    /// The ciphertext; in base64 where it is written down.
    #[serde(with = "in_base64")]
    pub sealed: Vec<u8>,
}

/// What a seal held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsealedRecord {
    /// The record's JSON text.
    pub record: String,
    /// The commitment's nonce, in hex.
    pub nonce: String,
}

/// Why a seal does not open.
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

/// The commitment to a record.
pub fn commit(nonce: &[u8; 32], record: &[u8]) -> String {
    let mut hasher = Sha256::new();
    hasher.update([0]);
    hasher.update(nonce);
    hasher.update(record);
    hex(&hasher.finalize())
}

/// Seals a record. `None` if it is too long.
pub fn seal(
    key: &RoundKey,
    nonces: &Nonces,
    binding: AssociatedData<'_>,
    record: &str,
    padding: Padding,
) -> Option<SealedRecord> {
    let length = padding.length(HEAD + record.len())?;
    // Encrypted where it stands, with room for the tag: no copy of the text is left in memory.
    let mut text = Zeroizing::new(Vec::with_capacity(length + TAG));
    text.extend(nonces.commitment);
    text.extend((record.len() as u64).to_be_bytes());
    text.extend(record.as_bytes());
    text.resize(length, 0);
    cipher(key).encrypt_in_place(&nonces.cipher.into(), &binding.bytes(), &mut *text).ok()?;
    Some(SealedRecord {
        commitment: commit(&nonces.commitment, record.as_bytes()),
        nonce: hex(&nonces.cipher),
        sealed: std::mem::take(&mut *text),
    })
}

/// Opens a seal with the published key and checks its commitment.
///
/// # Errors
/// See [`UnsealError`].
pub fn unseal(
    key: &RoundKey,
    binding: AssociatedData<'_>,
    sealed: &SealedRecord,
    padding: Padding,
) -> Result<UnsealedRecord, UnsealError> {
    let nonce: [u8; 24] = unhex(&sealed.nonce).ok_or(UnsealError::Malformed)?;
    let mut text = sealed.sealed.clone();
    cipher(key)
        .decrypt_in_place(&nonce.into(), &binding.bytes(), &mut text)
        .map_err(|_| UnsealError::WrongKey)?;
    let (commitment_nonce, rest) = text.split_first_chunk::<32>().ok_or(UnsealError::Malformed)?;
    let (length, rest) = rest.split_first_chunk::<8>().ok_or(UnsealError::Malformed)?;
    let length = usize::try_from(u64::from_be_bytes(*length)).map_err(|_| UnsealError::Malformed)?;
    let (record, zeros) = rest.split_at_checked(length).ok_or(UnsealError::Malformed)?;
    if padding.length(HEAD + length) != Some(HEAD + rest.len()) || zeros.iter().any(|byte| *byte != 0) {
        return Err(UnsealError::Padding);
    }
    if commit(commitment_nonce, record) != sealed.commitment {
        return Err(UnsealError::WrongCommitment);
    }
    let record = String::from_utf8(record.to_vec()).map_err(|_| UnsealError::Malformed)?;
    Ok(UnsealedRecord { record, nonce: hex(commitment_nonce) })
}

fn cipher(key: &RoundKey) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new((&**key.0).into())
}

mod in_base64 {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize as _, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map_err(|_| de::Error::custom("a sealed answer is no base64"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BINDING: AssociatedData<'_> =
        AssociatedData { session: "s", round: "r", participant: "p", snapshot_sha256: "00" };
    const NONCES: Nonces = Nonces { cipher: [2; 24], commitment: [3; 32] };

    fn sealed(record: &str) -> (RoundKey, SealedRecord) {
        let key = RoundKey::new([1; 32]);
        let sealed = seal(&key, &NONCES, BINDING, record, Padding::Classes).unwrap();
        (key, sealed)
    }

    #[test]
    fn opens_to_what_was_sealed_and_only_for_its_seat() {
        let (key, sealed) = sealed("{\"vote\":\"a\"}");
        let opened = unseal(&key, BINDING, &sealed, Padding::Classes).unwrap();
        assert_eq!(opened.record, "{\"vote\":\"a\"}");
        assert_eq!(opened.nonce, hex(&[3; 32]));
        for other in [
            AssociatedData { session: "t", ..BINDING },
            AssociatedData { round: "q", ..BINDING },
            AssociatedData { participant: "q", ..BINDING },
            AssociatedData { snapshot_sha256: "01", ..BINDING },
        ] {
            assert_eq!(unseal(&key, other, &sealed, Padding::Classes), Err(UnsealError::WrongKey));
        }
        assert_eq!(
            unseal(&RoundKey::new([9; 32]), BINDING, &sealed, Padding::Classes),
            Err(UnsealError::WrongKey)
        );
        let swapped = SealedRecord { commitment: commit(&[3; 32], b"other"), ..sealed };
        assert_eq!(unseal(&key, BINDING, &swapped, Padding::Classes), Err(UnsealError::WrongCommitment));
    }

    /// The test vector of draft-irtf-cfrg-xchacha-03, appendix A.3.1.
    #[test]
    fn the_cipher_is_the_published_one() {
        let key = RoundKey::new(std::array::from_fn(|n| 0x80 + n as u8));
        let nonce: [u8; 24] = std::array::from_fn(|n| 0x40 + n as u8);
        let mut text =
            b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the \
            future, sunscreen would be it."
                .to_vec();
        let aad = unhex::<12>("50515253c0c1c2c3c4c5c6c7").unwrap();
        cipher(&key).encrypt_in_place(&nonce.into(), &aad, &mut text).unwrap();
        assert_eq!(
            hex(&text),
            "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e39\
             ae64c6708c54c216cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9\
             21f9664c97637da9768812f615c68b13b52ec0875924c1c7987947deafd8780acf49"
        );
    }

    #[test]
    fn short_and_long_answers_have_one_length() {
        let length = |record: usize, padding| {
            let sealed = seal(&RoundKey::new([1; 32]), &NONCES, BINDING, &"x".repeat(record), padding);
            sealed.map(|sealed| sealed.sealed.len() - TAG)
        };
        let classes = [1, 8152, 8153, 16_344, 16_345, 262_104, 262_105].map(|n| length(n, Padding::Classes));
        let expected = [8192, 8192, 16_384, 16_384, 32_768, 262_144].map(Some);
        assert_eq!(classes[..6], expected);
        assert_eq!(classes[6], None);
        assert_eq!([1, 4056, 4057].map(|n| length(n, Padding::Steps)), [4096, 4096, 8192].map(Some));
    }

    #[test]
    fn what_is_padded_otherwise_does_not_open() {
        let key = RoundKey::new([1; 32]);
        for (written, read) in [(Padding::Steps, Padding::Classes), (Padding::Classes, Padding::Steps)] {
            let sealed = seal(&key, &NONCES, BINDING, "short", written).unwrap();
            assert_eq!(unseal(&key, BINDING, &sealed, read), Err(UnsealError::Padding));
        }
        // Something that is hidden behind the record.
        let mut text = vec![0; 8192];
        text[..32].copy_from_slice(&NONCES.commitment);
        text[39] = 5;
        text[40..45].copy_from_slice(b"short");
        text[8191] = 1;
        cipher(&key).encrypt_in_place(&NONCES.cipher.into(), &BINDING.bytes(), &mut text).unwrap();
        let commitment = commit(&NONCES.commitment, b"short");
        let sealed = SealedRecord { commitment, nonce: hex(&NONCES.cipher), sealed: text };
        assert_eq!(unseal(&key, BINDING, &sealed, Padding::Classes), Err(UnsealError::Padding));
    }

    #[test]
    fn a_key_is_never_printed() {
        let key = RoundKey::new([7; 32]);
        assert!(!format!("{key:?}").contains("07"));
        assert_eq!(RoundKey::from_hex(&key.publish()), Some(key));
    }
}
