//! State of remote seats: invitations, keys and receipts.
//!
//! A remote seat keeps the receipt of its sealed answer and can check it against the file later. A receipt
//! names session, round, seat, door and key, and contains the hashes of the round's opening and of the sealed
//! answer. It reveals neither the answer nor its length, and proves nothing without the file.

use indexmap::IndexSet;
use serde::{Deserialize, Serialize};
use serde_with_macros::skip_serializing_none;

use super::event::{BallotSealed, Door, RemoteSeat, SeatInvited, SeatJoined};
use super::state::{Invitation, RoundRun, SeatStatus, Session};
use crate::round::envelope::is_hex;
use crate::round::seal::sign::{ballot_message, delivery_id, is_signed};
use crate::round::seal::{Binding, SealHashes};
use crate::sanitize::pluralize;

impl Session {
    pub(super) fn note_joined(&mut self, joined: &SeatJoined) {
        if let Some(invitation) = self.invitations.get_mut(&joined.participant) {
            invitation.key = Some(joined.key.clone());
        }
    }

    pub(super) fn invite(&mut self, invited: &SeatInvited) {
        let SeatInvited { participant, invitation, expires } = invited.clone();
        let before = self.invitations.get(&participant);
        let earlier_keys = before.map_or(0, |before| before.earlier_keys + u32::from(before.key.is_some()));
        self.invitations.insert(participant, Invitation { invitation, expires, key: None, earlier_keys });
    }

    pub fn is_remote(&self, seat: &str) -> bool {
        self.remote(seat).is_some()
    }

    pub fn remote(&self, seat: &str) -> Option<&RemoteSeat> {
        self.seat_info(seat)?.remote.as_ref()
    }

    /// Checks if a remote seat seals its own ballots; all do except agents that poll.
    pub fn seals_itself(&self, seat: &str) -> bool {
        self.remote(seat).is_some_and(|remote| remote.door != Door::Inbox)
    }

    /// Returns the public key for a remote seat's signatures: the one in the header, else the one of its joining.
    pub fn seat_key(&self, seat: &str) -> Option<&str> {
        let pinned = self.remote(seat)?.key.as_deref();
        pinned.or_else(|| self.invitations.get(seat)?.key.as_deref())
    }

    /// Returns notes on remote ballots whose signatures prove less than usual, one per line.
    pub fn remote_notes(&self) -> Vec<String> {
        let seats = self.rounds.iter().flat_map(|round| round.seats.values());
        let here = seats.filter(|seat| seat.door == Some(Door::Inbox) && seat.status.was_sealed());
        let here: Vec<&str> = here.map(|seat| seat.name.as_str()).collect();
        let mut notes = Vec::new();
        if !here.is_empty() {
            let names: IndexSet<&str> = here.iter().copied().collect();
            let names = names.into_iter().collect::<Vec<_>>().join(", ");
            let ballots = pluralize(here.len(), "ballot");
            notes.push(format!("{ballots} came as plain text, sealed on arrival: {names}"));
        }
        for (seat, known) in &self.invitations {
            if known.earlier_keys > 0 && known.key.is_some() {
                notes.push(format!("{seat} was invited again and has joined with more than one key"));
            }
        }
        notes
    }

    pub fn is_signed_by_seat(&self, sealed: &BallotSealed) -> bool {
        let round = self.round(&sealed.round);
        let message = round.and_then(|round| {
            let public_key = &round.seal_to.as_ref()?.public_key;
            ballot_message(&round.binding(&sealed.participant), public_key, &sealed.seal)
        });
        let signed = self.seat_key(&sealed.participant).zip(message).zip(sealed.signature.as_ref());
        signed.is_some_and(|((key, message), signature)| is_signed(key, &message, signature))
    }
}

impl RoundRun {
    pub fn binding(&self, seat: &str) -> Binding {
        Binding {
            session: self.session.clone(),
            round: self.opened.round.clone(),
            participant: seat.to_owned(),
            snapshot_sha256: self.opened.snapshot_sha256.clone(),
            opened_sha256: self.opened_sha256.clone(),
        }
    }

    /// Returns the id of the delivery that a remote seat must answer now.
    pub fn delivery(&self, seat: &str) -> Option<String> {
        let public_key = &self.seal_to.as_ref()?.public_key;
        Some(delivery_id(&self.binding(seat), public_key, self.seat(seat)?.retried + 1))
    }
}

#[skip_serializing_none]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    pub session: String,
    pub round: String,
    pub participant: String,
    pub door: Door,
    /// Public key for the seat's signatures; `None` if its ballots are sealed for it.
    pub key: Option<String>,
    /// Hash of the entry that opened the round; it covers everything fixed before.
    pub opened_sha256: String,
    pub commitment: String,
    pub sealed_sha256: String,
}

impl Receipt {
    pub fn for_seat(round: &RoundRun, seat: &str) -> Option<Self> {
        match &round.seat(seat)?.status {
            SeatStatus::Sealed(held) | SeatStatus::Lost(held) => Self::new(round, seat, held.hashes()),
            SeatStatus::Revealed(_, held) => Self::new(round, seat, held.clone()),
            _ => None,
        }
    }

    /// Returns the receipt of a revealed answer with this text.
    pub fn for_text(round: &RoundRun, seat: &str, text: &str) -> Option<Self> {
        let SeatStatus::Revealed(answer, held) = &round.seat(seat)?.status else { return None };
        let is_same = answer.record.replies.last().is_some_and(|reply| reply.text == text);
        is_same.then(|| Self::new(round, seat, held.clone())).flatten()
    }

    fn new(round: &RoundRun, name: &str, held: SealHashes) -> Option<Self> {
        let seat = round.seat(name)?;
        Some(Self {
            session: round.session.clone(),
            round: round.opened.round.clone(),
            participant: name.to_owned(),
            door: seat.door?,
            key: seat.signed_with.clone(),
            opened_sha256: round.opened_sha256.clone(),
            commitment: held.commitment,
            sealed_sha256: held.sealed_sha256,
        })
    }

    pub fn read(text: &str) -> Result<Self, String> {
        let receipt: Self =
            serde_json::from_str(text).map_err(|error| format!("this is no receipt: {error}"))?;
        let hashes = [&receipt.opened_sha256, &receipt.commitment, &receipt.sealed_sha256];
        if !hashes.into_iter().chain(&receipt.key).all(|hash| is_hex(hash, 32)) {
            return Err("this is no receipt: a hash or a key has 64 hex digits".to_owned());
        }
        Ok(receipt)
    }

    /// Checks the receipt against the state after all events of a file and describes what it proves.
    ///
    /// # Errors
    /// Returns the first difference, or reports a closed round without the revealed answer.
    pub fn check(&self, session: &Session) -> Result<String, String> {
        let Self { session: of, round: id, participant: who, .. } = self;
        let receipt = format!("the receipt of `{who}` in round `{id}`");
        let round = session.rounds.iter().find(|round| round.session == *of && round.opened.round == *id);
        let round =
            round.ok_or_else(|| format!("{receipt}: the file has no such round of session `{of}`"))?;
        let seat = round.seat(who).filter(|seat| seat.door.is_some());
        let seat = seat.ok_or_else(|| format!("{receipt}: there is no remote seat of that name"))?;
        let Some(held) = Self::for_seat(round, who) else {
            let why =
                if let SeatStatus::Failed(failed) = &seat.status { &failed.reason } else { "there is none" };
            return Err(format!("{receipt}: the file contains no sealed answer: {why}"));
        };
        let differs = if held.opened_sha256 != self.opened_sha256 {
            Some("how the round was opened: its question, its rules or what came before it")
        } else if held.door != self.door || held.key != self.key {
            Some("the door or the key of the seat")
        } else {
            (held != *self).then_some("what was sealed: it is another answer")
        };
        if let Some(what) = differs {
            return Err(format!("{receipt} and the file differ in {what}"));
        }
        let now = match &seat.status {
            SeatStatus::Revealed(..) => "it is the one that is revealed",
            SeatStatus::Sealed(_) if round.closed.is_none() => "it is not revealed yet",
            SeatStatus::Lost(_) => return Err(format!("{receipt}: the answer was lost with its key")),
            _ => return Err(format!("{receipt}: the round is closed, and the answer is not revealed")),
        };
        Ok(format!("{receipt}: the file contains the answer that was sealed then; {now}"))
    }
}
