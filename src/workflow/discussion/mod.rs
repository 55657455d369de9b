//! Expands discussions into ordinary steps, before a definition is read any further. Nothing of a
//! discussion remains in what a session saves: a change of a strategy changes no saved session.

mod lead;
mod read;
mod steps;

use serde_json::json;

pub use self::read::WITH_OPTIONS;

use self::read::Discussion;
use super::load::entries::Findings;
use super::participants::DEFAULT_PANEL;
use super::strategy::ReadStrategy;
use crate::yaml::{Map, Node, Value, named, placed};

pub(super) const TARGETS: [&str; 8] =
    ["next", "on_error", "on_undecided", "on_exhausted", "on_approve", "on_reject", "then", "else"];

/// The definition with the steps of each discussion in its place; `None` if it has no discussion, or one
/// with errors, which are then among `found`.
pub fn expanded(root: &Node, read_strategy: ReadStrategy<'_>, found: &Findings<'_>) -> Option<Node> {
    let (mut entries, steps) = parts(root)?;
    let mut firsts: Vec<(String, String)> = Vec::new();
    let mut all = Vec::new();
    let mut is_led = false;
    for step in with_next(steps) {
        if let Some(inner) = nested(&step).iter().find(|inner| is_discussion(inner)) {
            found.refuse(
                inner,
                "a discussion cannot stand inside another step",
                "move it into the list `steps`",
            );
        }
        if !is_discussion(&step) {
            all.push(step);
            continue;
        }
        let discussion = Discussion::read(&step, read_strategy, found)?;
        if let Some(lead) = &discussion.lead {
            is_led = true;
            participants(&mut entries, root).push(placed(lead.participant(), &step));
        }
        let expansion = discussion.steps();
        let first = expansion.first().and_then(|step| step["id"].as_str()).unwrap_or_default();
        firsts.push((step.text("id"), first.to_owned()));
        all.extend(expansion.into_iter().map(|of_it| placed(of_it, &step)));
    }
    if firsts.is_empty() || !found.problems.borrow().is_empty() {
        return None;
    }
    for step in &mut all {
        lead_to(step, &firsts);
    }
    if entries.iter().all(|(key, _)| key.text != "pseudonyms") {
        entries.push((named("pseudonyms", root), placed(json!(true), root)));
    }
    if is_led && entries.iter().all(|(key, _)| key.text != "max_iterations") {
        // The usual limit is for loops by mistake; these are counted.
        let most = all.len().saturating_mul(20).max(100);
        entries.push((named("max_iterations", root), placed(json!(most), root)));
    }
    entries.push((named("steps", root), root.with(Value::List(all))));
    Some(root.with(Value::Map(entries)))
}

/// The participants of the definition; the default panel is put there if there are none.
fn participants<'a>(entries: &'a mut Map, root: &Node) -> &'a mut Vec<Node> {
    entries.retain(|(key, seats)| key.text != "participants" || seats.value != Value::Null);
    let found = entries.iter().position(|(key, _)| key.text == "participants");
    let at = found.unwrap_or_else(|| {
        let panel = DEFAULT_PANEL.iter().map(|name| placed((*name).into(), root)).collect();
        entries.push((named("participants", root), root.with(Value::List(panel))));
        entries.len() - 1
    });
    match &mut entries[at].1.value {
        Value::List(seats) => seats,
        _ => unreachable!("checked to be a list"),
    }
}

/// The steps with the `next` that they have by their order, where no step says what follows it.
fn with_next(mut steps: Vec<Node>) -> Vec<Node> {
    if steps.iter().any(|step| TARGETS.iter().any(|key| step.get(key).is_some())) {
        return steps;
    }
    let ids: Vec<String> = steps.iter().map(|step| step.text("id")).collect();
    for (step, id) in steps.iter_mut().zip(ids.into_iter().skip(1)) {
        let next = (named("next", step), placed(id.into(), step));
        if let Value::Map(entries) = &mut step.value {
            entries.push(next);
        }
    }
    steps
}

/// The entries of a definition without its steps, and its steps.
pub(super) fn parts(root: &Node) -> Option<(Map, Vec<Node>)> {
    let (Value::Map(entries), Value::List(steps)) = (&root.value, &root.get("steps")?.value) else {
        return None;
    };
    let rest = entries.iter().filter(|(key, _)| key.text != "steps").cloned().collect();
    Some((rest, steps.clone()))
}

/// The steps inside a step.
pub(super) fn nested(step: &Node) -> &[Node] {
    match step.get("steps").map(|steps| &steps.value) {
        Some(Value::List(steps)) => steps,
        _ => &[],
    }
}

pub(super) fn is_discussion(step: &Node) -> bool {
    is_of_type(step, "discussion")
}

pub(super) fn is_of_type(step: &Node, name: &str) -> bool {
    step.text("type") == name
}

/// Leads to the first step of a discussion what led to the discussion.
fn lead_to(step: &mut Node, firsts: &[(String, String)]) {
    let Value::Map(entries) = &mut step.value else { return };
    for (_, target) in entries.iter_mut().filter(|(key, _)| TARGETS.contains(&key.text.as_str())) {
        if let Value::Text(id) = &mut target.value
            && let Some((_, first)) = firsts.iter().find(|(of, _)| of == id)
        {
            first.clone_into(id);
        }
    }
}
