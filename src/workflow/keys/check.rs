//! Check of a file's keys and value types against the key table.

use super::spec::{KeySpec, KeyType, MapSpec, StepType};
use crate::diagnostic::{did_you_mean, nearest};
use crate::tally::{Decimal, Fraction};
use crate::words::meant;
use crate::workflow::definition::Definition;
use crate::workflow::load::entries::{Findings, as_text, parse_duration};
use crate::workflow::steps::round::Quorum;
use crate::workflow::steps::step::{EVERY, shared_keys, step_keys, type_of};
use crate::yaml::{Node, Value, read};

pub fn check_definition(node: &Node, found: &Findings<'_>) {
    if matches!(node.value, Value::Map(_)) {
        check_map(node, &Definition::MAP, found);
    } else {
        not_a_map(node, Definition::MAP.what, "write at least `question: …`, or `steps:`", found);
    }
}

fn check_step(node: &Node, found: &Findings<'_>) {
    let step_type = type_of(node);
    let what = step_type.map_or("a step".to_owned(), StepType::what);
    let places = &[step_type.map_or("step", |of| of.name), "step"];
    let mut known = step_keys(step_type);
    known.rotate_left(EVERY.len());
    let keys = Keys { what: &what, places, known: &known, is_open: false };
    keys.check(node, found);
    if !matches!(node.value, Value::Map(_)) {
        return;
    }
    if node.given("type").is_none() && step_type.is_none() && !keys.is_meant(node, "type") {
        found.refuse(node, "a step has no `type`", "add `type: round`");
    }
    let own = step_type.into_iter().flat_map(|of| of.keys);
    keys.check_required(node, EVERY.iter().chain(own), found);
}

pub fn check_map(node: &Node, spec: &'static MapSpec, found: &Findings<'_>) {
    let known: Vec<_> = spec.keys.iter().collect();
    let keys = Keys { what: spec.what, places: &[spec.name], known: &known, is_open: spec.others.is_some() };
    keys.check(node, found);
    keys.check_required(node, spec.keys, found);
}

/// Known keys of a map. `what` names the map in errors; `places` select the synonyms.
pub struct Keys<'a> {
    pub what: &'a str,
    pub places: &'a [&'a str],
    pub known: &'a [&'static KeySpec],
    /// If set, other keys are allowed, unless one is a near miss of a known key.
    pub is_open: bool,
}

impl Keys<'_> {
    /// Reports unknown keys and values of a wrong type.
    pub fn check(&self, node: &Node, found: &Findings<'_>) {
        let what = self.what;
        let Value::Map(map) = &node.value else {
            return not_a_map(node, what, "write `key: value` lines, or `{key: value}`", found);
        };
        for (name, value) in map {
            if let Some(key) = self.known.iter().find(|key| key.name == name.text) {
                if value.value != Value::Null {
                    Place { key, what, found }.check(value, &key.kind);
                }
            } else if !self.is_open || nearest(&name.text, self.known.iter().map(|key| key.name)).is_some() {
                let message = format!("unknown key `{}` in {what}", name.text);
                found.refuse_at((name.line, name.column), message, self.hint(&name.text));
            }
        }
    }

    /// Reports required keys that are absent or blank, unless a synonym for the key is present.
    fn check_required(
        &self,
        node: &Node,
        wanted: impl IntoIterator<Item = &'static KeySpec>,
        found: &Findings<'_>,
    ) {
        let Value::Map(_) = &node.value else { return };
        for key in wanted.into_iter().filter(|key| key.is_required() && !self.is_meant(node, key.name)) {
            let is_blank = match node.given(key.name).map(|node| &node.value) {
                None => true,
                Some(Value::Text(text)) => text.trim().is_empty(),
                Some(_) => false,
            };
            if is_blank {
                let hint = format!("add `{}: {}`", key.name, key.example);
                found.refuse(node, format!("{} has no `{}`", self.what, key.name), hint);
            }
        }
    }

    /// Returns whether an unknown key of the map was meant as `name`.
    fn is_meant(&self, node: &Node, name: &str) -> bool {
        let Value::Map(map) = &node.value else { return false };
        let unknown = |key: &str| self.known.iter().all(|known| known.name != key);
        let mut words = map.iter().map(|(key, _)| key.text.as_str()).filter(|key| unknown(key));
        words.any(|key| match meant_by(self.places, key) {
            Some((word, _)) => word == name,
            None => nearest(key, [name]).is_some(),
        })
    }

    fn hint(&self, name: &str) -> String {
        match meant_by(self.places, name) {
            Some((word, "")) => return format!("`{word}` is given already"),
            Some((_, hint)) => return hint.to_owned(),
            None if self.places == ["participant"] && name.contains('/') => {
                return format!("write `{{model: {name}, weight: 2}}`");
            }
            None => {}
        }
        if let Some((_, types)) = shared_keys().find(|(key, _)| key.name == name) {
            return format!("remove it: it is for steps of type {}", types.replace(' ', ", "));
        }
        let known: Vec<&str> = self.known.iter().map(|key| key.name).collect();
        let hint = did_you_mean(name, &known);
        if hint.ends_with('…') { format!("{hint}; `roundtable schema` lists all") } else { hint }
    }
}

fn meant_by(places: &[&str], name: &str) -> Option<(&'static str, &'static str)> {
    places.iter().find_map(|place| meant(place, name))
}

fn not_a_map(node: &Node, what: &str, hint: &str, found: &Findings<'_>) {
    let message = match node.value {
        Value::Null => format!("{what} is empty"),
        _ => format!("{what} must be a map of keys, found {}", node.kind()),
    };
    found.refuse(node, message, hint);
}

struct Place<'a> {
    key: &'a KeySpec,
    what: &'a str,
    found: &'a Findings<'a>,
}

impl Place<'_> {
    fn check(&self, node: &Node, kind: &KeyType) {
        match (kind, &node.value) {
            (KeyType::Either(kinds), _) => {
                let is_word = |kind: &&KeyType| as_text(node).is_some() && allowed_words(kind).is_some();
                let chosen =
                    kinds.iter().find(|kind| suits(node, kind)).or_else(|| kinds.iter().find(is_word));
                match chosen {
                    Some(chosen) => self.check(node, chosen),
                    None => self.wrong(node, kind),
                }
            }
            (KeyType::Map(spec), Value::Map(_)) => check_map(node, spec, self.found),
            (KeyType::List(item), Value::List(items)) => {
                for node in items {
                    self.check_item(node, item);
                }
            }
            (KeyType::Named(item), Value::Map(map)) => {
                for (_, node) in map {
                    self.check(node, item);
                }
            }
            (KeyType::Texts, Value::List(items)) => {
                for node in items {
                    self.check(node, &KeyType::Text);
                }
            }
            (KeyType::Steps, Value::List(items)) => {
                for node in items {
                    check_step(node, self.found);
                }
            }
            (KeyType::Words(_), _) if !suits(node, kind) => match as_text(node) {
                None => self.wrong(node, kind),
                Some(text) => {
                    let known = allowed_words(kind).unwrap_or_default();
                    let message = format!("unknown {} `{text}` in {}", self.key.name, self.what);
                    let place = match self.key.name {
                        "ballot" => "kind",
                        "rule" => "name",
                        other => other,
                    };
                    let meant = meant(place, &text).map(|(_, hint)| hint.to_owned());
                    let hint = meant.unwrap_or_else(|| did_you_mean(&text, &known));
                    self.found.refuse(node, message, hint);
                }
            },
            _ if suits(node, kind) => {}
            _ => self.wrong(node, kind),
        }
    }

    fn check_item(&self, node: &Node, kind: &KeyType) {
        if let KeyType::Map(spec) = kind { check_map(node, spec, self.found) } else { self.check(node, kind) }
    }

    fn wrong(&self, node: &Node, kind: &KeyType) {
        let name = self.key.name;
        let is_quoted = |text: &str| text.chars().count() <= 40;
        let value = match &node.value {
            Value::Number(number) => format!("`{number}`"),
            Value::Bool(flag) => format!("`{flag}`"),
            Value::Text(text) if is_quoted(text) => format!("`{text}`"),
            _ => node.kind().to_owned(),
        };
        let message = format!("`{name}` of {} must be {}, found {value}", self.what, wanted(kind));
        let may_be_text = match kind {
            KeyType::Either(kinds) => kinds.iter().any(|kind| matches!(kind, KeyType::Text)),
            other => matches!(other, KeyType::Text),
        };
        let hint = match (kind, &node.value) {
            (_, Value::Number(_) | Value::Bool(_)) if may_be_text => "put it in quotes".to_owned(),
            (KeyType::List(_) | KeyType::Steps, _) => {
                format!("write one item a line, each after `- `, or `{name}: {}`", self.key.example)
            }
            (_, Value::Text(_)) if name == "context" => {
                "write it as `exploration: …`, the background, or as `project_summary: …`".to_owned()
            }
            (_, Value::Text(text)) if read(text, "").is_ok_and(|plain| suits(&plain, kind)) => {
                format!("write it without quotes: `{name}: {text}`")
            }
            _ => format!("write `{name}: {}`", self.key.example),
        };
        self.found.refuse(node, message, hint);
    }
}

fn allowed_words(kind: &KeyType) -> Option<Vec<&'static str>> {
    if let KeyType::Words(words) = kind { Some(words()) } else { None }
}

/// Returns whether the value has a type. Contents of maps and lists are not checked.
fn suits(node: &Node, kind: &KeyType) -> bool {
    let text = || as_text(node);
    match (kind, &node.value) {
        (KeyType::Any, _)
        | (KeyType::Flag, Value::Bool(_))
        | (KeyType::Map(_) | KeyType::Named(_), Value::Map(_))
        | (KeyType::List(_) | KeyType::Steps | KeyType::Texts, Value::List(_)) => true,
        (KeyType::Text | KeyType::Texts, _) => text().is_some(),
        (KeyType::Words(words), _) => text().is_some_and(|text| words().contains(&text.as_str())),
        (KeyType::Duration, _) => text().is_some_and(|text| parse_duration(&text).is_some()),
        (KeyType::Whole(least, most), Value::Number(number)) => {
            number.as_u64().is_some_and(|number| (*least..=*most).contains(&number))
        }
        (KeyType::Number(least, most), Value::Number(number)) => {
            number.as_f64().is_some_and(|number| (*least..=*most).contains(&number))
        }
        (KeyType::Positive, Value::Number(number)) => number.as_f64().is_some_and(|number| number > 0.0),
        (KeyType::Decimal, Value::Number(number)) => Decimal::from_json(number).is_some(),
        (KeyType::Share, Value::Number(number)) => Fraction::parse(&number.to_string()).is_some(),
        (KeyType::Share, Value::Text(text)) => Fraction::parse(text).is_some(),
        (KeyType::Quorum, _) => Quorum::parse(node).is_some(),
        (KeyType::Either(kinds), _) => kinds.iter().any(|kind| suits(node, kind)),
        _ => false,
    }
}

/// Describes a type, to follow "must be".
pub fn wanted(kind: &KeyType) -> String {
    match kind {
        KeyType::Any => "any value".to_owned(),
        KeyType::Text => "text".to_owned(),
        KeyType::Texts => "text or a list of texts".to_owned(),
        KeyType::Flag => "true or false".to_owned(),
        KeyType::Whole(least, u64::MAX) => format!("a whole number of at least {least}"),
        KeyType::Whole(least, most) => format!("a whole number from {least} to {most}"),
        KeyType::Number(f64::MIN, f64::MAX) => "a number".to_owned(),
        KeyType::Number(least, most) => format!("a number from {least} to {most}"),
        KeyType::Positive => "a number greater than 0".to_owned(),
        KeyType::Decimal => "a number of at most six decimal places".to_owned(),
        KeyType::Share => "a share above 0 and up to 1, such as 2/3 or 0.6667".to_owned(),
        KeyType::Quorum => "a number of at least 1, or a share of the seats such as `60%`".to_owned(),
        KeyType::Duration => "a time such as `90s`, `2m` or `500ms`".to_owned(),
        KeyType::Words(words) => {
            let words = words();
            if words.len() > 10 {
                return format!("a word such as `{}`", words[0]);
            }
            let words: Vec<String> = words.into_iter().map(|word| format!("`{word}`")).collect();
            words.join(", ")
        }
        KeyType::Map(_) => "a map of keys".to_owned(),
        KeyType::Named(_) => "a map of names".to_owned(),
        KeyType::List(_) | KeyType::Steps => "a list".to_owned(),
        KeyType::Either(kinds) => kinds.iter().map(wanted).collect::<Vec<_>>().join(" or "),
    }
}
