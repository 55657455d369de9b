//! What is sealed, to whom, and what opens.

use chacha20poly1305::aead::AeadInOut as _;
use sha2::{Digest as _, Sha256};

use super::{
    AssociatedData, LABEL_1, Nonces, RoundKey, SealFormat, SealedRecord, Sealer, TAG, UnsealError,
    UnsealedRecord, cipher, commit, hex, unhex, unseal,
};

const BINDING: AssociatedData<'_> =
    AssociatedData { session: "s", round: "r", participant: "p", snapshot_sha256: "00" };
const NONCES: Nonces = Nonces { cipher: [2; 32], commitment: [3; 32] };
const ONE: SealFormat = SealFormat::One;

#[test]
fn opens_to_what_was_sealed_and_only_for_its_seat() {
    for format in [ONE, SealFormat::Two] {
        let key = RoundKey::new([1; 32]);
        let sealed = Sealer::new(&key, format).seal(&NONCES, BINDING, "{\"vote\":\"a\"}").unwrap();
        let opened = unseal(&key, BINDING, &sealed, format).unwrap();
        assert_eq!(opened, UnsealedRecord { record: "{\"vote\":\"a\"}".to_owned(), nonce: hex(&[3; 32]) });
        for other in [
            AssociatedData { session: "t", ..BINDING },
            AssociatedData { round: "q", ..BINDING },
            AssociatedData { participant: "q", ..BINDING },
            AssociatedData { snapshot_sha256: "01", ..BINDING },
        ] {
            assert_eq!(unseal(&key, other, &sealed, format), Err(UnsealError::WrongKey));
        }
        let wrong = RoundKey::new([9; 32]);
        assert_eq!(unseal(&wrong, BINDING, &sealed, format), Err(UnsealError::WrongKey));
        let mut flipped = sealed.clone();
        flipped.sealed[100] ^= 1;
        assert_eq!(unseal(&key, BINDING, &flipped, format), Err(UnsealError::WrongKey));
        // Seal 2 authenticates the commitment too.
        let swapped = SealedRecord { commitment: commit(&[3; 32], b"other"), ..sealed.clone() };
        let why = if format == ONE { UnsealError::WrongCommitment } else { UnsealError::WrongKey };
        assert_eq!(unseal(&key, BINDING, &swapped, format), Err(why));
        // One seal is never taken for the other.
        let other = if format == ONE { SealFormat::Two } else { ONE };
        assert_eq!(unseal(&key, BINDING, &sealed, other), Err(UnsealError::Malformed));
        let neither = SealedRecord { nonce: None, enc: None, ..sealed };
        assert_eq!(unseal(&key, BINDING, &neither, format), Err(UnsealError::Malformed));
    }
}

/// The vectors of `docs/SESSION_FORMAT.md`, which a second program checks too.
#[test]
fn both_seals_are_the_documented_ones() {
    let text = include_str!("../../../docs/SESSION_FORMAT.md");
    let blocks = text.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next());
    let vectors: Vec<serde_json::Value> = blocks.map(|block| serde_json::from_str(block).unwrap()).collect();
    let formats = [ONE, SealFormat::Two];
    assert_eq!(vectors.len(), formats.len());
    for (vector, format) in vectors.iter().zip(formats) {
        let text = |key: &str| vector[key].as_str().unwrap();
        let receipt = |key: &str| vector["receipt"][key].as_str().unwrap();
        let binding = AssociatedData {
            session: receipt("session"),
            round: receipt("round"),
            participant: receipt("participant"),
            snapshot_sha256: receipt("snapshot_sha256"),
        };
        let cipher = match format {
            SealFormat::One => format!("{}{}", text("nonce"), "00".repeat(8)),
            SealFormat::Two => text("ephemeral_key").to_owned(),
        };
        let commitment = unhex(text("commitment_nonce")).unwrap();
        let nonces = Nonces { cipher: unhex(&cipher).unwrap(), commitment };
        let key = RoundKey::from_hex(text("key")).unwrap();
        let sealed = Sealer::new(&key, format).seal(&nonces, binding, text("record")).unwrap();
        assert_eq!(hex(&Sha256::digest(&sealed.sealed)), text("sealed_sha256"));
        assert_eq!(sealed.commitment, text("commitment"));
        assert_eq!(sealed.nonce.as_deref(), vector["nonce"].as_str());
        assert_eq!(sealed.enc.as_deref(), vector["enc"].as_str());
        if format == SealFormat::Two {
            assert_eq!(key.seal_to().public_key, text("public_key"));
        }
        let opened = unseal(&key, binding, &sealed, format).unwrap();
        assert_eq!(opened, UnsealedRecord { record: text("record").to_owned(), nonce: hex(&commitment) });
    }
}

/// The test vector of draft-irtf-cfrg-xchacha-03, appendix A.3.1.
#[test]
fn the_cipher_is_the_published_one() {
    let key = RoundKey::new(std::array::from_fn(|n| 0x80 + n as u8));
    let nonce: [u8; 24] = std::array::from_fn(|n| 0x40 + n as u8);
    let mut text = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the \
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
    let length = |record: usize| {
        let sealer = Sealer::new(&RoundKey::new([1; 32]), ONE);
        let record = sealer.seal(&NONCES, BINDING, &"x".repeat(record));
        record.map(|record| record.sealed.len() - TAG)
    };
    let classes = [1, 8152, 8153, 16_344, 16_345, 262_104, 262_105].map(length);
    let expected = [8192, 8192, 16_384, 16_384, 32_768, 262_144].map(Some);
    assert_eq!(classes[..6], expected);
    assert_eq!(classes[6], None);
}

#[test]
fn what_is_padded_otherwise_does_not_open() {
    let key = RoundKey::new([1; 32]);
    // Something that is hidden behind the record.
    let mut text = vec![0; 8192];
    text[..32].copy_from_slice(&NONCES.commitment);
    text[39] = 5;
    text[40..45].copy_from_slice(b"short");
    text[8191] = 1;
    let nonce: [u8; 24] = [2; 24];
    cipher(&key).encrypt_in_place(&nonce.into(), &BINDING.bytes(LABEL_1), &mut text).unwrap();
    let commitment = commit(&NONCES.commitment, b"short");
    let sealed = SealedRecord { commitment, nonce: Some(hex(&nonce)), enc: None, sealed: text };
    assert_eq!(unseal(&key, BINDING, &sealed, ONE), Err(UnsealError::Padding));
}

#[test]
fn a_key_is_never_printed() {
    let key = RoundKey::new([7; 32]);
    assert!(!format!("{key:?}").contains("07"));
    assert_eq!(RoundKey::from_hex(&key.publish()), Some(key));
}
