//! Ballot kind `ranking`: options in order, best first; ties and omissions are allowed.

use serde_json::{Value as Json, json};

use super::answer_schema::{described, list, options, word_enum};
use super::kind::{KindInfo, KindSpec, RehearsalInput};
use super::model::{Ballot, BallotForm};
use super::parse::scalar::{quoted, source_text};
use super::parse::{AnswerParser, option_match};
use crate::tally::{CountableKind, Rule};
use crate::yaml::{Node, Value};

pub(super) struct RankingKind;

/// Ranks, best first, each with its tied options.
type Places = Vec<Vec<String>>;

/// Most options whose orders a schema enumerates; five options have 120 orders.
const MOST_ORDERED: usize = 5;

fn orders(options: &[String]) -> Vec<Vec<String>> {
    let Some((first, rest)) = options.split_first() else { return vec![Vec::new()] };
    let insert = |order: Vec<String>| {
        (0..=order.len()).map(move |at| [&order[..at], std::slice::from_ref(first), &order[at..]].concat())
    };
    orders(rest).into_iter().flat_map(insert).collect()
}

impl KindSpec for RankingKind {
    fn info(&self) -> KindInfo {
        KindInfo {
            keys: &["ranking"],
            hint: "Best first, e.g. a > b = c; empty = abstain",
            has_options: true,
            countable: Some(CountableKind::Ranking),
            default_rule: Some(Rule::Plurality),
            example: "ranking: [<best option>, [<two options>, <that are equal>]]\n",
            detail: "Best first; a nested list is a tie; options you leave out rank below the others.",
            instead_of: "the ballot",
            description: "the options in order of preference, with the rationale",
            length: "a list of options",
            ..KindInfo::default()
        }
    }

    fn schemas(&self, form: &BallotForm) -> Vec<Json> {
        let places = described(list(&list(&options(form))), "best first; a place with several is a tie");
        vec![json!({"anyOf": [places, word_enum(["abstain"])]})]
    }

    /// Enumerates every order of a few options, because a schema cannot require each option once.
    fn bounded_schemas(&self, form: &BallotForm) -> Vec<Json> {
        let orders = if form.options.len() <= MOST_ORDERED {
            json!({"enum": orders(&form.options)})
        } else {
            let mut places = list(&options(form));
            places["maxItems"] = form.options.len().into();
            places
        };
        vec![json!({"anyOf": [orders, word_enum(["abstain"])]})]
    }

    fn parse(&self, answer: &mut AnswerParser<'_>, value: &Node) -> Result<(Ballot, Json), String> {
        let places = match &value.value {
            Value::List(items) => {
                let mut places = Vec::with_capacity(items.len());
                for (at, item) in items.iter().enumerate() {
                    places.extend(item_places(answer, item, at + 1, items.len())?);
                }
                places
            }
            Value::Map(_) => return Err("`ranking` is a map, a list of options is expected".to_owned()),
            _ => order(answer, &answer.source_text(value))?,
        };
        let mut seen: Vec<&String> = Vec::new();
        for option in places.iter().flatten() {
            if seen.contains(&option) {
                return Err(format!("{} appears twice in `ranking`: rank each option once", quoted(option)));
            }
            seen.push(option);
        }
        if places.is_empty() || places.iter().any(Vec::is_empty) {
            return Err("`ranking` has an empty place: list options, best first".to_owned());
        }
        let kept =
            places.iter().map(|tied| if let [one] = tied.as_slice() { json!(one) } else { json!(tied) });
        let kept = kept.collect();
        Ok((Ballot::Ranking(places), kept))
    }

    /// Accepts an order with `>` without a key.
    fn is_bare(&self, form: &BallotForm, word: &str) -> bool {
        let value = Node::new(Value::Text(word.to_owned()));
        word.contains('>') && self.parse(&mut AnswerParser::new(form, &Vec::new(), ""), &value).is_ok()
    }

    fn rehearse(&self, input: &RehearsalInput<'_>) -> Vec<(&'static str, Json)> {
        vec![("ranking", input.options.iter().copied().collect())]
    }
}

/// Returns the ranks that one list item names; a text such as `a > b` names several.
fn item_places(answer: &AnswerParser<'_>, item: &Node, number: usize, of: usize) -> Result<Places, String> {
    if let Value::List(tied) = &item.value {
        return Ok(vec![tied.iter().map(|one| answer.option(one, "ranking")).collect::<Result<_, _>>()?]);
    }
    let word = source_text(item, answer.source);
    let word =
        word.ok_or_else(|| format!("`ranking` contains {} where an option is expected", item.kind()))?;
    if option_match::is_exact(&answer.form.options, &word) {
        return Ok(vec![vec![word]]);
    }
    let word = without_number(&word, number)?;
    if of == 1 && word.contains('>') {
        return order(answer, word);
    }
    answer.options_in(word, &['=']).map(|tied| vec![tied])
}

/// Parses `a > b = c` or `a, b, c`.
fn order(answer: &AnswerParser<'_>, text: &str) -> Result<Places, String> {
    if let Ok(one) = answer.match_option(text) {
        return Ok(vec![vec![one]]);
    }
    if text.contains('>') {
        return text.split('>').map(|place| answer.options_in(place.trim(), &['='])).collect();
    }
    Ok(answer.options_in(text, &[',', ';', '\n'])?.into_iter().map(|option| vec![option]).collect())
}

/// Removes the item's own number, such as `2. inline` as the second item; another number is an error.
fn without_number(text: &str, number: usize) -> Result<&str, String> {
    let Some((label, name)) = text.split_once(['.', ')', ':']) else { return Ok(text) };
    match label.trim().parse::<usize>() {
        Ok(own) if own == number && name.starts_with(' ') => Ok(name.trim()),
        Ok(_) if name.starts_with(' ') => {
            Err(format!("{} has another number than its place: list options, best first", quoted(text)))
        }
        _ => Ok(text),
    }
}
