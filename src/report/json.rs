//! JSON report that is safe to show on a terminal.
//!
//! Controls, bidi overrides and invisible characters become `\uXXXX`, so that parsing restores the raw text.
//! Prose goes through `crate::sanitize` instead.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::Value;

use super::model::Document;
use crate::sanitize::{floods, is_harmless, is_unsafe};

/// Returns the report as JSON: the model of all formats, with stable keys for scripts.
pub fn json(document: &Document<'_>) -> String {
    pretty(&serde_json::to_value(document).unwrap_or_default())
}

/// Formats a JSON value on several lines, safe for a terminal.
pub fn pretty(value: &Value) -> String {
    terminal_safe_json(&(serde_json::to_string_pretty(value).unwrap_or_default() + "\n")).into_owned()
}

/// Formats a JSON value on one line, safe for a terminal.
pub fn safe_json(value: &Value) -> String {
    terminal_safe_json(&value.to_string()).into_owned()
}

/// Escapes every unsafe character inside the strings of JSON text as `\uXXXX`; line feeds between values
/// stay.
pub fn terminal_safe_json(json: &str) -> Cow<'_, str> {
    if is_harmless(json) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 64);
    let mut units = [0; 2];
    for (_, c, is_flood) in floods(json) {
        if !is_flood && (c == '\n' || !is_unsafe(c)) {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut units) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::terminal_safe_json;

    #[test]
    fn escaped_json_keeps_every_value() {
        let raw = "a\u{1b}]8;;x\u{7}\u{85}\u{202e}\u{7f}\u{e0041}日\n";
        let json = serde_json::to_string_pretty(&serde_json::json!({ "a": raw })).unwrap();
        let safe = terminal_safe_json(&json);
        assert_eq!(safe, "{\n  \"a\": \"a\\u001b]8;;x\\u0007\\u0085\\u202e\\u007f\\udb40\\udc41日\\n\"\n}");
        let back: serde_json::Value = serde_json::from_str(&safe).unwrap();
        assert_eq!(back["a"], raw);
        assert_eq!(terminal_safe_json("{}"), "{}");
    }
}
