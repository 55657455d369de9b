//! `ranking`: options in order, best first; ties and truncation are allowed.

use serde_json::{Value as Json, json};

use super::answer_schema::{described, list, options, words};
use super::kind::{FormField, FormKeys, FormValues, Input, Instructions, KindSpec, Scale, Stage};
use super::model::{Ballot, BallotForm};
use super::parse::scalar::{folded, quoted, source_text};
use super::parse::{AnswerParser, option_match};
use crate::tally::{CountableKind, IndexedBallot, Rule, UNLISTED};
use crate::yaml::{Map, Node, Value};

pub(super) struct Ranking;

/// Places from the first on, each with the options that share it.
type Places = Vec<Vec<String>>;

impl KindSpec for Ranking {
    fn keys(&self) -> &'static [&'static str] {
        &["ranking"]
    }

    fn form_keys(&self) -> FormKeys {
        FormKeys { options: true, scale: Scale::None, cards: false }
    }

    fn instructions(&self) -> Instructions {
        Instructions {
            example: "ranking: [<best option>, [<two options>, <that are equal>]]\n",
            detail: "The ranking is required: best first; a nested list is a tie; options you leave out stand below the others.",
            instead_of: "the ballot",
            description: "the options in order of preference, with the rationale",
            length: "a list of options",
        }
    }

    fn schemas(&self, form: &BallotForm) -> Vec<Json> {
        let places = described(list(&list(&options(form))), "best first; a place with several is a tie");
        vec![json!({"anyOf": [places, words(["abstain"])]})]
    }

    fn parse(&self, answer: &mut AnswerParser<'_>, value: &Node) -> Result<(Ballot, Json), String> {
        let places = match &value.value {
            Value::List(items) if items.iter().all(|item| matches!(item.value, Value::Map(_))) => {
                ranked_maps(answer, items)?
            }
            Value::List(items) => {
                let mut places = Vec::with_capacity(items.len());
                for (at, item) in items.iter().enumerate() {
                    places.extend(item_places(answer, item, at + 1, items.len())?);
                }
                places
            }
            Value::Map(entries) => ranked_map(answer, entries)?,
            Value::Text(text) => order(answer, text)?,
            Value::Null | Value::Bool(_) | Value::Number(_) => vec![vec![answer.option(value, "ranking")?]],
        };
        let mut seen: Vec<&String> = Vec::new();
        for option in places.iter().flatten() {
            if seen.contains(&option) {
                return Err(format!("{} stands twice in `ranking`: rank each option once", quoted(option)));
            }
            seen.push(option);
        }
        if places.is_empty() || places.iter().any(Vec::is_empty) {
            return Err("`ranking` holds an empty place: list options, best first".to_owned());
        }
        let kept =
            places.iter().map(|tied| if let [one] = tied.as_slice() { json!(one) } else { json!(tied) });
        let kept = kept.collect();
        Ok((Ballot::Ranking(places), kept))
    }

    /// An order with `>` needs no key beside it.
    fn is_bare(&self, form: &BallotForm, word: &str) -> bool {
        let value = Node::new(Value::Text(word.to_owned()));
        word.contains('>') && self.parse(&mut AnswerParser::new(form, &Vec::new(), ""), &value).is_ok()
    }

    fn countable(&self) -> Option<CountableKind> {
        Some(CountableKind::Ranking)
    }

    fn default_rule(&self) -> Option<Rule> {
        Some(Rule::Plurality)
    }

    fn indexed(&self, form: &BallotForm, ballot: &Ballot) -> Option<IndexedBallot> {
        let Ballot::Ranking(places) = ballot else { return None };
        let mut ranks = vec![UNLISTED; form.options.len()];
        for (rank, options) in places.iter().enumerate() {
            for option in options.iter().filter_map(|option| form.place(option)) {
                ranks[option] = rank as u16;
            }
        }
        Some(IndexedBallot::Ranking(ranks))
    }

    fn top_options(&self, ballot: &Ballot) -> Option<Vec<String>> {
        let Ballot::Ranking(places) = ballot else { return None };
        Some(places.first().cloned().unwrap_or_default())
    }

    fn phrase(&self, ballot: &Ballot) -> Option<String> {
        let Ballot::Ranking(places) = ballot else { return None };
        Some(format!("ranks {}", joined(places, ", ")))
    }

    fn brief(&self, ballot: &Ballot) -> Option<String> {
        let Ballot::Ranking(places) = ballot else { return None };
        Some(joined(places, " > "))
    }

    fn fields(&self, _: &BallotForm) -> Vec<FormField> {
        let input = Input::Line(String::new());
        vec![FormField {
            key: "ranking",
            label: "ranking",
            hint: "Best first, e.g. a > b = c; empty = abstain",
            input,
        }]
    }

    fn read_fields(&self, values: &dyn FormValues) -> Option<Vec<(&'static str, Json)>> {
        let text = values.text("ranking");
        let place = |part: &str| {
            let tied: Vec<&str> = part.split('=').map(str::trim).filter(|name| !name.is_empty()).collect();
            if let [one] = tied.as_slice() { json!(one) } else { json!(tied) }
        };
        let places: Json = text.split('>').filter(|part| !part.trim().is_empty()).map(place).collect();
        (!text.is_empty()).then(|| vec![("ranking", places)])
    }

    fn rehearse(&self, stage: &Stage<'_>) -> Vec<(&'static str, Json)> {
        vec![("ranking", stage.options.iter().copied().collect())]
    }
}

fn joined(places: &[Vec<String>], sign: &str) -> String {
    places.iter().map(|tied| tied.join(" = ")).collect::<Vec<_>>().join(sign)
}

/// The place that one item of a list stands for; a text that orders options stands for several.
fn item_places(
    answer: &mut AnswerParser<'_>,
    item: &Node,
    number: usize,
    of: usize,
) -> Result<Places, String> {
    if let Value::List(tied) = &item.value {
        return Ok(vec![tied.iter().map(|one| answer.option(one, "ranking")).collect::<Result<_, _>>()?]);
    }
    let word = source_text(item, answer.source);
    let word = word.ok_or_else(|| format!("`ranking` holds {} where an option is expected", item.kind()))?;
    if option_match::is_exact(&answer.form.options, &word) {
        return Ok(vec![vec![word]]);
    }
    let word = without_number(&word, number);
    if of == 1 && word.contains('>') {
        return order(answer, word);
    }
    answer.options_in(word, &['=']).map(|tied| vec![tied])
}

/// `a > b = c`, or `a, b, c`.
fn order(answer: &mut AnswerParser<'_>, text: &str) -> Result<Places, String> {
    if let Ok(one) = answer.named(text) {
        return Ok(vec![vec![one]]);
    }
    if text.contains('>') {
        return text.split('>').map(|place| answer.options_in(place.trim(), &['='])).collect();
    }
    Ok(answer.options_in(text, &[',', ';', '\n'])?.into_iter().map(|option| vec![option]).collect())
}

/// `{1: a, 2: [b, c]}` or `{a: 1, b: 2, c: 2}`; where both readings are possible, neither.
fn ranked_map(answer: &mut AnswerParser<'_>, entries: &Map) -> Result<Places, String> {
    let by_rank = entries.iter().all(|(key, _)| rank_of(&key.text).is_some());
    let by_option = entries.iter().all(|(_, node)| rank_of_node(node).is_some());
    let mut ranked: Vec<(u32, Vec<String>)> = Vec::new();
    match (by_rank, by_option) {
        (true, true) => {
            return Err("`ranking` is a map of numbers that could be read two ways: write a list".to_owned());
        }
        (true, false) => {
            for (key, node) in entries {
                let tied = if let Value::List(items) = &node.value {
                    items.iter().map(|item| answer.option(item, "ranking")).collect::<Result<_, _>>()?
                } else {
                    vec![answer.option(node, "ranking")?]
                };
                ranked.push((rank_of(&key.text).unwrap_or(0), tied));
            }
        }
        (false, true) => {
            for (key, node) in entries {
                ranked.push((rank_of_node(node).unwrap_or(0), vec![answer.named(&key.text)?]));
            }
        }
        (false, false) => return Err("`ranking` is a map, a list of options is expected".to_owned()),
    }
    Ok(in_places(ranked))
}

/// `[{rank: 1, option: a}, {rank: 2, option: b}]`.
fn ranked_maps(answer: &mut AnswerParser<'_>, items: &[Node]) -> Result<Places, String> {
    let mut ranked = Vec::new();
    for item in items {
        let Value::Map(entries) = &item.value else { continue };
        let find = |names: &[&str]| {
            let named = entries.iter().find(|(key, _)| names.contains(&folded(&key.text).as_str()));
            named.map(|(_, node)| node)
        };
        let rank = find(&["rank", "place", "position"]).and_then(rank_of_node);
        let option = find(&["option", "choice", "name"]);
        let (Some(rank), Some(option), 2) = (rank, option, entries.len()) else {
            return Err("`ranking` holds maps: write a list of options, best first".to_owned());
        };
        ranked.push((rank, vec![answer.option(option, "ranking")?]));
    }
    Ok(in_places(ranked))
}

/// The rank a key names: `1`, `1.`, `#1`, `1st`.
fn rank_of(text: &str) -> Option<u32> {
    let text = text.trim().trim_start_matches('#').trim_end_matches('.');
    let text = ["st", "nd", "rd", "th"].iter().find_map(|end| text.strip_suffix(end)).unwrap_or(text);
    text.parse().ok().filter(|rank| (1..=10_000).contains(rank))
}

fn rank_of_node(node: &Node) -> Option<u32> {
    match &node.value {
        Value::Number(number) => number.as_u64().and_then(|n| u32::try_from(n).ok()).filter(|rank| *rank > 0),
        Value::Text(text) => rank_of(text),
        _ => None,
    }
}

/// Options with a number each, as places: equal numbers share one.
fn in_places(mut ranked: Vec<(u32, Vec<String>)>) -> Places {
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked
        .chunk_by(|a, b| a.0 == b.0)
        .map(|tied| tied.iter().flat_map(|(_, options)| options.clone()).collect())
        .collect()
}

/// The text without the number of its own place before it: `2. inline` as the second item.
fn without_number(text: &str, number: usize) -> &str {
    let rest = text.trim_start().strip_prefix(&number.to_string());
    let rest = rest.and_then(|rest| rest.strip_prefix(['.', ')', ':']));
    rest.filter(|rest| rest.starts_with(' ')).map_or(text, str::trim)
}
