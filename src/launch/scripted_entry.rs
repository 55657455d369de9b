//! What one entry of an answers file scripts for a seat or an agent.

use std::collections::HashSet;

use crate::participants::scripted::{ScriptedReply, ScriptedSeat};
use crate::yaml::{Map, Node, Value};

/// The names a round's entry scripts: the keys of its map, or of the maps in its list.
pub fn seat_names(node: &Node) -> Vec<String> {
    let maps: Vec<&Map> = match &node.value {
        Value::Map(map) => vec![map],
        Value::List(items) => items.iter().filter_map(as_map).collect(),
        _ => Vec::new(),
    };
    let mut seen = HashSet::new();
    let names = maps.into_iter().flatten().map(|(key, _)| key.text.clone());
    names.filter(|name| seen.insert(name.clone())).collect()
}

pub fn as_map(node: &Node) -> Option<&Map> {
    match &node.value {
        Value::Map(map) => Some(map),
        _ => None,
    }
}

pub fn find<'a>(map: &'a Map, seat: &str) -> Option<&'a Node> {
    map.iter().find(|(key, _)| key.text == seat).map(|(_, node)| node)
}

pub fn part_of(node: &Node, seat: &str) -> Option<ScriptedSeat> {
    match &node.value {
        Value::Map(map) => match &find(map, seat)?.value {
            Value::List(items) => Some(ScriptedSeat::InTurn(items.iter().map(line).collect())),
            _ => find(map, seat).map(|node| ScriptedSeat::Always(line(node))),
        },
        Value::List(items) => {
            let lines: Vec<ScriptedReply> =
                items.iter().filter_map(as_map).filter_map(|m| find(m, seat)).map(line).collect();
            (!lines.is_empty()).then_some(ScriptedSeat::InTurn(lines))
        }
        _ => None,
    }
}

/// What an agent's entry scripts: a list in turn, anything else every time.
pub fn whole_part(node: &Node) -> ScriptedSeat {
    match &node.value {
        Value::List(items) => ScriptedSeat::InTurn(items.iter().map(line).collect()),
        _ => ScriptedSeat::Always(line(node)),
    }
}

/// A review's entry names reviewers, or serves all of them.
pub fn part_of_review(node: &Node, seat: &str, reviewers: &[&str]) -> Option<ScriptedSeat> {
    let names = seat_names(node);
    if !names.is_empty() && names.iter().any(|name| reviewers.contains(&name.as_str())) {
        return part_of(node, seat);
    }
    reviewers.contains(&seat).then(|| whole_part(node))
}

fn line(node: &Node) -> ScriptedReply {
    match &node.value {
        Value::Map(map) if map.len() == 1 && map[0].0.text == "fail" => ScriptedReply::Fail(
            crate::workflow::as_text(&map[0].1).unwrap_or_else(|| "scripted failure".to_owned()),
        ),
        Value::Text(text) => ScriptedReply::Reply(text.clone()),
        _ => ScriptedReply::Reply(node.to_json().to_string()),
    }
}
