//! Classification of blocks: a ballot, the unfilled form, other fields, or unrelated.
//!
//! Parses with the project's YAML reader, which rejects duplicate keys and expansion bombs. Repairs errors
//! that models often make: raw control characters, a vote in backticks or emphasis. Unwraps the answer and
//! normalizes known keys.

use std::borrow::Cow;

use super::answer::{self, AnswerEntries, is_named, known_key};
use super::blocks::brackets;
use super::scalar::{is_abstain, is_placeholder, quoted, shorten, source_text};
use super::{option_match, prefilter};
use crate::ballot::model::{Answer, BallotForm, BallotKind};
use crate::diagnostic::Diagnostic;
use crate::yaml::{self, Node, Value};

/// Bounds the YAML reader's recursion, for small stacks.
const MAX_NESTING: usize = 40;

const WRAPPERS: [&str; 5] = ["answer", "response", "reply", "result", "ballot"];

pub(super) enum ClassifiedBlock {
    /// Has a ballot key; contains the parsed answer or the reason of the failure.
    Ballot(Result<Answer, String>),
    Form,
    /// Map without a ballot key; `known` if one of its keys belongs to answers.
    Fields {
        keys: Vec<String>,
        known: bool,
    },
    Other,
}

/// Classifies the whole reply as one YAML map; the error is an attempted tool call.
pub(super) fn whole(form: &BallotForm, text: &str) -> Result<ClassifiedBlock, String> {
    let body = text.trim_matches(['\n', '\r']).trim_end();
    let body = body.strip_prefix("---\n").unwrap_or(body);
    let body = body.strip_suffix("\n---").or_else(|| body.strip_suffix("\n...")).unwrap_or(body);
    if body.trim_start().starts_with(['{', '[']) {
        return Ok(ClassifiedBlock::Other);
    }
    let (source, parsed) = parse(body, form.kind);
    parsed.map_or(Ok(ClassifiedBlock::Other), |node| classify_node(form, node, &source))
}

/// Classifies a block; the error is an attempted tool call.
pub(super) fn classify(form: &BallotForm, block: &str) -> Result<ClassifiedBlock, String> {
    let (source, parsed) = parse(block, form.kind);
    match parsed {
        Ok(node) => classify_node(form, node, &source),
        Err(reason) if mentions_ballot(block, form.kind) => Ok(ClassifiedBlock::Ballot(Err(reason))),
        Err(_) => Ok(ClassifiedBlock::Other),
    }
}

/// Parses a block; also returns the repaired text, because nodes refer to it.
fn parse(text: &str, kind: BallotKind) -> (String, Result<Node, String>) {
    let source = if text.trim_start().starts_with(['{', '[']) {
        yaml::relaxed_json(text)
    } else {
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let indent = first.len() - first.trim_start_matches(' ').len();
        let lines = text.split_inclusive('\n');
        lines.map(|line| quoted_ballot(line, kind, indent).map_or(Cow::Borrowed(line), Cow::Owned)).collect()
    };
    // YAML rejects raw control characters; the replacement keeps the columns.
    let source = source.replace(is_raw_control, "\u{fffd}");
    // The YAML reader does not recognize a quoted merge key, as in JSON.
    if source.contains("<<\":") {
        return (source, Err(prefilter::MERGE_KEY.to_owned()));
    }
    if nesting(&source) > MAX_NESTING {
        return (source, Err(format!("values are nested deeper than {MAX_NESTING} levels")));
    }
    let parsed = yaml::read(&source, "").map_err(|problem| unreadable(&problem));
    (source, parsed)
}

/// Formats a YAML error as a message to the participant.
fn unreadable(problem: &Diagnostic) -> String {
    let message = problem.message.trim_start_matches("not readable as YAML: ");
    if let Some((_, key)) = message.split_once("duplicate mapping key: ") {
        return format!("the key {} appears twice: give each key once", quoted(key));
    }
    let line = problem.place.as_ref().map_or(0, |place| place.line);
    format!(
        "the answer is not readable as YAML (line {line}: {}); put a text that holds `: ` or `#` in double quotes, \
         or below `|` and indented",
        shorten(message, 160)
    )
}

/// Quotes a ballot value in backticks or emphasis, which YAML cannot parse.
fn quoted_ballot(line: &str, kind: BallotKind, indent: usize) -> Option<String> {
    let body = line.trim_start_matches(' ');
    let (key, value) = body.split_once(':').filter(|_| line.len() - body.len() == indent)?;
    let value = value.trim();
    let is_marked = value.starts_with(['`', '*']);
    if kind == BallotKind::Position || !is_marked || known_key(key, kind) != Some(kind.key()) {
        return None;
    }
    Some(format!("{}{key}: {}\n", &line[..indent], serde_json::Value::from(value)))
}

fn is_raw_control(c: char) -> bool {
    matches!(c, '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}')
}

/// Returns an upper bound of the nesting depth without parsing: brackets outside double quotes,
/// consecutive dashes and indentation.
fn nesting(text: &str) -> usize {
    let (mut indents, mut deepest): (Vec<usize>, usize) = (Vec::new(), 0);
    for line in text.lines().filter(|line| !line.trim_start_matches(' ').is_empty()) {
        let body = line.trim_start_matches(' ');
        let indent = line.len() - body.len();
        indents.truncate(indents.partition_point(|outer| *outer < indent));
        indents.push(indent);
        let dashes = body.split(' ').take_while(|part| matches!(*part, "-" | "?" | "")).count();
        deepest = deepest.max(indents.len() + dashes);
    }
    deepest + brackets(text).map(|(_, open)| open).max().unwrap_or(0)
}

fn mentions_ballot(text: &str, kind: BallotKind) -> bool {
    text.split(['\n', ',', '{']).any(|piece| {
        let key = piece.split_once(':').map(|(key, _)| key.trim().trim_start_matches(['-', ' ']));
        let key = key.and_then(|key| known_key(key.trim_matches(['"', '\'']), kind));
        key.is_some_and(|key| key == kind.key() || key == "vote" || key == "abstain")
    })
}

fn classify_node(form: &BallotForm, node: Node, source: &str) -> Result<ClassifiedBlock, String> {
    let map = match node.value {
        Value::Map(map) => map,
        Value::List(mut items) => match (items.len(), items.pop().map(|item| item.value)) {
            (1, Some(Value::Map(map))) => map,
            (_, Some(Value::Map(map))) if is_tool_call(&map) => return Err(prefilter::TOOL_CALL.to_owned()),
            _ => return Ok(ClassifiedBlock::Other),
        },
        _ => return Ok(ClassifiedBlock::Other),
    };
    if is_tool_call(&map) {
        return Err(prefilter::TOOL_CALL.to_owned());
    }
    Ok(match answer::entries(unwrapped(map, form.kind), form.kind) {
        Ok(entries) => classify_entries(form, &entries, source),
        Err(reason) => ClassifiedBlock::Ballot(Err(reason)),
    })
}

fn is_tool_call(map: &yaml::Map) -> bool {
    let has = |names: &[&str]| map.iter().any(|(key, _)| names.iter().any(|name| is_named(&key.text, name)));
    has(&["tool_calls", "tool_call", "function_call"])
        || (has(&["name", "tool", "function", "tool_name", "action"])
            && has(&["arguments", "parameters", "args", "tool_input", "action_input"]))
}

/// Replaces a wrapper key by the entries inside it.
fn unwrapped(map: yaml::Map, kind: BallotKind) -> yaml::Map {
    let has_ballot = |inner: &yaml::Map| inner.iter().any(|(key, node)| is_ballot_key(&key.text, node, kind));
    let is_wrapper = |key: &yaml::MapKey| WRAPPERS.contains(&key.text.to_ascii_lowercase().as_str());
    let open = |(key, node): (yaml::MapKey, Node)| match node.value {
        Value::Map(inner) if is_wrapper(&key) && has_ballot(&inner) => inner,
        _ => vec![(key, node)],
    };
    map.into_iter().flat_map(open).collect()
}

fn is_ballot_key(key: &str, node: &Node, kind: BallotKind) -> bool {
    match known_key(key, kind) {
        Some(key) if key == kind.key() => true,
        Some("abstain") => !matches!(node.value, Value::Bool(false) | Value::Null),
        Some("vote") => matches!(&node.value, Value::Text(text) if is_abstain(text)),
        _ => false,
    }
}

fn classify_entries(form: &BallotForm, entries: &AnswerEntries, source: &str) -> ClassifiedBlock {
    if !entries.iter().any(|(key, node)| is_ballot_key(key, node, form.kind)) {
        let known = entries.iter().any(|(key, _)| known_key(key, form.kind).is_some());
        return ClassifiedBlock::Fields { keys: entries.iter().map(|(key, _)| key.clone()).collect(), known };
    }
    let filled = |key: &str| entries.iter().find(|(name, _)| name == key).map(|(_, node)| node);
    let abstains = filled("abstain").is_some_and(|node| is_ballot_key("abstain", node, form.kind));
    let is_form = filled(form.key()).is_some_and(|node| {
        form.kind.spec().repeats_form(form, node)
            || source_text(node, source).map_or_else(
                || is_all_placeholders(node),
                |text| is_placeholder(&text) && !option_match::is_exact(&form.options, &text),
            )
    });
    if is_form && !abstains {
        return ClassifiedBlock::Form;
    }
    ClassifiedBlock::Ballot(answer::answer(form, entries, source))
}

fn is_all_placeholders(node: &Node) -> bool {
    match &node.value {
        Value::Text(text) => is_placeholder(text),
        Value::List(items) => !items.is_empty() && items.iter().all(is_all_placeholders),
        Value::Map(entries) => {
            !entries.is_empty() && entries.iter().all(|(_, node)| is_all_placeholders(node))
        }
        _ => false,
    }
}
