//! Route through the steps: which run now, and which is next.

use serde_json::Value;

use super::event::{RoundOutcome, StepFinished, Tally};
use super::state::{RoundRun, Session, StepRun};
use crate::tally::Rule;
use crate::workflow::{Round, Step, StepKind};

impl Session {
    pub fn running(&self, id: &str) -> Option<&StepRun> {
        self.step.as_ref()?.find(id).filter(|run| run.result.is_none())
    }

    pub fn active_steps(&self) -> impl Iterator<Item = &StepRun> {
        self.step.iter().flat_map(StepRun::all).filter(|run| run.result.is_none())
    }

    /// Returns the running round step that has not opened its round; rounds of one `parallel` open in sequence.
    pub fn waiting_round(&self) -> Option<(&Step, &Round)> {
        let waiting = self.active_steps().filter(|run| run.round.is_none());
        let mut steps = waiting.filter_map(|run| self.definition().step(&run.id));
        steps.find_map(|step| Some((step, step.round()?)))
    }

    pub fn asked(&self) -> impl Iterator<Item = &StepRun> {
        self.active_steps().filter(|run| run.approval.as_ref().is_some_and(|asked| asked.given.is_none()))
    }

    pub fn round_of(&self, run: &StepRun) -> Option<&RoundRun> {
        self.rounds.get(run.round?)
    }

    /// Returns the next step, by routes if the definition has any, else in listed order; `None` at the end of
    /// the session.
    pub fn next_step(&self) -> Option<&str> {
        if self.stopped_at.is_some() {
            return None;
        }
        let definition = self.definition();
        let mut to = self.routed_to()?;
        // Exhausted steps may route to each other in a cycle; the session then asks the facilitator.
        for _ in &definition.steps {
            let used_up = definition.step(to).filter(|step| self.is_exhausted(step));
            let Some(way_out) = used_up.and_then(|step| step.on_exhausted.as_deref()) else { break };
            to = way_out;
        }
        Some(to)
    }

    fn routed_to(&self) -> Option<&str> {
        let definition = self.definition();
        let Some(last) = &self.finished_step else { return definition.steps.first().map(|s| s.id.as_str()) };
        let at = definition.steps.iter().position(|step| step.id == *last)?;
        let step = &definition.steps[at];
        let result = self.results.get(last)?;
        if let Some(end) = self.strategy_end(last).filter(|_| self.leaves_strategy) {
            return Some(&end.id);
        }
        let turn = if self.is_result_accepted {
            Route::On
        } else {
            route_after(step, result, self.round_outcome(step))
        };
        match turn {
            Route::To(target) => Some(target),
            Route::End => None,
            Route::On if definition.is_routed() => step.next.as_deref(),
            Route::On => definition.steps.get(at + 1).map(|step| step.id.as_str()),
        }
    }

    /// Returns the last step of the discussion that a step belongs to: a condition on the discussion's outcome.
    pub fn strategy_end(&self, step: &str) -> Option<&Step> {
        let is_end = |end: &&Step| {
            let whole = end.id.strip_suffix("-done").unwrap_or_default();
            let is_inside = step.strip_prefix(whole).is_some_and(|rest| rest.starts_with('-'));
            let StepKind::Condition(branch) = &end.kind else { return false };
            is_inside && branch.condition.paths().iter().any(|path| path[..] == ["context", whole, "outcome"])
        };
        self.definition().steps.iter().skip_while(|other| other.id != step).find(is_end)
    }

    /// Returns the outcome of a round step's last run; `None` for other steps.
    pub(crate) fn round_outcome(&self, step: &Step) -> Option<RoundOutcome> {
        step.round()?;
        if self.not_held.contains_key(&step.id) {
            return Some(RoundOutcome::Failed);
        }
        let round = self.last_round_of(&step.id)?;
        round.tally.as_ref().map(round_outcome)
    }

    /// Returns the failed step whose `on_error` names the running one.
    pub fn preceding_error(&self) -> Option<&StepFinished> {
        let run = self.step.as_ref()?;
        let last = self.definition().step(self.finished_step.as_ref()?)?;
        let result = self.results.get(&last.id)?;
        (!result.success && last.on_error.as_deref() == Some(run.id.as_str())).then_some(result)
    }
}

enum Route<'a> {
    To(&'a str),
    On,
    End,
}

fn route_after<'a>(step: &'a Step, result: &StepFinished, outcome: Option<RoundOutcome>) -> Route<'a> {
    let to = |target: &'a Option<String>, otherwise| target.as_deref().map_or(otherwise, Route::To);
    let says = |key: &str| result.data.get(key).and_then(Value::as_bool).unwrap_or(false);
    if !result.success {
        let is_undecided = outcome.is_some_and(RoundOutcome::is_undecided);
        if let Some(round) = step.round().filter(|_| is_undecided)
            && let Some(target) = &round.on_undecided
        {
            return Route::To(target);
        }
        // A step with several results continues; a failure of the whole step ends the session.
        let otherwise = if step.is_envelope() { Route::On } else { Route::End };
        return to(&step.on_error, otherwise);
    }
    match &step.kind {
        StepKind::Approval(approval) if says("approved") => to(&approval.on_approve, Route::On),
        StepKind::Approval(approval) => to(&approval.on_reject, Route::End),
        StepKind::Condition(condition) if says("result") => to(&condition.then, Route::On),
        StepKind::Condition(condition) => to(&condition.otherwise, Route::On),
        StepKind::Review(review) if review.rejects(&result.data) => to(&review.on_reject, Route::On),
        _ => Route::On,
    }
}

pub fn round_outcome(tally: &Tally) -> RoundOutcome {
    let verdict = &tally.verdict;
    let blocks = verdict.scores.get("block").is_some_and(|blocks| blocks.as_f64() > 0.0);
    match tally.rule {
        _ if !tally.quorum_met => RoundOutcome::NoQuorum,
        Some(_) if tally.decided => RoundOutcome::Decided,
        Some(_) if verdict.tie => RoundOutcome::Tie,
        Some(_) if tally.is_too_weak() => RoundOutcome::Weak,
        Some(rule) if rule == Rule::Consent && blocks => RoundOutcome::Blocked,
        Some(_) if tally.answered == 0 && tally.abstained > 0 => RoundOutcome::Abstained,
        _ => RoundOutcome::Undecided,
    }
}
