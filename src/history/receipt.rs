//! A receipt: what a remote seat keeps when its answer is sealed, and holds against the file afterwards.
//!
//! It names session, round, seat, door and key, and holds the hashes of the round's opening and of what was
//! sealed. It says nothing of the answer, nor of its length, and proves nothing alone.

use serde::{Deserialize, Serialize};

use super::event::Door;
use super::state::{RoundRun, SeatStatus, Session};
use crate::round::seal::SealedRecord;
use crate::round::snapshot::sha256_hex;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    pub session: String,
    pub round: String,
    pub participant: String,
    pub door: Door,
    /// The public key that the seat signed with; none where its ballots are sealed for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The hash of the document that opened the round: it covers all that was fixed before.
    pub opened_sha256: String,
    pub commitment: String,
    pub sealed_sha256: String,
}

impl Receipt {
    /// The receipt of what a remote seat has sealed in a round, also after the reveal.
    pub fn of_seat(round: &RoundRun, seat: &str) -> Option<Self> {
        match &round.seat(seat)?.status {
            SeatStatus::Sealed(held) | SeatStatus::Lost(held) | SeatStatus::Revealed(_, held) => {
                Self::new(round, seat, held)
            }
            _ => None,
        }
    }

    /// The receipt of an answer that is revealed, if its text is this.
    pub fn of_text(round: &RoundRun, seat: &str, text: &str) -> Option<Self> {
        let SeatStatus::Revealed(answer, held) = &round.seat(seat)?.status else { return None };
        let is_same = answer.record.replies.last().is_some_and(|reply| reply.text == text);
        is_same.then(|| Self::new(round, seat, held)).flatten()
    }

    fn new(round: &RoundRun, name: &str, held: &SealedRecord) -> Option<Self> {
        let seat = round.seat(name)?;
        Some(Self {
            session: round.session.clone(),
            round: round.opened.round.clone(),
            participant: name.to_owned(),
            door: seat.door?,
            key: seat.signed_with.clone(),
            opened_sha256: round.opened_sha256.clone(),
            commitment: held.commitment.clone(),
            sealed_sha256: sha256_hex(&held.sealed),
        })
    }

    pub fn read(text: &str) -> Result<Self, String> {
        let receipt: Self =
            serde_json::from_str(text).map_err(|error| format!("this is no receipt: {error}"))?;
        let is_hash = |hash: &String| {
            hash.len() == 64 && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        let hashes = [&receipt.opened_sha256, &receipt.commitment, &receipt.sealed_sha256];
        if !hashes.into_iter().chain(&receipt.key).all(is_hash) {
            return Err("this is no receipt: a hash or a key has 64 hex digits".to_owned());
        }
        Ok(receipt)
    }

    /// Holds the receipt against the state after all events of a file; what is proven by it.
    ///
    /// # Errors
    /// What does not fit, or that the answer is not revealed though the round is closed.
    pub fn check(&self, session: &Session) -> Result<String, String> {
        let Self { round: id, participant: who, .. } = self;
        let of_session = |round: &&RoundRun| round.session == self.session;
        if session.id != self.session && !session.rounds.iter().any(|round| of_session(&round)) {
            let (of, is) = (&self.session, &session.id);
            return Err(format!("the receipt of `{who}` is of session `{of}`; this one is `{is}`"));
        }
        let round = session.rounds.iter().filter(of_session).find(|round| round.opened.round == *id);
        let round =
            round.ok_or(format!("the session has no round `{id}` (the receipt is for `{who}` in it)"))?;
        let seat = round
            .seat(who)
            .ok_or(format!("`{who}` had no seat in round `{id}`, for which the receipt is"))?;
        if seat.door.is_none() {
            return Err(format!("`{who}` is no remote seat, and only those have receipts"));
        }
        let Some(held) = Self::of_seat(round, who) else {
            return Err(match &seat.status {
                SeatStatus::Failed(failed) => {
                    format!("the answer of `{who}` in round `{id}` is not counted: {}", failed.reason)
                }
                _ => format!("the file holds no sealed answer of `{who}` in round `{id}`"),
            });
        };
        let differs =
            |what: &str| Err(format!("the receipt of `{who}` in round `{id}` and the file differ in {what}"));
        if held.opened_sha256 != self.opened_sha256 {
            return differs("how the round was opened: its question, its rules or what came before it");
        }
        if held.door != self.door || held.key != self.key {
            return differs("the door or the key of the seat");
        }
        if (&held.commitment, &held.sealed_sha256) != (&self.commitment, &self.sealed_sha256) {
            return differs("what was sealed: it is another answer");
        }
        let now = match &seat.status {
            SeatStatus::Revealed(..) => "it is the one that is revealed",
            SeatStatus::Sealed(_) if round.closed.is_none() => "it is not revealed yet",
            SeatStatus::Lost(_) => {
                return Err(format!("the answer of `{who}` in round `{id}` was lost with its key"));
            }
            _ => return Err(format!("round `{id}` is closed, and the answer of `{who}` is not revealed")),
        };
        Ok(format!(
            "receipt of `{who}` in round `{id}`: the file holds the answer that was sealed then; {now}"
        ))
    }
}
