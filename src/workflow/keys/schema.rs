//! JSON Schema (draft 2020-12) of the key table, for editors.
//!
//! It lists the keys and their types. Rules across several keys are left to `roundtable check`, which
//! explains them better.

use serde_json::{Map, Value, json};

use super::spec::{KeySpec, KeyType, MapSpec};
use crate::workflow::definition::Definition;
use crate::workflow::steps::step::{Step, TYPES, step_keys, type_names};

/// Width in characters up to which a value is printed on one line.
const WIDTH: usize = 110;

/// Returns the top-level keys of a file: the definition's, and those of a file that is one step.
pub fn root_keys() -> Vec<&'static KeySpec> {
    let is_new = |key: &&KeySpec| Definition::KEYS.iter().all(|known| known.name != key.name);
    let own = step_keys(None).into_iter().filter(is_new);
    Definition::KEYS.iter().chain(own).collect()
}

pub fn definition_schema() -> Value {
    let mut maps = Vec::new();
    let root: Vec<&KeySpec> = root_keys();
    for key in root.iter().copied().chain(TYPES.iter().flat_map(|of| step_keys(Some(of)))) {
        collect(&key.kind, &mut maps);
    }
    let mut defs: Map<String, Value> =
        Step::KEYS.iter().map(|key| (definition_of(key), property(key))).collect();
    defs.extend(maps.iter().map(|of| (of.name.to_owned(), map_schema(of))));
    defs.extend(TYPES.iter().map(|of| (format!("{}_step", of.name), mapping(step_keys(Some(of))))));
    defs.insert("step".to_owned(), step());
    let mut schema = mapping(root);
    // The keys of one step type are not required in every file.
    schema.as_object_mut().and_then(|schema| schema.remove("required"));
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = "A roundtable definition".into();
    schema["anyOf"] = json!([{"required": ["steps"]}, {"required": ["question"]}, {"required": ["type"]}]);
    schema["$defs"] = Value::Object(defs);
    schema
}

pub fn definition_schema_text() -> String {
    let mut text = String::new();
    print(&definition_schema(), 0, &mut text);
    text
}

fn print(value: &Value, depth: usize, out: &mut String) {
    let line = value.to_string();
    let entries: Vec<(String, &Value)> = match value {
        Value::Object(map) => map.iter().map(|(key, value)| (format!("{}: ", json!(key)), value)).collect(),
        Value::Array(items) => items.iter().map(|item| (String::new(), item)).collect(),
        _ => Vec::new(),
    };
    if entries.is_empty() || 2 * depth + line.len() <= WIDTH {
        out.push_str(&line);
        return;
    }
    let (open, close) = if value.is_object() { ('{', '}') } else { ('[', ']') };
    let last = entries.len() - 1;
    out.push(open);
    for (at, (key, value)) in entries.into_iter().enumerate() {
        out.push_str(&format!("\n{}{key}", "  ".repeat(depth + 1)));
        print(value, depth + 1, out);
        out.push_str(if at < last { "," } else { "" });
    }
    out.push_str(&format!("\n{}{close}", "  ".repeat(depth)));
}

/// Returns the schema of a step by its type; a step without `type` is a round.
fn step() -> Value {
    let then = |name: &str| json!({"$ref": format!("#/$defs/{name}_step")});
    let is_it = |name: &str| json!({"properties": {"type": {"const": name}}, "required": ["type"]});
    let mut cases: Vec<Value> =
        TYPES.iter().map(|of| json!({"if": is_it(of.name), "then": then(of.name)})).collect();
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

/// Returns the name under `$defs` of a key that several step types share.
fn definition_of(key: &KeySpec) -> String {
    format!("{}_key", key.name)
}

fn property(key: &KeySpec) -> Value {
    let mut property = type_schema(&key.kind);
    if key.is_required() && matches!(key.kind, KeyType::Text) {
        property["pattern"] = "\\S".into();
    }
    property["description"] = key.about.into();
    property
}

fn mapping<'a>(keys: impl IntoIterator<Item = &'a KeySpec>) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for key in keys {
        let is_shared = Step::KEYS.iter().any(|known| known.name == key.name && known.about == key.about);
        let property = if is_shared {
            json!({"$ref": format!("#/$defs/{}", definition_of(key))})
        } else {
            property(key)
        };
        properties.entry(key.name).or_insert(property);
        if key.is_required() {
            required.push(key.name);
        }
    }
    let mut schema = json!({"type": "object", "additionalProperties": false, "properties": properties});
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

fn map_schema(of: &MapSpec) -> Value {
    let mut schema = mapping(of.keys.iter());
    schema["additionalProperties"] = of.others.is_some().into();
    schema
}

fn type_schema(kind: &KeyType) -> Value {
    match kind {
        KeyType::Any => json!({}),
        KeyType::Text => json!({"type": ["string", "integer"]}),
        KeyType::Texts => {
            json!({"anyOf": [type_schema(&KeyType::Text), {"type": "array", "items": type_schema(&KeyType::Text)}]})
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
        KeyType::Named(item) => json!({"type": "object", "additionalProperties": type_schema(item)}),
        KeyType::List(item) => json!({"type": "array", "items": type_schema(item)}),
        KeyType::Steps => json!({"type": "array", "items": {"$ref": "#/$defs/step"}}),
        KeyType::Either(kinds) => json!({"anyOf": kinds.iter().map(type_schema).collect::<Vec<_>>()}),
    }
}
