//! The command that an event begins the decision of.

use std::sync::Arc;

use crate::core::{AgendaChange, Command};
use crate::history::{
    AgendaUpdated, ApprovalGiven, ArtifactRecorded, BallotSealed, ConflictResolved, EnvelopeRefused, Event,
    IdeasMerged, PointOpened, QuestionAnswered, RECORDED_BY_STEP, SealedBy, SeatFailed, Session,
    SessionClosed, Status, Timestamp, WorkItemClaimed,
};
use crate::round::envelope::{Envelope, FailedDelivery, Failure, VERSION};
use crate::round::seal::{RoundKey, SealTo, SealedRecord};

/// The command that an event begins the decision of; a step's `record` is decided when the step ends.
///
/// # Errors
/// Where a value that comes from outside cannot be what it stands for.
pub fn of(session: &Session, event: &Event, at: Timestamp) -> Result<Command, String> {
    if let Some(step) = event.record_of() {
        return Ok(Command::FinishStep { step: step.to_owned() });
    }
    if let Event::RoundOpened(opened) = event {
        let seal = Some(known(opened.seal.as_ref())?);
        return Ok(Command::OpenRound { project_summary: session.context.clone(), seal });
    }
    if let Event::SeatsAskedAgain { seal, .. } = event {
        return Ok(Command::AskAgain { seal: Some(known(seal.as_ref())?) });
    }
    if let Event::RoundClosed(closed) = event {
        let key = RoundKey::from_hex(&closed.key).ok_or("it publishes what is no key of a round")?;
        return Ok(Command::CloseRound { reason: closed.reason, key });
    }
    if let Event::WorkItemClaimed(claim) = event {
        return Ok(claim_command(session, claim.clone(), at));
    }
    if let Event::WorkItemReturned(back) = event {
        let claim = session.items.get(&back.item).and_then(|item| item.claim.as_ref());
        let holder = claim.and_then(|claim| claim.holder.clone());
        return Ok(Command::Return { back: Box::new((**back).clone()), holder });
    }
    if let Event::BallotSealed(sealed) = event {
        return Ok(seal_command(session, sealed.clone()));
    }
    if let Event::LateAnswerRefused { round, participant, .. } = event.clone() {
        // An answer that came too late is not kept.
        let seal = SealedRecord { commitment: String::new(), enc: String::new(), sealed: Vec::new() };
        return Ok(Command::Seal { round, participant, seal });
    }
    if let Event::EnvelopeRefused(refused) = event.clone() {
        let EnvelopeRefused { round, participant, why, commitment, .. } = refused;
        return Ok(Command::RefuseEnvelope { round, participant, why, commitment });
    }
    if let Event::SeatFailed(failed) = event {
        return Ok(fail_command(session, failed.clone()));
    }
    Ok(own_command(event.clone()))
}

fn seal_command(session: &Session, sealed: BallotSealed) -> Command {
    let BallotSealed { round, participant, seal, signature, by, .. } = sealed;
    let seal = Arc::unwrap_or_clone(seal);
    let Some(run) = session.round(&round).filter(|_| by == Some(SealedBy::Seat)) else {
        return Command::Seal { round, participant, seal };
    };
    Command::SealRemote(Box::new(Envelope {
        v: VERSION,
        delivery: run.delivery(&participant).unwrap_or_default(),
        session: run.session.clone(),
        snapshot_sha256: run.opened.snapshot_sha256.clone(),
        opened_sha256: run.opened_sha256.clone(),
        round,
        participant,
        commitment: seal.commitment,
        enc: seal.enc,
        sealed: seal.sealed,
        signature: signature.unwrap_or_default(),
    }))
}

fn fail_command(session: &Session, failed: SeatFailed) -> Command {
    let run = session.round(&failed.round);
    if run.is_some_and(|run| run.closed.is_some()) {
        return Command::Reveal;
    }
    if failed.signature.is_none() {
        return Command::Fail(Box::new(failed));
    }
    let SeatFailed { round, participant, reason, timed_out, tries, signature, .. } = failed;
    Command::FailRemote(Box::new(FailedDelivery {
        v: VERSION,
        delivery: run.and_then(|run| run.delivery(&participant)).unwrap_or_default(),
        session: run.map(|run| run.session.clone()).unwrap_or_default(),
        round,
        participant,
        failed: Failure { reason, timed_out, tries },
        signature: signature.unwrap_or_default(),
    }))
}

/// The command of an event that holds all that its command needs.
fn own_command(event: Event) -> Command {
    match event {
        Event::SessionOpened(opened) => Command::Open(opened),
        Event::WorkItemOffered(item) if item.task.is_some() => Command::Offer { step: item.step.clone() },
        Event::WorkItemOffered(_) => Command::OfferRest,
        Event::AnswerRevealed(_) => Command::Reveal,
        Event::StepStarted { .. } => Command::StartStep,
        Event::StepFinished(result) => Command::FinishStep { step: result.step.clone() },
        Event::TallyMade(_) => Command::Tally,
        Event::LeaksFound(found) if !found.round.is_empty() => Command::Tally,
        Event::LeaksFound(found) => Command::FinishStep { step: found.step.clone() },
        Event::KeyLost { .. } => Command::LoseKey,
        Event::RoundRevised(revised) => Command::ReviseRound(revised),
        Event::ArtifactRecorded(ArtifactRecorded { step: Some(step), .. }) => Command::RecordResult { step },
        Event::ReviewRecorded(review) => Command::RecordReview { item: review.item },
        Event::TaskWritten(written) => Command::RecordTask { item: written.item, error: written.error },
        Event::LinkRecorded(link) => Command::RecordReview { item: link.link.from_id },
        Event::ArtifactRecorded(ArtifactRecorded { artifact, by, .. }) => {
            Command::RecordArtifact { artifact, by }
        }
        Event::SynthesisRecorded(note) => Command::RecordSynthesis { round: note.round, text: note.text },
        Event::DeadlineExtended(extended) => Command::ExtendDeadline { deadline_ms: extended.deadline_ms },
        Event::RoundAskedAgain { .. } => Command::AskRoundAgain,
        Event::SessionForked(forked) => Command::Fork { session: forked.session, at_seq: forked.at_seq },
        Event::ApprovalRequested(asked) => Command::AskPerson { step: asked.step },
        Event::ApprovalGiven(given) => Command::Answer(given),
        Event::IdeasMerged(merged) => merge_command(*merged),
        change @ (Event::AgendaUpdated(_)
        | Event::ConflictOpened(_)
        | Event::ConflictResolved(_)
        | Event::QuestionOpened(_)
        | Event::QuestionAnswered(_)) => agenda_command(change),
        Event::SeatExcused { round, participant, reason, .. } => {
            Command::Excuse { round, participant, reason }
        }
        Event::SeatRetried(retried) => {
            Command::Retry { round: retried.round, participant: retried.participant, model: retried.model }
        }
        Event::SeatInvited(invited) => Command::Invite(invited),
        Event::SeatJoined(joined) => Command::Join(joined),
        Event::KeyFileLeft { round, cause, .. } => Command::KeyFileLeft { round, cause },
        Event::SessionPaused { reason, step } => Command::Pause { reason, step },
        Event::SessionResumed { program, torn_bytes, .. } => Command::Resume { program, torn_bytes },
        Event::SessionClosed(SessionClosed { status: Status::Stopped, reason, .. }) => {
            Command::Stop { reason: reason.unwrap_or_default() }
        }
        // All but the first have their commands above, or begin no decision.
        Event::SessionClosed(_)
        | Event::ContextChanged { .. }
        | Event::RoundOpened(_)
        | Event::WorkItemClaimed(_)
        | Event::WorkItemReturned(_)
        | Event::BallotSealed(_)
        | Event::LateAnswerRefused { .. }
        | Event::EnvelopeRefused(_)
        | Event::SeatFailed(_)
        | Event::RoundClosed(_)
        | Event::SeatsAskedAgain { .. }
        | Event::Warning { .. } => Command::Close,
    }
}

fn known(seal: Option<&SealTo>) -> Result<SealTo, String> {
    seal.filter(|seal| seal.is_known()).cloned().ok_or_else(|| "it does not say what is sealed to".to_owned())
}

/// A claim, or its renewal by the one who holds it.
fn claim_command(session: &Session, claim: WorkItemClaimed, at: Timestamp) -> Command {
    let WorkItemClaimed { item, participant, holder, .. } = claim;
    let held = session.items.get(&item).filter(|known| known.is_held(at));
    if held.and_then(|held| held.claim.as_ref()).is_some_and(|claim| claim.holder == holder) {
        Command::Renew { item, participant, holder }
    } else {
        Command::Claim { item, participant, holder }
    }
}

/// A merge; comment and name stand on the yes that follows.
fn merge_command(merged: IdeasMerged) -> Command {
    let IdeasMerged { step, merge, by, .. } = merged;
    if by == RECORDED_BY_STEP {
        return Command::FinishStep { step };
    }
    Command::Merge { merge, given: ApprovalGiven::yes(&step, &by) }
}

/// The command behind a change of the agenda: a count, or an order of the facilitator.
fn agenda_command(event: Event) -> Command {
    let (change, by) =
        if let Event::AgendaUpdated(AgendaUpdated { id, title, status, reason, by, .. }) = event {
            (AgendaChange::Item { id, title, status, reason }, by)
        } else if let Event::ConflictOpened(opened) = event {
            let PointOpened { title, description, minimum_change, round: None, by, .. } = *opened else {
                return Command::Tally;
            };
            (AgendaChange::OpenConflict { title, description, minimum_change }, by)
        } else if let Event::ConflictResolved(ConflictResolved { id, how, by, .. }) = event {
            let Some(how) = how else { return Command::Tally };
            (AgendaChange::ResolveConflict { id, how }, by)
        } else if let Event::QuestionOpened(opened) = event {
            let PointOpened { title, description, by, .. } = *opened;
            (AgendaChange::OpenQuestion { title, description }, by)
        } else if let Event::QuestionAnswered(QuestionAnswered { id, answer, by, .. }) = event {
            (AgendaChange::AnswerQuestion { id, answer }, by)
        } else {
            return Command::Tally;
        };
    Command::ChangeAgenda { change, by }
}
