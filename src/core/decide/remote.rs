//! Commands of remote seats: invitations, keys, signed ballots, rejected envelopes.

use super::round::fail_seat;
use crate::core::command::{DecideResult, refuse, refuse_if};
use crate::history::{
    BallotSealed, EnvelopeRefused, Event, RefusalWord, RoundRun, SeatFailed, SeatInvited, SeatJoined,
    SeatStatus, Session, Timestamp,
};
use crate::round::envelope::{DeliveryIds, Envelope, FailedDelivery, Failure, is_hex};
use crate::round::seal::sign::is_public_key;

const MOST_REFUSED: u32 = 8;

pub fn invite(session: &Session, invited: SeatInvited) -> DecideResult {
    let seat = &invited.participant;
    refuse_if!(!session.is_remote(seat), format!("`{seat}` is no remote seat"));
    refuse_if!(!is_hex(&invited.invitation, 32), "an invitation is a SHA-256 in hex");
    let is_sealed = |round: &RoundRun| {
        let status = round.seat(seat).map(|seat| &seat.status);
        matches!(status, Some(SeatStatus::Sealed(_) | SeatStatus::Lost(_)))
    };
    let why = || format!("`{seat}` has sealed in the open round: invite again after the close");
    refuse_if!(session.open_round().is_some_and(is_sealed), why());
    Ok(vec![Event::SeatInvited(invited)])
}

pub fn join(session: &Session, joined: SeatJoined, now: Timestamp) -> DecideResult {
    refuse_if!(!session.seals_itself(&joined.participant), RefusalWord::NotAParticipant);
    let known = session.invitations.get(&joined.participant);
    let known = known.filter(|known| known.invitation == joined.invitation && now <= known.expires);
    match known {
        None => refuse(RefusalWord::NoSuchInvitation),
        Some(known) if known.key.is_some() => refuse(RefusalWord::AlreadyPinned),
        Some(_) if !is_public_key(&joined.key) => refuse(RefusalWord::Malformed),
        Some(_) => Ok(vec![Event::SeatJoined(joined)]),
    }
}

pub fn seal_remote(session: &Session, envelope: &Envelope, now: Timestamp) -> DecideResult {
    refuse_if!(!session.seals_itself(&envelope.binding.participant), RefusalWord::NotAParticipant);
    let round = session.round(&envelope.binding.round);
    let round = round.filter(|round| round.binding(&envelope.binding.participant) == envelope.binding);
    let seat = round.and_then(|round| round.seat(&envelope.binding.participant));
    let (round, seat) = round.zip(seat).ok_or(RefusalWord::Stale)?;
    match &seat.status {
        SeatStatus::Sealed(_) | SeatStatus::Revealed(..) => return refuse(RefusalWord::AlreadySealed),
        _ if round.closed.is_some() => return refuse(RefusalWord::RoundClosed),
        SeatStatus::Excused(_) => return refuse(RefusalWord::SeatExcused),
        status if !status.is_open() => return refuse(RefusalWord::Stale),
        _ => {}
    }
    refuse_if!(round.delivery(&seat.name).as_ref() != Some(&envelope.delivery), RefusalWord::Stale);
    refuse_if!(envelope.is_too_long(), RefusalWord::TooLong);
    refuse_if!(!envelope.is_padded(), RefusalWord::BadLength);
    let sealed = BallotSealed {
        step: round.opened.step.clone(),
        round: envelope.binding.round.clone(),
        participant: envelope.binding.participant.clone(),
        elapsed_ms: now.since(round.opened_at),
        seal: envelope.seal.clone().into(),
        signature: Some(envelope.signature.clone()),
    };
    refuse_if!(!session.is_signed_by_seat(&sealed), RefusalWord::BadSignature);
    Ok(vec![Event::BallotSealed(sealed)])
}

pub fn fail_remote(session: &Session, failed: FailedDelivery, now: Timestamp) -> DecideResult {
    refuse_if!(!session.is_remote(&failed.ids.participant), RefusalWord::NotAParticipant);
    let round = session.round(&failed.ids.round).filter(|round| round.session == failed.ids.session);
    let round = round.ok_or(RefusalWord::Stale)?;
    refuse_if!(round.closed.is_some(), RefusalWord::RoundClosed);
    let is_open = round.seat(&failed.ids.participant).is_some_and(|seat| seat.status.is_open());
    let is_due = is_open && round.delivery(&failed.ids.participant).as_ref() == Some(&failed.ids.delivery);
    refuse_if!(!is_due, RefusalWord::Stale);
    refuse_if!(!failed.has_short_reason(), RefusalWord::TooLong);
    let key = session.seat_key(&failed.ids.participant);
    refuse_if!(!key.is_some_and(|key| failed.is_signed_by(key)), RefusalWord::BadSignature);
    let FailedDelivery { ids, failed: Failure { reason, timed_out, tries }, signature, .. } = failed;
    let DeliveryIds { round, participant, .. } = ids;
    let signature = Some(signature);
    let failed =
        SeatFailed { round, participant, reason, timed_out, tries, signature, ..SeatFailed::default() };
    fail_seat(session, failed, now)
}

/// Records a rejected envelope, up to a limit per seat.
pub fn refuse_envelope(session: &Session, refused: EnvelopeRefused) -> DecideResult {
    let (round, who) = (&refused.round, &refused.participant);
    let run = session.round(round).filter(|_| session.is_remote(who));
    let seat = run.and_then(|run| Some((run, run.seat(who)?)));
    let (run, seat) = seat.ok_or_else(|| format!("`{who}` has no remote seat in round `{round}`"))?;
    let is_recorded = is_hex(&refused.commitment, 32) && seat.refused < MOST_REFUSED;
    refuse_if!(!is_recorded, "this refusal is not for the record");
    let step = run.opened.step.clone();
    Ok(vec![Event::EnvelopeRefused(EnvelopeRefused { step, ..refused })])
}
