//! The report as JSON: the model that every format is written from, with stable keys for scripts.
//!
//! Text is raw; print it through [`super::terminal_safe_json`].

use serde_json::Value;

use super::model::Reports;

pub fn json(reports: &Reports<'_>) -> Value {
    serde_json::to_value(reports.document()).unwrap_or_default()
}
