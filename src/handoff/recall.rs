//! Recall of a round's snapshot: recent rounds and earlier results.
//!
//! Keeps the snapshot small, however long a session is. Agents, conditions and templates see everything.

use serde_json::{Map, Value, json};

use crate::history::{RoundRun, Session, StepFinished, StepRun};
use crate::workflow::{Recall, RecalledAnswers, Round, Step, StepKind};

pub(super) struct Recalled {
    pub recent_rounds: Vec<Value>,
    pub context: Map<String, Value>,
}

impl Session {
    pub(super) fn recalled(&self, step: &Step, round: &Round) -> Recalled {
        let definition = self.definition();
        let closed = self.closed_rounds(&step.id);
        let recall = definition.recall(round);
        let skip = closed.len().saturating_sub(recall.rounds);
        let hidden = self.hidden_steps(&step.id);
        let is_hidden = |id: &str| hidden.iter().any(|step| step == id);
        let past = closed.iter().skip(skip);
        let recent_rounds =
            past.map(|round| self.past_round(round, !is_hidden(&round.opened.step))).collect();
        let last = closed
            .last()
            .filter(|last| recall.rounds > 0 && !is_hidden(&last.opened.step))
            .map(|round| round.opened.step.as_str());
        let mut context = Map::new();
        for result in self.results_for(&step.id) {
            let Some(step) = definition.step(&result.step).filter(|step| !is_hidden(&step.id)) else {
                continue;
            };
            if let Some(data) = self.recalled_result(&recall, step, result, last) {
                context.insert(step.key().to_owned(), data);
            }
        }
        Recalled { recent_rounds, context }
    }

    pub(super) fn all_past_rounds(&self, step: &str) -> Vec<Value> {
        self.closed_rounds(step).into_iter().map(|round| self.past_round(round, true)).collect()
    }

    /// Returns the recalled part of a step's result; `last` is the step of the last closed round.
    fn recalled_result(
        &self,
        recall: &Recall,
        step: &Step,
        result: &StepFinished,
        last: Option<&str>,
    ) -> Option<Value> {
        let is_last = |step: &Step| last == Some(step.id.as_str());
        let result_of = || self.context_value(step, result);
        let is_kept = recall.results.includes(&step.id) || recall.results.includes(step.key());
        // A sequence counts as its last step.
        let inside = &step.last().steps;
        match &step.last().kind {
            StepKind::Condition(_) => None,
            // After a merge only the options are recalled, not the authors of the ideas.
            StepKind::Round(_) if !is_last(step.last()) || self.is_merged(step.last()) => None,
            StepKind::Round(round) => result_of().map(|data| of_round(recall, round, data)),
            StepKind::Parallel { .. } if inside.iter().any(|nested| nested.last().round().is_some()) => {
                let are_last = inside.iter().map(Step::last).any(is_last);
                let mut envelope = result_of()?;
                let entries = envelope["data"].as_array_mut()?;
                let round_of =
                    |entry: &Value| inside.iter().find(|nested| entry["stepId"] == nested.id)?.last().round();
                entries.retain(|entry| if round_of(entry).is_some() { are_last } else { is_kept });
                for entry in entries.iter_mut() {
                    let Some(round) = round_of(entry) else { continue };
                    let data = entry["result"].take();
                    entry["result"] = if data.is_null() { data } else { of_round(recall, round, data) };
                }
                (!entries.is_empty()).then_some(envelope)
            }
            // The results of its rounds are recalled with the rounds.
            StepKind::Each(_) if inside.last().is_some_and(|last| last.last().round().is_some()) => None,
            _ if is_kept => result_of(),
            _ => None,
        }
    }

    /// Returns the closed rounds before a step, in order, except those in other branches of a parallel.
    fn closed_rounds(&self, step: &str) -> Vec<&RoundRun> {
        let mut beside: Vec<usize> = Vec::new();
        for run in self.runs_around(step, false) {
            let others = run.nested.iter().filter(|inside| inside.find(step).is_none());
            beside.extend(others.flat_map(StepRun::all).filter_map(|run| run.round));
        }
        let is_before = |index: usize, round: &RoundRun| round.closed.is_some() && !beside.contains(&index);
        let rounds = self.rounds.iter().enumerate();
        rounds.filter(|(index, round)| is_before(*index, round)).map(|(_, round)| round).collect()
    }

    fn past_round(&self, round: &RoundRun, with_outcome: bool) -> Value {
        let mut past = json!({ "round": round.opened.number, "question": round.opened.question });
        if let Some(note) = &round.synthesis {
            past["synthesis"] = note.as_str().into();
        }
        if let Some(outcome) = self.outcome_of(round).filter(|_| with_outcome) {
            past["outcome"] = outcome.into();
        }
        past
    }

    /// Summarizes a round's verdict in one line; `None` if it had no rule.
    fn outcome_of(&self, round: &RoundRun) -> Option<String> {
        let tally = round.tally.as_ref().filter(|tally| tally.rule.is_some())?;
        let winners = tally.verdict.winners.join(", ");
        Some(if tally.decided {
            format!("decided: {winners}")
        } else if let Some(shortfall) = tally.shortfall() {
            format!("no quorum: {shortfall}")
        } else if tally.verdict.tie {
            format!("tie: {winners}")
        } else {
            match &tally.verdict.reason {
                Some(reason) => format!("not decided: {}", self.shown_reason(reason)),
                None => "not decided".to_owned(),
            }
        })
    }
}

fn of_round(recall: &Recall, round: &Round, mut envelope: Value) -> Value {
    let is_ballot = |key: &str| round.ballot.kind.ballot_keys().any(|known| known == key);
    let keeps = |key: &str| match recall.answers {
        RecalledAnswers::Full => true,
        RecalledAnswers::Positions => is_ballot(key),
        RecalledAnswers::Reasons => key != "confidence" && !is_ballot(key),
        RecalledAnswers::None => false,
    };
    let Some(map) = envelope.as_object_mut() else { return envelope };
    if recall.answers == RecalledAnswers::None {
        map.shift_remove("data");
        return envelope;
    }
    for entry in map.get_mut("data").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(answer) = entry.get_mut("result").and_then(Value::as_object_mut) {
            answer.retain(|key, _| keeps(key));
        }
    }
    envelope
}
