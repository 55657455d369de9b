//! The definition format as a JSON Schema, for editors and for those who write definitions.
//!
//! One table of keys a mapping; that it names the same keys as the loader is held by a test that
//! asks the loader. It says what a file may look like, not whether its parts fit together: the
//! loader does that.

mod keys;

use serde_json::{Map, Value, json};

use keys::KeyType::{
    Any, Choices, Count, Duration, Either, Flag, Is, ListOf, Number, Positive, Text, Texts, Values, Words,
};
use keys::{EVERY_STEP, HAND_OVER, IDLE, INNER, KeySpec, KeyType, STEPS, WORKING, step_types};

/// The JSON Schema (draft 2020-12) of a definition.
pub fn definition_schema() -> Value {
    let mut defs = Map::new();
    for (name, own, required, taken) in STEPS {
        let every = EVERY_STEP.iter().filter(|(key, ..)| !(name == "condition" && *key == "output"));
        let input: [KeySpec; 1] =
            [("input", Text, "The step or key whose result is handed over beside the context")];
        let input = input.iter().filter(|_| name == "agent");
        let keys =
            every.chain(own).chain(HAND_OVER.iter().filter(|(key, ..)| taken.contains(key))).chain(input);
        let mut required = required.to_vec();
        required.insert(0, "id");
        defs.insert(format!("{name}_step"), mapping(keys, &required));
    }
    for (name, keys, required) in &INNER {
        defs.insert((*name).to_owned(), mapping(keys.iter(), required));
    }
    defs.insert("participant".to_owned(), json!({"anyOf": [kind(&Text), kind(&Is("participant_map"))]}));
    defs.insert("step".to_owned(), step());
    let steps = STEPS.iter().flat_map(|(_, own, ..)| own.iter());
    let one_step = EVERY_STEP.iter().chain(steps).chain(&HAND_OVER);
    let Value::Object(mut root) = mapping(WORKING.iter().chain(&IDLE).chain(one_step), &[]) else {
        return Value::Null;
    };
    root.insert(
        "anyOf".to_owned(),
        json!([{"required": ["steps"]}, {"required": ["question"]}, {"required": ["type"]}]),
    );
    root.insert("$defs".to_owned(), Value::Object(defs));
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into());
    schema.insert("title".to_owned(), "A roundtable definition".into());
    schema.extend(root);
    Value::Object(schema)
}

/// A step, by its type; one that has a question and no type is a round.
fn step() -> Value {
    let of_type = |name: &str| json!({"properties": {"type": {"const": name}}, "required": ["type"]});
    let then = |name: &str| json!({"$ref": format!("#/$defs/{name}_step")});
    let mut cases: Vec<Value> =
        STEPS.iter().map(|(name, ..)| json!({"if": of_type(name), "then": then(name)})).collect();
    cases.push(json!({"if": {"not": {"required": ["type"]}}, "then": then("round")}));
    json!({
        "type": "object",
        "required": ["id"],
        "properties": {"id": kind(&Text), "type": kind(&Choices(step_types))},
        "allOf": cases,
    })
}

fn mapping<'a>(keys: impl Iterator<Item = &'a KeySpec>, required: &[&str]) -> Value {
    let mut properties = Map::new();
    for (name, kind_of, about) in keys {
        if !properties.contains_key(*name) {
            let mut property = kind(kind_of);
            if let Value::Object(property) = &mut property {
                property.insert("description".to_owned(), (*about).into());
            }
            properties.insert((*name).to_owned(), property);
        }
    }
    let mut mapping = json!({"type": "object", "additionalProperties": false, "properties": properties});
    if let (Value::Object(mapping), false) = (&mut mapping, required.is_empty()) {
        mapping.insert("required".to_owned(), json!(required));
    }
    mapping
}

fn kind(of: &KeyType) -> Value {
    match of {
        Text => json!({"type": ["string", "integer"]}),
        Texts => json!({"anyOf": [kind(&Text), {"type": "array", "items": kind(&Text)}]}),
        Any => json!({}),
        Flag => json!({"type": "boolean"}),
        Count(least) => json!({"type": "integer", "minimum": least}),
        Positive => json!({"type": "number", "exclusiveMinimum": 0}),
        Number => json!({"type": "number"}),
        Duration => json!({"type": "string", "pattern": "^[0-9.]+ *(ms|s|m|min|h)$"}),
        Values => json!({"type": "array"}),
        Words(words) => json!({"enum": words}),
        Choices(words) => json!({"enum": words()}),
        Is(name) => json!({"$ref": format!("#/$defs/{name}")}),
        ListOf(name) => json!({"type": "array", "items": {"$ref": format!("#/$defs/{name}")}}),
        Either(kinds) => json!({"anyOf": kinds.iter().map(kind).collect::<Vec<_>>()}),
    }
}

#[cfg(test)]
mod tests;
