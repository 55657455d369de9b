//! Messages of remote seats: round trips, and answers only to signed offers.

use std::sync::Arc;

use roundtable::round::envelope::{Envelope, FailedDelivery};
use roundtable::round::offer::Offer;
use roundtable::round::seal::sign::{SigningKey, delivery_id, is_signed, offer_message};
use roundtable::round::seal::{Binding, Nonces, Sealer};
use serde_json::Value;

/// Reads any bytes as an envelope, a failure and an offer.
pub fn remote(data: &[u8]) {
    let key = SigningKey::new([5; 32]);
    if let Some(envelope) = Envelope::read(data) {
        let json = serde_json::to_vec(&envelope).expect("JSON");
        assert_eq!(Envelope::read(&json).as_ref(), Some(&envelope));
    }
    if let Some(failed) = FailedDelivery::read(data) {
        let json = serde_json::to_vec(&failed).expect("JSON");
        assert_eq!(FailedDelivery::read(&json).as_ref(), Some(&failed));
        assert!(!failed.is_signed_by(&key.public()), "nobody guesses a signature");
        assert!(failed.sign(&key).is_signed_by(&key.public()));
    }
    assert!(Offer::read(data, &"0".repeat(128), |_| true).is_err(), "nobody guesses a signature");
    if let Ok(Value::Object(mut offer)) = serde_json::from_slice(data) {
        offer.insert("table_key".to_owned(), key.public().into());
        if let Some(delivery) = delivery(&offer) {
            offer.insert("delivery".to_owned(), delivery.into());
        }
        signed(&Value::Object(offer).to_string(), &key);
    }
}

fn delivery(offer: &serde_json::Map<String, Value>) -> Option<String> {
    let of = |name: &str| offer.get(name)?.as_str();
    let binding: Binding = serde_json::from_value(offer.clone().into()).ok()?;
    let attempt = u32::try_from(offer.get("try")?.as_u64()?).ok()?;
    Some(delivery_id(&binding, of("public_key")?, attempt))
}

/// Checks an offer of a trusted table: an answer sealed for it is an envelope signed by the seat.
fn signed(json: &str, table: &SigningKey) {
    let signature = table.sign(&offer_message(json.as_bytes()));
    assert!(Offer::read(json.as_bytes(), &signature, |_| false).is_err(), "a stranger is asked");
    let Ok(offer) = Offer::read(json.as_bytes(), &signature, |key| key == table.public()) else { return };
    let changed = format!("{json} ");
    assert!(Offer::read(changed.as_bytes(), &signature, |_| true).is_err(), "a changed byte");
    assert!(!offer.prompt(Arc::from("")).rules.is_empty() || offer.rules.is_empty());
    let (seat, nonces) = (SigningKey::new([6; 32]), Nonces { ephemeral: [7; 32], commitment: [8; 32] });
    let binding = offer.binding();
    let made = Sealer::to(&offer.public_key).and_then(|to| to.seal(&nonces, &binding, "{}"));
    if let Some(envelope) = made.and_then(|made| offer.envelope(made, &seat)) {
        let json = serde_json::to_vec(&envelope).expect("JSON");
        assert!(envelope.is_padded());
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let is_hash = |hash: &String| hash.len() == 64 && hash.bytes().all(is_digit);
        let are_hashes = [&binding.snapshot_sha256, &binding.opened_sha256].into_iter().all(is_hash);
        assert_eq!(Envelope::read(&json).is_some(), are_hashes);
        assert!(!is_signed(&seat.public(), b"", &envelope.signature));
    }
}
