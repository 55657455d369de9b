//! A receipt: what a remote seat keeps when its answer is sealed, and holds against the file afterwards.
//!
//! It names session, round, seat and snapshot and holds the commitment, whose nonce nobody sees before
//! the reveal: it says nothing of the answer, nor of its length. It proves nothing alone.

use serde::{Deserialize, Serialize};

use super::event::{BallotSealed, Event};
use super::state::{RoundRun, SeatStatus, Session};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// The session the round was opened in.
    pub session: String,
    pub round: String,
    pub participant: String,
    /// The hash of the snapshot the seat was handed.
    pub snapshot_sha256: String,
    pub commitment: String,
}

impl Receipt {
    /// The receipt of what a seat has sealed in a round, also after the reveal.
    pub fn of_seat(round: &RoundRun, seat: &str) -> Option<Self> {
        match &round.seat(seat)?.status {
            SeatStatus::Sealed(held) | SeatStatus::Revealed(_, held) => {
                Some(Self::new(round, seat, &held.commitment))
            }
            _ => None,
        }
    }

    /// The receipt of an answer that is revealed, if its text is this.
    pub fn of_text(round: &RoundRun, seat: &str, text: &str) -> Option<Self> {
        let SeatStatus::Revealed(answer, held) = &round.seat(seat)?.status else { return None };
        let is_same = answer.replies.last().is_some_and(|reply| reply.text == text);
        is_same.then(|| Self::new(round, seat, &held.commitment))
    }

    fn new(round: &RoundRun, seat: &str, commitment: &str) -> Self {
        Self {
            session: round.session.clone(),
            round: round.opened.round.clone(),
            participant: seat.to_owned(),
            snapshot_sha256: round.opened.snapshot_sha256.clone(),
            commitment: commitment.to_owned(),
        }
    }

    pub fn read(text: &str) -> Result<Self, String> {
        let receipt: Self =
            serde_json::from_str(text).map_err(|error| format!("this is no receipt: {error}"))?;
        let is_hash = |hash: &str| {
            hash.len() == 64 && hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        if !is_hash(&receipt.commitment) || !is_hash(&receipt.snapshot_sha256) {
            return Err("this is no receipt: a hash has 64 hex digits".to_owned());
        }
        Ok(receipt)
    }

    /// Whether this session, or one whose history it begins with, is the receipt's.
    pub fn is_of(&self, session: &Session) -> bool {
        session.id == self.session || session.rounds.iter().any(|round| round.session == self.session)
    }

    /// Holds the receipt against the events of a file; `session` is the state after them.
    pub fn check<'a>(
        &self,
        session: &Session,
        events: impl Iterator<Item = &'a Event> + Clone,
    ) -> Result<String, String> {
        let Self { round: id, participant: who, .. } = self;
        let mut rounds = session.rounds.iter().filter(|round| round.session == self.session);
        let Some(round) = rounds.find(|round| round.opened.round == *id) else {
            return Err(format!("the session has no round `{id}` (the receipt is for `{who}` in it)"));
        };
        if round.seat(who).is_none() {
            return Err(format!("`{who}` had no seat in round `{id}`, for which the receipt is"));
        }
        if !session.is_remote(who) {
            return Err(format!("`{who}` is no remote seat, and only those have receipts"));
        }
        if self.snapshot_sha256 != round.opened.snapshot_sha256 {
            return Err(format!("`{who}` was handed another snapshot in round `{id}` than the file holds"));
        }
        let seals = events
            .filter_map(|event| if let Event::BallotSealed(sealed) = event { Some(sealed) } else { None });
        let is_seat = |sealed: &&BallotSealed| sealed.round == *id && sealed.participant == *who;
        let is_same = |sealed: &&BallotSealed| sealed.seal.commitment == self.commitment;
        if seals.clone().filter(is_seat).any(|sealed| is_same(&sealed)) {
            return Ok(self.stands(round));
        }
        if let Some(other) = seals.clone().find(is_same) {
            let (whose, of) = (&other.participant, &other.round);
            return Err(format!(
                "the receipt says `{who}` in round `{id}`, and its answer is that of `{whose}` in round `{of}`"
            ));
        }
        let Some(held) = seals.filter(is_seat).last() else {
            return Err(format!(
                "the file holds no sealed answer of `{who}` in round `{id}`, for which the receipt is"
            ));
        };
        Err(format!(
            "the answer of `{who}` in round `{id}` is not the one that was sealed then: the receipt commits to \
             {}…, the file to {}…",
            short(&self.commitment),
            short(&held.seal.commitment)
        ))
    }

    /// What a receipt that fits says of the answer now.
    fn stands(&self, round: &RoundRun) -> String {
        let Self { round: id, participant: who, .. } = self;
        let now = match round.seat(who).map(|seat| &seat.status) {
            Some(SeatStatus::Revealed(..)) => "it is the one that is revealed",
            Some(SeatStatus::Sealed(_)) => "it is not revealed yet",
            Some(SeatStatus::Failed(_)) => "it could not be opened",
            _ => "its key was lost, and it cannot be opened",
        };
        format!("receipt of `{who}` in round `{id}`: the file holds the answer that was sealed then; {now}")
    }
}

fn short(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}
