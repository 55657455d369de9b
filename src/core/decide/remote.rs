//! What remote seats lead to: invitations, keys, signed ballots, refusals.

use super::round::fail_seat;
use crate::core::command::{DecideResult, refuse};
use crate::history::{
    BallotSealed, EnvelopeRefused, Event, RefusalWord, RoundRun, SealedBy, SeatFailed, SeatInvited,
    SeatJoined, SeatStatus, Session, Timestamp,
};
use crate::round::envelope::{Envelope, FailedDelivery, Failure, WrongLength};
use crate::round::seal::sign::is_public_key;
use crate::round::snapshot::{hex, unhex};

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
        return refuse(RefusalWord::NotAParticipant);
    }
    let known = session.invitations.get(&joined.participant);
    let known = known.filter(|known| known.invitation == joined.invitation && now <= known.expires);
    match known {
        None => refuse(RefusalWord::NoSuchInvitation),
        Some(known) if known.key.is_some() => refuse(RefusalWord::AlreadyPinned),
        Some(_) if !is_public_key(&joined.key) => refuse(RefusalWord::Malformed),
        Some(_) => Ok(vec![Event::SeatJoined(joined)]),
    }
}

/// Whether a seat has a key of its own; the ballots of agents that poll are sealed here.
fn seals_itself(session: &Session, seat: &str) -> bool {
    session.remote(seat).is_some_and(|remote| !remote.is_sealed_here())
}

pub fn seal_remote(session: &Session, envelope: &Envelope, now: Timestamp) -> DecideResult {
    if !seals_itself(session, &envelope.participant) {
        return refuse(RefusalWord::NotAParticipant);
    }
    let round = session
        .round(&envelope.round)
        .filter(|round| round.binding(&envelope.participant) == envelope.binding());
    let seat = round.and_then(|round| round.seat(&envelope.participant));
    let Some((round, seat)) = round.zip(seat) else { return refuse(RefusalWord::Stale) };
    match &seat.status {
        SeatStatus::Sealed(_) | SeatStatus::Revealed(..) => return refuse(RefusalWord::AlreadySealed),
        _ if round.closed.is_some() => return refuse(RefusalWord::RoundClosed),
        SeatStatus::Excused(_) => return refuse(RefusalWord::SeatExcused),
        status if !status.is_open() => return refuse(RefusalWord::Stale),
        _ => {}
    }
    if round.delivery(&seat.name).as_ref() != Some(&envelope.delivery) || !round.all_have_items() {
        return refuse(RefusalWord::Stale);
    }
    match envelope.wrong_length() {
        Some(WrongLength::TooLong) => return refuse(RefusalWord::TooLong),
        Some(WrongLength::NotPadded) => return refuse(RefusalWord::BadLength),
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
        refuse(RefusalWord::BadSignature)
    }
}

/// Takes in that a remote seat has no ballot to give, which it has signed.
pub fn fail_remote(session: &Session, failed: FailedDelivery, now: Timestamp) -> DecideResult {
    if !session.is_remote(&failed.participant) {
        return refuse(RefusalWord::NotAParticipant);
    }
    let round = session.round(&failed.round).filter(|round| round.session == failed.session);
    let Some(round) = round else { return refuse(RefusalWord::Stale) };
    if round.closed.is_some() {
        return refuse(RefusalWord::RoundClosed);
    }
    let is_open = round.seat(&failed.participant).is_some_and(|seat| seat.status.is_open());
    if !is_open || round.delivery(&failed.participant).as_ref() != Some(&failed.delivery) {
        return refuse(RefusalWord::Stale);
    }
    if !failed.has_short_reason() {
        return refuse(RefusalWord::TooLong);
    }
    if !session.seat_key(&failed.participant).is_some_and(|key| failed.is_signed_by(key)) {
        return refuse(RefusalWord::BadSignature);
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
    why: RefusalWord,
    commitment: String,
) -> DecideResult {
    let run = session.round(&round).filter(|_| session.is_remote(&participant));
    let Some((run, seat)) = run.and_then(|run| Some((run, run.seat(&participant)?))) else {
        return refuse(format!("`{participant}` has no remote seat in round `{round}`"));
    };
    let is_true = match (why, &seat.status) {
        (
            RefusalWord::Stale | RefusalWord::TooLong | RefusalWord::BadLength | RefusalWord::BadSignature,
            _,
        )
        | (RefusalWord::SeatExcused, SeatStatus::Excused(_)) => true,
        (RefusalWord::RoundClosed, _) => run.closed.is_some(),
        (RefusalWord::AlreadySealed, SeatStatus::Sealed(held) | SeatStatus::Revealed(_, held)) => {
            held.commitment != commitment
        }
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
