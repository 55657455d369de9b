//! Reads steps of any type.

use super::step::{Completeness, Retry, Step, StepKind};
use super::types::type_of;
use super::{agent, approval, flow, record, review, round};
use crate::workflow::keys::spec::StepType;
use crate::workflow::lang::Transform;
use crate::workflow::load::entries::{Entries, parsed};
use crate::yaml::Value;

pub fn steps(entries: Entries<'_>) -> Vec<Step> {
    entries.maps("steps").map(read).collect()
}

fn read(entries: Entries<'_>) -> Step {
    let step_type = type_of(entries.node);
    let steps = step_type.map(|of| nested(entries, of)).unwrap_or_default();
    let kind = match step_type.map_or("", |of| of.name) {
        "agent" => Some(StepKind::Agent(Box::new(agent::read(entries)))),
        "round" => Some(StepKind::Round(Box::new(round::read(entries)))),
        "parallel" => Some(flow::parallel(entries, steps.len())),
        "sequence" => Some(StepKind::Sequence { item: None }),
        "each" => flow::each(entries),
        "transform" => parsed(entries, "transform", Transform::parse).map(StepKind::Transform),
        "condition" => flow::condition(entries),
        "review" => Some(StepKind::Review(review::read(entries))),
        _ => None,
    };
    Step {
        id: entries.text("id").unwrap_or_default(),
        description: entries.text("description"),
        label: entries.text("label"),
        next: entries.text("next"),
        on_error: entries.text("on_error"),
        on_undecided: entries.text("on_undecided"),
        max_runs: entries.count("max_runs"),
        on_exhausted: entries.text("on_exhausted"),
        output: entries.text("output"),
        record: record::read(entries),
        input: entries.text("input"),
        task: entries.text("task"),
        requires: entries.texts("requires"),
        brief: entries.text("brief").is_none_or(|word| word == "full"),
        completeness: completeness(entries),
        retry: Retry {
            max: entries.count("max_retries").unwrap_or(0),
            delay_ms: entries.duration("retry_delay").unwrap_or(0),
        },
        timeout_ms: entries.duration("timeout"),
        facilitator_directive: entries.text("facilitator_directive"),
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
