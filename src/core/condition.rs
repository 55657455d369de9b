//! Conditions of steps, worked out over the results so far.

use serde_json::{Value, json};

use crate::history::Session;
use crate::workflow::{Condition, Definition, Step};

/// Whether a condition of a step holds.
///
/// # Errors
/// What in it cannot be worked out.
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
        session.result_for(&step.id, &named.id).map(|result| result.success)
    };
    condition.holds(&scope, &success_of)
}
