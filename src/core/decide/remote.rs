//! What remote seats lead to: invitations, keys, signed ballots, refusals.
//!
//! A refusal is one of the words that a door sends back.

use super::round::fail_seat;
use crate::core::command::{DecideResult, Refusal, refuse};
use crate::history::{
    BallotSealed, EnvelopeRefused, Event, RoundRun, SealedBy, SeatFailed, SeatInvited, SeatJoined,
    SeatStatus, Session, Timestamp,
};
use crate::round::envelope::{Envelope, FailedDelivery, Failure, WrongLength};
use crate::round::seal::sign::is_public_key;
use crate::round::snapshot::{hex, unhex};

/// The words of refusals; those of envelopes are on record.
pub mod refusal {
    pub const STALE: &str = "stale";
    pub const ALREADY_SEALED: &str = "already sealed";
    pub const ROUND_CLOSED: &str = "round closed";
    pub const SEAT_EXCUSED: &str = "seat excused";
    pub const TOO_LONG: &str = "too long";
    pub const BAD_LENGTH: &str = "bad length";
    pub const BAD_SIGNATURE: &str = "bad signature";
    pub const NO_SUCH_INVITATION: &str = "no such invitation";
    pub const ALREADY_PINNED: &str = "already pinned";
    pub const MALFORMED: &str = "malformed";
    pub const NOT_A_PARTICIPANT: &str = "not a participant";
    pub const NO_SUCH_AGENT: &str = "no such agent";
    pub const NOT_OFFERED: &str = "not offered";
    pub const NO_FEEDBACK: &str = "no feedback";
    pub const DOES_NOT_FIT: &str = "does not fit";
    /// It rests, or could not write to its file: what is sent later may count.
    pub const NOT_RUNNING: &str = "the session is not running";
}

/// The most refused envelopes of a seat in a round that are on record.
const MOST_REFUSED: u32 = 8;

pub fn invite(session: &Session, invited: SeatInvited) -> DecideResult {
    let seat = &invited.participant;
    if !session.is_remote(seat) {
        return refuse(format!("`{seat}` is no remote seat"));
    }
    if !is_hash(&invited.invitation) {
        return refuse("an invitation is a SHA-256 in hex");
    }
    let is_sealed = |round: &RoundRun| {
        let status = round.seat(seat).map(|seat| &seat.status);
        matches!(status, Some(SeatStatus::Sealed(_) | SeatStatus::Lost(_)))
    };
    if session.open_round().is_some_and(is_sealed) {
        return refuse(format!("`{seat}` has sealed in the open round: invite again after the close"));
    }
    Ok(vec![Event::SeatInvited(invited)])
}

pub fn join(session: &Session, joined: SeatJoined, now: Timestamp) -> DecideResult {
    if !seals_itself(session, &joined.participant) {
        return refuse(refusal::NOT_A_PARTICIPANT);
    }
    let known = session.invitations.get(&joined.participant);
    let known = known.filter(|known| known.invitation == joined.invitation && now <= known.expires);
    match known {
        None => refuse(refusal::NO_SUCH_INVITATION),
        Some(known) if known.key.is_some() => refuse(refusal::ALREADY_PINNED),
        Some(_) if !is_public_key(&joined.key) => refuse(refusal::MALFORMED),
        Some(_) => Ok(vec![Event::SeatJoined(joined)]),
    }
}

/// Whether a seat has a key of its own; the ballots of agents that poll are sealed here.
fn seals_itself(session: &Session, seat: &str) -> bool {
    session.remote(seat).is_some_and(|remote| !remote.is_sealed_here())
}

/// Takes in a ballot that its seat has sealed and signed.
pub fn seal_remote(session: &Session, envelope: &Envelope, now: Timestamp) -> DecideResult {
    if !seals_itself(session, &envelope.participant) {
        return refuse(refusal::NOT_A_PARTICIPANT);
    }
    let round = session
        .round(&envelope.round)
        .filter(|round| round.binding(&envelope.participant) == envelope.binding());
    let seat = round.and_then(|round| round.seat(&envelope.participant));
    let Some((round, seat)) = round.zip(seat) else { return refuse(refusal::STALE) };
    match &seat.status {
        SeatStatus::Sealed(_) | SeatStatus::Revealed(..) => return refuse(refusal::ALREADY_SEALED),
        _ if round.closed.is_some() => return refuse(refusal::ROUND_CLOSED),
        SeatStatus::Excused(_) => return refuse(refusal::SEAT_EXCUSED),
        status if !status.is_open() => return refuse(refusal::STALE),
        _ => {}
    }
    if round.delivery(&seat.name).as_ref() != Some(&envelope.delivery) || !round.all_have_items() {
        return refuse(refusal::STALE);
    }
    match envelope.wrong_length() {
        Some(WrongLength::TooLong) => return refuse(refusal::TOO_LONG),
        Some(WrongLength::NotPadded) => return refuse(refusal::BAD_LENGTH),
        None => {}
    }
    let sealed = BallotSealed {
        step: round.opened.step.clone(),
        round: envelope.round.clone(),
        participant: envelope.participant.clone(),
        elapsed_ms: now.since(round.opened_at),
        seal: envelope.seal().into(),
        signature: Some(envelope.signature.clone()),
        by: Some(SealedBy::Seat),
    };
    if session.is_signed_by_seat(&sealed) {
        Ok(vec![Event::BallotSealed(sealed)])
    } else {
        refuse(refusal::BAD_SIGNATURE)
    }
}

/// Takes in that a remote seat has no ballot to give, which it has signed.
pub fn fail_remote(session: &Session, failed: FailedDelivery, now: Timestamp) -> DecideResult {
    if !session.is_remote(&failed.participant) {
        return refuse(refusal::NOT_A_PARTICIPANT);
    }
    let round = session.round(&failed.round).filter(|round| round.session == failed.session);
    let Some(round) = round else { return refuse(refusal::STALE) };
    if round.closed.is_some() {
        return refuse(refusal::ROUND_CLOSED);
    }
    let is_open = round.seat(&failed.participant).is_some_and(|seat| seat.status.is_open());
    if !is_open || round.delivery(&failed.participant).as_ref() != Some(&failed.delivery) {
        return refuse(refusal::STALE);
    }
    if !failed.has_short_reason() {
        return refuse(refusal::TOO_LONG);
    }
    if !session.seat_key(&failed.participant).is_some_and(|key| failed.is_signed_by(key)) {
        return refuse(refusal::BAD_SIGNATURE);
    }
    let FailedDelivery {
        round, participant, failed: Failure { reason, timed_out, tries }, signature, ..
    } = failed;
    let signature = Some(signature);
    let failed =
        SeatFailed { round, participant, reason, timed_out, tries, signature, ..SeatFailed::default() };
    fail_seat(session, failed, now)
}

/// Puts a refused envelope on record, unless there are many of its seat already.
pub fn refuse_envelope(
    session: &Session,
    round: String,
    participant: String,
    why: String,
    commitment: String,
) -> DecideResult {
    let run = session.round(&round).filter(|_| session.is_remote(&participant));
    let Some((run, seat)) = run.and_then(|run| Some((run, run.seat(&participant)?))) else {
        return Err(Refusal(format!("`{participant}` has no remote seat in round `{round}`")));
    };
    let is_true = match why.as_str() {
        refusal::STALE | refusal::TOO_LONG | refusal::BAD_LENGTH | refusal::BAD_SIGNATURE => true,
        refusal::ROUND_CLOSED => run.closed.is_some(),
        refusal::SEAT_EXCUSED => matches!(seat.status, SeatStatus::Excused(_)),
        refusal::ALREADY_SEALED => match &seat.status {
            SeatStatus::Sealed(held) | SeatStatus::Revealed(_, held) => held.commitment != commitment,
            _ => false,
        },
        _ => false,
    };
    if !is_true || !is_hash(&commitment) || seat.refused >= MOST_REFUSED {
        return refuse("this refusal is not for the record");
    }
    let step = run.opened.step.clone();
    Ok(vec![Event::EnvelopeRefused(EnvelopeRefused { step, round, participant, why, commitment })])
}

/// Whether it is 32 bytes in lower-case hex.
fn is_hash(text: &str) -> bool {
    unhex::<32>(text).is_some_and(|bytes| hex(&bytes) == text)
}
