//! What a command would write. It changes nothing: the events are folded once they are on disk.

mod agenda;
pub(crate) mod close;
pub(crate) mod facilitator;
mod nested;
pub(crate) mod record;
pub(crate) mod remote;
pub(crate) mod review;
pub(crate) mod round;
pub(crate) mod step;

use super::command::{Command, DecideResult, Refusal, refuse};
use super::proposal::Proposal;
use super::work_item;
use crate::history::{ApprovalGiven, Event, PauseReason, Session, SessionOpened, Status, TEXTS, Timestamp};
use crate::workflow::Definition;
use close::{close, close_session};
use facilitator::{answer, check_merged, decide_live, failed_again, fork, merge_ideas};
use remote::{fail_remote, invite, join, refuse_envelope, seal_remote};
use review::{record_result, record_review};
use round::{
    ask_again, close_round, excusable_seat, fail_seat, offer_remaining, open_round, record_key_loss, reveal,
    seal_answer, tally,
};
use step::{ask_person, finish_step, offer_items, start_step};

pub fn decide(session: &Session, command: Command, now: Timestamp) -> DecideResult {
    if let Command::Open(opened) = command {
        return open(session, opened);
    }
    let Some(definition) = session.definition.clone() else { return refuse("the session is not open") };
    if session.closed.is_some() {
        return refuse("the session is closed");
    }
    match command {
        Command::Resume { program, torn_bytes } => return Ok(resume(session, program, torn_bytes)),
        Command::KeyFileLeft { round, cause } => return note_key_file(session, round, cause),
        Command::RecordTask { item, error } => return work_item::record_task(session, &item, error),
        Command::Fork { session: id, at_seq } => return fork(session, id, at_seq),
        _ if session.paused.is_some() => return refuse("session is paused; resume it first"),
        _ => {}
    }
    match command {
        Command::StartStep => start_step(session, &definition, now),
        Command::OpenRound { project_summary, seal } => {
            open_round(session, &definition, project_summary.as_deref(), seal, now)
        }
        Command::OfferRest => offer_remaining(session),
        Command::Seal { round, participant, seal } => seal_answer(session, &round, participant, seal, now),
        Command::Invite(invited) => invite(session, invited),
        Command::Join(joined) => join(session, joined, now),
        Command::SealRemote(envelope) => seal_remote(session, &envelope, now),
        Command::FailRemote(failed) => fail_remote(session, *failed, now),
        Command::RefuseEnvelope { round, participant, why, commitment } => {
            refuse_envelope(session, round, participant, why, commitment)
        }
        Command::Fail(failed) => fail_seat(session, *failed, now),
        Command::Excuse { round, participant, reason } => {
            let step = excusable_seat(session, &round, &participant)?.opened.step.clone();
            Ok(vec![Event::SeatExcused { step, round, participant, reason }])
        }
        Command::CloseRound { reason, key } => close_round(session, reason, &key),
        Command::Reveal => reveal(session),
        Command::Tally => tally(session),
        Command::AskPerson { step } => ask_person(session, &definition, &step, now),
        Command::Answer(given) => give_answer(session, &definition, given),
        Command::Merge { merge, given } => merge_ideas(session, merge, given),
        Command::LoseKey => record_key_loss(session),
        Command::AskAgain { seal } => ask_again(session, seal),
        Command::FinishStep { step } => finish_step(session, &definition, &step, now),
        Command::Pause { reason, step } => pause(session, reason, step),
        Command::Stop { reason } => Ok(vec![close(session, Status::Stopped, Some(reason))]),
        Command::Close => close_session(session, &definition, now),
        other => decide_work_item(session, &definition, other, now),
    }
}

/// Takes in an answer. A yes to a proposal that merges ideas merges them.
fn give_answer(session: &Session, definition: &Definition, given: ApprovalGiven) -> DecideResult {
    let proposal = definition.step(&given.step).and_then(|step| Proposal::of(session, definition, step));
    if given.edited.is_some() || given.approved {
        check_edited(&given, proposal.as_ref())?;
    }
    let has_merge = session.running(&given.step).is_some_and(|run| run.merge.is_some());
    let merge = proposal.and_then(|proposal| proposal.merge()).filter(|_| given.approved && !has_merge);
    if let Some(merge) = merge {
        return merge_ideas(session, merge, given);
    }
    check_merged(session, &given)?;
    answer(session, given)
}

/// Refuses a yes to no proposal, and a changed one that does not fit its form.
fn check_edited(given: &ApprovalGiven, proposal: Option<&Proposal>) -> Result<(), Refusal> {
    let why = match (proposal, &given.edited) {
        (None, None) => return Ok(()),
        (None, Some(_)) => "there is no proposal to change".to_owned(),
        (Some(_), Some(_)) if !given.approved => "a refused proposal is not changed".to_owned(),
        (Some(proposal), Some(_)) if proposal.facts.merges() => {
            "a changed merge is written as `options`, with the ideas' own ids".to_owned()
        }
        (Some(proposal), Some(edited)) => match proposal.facts.check(edited) {
            Ok(()) => return Ok(()),
            Err(why) => format!("the changed proposal does not fit: {why}"),
        },
        (Some(proposal), None) => match &proposal.answer {
            Err(why) if !proposal.facts.merges() => format!("there is no valid proposal, write one: {why}"),
            _ => return Ok(()),
        },
    };
    refuse(why)
}

/// The header, and what it says could not be read as a warning each.
fn open(session: &Session, opened: Box<SessionOpened>) -> DecideResult {
    match (&session.header, Session::definition_of(&opened)) {
        (Some(_), _) => refuse("the session is open already"),
        (None, Err(problem)) => refuse(format!("the definition does not load: {problem}")),
        (None, Ok(_)) => {
            let unread: Vec<Event> = opened.unread.iter().map(|message| Event::warning(message)).collect();
            Ok(std::iter::once(Event::SessionOpened(opened)).chain(unread).collect())
        }
    }
}

/// What a command on work items of agents yields, or an order of the facilitator.
fn decide_work_item(
    session: &Session,
    definition: &Definition,
    command: Command,
    now: Timestamp,
) -> DecideResult {
    match command {
        Command::Offer { step } => offer_items(session, definition, &step, now),
        Command::Claim { item, participant, holder } => {
            work_item::claim(session, &item, &participant, holder, now)
        }
        Command::Renew { item, participant, holder } => {
            work_item::renew(session, &item, &participant, holder, now)
        }
        Command::Return { back, holder } => work_item::record_return(session, *back, holder.as_deref(), now),
        Command::RecordResult { step } => record_result(session, definition, &step),
        Command::RecordReview { item } => record_review(session, &item, now),
        live => decide_live(session, definition, live),
    }
}

fn note_key_file(session: &Session, round: String, cause: String) -> DecideResult {
    match session.round(&round).filter(|run| run.closed.is_some()) {
        Some(run) => Ok(vec![Event::KeyFileLeft { step: run.opened.step.clone(), round, cause }]),
        None => refuse(format!("round `{round}` is not closed")),
    }
}

fn pause(session: &Session, reason: PauseReason, step: Option<String>) -> DecideResult {
    let exhausted = session.exhausted.as_ref().map(|asked| asked.requested.step.as_str());
    let waits = |step: &str| session.running(step).is_some() || exhausted == Some(step);
    if let Some(step) = step.as_deref().filter(|step| !waits(step)) {
        return refuse(format!("step `{step}` does not run"));
    }
    Ok(vec![Event::SessionPaused { reason, step }])
}

fn resume(session: &Session, program: String, torn_bytes: u64) -> Vec<Event> {
    let resumed = Event::SessionResumed { program, texts: TEXTS.to_owned(), torn_bytes };
    [resumed].into_iter().chain(failed_again(session)).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::core::testing::{does, session};
    use crate::history::{CloseReason, SeatFailed};
    use crate::round::seal::RoundKey;

    /// The seconds it takes to lead a session of so many rounds, each a step of its own. Nobody answers.
    fn seconds(steps: usize) -> f64 {
        let round = |n| {
            format!(
                "  - {{id: v{n}, type: round, question: q, ballot: {{kind: choice, options: [a, b]}}, rule: plurality, next: v{}}}\n",
                n + 1
            )
        };
        let rounds: String = (1..steps).map(round).collect();
        let definition =
            format!("max_iterations: 10000\nsteps:\n{rounds}  - {{id: v{steps}, type: agent, agent: ann}}\n");
        let started = Instant::now();
        let mut session = session(&definition, &[("ann", "test/a")]);
        let mut does = |command: Command| does(&mut session, command);
        let key = RoundKey::new([1; 32]);
        for step in (1..steps).map(|n| format!("v{n}")) {
            let failed =
                SeatFailed { round: step.clone(), participant: "ann".to_owned(), ..SeatFailed::default() };
            does(Command::StartStep);
            does(Command::OpenRound { project_summary: None, seal: Some(key.seal_to()) });
            does(Command::Fail(Box::new(failed)));
            does(Command::CloseRound { reason: CloseReason::All, key: key.clone() });
            does(Command::Tally);
            does(Command::FinishStep { step });
        }
        started.elapsed().as_secs_f64()
    }

    #[test]
    fn four_times_as_many_steps_cost_about_four_times_as_much() {
        let times = (0..3).map(|_| seconds(400) / seconds(100));
        let least = times.fold(f64::MAX, f64::min);
        assert!(least < 6.0, "{least}");
    }
}
