//! Parsing one block with the project's YAML reader, which refuses duplicate keys and bombs.
//!
//! Makes up for what YAML cannot hold and models write anyway: raw control characters, a vote in
//! backticks or emphasis. Columns stay where they were. It knows no key but the ballot's.

use std::borrow::Cow;

use super::answer::known_key;
use super::scalar::{quoted, shorten};
use crate::ballot::model::BallotKind;
use crate::yaml::{self, Node};

/// Shallow enough for the reader's recursion on a small stack.
const MAX_NESTING: usize = 40;

pub(super) const MERGE_KEY: &str = "the key `<<` is not accepted: write every key out";

/// Reads a block; the text it was read from comes along, since nodes point into it.
pub(super) fn parse(text: &str, kind: BallotKind) -> (Cow<'_, str>, Result<Node, String>) {
    let json = text.trim_start().starts_with(['{', '[']);
    let mut source = Cow::Borrowed(text);
    if json {
        source = Cow::Owned(yaml::relaxed_json(text));
    } else if let Some(dressed) = with_quoted_ballot(text, kind) {
        source = Cow::Owned(dressed);
    }
    // YAML does not allow raw control characters; a stand-in keeps the columns.
    if source.contains(is_raw_control) {
        source = Cow::Owned(source.replace(is_raw_control, "\u{fffd}"));
    }
    if source.contains("<<:") || source.contains("<<\":") {
        return (source, Err(MERGE_KEY.to_owned()));
    }
    if nesting(&source) > MAX_NESTING {
        return (source, Err(format!("values are nested deeper than {MAX_NESTING} levels")));
    }
    let parsed = yaml::read(&source, "").map_err(|problem| unreadable(&problem));
    (source, parsed)
}

/// Why a block is not readable, as the participant reads it.
fn unreadable(problem: &crate::diagnostic::Diagnostic) -> String {
    let message = problem.message.trim_start_matches("not readable as YAML: ");
    let message = message.rsplit_once(" at line ").map_or(message, |(before, _)| before);
    if let Some((_, key)) = message.split_once("duplicate mapping key: ") {
        let key = key.rsplit_once(", set ").map_or(key, |(key, _)| key);
        return format!("the key {} stands twice: give each key once", quoted(key));
    }
    let line = problem.place.as_ref().map_or(0, |place| place.line);
    format!(
        "the answer is not readable as YAML (line {line}: {}); put a text that holds `: ` or `#` in double quotes, \
         or below `|` and indented",
        shorten(message, 160)
    )
}

/// Puts quotes around a ballot value that YAML could not read: backticks, emphasis, `#2`.
fn with_quoted_ballot(text: &str, kind: BallotKind) -> Option<String> {
    let first = text.lines().find(|line| !line.trim().is_empty())?;
    let indent = first.len() - first.trim_start_matches(' ').len();
    let mut changed = false;
    let mut out = String::with_capacity(text.len() + 16);
    for line in text.split_inclusive('\n') {
        match quoted_ballot(line, kind, indent) {
            Some(quoted) => {
                out.push_str(&quoted);
                changed = true;
            }
            None => out.push_str(line),
        }
    }
    changed.then_some(out)
}

fn quoted_ballot(line: &str, kind: BallotKind, indent: usize) -> Option<String> {
    let body = line.trim_start_matches(' ');
    let (key, value) = body.split_once(':').filter(|_| line.len() - body.len() == indent)?;
    let value = value.trim();
    let counted = number_sign(value) || value.starts_with(['`', '*']);
    let is_text = kind == BallotKind::default();
    if is_text || !counted || known_key(key, kind) != Some(kind.key()) {
        return None;
    }
    let value = serde_json::Value::from(value);
    Some(format!("{}{key}: {value}\n", &line[..indent]))
}

fn number_sign(value: &str) -> bool {
    value.strip_prefix('#').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn is_raw_control(c: char) -> bool {
    matches!(c, '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')
}

/// About how deep a text nests, without reading it: brackets outside double quotes, dashes that stand
/// in a row, lines indented further and further.
fn nesting(text: &str) -> usize {
    let mut indents: Vec<usize> = Vec::new();
    let (mut open, mut deepest, mut in_text) = (0_usize, 0, false);
    for line in text.lines() {
        let body = line.trim_start_matches(' ');
        let indent = line.len() - body.len();
        if !body.is_empty() {
            while indents.last().is_some_and(|last| *last >= indent) {
                indents.pop();
            }
            indents.push(indent);
        }
        let dashes = body.split(' ').take_while(|part| matches!(*part, "-" | "?" | "")).count();
        let mut escaped = false;
        for c in body.chars() {
            match c {
                _ if escaped => escaped = false,
                '\\' if in_text => escaped = true,
                '"' => in_text = !in_text,
                '[' | '{' if !in_text => open += 1,
                ']' | '}' if !in_text => open = open.saturating_sub(1),
                _ => {}
            }
            deepest = deepest.max(open + indents.len() + dashes);
        }
    }
    deepest
}
