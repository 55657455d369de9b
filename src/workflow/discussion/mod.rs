//! Expansion of discussions into ordinary steps.
//!
//! It happens before the definition is checked further, and sessions save the expanded steps. So a later
//! change of a strategy changes no saved session.

mod lead;
mod read;
mod steps;

pub use self::read::WITH_OPTIONS;

use self::read::Discussion;
use super::load::entries::Findings;
use super::participants::DEFAULT_PANEL;
use super::strategy::ReadStrategy;
use crate::yaml::{Node, Value, placed};

pub(super) const TARGETS: [&str; 8] =
    ["next", "on_error", "on_undecided", "on_exhausted", "on_approve", "on_reject", "then", "else"];

/// Replaces each discussion of a definition by its steps. Returns `None` if there is no discussion, or if
/// one has errors; `found` then contains them.
pub fn expanded(root: &Node, read_strategy: ReadStrategy<'_>, found: &Findings<'_>) -> Option<Node> {
    let mut root = root.clone();
    let (_, steps) = root.take("steps")?;
    let Value::List(steps) = steps.value else { return None };
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
            add_participant(placed(lead.participant(), &step), &mut root);
        }
        let expansion = discussion.steps();
        let first = expansion.first().and_then(|step| step["id"].as_str()).unwrap_or_default();
        firsts.push((step.text("id"), first.to_owned()));
        all.extend(expansion.into_iter().map(|of_it| placed(of_it, &step)));
    }
    if firsts.is_empty() || !found.is_sound() {
        return None;
    }
    for step in &mut all {
        redirect_targets(step, &firsts);
    }
    if root.get("pseudonyms").is_none() {
        root.push("pseudonyms", true);
    }
    if is_led && root.get("max_iterations").is_none() {
        // The usual limit catches accidental loops; the loops of a discussion have limits.
        root.push("max_iterations", all.len().saturating_mul(20).max(100));
    }
    root.add("steps", root.with(Value::List(all)));
    Some(root)
}

/// Adds a participant; if the definition names none, to the default panel.
fn add_participant(participant: Node, root: &mut Node) {
    if root.get("participants").is_none_or(|seats| seats.value == Value::Null) {
        root.take("participants");
        root.push("participants", DEFAULT_PANEL.to_vec());
    }
    if let Some(Value::List(seats)) = root.get_mut("participants").map(|seats| &mut seats.value) {
        seats.push(participant);
    }
}

/// Sets `next` from the order of the steps, unless any step sets a target itself.
fn with_next(mut steps: Vec<Node>) -> Vec<Node> {
    if steps.iter().any(|step| TARGETS.iter().any(|key| step.get(key).is_some())) {
        return steps;
    }
    let ids: Vec<String> = steps.iter().map(|step| step.text("id")).collect();
    for (step, id) in steps.iter_mut().zip(ids.into_iter().skip(1)) {
        step.push("next", id);
    }
    steps
}

pub(super) fn nested(step: &Node) -> &[Node] {
    match step.get("steps").map(|steps| &steps.value) {
        Some(Value::List(steps)) => steps,
        _ => &[],
    }
}

pub fn is_discussion(step: &Node) -> bool {
    is_of_type(step, "discussion")
}

pub(super) fn is_of_type(step: &Node, name: &str) -> bool {
    step.text("type") == name
}

/// Replaces a target that is a discussion by the discussion's first step.
fn redirect_targets(step: &mut Node, firsts: &[(String, String)]) {
    for key in TARGETS {
        if let Some(Value::Text(id)) = step.get_mut(key).map(|target| &mut target.value)
            && let Some((_, first)) = firsts.iter().find(|(of, _)| of == id)
        {
            first.clone_into(id);
        }
    }
}
