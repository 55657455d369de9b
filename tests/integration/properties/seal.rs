//! Seals: records survive sealing and opening.

use roundtable::round::seal::{
    Binding, Nonces, RoundKey, SealedRecord, Sealer, UnsealError, commit, hpke, unseal,
};
use roundtable::round::snapshot::{hex, unhex};

use super::text;

fn binding() -> Binding {
    Binding { session: "s".into(), round: "r".into(), participant: "p".into(), ..Binding::default() }
}

/// Reads any bytes as a record, as a sealed record's JSON, and as the plaintext of a seal.
pub fn seal(data: &[u8]) {
    let key = RoundKey::new([7; 32]);
    let record = text(data);
    let nonces = Nonces { ephemeral: [5; 32], commitment: [6; 32] };
    if let Some(sealed) = Sealer::new(&key).seal(&nonces, &binding(), record) {
        assert_eq!(unseal(&key, &binding(), &sealed).expect("its own").record, record);
    }
    if let Ok(sealed) = serde_json::from_slice::<SealedRecord>(data) {
        assert!(unseal(&key, &binding(), &sealed).is_err(), "nobody guesses a tag");
    }
    inside(&key, data);
}

/// Seals any bytes as a stranger would: authenticated, with arbitrary content.
fn inside(key: &RoundKey, data: &[u8]) {
    let public = unhex(&key.seal_to().public_key).expect("a public key");
    // The commitment matches the record, if any, so that only the padding decides.
    let length = data.get(32..40).and_then(|length| Some(u64::from_be_bytes(length.try_into().ok()?)));
    let record = length.and_then(|length| data.get(40..40_usize.checked_add(usize::try_from(length).ok()?)?));
    let nonce = data.first_chunk::<32>().copied().unwrap_or_default();
    let commitment = commit(&nonce, record.unwrap_or_default());
    let aad: [u8; 32] = unhex(&commitment).expect("a hash");
    let mut bytes = data.to_vec();
    let enc = hpke::seal(&public, &[5; 32], &binding().info(), &aad, &mut bytes).expect("a public key");
    let sealed = SealedRecord { commitment, enc: hex(&enc), sealed: bytes };
    match unseal(key, &binding(), &sealed) {
        Ok(opened) => {
            let nonces = Nonces { ephemeral: [5; 32], commitment: nonce };
            let again = Sealer::new(key).seal(&nonces, &binding(), &opened.record);
            assert_eq!(again, Some(sealed));
        }
        Err(why) => assert_ne!(why, UnsealError::WrongKey),
    }
}
