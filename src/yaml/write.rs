//! YAML writer: block style, two spaces, keys in the given order.
//!
//! Words are plain if every reader takes them as text. One-line text is double quoted with JSON escapes.
//! Text of several lines is a literal block if that is lossless, else double quoted. Every YAML 1.2 reader
//! restores the exact text.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::Serialize;

use crate::sanitize::is_unsafe;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Out<'a> {
    /// Written unchanged: a number, `true`, `null`.
    Raw(Cow<'a, str>),
    /// Word such as an id: plain if unambiguous.
    Word(Cow<'a, str>),
    Text(Cow<'a, str>),
    List(Vec<Out<'a>>),
    Map(Vec<(Cow<'a, str>, Out<'a>)>),
}

impl<'a> Out<'a> {
    pub fn word(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Word(text.into())
    }

    /// Creates text that is always quoted or a block.
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(text.into())
    }

    /// Converts a JSON value; with `words`, unambiguous one-word strings are plain.
    pub fn json(value: &'a serde_json::Value, words: bool) -> Self {
        use serde_json::Value;
        match value {
            Value::Null => Self::Raw("null".into()),
            Value::Bool(b) => Self::Raw(if *b { "true" } else { "false" }.into()),
            Value::Number(n) => Self::Raw(number(n).into()),
            Value::String(s) if words => Self::word(s),
            Value::String(s) => Self::text(s),
            Value::Array(items) => Self::List(items.iter().map(|v| Self::json(v, words)).collect()),
            Value::Object(map) => {
                Self::Map(map.iter().map(|(k, v)| (k.as_str().into(), Self::json(v, words))).collect())
            }
        }
    }

    pub fn document(entries: &[(Cow<'a, str>, Out<'a>)]) -> String {
        let mut text = String::new();
        Self::write_entries(entries, 0, &mut text);
        text
    }

    /// Writes a document with the entries of a JSON map, empty for any other value; `words` as in
    /// [`Out::json`].
    pub fn json_document(map: &'a serde_json::Value, words: bool) -> String {
        let entries = map.as_object().into_iter().flatten();
        let entries: Vec<_> =
            entries.map(|(key, value)| (key.as_str().into(), Self::json(value, words))).collect();
        Self::document(&entries)
    }

    /// Appends a map's entries at `indent` spaces, each with a line feed.
    pub fn write_entries(entries: &[(Cow<'a, str>, Out<'a>)], indent: usize, out: &mut String) {
        for (key, value) in entries {
            spaces(indent, out);
            entry(key, value, indent, out);
        }
    }
}

/// Appends the entries of a struct or map without indent, words plain. `second` is written after the first
/// entry and replaces the value's own entry of that key.
pub fn write_struct(value: &impl Serialize, second: (&str, &str), out: &mut String) {
    let value = serde_json::to_value(value).expect("the keys of our structs are texts");
    let map = value.as_object().expect("a struct is a map");
    let own = map.iter().filter(|(key, _)| *key != second.0);
    let mut entries: Vec<_> = own.map(|(key, value)| (key.as_str().into(), Out::json(value, true))).collect();
    entries.insert(entries.len().min(1), (second.0.into(), Out::text(second.1)));
    Out::write_entries(&entries, 0, out);
}

/// Longest word written without quotes, in bytes.
const MAX_PLAIN: usize = 128;

/// Returns whether `text` needs no quotes: a letter, then letters, digits, `_`, `-` and `.`, and not a
/// reserved word.
fn is_plain(text: &str) -> bool {
    text.len() <= MAX_PLAIN
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
        && !is_taken(text)
}

/// Returns whether some reader takes the word for a boolean, null or a number.
fn is_taken(word: &str) -> bool {
    const TAKEN: [&str; 11] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"];
    TAKEN.iter().any(|taken| word.eq_ignore_ascii_case(taken))
}

/// Formats a number for every reader: an exponent gets a sign, and a decimal point before it.
fn number(number: &serde_json::Number) -> String {
    let text = number.to_string();
    match text.split_once(['e', 'E']) {
        None => text,
        Some((mantissa, exponent)) => {
            let point = if mantissa.contains('.') { "" } else { ".0" };
            let sign = if exponent.starts_with(['-', '+']) { "" } else { "+" };
            format!("{mantissa}{point}e{sign}{exponent}")
        }
    }
}

fn spaces(count: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', count));
}

fn write_key(key: &str, indent: usize, out: &mut String) {
    let start = out.len();
    if is_plain(key) {
        out.push_str(key);
    } else {
        quoted(key, out);
    }
    // Readers accept an implicit key only within 1,024 characters.
    if out.len() - start > 1000 {
        out.insert_str(start, "? ");
        out.push('\n');
        spaces(indent, out);
    }
    out.push(':');
}

fn entry(key: &str, value: &Out<'_>, indent: usize, out: &mut String) {
    write_key(key, indent, out);
    match value {
        Out::Map(entries) if !entries.is_empty() => {
            out.push('\n');
            Out::write_entries(entries, indent + 2, out);
        }
        Out::List(items) if !items.is_empty() => {
            out.push('\n');
            list(items, indent + 2, out);
        }
        scalar => {
            out.push(' ');
            write_scalar(scalar, indent + 2, out);
        }
    }
}

fn list(items: &[Out<'_>], indent: usize, out: &mut String) {
    for item in items {
        spaces(indent, out);
        list_item(item, indent, out);
    }
}

fn list_item(item: &Out<'_>, indent: usize, out: &mut String) {
    out.push_str("- ");
    match item {
        Out::Map(entries) if !entries.is_empty() => {
            entry(&entries[0].0, &entries[0].1, indent + 2, out);
            Out::write_entries(&entries[1..], indent + 2, out);
        }
        Out::List(items) if !items.is_empty() => {
            list_item(&items[0], indent + 2, out);
            list(&items[1..], indent + 2, out);
        }
        scalar => write_scalar(scalar, indent + 2, out),
    }
}

/// Writes a scalar or an empty collection, and the line's end. A block's lines get `indent`.
fn write_scalar(value: &Out<'_>, indent: usize, out: &mut String) {
    match value {
        Out::Raw(text) => out.push_str(text),
        Out::Word(text) if is_plain(text) => out.push_str(text),
        Out::Word(text) | Out::Text(text) => {
            if is_lossless_block(text) {
                return block(text, indent, out);
            }
            quoted(text, out);
        }
        Out::List(_) => out.push_str("[]"),
        Out::Map(_) => out.push_str("{}"),
    }
    out.push('\n');
}

fn is_lossless_block(text: &str) -> bool {
    text.contains('\n')
        && !text.starts_with(['\n', '\t'])
        && !text.ends_with("\n\n")
        && !text.chars().any(|c| c != '\n' && c != '\t' && is_unsafe(c))
        && !text.split('\n').any(|line| line.starts_with('\t') || line.ends_with([' ', '\t']))
}

fn block(text: &str, indent: usize, out: &mut String) {
    out.push('|');
    // An indented first line requires an explicit indentation.
    out.push_str(if text.starts_with(' ') { "2" } else { "" });
    out.push_str(if text.ends_with('\n') { "\n" } else { "-\n" });
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        if !line.is_empty() {
            spaces(indent, out);
            out.push_str(line);
        }
        out.push('\n');
    }
}

fn quoted(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c == '"' || c == '\\' || (is_unsafe(c) && c <= '\u{ffff}')) {
        out.push_str(&rest[..at]);
        let c = rest[at..].chars().next().unwrap_or_default();
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            other => {
                let _ = write!(out, "\\u{:04x}", u32::from(other));
            }
        }
        rest = &rest[at + c.len_utf8()..];
    }
    out.push_str(rest);
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn written(value: &serde_json::Value) -> String {
        let Out::Map(entries) = Out::json(value, true) else { panic!("a map") };
        let mut out = String::new();
        Out::write_entries(&entries, 0, &mut out);
        out
    }

    #[test]
    fn output_has_a_fixed_style() {
        let value = json!({
            "word": "REQ-001", "no": "no", "text": "a b", "n": 1e300, "lines": "a\n\n  b\n",
            "list": ["x", ["y", []], {"k": "v", "e": {}}], "odd key": null
        });
        assert_eq!(
            written(&value),
            "word: REQ-001\n\"no\": \"no\"\ntext: \"a b\"\n\"n\": 1.0e+300\nlines: |\n  a\n\n    b\n\
             list:\n  - x\n  - - \"y\"\n    - []\n  - k: v\n    e: {}\n\"odd key\": null\n"
        );
    }

    #[test]
    fn a_struct_is_written_with_its_second_entry() {
        #[derive(Serialize)]
        #[serde(tag = "event", rename_all = "snake_case")]
        enum Event {
            Alone,
            Whole { session: String, ends: (i64, f64), nothing: Option<u8>, counts: [(); 0] },
        }
        let written = |value: &dyn Fn(&mut String)| {
            let mut out = String::new();
            value(&mut out);
            out
        };
        let whole =
            Event::Whole { session: "own".to_owned(), ends: (-1, f64::NAN), nothing: None, counts: [] };
        assert_eq!(
            written(&|out| write_struct(&whole, ("session", "s-1"), out)),
            "event: whole\nsession: \"s-1\"\nends:\n  - -1\n  - null\nnothing: null\ncounts: []\n"
        );
        assert_eq!(
            written(&|out| write_struct(&Event::Alone, ("session", "s"), out)),
            "event: alone\nsession: \"s\"\n"
        );
    }

    #[test]
    fn a_block_may_begin_with_spaces() {
        for text in ["  a\nb", " a\n  b\n", "   a\n\nb"] {
            let value = json!({ "t": text, "l": [text, { "u": text }] });
            let out = written(&value);
            assert!(out.contains("t: |2"), "{out}");
            assert_eq!(crate::yaml::read(&out, "f").unwrap().to_json(), value);
        }
    }

    #[test]
    fn text_that_a_block_would_change_is_quoted() {
        for text in ["a\r\nb", "a \nb", "a\nb\n\n", "\ta\nb", "a\u{85}b\nc", "a\u{202e}\nb"] {
            let out = written(&json!({ "t": text }));
            assert_eq!(out.lines().count(), 1, "{text:?} -> {out}");
            assert_eq!(crate::yaml::read(&out, "f").unwrap().to_json(), json!({ "t": text }));
        }
    }
}
