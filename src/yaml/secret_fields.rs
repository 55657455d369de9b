//! Check for secrets written as values: found by field name, never shown.
//!
//! Files are kept, shared and copied into sessions, so they must not contain secrets. Only field names
//! matter; values are never judged.

use super::reader::{Node, Value};
use crate::diagnostic::Diagnostic;

/// Field names that suggest a secret, in lower case without `-` and `_`.
const NAMES: [&str; 9] = [
    "secret",
    "secretkey",
    "clientsecret",
    "privatekey",
    "password",
    "passwd",
    "accesstoken",
    "authtoken",
    "bearertoken",
];

/// Reports each field with such a name and a scalar value, anywhere in `node`. `more` lists further names
/// that mean a secret at this place.
pub fn literal_keys(node: &Node, file: &str, more: &[&str]) -> Vec<Diagnostic> {
    let map = match &node.value {
        Value::List(items) => return items.iter().flat_map(|item| literal_keys(item, file, more)).collect(),
        Value::Map(map) => map,
        _ => return Vec::new(),
    };
    let mut problems = Vec::new();
    for (key, value) in map {
        let is_literal = match &value.value {
            // A public key has this prefix.
            Value::Text(text) => !text.starts_with("ed25519:"),
            Value::Number(_) => true,
            _ => false,
        };
        if is_literal && is_key_name(&key.text, more) {
            let hint = "put it in an environment variable; `key_env` of a provider in config.yaml names that";
            let problem = Diagnostic::new(format!("secret in file: `{}`", key.text)).hint(hint);
            problems.push(problem.at(file, key.line, key.column));
        }
        problems.extend(literal_keys(value, file, more));
    }
    problems
}

/// Returns true if a field or parameter with this name holds a secret.
pub fn is_key_name(name: &str, more: &[&str]) -> bool {
    let name: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    let name = name.to_ascii_lowercase();
    NAMES.contains(&name.as_str())
        || name.ends_with("apikey")
        || name.ends_with("apitoken")
        || more.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_by_name_and_never_shown() {
        let text = "a: [{API-Key: s3cr3t}]\nlab_api_key: 7\napiKey: s3cr3t\nkey_env: X\nkey: REQ\n\
                    password: {type: string}\ntoken: \"ed25519:00\"\n";
        let node = super::super::read(text, "f").unwrap();
        let problems = literal_keys(&node, "f", &[]);
        let lines: Vec<u64> = problems.iter().map(|p| p.place.as_ref().unwrap().line).collect();
        assert_eq!(lines, [1, 2, 3]);
        assert!(problems.iter().all(|p| !format!("{p:?}").contains("s3cr3t")));
        assert_eq!(literal_keys(&node, "f", &["key", "token"]).len(), 4);
    }
}
