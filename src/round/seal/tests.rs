//! Tests of sealing, unsealing and padding.

use super::{
    Binding, Nonces, RoundKey, SealedRecord, Sealer, TAG, UnsealError, UnsealedRecord, commit, hex, hpke,
    unhex, unseal,
};

const NONCES: Nonces = Nonces { ephemeral: [2; 32], commitment: [3; 32] };

fn bound(parts: [&str; 4]) -> Binding {
    let [session, round, participant, snapshot_sha256] = parts.map(str::to_owned);
    Binding { session, round, participant, snapshot_sha256, opened_sha256: "11".to_owned() }
}

fn binding() -> Binding {
    bound(["s", "r", "p", "00"])
}

#[test]
fn records_open_unchanged_and_only_for_their_seat() {
    let key = RoundKey::new([1; 32]);
    let sealed = Sealer::new(&key).seal(&NONCES, &binding(), "{\"vote\":\"a\"}").unwrap();
    let opened = unseal(&key, &binding(), &sealed).unwrap();
    assert_eq!(opened, UnsealedRecord { record: "{\"vote\":\"a\"}".to_owned(), nonce: hex(&[3; 32]) });
    for other in [["t", "r", "p", "00"], ["s", "q", "p", "00"], ["s", "r", "q", "00"], ["s", "r", "p", "01"]]
    {
        assert_eq!(unseal(&key, &bound(other), &sealed), Err(UnsealError::WrongKey));
    }
    let wrong = RoundKey::new([9; 32]);
    assert_eq!(unseal(&wrong, &binding(), &sealed), Err(UnsealError::WrongKey));
    let mut flipped = sealed.clone();
    flipped.sealed[100] ^= 1;
    assert_eq!(unseal(&key, &binding(), &flipped), Err(UnsealError::WrongKey));
    // The commitment is authenticated too.
    let swapped = SealedRecord { commitment: commit(&[3; 32], b"other"), ..sealed.clone() };
    assert_eq!(unseal(&key, &binding(), &swapped), Err(UnsealError::WrongKey));
    let without = SealedRecord { enc: String::new(), ..sealed };
    assert_eq!(unseal(&key, &binding(), &without), Err(UnsealError::Malformed));
}

#[test]
fn short_and_long_answers_have_one_length() {
    let length = |record: usize| {
        let sealer = Sealer::new(&RoundKey::new([1; 32]));
        let record = sealer.seal(&NONCES, &binding(), &"x".repeat(record));
        record.map(|record| record.sealed.len() - TAG)
    };
    let classes = [1, 8152, 8153, 16_344, 16_345, 262_104, 262_105].map(length);
    let expected = [8192, 8192, 16_384, 16_384, 32_768, 262_144].map(Some);
    assert_eq!(classes[..6], expected);
    assert_eq!(classes[6], None);
}

#[test]
fn wrong_padding_does_not_open() {
    let key = RoundKey::new([1; 32]);
    // Non-zero byte in the padding.
    let mut text = vec![0; 8192];
    text[..32].copy_from_slice(&NONCES.commitment);
    text[39] = 5;
    text[40..45].copy_from_slice(b"short");
    text[8191] = 1;
    let commitment = commit(&NONCES.commitment, b"short");
    let public = unhex(&key.seal_to().public_key).unwrap();
    let aad: [u8; 32] = unhex(&commitment).unwrap();
    let enc = hex(&hpke::seal(&public, &NONCES.ephemeral, &binding().info(), &aad, &mut text).unwrap());
    let sealed = SealedRecord { commitment, enc, sealed: text };
    assert_eq!(unseal(&key, &binding(), &sealed), Err(UnsealError::Padding));
}

#[test]
fn a_key_is_never_printed() {
    let key = RoundKey::new([7; 32]);
    assert!(!format!("{key:?}").contains("07"));
    assert_eq!(RoundKey::from_hex(&key.publish()), Some(key));
}
