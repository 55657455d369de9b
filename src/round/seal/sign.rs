//! Ed25519 signatures of ballots, failures and offers, and ids of deliveries.
//!
//! Every part of a message is prefixed with its length, as in the seal.

use curve25519_dalek::edwards::CompressedEdwardsY;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use super::{Binding, SealedRecord};
use crate::round::snapshot::{hex, unhex};

const BALLOT: &str = "roundtable ballot 3";
const FAILED: &str = "roundtable failed 3";
const OFFER: &[u8] = b"roundtable offer 3";
const DELIVERY: &str = "roundtable delivery 3";

#[derive(Clone)]
pub struct SigningKey(Box<Zeroizing<[u8; 32]>>);

impl SigningKey {
    pub fn new(seed: [u8; 32]) -> Self {
        Self(Box::new(Zeroizing::new(seed)))
    }

    pub fn from_hex(text: &str) -> Option<Self> {
        unhex(text).map(Self::new)
    }

    pub fn to_hex(&self) -> Zeroizing<String> {
        Zeroizing::new(hex(&self.0[..]))
    }

    pub fn public(&self) -> String {
        self.pair().map(|pair| hex(pair.public_key().as_ref())).unwrap_or_default()
    }

    pub fn sign(&self, message: &[u8]) -> String {
        self.pair().map(|pair| hex(pair.sign(message).as_ref())).unwrap_or_default()
    }

    /// Returns the key pair; 32 bytes always yield one.
    fn pair(&self) -> Option<Ed25519KeyPair> {
        Ed25519KeyPair::from_seed_unchecked(&self.0[..]).ok()
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SigningKey(…)")
    }
}

/// Returns whether the text is a canonical public key. Keys of small order are rejected, because one
/// signature could fit every message under them.
pub fn is_public_key(text: &str) -> bool {
    let bytes = unhex::<32>(text).filter(|bytes| hex(bytes) == text);
    let point = bytes.and_then(|bytes| CompressedEdwardsY(bytes).decompress());
    point.is_some_and(|point| !point.is_small_order())
}

/// Parses a public key written as hex, with or without `ed25519:`; returns it in hex.
pub fn named_key(text: &str) -> Option<String> {
    let key = text.trim();
    let key = hex(&unhex::<32>(key.strip_prefix("ed25519:").unwrap_or(key))?);
    is_public_key(&key).then_some(key)
}

pub fn is_signed(public_key: &str, message: &[u8], signature: &str) -> bool {
    let keys = unhex::<32>(public_key).zip(unhex::<64>(signature));
    keys.is_some_and(|(key, signature)| {
        UnparsedPublicKey::new(&ED25519, key).verify(message, &signature).is_ok()
    })
}

/// Returns the bytes that a seat signs for its ballot; `None` if a value is malformed.
pub fn ballot_message(binding: &Binding, public_key: &str, sealed: &SealedRecord) -> Option<Vec<u8>> {
    let mut message = binding.bytes(BALLOT);
    let (round, commitment) = (unhex::<32>(public_key)?, unhex::<32>(&sealed.commitment)?);
    let (enc, sealed) = (unhex::<32>(&sealed.enc)?, Sha256::digest(&sealed.sealed));
    for part in [&round[..], &commitment, &enc, &sealed] {
        push(&mut message, part);
    }
    Some(message)
}

/// Returns the bytes that a seat signs for a failure: the ids of the delivery and the failure's data.
pub fn failed_message(parts: &[&str]) -> Vec<u8> {
    let mut message = FAILED.as_bytes().to_vec();
    for part in parts {
        push(&mut message, part.as_bytes());
    }
    message
}

pub fn offer_message(json: &[u8]) -> Vec<u8> {
    [OFFER, &Sha256::digest(json)].concat()
}

/// Returns the id of one delivery to a seat; attempts count from 1.
pub fn delivery_id(binding: &Binding, public_key: &str, attempt: u32) -> String {
    let mut bytes = binding.bytes(DELIVERY);
    push(&mut bytes, public_key.as_bytes());
    push(&mut bytes, attempt.to_string().as_bytes());
    hex(&Sha256::digest(&bytes))
}

fn push(bytes: &mut Vec<u8>, part: &[u8]) {
    bytes.extend((part.len() as u64).to_be_bytes());
    bytes.extend(part);
}
