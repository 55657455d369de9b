//! Output schema for models: a description, and the smallest value that fits.
//!
//! The description covers the simple parts; the schema follows it. The value depends on `type`, `const`,
//! `enum`, `properties`, `required`, `items`, `minItems`, `minimum`, `maximum` and `maxLength` alone. Other
//! keywords may reject it, so the caller must check it.

use serde_json::{Map, Value, json};

/// Content of every generated text.
const TEXT: &str = "Placeholder: no model was asked";
/// Upper limit of a generated list's length, whatever `minItems` says.
const MOST_ITEMS: u64 = 1000;

/// Generates a value from the keywords above; it nests as deeply as the schema.
pub fn sample(schema: &Value) -> Value {
    if let Some(value) = schema.get("const").or_else(|| schema.get("enum")?.get(0)) {
        return value.clone();
    }
    let limit = |key: &str, otherwise: u64| schema.get(key).and_then(Value::as_u64).unwrap_or(otherwise);
    match kind(schema) {
        "object" => Value::Object(object(schema)),
        "array" => {
            let item = schema.get("items").unwrap_or(&Value::Null);
            (0..limit("minItems", 0).min(MOST_ITEMS)).map(|_| sample(item)).collect()
        }
        whole @ ("integer" | "number") => {
            let bound =
                |key: &str, otherwise: f64| schema.get(key).and_then(Value::as_f64).unwrap_or(otherwise);
            let number = 0_f64.max(bound("minimum", 0.0)).min(bound("maximum", f64::MAX));
            let number = if whole == "integer" { number.ceil() } else { number };
            if number.fract() == 0.0 && number.abs() < 9e15 { json!(number as i64) } else { json!(number) }
        }
        "boolean" => json!(false),
        "null" => Value::Null,
        _ => TEXT.chars().take(limit("maxLength", u64::MAX) as usize).collect::<String>().into(),
    }
}

/// Generates every described property, and required ones without a description.
fn object(schema: &Value) -> Map<String, Value> {
    let known = schema.get("properties").and_then(Value::as_object);
    let mut made: Map<String, Value> =
        known.into_iter().flatten().map(|(name, of)| (name.clone(), sample(of))).collect();
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        made.entry(name).or_insert_with(|| TEXT.into());
    }
    made
}

/// Returns the type to generate: the first in `type`, else the one that other keywords imply.
fn kind(schema: &Value) -> &str {
    let has = |keys: &[&str]| keys.iter().any(|key| schema.get(key).is_some());
    let named = schema.get("type").and_then(|kind| kind.as_str().or_else(|| kind.get(0)?.as_str()));
    named.unwrap_or_else(|| match () {
        () if has(&["properties", "required"]) => "object",
        () if has(&["items", "minItems"]) => "array",
        () if has(&["minimum", "maximum"]) => "number",
        () => "string",
    })
}

/// Most properties that are described one by one.
const MOST: usize = 60;

/// Describes an answer's form: one line per property, then the schema.
pub fn in_words(schema: &Value) -> String {
    let mut lines = Vec::new();
    properties(schema, "", &mut lines);
    lines.truncate(MOST);
    let kind = type_in_words(schema);
    let mut text = format!("Answer with one JSON value ({kind}) and nothing else.");
    for line in &lines {
        text.push_str("\n- ");
        text.push_str(line);
    }
    format!("{text}\nIt must fit this JSON Schema:\n{schema}\n")
}

fn properties(schema: &Value, path: &str, lines: &mut Vec<String>) {
    let Some(all) = schema["properties"].as_object() else { return };
    let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (name, property) in all {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let need = if required.iter().any(|key| key == name) { "required" } else { "optional" };
        let about = property["description"].as_str().map(|about| format!(": {about}")).unwrap_or_default();
        lines.push(format!("`{path}`: {}, {need}{about}", type_in_words(property)));
        if lines.len() > MOST {
            return;
        }
        let inner = if property["items"]["properties"].is_object() { &property["items"] } else { property };
        properties(inner, &path, lines);
    }
}

fn type_in_words(schema: &Value) -> String {
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> = words.iter().map(Value::to_string).collect();
        return format!("one of {}", words.join(", "));
    }
    match schema["type"].as_str() {
        Some("object") => "an object".to_owned(),
        Some("array") if schema["items"]["type"].is_string() => {
            format!("a list, each {}", type_in_words(&schema["items"]))
        }
        Some("array") => "a list".to_owned(),
        Some("string") => "a text".to_owned(),
        Some("integer") => "a whole number".to_owned(),
        Some("number") => "a number".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        Some("null") => "null".to_owned(),
        _ => "as the schema says".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::in_words;
    use serde_json::json;

    use crate::workflow::OutputSchema;

    #[test]
    fn an_ordinary_schema_gets_a_value_that_fits() {
        for schema in [
            json!(true),
            json!({}),
            json!({"type": "object"}),
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}}}),
            json!({"type": "object", "required": ["x", "y"]}),
            json!({"type": "array", "minItems": 3, "items": {"type": "string"}}),
            json!({"type": "array", "maxItems": 0}),
            json!({"type": "string", "maxLength": 3}),
            json!({"type": "integer", "minimum": 3, "maximum": 3}),
            json!({"type": "integer", "maximum": -5}),
            json!({"type": "number", "minimum": 0.5}),
            json!({"enum": ["yes", "no"]}),
            json!({"const": {"a": [1]}}),
            json!({"type": ["null", "string"]}),
            json!({"type": "object", "properties": {"issue": {"type": ["object", "null"], "properties": {"id": {"type": "string"}}}}}),
        ] {
            let parsed = OutputSchema::parse(&schema).expect("a schema");
            let made = parsed.sample();
            assert!(made.is_ok(), "{schema}: {made:?}");
        }
    }

    #[test]
    fn sample_values_are_neutral() {
        let schema = json!({"properties": {
            "text": {"type": "string"}, "passed": {"type": "boolean"}, "count": {"type": "integer"}, "files": {"type": "array"}
        }});
        let made = OutputSchema::parse(&schema).expect("a schema").sample();
        let expected = json!({"text": super::TEXT, "passed": false, "count": 0, "files": []});
        assert_eq!(made, Ok(expected));
    }

    #[test]
    fn unsupported_schemas_are_errors_with_a_place() {
        for (schema, place) in [
            (
                json!({"type": "object", "properties": {"id": {"type": "string", "pattern": "^REQ-"}}}),
                "`/id`",
            ),
            (json!({"oneOf": [{"type": "null"}, {"type": "integer"}]}), "oneOf"),
            (json!({"type": "array", "minItems": 2, "uniqueItems": true}), "uniqueItems"),
            (json!({"not": {"type": "string"}}), "not"),
        ] {
            let error = OutputSchema::parse(&schema).expect("a schema").sample().expect_err("refused");
            assert!(error.starts_with("a placeholder cannot be made for this `output_schema`: "), "{error}");
            assert!(error.contains(place) || place == "uniqueItems" || place == "oneOf", "{schema}: {error}");
        }
    }

    #[test]
    fn descriptions_list_each_property_before_the_schema() {
        let schema = json!({"type": "object", "required": ["files"], "properties": {
            "files": {"type": "array", "items": {"type": "string"}, "description": "what changed"},
            "tests": {"type": "object", "required": ["passed"], "properties": {"passed": {"type": "boolean"}}},
            "mood": {"enum": ["good", "bad"]},
        }});
        let words = "Answer with one JSON value (an object) and nothing else.
- `files`: a list, each a text, required: what changed
- `tests`: an object, optional
- `tests.passed`: true or false, required
- `mood`: one of \"good\", \"bad\", optional
It must fit this JSON Schema:
";
        assert_eq!(in_words(&schema), format!("{words}{schema}\n"));
        assert!(in_words(&json!(true)).starts_with("Answer with one JSON value (as the schema says)"));
    }
}
