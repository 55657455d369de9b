//! Context for later steps, and the snapshot built from it.
//!
//! Uses only closed rounds and finished steps. Never changes a result.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::disclosure::{fulfilled, rejected, seat_answer};
use super::recall::Recalled;
use super::revision::earlier_counts;
use crate::history::{AnsweredQuestion, Point, RoundRun, Seat, Session, StepFinished, StepRun, Tally};
use crate::round::material::SnapshotContent;
use crate::round::snapshot::Snapshot;
use crate::workflow::{Round, Step, StepKind, TALLY_KEYS};

impl Session {
    /// Returns the results that later steps see, as `{key: data}` in order. Rounds, parallels and reviews appear
    /// as envelopes. Failed steps of other types and conditions are omitted.
    pub fn context(&self) -> Map<String, Value> {
        self.context_of(self.results.values())
    }

    /// Returns the context of a nested step, with earlier results of its sequences and its loop items.
    pub fn context_for(&self, step: &str) -> Map<String, Value> {
        let mut context = self.context_of(self.results_for(step));
        let items = self.definition().items_for(step).into_iter();
        context.extend(items.map(|item| (item.key.clone(), item.value.clone())));
        context
    }

    fn context_of<'a>(&self, results: impl IntoIterator<Item = &'a Arc<StepFinished>>) -> Map<String, Value> {
        let definition = self.definition();
        let mut context = Map::new();
        for result in results {
            let Some(step) = definition.step(&result.step) else { continue };
            if matches!(step.kind, StepKind::Condition(_)) {
                continue;
            }
            if let Some(data) = self.context_value(step, result) {
                context.insert(step.key().to_owned(), data);
            }
        }
        context
    }

    /// Returns all results so far, then those before the step in the sequences around it. If the step has not
    /// begun, all results of these sequences count.
    pub(crate) fn results_for(&self, step: &str) -> Vec<&Arc<StepFinished>> {
        let mut results: Vec<_> = self.results.values().collect();
        for run in self.runs_around(step, true) {
            let before = run.nested.iter().take_while(|inside| inside.find(step).is_none());
            results.extend(before.filter_map(|inside| inside.result.as_ref()));
        }
        results
    }

    /// Returns the running steps around a step, the outermost first: only sequences, or all but sequences.
    pub(super) fn runs_around(&self, step: &str, in_sequence: bool) -> impl Iterator<Item = &StepRun> {
        let around = self.definition().around(step).into_iter();
        let wanted =
            around.filter(move |parent| matches!(parent.kind, StepKind::Sequence { .. }) == in_sequence);
        wanted.filter_map(|parent| self.step.as_ref()?.find(&parent.id))
    }

    /// Returns a result as later steps see it; `None` if the step failed and has no envelope.
    pub fn context_value(&self, step: &Step, result: &StepFinished) -> Option<Value> {
        if step.round().is_some() {
            return Some(self.round_envelope(step, result));
        }
        if let StepKind::Review(_) = step.kind {
            let items = self.items_behind(&step.id);
            let reviews = items.map(|item| (&*item.offered.participant, self.redacted_item(item)));
            return Some(json!({ "data": self.shown_answers(reviews), "success": result.success }));
        }
        if step.is_envelope() {
            return Some(parallel_envelope(&result.data, result.success));
        }
        if !result.success {
            return None;
        }
        if let StepKind::Agent(_) = step.kind {
            return Some(self.disclosed_result(step, result));
        }
        Some(result.data.clone())
    }

    /// Returns the size in bytes that the snapshot would have if it recalled everything.
    pub fn size_in_full(&self, step: &Step, round: &Round, project_summary: Option<&str>) -> usize {
        let (recent_rounds, context) = (self.all_past_rounds(&step.id), self.context_for(&step.id));
        let all = Recalled { recent_rounds, context };
        self.snapshot_with(step, round, project_summary, all).text.len()
    }

    pub(super) fn snapshot_with(
        &self,
        step: &Step,
        round: &Round,
        project_summary: Option<&str>,
        recalled: Recalled,
    ) -> Snapshot {
        let definition = self.definition();
        let Recalled { recent_rounds, context } = recalled;
        let before = self.revised(step, round).ok().flatten();
        let shown = before.filter(|_| round.feedback.has_reasons());
        let drawn_for = self.next_round_id(&step.id);
        Snapshot::freeze(&SnapshotContent {
            project_summary: definition.project_summary.as_deref().or(project_summary),
            current_round: self.next_round_number(),
            exploration: round.exploration.as_deref().or(step.description.as_deref()),
            ballot: Some(&round.ballot),
            artifacts: definition.artifacts.iter().filter(|one| round.artifacts.includes(&one.id)).collect(),
            recent_rounds,
            earlier_reasons: shown.map(|before| self.earlier_reasons(before, &drawn_for)).unwrap_or_default(),
            earlier_counts: before.and_then(|before| earlier_counts(before, round.feedback)),
            context,
            linked_tasks: self.linked(step).json,
            ..self.snapshot_of(&round.question)
        })
    }

    /// Returns the part of a snapshot that does not depend on the step.
    pub(super) fn snapshot_of<'a>(&'a self, question: &'a str) -> SnapshotContent<'a> {
        let definition = self.definition();
        let conflicts = self.agenda.open_conflicts().map(|conflict| self.shown_conflict(conflict));
        SnapshotContent {
            project_summary: definition.project_summary.as_deref(),
            goal: definition.goal.as_deref(),
            constraints: &definition.constraints,
            question,
            agenda: &self.agenda.items,
            artifacts: definition.artifacts.iter().collect(),
            open_conflicts: conflicts.collect(),
            open_questions: self.agenda.open_questions().map(Point::to_json).collect(),
            ..SnapshotContent::default()
        }
    }

    /// Returns a conflict as later rounds see it; quotes of an answer are disclosed like the answer.
    fn shown_conflict(&self, conflict: &Point) -> Value {
        let Some(who) = &conflict.participant else { return conflict.to_json() };
        let round = conflict.round.as_ref().and_then(|round| self.round(round));
        let seat = round.and_then(|round| round.seat(who));
        let said = seat.and_then(|seat| self.disclosed_answer(seat).ok()).unwrap_or_default();
        let text = |key: &str| said[key].as_str().map(str::to_owned);
        let (description, minimum_change) = (text("position"), text("minimum_change"));
        Point { description, minimum_change, ..conflict.clone() }.to_json()
    }

    /// Returns a round as later steps see it: `{data, success, outcome, decision, tally}`, all keys present.
    pub(crate) fn round_envelope(&self, step: &Step, result: &StepFinished) -> Value {
        let round = self.last_round_of(&step.id);
        let round = round.filter(|_| !self.not_held.contains_key(&step.id));
        let tally = round.and_then(|round| round.tally.as_ref());
        let reason = match tally {
            Some(tally) => tally.verdict.reason.as_ref().map(|reason| self.shown_reason(reason)),
            None => result.error.clone(),
        };
        let rule = step.round().and_then(|round| round.rule);
        let counted = tally.cloned().unwrap_or_else(|| Tally { rule, ..Tally::default() });
        let mut shown = serde_json::to_value(&counted).unwrap_or_default();
        (shown["order"], shown["reason"]) = (json!(counted.verdict.order), json!(reason));
        let tally: Map<String, Value> =
            TALLY_KEYS.iter().map(|key| ((*key).to_owned(), shown[*key].take())).collect();
        let chosen = self.chosen.get(&step.id);
        let seats = round.into_iter().flat_map(|round| round.seats.values());
        json!({
            "data": self.shown_answers(seats.map(|seat| (&*seat.name, self.disclosed_answer(seat)))),
            "success": result.success || chosen.is_some(),
            "outcome": self.round_outcome(step),
            "decision": chosen.and_then(AnsweredQuestion::decides),
            "tally": tally,
        })
    }
}

pub fn round_data(round: &RoundRun) -> Value {
    let entry = |seat: &Seat| match seat_answer(seat) {
        Ok(result) => fulfilled(&seat.name, &result),
        Err(why) => rejected(&seat.name, &why),
    };
    round.seats.values().map(entry).collect()
}

/// Returns the stored data of parallel steps: one entry per step, in the definition's order.
pub fn parallel_data(session: &Session, runs: &[StepRun]) -> Value {
    let entry = |run: &StepRun| {
        let result = run.result.as_ref()?;
        let step = session.definition().step(&run.id)?;
        let data = session.context_value(step, result);
        if is_no(step, result) {
            return Some(
                json!({ "stepId": run.id, "status": "rejected", "result": data, "error": "rejected" }),
            );
        }
        if !result.success {
            let error = session.shown_error(result);
            return Some(rejected(&run.id, if error.is_empty() { "no reason given" } else { &error }));
        }
        Some(fulfilled(&run.id, &data.unwrap_or_default()))
    };
    runs.iter().filter_map(entry).collect()
}

pub fn is_no(step: &Step, result: &StepFinished) -> bool {
    let is_approval = matches!(step.kind, StepKind::Approval(_));
    is_approval && result.success && result.data["approved"] != json!(true)
}

/// Returns stored entries as later steps see them; fulfilled entries keep only their result.
fn parallel_envelope(data: &Value, success: bool) -> Value {
    let mut data = data.as_array().cloned().unwrap_or_default();
    let fulfilled = data.iter_mut().filter(|entry| entry["status"] == "fulfilled");
    for entry in fulfilled.filter_map(Value::as_object_mut) {
        entry.shift_remove("status");
        entry.shift_remove("error");
    }
    json!({ "data": data, "success": success })
}
