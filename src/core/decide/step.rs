//! Commands on a step: start, handoff, question to a person, result.

use std::sync::Arc;

use serde_json::{Value, json};

use super::agenda::recorded;
use crate::core::command::{DecideResult, Refusal, refuse};
use crate::core::ending::time_is_up;
use crate::core::next::{has_failed, unstarted};
use crate::core::proposal::{Proposal, evaluate_condition};
use crate::handoff::{WorkItemDraft, fulfilled, parallel_data, rejected, round_data};
use crate::history::{
    ApprovalGiven, ApprovalRequested, Event, IdeasMerged, Merge, RECORDED_BY_STEP, RoundRun, Session,
    StepFinished, StepRun, StepStarted, Timestamp, WorkItem, WorkItemOffered,
};
use crate::tally::Ties;
use crate::workflow::{Approval, MOST_ITEMS, Step, StepKind};

pub fn start_step(session: &Session, now: Timestamp) -> DecideResult {
    let definition = session.definition();
    let inside = session.active_steps().find_map(|run| {
        let around = definition.step(&run.id)?;
        Some((around, unstarted(session, around, run)?))
    });
    if let Some((around, step)) = inside {
        return Ok(vec![started(session, step, session.iterations, Some(around.id.clone()))]);
    }
    let step = session.next_step().and_then(|id| definition.step(id)).ok_or("no step is left")?;
    let started = || started(session, step, session.iterations + 1, None);
    Ok(vec![time_is_up(session, now).unwrap_or_else(started)])
}

fn started(session: &Session, step: &Step, iteration: u32, within: Option<String>) -> Event {
    // The step's result reports the reason if the list cannot be read.
    let items = items(session, step).unwrap_or_default();
    let (step, kind) = (step.id.clone(), step.kind_name().to_owned());
    Event::StepStarted(StepStarted { step, kind, iteration, within, items })
}

/// Returns the items of an `each` step; empty for other steps.
fn items(session: &Session, step: &Step) -> Result<Vec<Value>, String> {
    let StepKind::Each(each) = &step.kind else { return Ok(Vec::new()) };
    let mut context = session.context_for(&step.id);
    context.insert("input".to_owned(), session.given_input(&step.id));
    match each.of.apply(&context)? {
        Value::Array(items) if items.len() > MOST_ITEMS => {
            Err(format!("`of` gives {} items; the most is {MOST_ITEMS}", items.len()))
        }
        Value::Array(items) => Ok(items),
        _ => Err(format!("`of` gives no list: {}", each.of.text())),
    }
}

/// Returns the work items of a step, or the step's end if they cannot be created.
pub fn offer_items(session: &Session, id: &str, now: Timestamp) -> DecideResult {
    let running = Running::new(session, id, now)?;
    let drafts = match session.work_item_drafts(running.step) {
        Ok(drafts) => drafts,
        Err(why) => return Ok(running.end(StepOutcome::failed(why))),
    };
    let nth = session.runs.get(id).copied().unwrap_or(1);
    let of_run = if nth > 1 { format!("{id}.{nth}") } else { id.to_owned() };
    let mut events = Vec::new();
    for (index, WorkItemDraft { offered, warnings }) in drafts.into_iter().enumerate() {
        let participant = offered.participant.clone();
        let item = format!("{of_run}/{}", index + 1);
        events.push(Event::WorkItemOffered(Arc::new(WorkItemOffered { item, ..offered })));
        events.extend(warnings.into_iter().map(|message| Event::Warning {
            message,
            step: Some(id.to_owned()),
            round: None,
            participant: Some(participant.clone()),
        }));
    }
    Ok(events)
}

pub fn ask_person(session: &Session, id: &str, now: Timestamp) -> DecideResult {
    if let Some(step) = session.exhausted_step().filter(|step| step.id == id) {
        return Ok(vec![Event::ApprovalRequested(session.exhausted_request(step))]);
    }
    let running = Running::new(session, id, now)?;
    let Running { run, step, .. } = running;
    // The opened round decides, because its step may have been revised since.
    let round = session.round_of(run).filter(|round| round.opened.ties == Ties::Ask);
    let tied = round.and_then(|round| round.tally.as_ref()).filter(|tally| tally.verdict.tie);
    let asked = match (&step.kind, tied) {
        (StepKind::Approval(approval), _) => match running.question(approval) {
            Ok(asked) => asked,
            Err(outcome) => return Ok(running.end(*outcome)),
        },
        (StepKind::Round(_), Some(tally)) => {
            let choices = tally.verdict.winners.clone();
            let message = format!("tie between {}: which one?", choices.join(" and "));
            ApprovalRequested { message, choices, ..ApprovalRequested::default() }
        }
        _ => return refuse(format!("step `{}` asks nothing of a person", step.id)),
    };
    Ok(vec![Event::ApprovalRequested(ApprovalRequested {
        step: step.id.clone(),
        input: session.given_input(id),
        context: session.context_for(id),
        ..asked
    })])
}

pub fn finish_step(session: &Session, id: &str, now: Timestamp) -> DecideResult {
    let running = Running::new(session, id, now)?;
    let outcome = running.outcome().ok_or_else(|| format!("step `{id}` has no result yet"))?;
    Ok(running.end(outcome))
}

/// Ends a round step whose round cannot be opened.
pub fn end_unheld(session: &Session, step: &Step, why: String, now: Timestamp) -> DecideResult {
    Ok(Running::new(session, &step.id, now)?.end(StepOutcome::new(json!([]), Some(why))))
}

/// Running step at the time of a command.
struct Running<'a> {
    session: &'a Session,
    step: &'a Step,
    run: &'a StepRun,
    now: Timestamp,
}

/// Result of a step; it is a success unless `error` is set.
#[derive(Default)]
struct StepOutcome {
    data: Value,
    error: Option<String>,
    /// Merge made by a proposal that was accepted without asking.
    merge: Option<Merge>,
}

impl StepOutcome {
    fn success(data: Value) -> Self {
        Self { data, ..Self::default() }
    }

    fn failed(error: impl Into<String>) -> Self {
        Self { error: Some(error.into()), ..Self::default() }
    }

    fn new(data: Value, error: Option<String>) -> Self {
        Self { data, error, merge: None }
    }
}

impl From<Result<Value, String>> for StepOutcome {
    fn from(outcome: Result<Value, String>) -> Self {
        outcome.map_or_else(Self::failed, Self::success)
    }
}

impl<'a> Running<'a> {
    fn new(session: &'a Session, id: &str, now: Timestamp) -> Result<Self, Refusal> {
        match (session.running(id), session.definition().step(id)) {
            (Some(run), Some(step)) => Ok(Self { session, step, run, now }),
            _ => refuse(format!("step `{id}` does not run")),
        }
    }

    fn items(&self) -> Vec<&'a WorkItem> {
        self.run.items.iter().filter_map(|id| self.session.items.get(id)).collect()
    }

    /// Returns the events that end the step: identity leaks, merge, records and result.
    fn end(&self, mut outcome: StepOutcome) -> Vec<Event> {
        let Self { session, step, run, now } = self;
        // Leaks must be recorded before the answers can be disclosed.
        let mut events: Vec<Event> = session.leaks_in_items(step, &self.items()).into_iter().collect();
        if let Some((merge, round)) = outcome.merge.take().zip(session.round_to_merge(&step.id)) {
            let (step, round) = (step.id.clone(), round.opened.round.clone());
            let by = RECORDED_BY_STEP.to_owned();
            events.push(Event::IdeasMerged(Box::new(IdeasMerged { step, round, merge, by })));
        }
        let result = |outcome: StepOutcome| StepFinished {
            step: step.id.clone(),
            step_id: step.id.clone(),
            success: outcome.error.is_none(),
            data: outcome.data,
            error: outcome.error,
            start_time: run.started,
            end_time: *now,
            duration: now.since(run.started),
        };
        let mut finished = result(outcome);
        match recorded(session, step, &finished, &events) {
            Ok(changes) => events.extend(changes),
            Err(why) => finished = result(StepOutcome::failed(format!("nothing is recorded: {why}"))),
        }
        events.push(Event::StepFinished(Arc::new(finished)));
        events
    }

    /// Returns the result of the step; `None` while something is missing.
    fn outcome(&self) -> Option<StepOutcome> {
        Some(match &self.step.kind {
            StepKind::Round(_) => self.of_round()?,
            StepKind::Approval(_) => {
                StepOutcome::success(self.approval_data(self.run.approval.as_ref()?.given.as_ref()?))
            }
            StepKind::Agent(_) => {
                let item = *self.items().first()?;
                let data = item.completed().map(|back| back.data.clone());
                data.ok_or_else(|| item.failure().to_owned()).into()
            }
            StepKind::Review(_) => self.of_review(),
            StepKind::Parallel { min_success } => self.of_parallel(*min_success),
            StepKind::Sequence { .. } => self.of_sequence()?,
            StepKind::Each(_) => self.of_each(),
            StepKind::Transform(transform) => {
                transform.apply(&self.session.context_for(&self.step.id)).into()
            }
            StepKind::Condition(branch) => {
                let truth = evaluate_condition(self.session, self.step, &branch.condition);
                truth.map(|truth| json!({ "result": truth })).into()
            }
        })
    }

    fn of_round(&self) -> Option<StepOutcome> {
        let round = self.session.round_of(self.run)?;
        let why = round.tally.as_ref()?.failure();
        Some(StepOutcome::new(round_data(round), why.map(|why| why.to_string())))
    }

    /// Returns the question of an approval, or the outcome of one that ends without a question.
    fn question(&self, approval: &Approval) -> Result<ApprovalRequested, Box<StepOutcome>> {
        let Self { session, step, .. } = self;
        let proposal = Proposal::for_step(session, step);
        if let Some(taken) = proposal.as_ref().filter(|it| it.is_unasked(session, step, approval)) {
            let merge = taken.merge();
            let mut data = taken.accepted(None, merge.as_ref());
            data.insert("approved".to_owned(), true.into());
            return Err(Box::new(StepOutcome { merge, ..StepOutcome::success(data.into()) }));
        }
        let ideas = session.round_to_merge(&step.id).map(RoundRun::ideas).unwrap_or_default();
        if let (Some(round), true) = (&approval.merges, ideas.is_empty()) {
            return Err(Box::new(StepOutcome::failed(format!("round `{round}` has no ideas to merge"))));
        }
        let (mut message, written) = session.rendered_message(step, approval).map_err(StepOutcome::failed)?;
        let proposal = proposal.map(|proposal| {
            proposal.answer.unwrap_or_else(|why| {
                message.push_str(&format!("\nThere is no valid proposal: {why}"));
                proposal.facts.answer_of("")
            })
        });
        Ok(ApprovalRequested { message, written, ideas, proposal, ..Default::default() })
    }

    fn approval_data(&self, given: &ApprovalGiven) -> Value {
        let mut data = json!({ "approved": given.approved });
        if let Some(comment) = &given.comment {
            data["comment"] = comment.as_str().into();
        }
        if !given.approved {
            return data;
        }
        let merge = self.run.merge.as_ref();
        if let Some(merge) = merge {
            data["options"] = merge.options_json();
        }
        let proposal = Proposal::for_step(self.session, self.step);
        let taken = proposal.map(|proposal| proposal.accepted(given.edited.as_ref(), merge));
        for (key, value) in taken.into_iter().flatten() {
            data[key] = value;
        }
        data
    }

    /// Returns one entry per review, under its reviewer's name; fails if no review was completed.
    fn of_review(&self) -> StepOutcome {
        let items = self.items();
        let entry = |item: &&WorkItem| {
            let who = &item.offered.participant;
            item.completed().map_or_else(|| rejected(who, item.failure()), |back| fulfilled(who, &back.data))
        };
        let is_done = items.iter().any(|item| item.completed().is_some());
        let error = (!is_done).then(|| "no review came back".to_owned());
        StepOutcome::new(items.iter().map(entry).collect(), error)
    }

    /// Combines independent steps; fails if fewer than `needed` (by default all) succeed.
    fn of_parallel(&self, needed: Option<usize>) -> StepOutcome {
        let Self { session, run, .. } = self;
        let results: Vec<&StepFinished> = run.nested.iter().filter_map(|run| run.result.as_deref()).collect();
        let failed = results.iter().filter(|result| has_failed(session, result));
        let failed: Vec<&str> = failed.map(|result| result.step.as_str()).collect();
        let is_enough = results.len() - failed.len() >= needed.unwrap_or(results.len());
        let why = || format!("{} of {} steps failed: {}", failed.len(), results.len(), failed.join(", "));
        let data = parallel_data(session, &run.nested);
        StepOutcome::new(data, (!is_enough).then(why))
    }

    fn of_each(&self) -> StepOutcome {
        if self.run.nested.is_empty()
            && let Err(why) = items(self.session, self.step)
        {
            return StepOutcome::new(json!([]), Some(why));
        }
        self.of_parallel(None)
    }

    /// Returns the last step's result as later steps see it, or the failure of the step that failed.
    fn of_sequence(&self) -> Option<StepOutcome> {
        let session = self.session;
        let result = self.run.nested.last()?.result.as_deref()?;
        let id = &result.step;
        if has_failed(session, result) {
            let why = if result.success { "rejected".to_owned() } else { session.shown_error(result) };
            return Some(StepOutcome::failed(format!("step `{id}` failed: {why}")));
        }
        let data = session.definition().step(id).and_then(|last| session.context_value(last, result));
        Some(StepOutcome::success(data.unwrap_or_default()))
    }
}
