//! The ballot file as a map: `{options: [a, b], ballots: [{count: 3, ranking: [a, [b, c]]}]}`.
//!
//! A ballot has exactly one answer, under the key of its kind. JSON may hold comments.

use super::ballot_file::{ANSWERS, BallotFile, BallotFileBuilder, BallotMeta, count_of};
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::tally::decimal::Decimal;
use crate::tally::profile::{CountableKind, IndexedBallot};
use crate::yaml::{self, Node, Value};

type LineColumn = (u64, u64);

const BESIDE: [&str; 5] = ["count", "weight", "voter", "abstain", "minimum_change"];
const KEYS: [&str; 5] = ["options", "cards", "min", "max", "ballots"];

#[derive(Default)]
struct ScoreRange {
    min: Option<Decimal>,
    max: Option<Decimal>,
}

pub fn read(text: &str, file: &str) -> Result<BallotFile, Vec<Diagnostic>> {
    let is_json = text.trim_start().starts_with(['{', '[', '/']);
    let relaxed = if is_json { yaml::relaxed_json(text) } else { String::new() };
    let node =
        yaml::read_large(if is_json { &relaxed } else { text }, file).map_err(|problem| vec![problem])?;
    let Value::Map(map) = &node.value else {
        let problem = node.problem(file, format!("a ballot file is a map, found {}", node.kind()));
        return Err(vec![problem.hint("write `{options: [a, b], ballots: [{vote: a}]}`")]);
    };
    let mut reader = BallotFileBuilder::new(file);
    for (key, _) in map.iter().filter(|(key, _)| !KEYS.contains(&key.text.as_str())) {
        let message = format!("unknown key `{}` in the ballot file", key.text);
        reader.refuse((key.line, key.column), message, did_you_mean(&key.text, &KEYS));
    }
    let get = |name: &str| map.iter().find(|(key, _)| key.text == name).map(|(_, node)| node);
    for name in ["options", "cards"] {
        if let Some(node) = get(name) {
            list(&mut reader, node, name);
        }
    }
    let scale = ScoreRange { min: bound(&mut reader, get("min")), max: bound(&mut reader, get("max")) };
    let cards = get("cards").is_some();
    match get("ballots").map(|node| &node.value) {
        Some(Value::List(ballots)) => {
            for (at, node) in ballots.iter().enumerate() {
                if reader.is_full() {
                    break;
                }
                ballot(&mut reader, node, at + 1, &scale, cards);
            }
        }
        _ => reader.refuse(
            (node.line, node.column),
            "the file has no list of `ballots`",
            "write `ballots: [{vote: a}]`",
        ),
    }
    let needs_options = !matches!(reader.kind, None | Some(CountableKind::Consent | CountableKind::Estimate));
    if needs_options && get("options").is_none() {
        reader.problems.clear();
        reader.refuse(
            (node.line, node.column),
            "the file does not list its `options`",
            "write `options: [a, b]`",
        );
    }
    reader.finish().map(|mut file| {
        file.profile.lowest = scale.min;
        file
    })
}

fn place(node: &Node) -> LineColumn {
    (node.line, node.column)
}

fn list(reader: &mut BallotFileBuilder<'_>, node: &Node, name: &str) {
    let Value::List(items) = &node.value else {
        return reader.refuse(
            place(node),
            format!("`{name}` must be a list"),
            format!("write `{name}: [a, b]`"),
        );
    };
    reader.are_listed = true;
    for item in items {
        match as_text(item) {
            Some(text) => reader.list(&text, place(item)),
            None => {
                reader.refuse(place(item), format!("`{name}` holds {}", item.kind()), "name each as text");
            }
        }
    }
}

/// Text, and numbers as they are written.
fn as_text(node: &Node) -> Option<String> {
    match &node.value {
        Value::Text(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

fn bound(reader: &mut BallotFileBuilder<'_>, node: Option<&Node>) -> Option<Decimal> {
    let node = node.filter(|node| node.value != Value::Null)?;
    amount(reader, node, "a bound")
}

fn amount(reader: &mut BallotFileBuilder<'_>, node: &Node, what: &str) -> Option<Decimal> {
    let amount = match &node.value {
        Value::Number(number) => Decimal::from_json(number),
        _ => None,
    };
    if amount.is_none() {
        let message = format!("{what} must be a number of at most six decimal places, found {}", node.kind());
        reader.refuse(place(node), message, "write it like 4 or 2.5");
    }
    amount
}

fn ballot(
    reader: &mut BallotFileBuilder<'_>,
    node: &Node,
    number: usize,
    scale: &ScoreRange,
    has_cards: bool,
) {
    let at = place(node);
    let Value::Map(map) = &node.value else {
        let message = format!("ballot {number} is {}, a map is expected", node.kind());
        return reader.refuse(at, message, "write `{vote: a}` or `{count: 3, ranking: [a, b]}`");
    };
    let known: Vec<&str> = ANSWERS.iter().map(|(name, _)| *name).chain(BESIDE).collect();
    for (key, _) in map.iter().filter(|(key, _)| !known.contains(&key.text.as_str())) {
        let message = format!("unknown key `{}` in ballot {number}", key.text);
        reader.refuse((key.line, key.column), message, did_you_mean(&key.text, &known));
    }
    let get = |name: &str| map.iter().find(|(key, _)| key.text == name).map(|(_, node)| node);
    let Some(head) = head(reader, at, number, &get) else { return };
    let answers: Vec<(CountableKind, &Node)> =
        ANSWERS.iter().filter_map(|(name, kind)| Some((*kind, get(name)?))).collect();
    let says_abstain = |node: &Node| matches!(&node.value, Value::Text(text) if text == "abstain");
    let abstains = get("abstain").is_some_and(|node| node.value == Value::Bool(true));
    match answers.as_slice() {
        [] if abstains => reader.abstained = reader.abstained.saturating_add(head.count),
        [(_, answer)] if says_abstain(answer) => {
            reader.abstained = reader.abstained.saturating_add(head.count);
        }
        [(kind, answer)] if !abstains => {
            if let Some(mark) = mark(reader, *kind, answer, get("minimum_change"), scale, has_cards) {
                reader.cast(head, *kind, mark);
            }
        }
        [] => reader.refuse(
            at,
            format!("ballot {number} has no answer"),
            "write one of vote, approve, ranking, scores, consent, estimate",
        ),
        _ => {
            reader.refuse(at, format!("ballot {number} has more than one answer"), "a ballot says one thing");
        }
    }
}

fn head<'n>(
    reader: &mut BallotFileBuilder<'_>,
    at: LineColumn,
    number: usize,
    get: &impl Fn(&str) -> Option<&'n Node>,
) -> Option<BallotMeta> {
    let problems = reader.problems.len();
    let count = get("count").map_or(Some(1), |node| match &node.value {
        Value::Number(number) => count_of(&number.to_string()),
        _ => None,
    });
    if count.is_none() {
        let place = get("count").map_or(at, place);
        reader.refuse(place, format!("`count` of ballot {number} must be a whole number"), "write it like 3");
    }
    let weight = get("weight").map_or(Some(Decimal::ONE), |node| amount(reader, node, "a weight"));
    if weight.is_some_and(|weight| weight < Decimal::ZERO) {
        reader.refuse(get("weight").map_or(at, place), "a weight is below 0", "write it like 2 or 0.5");
    }
    let voter = get("voter").and_then(as_text).unwrap_or_else(|| format!("ballot {number}"));
    let head = BallotMeta { line: at.0, column: at.1, voter, count: count?, weight: weight? };
    (reader.problems.len() == problems).then_some(head)
}

fn mark(
    reader: &mut BallotFileBuilder<'_>,
    kind: CountableKind,
    node: &Node,
    change: Option<&Node>,
    scale: &ScoreRange,
    has_cards: bool,
) -> Option<IndexedBallot> {
    match kind {
        CountableKind::Choice => option(reader, node).map(IndexedBallot::Choice),
        CountableKind::Approval => {
            let mut approved = options(reader, node)?;
            approved.sort_unstable();
            approved.dedup();
            Some(IndexedBallot::Approval(approved))
        }
        CountableKind::Ranking => {
            let Value::List(items) = &node.value else {
                reader.refuse(
                    place(node),
                    format!("a ranking is a list, found {}", node.kind()),
                    "write `[a, [b, c]]`",
                );
                return None;
            };
            let places: Option<Vec<Vec<usize>>> = items.iter().map(|item| options(reader, item)).collect();
            reader.ranks(&places?, place(node)).map(IndexedBallot::Ranking)
        }
        CountableKind::Score => scores(reader, node, scale),
        CountableKind::Consent => stance(reader, node, change),
        CountableKind::Estimate if has_cards => option(reader, node).map(IndexedBallot::Card),
        CountableKind::Estimate => {
            let number = amount(reader, node, "an estimate")?;
            within(reader, number, node, scale).map(IndexedBallot::Number)
        }
    }
}

fn option(reader: &mut BallotFileBuilder<'_>, node: &Node) -> Option<usize> {
    if let Some(name) = as_text(node) {
        reader.place(&name, place(node))
    } else {
        reader.refuse(
            place(node),
            format!("an option is named by text, found {}", node.kind()),
            "name one option",
        );
        None
    }
}

/// One option, or a list of them.
fn options(reader: &mut BallotFileBuilder<'_>, node: &Node) -> Option<Vec<usize>> {
    match &node.value {
        Value::List(items) => items.iter().map(|item| option(reader, item)).collect(),
        _ => option(reader, node).map(|option| vec![option]),
    }
}

fn scores(reader: &mut BallotFileBuilder<'_>, node: &Node, scale: &ScoreRange) -> Option<IndexedBallot> {
    let Value::Map(entries) = &node.value else {
        reader.refuse(
            place(node),
            format!("`scores` is a map, found {}", node.kind()),
            "write `{a: 4, b: 2}`",
        );
        return None;
    };
    let mut scores = vec![None; reader.options.len()];
    for (key, node) in entries {
        let option = reader.place(&key.text, (key.line, key.column))?;
        scores.resize(reader.options.len(), None);
        if node.value != Value::Null {
            let score = amount(reader, node, "a score")?;
            scores[option] = Some(within(reader, score, node, scale)?);
        }
    }
    Some(IndexedBallot::Scores(scores))
}

fn within(
    reader: &mut BallotFileBuilder<'_>,
    number: Decimal,
    node: &Node,
    scale: &ScoreRange,
) -> Option<Decimal> {
    let fits = scale.min.is_none_or(|min| min <= number) && scale.max.is_none_or(|max| number <= max);
    if !fits {
        reader.refuse(
            place(node),
            format!("{number} is outside the scale of the file"),
            "keep to `min` and `max`",
        );
    }
    fits.then_some(number)
}

fn stance(reader: &mut BallotFileBuilder<'_>, node: &Node, change: Option<&Node>) -> Option<IndexedBallot> {
    let change = change.and_then(as_text).filter(|change| !change.trim().is_empty());
    match as_text(node).as_deref() {
        Some("support") => Some(IndexedBallot::Support),
        Some("stand-aside") => Some(IndexedBallot::StandAside),
        Some("block") => Some(IndexedBallot::Block(change)),
        _ => {
            reader.refuse(
                place(node),
                "`consent` is none of support, stand-aside, block",
                "write one of them",
            );
            None
        }
    }
}
