//! What commands on a step would write: beginning, handing out, asking a person, the result.

use std::sync::Arc;

use serde_json::{Value, json};

use super::close::time_is_up;
use super::nested::{StepOutcome, items, of_each, of_sequence, several};
use super::record::recorded;
use crate::core::command::{DecideResult, Refusal, refuse};
use crate::core::next::{tie_message, unstarted};
use crate::core::proposal::{Proposal, holds};
use crate::handoff::{WorkItemDraft, rejected, round_data};
use crate::history::{
    ApprovalGiven, ApprovalRequested, ApprovalRun, Event, IdeasMerged, ItemStatus, Merge, RECORDED_BY_STEP,
    RoundRun, Session, StepFinished, StepRun, Timestamp, WorkItem, WorkItemOffered,
};
use crate::tally::Ties;
use crate::workflow::{Approval, Definition, Step, StepKind};

pub fn start_step(session: &Session, definition: &Definition, now: Timestamp) -> DecideResult {
    if let Some(run) = &session.step {
        let Some((around, step)) = session.active_steps().find_map(|run| {
            let around = definition.step(&run.id)?;
            Some((around, unstarted(definition, around, run)?))
        }) else {
            return refuse(format!("step `{}` still runs", run.id));
        };
        let within = Some(around.id.clone());
        return Ok(vec![started(session, step, session.iterations, within)]);
    }
    if session.due_synthesis().is_some() {
        return refuse("the note that a step wrote is not on record");
    }
    let Some(step) = session.next_step().and_then(|id| definition.step(id)) else {
        return refuse("no step is left");
    };
    if session.is_exhausted(step) {
        return refuse(format!("step `{}` has run as often as it may", step.id));
    }
    if session.iterations >= definition.max_iterations {
        return refuse(format!("the limit of {} steps is reached", definition.max_iterations));
    }
    if let Some(stop) = time_is_up(session, definition, now) {
        return Ok(vec![stop]);
    }
    Ok(vec![started(session, step, session.iterations + 1, None)])
}

fn started(session: &Session, step: &Step, iteration: u32, within: Option<String>) -> Event {
    // Why there are none is said by the result of the step.
    let items = items(session, step).unwrap_or_default();
    Event::StepStarted { step: step.id.clone(), kind: step.kind_name().to_owned(), iteration, within, items }
}

fn running<'a>(
    session: &'a Session,
    definition: &'a Definition,
    id: &str,
) -> Result<(&'a StepRun, &'a Step), Refusal> {
    match (session.running(id), definition.step(id)) {
        (Some(run), Some(step)) => Ok((run, step)),
        _ => refuse(format!("step `{id}` does not run")),
    }
}

/// The work items of a step that has handed none out; the end of the step where none can be made.
pub fn offer_items(session: &Session, definition: &Definition, id: &str, now: Timestamp) -> DecideResult {
    let (run, step) = running(session, definition, id)?;
    let drafts = match session.work_item_drafts(definition, step) {
        Ok(drafts) => drafts,
        Err(why) if run.items.is_empty() => {
            return Ok(ended(session, definition, step, StepOutcome::to_nothing(why), None, now));
        }
        Err(why) => return refuse(why),
    };
    let nth = session.runs.get(id).copied().unwrap_or(1);
    let of_run = if nth > 1 { format!("{id}.{nth}") } else { id.to_owned() };
    let mut events = Vec::new();
    for (index, WorkItemDraft { offered, warnings }) in drafts.into_iter().enumerate().skip(run.items.len()) {
        let offered = WorkItemOffered { item: format!("{of_run}/{}", index + 1), ..offered };
        events.extend(warnings.into_iter().map(|message| Event::Warning {
            message,
            step: Some(id.to_owned()),
            round: None,
            participant: Some(offered.participant.clone()),
        }));
        events.push(Event::WorkItemOffered(Arc::new(offered)));
    }
    if events.is_empty() { refuse(format!("step `{id}` has nothing left to hand out")) } else { Ok(events) }
}

pub fn ask_person(session: &Session, definition: &Definition, id: &str, now: Timestamp) -> DecideResult {
    if let Some(step) = session.exhausted_step().filter(|step| step.id == id) {
        return match session.exhausted {
            Some(_) => refuse("the question is asked already"),
            None => Ok(vec![Event::ApprovalRequested(session.exhausted_request(step))]),
        };
    }
    let (run, step) = running(session, definition, id)?;
    if run.approval.is_some() {
        return refuse("the question is asked already");
    }
    // As the round was opened: its step may have been revised since.
    let round = session.round_of(run).filter(|round| round.opened.ties == Ties::Ask);
    let tied = round.and_then(|round| round.tally.as_ref()).filter(|tally| tally.verdict.tie);
    let asked = if let StepKind::Approval(approval) = &step.kind {
        match question(session, definition, step, approval) {
            ApprovalState::Asks(asked) => asked,
            ApprovalState::Ends(came, merge) => {
                return Ok(ended(session, definition, step, came, merge, now));
            }
        }
    } else if let (Some(_), Some(tally)) = (step.round(), tied) {
        let choices = tally.verdict.winners.clone();
        ApprovalRequested { message: tie_message(&choices), choices, ..ApprovalRequested::default() }
    } else {
        return refuse(format!("step `{}` asks nothing of a person", step.id));
    };
    Ok(vec![Event::ApprovalRequested(ApprovalRequested {
        step: step.id.clone(),
        input: session.given_input(id),
        context: session.context_for(id),
        ..asked
    })])
}

/// Whether an approval that has not asked yet asks a person, or what it comes to without.
enum ApprovalState {
    Asks(ApprovalRequested),
    Ends(StepOutcome, Option<Merge>),
}

fn question(session: &Session, definition: &Definition, step: &Step, approval: &Approval) -> ApprovalState {
    let proposal = Proposal::of(session, definition, step);
    if let Some(taken) = proposal.as_ref().filter(|it| it.is_unasked(session, definition, step, approval)) {
        let merge = taken.merge();
        let mut data = taken.accepted(None, merge.as_ref());
        data.insert("approved".to_owned(), true.into());
        return ApprovalState::Ends(StepOutcome::to(data.into()), merge);
    }
    let ideas = session.round_to_merge(&step.id).map(RoundRun::ideas).unwrap_or_default();
    if let (Some(round), true) = (&approval.merges, ideas.is_empty()) {
        let why = format!("round `{round}` has no ideas to merge");
        return ApprovalState::Ends(StepOutcome::to_nothing(why), None);
    }
    let (mut message, written) = match session.rendered_message(definition, step, approval) {
        Ok(rendered) => rendered,
        Err(why) => return ApprovalState::Ends(StepOutcome::to_nothing(why), None),
    };
    let proposal = proposal.map(|proposal| {
        proposal.answer.unwrap_or_else(|why| {
            message.push_str(&format!("\nThere is no valid proposal: {why}"));
            proposal.facts.blank()
        })
    });
    ApprovalState::Asks(ApprovalRequested { message, written, ideas, proposal, ..Default::default() })
}

pub fn finish_step(session: &Session, definition: &Definition, id: &str, now: Timestamp) -> DecideResult {
    let (run, step) = running(session, definition, id)?;
    let came = match &step.kind {
        StepKind::Round(round) if run.round.is_none() => {
            match session.round_refusal(definition, step, round) {
                Some(why) => StepOutcome { data: json!([]), ..StepOutcome::to_nothing(why) },
                None => return refuse(format!("round `{}` is not opened", step.id)),
            }
        }
        StepKind::Round(_) => of_round(session, step, run)?,
        StepKind::Approval(approval) => match &run.approval {
            Some(ApprovalRun { given: Some(given), .. }) => {
                let proposal = Proposal::of(session, definition, step);
                StepOutcome::to(approval_data(given, run.merge.as_ref(), proposal))
            }
            None => match question(session, definition, step, approval) {
                ApprovalState::Ends(came, merge) => {
                    return Ok(ended(session, definition, step, came, merge, now));
                }
                ApprovalState::Asks(_) => return refuse(format!("step `{id}` waits for a person")),
            },
            Some(_) => return refuse(format!("step `{id}` waits for a person")),
        },
        StepKind::Agent(_) => of_agent(session, definition, step, run)?,
        StepKind::Review(_) => of_review(session, definition, step, run)?,
        StepKind::Parallel(parallel) => {
            several(session, definition, parallel.steps.len(), parallel.min_success, run)?
        }
        StepKind::Sequence(_) => of_sequence(session, definition, step, run)?,
        StepKind::Each(each) => of_each(session, definition, step, each, run)?,
        StepKind::Transform(transform) => match transform.apply(&session.context_for(id)) {
            Ok(data) => StepOutcome::to(data),
            Err(error) => StepOutcome::to_nothing(error),
        },
        StepKind::Condition(branch) => match holds(session, definition, step, &branch.condition) {
            Ok(holds) => StepOutcome::to(json!({ "result": holds })),
            Err(error) => StepOutcome::to_nothing(error),
        },
    };
    Ok(ended(session, definition, step, came, None, now))
}

/// The events at the end of a step: what its answers give away, what is merged and recorded, its result.
fn ended(
    session: &Session,
    definition: &Definition,
    step: &Step,
    came: StepOutcome,
    merged: Option<Merge>,
    now: Timestamp,
) -> Vec<Event> {
    let Some(run) = session.running(&step.id) else { return Vec::new() };
    let items: Vec<&WorkItem> = run.items.iter().filter_map(|id| session.items.get(id)).collect();
    // What answers give away is on record before they can be handed on.
    let mut events: Vec<Event> = session.leaks_in_items(step, &items).into_iter().collect();
    if let (Some(merge), Some(round), None) = (merged, session.round_to_merge(&step.id), &run.merge) {
        let (step, round) = (step.id.clone(), round.opened.round.clone());
        let by = RECORDED_BY_STEP.to_owned();
        events.push(Event::IdeasMerged(Box::new(IdeasMerged { step, round, merge, by })));
    }
    let result = |came: StepOutcome| StepFinished {
        step: step.id.clone(),
        step_id: step.id.clone(),
        success: came.success,
        data: came.data,
        error: came.error,
        start_time: run.started,
        end_time: now,
        duration: now.since(run.started),
    };
    let mut finished = result(came);
    match recorded(session, definition, step, &finished, &events) {
        Ok(changes) => events.extend(changes),
        Err(why) => finished = result(StepOutcome::to_nothing(format!("nothing is recorded: {why}"))),
    }
    events.push(Event::StepFinished(Arc::new(finished)));
    events
}

fn of_round(session: &Session, step: &Step, run: &StepRun) -> Result<StepOutcome, Refusal> {
    let Some(round) = session.round_of(run) else {
        return refuse(format!("round `{}` is not counted", step.id));
    };
    let Some(tally) = &round.tally else { return refuse(format!("round `{}` is not counted", step.id)) };
    if tally.verdict.tie && round.opened.ties == Ties::Ask {
        return refuse(format!("the tie of round `{}` waits for a person", step.id));
    }
    let error = tally.failure().map(|why| why.to_string());
    Ok(StepOutcome { success: error.is_none(), data: round_data(round), error })
}

fn approval_data(given: &ApprovalGiven, merge: Option<&Merge>, proposal: Option<Proposal>) -> Value {
    let mut data = json!({ "approved": given.approved });
    if let Some(comment) = &given.comment {
        data["comment"] = comment.as_str().into();
    }
    if !given.approved {
        return data;
    }
    if let Some(merge) = merge {
        data["options"] = merge.options_json();
    }
    let taken = proposal.map(|proposal| proposal.accepted(given.edited.as_ref(), merge));
    for (key, value) in taken.into_iter().flatten() {
        data[key] = value;
    }
    data
}

/// Why a step that handed nothing out did not, or what its items came to.
fn settled<'a>(
    session: &'a Session,
    definition: &Definition,
    step: &Step,
    run: &StepRun,
) -> Result<Result<Vec<&'a WorkItem>, String>, Refusal> {
    if run.items.is_empty() {
        return match session.work_item_drafts(definition, step) {
            Err(why) => Ok(Err(why)),
            Ok(_) => refuse(format!("step `{}` has not handed its work out", step.id)),
        };
    }
    let items: Vec<&WorkItem> = run.items.iter().filter_map(|id| session.items.get(id)).collect();
    if items.iter().any(|item| item.outcome().is_none()) {
        return refuse(format!("step `{}` waits for its work items", step.id));
    }
    if session.unrecorded(run).is_some() || session.unreviewed(run).is_some() {
        return refuse(format!("what step `{}` made is not on record", step.id));
    }
    Ok(Ok(items))
}

fn of_agent(
    session: &Session,
    definition: &Definition,
    step: &Step,
    run: &StepRun,
) -> Result<StepOutcome, Refusal> {
    let items = match settled(session, definition, step, run)? {
        Ok(items) => items,
        Err(why) => return Ok(StepOutcome::to_nothing(why)),
    };
    let returned = items.first().and_then(|item| item.outcome());
    Ok(match returned {
        Some(back) if back.status == ItemStatus::Completed => StepOutcome::to(back.data.clone()),
        Some(back) => {
            StepOutcome::to_nothing(back.error.clone().unwrap_or_else(|| "no reason given".to_owned()))
        }
        None => StepOutcome::to_nothing("no reply"),
    })
}

/// One entry a review, under its reviewer's name; it succeeds when one of them was completed.
fn of_review(
    session: &Session,
    definition: &Definition,
    step: &Step,
    run: &StepRun,
) -> Result<StepOutcome, Refusal> {
    let items = match settled(session, definition, step, run)? {
        Ok(items) => items,
        Err(why) => return Ok(StepOutcome::to_nothing(why)),
    };
    let mut done = 0;
    let entry = |item: &WorkItem| {
        let who = &item.offered.participant;
        match item.outcome() {
            Some(back) if back.status == ItemStatus::Completed => {
                done += 1;
                json!({ "stepId": who, "status": "fulfilled", "result": back.data, "error": null })
            }
            other => rejected(who, other.and_then(|back| back.error.as_deref()).unwrap_or("no reason given")),
        }
    };
    let data: Value = items.into_iter().map(entry).collect();
    let error = (done == 0).then(|| "no review came back".to_owned());
    Ok(StepOutcome { success: done > 0, data, error })
}
