//! YAML reader: a tree of values with line and column.
//!
//! Scalars follow YAML 1.2 (`no` is text; so are `017`, `0x1F` and `+1`). Duplicate keys, merge keys, alias
//! bombs and nesting beyond 44 levels are errors with a place. The meaning of keys is checked elsewhere.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use serde_yaml::{Error, Spanned};

use crate::diagnostic::Diagnostic;

/// Value and its place; line and column count from 1.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Node {
    pub line: u64,
    pub column: u64,
    /// Byte offset of the first character, if known.
    pub(crate) offset: Option<usize>,
    pub value: Value,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapKey {
    pub line: u64,
    pub column: u64,
    pub text: String,
}

/// Entries of a map, in file order.
pub type Map = Vec<(MapKey, Node)>;

#[derive(Debug, Clone, Default, PartialEq)]
pub enum Value {
    #[default]
    Null,
    Bool(bool),
    Number(Number),
    /// Any other scalar.
    Text(String),
    List(Vec<Node>),
    Map(Map),
}

/// Reads one YAML document with as many values as its size allows; aliases cannot expand it beyond that.
pub fn read_large(text: &str, file: &str) -> Result<Node, Diagnostic> {
    let room = 2 * text.len() + 1_000;
    let budget = serde_yaml::budget! {
        max_depth: MAX_DEPTH,
        flow_nesting_limit: MAX_DEPTH,
        max_events: room,
        max_nodes: room,
        max_total_scalar_bytes: room,
    };
    read_within(text, file, budget)
}

/// Reads one YAML document; `file` names it in errors.
pub fn read(text: &str, file: &str) -> Result<Node, Diagnostic> {
    let budget = serde_yaml::budget! { max_depth: MAX_DEPTH, flow_nesting_limit: MAX_DEPTH };
    read_within(text, file, budget)
}

fn read_within(text: &str, file: &str, budget: Option<serde_yaml::Budget>) -> Result<Node, Diagnostic> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Ok(Node { line: 1, column: 1, offset: None, value: Value::Null });
    }
    let read = serde_yaml::from_str_with_options::<Node>(text, options(budget));
    let mut node = read.map_err(|error| explain(&error, text, file))?;
    keep_spelling(&mut node, text);
    Ok(node)
}

/// Turns whole numbers with another spelling (`0x1F`, `0o17`, `+1`) back into text. Otherwise an option or
/// id would change its name.
fn keep_spelling(node: &mut Node, text: &str) {
    match &mut node.value {
        Value::Number(number) if number.is_u64() || number.is_i64() => {
            let token = node.spelling(text);
            if token.starts_with("0x") || token.starts_with("0o") || token.starts_with('+') {
                node.value = Value::Text(token.to_owned());
            }
        }
        Value::List(items) => items.iter_mut().for_each(|item| keep_spelling(item, text)),
        Value::Map(map) => map.iter_mut().for_each(|(_, value)| keep_spelling(value, text)),
        _ => {}
    }
}

/// Reads JSON with comments if the text begins like JSON, else YAML.
pub fn read_yaml_or_json(text: &str, file: &str) -> Result<Node, Diagnostic> {
    let start = text.trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t']);
    if start.starts_with(['{', '/']) { read(&super::relaxed_json(text), file) } else { read(text, file) }
}

/// Deepest nesting of lists and maps. Deeper ones could overflow the stack of a 2 MiB thread.
pub(super) const MAX_DEPTH: usize = 44;

pub(super) fn options(budget: Option<serde_yaml::Budget>) -> serde_yaml::Options {
    serde_yaml::options! {
        merge_keys: serde_yaml::MergeKeyPolicy::Error,
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        non_finite_float_policy: serde_yaml::NonFiniteFloatPolicy::AsString,
        ignore_binary_tag_for_string: true,
        with_snippet: false,
        budget: budget,
        alias_limits: serde_yaml::alias_limits! { max_total_replayed_events: 100_000 },
    }
}

pub(super) fn explain(error: &Error, text: &str, file: &str) -> Diagnostic {
    let (line, column) = error.location().map_or((0, 0), |at| (at.line(), at.column()));
    let message = error.without_snippet().to_string();
    let message = message.split('\n').next().unwrap_or_default();
    let place = format!(" at line {line}, column {column}");
    let message = message.strip_suffix(place.as_str()).unwrap_or(message);
    let message = message.trim_start_matches("error: ");
    let message = match (message.starts_with("line "), message.split_once(": ")) {
        (true, Some((_, rest))) => rest,
        _ => message,
    };
    // The library adds the name of a setting to errors about duplicate keys.
    let message = message.split(", set ").next().unwrap_or_default();
    let known = KNOWN.iter().find(|(part, ..)| message.contains(part));
    let bad_line = usize::try_from(line).ok().and_then(|n| text.lines().nth(n.saturating_sub(1)));
    let hint = match (bad_line, known) {
        (Some(bad), _) if bad.contains('\u{a0}') => {
            "the line contains a no-break space: write an ordinary one"
        }
        (_, Some((.., hint))) => hint,
        (Some(bad), _) if bad.trim_start_matches(' ').starts_with('\t') => INDENT,
        _ => "the file must be one YAML document; quote text that contains `: ` or `#`",
    };
    let said = known.and_then(|(_, said, _)| *said).unwrap_or(message);
    Diagnostic::new(format!("not readable as YAML: {said}")).hint(hint).at(file, line, column)
}

const IN_BRACKETS: &str = "close every `[` and `{`, and separate entries with commas";
const INDENT: &str = "indent with spaces, not with tabs";
const TOO_LARGE: &str = "the file is larger or more deeply nested than a hand-written one may be";
const TOO_MANY: &str = "it unfolds into more values, or deeper ones, than are read (a budget)";

/// Error texts of the YAML library: a fragment, a replacement where the original is unclear, and a hint.
const KNOWN: [(&str, Option<&str>, &str); 18] = [
    ("merge key", Some("merge keys (`<<`) are not taken"), "write the keys out where they belong"),
    (
        "multiple YAML documents",
        Some("there is more than one document"),
        "keep one, and remove the line `---`",
    ),
    ("uplicate", None, "give each key once"),
    ("unclosed bracket", None, IN_BRACKETS),
    ("expected ',' or", None, IN_BRACKETS),
    ("illegal placement of ':'", None, IN_BRACKETS),
    ("implicit flow mapping", None, IN_BRACKETS),
    ("multiline quoted scalar", None, "close the quotation mark, or indent the lines that continue the text"),
    ("trailing content after", None, "put the whole text into one pair of quotation marks"),
    (
        "expected '-' indicator",
        None,
        "align each key with the key above it, and each `-` with the `-` above it",
    ),
    ("mapping values", None, "quote text that contains `: `, and align the keys of a map"),
    ("unknown anchor", None, "quote text that begins with `*`"),
    ("tabs disallowed", None, INDENT),
    ("tab cannot be used", None, INDENT),
    ("found a tab", None, "use spaces, not tabs"),
    ("budget breached", Some(TOO_MANY), TOO_LARGE),
    ("alias", None, TOO_LARGE),
    ("limit", None, TOO_LARGE),
];

impl Node {
    /// Creates a node without a place.
    pub fn new(value: Value) -> Self {
        Self { line: 0, column: 0, offset: None, value }
    }

    #[must_use]
    pub fn with(&self, value: Value) -> Self {
        Self { line: self.line, column: self.column, offset: self.offset, value }
    }

    /// Returns the first word of the value as spelled in the source text.
    pub fn spelling<'t>(&self, text: &'t str) -> &'t str {
        let token = self.offset.and_then(|offset| text.get(offset..)).unwrap_or_default();
        token.split(|c: char| c.is_whitespace() || matches!(c, ',' | '}' | ']')).next().unwrap_or_default()
    }

    /// Converts to plain JSON; keys keep their order.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(b) => (*b).into(),
            Value::Number(n) => n.clone().into(),
            Value::Text(t) => t.as_str().into(),
            Value::List(items) => items.iter().map(Node::to_json).collect(),
            Value::Map(map) => map.iter().map(|(k, v)| (k.text.clone(), v.to_json())).collect(),
        }
    }

    /// Returns the kind of value for "expected X, found Y".
    pub fn kind(&self) -> &'static str {
        match &self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "a true/false value",
            Value::Number(_) => "a number",
            Value::Text(_) => "text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }

    pub fn problem(&self, file: &str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(message).at(file, self.line, self.column)
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Value>::deserialize(deserializer)?;
        let at = spanned.referenced;
        let offset = at.span().byte_offset().and_then(|offset| usize::try_from(offset).ok());
        Ok(Self { line: at.line(), column: at.column(), offset, value: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("a number must be finite"))?;
        Ok(Value::Number(number))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Value, E> {
        Ok(Value::Text(value.to_string()))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Value, E> {
        Ok(Value::Text(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element::<Node>()? {
            items.push(item);
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut entries: Map = Vec::new();
        let mut seen = std::collections::HashSet::new();
        while let Some(key) = access.next_key::<Spanned<String>>()? {
            let at = key.referenced;
            if !seen.insert(key.value.clone()) {
                return Err(A::Error::custom(format!("duplicate key `{}`", key.value)));
            }
            let node = access.next_value::<Node>()?;
            entries.push((MapKey { line: at.line(), column: at.column(), text: key.value }, node));
        }
        Ok(Value::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_keep_places_and_yaml_1_2_scalars() {
        let node = read("a: no\nb:\n  - 017\n  - 1.5\n  - ~\n", "f").unwrap();
        assert_eq!(node.to_json(), serde_json::json!({"a": "no", "b": ["017", 1.5, null]}));
        let spelt = read("é: [0x1F, 0o17, +1, -1, 7, 1_0]", "f").unwrap();
        assert_eq!(spelt.to_json(), serde_json::json!({"é": ["0x1F", "0o17", "+1", -1, 7, "1_0"]}));
        let Value::Map(map) = &node.value else { panic!("a map") };
        assert_eq!((map[1].0.line, map[1].0.column), (2, 1));
        let Value::List(items) = &map[1].1.value else { panic!("a list") };
        assert_eq!((items[1].line, items[1].column), (4, 5));
    }

    #[test]
    fn duplicate_keys_tabs_and_bombs_are_errors_with_a_place() {
        let duplicate = read("a: 1\na: 2\n", "f").unwrap_err();
        assert_eq!(duplicate.place.unwrap().line, 2);
        let tab = read("a:\n\tb: 1\n", "f").unwrap_err();
        assert_eq!(tab.hint.unwrap(), "indent with spaces, not with tabs");
        let mut bomb = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x]\n");
        for i in 1..10 {
            let previous = format!("*a{},", i - 1).repeat(9);
            bomb.push_str(&format!("a{i}: &a{i} [{previous}]\n"));
        }
        assert!(read(&bomb, "f").is_err());
        assert!(read(&"[".repeat(100_000), "f").is_err());
    }

    #[test]
    fn json_with_comments_reads_like_json() {
        let node = read_yaml_or_json("{\n  // c\n  \"a\": [1, 2,],\n}", "f").unwrap();
        assert_eq!(node.to_json(), serde_json::json!({"a": [1, 2]}));
    }
}
