//! The short way through the simplest texts, several times as fast as the reader for all of YAML.
//!
//! Maps of words within each other, lists, and scalars that stand on one line and can mean one thing
//! only: as most answers of models and most records of a session are written. Whatever else a text
//! holds, if only in one place, all of it is left to the reader; for what is read here both give the
//! same [`Node`], places included.

use serde_json::Number;

use super::reader::{Map, MapKey, Node, Value};
use super::write;
use crate::sanitize::is_unsafe;

/// Longer texts are left to the reader, and maps of more keys, and deeper ones.
const MAX_BYTES: usize = 64 * 1024;
const MAX_KEYS: usize = 64;
const MAX_DEPTH: usize = 8;

/// The text as a map, if it is as simple as that.
pub(super) fn read(text: &str) -> Option<Node> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let mut lines = Lines { text, at: 0, number: 1, depth: 0 };
    let node = lines.map(0)?;
    lines.line().is_none().then_some(node)
}

/// A text read line by line.
struct Lines<'a> {
    text: &'a str,
    /// Where the next line begins.
    at: usize,
    /// The next line's number.
    number: u64,
    depth: usize,
}

/// A line, its indent taken off.
#[derive(Clone, Copy)]
struct Line<'a> {
    number: u64,
    /// Where it begins in the text.
    start: usize,
    indent: usize,
    body: &'a str,
}

impl<'a> Line<'a> {
    fn node(&self, column: usize, offset: usize, value: Value) -> Node {
        Node::at((self.number, column as u64), self.start + offset, value)
    }

    /// Where the line's text begins.
    fn begin(&self, value: Value) -> Node {
        self.node(self.indent + 1, self.indent, value)
    }

    /// What stands on the line behind its first `skipped` bytes, which are ASCII.
    fn rest(&self, skipped: usize) -> Option<Node> {
        let rest = self.body.get(skipped..)?;
        let value = rest.trim_start_matches(' ');
        let before = self.indent + skipped + rest.len() - value.len();
        match value.strip_prefix('[') {
            Some(items) => self.list(items, before),
            None => Some(self.node(before + 1, before, scalar(value, false)?)),
        }
    }

    /// The items of a list on one line; `before` is how much stands before its bracket.
    fn list(&self, items: &'a str, before: usize) -> Option<Node> {
        let mut found = Vec::new();
        let mut rest = items;
        loop {
            rest = rest.trim_start_matches(' ');
            let end = match rest.chars().next()? {
                quote @ ('"' | '\'') => 1 + rest[1..].find(quote)? + 1,
                _ => rest.find([',', ']'])?,
            };
            let item = rest[..end].trim_end_matches(' ');
            let offset = items.len() - rest.len();
            let column = before + 2 + items[..offset].chars().count();
            found.push(self.node(column, before + 1 + offset, scalar(item, true)?));
            rest = rest[end..].trim_start_matches(' ');
            match rest {
                "]" => break,
                _ => rest = rest.strip_prefix(',')?,
            }
        }
        Some(self.node(before + 1, before, Value::List(found)))
    }
}

impl<'a> Lines<'a> {
    /// The next line, if there is one.
    fn line(&self) -> Option<Line<'a>> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let line = rest.split('\n').next().unwrap_or(rest);
        let body = line.trim_start_matches(' ');
        Some(Line { number: self.number, start: self.at, indent: line.len() - body.len(), body })
    }

    fn pass(&mut self, line: Line<'_>) {
        self.at = (line.start + line.indent + line.body.len() + 1).min(self.text.len());
        self.number += 1;
    }

    /// The map whose keys stand at this indent, from the next line on.
    fn map(&mut self, indent: usize) -> Option<Node> {
        let first = self.line()?;
        let mut entries: Map = Vec::new();
        while let Some(line) = self.line().filter(|line| line.indent >= indent) {
            let length = key_length(line.body)?;
            let (key, behind) = (&line.body[..length], line.body.as_bytes().get(length + 1));
            let is_known = entries.iter().any(|(known, _)| known.text == key);
            if line.indent > indent || is_known || entries.len() == MAX_KEYS {
                return None;
            }
            self.pass(line);
            let value = match behind {
                None => self.within(indent)?,
                Some(b' ') => line.rest(length + 1)?,
                Some(_) => return None,
            };
            let key = MapKey { line: line.number, column: indent as u64 + 1, text: key.to_owned() };
            entries.push((key, value));
        }
        (first.indent == indent).then(|| first.begin(Value::Map(entries)))
    }

    /// What stands on the lines below a key at this indent.
    fn within(&mut self, indent: usize) -> Option<Node> {
        let line = self.line()?;
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let node = match line.body.starts_with("- ") {
            true if line.indent > indent => self.list(line),
            // One that stands no deeper than its key begins, to the reader, with its first item.
            true if line.indent == indent => self.list(line).and_then(|list| match &list.value {
                Value::List(items) => items.first().cloned().map(|at| Node { value: list.value, ..at }),
                _ => None,
            }),
            false if line.indent > indent => self.map(line.indent),
            _ => None,
        };
        self.depth -= 1;
        node
    }

    /// The list that begins with this line.
    fn list(&mut self, first: Line<'a>) -> Option<Node> {
        let mut items = Vec::new();
        while let Some(line) = self.line().filter(|line| line.indent >= first.indent) {
            if line.indent > first.indent {
                return None;
            }
            if !line.body.starts_with("- ") {
                break;
            }
            items.push(line.rest(2)?);
            self.pass(line);
        }
        Some(first.begin(Value::List(items)))
    }
}

/// How long the key is that a line begins with: an ASCII word.
fn key_length(body: &str) -> Option<usize> {
    let length = body.find(':')?;
    let key = &body[..length];
    let is_word = key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    (is_word && !is_taken(key)).then_some(length)
}

/// Whether a word may be no text, to our writer or to a parser of numbers.
fn is_taken(word: &str) -> bool {
    write::is_taken(word) || word.eq_ignore_ascii_case("infinity")
}

/// A text in quotes, a plain number, or words that begin with a letter and end the line.
fn scalar(text: &str, in_list: bool) -> Option<Value> {
    let first = text.chars().next()?;
    match first {
        '"' | '\'' => {
            let inner = text[1..].strip_suffix(first)?;
            let as_it_is = |c: char| c != first && !is_unsafe(c) && (first == '\'' || c != '\\');
            inner.chars().all(as_it_is).then(|| Value::Text(inner.to_owned()))
        }
        '0'..='9' | '-' => number(text).map(Value::Number),
        'a'..='z' | 'A'..='Z' => {
            let ends = !text.ends_with(' ');
            let is_text = ends && !is_taken(text) && text.chars().all(|c| is_plain(c, in_list));
            is_text.then(|| Value::Text(text.to_owned()))
        }
        _ => None,
    }
}

/// Whether a character means nothing but itself in words that stand without quotes.
fn is_plain(c: char, in_list: bool) -> bool {
    match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | ' ' | '_' | '-' | '.' | '/' | ';' | '(' | ')' | '\'' | '+' => {
            true
        }
        ',' | '"' | '!' | '?' | '%' | '=' => !in_list,
        _ => !c.is_ascii() && !c.is_whitespace() && !is_unsafe(c),
    }
}

/// A number with no more digits than any reader keeps, and in no notation but the plain one.
fn number(text: &str) -> Option<Number> {
    const MAX_DIGITS: usize = 15;
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, part) = digits.split_once('.').map_or((digits, None), |(whole, part)| (whole, Some(part)));
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_simple = are_digits(whole) && (whole == "0" || !whole.starts_with('0'));
    if !is_simple || !part.is_none_or(are_digits) || digits.len() > MAX_DIGITS {
        return None;
    }
    if part.is_some() {
        // Zero below zero is left to the reader, whatever it makes of it.
        return text
            .parse()
            .ok()
            .filter(|number| *number != 0.0 || text == digits)
            .and_then(Number::from_f64);
    }
    text.parse::<i64>().ok().filter(|number| *number != 0 || text == digits).map(Number::from)
}

#[cfg(test)]
mod tests;
