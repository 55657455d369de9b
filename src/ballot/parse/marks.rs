//! Reading what stands under `approve`, `ranking`, `scores` and `estimate`.
//!
//! Each option in it is read as the vote of a choice is; an option that is missing where each is asked
//! for, that stands twice or that could be another one makes the ballot invalid. Nothing is converted.

use indexmap::IndexMap;
use serde_json::{Number, Value as Json};

use super::option_match;
use super::scalar::{folded, quoted, source_text, strip_markup};
use crate::ballot::{Ballot, BallotForm, BallotKind};
use crate::tally::Decimal;
use crate::yaml::{Map, Node, Value};

/// A ballot, as it is kept in the answer, and what to flag.
pub(super) struct BallotValue {
    pub ballot: Ballot,
    pub kept: Json,
    pub flags: Vec<String>,
}

/// Reads the value under the kind's own key.
pub(super) fn parse_ballot_value(
    form: &BallotForm,
    node: &Node,
    source: &str,
) -> Result<BallotValue, String> {
    let mut reader = BallotValueParser { form, source, flags: Vec::new() };
    let (ballot, kept) = match form.kind {
        BallotKind::Approval => reader.approval(node)?,
        BallotKind::Ranking => reader.ranking(node)?,
        BallotKind::Score => reader.scores(node)?,
        _ => reader.estimate(node)?,
    };
    Ok(BallotValue { ballot, kept, flags: reader.flags })
}

struct BallotValueParser<'a> {
    form: &'a BallotForm,
    source: &'a str,
    flags: Vec<String>,
}

type BallotValueResult = Result<(Ballot, Json), String>;

impl BallotValueParser<'_> {
    /// The option a single value means.
    fn option(&mut self, node: &Node, key: &str) -> Result<String, String> {
        let word = source_text(node, self.source);
        let word =
            word.ok_or_else(|| format!("`{key}` holds {} where an option is expected", node.kind()))?;
        self.named(&word)
    }

    fn named(&mut self, word: &str) -> Result<String, String> {
        let (option, flag) = option_match::option(&self.form.options, word)?;
        self.flags.extend(flag);
        Ok(option)
    }

    /// The options that a text lists: one whole option, or several between the signs.
    fn parts(&mut self, text: &str, signs: &[char]) -> Result<Vec<String>, String> {
        match self.named(text) {
            Ok(one) => Ok(vec![one]),
            Err(reason) if !text.contains(signs) => Err(reason),
            Err(_) => {
                let parts = text.split(signs).map(str::trim).filter(|part| !part.is_empty());
                parts.map(|part| self.named(part)).collect()
            }
        }
    }

    fn approval(&mut self, node: &Node) -> BallotValueResult {
        let mut approved: Vec<String> = Vec::new();
        let given = match &node.value {
            Value::List(items) => {
                items.iter().map(|item| self.option(item, "approve")).collect::<Result<Vec<_>, _>>()?
            }
            Value::Map(entries) => self.truths(entries)?,
            Value::Text(text) => self.parts(text, &[',', ';', '\n'])?,
            _ => vec![self.option(node, "approve")?],
        };
        for option in given {
            if approved.contains(&option) {
                self.flags.push(format!("{} is approved twice: read as once", quoted(&option)));
            } else {
                approved.push(option);
            }
        }
        approved.sort_by_key(|option| self.form.options.iter().position(|known| known == option));
        let kept = approved.iter().map(|option| Json::from(option.as_str())).collect();
        Ok((Ballot::Approval(approved), kept))
    }

    /// The options that stand beside `true`.
    fn truths(&mut self, entries: &Map) -> Result<Vec<String>, String> {
        let mut approved = Vec::new();
        for (key, value) in entries {
            let option = self.named(&key.text)?;
            match value.value {
                Value::Bool(true) => approved.push(option),
                Value::Bool(false) => {}
                _ => return Err("`approve` is a map, a list of options is expected".to_owned()),
            }
        }
        Ok(approved)
    }

    fn ranking(&mut self, node: &Node) -> BallotValueResult {
        let places = match &node.value {
            Value::List(items) if items.iter().all(|item| matches!(item.value, Value::Map(_))) => {
                self.ranked_maps(items)?
            }
            Value::List(items) => {
                let mut places = Vec::with_capacity(items.len());
                for (at, item) in items.iter().enumerate() {
                    places.extend(self.place(item, at + 1, items.len())?);
                }
                places
            }
            Value::Map(entries) => self.ranked_map(entries)?,
            Value::Text(text) => self.order(text)?,
            _ => vec![vec![self.option(node, "ranking")?]],
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
        let place = |options: &Vec<String>| match options.as_slice() {
            [one] => Json::from(one.as_str()),
            tied => tied.iter().map(|option| Json::from(option.as_str())).collect(),
        };
        let kept = places.iter().map(place).collect();
        Ok((Ballot::Ranking(places), kept))
    }

    /// The place that one item of a list stands for; a text that orders options stands for several.
    fn place(&mut self, item: &Node, number: usize, of: usize) -> Result<Vec<Vec<String>>, String> {
        if let Value::List(tied) = &item.value {
            return Ok(vec![tied.iter().map(|one| self.option(one, "ranking")).collect::<Result<_, _>>()?]);
        }
        let word = source_text(item, self.source);
        let word =
            word.ok_or_else(|| format!("`ranking` holds {} where an option is expected", item.kind()))?;
        if option_match::is_exact(&self.form.options, &word) {
            return Ok(vec![vec![word]]);
        }
        let word = without_number(&word, number);
        if of == 1 && word.contains('>') {
            return self.order(word);
        }
        self.parts(word, &['=']).map(|tied| vec![tied])
    }

    /// `a > b = c`, or `a, b, c`.
    fn order(&mut self, text: &str) -> Result<Vec<Vec<String>>, String> {
        if let Ok(one) = self.named(text) {
            return Ok(vec![vec![one]]);
        }
        if text.contains('>') {
            return text.split('>').map(|place| self.parts(place.trim(), &['='])).collect();
        }
        Ok(self.parts(text, &[',', ';', '\n'])?.into_iter().map(|option| vec![option]).collect())
    }

    /// `{1: a, 2: [b, c]}` or `{a: 1, b: 2, c: 2}`; where both readings are possible, neither.
    fn ranked_map(&mut self, entries: &Map) -> Result<Vec<Vec<String>>, String> {
        let by_rank = entries.iter().all(|(key, _)| rank_of(&key.text).is_some());
        let by_option = entries.iter().all(|(_, node)| rank_of_node(node).is_some());
        let mut ranked: Vec<(u32, Vec<String>)> = Vec::new();
        match (by_rank, by_option) {
            (true, true) => {
                return Err(
                    "`ranking` is a map of numbers that could be read two ways: write a list".to_owned()
                );
            }
            (true, false) => {
                for (key, node) in entries {
                    let tied = match &node.value {
                        Value::List(items) => {
                            items.iter().map(|item| self.option(item, "ranking")).collect::<Result<_, _>>()?
                        }
                        _ => vec![self.option(node, "ranking")?],
                    };
                    ranked.push((rank_of(&key.text).unwrap_or(0), tied));
                }
            }
            (false, true) => {
                for (key, node) in entries {
                    ranked.push((rank_of_node(node).unwrap_or(0), vec![self.named(&key.text)?]));
                }
            }
            (false, false) => return Err("`ranking` is a map, a list of options is expected".to_owned()),
        }
        Ok(in_places(ranked))
    }

    /// `[{rank: 1, option: a}, {rank: 2, option: b}]`.
    fn ranked_maps(&mut self, items: &[Node]) -> Result<Vec<Vec<String>>, String> {
        let mut ranked = Vec::new();
        for item in items {
            let Value::Map(entries) = &item.value else { continue };
            let find = |names: &[&str]| {
                entries
                    .iter()
                    .find(|(key, _)| names.contains(&folded(&key.text).as_str()))
                    .map(|(_, node)| node)
            };
            let rank = find(&["rank", "place", "position"]).and_then(rank_of_node);
            let option = find(&["option", "choice", "name"]);
            let (Some(rank), Some(option), 2) = (rank, option, entries.len()) else {
                return Err("`ranking` holds maps: write a list of options, best first".to_owned());
            };
            ranked.push((rank, vec![self.option(option, "ranking")?]));
        }
        Ok(in_places(ranked))
    }

    fn scores(&mut self, node: &Node) -> BallotValueResult {
        let mut given: IndexMap<String, Number> = IndexMap::new();
        let maps: Vec<&Map> = match &node.value {
            Value::Map(entries) => vec![entries],
            Value::List(items) => {
                let mut maps = Vec::with_capacity(items.len());
                for item in items {
                    let Value::Map(entries) = &item.value else {
                        return Err("`scores` is a list, a map is expected".to_owned());
                    };
                    maps.push(entries);
                }
                maps
            }
            _ => return Err(format!("`scores` is {}, a map of options to numbers is expected", node.kind())),
        };
        for (key, value) in maps.into_iter().flatten() {
            let option = self.named(&key.text)?;
            if value.value == Value::Null {
                continue;
            }
            let score = self.number(value, &format!("the score of {}", quoted(&option)))?;
            if given.insert(option.clone(), score).is_some() {
                return Err(format!("{} stands twice in `scores`: score each option once", quoted(&option)));
            }
        }
        let missing: Vec<String> = self
            .form
            .options
            .iter()
            .filter(|option| !given.contains_key(*option))
            .map(|o| quoted(o))
            .collect();
        if !missing.is_empty() {
            return Err(format!("`scores` has no number for {}: score each option", missing.join(", ")));
        }
        let scores: IndexMap<String, Number> =
            self.form.options.iter().filter_map(|option| given.shift_remove_entry(option)).collect();
        let kept = scores.iter().map(|(option, score)| (option.clone(), Json::from(score.clone()))).collect();
        Ok((Ballot::Scores(scores), Json::Object(kept)))
    }

    fn estimate(&mut self, node: &Node) -> BallotValueResult {
        let node = match &node.value {
            Value::List(items) if items.len() == 1 => &items[0],
            Value::List(items) => {
                return Err(format!("`estimate` is a list of {}: give exactly one", items.len()));
            }
            _ => node,
        };
        if self.form.cards.is_empty() {
            let number = self.number(node, "the estimate")?;
            return Ok((Ballot::Estimate(number.clone().into()), number.into()));
        }
        let word = source_text(node, self.source);
        let word = word.ok_or_else(|| format!("`estimate` is {}, one card is expected", node.kind()))?;
        let card = card(&self.form.cards, &word)?;
        Ok((Ballot::Estimate(card.clone().into()), card.into()))
    }

    /// A number on the form's scale, also in quotes.
    fn number(&self, node: &Node, what: &str) -> Result<Number, String> {
        let number = match &node.value {
            Value::Number(number) => Some(number.clone()),
            Value::Text(text) => plain_number(strip_markup(text)),
            _ => None,
        };
        let shown =
            || source_text(node, self.source).map_or_else(|| node.kind().to_owned(), |word| quoted(&word));
        let number = number.ok_or_else(|| format!("{what} is {}, one number is expected, alone", shown()))?;
        let amount = Decimal::from_json(&number).ok_or_else(|| {
            format!("{what} is {}: at most six decimal places and a thousand million", shown())
        })?;
        let bound = |bound: &Option<Number>| bound.as_ref().and_then(Decimal::from_json);
        let (min, max) = (bound(&self.form.min), bound(&self.form.max));
        if min.is_some_and(|min| amount < min) || max.is_some_and(|max| amount > max) {
            let end =
                |bound: Option<Decimal>, none: &str| bound.map_or_else(|| none.to_owned(), |b| b.to_string());
            let scale = format!("{} to {}", end(min, "any"), end(max, "any"));
            return Err(format!("{what} is {}, the scale is {scale}", shown()));
        }
        Ok(number)
    }
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
fn in_places(mut ranked: Vec<(u32, Vec<String>)>) -> Vec<Vec<String>> {
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

/// A number that is written as digits, with a sign and a point at most.
fn plain_number(text: &str) -> Option<Number> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
    let all = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !all(whole) || !all(part) || digits.len() > 30 {
        return None;
    }
    let text = text.strip_prefix('+').unwrap_or(text);
    let number = text.parse::<i64>().ok().map(Number::from);
    number.or_else(|| text.parse().ok().and_then(Number::from_f64))
}

/// Whether a text alone puts options in order.
pub(super) fn is_order(form: &BallotForm, text: &str) -> bool {
    let node = Node::new(Value::Text(text.to_owned()));
    text.contains('>') && parse_ballot_value(form, &node, "").is_ok()
}

/// Whether a word alone is a number, or a card of the form.
pub(super) fn is_estimate(form: &BallotForm, word: &str) -> bool {
    if form.cards.is_empty() {
        plain_number(strip_markup(word)).is_some()
    } else {
        card(&form.cards, word).is_ok()
    }
}

/// The card a word means: as it is spelt, in other case, or by its number.
fn card(cards: &[String], word: &str) -> Result<String, String> {
    if let Some(exact) = cards.iter().find(|card| *card == word) {
        return Ok(exact.clone());
    }
    let bare = strip_markup(word);
    let number = plain_number(bare).and_then(|number| Decimal::from_json(&number));
    let same = |card: &&String| {
        folded(card) == folded(bare)
            || folded(strip_markup(card)) == folded(bare)
            || number.is_some_and(|number| Decimal::parse(card) == Some(number))
    };
    let hits: Vec<&String> = cards.iter().filter(same).collect();
    match hits.as_slice() {
        [one] => Ok((*one).clone()),
        [] => Err(format!(
            "card {} is not on the form: {}; give one card alone",
            quoted(word),
            cards.join(", ")
        )),
        several => {
            let names: Vec<String> = several.iter().map(|card| quoted(card)).collect();
            Err(format!("card {} could mean {}: spell it as on the form", quoted(word), names.join(" or ")))
        }
    }
}
