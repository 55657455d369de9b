//! Facilitator commands during a session, and answers to its questions.
//!
//! None changes an open round's snapshot. A revision, artifact or note appears in the next one at the earliest.

use serde_json::{Map, Value};

use super::agenda;
use super::round::{seat_of, the_open_round};
use crate::core::command::{AgendaChange, DecideResult, Refusal, refuse, refuse_if};
use crate::core::proposal::Proposal;
use crate::history::{
    ApprovalGiven, ArtifactRecorded, DEFINITION, Event, IdeasMerged, LEAVE, Merge, PLACEHOLDER, PROJECT,
    RemoteSeat, RoundRevised, RoundRun, SCRIPTED, SeatStatus, Session, check_artifact,
};
use crate::workflow::recheck;

pub const FACILITATOR: &str = "facilitator";

pub fn revise_round(session: &Session, revised: RoundRevised) -> DecideResult {
    let is_open = session.open_round().is_some_and(|round| round.opened.step == revised.step);
    refuse_if!(is_open, "the snapshot cannot change while the round is open");
    for (seat, model) in &revised.models {
        may_take(session, &revised.step, seat, model)?;
    }
    let after =
        session.definition().revised(&revised).map_err(|problem| Refusal::Said(problem.with_hint()))?;
    match recheck(&after, "").first() {
        Some(problem) => refuse(problem.with_hint()),
        None => Ok(vec![Event::RoundRevised(revised)]),
    }
}

pub fn record_artifact(session: &Session, artifact: Map<String, Value>, by: String) -> DecideResult {
    let definition = session.definition();
    check_artifact(&artifact).map_err(|problem| problem.with_hint())?;
    let id = artifact.get("id").and_then(Value::as_str).unwrap_or_default();
    let has_source = definition.artifacts.iter().any(|known| known.id == id && known.source.is_some());
    if by != FACILITATOR && !(by == PROJECT && has_source) {
        return refuse(
            "an artifact is recorded by the facilitator, read from the project, or made by a step",
        );
    }
    if definition.participants.iter().any(|seat| seat.name == id) {
        return refuse(format!("`{id}` is a participant's name: give the artifact another id"));
    }
    Ok(vec![Event::ArtifactRecorded(ArtifactRecorded { artifact, by, ..ArtifactRecorded::default() })])
}

pub fn change_agenda(session: &Session, change: AgendaChange) -> DecideResult {
    Ok(vec![agenda::event_for(&session.agenda, change, FACILITATOR.to_owned(), None)?])
}

pub fn record_synthesis(session: &Session, round: &str, text: String) -> DecideResult {
    let run = session.round(round).ok_or_else(|| format!("no round `{round}`"))?;
    refuse_if!(run.closed.is_none(), "the round is open: there is nothing to note on it yet");
    let is_other = session.due_synthesis().is_some_and(|(due, note)| due != round || note != text);
    refuse_if!(is_other, "the note that a step wrote comes first");
    let (step, round) = (run.opened.step.clone(), round.to_owned());
    Ok(vec![Event::SynthesisRecorded { step, round, text }])
}

pub fn extend_deadline(session: &Session, more_ms: u64) -> DecideResult {
    let run = the_open_round(session)?;
    let now = run.deadline_ms.ok_or("the round has no deadline")?;
    let deadline_ms = now.saturating_add(more_ms);
    refuse_if!(deadline_ms == now, "the deadline can only be moved further away");
    let (step, round) = (run.opened.step.clone(), run.opened.round.clone());
    Ok(vec![Event::DeadlineExtended { step, round, deadline_ms }])
}

pub fn retried(run: &RoundRun, participant: String, model: Option<String>) -> Event {
    let (step, round) = (run.opened.step.clone(), run.opened.round.clone());
    Event::SeatRetried { step, round, participant, model }
}

pub fn retry(session: &Session, participant: String, model: Option<String>) -> DecideResult {
    let run = the_open_round(session)?;
    match seat_of(run, &participant)?.status {
        SeatStatus::Waiting => return refuse(format!("`{participant}` is not asked yet")),
        SeatStatus::Asking | SeatStatus::Failed(_) | SeatStatus::Excused(_) => {}
        _ => return refuse(format!("seat `{participant}` is already sealed")),
    }
    if let Some(model) = &model {
        may_take(session, &run.opened.step, &participant, model)?;
    }
    Ok(vec![retried(run, participant, model)])
}

fn may_take(session: &Session, step: &str, participant: &str, model: &str) -> Result<(), Refusal> {
    let Some(seat) = session.seat_info(participant) else {
        return refuse(format!("no participant `{participant}`"));
    };
    let is_remote = session.is_remote(participant) || RemoteSeat::from_model(model).is_some();
    refuse_if!(
        is_remote,
        format!("`{participant}` is, or would be, a remote seat: no model can take its place")
    );
    refuse_if!(seat.is_scripted(step), format!("`{participant}` answers by a script here, by no model"));
    Ok(())
}

pub fn ask_round_again(session: &Session) -> DecideResult {
    let asked = session.active_steps().find_map(|run| Some((run, session.round_of(run)?)));
    let Some((run, round)) = asked else { return refuse("no round step has asked anything yet") };
    refuse_if!(round.tally.is_none(), "the round is not counted yet");
    Ok(vec![Event::RoundAskedAgain { step: run.id.clone(), round: round.opened.round.clone() }])
}

pub fn fork(session: &Session, id: String, at_seq: u64) -> DecideResult {
    if session.open_round().is_some() {
        return refuse("a round is open here: fork the session before or after it");
    }
    refuse_if!(id.is_empty() || id == session.id, "the new session needs its own id");
    Ok(vec![Event::SessionForked { session: id, from: session.id.clone(), at_seq }])
}

const MAY_ANSWER: [&str; 4] = [FACILITATOR, SCRIPTED, DEFINITION, PLACEHOLDER];

/// Records an answer. A yes to a proposal that merges ideas also merges them.
pub fn answer(session: &Session, mut given: ApprovalGiven) -> DecideResult {
    if let Some(merge) = given.merge.take() {
        return merge_ideas(session, *merge, given);
    }
    let step = &given.step;
    let proposal = session.definition().step(step).and_then(|step| Proposal::for_step(session, step));
    if given.edited.is_some() || given.approved {
        check_edited(&given, proposal.as_ref())?;
    }
    if !given.approved {
        return take_answer(session, given);
    }
    if let Some(merge) = proposal.and_then(|proposal| proposal.merge()) {
        return merge_ideas(session, merge, given);
    }
    let why = format!("step `{step}` asks for the ideas to be merged, a yes is not enough");
    refuse_if!(session.round_to_merge(step).is_some(), why);
    take_answer(session, given)
}

/// Refuses a yes without a valid proposal, and an edited proposal that does not fit its form.
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

fn take_answer(session: &Session, given: ApprovalGiven) -> DecideResult {
    let asked = session.running(&given.step).and_then(|run| run.approval.as_ref());
    let exhausted = session.exhausted.as_ref().filter(|asked| asked.requested.step == given.step);
    let Some(asked) = asked.or(exhausted).filter(|asked| asked.given.is_none()) else {
        if accepts_result(session, &given) || leaves_strategy(session, &given) {
            return Ok(vec![Event::ApprovalGiven(given)]);
        }
        return refuse(format!("step `{}` asks nothing of a person now", given.step));
    };
    let choices = &asked.requested.choices;
    if !MAY_ANSWER.contains(&given.by.as_str()) {
        return refuse(format!("`{}` answers nothing: a person does, or a script", given.by));
    }
    match &given.choice {
        _ if !choices.is_empty() && !given.approved => refuse("a choice is no refusal"),
        Some(_) if choices.is_empty() => refuse(format!("step `{}` asks for yes or no", given.step)),
        Some(choice) if !choices.contains(choice) => {
            let known = choices.join(", ");
            refuse(format!("`{choice}` is none of the choices of step `{}`: {known}", given.step))
        }
        None if !choices.is_empty() => refuse(format!("choose one of {}", choices.join(", "))),
        _ => Ok(vec![Event::ApprovalGiven(given)]),
    }
}

/// Returns whether the answer is a plain yes to a decided round whose step only has to finish.
fn accepts_result(session: &Session, given: &ApprovalGiven) -> bool {
    let round = session.running(&given.step).and_then(|run| session.round_of(run));
    let is_decided = round.and_then(|round| round.tally.as_ref()).is_some_and(|tally| tally.decided);
    let is_accepted = || round.is_some_and(|round| session.approval_of(Some(round)).is_some());
    let yes = ApprovalGiven {
        comment: given.comment.clone(),
        name: given.name.clone(),
        ..ApprovalGiven::yes(&given.step, FACILITATOR)
    };
    is_decided && *given == yes && !is_accepted() && !session.leaves_strategy
}

/// Returns whether the answer leaves the strategy after a counted round whose step only has to finish.
fn leaves_strategy(session: &Session, given: &ApprovalGiven) -> bool {
    let round = session.running(&given.step).and_then(|run| session.round_of(run));
    let leave = ApprovalGiven {
        choice: Some(LEAVE.to_owned()),
        comment: given.comment.clone(),
        name: given.name.clone(),
        ..ApprovalGiven::yes(&given.step, FACILITATOR)
    };
    let is_counted = round.is_some_and(|round| round.tally.is_some()) && !session.leaves_strategy;
    is_counted && *given == leave && session.strategy_end(&given.step).is_some()
}

fn merge_ideas(session: &Session, merge: Merge, given: ApprovalGiven) -> DecideResult {
    let (step, by) = (given.step.clone(), given.by.clone());
    let round = session.round_to_merge(&step).ok_or_else(|| format!("step `{step}` merges no ideas"))?;
    merge.check(&round.ideas())?;
    let merged = IdeasMerged { step, round: round.opened.round.clone(), merge, by };
    let given = take_answer(session, given)?;
    Ok(std::iter::once(Event::IdeasMerged(Box::new(merged))).chain(given).collect())
}
