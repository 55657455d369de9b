//! Structured parts of a reply: fenced blocks, JSON objects, runs of `key: value`.
//!
//! One pass over the lines, without parsing. Quoted lines (`>`) and fences with code labels are skipped. An
//! unclosed block is an error, because a truncated reply may lack its second half.

use std::ops::Range;

use super::answer::known_key;
use crate::ballot::model::BallotKind;

/// Labels of fences that may contain an answer; the empty one means a fence without a label.
const DATA_LABELS: [&str; 8] = ["", "yaml", "yml", "json", "jsonc", "json5", "text", "markdown"];

/// A reply with more blocks is rejected.
const MAX_BLOCKS: usize = 256;

/// Returns the blocks of a reply: YAML, or JSON if the block starts with a bracket.
pub(super) fn find(text: &str, kind: BallotKind) -> Result<Vec<&str>, String> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let line = line_at(text, at);
        let body = text[line.clone()].trim_start();
        let start = line.end - body.len();
        if let Some(fence) = Fence::opened_by(&text[line.clone()]) {
            let end = fence.end(text, line.end + 1);
            let end = end.ok_or("the reply looks cut off: its fenced block is never closed")?;
            let label = fence.label.to_ascii_lowercase();
            if label.starts_with("tool") || label.starts_with("function_call") {
                return Err(super::prefilter::TOOL_CALL.to_owned());
            }
            if DATA_LABELS.contains(&label.as_str()) {
                found.push(&text[line.end + 1..end]);
            }
            at = line_at(text, end).end + 1;
        } else if body.starts_with(['{', '[']) && opens_object(&text[start..]) {
            let end = brackets(&text[start..]).find(|(_, open)| *open == 0);
            let (end, _) = end.ok_or("the reply looks cut off: its `{` is never closed")?;
            found.push(&text[start..start + end]);
            at = start + end;
        } else if begins_run(&text[line.clone()], kind) {
            let end = run_end(text, at, kind);
            found.push(&text[at..end]);
            at = end;
        } else {
            at = line.end + 1;
        }
        if found.len() > MAX_BLOCKS {
            return Err(format!("the reply contains more than {MAX_BLOCKS} blocks: give exactly one"));
        }
    }
    Ok(found)
}

/// Returns the range of the line that starts at `at`, without its line feed.
fn line_at(text: &str, at: usize) -> Range<usize> {
    at..text[at..].find('\n').map_or(text.len(), |n| at + n)
}

/// Opening fence: three or more backticks or tildes, and a label.
struct Fence<'a> {
    indent: usize,
    mark: char,
    length: usize,
    label: &'a str,
}

impl<'a> Fence<'a> {
    fn opened_by(line: &'a str) -> Option<Self> {
        let body = line.trim_start_matches(' ');
        let mark = body.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let rest = body.trim_start_matches(mark);
        let length = body.len() - rest.len();
        let info = rest.trim();
        let label = info.split_whitespace().next().unwrap_or_default();
        (length >= 3 && !info.contains('`')).then_some(Self {
            indent: line.len() - body.len(),
            mark,
            length,
            label,
        })
    }

    /// Returns the start of the line that closes the fence, searching from `start`.
    fn end(&self, text: &str, start: usize) -> Option<usize> {
        let mut at = start;
        while at < text.len() {
            let line = line_at(text, at);
            if self.closed_by(&text[line.clone()]) {
                return Some(at);
            }
            at = line.end + 1;
        }
        None
    }

    fn closed_by(&self, line: &str) -> bool {
        let body = line.trim_start_matches(' ');
        let rest = body.trim_start_matches(self.mark);
        line.len() - body.len() <= self.indent
            && body.len() - rest.len() >= self.length
            && rest.trim().is_empty()
    }
}

fn opens_object(text: &str) -> bool {
    let list = text.strip_prefix('[').map(str::trim_start);
    let Some(inner) = list.unwrap_or(text).strip_prefix('{').map(str::trim_start) else { return false };
    let word = inner.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    inner.is_empty()
        || inner.starts_with(['"', '\'', '}'])
        || inner.starts_with("//")
        || (word.len() < inner.len() && word.trim_start().starts_with(':'))
}

/// Returns each position after a bracket outside strings, with the nesting depth there.
pub(super) fn brackets(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let (mut open, mut in_text, mut is_escaped) = (0_usize, false, false);
    text.char_indices().filter_map(move |(at, c)| {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if in_text => is_escaped = true,
            '"' => in_text = !in_text,
            '{' | '[' if !in_text => open += 1,
            '}' | ']' if !in_text => open = open.saturating_sub(1),
            _ => return None,
        }
        (!in_text).then_some((at + c.len_utf8(), open))
    })
}

/// Splits a line such as `vote: inline` or `"vote": inline` into its key and the rest.
fn key_of(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = line.split_once(':')?;
    (rest.is_empty() || rest.starts_with([' ', '\t', '\r']))
        .then(|| (key.trim().trim_matches(['"', '\'']), rest))
}

fn begins_run(line: &str, kind: BallotKind) -> bool {
    !line.starts_with([' ', '\t']) && key_of(line).is_some_and(|(key, _)| known_key(key, kind).is_some())
}

/// Returns the end of the lines from `at` that may belong to one map.
fn run_end(text: &str, at: usize, kind: BallotKind) -> usize {
    let mut end = at;
    let mut list_open = false;
    while end < text.len() {
        let line = line_at(text, end);
        let body = &text[line.clone()];
        match key_of(body) {
            _ if body.trim().is_empty() || body.starts_with([' ', '\t']) => {}
            _ if list_open && (body.starts_with("- ") || body.trim_end() == "-") => {}
            Some((key, rest)) if is_word(key) || known_key(key, kind).is_some() => {
                list_open = rest.trim().is_empty();
            }
            _ => break,
        }
        end = (line.end + 1).min(text.len());
    }
    end
}

fn is_word(key: &str) -> bool {
    key.starts_with(|c: char| c.is_alphabetic())
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
}
