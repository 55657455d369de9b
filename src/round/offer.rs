//! Offers to remote seats: verification, prompt, and the signed ballot.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::envelope::{DeliveryIds, Envelope, VERSION};
use super::prompt::{Prompt, tail};
use super::seal::sign::{SigningKey, ballot_message, delivery_id, is_signed, offer_message};
use super::seal::{Binding, SealedRecord};
use super::snapshot::unhex;
use crate::ballot::BallotForm;

/// Returns the hash of a session's public key that links contain: 16 bytes of its SHA-256, in base64url.
pub fn fingerprint(table_key: &str) -> Option<String> {
    let hash = Sha256::digest(unhex::<32>(table_key)?);
    Some(URL_SAFE_NO_PAD.encode(hash.get(..16)?))
}

/// Question to one seat, with everything the seat needs.
#[derive(Debug, Clone, Deserialize)]
pub struct Offer {
    v: u32,
    kind: String,
    #[serde(flatten)]
    pub ids: DeliveryIds,
    #[serde(rename = "try")]
    attempt: u32,
    pub question: String,
    pub ballot: BallotForm,
    /// Prompt instructions with the answer form: the system message.
    #[serde(default)]
    pub rules: String,
    /// Model that a worker should ask; by default the worker's first.
    #[serde(default)]
    pub model: Option<String>,
    #[serde(default)]
    pub address: Option<String>,
    #[serde(default)]
    pub persona: Option<String>,
    pub snapshot_sha256: String,
    opened_sha256: String,
    pub public_key: String,
    /// End of the round, in milliseconds UTC.
    #[serde(default)]
    pub deadline: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadOffer {
    /// Names a session key that is not trusted.
    Stranger,
    /// Not signed with that key, or the delivery id does not match.
    NotSigned,
    /// Has a form that this version does not know.
    Unknown,
}

impl Offer {
    /// Parses the JSON of an offer and checks its signature. `is_trusted` gets the session's public key, in
    /// hex.
    pub fn read(json: &[u8], signature: &str, is_trusted: impl Fn(&str) -> bool) -> Result<Self, BadOffer> {
        let value: Value = serde_json::from_slice(json).map_err(|_| BadOffer::NotSigned)?;
        let key = value["table_key"].as_str().unwrap_or_default();
        if !is_trusted(key) {
            return Err(BadOffer::Stranger);
        }
        if !is_signed(key, &offer_message(json), signature) {
            return Err(BadOffer::NotSigned);
        }
        let offer: Self = serde_json::from_value(value).map_err(|_| BadOffer::Unknown)?;
        if offer.v != VERSION || offer.kind != "ballot" {
            return Err(BadOffer::Unknown);
        }
        let delivery = delivery_id(&offer.binding(), &offer.public_key, offer.attempt);
        if delivery == offer.ids.delivery { Ok(offer) } else { Err(BadOffer::NotSigned) }
    }

    pub fn binding(&self) -> Binding {
        let DeliveryIds { session, round, participant, .. } = self.ids.clone();
        let (snapshot_sha256, opened_sha256) = (self.snapshot_sha256.clone(), self.opened_sha256.clone());
        Binding { session, round, participant, snapshot_sha256, opened_sha256 }
    }

    /// Returns the prompt for a model or program, the same as that of a local seat.
    pub fn prompt(&self, snapshot: Arc<str>) -> Prompt {
        let [address, persona] =
            [&self.address, &self.persona].map(|text| text.as_deref().unwrap_or_default());
        Prompt { rules: self.rules.as_str().into(), snapshot, tail: tail(address, persona) }
    }

    /// Signs a ballot sealed for this offer; `None` if the seal is malformed.
    pub fn envelope(&self, seal: SealedRecord, key: &SigningKey) -> Option<Envelope> {
        let binding = self.binding();
        let signature = key.sign(&ballot_message(&binding, &self.public_key, &seal)?);
        let envelope = Envelope { v: VERSION, delivery: self.ids.delivery.clone(), binding, seal, signature };
        envelope.is_padded().then_some(envelope)
    }
}
