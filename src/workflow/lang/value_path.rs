//! Access to parts of a value by path, for all workflow languages.
//!
//! A name selects an entry of a map, a number an item of a list. `length` is the size of a list or a text (in
//! UTF-16 units, as in JavaScript). Absent parts are `None`, never an error.

use std::borrow::Cow;

use serde_json::Value;

fn step<'a>(value: &'a Value, key: &str) -> Option<Cow<'a, Value>> {
    match value {
        Value::Object(map) => map.get(key).map(Cow::Borrowed),
        Value::Array(items) if key == "length" => Some(Cow::Owned(items.len().into())),
        Value::Array(items) => items.get(index(key)?).map(Cow::Borrowed),
        Value::String(text) if key == "length" => Some(Cow::Owned(text.encode_utf16().count().into())),
        _ => None,
    }
}

fn index(key: &str) -> Option<usize> {
    let is_number = key.bytes().all(|b| b.is_ascii_digit()) && (key == "0" || !key.starts_with('0'));
    key.parse().ok().filter(|_| is_number)
}

pub fn walk<'a>(value: &'a Value, keys: &[String]) -> Option<Cow<'a, Value>> {
    let mut at = Cow::Borrowed(value);
    for key in keys {
        at = match at {
            Cow::Borrowed(value) => step(value, key)?,
            // Only a length is owned, and a number has no parts.
            Cow::Owned(_) => return None,
        };
    }
    Some(at)
}

/// Returns the nesting depth of a value; 0 if it is neither list nor map.
pub fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_use_names_numbers_and_length() {
        let value = json!({"a": [{"b": 1}, "xy"], "length": 7});
        let found = |path: &str| {
            let keys: Vec<String> = path.split('.').map(str::to_owned).collect();
            walk(&value, &keys).map(Cow::into_owned)
        };
        assert_eq!(found("a.0.b"), Some(json!(1)));
        assert_eq!(found("a.length"), Some(json!(2)));
        assert_eq!(found("a.1.length"), Some(json!(2)));
        assert_eq!(found("length"), Some(json!(7)));
        for missing in ["a.2", "a.00", "a.+1", "a.b", "a.length.x", "a.0.b.c", "b"] {
            assert_eq!(found(missing), None, "{missing}");
        }
    }
}
