//! Parser of an answer's fields: validated, in canonical order, unknown keys kept and flagged.
//!
//! Reports all problems of an answer at once. Missing fields stay missing.

use serde_json::{Map, Number, Value as Json};

use super::option_match;
use super::scalar::{
    is_abstain, is_given, is_placeholder, means_nothing, plain_number, quoted, source_text, strip_markup,
};
use crate::ballot::model::{Answer, Ballot, BallotForm, BallotKind, Stance};
use crate::tally::Decimal;
use crate::yaml::{self, Node, Value};

pub(super) const BARE_BLOCK: &str = "a block states its `minimum_change`: what would have to change";

const CHANGED_BY: &str = "changed_by";

pub(in crate::ballot) type AnswerEntries = Vec<(String, Node)>;

const TRADE_OFFS: [&str; 3] = ["optimizing_for", "accepting_as_cost", "risks"];

const COMMON: [&str; 7] =
    ["position", "rationale", "trade_offs", "concerns", "suggestions", "confidence", "references"];

/// Returns the known key that `key` spells, by the rule of [`is_named`].
pub(super) fn known_key(key: &str, kind: BallotKind) -> Option<&'static str> {
    if key.len() > 32 {
        return None;
    }
    kind.ballot_keys().chain(COMMON).find(|known| is_named(key, known))
}

/// Checks if a key has this name, ignoring case, with spaces or hyphens for underscores.
pub(in crate::ballot) fn is_named(key: &str, name: &str) -> bool {
    let plain = |byte: u8| if matches!(byte, b' ' | b'-') { b'_' } else { byte.to_ascii_lowercase() };
    let key = key.trim();
    key.len() == name.len() && key.bytes().map(plain).eq(name.bytes())
}

/// Normalizes known keys; a duplicate key is an error.
pub(super) fn entries(map: yaml::Map, kind: BallotKind) -> Result<AnswerEntries, String> {
    let mut seen = std::collections::HashSet::new();
    let mut out = Vec::with_capacity(map.len());
    for (key, node) in map {
        let name = known_key(&key.text, kind).map_or(key.text, str::to_owned);
        if !seen.insert(name.clone()) {
            return Err(format!("the key {} appears twice: give each key once", quoted(&name)));
        }
        out.push((name, node));
    }
    Ok(out)
}

pub(super) fn canonical_order(content: Map<String, Json>, ballot: &Ballot) -> Map<String, Json> {
    let first = ballot.kind().map_or(&["vote"][..], |kind| kind.info().keys);
    let place = |key: &str| first.iter().chain(&COMMON).position(|known| *known == key).unwrap_or(usize::MAX);
    let mut entries: Vec<_> = content.into_iter().collect();
    entries.sort_by_key(|(key, _)| place(key));
    entries.into_iter().collect()
}

/// Parses an answer from its entries; the error lists all problems.
pub(super) fn answer(form: &BallotForm, entries: &AnswerEntries, source: &str) -> Result<Answer, String> {
    let mut parser = AnswerParser::new(form, entries, source);
    let ballot = parser.ballot();
    for key in COMMON {
        parser.common(key);
    }
    if form.is_revision {
        parser.common(CHANGED_BY);
    }
    parser.others();
    if let Some(ballot) = ballot.clone().filter(|_| parser.problems.is_empty()) {
        let content = canonical_order(parser.content, &ballot);
        return Ok(Answer { ballot, content, flags: parser.flags });
    }
    if ballot == Some(Ballot::Consent(Stance::Block, None)) {
        parser.problems.push(BARE_BLOCK.to_owned());
    }
    Err(parser.problems.join("; "))
}

/// Parser state of one answer: content so far, flags and problems.
pub struct AnswerParser<'a> {
    pub(in crate::ballot) form: &'a BallotForm,
    pub(in crate::ballot) source: &'a str,
    pub(in crate::ballot) flags: Vec<String>,
    pub(super) problems: Vec<String>,
    entries: &'a AnswerEntries,
    content: Map<String, Json>,
}

impl<'a> AnswerParser<'a> {
    pub(in crate::ballot) fn new(form: &'a BallotForm, entries: &'a AnswerEntries, source: &'a str) -> Self {
        Self { form, source, flags: Vec::new(), problems: Vec::new(), entries, content: Map::new() }
    }

    /// Returns a scalar as the reply spells it; empty for lists and maps.
    pub(in crate::ballot) fn source_text(&self, node: &Node) -> String {
        source_text(node, self.source).unwrap_or_default()
    }

    pub(in crate::ballot) fn option(&self, node: &Node, key: &str) -> Result<String, String> {
        let word = source_text(node, self.source);
        let word =
            word.ok_or_else(|| format!("`{key}` contains {} where an option is expected", node.kind()))?;
        self.match_option(&word)
    }

    pub(in crate::ballot) fn match_option(&self, word: &str) -> Result<String, String> {
        option_match::option(&self.form.options, word)
    }

    /// Parses a text as one whole option, or as several between the separators.
    pub(in crate::ballot) fn options_in(&self, text: &str, signs: &[char]) -> Result<Vec<String>, String> {
        match self.match_option(text) {
            Ok(one) => Ok(vec![one]),
            Err(reason) if !text.contains(signs) => Err(reason),
            Err(_) => {
                let parts = text.split(signs).map(str::trim).filter(|part| !part.is_empty());
                parts.map(|part| self.match_option(part)).collect()
            }
        }
    }

    /// Parses a number on the form's scale; quotes are allowed.
    pub(in crate::ballot) fn number(&self, node: &Node, what: &str) -> Result<Number, String> {
        let number = match &node.value {
            Value::Number(number) => Some(number.clone()),
            Value::Text(text) => plain_number(strip_markup(text)),
            Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => None,
        };
        let word = source_text(node, self.source);
        let what = format!("{what} is {}", word.map_or_else(|| node.kind().to_owned(), |word| quoted(&word)));
        let number = number.ok_or_else(|| format!("{what}, one number is expected, alone"))?;
        let amount = Decimal::from_json(&number)
            .ok_or_else(|| format!("{what}: at most six decimal places and a thousand million"))?;
        let ends = [&self.form.min, &self.form.max].map(|end| end.as_ref().and_then(Decimal::from_json));
        let [min, max] = ends;
        if min.is_some_and(|min| amount < min) || max.is_some_and(|max| amount > max) {
            let [min, max] = ends.map(|end| end.map_or_else(|| "any".to_owned(), |end| end.to_string()));
            return Err(format!("{what}, the scale is {min} to {max}"));
        }
        Ok(number)
    }

    /// Returns the minimum change of a block; without a block it is kept, flagged and not counted.
    pub(in crate::ballot) fn minimum_change(&mut self, is_block: bool) -> Option<String> {
        let text = self.text("minimum_change", self.get("minimum_change")?);
        let text = self.record_problem(text).filter(|text| !means_nothing(text))?;
        self.keep("minimum_change", text.as_str());
        if is_block {
            return Some(text);
        }
        self.flags.push("`minimum_change` without a block: kept, not counted".to_owned());
        None
    }

    fn get(&self, key: &str) -> Option<&'a Node> {
        self.entries.iter().find(|(name, _)| name == key).map(|(_, node)| node)
    }

    fn keep(&mut self, key: &str, value: impl Into<Json>) {
        self.content.insert(key.to_owned(), value.into());
    }

    /// Parses the ballot; records a problem and returns `None` on failure.
    fn ballot(&mut self) -> Option<Ballot> {
        let read = match self.given() {
            Ok(Some(value)) => self.form.kind.spec().parse(self, &value),
            Ok(None) => {
                self.keep("vote", "abstain");
                if self.form.kind.info().keys.contains(&"minimum_change") {
                    self.minimum_change(false);
                }
                return Some(Ballot::Abstain);
            }
            Err(problem) => Err(problem),
        };
        let (ballot, kept) = self.record_problem(read.map(Some))?;
        self.keep(self.form.key(), kept);
        Some(ballot)
    }

    /// Records the problem of a failed result.
    fn record_problem<T>(&mut self, read: Result<Option<T>, String>) -> Option<T> {
        read.unwrap_or_else(|problem| {
            self.problems.push(problem);
            None
        })
    }

    /// Returns the value under the ballot key; `None` for an abstention.
    fn given(&self) -> Result<Option<Node>, String> {
        let own = self.form.key();
        let given = if self.form.kind.info().is_word {
            self.own_word()?.map(|word| Node::new(Value::Text(word)))
        } else {
            self.get(own).filter(|node| is_given(node)).cloned()
        };
        let word = match given.as_ref().map(|node| &node.value) {
            Some(Value::Text(text)) => Some(text.as_str()),
            _ => None,
        };
        let is_ballot = given.is_some() && !word.is_some_and(|word| self.is_abstention(word));
        match (self.abstains(word)?, is_ballot) {
            (true, false) => Ok(None),
            (true, true) => {
                Err(format!("the reply abstains and gives `{own}`: these are two ballots, give one"))
            }
            (false, false) => Err(format!("`{own}` is empty")),
            (false, true) => Ok(given),
        }
    }

    /// Returns the word under the ballot key as the reply spells it; `None` if it is left out.
    fn own_word(&self) -> Result<Option<String>, String> {
        let own = self.form.key();
        let Some(node) = self.get(own).map(only_item) else { return Ok(None) };
        if let Value::List(items) = &node.value {
            return Err(format!("`{own}` is a list of {}: give exactly one", items.len()));
        }
        let text = source_text(node, self.source);
        let text = text.ok_or_else(|| format!("`{own}` is {}, one word or text is expected", node.kind()))?;
        let is_left_out = match node.value {
            // An option may be named `null`.
            Value::Null => !option_match::is_exact(&self.form.options, &text),
            _ => text.trim().is_empty() || own != "vote" && is_placeholder(&text),
        };
        Ok((!is_left_out).then_some(text))
    }

    fn abstains(&self, said: Option<&str>) -> Result<bool, String> {
        let word = |node: &Node| source_text(node, self.source).unwrap_or_else(|| node.kind().to_owned());
        let stated = self.get("abstain").map(|node| word(node).trim().to_ascii_lowercase());
        let stated = match stated.as_deref() {
            None | Some("" | "no" | "false" | "null" | "~") => false,
            Some("yes" | "true" | "abstain") => true,
            Some(other) => {
                return Err(format!("`abstain` is {}, it is either true or left out", quoted(other)));
            }
        };
        let vote = self.get("vote").filter(|_| self.form.key() != "vote");
        let by_vote = matches!(vote.map(|node| &node.value), Some(Value::Text(text)) if is_abstain(text));
        Ok(stated || by_vote || said.is_some_and(|word| self.is_abstention(word)))
    }

    fn is_abstention(&self, word: &str) -> bool {
        is_abstain(word) || self.form.abstain.iter().any(|card| card == word.trim())
    }

    fn common(&mut self, key: &str) {
        let Some(node) = self.get(key) else { return };
        let is_abstention = self.content.get("vote").is_some_and(|vote| vote == "abstain");
        let read = match key {
            "position" if is_abstention && matches!(&node.value, Value::Text(text) if is_abstain(text)) => {
                return;
            }
            "position" | CHANGED_BY => self.text(key, node).map(|text| text.map(Json::from)),
            "trade_offs" => self.trade_offs(node),
            "confidence" => Ok(self.confidence(node).map(Json::from)),
            _ => self.texts(key, node),
        };
        if let Some(value) = self.record_problem(read) {
            self.keep(key, value);
        }
    }

    /// Keeps unexpected keys after the known ones and flags them.
    fn others(&mut self) {
        let asked = self.form.kind.info().keys;
        for (key, node) in self.entries {
            let is_asked = key == "abstain" || asked.contains(&&**key) || COMMON.contains(&&**key);
            let is_asked = is_asked || self.form.is_revision && key == CHANGED_BY;
            let is_abstention = key == "vote" && self.content.contains_key("vote");
            if !is_asked && !is_abstention {
                self.flags.push(not_asked(key));
                self.content.insert(key.clone(), node.to_json());
            }
        }
    }

    /// Reads a text; `None` if it is empty or a placeholder.
    fn text(&mut self, key: &str, node: &Node) -> Result<Option<String>, String> {
        let node = only_item(node);
        if matches!(&node.value, Value::Null) || node.value == Value::List(Vec::new()) {
            return Ok(None);
        }
        let text = source_text(node, self.source);
        let text = text.ok_or_else(|| format!("`{key}` is {}, text is expected", node.kind()))?;
        let given = !self.is_left(key, &text) && !text.trim().is_empty();
        Ok(given.then(|| text.trim().to_owned()))
    }

    /// Checks if a field is still its placeholder, and flags it.
    fn is_left(&mut self, key: &str, text: &str) -> bool {
        let left = is_placeholder(text);
        if left {
            self.flags.push(format!("`{key}` still contains its placeholder: not given"));
        }
        left
    }

    fn texts(&mut self, key: &str, node: &Node) -> Result<Option<Json>, String> {
        let items = match &node.value {
            Value::List(items) => items,
            Value::Map(_) => return Err(format!("`{key}` is a map, a list of texts is expected")),
            _ => return Ok(self.text(key, node)?.map(|text| Json::Array(vec![text.into()]))),
        };
        let mut out = Vec::with_capacity(items.len());
        let other = |what: &str| format!("`{key}` contains {what}, each item is one text");
        for item in items {
            let text = match &item.value {
                Value::Map(entries) => Some(self.colon_in_item(entries).ok_or_else(|| other("a map"))?),
                Value::List(_) => return Err(other("a list inside the list")),
                _ => self.text(key, item)?,
            };
            out.extend(text.map(Json::from));
        }
        Ok((!out.is_empty() || items.is_empty()).then_some(Json::Array(out)))
    }

    /// Restores a list item that YAML read as a map because of its colon.
    fn colon_in_item(&self, entries: &yaml::Map) -> Option<String> {
        let [(key, node)] = entries.as_slice() else { return None };
        let rest = source_text(node, self.source)?;
        Some(format!("{}: {}", key.text, rest.trim()).trim_end().to_owned())
    }

    fn trade_offs(&mut self, node: &Node) -> Result<Option<Json>, String> {
        let map = match &node.value {
            Value::Null => return Ok(None),
            Value::Text(text) if self.is_left("trade_offs", text) => return Ok(None),
            Value::Map(map) => map,
            _ => {
                let keys = TRADE_OFFS.join(", ");
                return Err(format!("`trade_offs` is {}, a map of {keys} is expected", node.kind()));
            }
        };
        let mut out = Map::new();
        for wanted in TRADE_OFFS {
            let read = if wanted == "risks" {
                let risks = entry(map, "trade_offs", wanted).transpose();
                risks.map_or(Ok(None), |node| self.texts("trade_offs.risks", node?))
            } else {
                self.entry_text("trade_offs", map, wanted).map(|text| text.map(Json::from))
            };
            out.extend(self.record_problem(read).map(|value| (wanted.to_owned(), value)));
        }
        self.keep_others("trade_offs", map, &TRADE_OFFS, &mut out);
        Ok(Some(Json::Object(out)))
    }

    /// Reads the confidence, from 0 to 1. It never changes a result, so an invalid one is only flagged.
    fn confidence(&mut self, node: &Node) -> Option<Number> {
        let number = match &node.value {
            Value::Null => return None,
            Value::Text(text) if self.is_left("confidence", text) => return None,
            Value::Number(number) => Some(number.clone()),
            Value::Text(text) if text.chars().all(|c| c.is_ascii_digit() || c == '.') => {
                text.parse().ok().and_then(Number::from_f64)
            }
            _ => None,
        };
        let in_range = |number: &Number| number.as_f64().is_some_and(|value| (0.0..=1.0).contains(&value));
        match number.filter(in_range) {
            Some(number) if number.to_string() == "-0.0" => Some(Number::from(0)),
            Some(number) => Some(number),
            None => {
                let shown = node.to_json();
                let shown = shown.as_str().map_or_else(|| shown.to_string(), str::to_owned);
                self.flags
                    .push(format!("confidence {} is not a number from 0 to 1: left out", quoted(&shown)));
                None
            }
        }
    }

    /// Reads the text under a key of the map `own`; `None` if missing.
    pub(in crate::ballot) fn entry_text(
        &mut self,
        own: &str,
        entries: &yaml::Map,
        key: &str,
    ) -> Result<Option<String>, String> {
        let node = entry(entries, own, key)?;
        node.map_or(Ok(None), |node| self.text(&format!("{own}.{key}"), node))
    }

    /// Keeps unexpected keys of the map `own` after its known ones and flags them.
    pub(in crate::ballot) fn keep_others(
        &mut self,
        own: &str,
        entries: &yaml::Map,
        known: &[&str],
        kept: &mut Map<String, Json>,
    ) {
        for (key, node) in entries {
            if !known.iter().any(|known| is_named(&key.text, known)) {
                self.flags.push(not_asked(&format!("{own}.{}", key.text)));
                kept.insert(key.text.clone(), node.to_json());
            }
        }
    }
}

/// Returns the item of a list of one, else the value itself.
pub(in crate::ballot) fn only_item(node: &Node) -> &Node {
    match &node.value {
        Value::List(items) if items.len() == 1 => &items[0],
        _ => node,
    }
}

/// Returns the maps of a list, such as ideas; a single map counts as a list of one.
pub(in crate::ballot) fn list_entries<'n>(
    one: &str,
    needed: &str,
    value: &'n Node,
) -> Result<Vec<&'n yaml::Map>, String> {
    let items = match &value.value {
        Value::List(items) => items.as_slice(),
        Value::Map(_) => std::slice::from_ref(value),
        _ => return Err(format!("`{one}s` is {}, a list of {one}s is expected", value.kind())),
    };
    let entries = |item: &'n Node| match &item.value {
        Value::Map(entries) => Ok(entries),
        _ => Err(format!("`{one}s` contains {}, each {one} {needed}", item.kind())),
    };
    items.iter().map(entries).collect()
}

/// Returns the value under a key of the map `own`; `None` if missing. A duplicate key is an error.
pub(in crate::ballot) fn entry<'n>(
    entries: &'n yaml::Map,
    own: &str,
    key: &str,
) -> Result<Option<&'n Node>, String> {
    let mut found = entries.iter().filter(|(known, _)| is_named(&known.text, key)).map(|(_, node)| node);
    match (found.next(), found.next()) {
        (first, None) => Ok(first),
        _ => Err(format!("the key `{own}.{key}` appears twice: give each key once")),
    }
}

fn not_asked(key: &str) -> String {
    format!("{} is not asked for: kept, not obeyed", quoted(key))
}
