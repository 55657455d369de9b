//! The key table as a JSON Schema (draft 2020-12), for editors.

use serde_json::{Map, Value, json};

use super::rules;
use super::spec::{KeySpec, KeyType, MapSpec};
use super::tables::{DEFINITION, single_step_keys};
use crate::workflow::steps::types::{STEP_KEYS, TYPES, step_keys, type_names};

pub fn definition_schema() -> Value {
    let mut maps = Vec::new();
    let root: Vec<&KeySpec> = single_step_keys(None);
    let of_steps = TYPES.iter().flat_map(|of| step_keys(Some(of)));
    for key in root.iter().copied().chain(of_steps) {
        collect(&key.kind, &mut maps);
    }
    let mut defs: Map<String, Value> = maps.iter().map(|of| (of.name.to_owned(), of_map(of))).collect();
    for of in TYPES {
        let mut schema = mapping(&step_keys(Some(of)));
        let required: Vec<&KeySpec> =
            STEP_KEYS.iter().chain(of.keys).filter(|key| key.is_required()).collect();
        add_rules(&mut schema, &required, [rules::step(), (of.rules)()].concat());
        defs.insert(format!("{}_step", of.name), schema);
    }
    defs.insert("step".to_owned(), step());
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A roundtable definition",
    });
    let mut of_root = mapping(&root);
    add_rules(&mut of_root, &[], [(DEFINITION.rules)(), forms()].concat());
    if let (Value::Object(schema), Value::Object(of_root)) = (&mut schema, of_root) {
        schema.extend(of_root);
        schema.insert("$defs".to_owned(), Value::Object(defs));
    }
    schema
}

/// The forms of a file: a list of steps, or one step of a type.
fn forms() -> Vec<Value> {
    let of_type = |name: &str| json!({"properties": {"type": {"const": name}}, "required": ["type"]});
    let with_steps: Vec<&str> = TYPES.iter().filter(|of| of.has_steps()).map(|of| of.name).collect();
    let nested = json!({"properties": {"type": {"enum": with_steps}}, "required": ["type"]});
    let listed = json!({"required": ["steps"], "not": nested});
    let own: Vec<&str> = DEFINITION.keys.iter().map(|key| key.name).collect();
    let mut forms = vec![
        json!({"anyOf": [{"required": ["steps"]}, {"required": ["question"]}, {"required": ["type"]}]}),
        json!({"if": listed, "then": {"propertyNames": {"enum": own}, "properties": {"steps": {"minItems": 1}}}}),
    ];
    for of in TYPES {
        let keys: Vec<&str> = single_step_keys(Some(of)).iter().map(|key| key.name).collect();
        let required: Vec<&str> =
            of.keys.iter().filter(|key| key.is_required()).map(|key| key.name).collect();
        let mut is_it = of_type(of.name);
        if of.name == "round" {
            is_it = json!({"anyOf": [is_it, {"not": {"required": ["type"]}}]});
        }
        let condition = json!({"allOf": [is_it, {"not": listed}]});
        let mut then = json!({"required": required, "propertyNames": {"enum": keys}});
        add_rules(&mut then, &[], (of.rules)());
        forms.push(json!({"if": condition, "then": then}));
    }
    forms
}

/// A step, by its type; one that has a question and no type is a round.
fn step() -> Value {
    let then = |name: &str| json!({"$ref": format!("#/$defs/{name}_step")});
    let mut cases: Vec<Value> = TYPES
        .iter()
        .map(|of| {
            let is_it = json!({"properties": {"type": {"const": of.name}}, "required": ["type"]});
            json!({"if": is_it, "then": then(of.name)})
        })
        .collect();
    cases.push(json!({"if": {"not": {"required": ["type"]}}, "then": then("round")}));
    json!({"type": "object", "properties": {"type": {"enum": type_names()}}, "allOf": cases})
}

fn collect(kind: &KeyType, maps: &mut Vec<&'static MapSpec>) {
    match kind {
        KeyType::Map(of) if maps.iter().all(|known| known.name != of.name) => {
            maps.push(of);
            of.keys.iter().for_each(|key| collect(&key.kind, maps));
        }
        KeyType::List(item) | KeyType::Named(item) => collect(item, maps),
        KeyType::Either(kinds) => kinds.iter().for_each(|kind| collect(kind, maps)),
        _ => {}
    }
}

fn of_map(of: &MapSpec) -> Value {
    let mut schema = mapping(&of.keys.iter().collect::<Vec<_>>());
    let required: Vec<&KeySpec> = of.keys.iter().filter(|key| key.is_required()).collect();
    add_rules(&mut schema, &required, (of.rules)());
    schema
}

fn mapping(keys: &[&KeySpec]) -> Value {
    let mut properties = Map::new();
    for key in keys {
        let mut property = of_type(&key.kind);
        if let Value::Object(property) = &mut property {
            if key.is_required() && matches!(key.kind, KeyType::Text) {
                property.insert("pattern".to_owned(), "\\S".into());
            }
            property.insert("description".to_owned(), key.about.into());
        }
        properties.entry(key.name).or_insert(property);
    }
    json!({"type": "object", "additionalProperties": false, "properties": properties})
}

fn add_rules(schema: &mut Value, required: &[&KeySpec], rules: Vec<Value>) {
    if !required.is_empty() {
        schema["required"] = required.iter().map(|key| key.name).collect();
    }
    if !rules.is_empty() {
        schema["allOf"] = rules.into();
    }
}

fn of_type(kind: &KeyType) -> Value {
    match kind {
        KeyType::Any => json!({}),
        KeyType::Text => json!({"type": ["string", "integer"]}),
        KeyType::Texts => {
            json!({"anyOf": [of_type(&KeyType::Text), {"type": "array", "items": of_type(&KeyType::Text)}]})
        }
        KeyType::Flag => json!({"type": "boolean"}),
        KeyType::Whole(least, u64::MAX) => json!({"type": "integer", "minimum": least}),
        KeyType::Whole(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
        KeyType::Number(f64::MIN, f64::MAX) | KeyType::Decimal => json!({"type": "number"}),
        KeyType::Number(least, most) => json!({"type": "number", "minimum": least, "maximum": most}),
        KeyType::Positive => json!({"type": "number", "exclusiveMinimum": 0}),
        KeyType::Share => json!({"anyOf": [
            {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
            {"type": "string", "pattern": "^ *([0-9]+ */ *[0-9]+|[0-9.]+%?) *$"},
        ]}),
        KeyType::Quorum => json!({"anyOf": [
            {"type": "integer", "minimum": 1},
            {"type": "string", "pattern": "^ *0*([1-9][0-9]?|100) *%$"},
        ]}),
        KeyType::Duration => json!({"type": "string", "pattern": "^[0-9.]+ *(ms|s|m|min|h)$"}),
        KeyType::Words(words) => json!({"enum": words()}),
        KeyType::Map(of) => json!({"$ref": format!("#/$defs/{}", of.name)}),
        KeyType::Named(item) => json!({"type": "object", "additionalProperties": of_type(item)}),
        KeyType::List(item) => json!({"type": "array", "items": of_type(item)}),
        KeyType::Steps => json!({"type": "array", "items": {"$ref": "#/$defs/step"}}),
        KeyType::Either(kinds) => json!({"anyOf": kinds.iter().map(of_type).collect::<Vec<_>>()}),
    }
}
