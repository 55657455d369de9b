//! YAML input and output: a reader with places, and a writer.
//!
//! The reader ([`Node`]) accepts YAML 1.2 and JSON with comments; it rejects duplicate keys, alias bombs and
//! deep nesting. The writer ([`Out`]) has a fixed style, so the bytes of snapshots and sessions never depend
//! on a library's version.

mod jsonc;
mod own;
mod reader;
mod secret_fields;
mod write;

pub use jsonc::relaxed_json;
pub use own::read_own;
pub use reader::{Map, MapKey, Node, Value, read, read_large, read_yaml_or_json};
pub use secret_fields::{is_key_name, literal_keys};
pub use write::{Out, write_struct};

use serde_json::Value as Json;

impl Node {
    /// Returns the value under a key of a map.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Value::Map(entries) = &self.value else { return None };
        entries.iter().find(|(name, _)| name.text == key).map(|(_, node)| node)
    }

    /// Like [`Node::get`]; null counts as absent.
    pub fn given(&self, key: &str) -> Option<&Self> {
        self.get(key).filter(|node| node.value != Value::Null)
    }

    pub fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        let Value::Map(entries) = &mut self.value else { return None };
        entries.iter_mut().find(|(name, _)| name.text == key).map(|(_, node)| node)
    }

    /// Removes an entry from a map.
    pub fn take(&mut self, key: &str) -> Option<(MapKey, Self)> {
        let Value::Map(entries) = &mut self.value else { return None };
        let at = entries.iter().position(|(name, _)| name.text == key)?;
        Some(entries.remove(at))
    }

    /// Adds an entry to a map; its key gets the map's place.
    pub fn add(&mut self, key: &str, node: Self) {
        let key = key_at(key, self);
        if let Value::Map(entries) = &mut self.value {
            entries.push((key, node));
        }
    }

    /// Adds an entry to a map; it gets the map's place.
    pub fn push(&mut self, key: &str, value: impl Into<Json>) {
        self.add(key, placed(value.into(), self));
    }

    /// Returns the text under a key of a map; empty if it has none.
    pub fn text(&self, key: &str) -> String {
        self.get(key).map(Self::to_json).as_ref().and_then(Json::as_str).unwrap_or_default().to_owned()
    }
}

/// Creates a key with the place of `at`.
pub fn key_at(key: &str, at: &Node) -> MapKey {
    MapKey { line: at.line, column: at.column, text: key.to_owned() }
}

/// Converts a value to nodes that all have the place of `at`, so that messages refer to it.
pub fn placed(value: Json, at: &Node) -> Node {
    let value = match value {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(flag),
        Json::Number(number) => Value::Number(number),
        Json::String(text) => Value::Text(text),
        Json::Array(items) => Value::List(items.into_iter().map(|item| placed(item, at)).collect()),
        Json::Object(map) => {
            Value::Map(map.into_iter().map(|(key, value)| (key_at(&key, at), placed(value, at))).collect())
        }
    };
    at.with(value)
}
