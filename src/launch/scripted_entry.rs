//! What one entry of an answers file scripts for a seat or an agent, or how it merges ideas.

use std::collections::HashSet;

use crate::diagnostic::Diagnostic;
use crate::history::{Merge, MergedOption, SetAside, option_id};
use crate::participants::scripted::{ScriptedReply, ScriptedSeat};
use crate::workflow::{Definition, Fields};
use crate::yaml::{Map, Node, Value};

/// The keys of what is said after rounds, where no step has that name.
pub const SYNTHESIS: &str = "synthesis";
pub const AGENDA: &str = "agenda";

/// Whether an entry is no step's, and says something after rounds.
pub fn is_after_rounds(key: &str, definition: &Definition) -> bool {
    [SYNTHESIS, AGENDA].contains(&key) && definition.step(key).is_none()
}

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

pub const MERGE_HINT: &str = "write `options: [{title: \"…\", from: [seat#1, seat#2]}]`, and `set_aside: [{idea: seat#3, \
                          reason: \"…\"}]` for what goes into none";

/// Ideas merged into options; an option without an id has one made of its title.
pub fn merged(node: &Node, file: &str) -> Result<(Merge, Option<String>), Diagnostic> {
    let mut fields = Fields::from_node(node, "the merge", file)?;
    let mut merge = Merge::default();
    fields.flag("approved");
    let comment = fields.text("comment");
    let mut problems = Vec::new();
    for option in fields.node("options").map(items).unwrap_or_default() {
        let mut option = Fields::from_node(option, "an option", file).map_err(|p| p.hint(MERGE_HINT))?;
        let title = option.text("title").unwrap_or_default();
        let id = option.text("id").unwrap_or_else(|| option_id(&title));
        let (description, from) = (option.text("description"), option.texts("from"));
        problems.extend(option.finish(&[]));
        merge.options.push(MergedOption { id, title, description, from });
    }
    for aside in fields.node("set_aside").map(items).unwrap_or_default() {
        let mut aside =
            Fields::from_node(aside, "an idea set aside", file).map_err(|p| p.hint(MERGE_HINT))?;
        let (idea, reason) = (aside.text("idea"), aside.text("reason"));
        problems.extend(aside.finish(&[]));
        let (idea, reason) = (idea.unwrap_or_default(), reason.unwrap_or_default());
        merge.set_aside.push(SetAside { idea, reason });
    }
    problems.extend(fields.finish(&[]));
    match problems.into_iter().next() {
        Some(problem) => Err(problem),
        None => Ok((merge, comment)),
    }
}

/// The items of a list; anything else is one.
pub fn items(node: &Node) -> &[Node] {
    match &node.value {
        Value::List(items) => items,
        _ => std::slice::from_ref(node),
    }
}
