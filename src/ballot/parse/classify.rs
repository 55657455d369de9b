//! What a block is: a ballot, the form repeated, other fields, or nothing to do with the answer.
//!
//! Takes the answer out of its wrapper and gives known keys their one spelling; what the fields hold is
//! not looked at here.

use super::answer::{self, AnswerEntries, is_named, known_key};
use super::scalar::{is_abstain, is_placeholder, source_text};
use super::{option_match, prefilter, yaml_block};
use crate::ballot::model::{Answer, BallotForm, BallotKind};
use crate::yaml::{self, Node, Value};

const WRAPPERS: [&str; 5] = ["answer", "response", "reply", "result", "ballot"];

pub(super) enum ClassifiedBlock {
    /// It holds a ballot key: read, or the reason why not.
    Ballot(Result<Answer, String>),
    Form,
    /// A map without a ballot key; `known` if one of its keys is the answer's.
    Fields {
        keys: Vec<String>,
        known: bool,
    },
    List,
    Other,
}

impl ClassifiedBlock {
    pub(super) fn ballot(&self) -> Option<&Result<Answer, String>> {
        match self {
            Self::Ballot(ballot) => Some(ballot),
            Self::Form | Self::Fields { .. } | Self::List | Self::Other => None,
        }
    }
}

/// What the reply is when it is read whole, as one YAML map; the error is an attempted tool call or a
/// merge key.
pub(super) fn whole(form: &BallotForm, text: &str) -> Result<ClassifiedBlock, String> {
    let body = text.trim_matches(['\n', '\r']).trim_end();
    let body = body.strip_prefix("---\n").unwrap_or(body);
    let body = body.strip_suffix("\n---").or_else(|| body.strip_suffix("\n...")).unwrap_or(body);
    if body.trim_start().starts_with(['{', '[']) {
        return Ok(ClassifiedBlock::Other);
    }
    if body.lines().any(|line| line.trim_start().starts_with("<<:")) {
        return Err(yaml_block::MERGE_KEY.to_owned());
    }
    let (source, parsed) = yaml_block::parse(body, form.kind);
    parsed.map_or(Ok(ClassifiedBlock::Other), |node| classify_node(form, node, &source))
}

/// What a block is; the error is an attempted tool call.
pub(super) fn classify(form: &BallotForm, block: &str) -> Result<ClassifiedBlock, String> {
    let (source, parsed) = yaml_block::parse(block, form.kind);
    match parsed {
        Ok(node) => classify_node(form, node, &source),
        Err(reason) if mentions_ballot(block, form.kind) => Ok(ClassifiedBlock::Ballot(Err(reason))),
        Err(_) => Ok(ClassifiedBlock::Other),
    }
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
            (_, Some(Value::Map(map))) if is_tool_call(&map) => return Err(prefilter::tool_call()),
            (_, Some(Value::Map(_))) => return Ok(ClassifiedBlock::List),
            _ => return Ok(ClassifiedBlock::Other),
        },
        _ => return Ok(ClassifiedBlock::Other),
    };
    if is_tool_call(&map) {
        return Err(prefilter::tool_call());
    }
    Ok(match answer::entries(unwrapped(map, form.kind), form.kind) {
        Ok(entries) => of_entries(form, &entries, source),
        Err(reason) => ClassifiedBlock::Ballot(Err(reason)),
    })
}

fn is_tool_call(map: &yaml::Map) -> bool {
    let has = |names: &[&str]| map.iter().any(|(key, _)| names.iter().any(|name| is_named(&key.text, name)));
    has(&["tool_calls", "tool_call", "function_call"])
        || (has(&["name", "tool", "function", "tool_name", "action"])
            && has(&["arguments", "parameters", "args", "tool_input", "action_input"]))
}

/// The map with what its wrapper holds in the wrapper's place.
fn unwrapped(map: yaml::Map, kind: BallotKind) -> yaml::Map {
    let wraps = |(key, node): &(yaml::MapKey, Node)| {
        let Value::Map(inner) = &node.value else { return false };
        WRAPPERS.contains(&key.text.to_ascii_lowercase().as_str())
            && inner.iter().any(|(key, node)| is_ballot_key(&key.text, node, kind))
    };
    let mut out = Vec::with_capacity(map.len());
    for entry in map {
        match entry {
            entry if !wraps(&entry) => out.push(entry),
            (_, Node { value: Value::Map(inner), .. }) => out.extend(inner),
            entry => out.push(entry),
        }
    }
    out
}

fn is_ballot_key(key: &str, node: &Node, kind: BallotKind) -> bool {
    match known_key(key, kind) {
        Some(key) if key == kind.key() => true,
        Some("abstain") => !matches!(node.value, Value::Bool(false) | Value::Null),
        Some("vote") => matches!(&node.value, Value::Text(text) if is_abstain(text)),
        _ => false,
    }
}

fn of_entries(form: &BallotForm, entries: &AnswerEntries, source: &str) -> ClassifiedBlock {
    if !entries.iter().any(|(key, node)| is_ballot_key(key, node, form.kind)) {
        let known = entries.iter().any(|(key, _)| known_key(key, form.kind).is_some());
        return ClassifiedBlock::Fields { keys: entries.iter().map(|(key, _)| key.clone()).collect(), known };
    }
    let filled = |key: &str| entries.iter().find(|(name, _)| name == key).map(|(_, node)| node);
    let abstains =
        filled("abstain").is_some_and(|node| !matches!(node.value, Value::Bool(false) | Value::Null));
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

/// Whether a list or map holds nothing but what the form shows.
fn is_all_placeholders(node: &Node) -> bool {
    match &node.value {
        Value::Text(text) => is_placeholder(text),
        Value::List(items) => !items.is_empty() && items.iter().all(is_all_placeholders),
        Value::Map(entries) => {
            !entries.is_empty()
                && entries.iter().all(|(key, node)| is_placeholder(&key.text) && is_all_placeholders(node))
        }
        _ => false,
    }
}
