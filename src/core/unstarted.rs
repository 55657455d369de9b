//! Which step inside another may begin next.

use crate::handoff::is_no;
use crate::history::{StepFinished, StepRun};
use crate::workflow::{Definition, Step, StepKind};

/// The next step inside `around` that may begin and has not.
pub fn unstarted<'a>(definition: &Definition, around: &'a Step, run: &StepRun) -> Option<&'a Step> {
    let holds_up = |last: &StepRun| last.result.as_ref().is_none_or(|result| has_failed(definition, result));
    let at_work = || run.nested.iter().filter(|inside| inside.result.is_none()).count();
    match &around.kind {
        StepKind::Sequence(_) if run.nested.last().is_some_and(holds_up) => None,
        StepKind::Each(each) if at_work() >= each.concurrency => None,
        StepKind::Each(each) => each.steps.get(run.nested.len()),
        StepKind::Sequence(_) | StepKind::Parallel(_) => around.nested().get(run.nested.len()),
        StepKind::Round(_)
        | StepKind::Agent(_)
        | StepKind::Approval(_)
        | StepKind::Transform(_)
        | StepKind::Condition(_)
        | StepKind::Review(_) => None,
    }
}

/// Whether a result ends a sequence and counts against a parallel: a failure, and the facilitator's no.
pub fn has_failed(definition: &Definition, result: &StepFinished) -> bool {
    let step = definition.step(&result.step);
    !result.success || step.is_some_and(|step| is_no(step, result))
}
