//! What commands on a step would write: beginning, handing out, asking a person, the result.

use std::sync::Arc;

use serde_json::{Value, json};

use super::close::time_is_up;
use super::nested::StepOutcome;
use super::nested::{items, of_each, of_parallel, of_sequence};
use super::record::recorded;
use crate::core::command::{DecideResult, Refusal, refuse};
use crate::core::next::tie_message;
use crate::core::next::unstarted;
use crate::core::proposal::{Proposal, holds, unasked};
use crate::handoff::{offer, rejected, round_data};
use crate::history::{
    ApprovalGiven, ApprovalRequested, ApprovalRun, Event, IdeasMerged, ItemStatus, Merge, RECORDED_BY_STEP,
    Session, StepFinished, StepRun, Tally, Timestamp, WorkItem,
};
use crate::tally::Ties;
use crate::workflow::{Approval, Branch, Definition, Step, StepKind};

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

/// The work items of a step that has handed none out.
pub fn offer_items(session: &Session, definition: &Definition, id: &str) -> DecideResult {
    let (run, step) = running(session, definition, id)?;
    let hand_overs = session.work_item_drafts(definition, step).map_err(Refusal)?;
    let nth = session.runs.get(id).copied().unwrap_or(1);
    let of_run = if nth > 1 { format!("{id}.{nth}") } else { id.to_owned() };
    let mut events = Vec::new();
    for (index, hand_over) in hand_overs.into_iter().enumerate().skip(run.items.len()) {
        let warnings = hand_over.warnings.clone();
        let offered = offer(session, definition, step, format!("{of_run}/{}", index + 1), hand_over);
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

pub fn ask_person(session: &Session, definition: &Definition, id: &str) -> DecideResult {
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
    if unasked(session, definition, step).is_some() {
        return refuse(format!("step `{id}` takes the proposal as it is"));
    }
    // As the round was opened: its step may have been revised since.
    let round = session.round_of(run).filter(|round| round.opened.ties == Ties::Ask);
    let tied = round.and_then(|round| round.tally.as_ref()).filter(|tally| tally.verdict.tie);
    let mut ideas = Vec::new();
    let mut proposed = None;
    let (message, written, choices) = if let StepKind::Approval(approval) = &step.kind {
        ideas = session.ideas_to_merge(id);
        if let (Some(round), true) = (&approval.merges, ideas.is_empty()) {
            return refuse(no_ideas(round));
        }
        let (mut message, written) = session.rendered_message(definition, step, approval).map_err(Refusal)?;
        if let Some(proposal) = Proposal::of(session, definition, step) {
            if let Err(why) = &proposal.answer {
                message.push_str(&format!("\nThere is no valid proposal: {why}"));
            }
            proposed = Some(proposal.answer.unwrap_or_else(|_| proposal.facts.blank()));
        }
        (message, written, Vec::new())
    } else if let (Some(_), Some(tally)) = (step.round(), tied) {
        (tie_message(&tally.verdict.winners), None, tally.verdict.winners.clone())
    } else {
        return refuse(format!("step `{}` asks nothing of a person", step.id));
    };
    Ok(vec![Event::ApprovalRequested(ApprovalRequested {
        step: step.id.clone(),
        message,
        written,
        choices,
        ideas,
        proposal: proposed,
        input: session.given_input(id),
        context: session.context_for(id),
    })])
}

pub fn finish_step(session: &Session, definition: &Definition, id: &str, now: Timestamp) -> DecideResult {
    let (run, step) = running(session, definition, id)?;
    let mut merged = None;
    let came = match &step.kind {
        StepKind::Round(round) if run.round.is_none() => {
            match session.check_round(definition, step, round).refusal {
                Some(why) => StepOutcome { data: json!([]), ..StepOutcome::to_nothing(why) },
                None => return refuse(format!("round `{}` is not opened", step.id)),
            }
        }
        StepKind::Round(_) => of_round(session, step, run)?,
        StepKind::Approval(approval) => {
            let (came, merge) = of_approval(session, definition, step, approval, run)?;
            merged = merge;
            came
        }
        StepKind::Agent(_) => of_agent(session, definition, step, run)?,
        StepKind::Review(_) => of_review(session, definition, step, run)?,
        StepKind::Parallel(parallel) => of_parallel(session, definition, parallel, run)?,
        StepKind::Sequence(_) => of_sequence(session, definition, step, run)?,
        StepKind::Each(each) => of_each(session, definition, step, each, run)?,
        StepKind::Transform(transform) => match transform.apply(&session.context_for(id)) {
            Ok(data) => StepOutcome::to(data),
            Err(error) => StepOutcome::to_nothing(error),
        },
        StepKind::Condition(branch) => of_condition(session, definition, step, branch),
    };
    let items: Vec<&WorkItem> = run.items.iter().filter_map(|id| session.items.get(id)).collect();
    // What answers give away is on record before they can be handed on.
    let mut events: Vec<Event> = session.leaks_in_items(step, &items).into_iter().collect();
    if let (Some(merge), Some(round), None) = (merged, session.round_to_merge(id), &run.merge) {
        let (step, round) = (id.to_owned(), round.opened.round.clone());
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
    Ok(events)
}

/// What an approval comes to, and the merge of a proposal that is taken without asking.
fn of_approval(
    session: &Session,
    definition: &Definition,
    step: &Step,
    approval: &Approval,
    run: &StepRun,
) -> Result<(StepOutcome, Option<Merge>), Refusal> {
    if let Some(ApprovalRun { given: Some(given), .. }) = &run.approval {
        let proposal = Proposal::of(session, definition, step);
        return Ok((StepOutcome::to(approval_data(given, run.merge.as_ref(), proposal)), None));
    }
    if run.approval.is_none()
        && let Some(taken) = unasked(session, definition, step)
    {
        let merge = taken.merge();
        let mut data = taken.accepted(None, merge.as_ref());
        data.insert("approved".to_owned(), true.into());
        return Ok((StepOutcome::to(data.into()), merge));
    }
    let came = match (approval.merges.as_ref(), session.rendered_message(definition, step, approval)) {
        (Some(round), _) if session.ideas_to_merge(&step.id).is_empty() => {
            StepOutcome::to_nothing(no_ideas(round))
        }
        (_, Err(why)) if run.approval.is_none() => StepOutcome::to_nothing(why),
        _ => return refuse(format!("step `{}` waits for a person", step.id)),
    };
    Ok((came, None))
}

fn of_round(session: &Session, step: &Step, run: &StepRun) -> Result<StepOutcome, Refusal> {
    let Some(round) = session.round_of(run) else {
        return refuse(format!("round `{}` is not counted", step.id));
    };
    let Some(tally) = &round.tally else { return refuse(format!("round `{}` is not counted", step.id)) };
    if tally.verdict.tie && round.opened.ties == Ties::Ask {
        return refuse(format!("the tie of round `{}` waits for a person", step.id));
    }
    let (success, error) = round_success(tally);
    Ok(StepOutcome { success, data: round_data(round), error })
}

fn round_success(tally: &Tally) -> (bool, Option<String>) {
    if tally.took_part() < tally.quorum {
        return (false, Some(format!("no quorum: {} of {} participated", tally.took_part(), tally.asked)));
    }
    if let Some(shortfall) = tally.shortfall() {
        return (false, Some(format!("no quorum: {shortfall}")));
    }
    match tally.rule {
        Some(_) if !tally.decided => {
            (false, Some(tally.verdict.reason.clone().unwrap_or_else(|| "no decision".to_owned())))
        }
        _ => (true, None),
    }
}

fn no_ideas(round: &str) -> String {
    format!("round `{round}` has no ideas to merge")
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

fn of_condition(session: &Session, definition: &Definition, step: &Step, branch: &Branch) -> StepOutcome {
    match holds(session, definition, step, &branch.condition) {
        Ok(holds) => StepOutcome::to(json!({ "result": holds })),
        Err(error) => StepOutcome::to_nothing(error),
    }
}
