//! What a step came to.

use serde_json::Value;

/// What a step came to: its data, and why it failed if it did.
pub(super) struct StepOutcome {
    pub success: bool,
    pub data: Value,
    pub error: Option<String>,
}

impl StepOutcome {
    pub fn to(data: Value) -> Self {
        Self { success: true, data, error: None }
    }

    pub fn to_nothing(error: impl Into<String>) -> Self {
        Self { success: false, data: Value::Null, error: Some(error.into()) }
    }
}
