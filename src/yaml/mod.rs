//! YAML in and out, in one place: a reader that keeps lines and columns, and our own writer.
//!
//! The reader ([`Node`]) takes YAML 1.2 and JSON with comments, refuses duplicate keys, alias bombs
//! and deep nesting. The writer ([`Out`]) has a fixed style, so that the bytes of a snapshot or of a
//! session never depend on a library's version.

mod jsonc;
mod own;
mod reader;
mod secret_fields;
mod write;

pub use jsonc::relaxed_json;
pub use own::read_own;
pub use reader::{Map, MapKey, Node, Value, read, read_large, read_yaml_or_json};
pub use secret_fields::literal_keys;
pub use write::{Out, write_struct};

use serde_json::Value as Json;

impl Node {
    /// The value under a key of a map.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Value::Map(entries) = &self.value else { return None };
        entries.iter().find(|(name, _)| name.text == key).map(|(_, node)| node)
    }

    /// As [`Node::get`]; null counts as absent.
    pub fn given(&self, key: &str) -> Option<&Self> {
        self.get(key).filter(|node| node.value != Value::Null)
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        let Value::Map(entries) = &mut self.value else { return None };
        entries.iter_mut().find(|(name, _)| name.text == key).map(|(_, node)| node)
    }

    /// Takes an entry out of a map.
    pub fn take(&mut self, key: &str) -> Option<(MapKey, Self)> {
        let Value::Map(entries) = &mut self.value else { return None };
        let at = entries.iter().position(|(name, _)| name.text == key)?;
        Some(entries.remove(at))
    }

    /// Adds an entry to a map; the key stands where the map does.
    pub fn add(&mut self, key: &str, node: Self) {
        let key = named(key, self);
        if let Value::Map(entries) = &mut self.value {
            entries.push((key, node));
        }
    }

    /// Adds an entry to a map; it stands where the map does.
    pub fn push(&mut self, key: &str, value: impl Into<Json>) {
        self.add(key, placed(value.into(), self));
    }

    /// The text under a key of a map; empty if there is none.
    pub fn text(&self, key: &str) -> String {
        self.get(key).map(Self::to_json).as_ref().and_then(Json::as_str).unwrap_or_default().to_owned()
    }
}

/// The key that stands where `at` does.
pub fn named(key: &str, at: &Node) -> MapKey {
    MapKey { line: at.line, column: at.column, text: key.to_owned() }
}

/// The value as nodes that all stand where `at` does, so that messages lead there.
pub fn placed(value: Json, at: &Node) -> Node {
    let value = match value {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(flag),
        Json::Number(number) => Value::Number(number),
        Json::String(text) => Value::Text(text),
        Json::Array(items) => Value::List(items.into_iter().map(|item| placed(item, at)).collect()),
        Json::Object(map) => {
            Value::Map(map.into_iter().map(|(key, value)| (named(&key, at), placed(value, at))).collect())
        }
    };
    at.with(value)
}
