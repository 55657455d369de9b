//! Walking into a value by names and numbers, as every language of a workflow does.
//!
//! A name picks an entry of a map, a number an item of a list, `length` the size of a list or a
//! text (counted as JavaScript counts it). Whatever is not there is `None`, never an error.

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
            // Only a length is made on the way, and nothing stands below a number.
            Cow::Owned(_) => return None,
        };
    }
    Some(at)
}

/// Depth of a value; one that is no list and no map has depth 0.
pub fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// The kind of a value in words, for messages.
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
    fn walks_by_name_number_and_length() {
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
