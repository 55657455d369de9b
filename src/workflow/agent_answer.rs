//! Conversion of an agent's reply to data.
//!
//! Nothing is guessed: of several fenced blocks none is chosen, and a reply without JSON stays text.

use serde_json::{Value, json};

use super::lang::depth;
use super::task::with_written_names;

/// Deepest nesting of an accepted answer. Contexts that contain the answer nest deeper.
pub const DEEPEST_ANSWER: usize = 24;

/// Most values in an accepted answer, because every event and context that contains it repeats them.
pub const MOST_VALUES: usize = 20_000;

/// Returns the reply's JSON, or that of its only fenced block, else `{"result": "<text>"}`. Issues and
/// implementation results get their written key names. Fails if the JSON is too deep or too large.
pub fn read_answer(reply: &str) -> Result<Value, String> {
    let text = reply.trim();
    let found = parse(text).or_else(|| only_block(text).and_then(|block| parse(&block)));
    match found {
        Some(value) if depth(&value) > DEEPEST_ANSWER => {
            Err(format!("the answer is nested deeper than {DEEPEST_ANSWER} levels"))
        }
        Some(value) if values(&value) > MOST_VALUES => {
            Err(format!("the answer contains more than {MOST_VALUES} values"))
        }
        Some(value) => Ok(with_written_names(value)),
        None => Ok(json!({ "result": text })),
    }
}

fn parse(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

/// Returns the content of a reply's fenced block, if it has exactly one.
fn only_block(text: &str) -> Option<String> {
    let ticks = |line: &str| line.trim_start().bytes().take_while(|byte| *byte == b'`').count();
    let lines: Vec<&str> = text.lines().collect();
    let open = lines.iter().position(|line| ticks(line) >= 3)?;
    let (fence, inside) = (ticks(lines[open]), &lines[open + 1..]);
    let closes = |line: &&str| ticks(line) >= fence && line.trim().bytes().all(|byte| byte == b'`');
    let end = inside.iter().position(closes)?;
    let is_only = inside[end + 1..].iter().all(|line| ticks(line) < 3);
    is_only.then(|| inside[..end].join("\n"))
}

/// Counts the values in `value`, itself included.
fn values(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(values).sum::<usize>(),
        Value::Object(map) => 1 + map.values().map(values).sum::<usize>(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_replies_are_data_and_others_text() {
        let cases = [
            ("{\"a\": 1}", json!({"a": 1})),
            (" [1, 2]\n", json!([1, 2])),
            ("42", json!(42)),
            ("Here:\n```json\n{\"a\": 1}\n```\nDone.", json!({"a": 1})),
            ("```\n[true]\n```", json!([true])),
            ("````\n```\n1\n```\n````", json!({"result": "````\n```\n1\n```\n````"})),
            ("```json\n1\n```\n```json\n2\n```", json!({"result": "```json\n1\n```\n```json\n2\n```"})),
            ("```json\n{\"a\": 1}", json!({"result": "```json\n{\"a\": 1}"})),
            ("```rust\nfn main() {}\n```", json!({"result": "```rust\nfn main() {}\n```"})),
            ("yes", json!({"result": "yes"})),
            ("", json!({"result": ""})),
        ];
        for (reply, wanted) in cases {
            assert_eq!(read_answer(reply).unwrap(), wanted, "{reply}");
        }
    }

    #[test]
    fn too_large_answers_are_rejected() {
        let many = |count: usize| format!("[{}1]", "1,".repeat(count - 1));
        assert!(read_answer(&many(MOST_VALUES - 1)).is_ok());
        assert!(read_answer(&many(MOST_VALUES)).is_err());
    }

    #[test]
    fn too_deep_answers_are_rejected() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(read_answer(&nested(DEEPEST_ANSWER)).is_ok());
        assert!(read_answer(&nested(DEEPEST_ANSWER + 1)).is_err());
    }
}
