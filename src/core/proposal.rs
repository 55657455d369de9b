//! Proposals of a model that leads: checked against the log, taken as they are or put to a person.

use serde_json::{Map, Value, json};

use crate::handoff::FormFacts;
use crate::history::{Merge, Session};
use crate::workflow::{Approval, Condition, Definition, Step, StepKind};

/// What an approval step that edits a proposal has before it.
pub struct Proposal {
    pub facts: FormFacts,
    /// The proposal, or why there is none that can be taken.
    pub answer: Result<Value, String>,
}

impl Proposal {
    /// The proposal of an approval step; `None` if the step edits none.
    pub fn of(session: &Session, definition: &Definition, step: &Step) -> Option<Self> {
        let StepKind::Approval(Approval { edits: Some(named), .. }) = &step.kind else { return None };
        let proposing = definition.step(named)?;
        let facts = session.form_facts(proposing)?;
        // What it records changes the log that it was checked against.
        let is_recorded = session.running(&step.id).is_some_and(|run| run.recorded > 0);
        let check =
            |answer: Value| if is_recorded { Ok(answer) } else { facts.check(&answer).map(|()| answer) };
        let answer = match session.results.get(named) {
            Some(made) if made.success => check(session.disclosed_result(proposing, made)),
            Some(failed) => Err(failed.error.clone().unwrap_or_default()),
            None => Err(format!("step `{named}` has not run")),
        };
        Some(Self { facts, answer })
    }

    /// Whether it is taken without asking anybody.
    pub fn is_unasked(
        &self,
        session: &Session,
        definition: &Definition,
        step: &Step,
        approval: &Approval,
    ) -> bool {
        let is_asked = |condition| holds(session, definition, step, condition).unwrap_or(true);
        self.answer.is_ok() && approval.ask_if.as_ref().is_some_and(|condition| !is_asked(condition))
    }

    /// What is left of the proposal, or of the person's version of it, as later steps see it.
    pub fn accepted(&self, edited: Option<&Value>, merge: Option<&Merge>) -> Map<String, Value> {
        self.facts.accepted(edited.or(self.answer.as_ref().ok()).unwrap_or(&json!({})), merge)
    }

    /// The merge that it proposes, if there is something to merge.
    pub fn merge(&self) -> Option<Merge> {
        self.facts.merge(self.answer.as_ref().ok()?)
    }
}

pub(crate) fn holds(
    session: &Session,
    definition: &Definition,
    step: &Step,
    condition: &Condition,
) -> Result<bool, String> {
    let runs = definition
        .all_steps()
        .map(|step| (step.id.clone(), Value::from(session.runs.get(&step.id).copied().unwrap_or(0))));
    let runs: serde_json::Map<String, Value> = runs.collect();
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
    condition.holds(&scope, &success_of)
}
