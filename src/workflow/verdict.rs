//! The verdict of a review: its form, and what of several leads back.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::lang::OutputSchema;
use super::step::{RejectWhen, Review};

/// What a reviewer answers with.
pub static VERDICT: LazyLock<OutputSchema> = LazyLock::new(|| {
    let schema = json!({
        "type": "object",
        "required": ["approved", "feedback"],
        "properties": {
            "approved": {"type": "boolean", "description": "whether you accept it as it is"},
            "feedback": {"type": "string", "minLength": 1, "description": "what is good and what should change"},
            "findings": {"type": "array", "description": "single points, if there are some"},
        },
    });
    OutputSchema::parse(&schema).unwrap_or_else(|why| unreachable!("{why}"))
});

/// Whether a review says something: a verdict with feedback, in sessions of format 1 anything.
pub fn is_feedback(data: &Value, format: u32) -> bool {
    match format {
        0 | 1 => !is_blank(data),
        _ => {
            data["approved"].is_boolean()
                && data["feedback"].as_str().is_some_and(|text| !text.trim().is_empty())
        }
    }
}

/// Whether a value says nothing.
pub fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty() || map.values().all(is_blank),
        _ => false,
    }
}

impl Review {
    /// Whether the verdicts of its result lead to `on_reject`. Reviews that failed count neither way.
    pub fn rejects(&self, data: &Value) -> bool {
        let entries = data.as_array().map(Vec::as_slice).unwrap_or_default();
        let verdicts: Vec<bool> =
            entries.iter().filter_map(|entry| entry["result"]["approved"].as_bool()).collect();
        let against = verdicts.iter().filter(|approved| !**approved).count();
        match self.reject_when {
            RejectWhen::Any => against > 0,
            RejectWhen::Majority => against * 2 > verdicts.len(),
            RejectWhen::All => against > 0 && against == verdicts.len(),
        }
    }
}
