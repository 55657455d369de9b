//! Single values of an answer: text, markup, placeholders and quoting.
//!
//! Nothing here depends on a form or an option.

use serde_json::Number;

use crate::sanitize::harmless_line;
use crate::yaml::{Node, Value};

/// Delimiters around a word that are not part of it.
const PAIRS: [(char, char); 9] = [
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('*', '*'),
    ('_', '_'),
    ('(', ')'),
    ('[', ']'),
    ('{', '}'),
    ('“', '”'),
];

/// Shortens a text to `max` characters on one line, without unsafe characters.
pub(in crate::ballot) fn shorten(text: &str, max: usize) -> String {
    let mut short: String = text.chars().take(max).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    harmless_line(&short)
}

pub(in crate::ballot) fn quoted(text: &str) -> String {
    format!("`{}`", shorten(text, 80))
}

/// Trims the white space that models put around words; rarer separators stay.
pub(in crate::ballot) fn trimmed(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\n', '\r', '\u{a0}'])
}

/// Removes quotes, emphasis and brackets around a word, and punctuation after it.
pub(in crate::ballot) fn strip_markup(text: &str) -> &str {
    let mut word = trimmed(text);
    loop {
        let before = word.len();
        word = trimmed(word.trim_end_matches(['.', ',', ';', ':', '!']));
        for (open, close) in PAIRS {
            if let Some(inner) = word.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)) {
                word = trimmed(inner);
            }
        }
        if word.len() == before {
            return word;
        }
    }
}

/// Converts to lower case and collapses white space. Signs that only resemble a letter, such as the Kelvin
/// sign, stay.
pub(in crate::ballot) fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split([' ', '\t', '\n', '\r', '\u{a0}']).filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        for c in word.chars() {
            match c {
                '\u{2126}' | '\u{212a}' | '\u{212b}' => out.push(c),
                _ => out.extend(c.to_lowercase()),
            }
        }
    }
    out
}

/// Parses a number in digits, with an optional sign and point.
pub(in crate::ballot) fn plain_number(text: &str) -> Option<Number> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
    let all = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !all(whole) || !all(part) || digits.len() > 30 {
        return None;
    }
    let text = text.strip_prefix('+').unwrap_or(text);
    let number = text.parse::<i64>().ok().map(Number::from);
    number.or_else(|| text.parse().ok().and_then(Number::from_f64))
}

pub(in crate::ballot) fn is_abstain(text: &str) -> bool {
    strip_markup(text).eq_ignore_ascii_case("abstain")
}

/// Checks if a text is a placeholder of the form: `<…>` or dots.
pub(in crate::ballot) fn is_placeholder(text: &str) -> bool {
    let text = text.trim().trim_matches(['"', '\'', '`']);
    let inner = text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
    inner.is_some_and(|inner| !inner.is_empty() && !inner.contains(['<', '>']))
        || text == "..."
        || text == "…"
}

/// Checks if a value is neither empty nor a placeholder.
pub(in crate::ballot) fn is_given(node: &Node) -> bool {
    match &node.value {
        Value::Null => false,
        Value::Text(text) => !text.trim().is_empty() && !is_placeholder(text),
        Value::Bool(_) | Value::Number(_) | Value::List(_) | Value::Map(_) => true,
    }
}

/// Checks if a text means "nothing", such as `none` or `n/a`.
pub(in crate::ballot) fn means_nothing(text: &str) -> bool {
    let word = strip_markup(text).to_ascii_lowercase();
    ["", "none", "n/a", "na", "null", "nil", "nothing", "-", "not applicable"].contains(&word.as_str())
}

/// Returns a scalar as the reply spells it, so that `1.10` stays `1.10`; `None` for lists and maps.
pub(in crate::ballot) fn source_text(node: &Node, source: &str) -> Option<String> {
    let written = node.spelling(source);
    let (is_so, value) = match &node.value {
        Value::Text(text) => return Some(text.clone()),
        Value::Number(number) => (written.parse::<f64>().ok() == number.as_f64(), number.to_string()),
        Value::Bool(truth) => (written.eq_ignore_ascii_case(&truth.to_string()), truth.to_string()),
        Value::Null => (written == "~" || written.eq_ignore_ascii_case("null"), String::new()),
        Value::List(_) | Value::Map(_) => return None,
    };
    Some(if is_so { written.to_owned() } else { value })
}
