//! Steps with others inside them: what these come to together.

use serde_json::{Value, json};

use crate::core::command::{Refusal, refuse};
use crate::core::next::has_failed;
use crate::handoff::parallel_data;
use crate::history::{Session, StepFinished, StepRun};
use crate::workflow::{Definition, Each, MOST_ITEMS, Step, StepKind};

/// What a step came to: its data, and why it failed if it did.
pub(super) struct StepOutcome {
    pub success: bool,
    pub data: Value,
    pub error: Option<String>,
}

impl StepOutcome {
    pub fn to(data: Value) -> Self {
        Self { success: true, data, error: None }
    }

    pub fn to_nothing(error: impl Into<String>) -> Self {
        Self { success: false, data: Value::Null, error: Some(error.into()) }
    }
}

/// The items that a step runs its steps for; none unless it is an `each`.
pub fn items(session: &Session, step: &Step) -> Result<Vec<Value>, String> {
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

fn waits(run: &StepRun) -> Result<StepOutcome, Refusal> {
    refuse(format!("step `{}` waits for the steps inside it", run.id))
}

/// What several steps came to that did not see each other: `count` of them, of which so many are needed.
pub(super) fn several(
    session: &Session,
    definition: &Definition,
    count: usize,
    needed: Option<usize>,
    run: &StepRun,
) -> Result<StepOutcome, Refusal> {
    let results: Vec<&StepFinished> = run.nested.iter().filter_map(|run| run.result.as_deref()).collect();
    if results.len() < count {
        return waits(run);
    }
    let failed = results.iter().filter(|result| has_failed(definition, result));
    let failed: Vec<&str> = failed.map(|result| result.step.as_str()).collect();
    let success = results.len() - failed.len() >= needed.unwrap_or(results.len());
    let error = (!success)
        .then(|| format!("{} of {} steps failed: {}", failed.len(), results.len(), failed.join(", ")));
    Ok(StepOutcome { success, data: parallel_data(session, definition, &run.nested), error })
}

pub(super) fn of_each(
    session: &Session,
    definition: &Definition,
    step: &Step,
    each: &Each,
    run: &StepRun,
) -> Result<StepOutcome, Refusal> {
    if run.nested.is_empty()
        && let Err(why) = items(session, step)
    {
        return Ok(StepOutcome { data: json!([]), ..StepOutcome::to_nothing(why) });
    }
    several(session, definition, each.steps.len(), None, run)
}

/// The last step's result as later steps see it; the failure of the first step that failed.
pub(super) fn of_sequence(
    session: &Session,
    definition: &Definition,
    step: &Step,
    run: &StepRun,
) -> Result<StepOutcome, Refusal> {
    let Some(result) = run.nested.last().and_then(|last| last.result.as_deref()) else { return waits(run) };
    let id = &result.step;
    if has_failed(definition, result) {
        let why = session.shown_error(result);
        let why = if result.success { "rejected" } else { &why };
        return Ok(StepOutcome::to_nothing(format!("step `{id}` failed: {why}")));
    }
    if run.nested.len() < step.nested().len() {
        return waits(run);
    }
    let data = definition.step(id).and_then(|last| session.context_value(last, result));
    Ok(StepOutcome::to(data.unwrap_or_default()))
}
