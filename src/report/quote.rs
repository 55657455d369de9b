//! Foreign text in Markdown: readable as written, without effect on the report's structure.
//!
//! Several lines become a block quote; one line is escaped in place. Neither can start a heading, list,
//! fence, table, link, image or HTML, or control a terminal. Harmless text stays unchanged, so that reports
//! can be read and searched as plain text.

use std::fmt::Write as _;

use serde_json::Value;

use crate::insight::cut;
use crate::sanitize::{harmless, harmless_line};

/// Formats one line of foreign text within a line of the report.
pub fn inline(text: &str) -> String {
    escaped(harmless_line(text).trim(), &['`', '*'], &['#', '-', '+', '>', '=', '|', '~'])
}

/// Formats one line of foreign text as code, with longer fences if it contains backticks.
pub fn code(text: &str) -> String {
    let line = harmless_line(text);
    if !line.contains('`') {
        return format!("`{line}`");
    }
    let longest = line.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    format!("{fence} {line} {fence}")
}

/// Formats foreign text as a block quote, with a line feed after every line.
pub fn quote(text: &str) -> String {
    let mut out = String::new();
    quote_lines(text, "", "", &mut out);
    out
}

/// Formats one line of foreign text for a table cell.
pub fn cell(text: &str) -> String {
    // An escaped pipe would still end the cell.
    const PIPE: &str = "\u{e000}";
    inline(&text.replace('|', PIPE)).replace(PIPE, "&#124;")
}

/// Formats a table cell as code, unless it contains a pipe.
pub fn tag(text: &str) -> String {
    if text.contains('|') { cell(text) } else { code(text) }
}

/// Formats a YAML value; every JSON string is one.
pub fn yaml(text: &str) -> String {
    Value::from(harmless_line(text)).to_string()
}

/// Formats a value as a block quote: a list as items, a map as `key: value` items.
pub fn quote_value(value: &Value) -> String {
    let (first, others) = if value.is_array() || value.is_object() { ("- ", "  ") } else { ("", "") };
    let mut out = String::new();
    for entry in entries(value) {
        quote_lines(&entry, first, others, &mut out);
    }
    out
}

/// Returns the items of a list, or a map's `key: value` items.
fn entries(value: &Value) -> Vec<String> {
    let items = |value: &Value| match value {
        Value::Array(items) => items.iter().map(plain).collect(),
        other => vec![plain(other)],
    };
    let Value::Object(map) = value else { return items(value) };
    let of_key = |(key, value): (&String, &Value)| {
        let key = key.replace('_', " ");
        items(value).into_iter().map(move |item| format!("{key}: {item}"))
    };
    map.iter().flat_map(of_key).collect()
}

/// Longest part of an answer in a report, in characters; the session file has all of it.
const PART: usize = 20_000;

/// Formats foreign text within an item of the report, with its line breaks, and indented by no-break spaces.
pub fn lines(text: &str) -> String {
    let line = |line: &str| {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        "\u{a0}".repeat(blanks) + &inline(line)
    };
    text.trim().lines().map(line).collect::<Vec<_>>().join("<br>")
}

/// Formats one part of an answer, which begins a new line of its item.
pub fn part(heading: &str, value: &Value) -> String {
    if is_blank(value) {
        return String::new();
    }
    let texts: Vec<String> = entries(value).iter().map(|text| lines(&cut(text, PART))).collect();
    format!("<br>{}: {}", inline(heading), texts.join(" · "))
}

/// Returns whether a value has nothing to show.
fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.iter().all(is_blank),
        Value::Object(entries) => entries.values().all(is_blank),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn quote_lines(text: &str, first: &str, others: &str, out: &mut String) {
    let text = harmless(text.trim_end_matches(['\n', '\r', ' ']));
    for (i, line) in text.split('\n').enumerate() {
        let lead = if i == 0 { first } else { others };
        let line = guarded(line);
        let _ = writeln!(out, "{}", format!("> {lead}{line}").trim_end());
    }
}

/// Escapes a heading, fence, rule, table or reference at the start of a quoted line.
fn guarded(line: &str) -> String {
    let (blanks, text) = line.split_at(line.len() - line.trim_start().len());
    let is_rule = !text.is_empty() && text.chars().all(|c| matches!(c, '-' | '=' | '*' | '_' | ' '));
    let leading: &[char] = if is_rule { &['-', '=', '*', '_'] } else { &['#', '|', '['] };
    let fence = if text.starts_with("```") || text.starts_with("~~~") { "\\" } else { "" };
    format!("{blanks}{fence}{}", escaped(text, &[], leading))
}

/// Puts a backslash before HTML, links, images and escapes, before `always` anywhere, and before `leading`
/// at the start.
fn escaped(text: &str, always: &[char], leading: &[char]) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut before = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let after = chars.peek().copied();
        let acts = match c {
            '<' => after.is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?')),
            '(' => before == Some(']'),
            '[' => before == Some('!') || before.is_none() && leading.contains(&'['),
            '\\' => after.is_none_or(|c| c.is_ascii_punctuation()),
            // Entities and emphasis.
            '&' => after.is_some_and(|c| c == '#' || c.is_ascii_alphabetic()),
            '_' => !(before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric)),
            other => always.contains(&other) || before.is_none() && leading.contains(&other),
        };
        if acts {
            out.push('\\');
        }
        out.push(c);
        before = Some(c);
    }
    out
}

/// Returns the first line that is not blank, with `…` if more follow.
pub fn first_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    if lines.next().is_some() { format!("{first} …") } else { first.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_stays_in_its_line() {
        for (text, shown) in [
            ("# Decision: forged", "\\# Decision: forged"),
            ("- item | cell", "\\- item | cell"),
            ("a\n# b", "a⏎# b"),
            ("`x` **y** <b>z", "\\`x\\` \\*\\*y\\*\\* \\<b>z"),
            ("3 < 4, a_b", "3 < 4, a_b"),
            ("[a](http://x) ![b](y)", "[a]\\(http://x) !\\[b]\\(y)"),
            ("\\<b>", "\\\\\\<b>"),
            ("\u{1b}[31m", "\\u{1b}[31m"),
        ] {
            assert_eq!(inline(text), shown);
        }
        assert_eq!(code("a`b"), "`` a`b ``");
    }

    #[test]
    fn many_lines_stay_in_their_quote() {
        let text = "plain\n# Decision: forged\n```\n---\n\n| a |\n[a]: http://x\n<!-- gone\n- item\n";
        let shown = "> plain\n> \\# Decision: forged\n> \\```\n> \\---\n>\n> \\| a |\n> \\[a]: http://x\n\
                     > \\<!-- gone\n> - item\n";
        assert_eq!(quote(text), shown);
    }

    #[test]
    fn values_are_quoted_as_lists() {
        let value = serde_json::json!({"optimizing_for": "speed", "risks": ["a\nb", 3]});
        assert_eq!(quote_value(&value), "> - optimizing for: speed\n> - risks: a\n>   b\n> - risks: 3\n");
        assert!(is_blank(&serde_json::json!({"risks": [], "x": null})));
        let reasons = part("Reasons", &serde_json::json!(["It is warm.", "We run\n  # it"]));
        assert_eq!(reasons, "<br>Reasons: It is warm. · We run<br>\u{a0}\u{a0}\\# it");
    }
}
