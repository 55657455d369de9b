//! `review` step: reviewers judge a result; form and meaning of their verdicts.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::agent::PROMPT;
use super::round::Selection;
use crate::workflow::keys::spec::{REQUIRED, key};
use crate::workflow::lang::{OutputSchema, Template};
use crate::workflow::load::entries::{enum_of_words, keys};

keys! {
    #[derive(Debug, Clone, PartialEq)]
    pub struct Review {
        of: String = key("of", REQUIRED, "The step or artifact to review.", "write"),
        /// Nobody reviews only their own work.
        reviewers: Selection = key("reviewers", "all", "The reviewers.", "[qa-lead]"),
        criteria: Vec<String> = key("criteria", REQUIRED, "What the reviewers check.", "[clarity, risk]"),
        prompt: Option<Template> = PROMPT,
        on_reject: Option<String> =
            key("on_reject", "`next`", "The next step if the verdict is a no.", "write"),
        reject_when: RejectWhen = key("reject_when", "any", "How many verdicts must be a no.", "majority"),
    }
}

enum_of_words! {
    /// Number of negative verdicts that reject a result.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum RejectWhen {
        #[default]
        Any = "any",
        /// More than half of the verdicts given.
        Majority = "majority",
        All = "all",
    }
}

pub static VERDICT: LazyLock<OutputSchema> = LazyLock::new(|| {
    let schema = json!({
        "type": "object",
        "required": ["approved", "feedback"],
        "properties": {
            "approved": {"type": "boolean", "description": "whether you accept it as it is"},
            "feedback": {"type": "string", "minLength": 1, "description": "what is good and what should change"},
            "findings": {"type": "array", "description": "single points, if any"},
        },
    });
    OutputSchema::parse(&schema).unwrap_or_else(|why| unreachable!("{why}"))
});

/// Returns whether a review has a verdict and feedback.
pub fn is_feedback(data: &Value) -> bool {
    data["approved"].is_boolean() && data["feedback"].as_str().is_some_and(|text| !text.trim().is_empty())
}

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
    /// Returns whether the verdicts lead to `on_reject`. Failed reviews do not count.
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
