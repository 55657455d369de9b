//! Reads steps of any type: those of a list, and the one that a file without a list is.

use super::step::{Completeness, Retry, Step, StepKind};
use super::types::type_of;
use super::{agent, approval, flow, record, review, round};
use crate::workflow::keys::spec::{StepPosition, StepType};
use crate::workflow::lang::Transform;
use crate::workflow::load::entries::{Entries, parsed};
use crate::yaml::Value;

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
    let steps = step_type.map(|of| nested(entries, of)).unwrap_or_default();
    let kind = match step_type.map_or("", |of| of.name) {
        "agent" => Some(StepKind::Agent(Box::new(agent::read(entries)))),
        "round" => Some(StepKind::Round(Box::new(round::read(entries, position)))),
        "parallel" => Some(flow::parallel(entries, steps.len())),
        "sequence" => Some(StepKind::Sequence { item: None }),
        "each" => flow::each(entries),
        "transform" => parsed(entries, "transform", Transform::parse).map(StepKind::Transform),
        "condition" => flow::condition(entries),
        "review" => Some(StepKind::Review(review::read(entries))),
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
        record: record::read(entries),
        input: in_list("input"),
        task: text("task"),
        requires: if has("requires") { entries.texts("requires") } else { Vec::new() },
        brief: text("brief").is_none_or(|word| word == "full"),
        completeness: if has("completeness") { completeness(entries) } else { None },
        retry: Retry {
            max: if has("max_retries") { entries.count("max_retries").unwrap_or(0) } else { 0 },
            delay_ms: entries.duration("retry_delay").unwrap_or(0),
        },
        timeout_ms: if has("timeout") { entries.duration("timeout") } else { None },
        facilitator_directive: text("facilitator_directive"),
        // An approval, or a step with errors: the file does not load.
        kind: kind.unwrap_or_else(|| StepKind::Approval(approval::read(entries))),
        steps,
        place: (entries.node.line, entries.node.column),
        is_copy: false,
    }
}

/// The steps inside a step, if its type has some.
fn nested(entries: Entries<'_>, of: &StepType) -> Vec<Step> {
    let Some(key) = of.keys.iter().find(|key| key.name == "steps") else { return Vec::new() };
    if let Some(node) = entries.node("steps").filter(|node| node.value == Value::List(Vec::new())) {
        let wanted = key.about.trim_start_matches("The ").trim_end_matches('.');
        entries.refuse(node, format!("{} has no `steps`", of.what), format!("add the {wanted}"));
    }
    steps(entries)
}

pub fn completeness(entries: Entries<'_>) -> Option<Completeness> {
    entries.word("completeness", &Completeness::WORDS)
}
