//! Commands whose decisions start with given events.

use std::sync::Arc;

use crate::core::{AgendaChange, Command, ItemHolder, NextAction, TALLY, next_of};
use crate::history::{
    AgendaUpdated, ApprovalGiven, ArtifactRecorded, BallotSealed, ConflictResolved, Event, IdeasMerged,
    Point, RECORDED_BY_STEP, RoundClosed, SeatFailed, Session, SessionClosed, Status, Timestamp,
    WorkItemClaimed, WorkItemReturned,
};
use crate::round::envelope::{DeliveryIds, Envelope, FailedDelivery, Failure, VERSION};
use crate::round::seal::{RoundKey, SealTo, SealedRecord};

/// Returns the command whose decision starts with an event. A step's `record` is decided when the step ends.
///
/// # Errors
/// Returns a message if a value from outside is invalid.
pub fn for_event(session: &Session, event: &Event, at: Timestamp) -> Result<Command, String> {
    Ok(match event.clone() {
        Event::SessionOpened(opened) => Command::Open(opened),
        Event::SessionForked { session, at_seq, .. } => Command::Fork { session, at_seq },
        Event::SessionPaused { reason, step } => Command::Pause { reason, step },
        Event::SessionResumed { program, torn_bytes, .. } => Command::Resume { program, torn_bytes },
        Event::SessionClosed(SessionClosed { status: Status::Stopped, reason, .. }) => {
            Command::Stop { reason: reason.unwrap_or_default() }
        }
        // The events after the first only follow from others; no command leads to them.
        Event::SessionClosed(_)
        | Event::ContextChanged { .. }
        | Event::Warning { .. }
        | Event::AnswerRevealed(_)
        | Event::ReviewRecorded(_)
        | Event::LinkRecorded { .. } => Command::Close,
        Event::StepStarted(_) => Command::StartStep,
        Event::StepFinished(result) => end_command(session, &result.step),
        Event::RoundOpened(opened) => {
            let seal = Some(require_known(opened.seal.as_ref())?);
            Command::OpenRound { project_summary: session.context.clone(), seal }
        }
        Event::RoundRevised(revised) => Command::ReviseRound(revised),
        Event::DeadlineExtended { deadline_ms, .. } => {
            let now = session.open_round().and_then(|round| round.deadline_ms).unwrap_or(0);
            Command::ExtendDeadline { more_ms: deadline_ms.saturating_sub(now) }
        }
        Event::RoundClosed(closed) => close_command(&closed)?,
        Event::RoundAskedAgain { .. } => Command::AskRoundAgain,
        Event::KeyLost { .. } => Command::LoseKey,
        Event::SeatsAskedAgain { seal, .. } => {
            Command::AskAgain { seal: Some(require_known(seal.as_ref())?) }
        }
        Event::SeatInvited(invited) => Command::Invite(invited),
        Event::SeatJoined(joined) => Command::Join(joined),
        Event::SeatExcused { participant, reason, .. } => Command::Excuse { participant, reason },
        Event::SeatRetried { participant, model, .. } => Command::Retry { participant, model },
        Event::SeatFailed(failed) => fail_command(session, failed),
        Event::BallotSealed(sealed) => seal_command(session, sealed),
        Event::LateAnswerRefused { round, participant, .. } => late_command(round, participant),
        Event::EnvelopeRefused(refused) => Command::RefuseEnvelope(refused),
        Event::LeaksFound { step, round, .. } if round.is_none() => end_command(session, &step),
        Event::TallyMade(_) | Event::LeaksFound { .. } => Command::Tally,
        Event::WorkItemOffered(item) => Command::Offer { step: item.step.clone() },
        Event::WorkItemClaimed(claim) => claim_command(session, claim, at),
        Event::WorkItemReturned(back) => return_command(session, &back),
        Event::ArtifactRecorded(ArtifactRecorded { record_of: Some(step), .. }) => {
            end_command(session, &step)
        }
        Event::ArtifactRecorded(ArtifactRecorded { artifact, by, .. }) => {
            Command::RecordArtifact { artifact, by }
        }
        Event::SynthesisRecorded { round, text, .. } => Command::RecordSynthesis { round, text },
        Event::ApprovalRequested(asked) => Command::AskPerson { step: asked.step },
        Event::ApprovalGiven(given) => Command::Answer(given),
        Event::IdeasMerged(merged) => merge_command(session, *merged),
        change @ (Event::AgendaUpdated(_)
        | Event::ConflictOpened(_)
        | Event::ConflictResolved(_)
        | Event::QuestionOpened(_)
        | Event::QuestionAnswered { .. }) => agenda_command(session, change),
    })
}

fn require_known(seal: Option<&SealTo>) -> Result<SealTo, String> {
    seal.filter(|seal| seal.is_known()).cloned().ok_or_else(|| "it does not say what is sealed to".to_owned())
}

fn close_command(closed: &RoundClosed) -> Result<Command, String> {
    let key = RoundKey::from_hex(&closed.key).ok_or("it publishes what is no key of a round")?;
    Ok(Command::CloseRound { reason: closed.reason, key })
}

fn return_command(session: &Session, back: &WorkItemReturned) -> Command {
    let claim = session.items.get(&back.item).and_then(|item| item.claim.as_ref());
    let holder = claim.and_then(|claim| claim.holder.clone());
    Command::Return(Box::new(WorkItemReturned { holder, ..back.clone() }))
}

/// Returns the command that ends a step: its next command, because a step may end before its main action.
fn end_command(session: &Session, step: &str) -> Command {
    match next_of(session, step) {
        Some(NextAction::Decide(command)) => command,
        Some(NextAction::OpenRound) => Command::OpenRound { project_summary: None, seal: None },
        _ => Command::FinishStep { step: step.to_owned() },
    }
}

/// Returns a command with an empty seal, because a late answer is not stored.
fn late_command(round: String, participant: String) -> Command {
    let seal = SealedRecord { commitment: String::new(), enc: String::new(), sealed: Vec::new() };
    Command::Seal { round, participant, seal }
}

fn seal_command(session: &Session, sealed: BallotSealed) -> Command {
    let BallotSealed { round, participant, seal, signature, .. } = sealed;
    let seal = Arc::unwrap_or_clone(seal);
    let Some(run) = session.round(&round).filter(|_| signature.is_some()) else {
        return Command::Seal { round, participant, seal };
    };
    Command::SealRemote(Box::new(Envelope {
        v: VERSION,
        delivery: run.delivery(&participant).unwrap_or_default(),
        binding: run.binding(&participant),
        seal,
        signature: signature.unwrap_or_default(),
    }))
}

fn fail_command(session: &Session, failed: SeatFailed) -> Command {
    let Some(run) = session.round(&failed.round).filter(|_| failed.signature.is_some()) else {
        return Command::Fail(Box::new(failed));
    };
    let SeatFailed { participant, reason, timed_out, tries, signature, .. } = failed;
    Command::FailRemote(Box::new(FailedDelivery {
        v: VERSION,
        ids: DeliveryIds::new(run.delivery(&participant).unwrap_or_default(), run.binding(&participant)),
        failed: Failure { reason, timed_out, tries },
        signature: signature.unwrap_or_default(),
    }))
}

/// Returns a claim, or its renewal by the same holder.
fn claim_command(session: &Session, claim: WorkItemClaimed, at: Timestamp) -> Command {
    let WorkItemClaimed { item, participant, holder, .. } = claim;
    let held = session.items.get(&item).filter(|known| known.is_held(at));
    let is_renewed = held.and_then(|held| held.claim.as_ref()).is_some_and(|claim| claim.holder == holder);
    let who = ItemHolder { item, participant, holder };
    if is_renewed { Command::Renew(who) } else { Command::Claim(who) }
}

/// Returns the answer that merges; its comment and name are in the approval that follows.
fn merge_command(session: &Session, merged: IdeasMerged) -> Command {
    let IdeasMerged { step, merge, by, .. } = merged;
    if by == RECORDED_BY_STEP {
        return end_command(session, &step);
    }
    Command::Answer(ApprovalGiven { merge: Some(merge.into()), ..ApprovalGiven::yes(&step, &by) })
}

/// Returns the command of an agenda change: a count, the end of a step, or a change by the facilitator.
fn agenda_command(session: &Session, event: Event) -> Command {
    let (change, by, step) =
        if let Event::AgendaUpdated(AgendaUpdated { id, title, status, reason, by, step }) = event {
            (AgendaChange::Item { id, title, status, reason }, by, step)
        } else if let Event::ConflictOpened(opened) = event {
            let Point { title, description, minimum_change, by, step, .. } = opened;
            (AgendaChange::OpenConflict { title, description, minimum_change }, by, step)
        } else if let Event::ConflictResolved(ConflictResolved { id, how, by, step, .. }) = event {
            (AgendaChange::ResolveConflict { id, how: how.unwrap_or_default() }, by, step)
        } else if let Event::QuestionOpened(Point { title, description, by, step, .. }) = event {
            (AgendaChange::OpenQuestion { title, description }, by, step)
        } else if let Event::QuestionAnswered { id, answer, by, step } = event {
            (AgendaChange::AnswerQuestion { id, answer }, by, step)
        } else {
            return Command::Tally;
        };
    match by.as_str() {
        TALLY => Command::Tally,
        RECORDED_BY_STEP => end_command(session, &step.unwrap_or_default()),
        _ => Command::ChangeAgenda(change),
    }
}
