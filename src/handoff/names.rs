//! Texts of answers, and exact names in them.
//!
//! Finds options that an answer mentions, and names of seats, models and makers that must be masked. A name
//! counts as a whole word, in any case; other spellings do not count.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::history::{Leak, LeakKind};

#[cfg(test)]
mod tests;

/// Makers and models to find in every session. Names that are also common words are omitted.
const MAKERS: &str =
    "AI21, Anthropic, DeepMind, Meta AI, Mistral AI, Moonshot AI, OpenAI, OpenRouter, xAI, Zhipu";
const MODELS: &str = "ChatGLM, ChatGPT, Claude, Codestral, DeepSeek, GitHub Copilot, GPT-4, GPT-4o, GPT-5, Ministral, Mixtral, Qwen";

pub fn well_known() -> impl Iterator<Item = (LeakKind, &'static str)> {
    let named = |kind, names: &'static str| names.split(", ").map(move |name| (kind, name));
    named(LeakKind::Maker, MAKERS).chain(named(LeakKind::Model, MODELS))
}

/// Returns the words of a text in lower case, without punctuation.
pub fn words(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// Returns a text, or a list of texts, without blank ones. Converts back maps that YAML reads from "- cost: too
/// high".
pub fn plain_texts(value: Option<&Value>) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    let item = |item: &Value| match item {
        Value::Object(keys) => {
            let pairs = keys.iter().filter_map(|(key, value)| Some(format!("{key}: {}", text(value)?)));
            Some(pairs.collect::<Vec<_>>().join("; "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => text(item),
    };
    let items: Vec<String> = match value {
        Some(Value::Array(items)) => items.iter().filter_map(item).collect(),
        Some(value) => item(value).into_iter().collect(),
        None => Vec::new(),
    };
    items.into_iter().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect()
}

/// Collects all texts inside a value.
pub fn gather_texts<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| gather_texts(item, texts)),
        Value::Object(entries) => entries.values().for_each(|value| gather_texts(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

pub fn options_named<'a>(text: &str, options: &'a [String]) -> impl Iterator<Item = &'a String> {
    let text = format!(" {} ", words(text));
    options.iter().filter(move |option| {
        let option = words(option);
        !option.is_empty() && text.contains(&format!(" {option} "))
    })
}

/// Returns the names of a model: `provider/model`, and the model alone if it is not a common word.
pub fn names_of_model(model: &str) -> Vec<&str> {
    let Some((_, part)) = model.split_once('/') else { return Vec::new() };
    let is_own = part.len() > 3 && part.contains(|c: char| c.is_ascii_digit());
    [Some(model), is_own.then_some(part)].into_iter().flatten().collect()
}

/// Scanner for names; each name is the template of its leak.
#[derive(Debug, Clone, Default)]
pub struct LeakScanner {
    /// Names in lower case by first word, the longest first.
    names: BTreeMap<String, Vec<Leak>>,
}

impl LeakScanner {
    pub fn new(names: impl IntoIterator<Item = Leak>) -> Self {
        let mut scanner = Self::default();
        for name in names {
            let text = name.text.trim_start_matches(|c| !is_word(c)).to_ascii_lowercase();
            // A single letter occurs in every text.
            if text.chars().nth(1).is_some() {
                let same = scanner.names.entry(first_word(&text).to_owned()).or_default();
                same.push(Leak { text, ..name });
            }
        }
        for same in scanner.names.values_mut() {
            same.sort_by_key(|name| std::cmp::Reverse(name.text.len()));
        }
        scanner
    }

    /// Removes the names that the facilitator's own material contains: they are the topic and so no leak.
    pub fn leave_out(&mut self, material: &str) {
        let material = material.to_ascii_lowercase();
        let known: BTreeSet<String> = word_starts(&material)
            .flat_map(|at| self.names_at(&material, at))
            .map(|name| name.text.clone())
            .collect();
        self.names.values_mut().for_each(|same| same.retain(|name| !known.contains(&name.text)));
    }

    /// Returns the names at a byte of a lower-case text.
    fn names_at<'a>(&'a self, text: &str, at: usize) -> impl Iterator<Item = &'a Leak> {
        let rest = &text[at..];
        let fits = move |name: &&Leak| {
            rest.strip_prefix(name.text.as_str()).is_some_and(|after| !after.starts_with(is_word))
        };
        self.names.get(first_word(rest)).into_iter().flatten().filter(fits)
    }

    /// Returns the names in a text with their start bytes, in order and without overlaps.
    fn hits(&self, text: &str) -> Vec<(usize, &Leak)> {
        let text = text.to_ascii_lowercase();
        let mut found: Vec<(usize, &Leak)> = Vec::new();
        let mut end = 0;
        for at in word_starts(&text) {
            let name = self.names_at(&text, at).next().filter(|_| at >= end);
            let Some(name) = name else { continue };
            end = at + name.text.len();
            found.push((at, name));
        }
        found
    }

    /// Returns the leaks in an answer to a work item, in order, each name once.
    pub fn leaks_in(&self, answer: &Result<Value, String>, participant: &str, item: &str) -> Vec<Leak> {
        let (mut known, mut found) = (BTreeSet::new(), Vec::new());
        let mut look = |text: &str| {
            let new = self.hits(text).into_iter().filter(|(_, name)| known.insert(&name.text));
            found.extend(new.map(|(start, name)| Leak {
                participant: participant.to_owned(),
                item: item.to_owned(),
                text: text[start..start + name.text.len()].to_owned(),
                ..name.clone()
            }));
            text.to_owned()
        };
        match answer {
            Ok(value) => drop(rewrite(value, &mut look)),
            Err(why) => drop(look(why)),
        }
        found
    }

    /// Returns a copy with names replaced by their masks.
    pub fn masked(&self, value: &Value) -> Value {
        rewrite(value, &mut |text| self.masked_text(text))
    }

    pub fn masked_text(&self, text: &str) -> String {
        let (mut out, mut done) = (String::with_capacity(text.len()), 0);
        for (start, name) in self.hits(text) {
            if let Some(mask) = &name.mask {
                out.push_str(&text[done..start]);
                out.push_str(mask);
                done = start + name.text.len();
            }
        }
        out + &text[done..]
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '-' || c == '_'
}

fn first_word(text: &str) -> &str {
    text.split(|c| !is_word(c)).next().unwrap_or_default()
}

fn word_starts(text: &str) -> impl Iterator<Item = usize> {
    let mut is_inside = false;
    text.char_indices().filter_map(move |(at, c)| {
        let begins = is_word(c) && !is_inside;
        is_inside = is_word(c);
        begins.then_some(at)
    })
}

/// Returns a copy of a value with every text and key changed by `change`.
fn rewrite(value: &Value, change: &mut dyn FnMut(&str) -> String) -> Value {
    match value {
        Value::String(text) => change(text).into(),
        Value::Array(items) => items.iter().map(|item| rewrite(item, change)).collect(),
        Value::Object(map) => {
            let mut copies = Map::with_capacity(map.len());
            for (key, item) in map {
                let mut name = change(key);
                // Two keys with the same mask are both kept.
                while name != *key && (copies.contains_key(&name) || map.contains_key(&name)) {
                    name.push('\'');
                }
                copies.insert(name, rewrite(item, change));
            }
            copies.into()
        }
        other => other.clone(),
    }
}
