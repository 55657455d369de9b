//! Proposals of a facilitating model, checked against the log.

use serde_json::{Map, Value, json};

use crate::handoff::FormFacts;
use crate::history::{Merge, Session};
use crate::workflow::{Approval, Condition, Step, StepKind};

pub struct Proposal {
    pub facts: FormFacts,
    /// Valid proposal, or why it cannot be accepted.
    pub answer: Result<Value, String>,
}

impl Proposal {
    pub fn for_step(session: &Session, step: &Step) -> Option<Self> {
        let StepKind::Approval(Approval { edits: Some(named), .. }) = &step.kind else { return None };
        let proposing = session.definition().step(named)?;
        let facts = session.form_facts(proposing)?;
        let answer = match session.results.get(named) {
            Some(made) if made.success => {
                let answer = session.disclosed_result(proposing, made);
                facts.check(&answer).map(|()| answer)
            }
            Some(failed) => Err(failed.error.clone().unwrap_or_default()),
            None => Err(format!("step `{named}` has not run")),
        };
        Some(Self { facts, answer })
    }

    /// Returns whether the proposal is accepted without asking a person.
    pub fn is_unasked(&self, session: &Session, step: &Step, approval: &Approval) -> bool {
        let is_asked = |condition| evaluate_condition(session, step, condition).unwrap_or(true);
        self.answer.is_ok() && approval.ask_if.as_ref().is_some_and(|condition| !is_asked(condition))
    }

    /// Returns the proposal, or the person's edited version, as later steps see it.
    pub fn accepted(&self, edited: Option<&Value>, merge: Option<&Merge>) -> Map<String, Value> {
        self.facts.accepted(edited.or(self.answer.as_ref().ok()).unwrap_or(&json!({})), merge)
    }

    pub fn merge(&self) -> Option<Merge> {
        self.facts.merge(self.answer.as_ref().ok()?)
    }
}

pub(crate) fn evaluate_condition(
    session: &Session,
    step: &Step,
    condition: &Condition,
) -> Result<bool, String> {
    let definition = session.definition();
    let runs = definition.all_steps().map(|step| &step.id);
    let runs: Map<String, Value> =
        runs.map(|id| (id.clone(), session.runs.get(id).copied().unwrap_or(0).into())).collect();
    let mut scope = json!({
        "input": session.given_input(&step.id), "context": session.context_for(&step.id), "runs": runs, "rounds": session.rounds.len(),
        "agenda": session.agenda.for_conditions(),
        "conflicts": { "open": session.agenda.open_conflicts().count() },
        "questions": { "open": session.agenda.open_questions().count() },
    });
    if let Some(failed) = session.preceding_error() {
        scope["error"] = json!({ "stepId": failed.step_id, "message": failed.error });
    }
    let success_of = |key: &str| {
        let named = definition.step_of_key(key, step)?;
        let mut seen = session.results_for(&step.id).into_iter().rev();
        seen.find(|result| result.step == named.id).map(|result| result.success)
    };
    condition.evaluate(&scope, &success_of)
}
