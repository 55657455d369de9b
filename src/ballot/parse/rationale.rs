//! What an answer says beside its ballot: texts, lists of texts, trade-offs, confidence.
//!
//! Shapes are forgiven where nothing has to be guessed; nothing is converted and nothing made up.

use serde_json::{Map, Number, Value as Json};

use super::answer::{AnswerParser, is_named, not_asked};
use super::scalar::{is_placeholder, quoted};
use crate::yaml::{self, Node, Value};

const TRADE_OFFS: [&str; 3] = ["optimizing_for", "accepting_as_cost", "risks"];

impl AnswerParser<'_> {
    /// A text, if one is given; a problem is noted.
    pub(super) fn text(&mut self, key: &str, node: &Node) -> Option<String> {
        let text = match &node.value {
            Value::Null => return None,
            Value::Text(text) => text.trim().to_owned(),
            Value::Number(number) => number.to_string(),
            Value::Bool(truth) => truth.to_string(),
            Value::List(items) if items.is_empty() => return None,
            Value::List(items) if items.len() == 1 && !matches!(items[0].value, Value::List(_)) => {
                return self.text(key, &items[0]);
            }
            Value::List(_) | Value::Map(_) => {
                self.problems.push(format!("`{key}` is {}, text is expected", node.kind()));
                return None;
            }
        };
        let given = !self.is_left(key, &text) && !text.is_empty();
        given.then_some(text)
    }

    /// Whether a field still holds its placeholder, which is flagged.
    fn is_left(&mut self, key: &str, text: &str) -> bool {
        let left = is_placeholder(text);
        if left {
            self.flags.push(format!("`{key}` still holds its placeholder: not given"));
        }
        left
    }

    pub(super) fn texts(&mut self, key: &str, node: &Node) -> Option<Json> {
        let items = match &node.value {
            Value::List(items) => items,
            Value::Map(_) => {
                self.problems.push(format!("`{key}` is a map, a list of texts is expected"));
                return None;
            }
            _ => return self.text(key, node).map(|text| Json::Array(vec![text.into()])),
        };
        let mut out = Vec::with_capacity(items.len());
        for item in items {
            let text = match &item.value {
                Value::Map(entries) => colon_in_item(entries).map_or(Err("a map"), |text| Ok(Some(text))),
                Value::List(_) => Err("a list inside the list"),
                _ => Ok(self.text(key, item)),
            };
            match text {
                Ok(text) => out.extend(text.map(Json::from)),
                Err(what) => {
                    self.problems.push(format!("`{key}` holds {what}, each item is one text"));
                    return None;
                }
            }
        }
        (!out.is_empty() || items.is_empty()).then_some(Json::Array(out))
    }

    pub(super) fn trade_offs(&mut self, node: &Node) -> Option<Json> {
        let map = match &node.value {
            Value::Null => return None,
            Value::Text(text) if self.is_left("trade_offs", text) => return None,
            Value::Map(map) => map,
            _ => {
                self.problems.push(format!(
                    "`trade_offs` is {}, a map of {} is expected",
                    node.kind(),
                    TRADE_OFFS.join(", ")
                ));
                return None;
            }
        };
        let mut out = Map::new();
        for wanted in TRADE_OFFS {
            let value = self.trade_off(wanted, map);
            out.extend(value.map(|value| (wanted.to_owned(), value)));
        }
        for (key, node) in
            map.iter().filter(|(key, _)| !TRADE_OFFS.iter().any(|name| is_named(&key.text, name)))
        {
            self.flags.push(not_asked(&format!("trade_offs.{}", key.text)));
            out.insert(key.text.clone(), node.to_json());
        }
        Some(Json::Object(out))
    }

    fn trade_off(&mut self, wanted: &str, map: &yaml::Map) -> Option<Json> {
        let mut found = map.iter().filter(|(key, _)| is_named(&key.text, wanted));
        let (first, second) = (found.next(), found.next());
        if second.is_some() {
            self.problems.push(format!("the key `trade_offs.{wanted}` stands twice: give each key once"));
        }
        let (_, node) = first?;
        let name = format!("trade_offs.{wanted}");
        if wanted == "risks" { self.texts(&name, node) } else { self.text(&name, node).map(Json::from) }
    }

    /// The confidence, if given: a finite number from 0 to 1. It never changes a result, so that an unfit one
    /// costs no ballot.
    pub(super) fn confidence(&mut self, node: &Node) -> Option<Number> {
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
}

/// The text of an item that YAML took for a map because of its colon.
fn colon_in_item(entries: &yaml::Map) -> Option<String> {
    let [(key, node)] = entries.as_slice() else { return None };
    match &node.value {
        Value::Text(text) => Some(format!("{}: {}", key.text, text.trim())),
        Value::Number(number) => Some(format!("{}: {number}", key.text)),
        Value::Bool(truth) => Some(format!("{}: {truth}", key.text)),
        Value::Null => Some(format!("{}:", key.text)),
        Value::List(_) | Value::Map(_) => None,
    }
}
