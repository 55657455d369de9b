//! The tokens and the cost that a service of the chat-completions style reports.

use serde_json::Value;

use crate::participants::TokenUsage;

/// Reads the `usage` of a reply; none where it does not tell both counts.
pub(super) fn usage(usage: &Value) -> Option<TokenUsage> {
    let count = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
    let (input, told) = (count("/prompt_tokens")?, count("/completion_tokens")?);
    // Some services count thinking in the total alone.
    let output = told.max(count("/total_tokens").unwrap_or(0).saturating_sub(input));
    let thinking = count("/completion_tokens_details/reasoning_tokens").unwrap_or(output - told);
    let cached = count("/prompt_tokens_details/cached_tokens").unwrap_or(0);
    let dollars = |pointer: &str| usage.pointer(pointer).and_then(Value::as_f64).filter(|sum| *sum >= 0.0);
    // With a key of the user's own at the vendor, `cost` is the gateway's fee alone.
    let is_own_key = usage.pointer("/is_byok").and_then(Value::as_bool) == Some(true);
    let beside = dollars("/cost_details/upstream_inference_cost").filter(|_| is_own_key).unwrap_or(0.0);
    let cost_nano_usd = dollars("/cost").map(|cost| ((cost + beside) * 1e9).round() as u64);
    Some(TokenUsage { input, output, cached, thinking, cost_nano_usd })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(more: &str) -> Option<u64> {
        let told = format!(r#"{{"prompt_tokens":8,"completion_tokens":11,"total_tokens":19{more}}}"#);
        usage(&serde_json::from_str(&told).expect("JSON")).expect("tokens").cost_nano_usd
    }

    #[test]
    fn what_a_gateway_says_it_cost_is_what_it_cost() {
        let fee = r#","is_byok":true,"cost_details":{"upstream_inference_cost":0.5}"#;
        assert_eq!(cost(r#","cost":0.00078"#), Some(780_000));
        assert_eq!(cost(&format!(r#","cost":0.025{fee}"#)), Some(525_000_000), "the user's own key pays too");
        assert_eq!(cost(&format!(r#","cost":0.5{}"#, fee.replace("true", "false"))), Some(500_000_000));
        assert_eq!([cost(""), cost(r#","cost":null"#), cost(r#","cost":-1"#)], [None; 3]);
        assert_eq!(cost(r#","cost":{"total_cost":1}"#), None);
    }
}
