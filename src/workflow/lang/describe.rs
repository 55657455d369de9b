//! An output schema in words: what stands where, for who does not read JSON Schema well.
//!
//! It says the plain parts and leaves the rest to the schema, which goes with it.

use serde_json::Value;

/// Properties told of at most; a schema with more speaks for itself.
const MOST: usize = 60;

/// The form of an answer: its properties a line each, then the schema.
pub fn in_words(schema: &Value) -> String {
    let mut lines = Vec::new();
    properties(schema, "", &mut lines);
    lines.truncate(MOST);
    let kind = kind_of(schema);
    let mut text = format!("Answer with one JSON value, {kind}, and with nothing else.");
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
        lines.push(format!("`{path}`: {}, {need}{about}", kind_of(property)));
        if lines.len() > MOST {
            return;
        }
        let inner = if property["items"]["properties"].is_object() { &property["items"] } else { property };
        properties(inner, &path, lines);
    }
}

fn kind_of(schema: &Value) -> String {
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> = words.iter().map(Value::to_string).collect();
        return format!("one of {}", words.join(", "));
    }
    match schema["type"].as_str() {
        Some("object") => "an object".to_owned(),
        Some("array") if schema["items"]["type"].is_string() => {
            format!("a list, each {}", kind_of(&schema["items"]))
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

    #[test]
    fn says_each_property_in_a_line_and_then_the_schema() {
        let schema = json!({"type": "object", "required": ["files"], "properties": {
            "files": {"type": "array", "items": {"type": "string"}, "description": "what changed"},
            "tests": {"type": "object", "required": ["passed"], "properties": {"passed": {"type": "boolean"}}},
            "mood": {"enum": ["good", "bad"]},
        }});
        let words = "Answer with one JSON value, an object, and with nothing else.
- `files`: a list, each a text, required: what changed
- `tests`: an object, optional
- `tests.passed`: true or false, required
- `mood`: one of \"good\", \"bad\", optional
It must fit this JSON Schema:
";
        assert_eq!(in_words(&schema), format!("{words}{schema}\n"));
        assert!(in_words(&json!(true)).starts_with("Answer with one JSON value, as the schema says,"));
    }
}
