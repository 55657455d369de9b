//! Takes words that can mean one thing only for what they are called here, before a definition is checked.

use crate::diagnostic::{Diagnostic, nearest};
use crate::words::{alias, meant, model_with_slash};
use crate::workflow::definition::Definition;
use crate::workflow::discussion::is_discussion;
use crate::workflow::keys::spec::{KeySpec, StepType};
use crate::workflow::steps::step::{step_keys, type_of};
use crate::yaml::{Map, Node, Value, placed, read_yaml_or_json};

/// Reads a definition, whatever words its author has for it.
/// A file that is one step becomes a definition with that step, under `id` unless it has its own.
pub fn read_definition(text: &str, file: &str, id: &str) -> Result<Node, Diagnostic> {
    let mut node = read_yaml_or_json(text, file)?;
    in_own_words(&mut node);
    put_into_list(&mut node, id);
    Ok(node)
}

/// Keys that both a definition and a step can have, and that a file that is one step has for the step.
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

/// An unknown key belongs to where the key is that is meant.
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

fn in_own_words(definition: &mut Node) {
    if let Value::Map(entries) = &mut definition.value {
        // For editors.
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

/// Who leads the session leads each of its discussions that names nobody.
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

/// Models that are written with a colon after the provider.
fn write_with_slash(node: &mut Node) {
    match &mut node.value {
        Value::List(models) => models.iter_mut().for_each(write_with_slash),
        Value::Text(text) => *text = model_with_slash(text).unwrap_or_else(|| std::mem::take(text)),
        _ => {}
    }
}

/// Times that are written in milliseconds, such as `timeout_ms: 500`.
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

/// Makes an artifact of each file that is named alone.
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

/// Gives an artifact that is read from the project an id, where it has none.
fn number_file(artifact: &mut Node, number: usize) {
    let is_read = artifact.get("file").or(artifact.get("diff")).is_some();
    if is_read && artifact.get("id").is_none() {
        artifact.push("id", format!("SRC-{number}"));
    }
}

/// A file with a strategy and no type is one discussion; its question is the topic.
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

/// Puts options that stand beside the ballot into it; without a ballot they are those of a choice.
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
