//! Takes words that can mean one thing only for what they are called here, before a definition is checked.

use crate::diagnostic::{Diagnostic, nearest};
use crate::words::{alias, meant, model_with_slash};
use crate::workflow::definition::DEFINITION;
use crate::workflow::keys::spec::{KeySpec, StepType};
use crate::workflow::steps::step::{step_keys, type_of};
use crate::yaml::{Map, Node, Value, named, placed, read_yaml_or_json};

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
    let is_list = root.get("steps").is_some_and(|steps| steps.value != Value::Null);
    if is_list && !step_type.is_some_and(StepType::has_steps) {
        return;
    }
    let id = root.get("id").map_or_else(|| placed(id.into(), root), Node::clone);
    let place = root.with(Value::Null);
    let Value::Map(entries) = &mut root.value else { return };
    let (mut step, rest): (Map, Map) =
        entries.drain(..).partition(|(key, _)| is_of_step(&key.text, step_type));
    *entries = rest;
    if !step.is_empty() {
        if step.iter().all(|(key, _)| key.text != "type") {
            step.push((named("type", &place), placed("round".into(), &place)));
        }
        step.push((named("id", &place), id));
        let steps = Value::List(vec![place.with(Value::Map(step))]);
        entries.push((named("steps", &place), place.with(steps)));
    }
}

/// An unknown key belongs to where the key is that is meant.
fn is_of_step(key: &str, step_type: Option<&'static StepType>) -> bool {
    let is_in = |keys: &[&KeySpec], name: &str| keys.iter().any(|known| known.name == name);
    let of_file: Vec<&KeySpec> = DEFINITION.keys.iter().collect();
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
    if let Some(evidence) = at(definition, "evidence") {
        name_files(evidence);
    }
    rename(definition, "definition");
    milliseconds(definition);
    if let Some(Value::List(artifacts)) = at(definition, "artifacts").map(|node| &mut node.value) {
        (1..).zip(artifacts).for_each(|(number, artifact)| number_file(artifact, number));
    }
    if let Some(Value::List(seats)) = at(definition, "participants").map(|node| &mut node.value) {
        for seat in seats {
            let is_map = matches!(seat.value, Value::Map(_));
            let Some(node) = (if is_map { at(seat, "model") } else { Some(seat) }) else { continue };
            let models = match &mut node.value {
                Value::List(models) => models.iter_mut(),
                _ => std::slice::from_mut(node).iter_mut(),
            };
            for model in models {
                if let Value::Text(text) = &mut model.value
                    && let Some(model) = model_with_slash(text)
                {
                    *text = model;
                }
            }
        }
    }
    rewrite_step(definition);
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
    if let Some(Value::List(steps)) = at(step, "steps").map(|node| &mut node.value) {
        steps.iter_mut().for_each(rewrite_step);
    } else {
        lead_by_strategy(step);
    }
    if let Some(ballot) = at(step, "ballot") {
        rename(ballot, "ballot");
        replace(Some(ballot), "kind");
        replace(at(ballot, "kind"), "kind");
    }
    if let Some(rule) = at(step, "rule") {
        rename(rule, "rule");
        replace(Some(rule), "name");
        replace(at(rule, "name"), "name");
    }
    put_options_into_ballot(step);
}

fn at<'a>(node: &'a mut Node, key: &str) -> Option<&'a mut Node> {
    let Value::Map(map) = &mut node.value else { return None };
    map.iter_mut().find(|(known, _)| known.text == key).map(|(_, value)| value)
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
    let has = |key: &str| artifact.get(key).is_some();
    let place = artifact.with(Value::Null);
    if (has("file") || has("diff"))
        && !has("id")
        && let Value::Map(map) = &mut artifact.value
    {
        map.insert(0, (named("id", &place), placed(format!("SRC-{number}").into(), &place)));
    }
}

/// A file with a strategy and no type is one discussion; its question is the topic.
fn lead_by_strategy(step: &mut Node) {
    let place = step.with(Value::Null);
    let Value::Map(map) = &mut step.value else { return };
    let has = |key: &str| map.iter().any(|(known, _)| known.text == key);
    if !has("strategy") || has("type") {
        return;
    }
    let has_topic = has("topic");
    if let Some((key, _)) = map.iter_mut().find(|(key, _)| key.text == "question" && !has_topic) {
        "topic".clone_into(&mut key.text);
    }
    map.push((named("type", &place), placed("discussion".into(), &place)));
}

/// Puts options that stand beside the ballot into it; without a ballot they are those of a choice.
fn put_options_into_ballot(step: &mut Node) {
    let is_given = step.get("ballot").is_some_and(|ballot| ballot.get("options").is_some());
    let Value::Map(map) = &mut step.value else { return };
    let found = map.iter().position(|(key, _)| key.text == "options");
    let Some(index) = found.filter(|_| !is_given) else { return };
    let options = map.remove(index);
    let place = options.1.with(Value::Null);
    if !map.iter().any(|(key, _)| key.text == "ballot") {
        map.push((named("ballot", &place), placed("choice".into(), &place)));
    }
    let Some((_, ballot)) = map.iter_mut().find(|(key, _)| key.text == "ballot") else { return };
    if let Value::Text(_) = &ballot.value {
        let kind = (named("kind", ballot), ballot.clone());
        ballot.value = Value::Map(vec![kind]);
    }
    if let Value::Map(ballot) = &mut ballot.value {
        ballot.push(options);
    }
}
