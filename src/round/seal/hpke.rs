//! HPKE (RFC 9180): base mode, DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM.
//!
//! One message per context. Every browser supports this suite natively.

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::hmac;
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::Zeroizing;

pub const SUITE: &str = "hpke-x25519-sha256-aes256gcm";

const KEM_ID: &[u8] = b"KEM\x00\x20";
const SUITE_ID: &[u8] = b"HPKE\x00\x20\x00\x01\x00\x02";

type Key = Zeroizing<[u8; 32]>;

pub fn public_key(private: &[u8; 32]) -> [u8; 32] {
    PublicKey::from(&StaticSecret::from(*private)).to_bytes()
}

/// Encrypts `text` in place and appends the 16-byte tag. `ephemeral` is a private key for single use.
/// Returns the encapsulated key; `None` if the public key is of low order.
pub fn seal(
    public: &[u8; 32],
    ephemeral: &[u8; 32],
    info: &[u8],
    aad: &[u8],
    text: &mut Vec<u8>,
) -> Option<[u8; 32]> {
    let enc = public_key(ephemeral);
    let (key, nonce) = schedule(ephemeral, public, (&enc, public), info)?;
    key.seal_in_place_append_tag(nonce, Aad::from(aad), text).ok()?;
    Some(enc)
}

/// Decrypts `text` in place and returns it without its tag. `public` belongs to `private`.
pub fn open<'a>(
    private: &[u8; 32],
    public: &[u8; 32],
    enc: &[u8; 32],
    info: &[u8],
    aad: &[u8],
    text: &'a mut [u8],
) -> Option<&'a [u8]> {
    let (key, nonce) = schedule(private, enc, (enc, public), info)?;
    key.open_in_place(nonce, Aad::from(aad), text).ok().map(|text| &*text)
}

/// Derives the key and nonce of the first message. The tuple has the encapsulated and the recipient's key.
/// Returns `None` if the shared secret is all zeros.
fn schedule(
    private: &[u8; 32],
    other: &[u8; 32],
    (enc, recipient): (&[u8; 32], &[u8; 32]),
    info: &[u8],
) -> Option<(LessSafeKey, Nonce)> {
    let secret = StaticSecret::from(*private).diffie_hellman(&PublicKey::from(*other));
    if !secret.was_contributory() {
        return None;
    }
    let prk = extract(b"", KEM_ID, b"eae_prk", secret.as_bytes());
    let shared: Key = expand(&*prk, KEM_ID, b"shared_secret", &[&enc[..], recipient].concat());
    let (psk_id, info) =
        (extract(b"", SUITE_ID, b"psk_id_hash", b""), extract(b"", SUITE_ID, b"info_hash", info));
    let context = [&[0][..], &psk_id[..], &info[..]].concat();
    let secret = extract(&*shared, SUITE_ID, b"secret", b"");
    let key: Key = expand(&*secret, SUITE_ID, b"key", &context);
    let nonce: Zeroizing<[u8; 12]> = expand(&*secret, SUITE_ID, b"base_nonce", &context);
    let key = UnboundKey::new(&AES_256_GCM, &*key).ok()?;
    Some((LessSafeKey::new(key), Nonce::assume_unique_for_key(*nonce)))
}

/// `LabeledExtract` of RFC 9180 §4.
fn extract(salt: &[u8], suite: &[u8], label: &[u8], material: &[u8]) -> Key {
    let key = hmac::Key::new(hmac::HMAC_SHA256, salt);
    first_bytes(&key, &[b"HPKE-v1", suite, label, material])
}

/// `LabeledExpand` of RFC 9180 §4, up to 32 bytes.
fn expand<const N: usize>(prk: &[u8], suite: &[u8], label: &[u8], info: &[u8]) -> Zeroizing<[u8; N]> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, prk);
    let length = (N as u16).to_be_bytes();
    first_bytes(&key, &[&length, b"HPKE-v1", suite, label, info, &[1]])
}

fn first_bytes<const N: usize>(key: &hmac::Key, parts: &[&[u8]]) -> Zeroizing<[u8; N]> {
    let mut context = hmac::Context::with_key(key);
    for part in parts {
        context.update(part);
    }
    let tag = context.sign();
    let mut bytes = Zeroizing::new([0; N]);
    bytes.copy_from_slice(&tag.as_ref()[..N]);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round::snapshot::{hex, unhex};

    fn key(text: &str) -> [u8; 32] {
        unhex(text).unwrap()
    }

    /// Test vector of the RFC's authors for this suite (mode 0, KEM 32, KDF 1, AEAD 2), first message.
    #[test]
    fn the_published_vector_matches() {
        let private = key("497b4502664cfea5d5af0b39934dac72242a74f8480451e1aee7d6a53320333d");
        let public = key("430f4b9859665145a6b1ba274024487bd66f03a2dd577d7753c68d7d7d00c00c");
        let ephemeral = key("179d4b53b6365c45b600c4163b61d95cbc2f4d9e36f1695558dce265ab8bab11");
        let (info, aad) = (b"Ode on a Grecian Urn", b"Count-0");
        let mut text = b"Beauty is truth, truth beauty".to_vec();
        assert_eq!(public_key(&private), public);
        let enc = seal(&public, &ephemeral, info, aad, &mut text).unwrap();
        assert_eq!(hex(&enc), "6c93e09869df3402d7bf231bf540fadd35cd56be14f97178f0954db94b7fc256");
        assert_eq!(
            hex(&text),
            "e5d84cd531cfb583096e7cfa9641bd3079cf3a91cda813c52deb5f512be9931980a41de125a925cdad859d5b7a"
        );
        assert_eq!(
            open(&private, &public, &enc, info, aad, &mut text).unwrap(),
            b"Beauty is truth, truth beauty"
        );
    }

    #[test]
    fn keys_of_low_order_neither_seal_nor_open() {
        // Points of order 1, 2, 4 and 8; RFC 7748 §7 requires the check.
        for low in [
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000000",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        ] {
            assert_eq!(seal(&key(low), &[7; 32], b"", b"", &mut b"text".to_vec()), None);
            assert_eq!(open(&[7; 32], &[8; 32], &key(low), b"", b"", &mut [0; 20]), None);
        }
    }
}
