//! Which step inside another may begin next.

use crate::handoff::is_no;
use crate::history::{Session, StepFinished, StepRun};
use crate::workflow::{Definition, Step, StepKind};

/// The next step inside `run` that may begin and has not, and the step around it.
pub fn unstarted<'a>(
    session: &Session,
    definition: &'a Definition,
    run: &StepRun,
) -> Option<(&'a str, &'a Step)> {
    let around = definition.step(&run.id)?;
    if matches!(around.kind, StepKind::Sequence(_))
        && run.nested.last().is_some_and(|last| {
            last.result.as_ref().is_none_or(|result| has_failed(session, definition, result))
        })
    {
        return None;
    }
    around.nested().get(run.nested.len()).map(|step| (around.id.as_str(), step))
}

/// Whether a result ends a sequence and counts against a parallel: a failure, and the facilitator's no.
pub fn has_failed(session: &Session, definition: &Definition, result: &StepFinished) -> bool {
    let step = definition.step(&result.step);
    !result.success || step.is_some_and(|step| is_no(session, step, result))
}
