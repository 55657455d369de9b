//! Synonyms in a definition, replaced by the standard words before it is checked.

use crate::diagnostic::{Diagnostic, nearest};
use crate::words::{alias, meant, model_with_slash};
use crate::workflow::definition::Definition;
use crate::workflow::discussion::is_discussion;
use crate::workflow::keys::spec::{KeySpec, StepType};
use crate::workflow::steps::step::{step_keys, type_of};
use crate::yaml::{Map, Node, Value, placed, read_yaml_or_json};

/// Parses a definition and replaces synonyms by the standard words. A file that is a single step becomes a
/// definition with this step; `id` is the default of the step's id.
pub fn read_definition(text: &str, file: &str, id: &str) -> Result<Node, Diagnostic> {
    let mut node = read_yaml_or_json(text, file)?;
    replace_synonyms(&mut node);
    put_into_list(&mut node, id);
    Ok(node)
}

/// Keys of both definitions and steps that belong to the step in a single-step file.
const OF_STEP: [&str; 5] = ["type", "steps", "facilitator_directive", "context", "completeness"];

fn put_into_list(root: &mut Node, id: &str) {
    let step_type = type_of(root);
    let is_list = root.given("steps").is_some();
    if is_list && !step_type.is_some_and(StepType::has_steps) {
        return;
    }
    let id = root.get("id").map_or_else(|| placed(id.into(), root), Node::clone);
    let Value::Map(entries) = &mut root.value else { return };
    let (step, rest): (Map, Map) =
        std::mem::take(entries).into_iter().partition(|(key, _)| is_of_step(&key.text, step_type));
    *entries = rest;
    if !step.is_empty() {
        let mut step = root.with(Value::Map(step));
        if step.get("type").is_none() {
            step.push("type", "round");
        }
        step.add("id", id);
        root.add("steps", root.with(Value::List(vec![step])));
    }
}

/// Returns whether a top-level key belongs to the step. An unknown key follows the known key it resembles.
fn is_of_step(key: &str, step_type: Option<&'static StepType>) -> bool {
    let is_in = |keys: &[&KeySpec], name: &str| keys.iter().any(|known| known.name == name);
    let of_file: Vec<&KeySpec> = Definition::KEYS.iter().collect();
    if is_in(&of_file, key) {
        return OF_STEP.contains(&key);
    }
    let own = step_keys(step_type);
    if meant("definition", key).is_some() && !(step_type.is_some() && is_in(&own, key)) {
        return false;
    }
    let place = step_type.map_or("round", |of| of.name);
    let near = || nearest(key, of_file.iter().chain(&own).map(|known| known.name));
    is_in(&step_keys(None), key)
        || meant(place, key).or_else(|| meant("step", key)).is_some()
        || near().is_some_and(|name| !is_in(&of_file, name))
}

fn replace_synonyms(definition: &mut Node) {
    if let Value::Map(entries) = &mut definition.value {
        // Editors use this key; the program does not.
        entries.retain(|(key, _)| key.text != "$schema");
    }
    if let Some(evidence) = definition.get_mut("evidence") {
        name_files(evidence);
    }
    rename(definition, "definition");
    milliseconds(definition);
    if let Some(Value::List(artifacts)) = definition.get_mut("artifacts").map(|node| &mut node.value) {
        (1..).zip(artifacts).for_each(|(number, artifact)| number_file(artifact, number));
    }
    if let Some(Value::List(seats)) = definition.get_mut("participants").map(|node| &mut node.value) {
        for seat in seats {
            write_with_slash(seat);
            seat.get_mut("model").into_iter().for_each(write_with_slash);
        }
    }
    rewrite_step(definition);
    lead_discussions(definition);
}

/// Passes the session's facilitator to each discussion without one.
fn lead_discussions(definition: &mut Node) {
    let Some(lead) = definition.get("facilitator").cloned() else { return };
    let Some(Value::List(steps)) = definition.get_mut("steps").map(|node| &mut node.value) else { return };
    let mut discussions = steps.iter_mut().filter(|step| is_discussion(step)).peekable();
    if discussions.peek().is_none() {
        return;
    }
    for step in discussions.filter(|step| step.get("facilitator").is_none()) {
        step.add("facilitator", lead.clone());
    }
    definition.take("facilitator");
}

/// Rewrites models written with a colon after the provider.
fn write_with_slash(node: &mut Node) {
    match &mut node.value {
        Value::List(models) => models.iter_mut().for_each(write_with_slash),
        Value::Text(text) => *text = model_with_slash(text).unwrap_or_else(|| std::mem::take(text)),
        _ => {}
    }
}

/// Rewrites times in milliseconds, such as `timeout_ms: 500`.
fn milliseconds(node: &mut Node) {
    let Value::Map(map) = &mut node.value else { return };
    for (key, value) in map {
        if !["timeout_ms", "retry_delay_ms", "max_duration_ms"].contains(&&*key.text) {
            continue;
        }
        if let Value::Number(number) = &value.value {
            key.text.truncate(key.text.len() - "_ms".len());
            value.value = Value::Text(format!("{number}ms"));
        }
    }
}

fn rewrite_step(step: &mut Node) {
    milliseconds(step);
    if let Some(Value::List(steps)) = step.get_mut("steps").map(|node| &mut node.value) {
        steps.iter_mut().for_each(rewrite_step);
    } else {
        lead_by_strategy(step);
    }
    for (key, word) in [("ballot", "kind"), ("rule", "name")] {
        if let Some(node) = step.get_mut(key) {
            rename(node, key);
            replace(Some(node), word);
            replace(node.get_mut(word), word);
        }
    }
    put_options_into_ballot(step);
}

fn rename(node: &mut Node, place: &str) {
    let Value::Map(map) = &mut node.value else { return };
    for index in 0..map.len() {
        let word =
            alias(place, &map[index].0.text).filter(|word| map.iter().all(|(key, _)| key.text != *word));
        if let Some(word) = word {
            word.clone_into(&mut map[index].0.text);
        }
    }
}

fn replace(node: Option<&mut Node>, place: &str) {
    if let Some(Value::Text(text)) = node.map(|node| &mut node.value)
        && let Some(word) = alias(place, text)
    {
        word.clone_into(text);
    }
}

/// Turns each plain file name into an artifact.
fn name_files(evidence: &mut Node) {
    if matches!(evidence.value, Value::Text(_)) {
        evidence.value = Value::List(vec![evidence.clone()]);
    }
    let Value::List(items) = &mut evidence.value else { return };
    for item in items {
        if let Value::Text(file) = &item.value {
            *item = placed(serde_json::json!({"file": file}), item);
        }
    }
}

/// Adds an id to an artifact that is read from the project and has none.
fn number_file(artifact: &mut Node, number: usize) {
    let is_read = artifact.get("file").or(artifact.get("diff")).is_some();
    if is_read && artifact.get("id").is_none() {
        artifact.push("id", format!("SRC-{number}"));
    }
}

/// Turns a step with a strategy and no type into a discussion; its question becomes the topic.
fn lead_by_strategy(step: &mut Node) {
    if step.get("strategy").is_none() || step.get("type").is_some() {
        return;
    }
    if step.get("topic").is_none()
        && let Some((_, question)) = step.take("question")
    {
        step.add("topic", question);
    }
    step.push("type", "discussion");
}

/// Moves the options of a step into its ballot; without a ballot they become a choice.
fn put_options_into_ballot(step: &mut Node) {
    if step.get("ballot").is_some_and(|ballot| ballot.get("options").is_some()) {
        return;
    }
    let Some(options) = step.take("options") else { return };
    if step.get("ballot").is_none() {
        step.add("ballot", placed("choice".into(), &options.1));
    }
    let Some(ballot) = step.get_mut("ballot") else { return };
    if let Value::Text(_) = &ballot.value {
        let kind = ballot.clone();
        ballot.value = Value::Map(Map::new());
        ballot.add("kind", kind);
    }
    if let Value::Map(ballot) = &mut ballot.value {
        ballot.push(options);
    }
}
