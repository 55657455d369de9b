//! Requests of `doctor` to a service: its models, and the time to its first word.
//!
//! Each is one request without a retry. Nothing of a reply is kept.

use std::time::Duration;

use serde_json::Value;

use super::HttpParticipant;
use super::error::format_duration;
use crate::participants::Failure;

const PATIENCE: Duration = Duration::from_secs(10);

/// The time to answer with one word, and the parameters that were taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Latency {
    /// Until the first piece of the reply.
    pub first: Duration,
    pub whole: Duration,
    pub taken: Vec<String>,
    pub declined: Vec<String>,
}

/// The names of the models a service lists, in its order.
///
/// # Errors
/// Why it does not answer, or not so that a list could be read.
pub async fn models(participant: &HttpParticipant) -> Result<Vec<String>, Failure> {
    let asked = tokio::time::timeout(PATIENCE, participant.list()).await;
    let late = || Failure {
        timed_out: true,
        ..Failure::from(format!("no reply within {}", format_duration(PATIENCE)))
    };
    let body = asked.unwrap_or_else(|_| Err(late()))?;
    listed(&body).ok_or_else(|| Failure::from("its list of models cannot be read".to_owned()))
}

fn listed(body: &[u8]) -> Option<Vec<String>> {
    let value: Value = serde_json::from_slice(body).ok()?;
    let list = [&value["data"], &value["models"], &value].into_iter().find_map(Value::as_array);
    // A service with no model at all may say null instead of an empty list.
    if value["data"].is_null() && value.get("data").is_some() && list.is_none() {
        return Some(Vec::new());
    }
    let name = |model: &Value| {
        let name = model["id"].as_str().or_else(|| model["name"].as_str()).or_else(|| model.as_str())?;
        Some(name.strip_prefix("models/").unwrap_or(name).to_owned())
    };
    Some(list?.iter().filter_map(name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_lists_of_models() {
        let named = |body: &str| listed(body.as_bytes());
        let two = Some(vec!["a".to_owned(), "b".to_owned()]);
        assert_eq!(named(r#"{"object":"list","data":[{"id":"a"},{"id":"b"}]}"#), two);
        assert_eq!(named(r#"{"models":[{"name":"models/a"},{"name":"b"}]}"#), two);
        assert_eq!(named(r#"[{"id":"a"},{"id":"b"}]"#), two);
        assert_eq!(named(r#"{"object":"list","data":null}"#), Some(Vec::new()));
        for odd in ["", "{}", "<html>", r#"{"data":"x"}"#] {
            assert_eq!(named(odd), None, "{odd}");
        }
    }
}
