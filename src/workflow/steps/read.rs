//! Reads steps of any type: those of a list, and the one that a file without a list is.

use super::step::{Completeness, Retry, Step, StepKind};
use super::types::type_of;
use super::{agent, approval, condition, each, record, review, round, several, transform};
use crate::workflow::keys::spec::StepPosition;
use crate::workflow::load::entries::Entries;

pub fn steps(entries: Entries<'_>) -> Vec<Step> {
    entries.maps("steps").map(|step| read(step, None)).collect()
}

/// The step that a definition without a list of steps is, under the definition's id.
pub fn single_step(entries: Entries<'_>, id: &str) -> Step {
    read(entries, Some(id))
}

/// A step; `file_id` is the definition's id where the file is this one step.
fn read(entries: Entries<'_>, file_id: Option<&str>) -> Step {
    let position = if file_id.is_some() { StepPosition::AtTop } else { StepPosition::InList };
    let step_type = type_of(entries.node, position);
    let kind = match step_type.map(|of| of.name) {
        Some("agent") => Some(StepKind::Agent(Box::new(agent::read(entries)))),
        Some("round") => Some(StepKind::Round(Box::new(round::read(entries, position)))),
        Some("parallel") => Some(StepKind::Parallel(several::parallel(entries, steps(entries)))),
        Some("sequence") => Some(StepKind::Sequence(several::sequence(entries, steps(entries)))),
        Some("each") => each::read(entries, steps(entries)).map(|each| StepKind::Each(Box::new(each))),
        Some("transform") => transform::read(entries).map(StepKind::Transform),
        Some("condition") => condition::read(entries).map(StepKind::Condition),
        Some("approval") => Some(StepKind::Approval(approval::read(entries))),
        Some("review") => Some(StepKind::Review(review::read(entries))),
        _ => None,
    };
    let has = |key: &str| step_type.is_some_and(|of| of.has(key));
    let text = |key: &str| if has(key) { entries.text(key) } else { None };
    let in_list = |key: &str| if file_id.is_none() { text(key) } else { None };
    Step {
        id: file_id.map_or_else(|| entries.text("id").unwrap_or_default(), str::to_owned),
        description: in_list("description"),
        label: text("label"),
        next: text("next"),
        on_error: text("on_error"),
        on_undecided: text("on_undecided"),
        max_runs: entries.count("max_runs"),
        on_exhausted: text("on_exhausted"),
        output: text("output"),
        record: if has("record") { record::read(entries) } else { None },
        input: in_list("input"),
        task: text("task"),
        requires: if has("requires") { entries.texts("requires") } else { Vec::new() },
        brief: text("brief").is_none_or(|word| word == "full"),
        completeness: if has("completeness") { completeness(entries) } else { None },
        retry: if has("max_retries") { retry(entries) } else { Retry::default() },
        timeout_ms: if has("timeout") { entries.duration("timeout") } else { None },
        facilitator_directive: text("facilitator_directive"),
        // A step with errors; the file does not load.
        kind: kind.unwrap_or_else(|| StepKind::Approval(approval::read(entries))),
        place: (entries.node.line, entries.node.column),
        is_copy: false,
    }
}

pub fn completeness(entries: Entries<'_>) -> Option<Completeness> {
    entries.word("completeness", &Completeness::WORDS)
}

fn retry(entries: Entries<'_>) -> Retry {
    Retry {
        max: entries.count("max_retries").unwrap_or(0),
        delay_ms: entries.duration("retry_delay").unwrap_or(0),
    }
}
