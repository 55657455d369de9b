//! What a remote seat is asked: an offer, checked before anybody answers it, and the ballot sealed for it.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::envelope::{Envelope, VERSION};
use super::record::{Finish, Raw, ReplyAttempt};
use super::seal::sign::{SigningKey, ballot_message, delivery_id, is_signed, offer_message};
use super::seal::{AssociatedData, Nonces, Sealer};
use super::snapshot::unhex;
use crate::ballot::{BallotForm, OptionText};

/// The part of a session's public key that its links hold: 16 bytes of its SHA-256, in base64url.
pub fn fingerprint(table_key: &str) -> Option<String> {
    let hash = Sha256::digest(unhex::<32>(table_key)?);
    Some(URL_SAFE_NO_PAD.encode(hash.get(..16)?))
}

/// A question to one seat, as far as the seat needs it.
#[derive(Debug, Clone, Deserialize)]
pub struct Offer {
    v: u32,
    pub delivery: String,
    pub session: String,
    pub round: String,
    pub participant: String,
    #[serde(rename = "try")]
    attempt: u32,
    pub question: String,
    pub ballot: BallotForm,
    #[serde(default)]
    pub address: Option<String>,
    #[serde(default)]
    pub persona: Option<String>,
    pub snapshot_sha256: String,
    /// What the ballot is sealed to.
    pub public_key: String,
    #[serde(default)]
    pub seconds_left: Option<u64>,
}

/// Why an offer is not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadOffer {
    /// It does not come from the session that the link is from.
    NotSigned,
    /// It has a form that this version does not know.
    Unknown,
}

impl Offer {
    /// Reads the JSON of an offer that the key of this fingerprint has signed.
    ///
    /// # Errors
    /// When it is not signed so, or of another form.
    pub fn read(json: &[u8], signature: &str, print: &str) -> Result<Self, BadOffer> {
        let value: Value = serde_json::from_slice(json).map_err(|_| BadOffer::NotSigned)?;
        let key = value["table_key"].as_str().unwrap_or_default();
        if fingerprint(key).as_deref() != Some(print) || !is_signed(key, &offer_message(json), signature) {
            return Err(BadOffer::NotSigned);
        }
        let offer: Self = serde_json::from_value(value).map_err(|_| BadOffer::Unknown)?;
        if offer.v != VERSION {
            return Err(BadOffer::Unknown);
        }
        let delivery = delivery_id(offer.binding(), &offer.public_key, offer.attempt);
        if delivery == offer.delivery { Ok(offer) } else { Err(BadOffer::NotSigned) }
    }

    fn binding(&self) -> AssociatedData<'_> {
        AssociatedData {
            session: &self.session,
            round: &self.round,
            participant: &self.participant,
            snapshot_sha256: &self.snapshot_sha256,
        }
    }

    /// The question as a person reads it, with the options and what is said of them.
    pub fn in_words(&self) -> String {
        let mut said = format!("You answer as {}.\n\n{}\n", self.participant, self.question);
        for option in &self.ballot.options {
            let about = self.ballot.about.get(option);
            let texts: Vec<&str> =
                about.into_iter().flat_map(OptionText::entries).map(|(_, text)| text).collect();
            let texts = if texts.is_empty() { String::new() } else { format!(": {}", texts.join(" – ")) };
            let _ = write!(said, "\n- {option}{texts}");
        }
        if let Some(left) = self.seconds_left {
            let _ = write!(said, "\n\nThe round closes in {left} s.");
        }
        said
    }

    /// A ballot with this text, sealed and signed; `None` where it is too long to be sealed.
    pub fn seal(&self, text: String, latency_ms: u64, nonces: &Nonces, key: &SigningKey) -> Option<Envelope> {
        let reply = ReplyAttempt { text, finish: Finish::Complete, limit: None, reason: None };
        let record = Raw {
            session: self.session.clone(),
            round: self.round.clone(),
            participant: self.participant.clone(),
            snapshot_sha256: self.snapshot_sha256.clone(),
            model: "human/terminal".to_owned(),
            replies: vec![reply],
            failed: None,
            tries: 1,
            latency_ms,
            tokens: None,
            dropped: Vec::new(),
            declined: 0,
        };
        let record = serde_json::to_string(&record).ok()?;
        let seal = Sealer::Two(unhex(&self.public_key)?).seal(nonces, self.binding(), &record)?;
        let signature = key.sign(&ballot_message(self.binding(), &self.public_key, &seal)?);
        let envelope = Envelope {
            v: VERSION,
            delivery: self.delivery.clone(),
            session: self.session.clone(),
            round: self.round.clone(),
            participant: self.participant.clone(),
            snapshot_sha256: self.snapshot_sha256.clone(),
            commitment: seal.commitment,
            enc: seal.enc?,
            sealed: seal.sealed,
            signature,
        };
        envelope.wrong_length().is_none().then_some(envelope)
    }
}
