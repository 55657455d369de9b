//! Typed access to the values of one map of a definition.
//!
//! `keys::check` has already reported every value of a wrong type; here such a value counts as absent.
//! Other errors are collected, so that a person sees all at once.

use std::cell::RefCell;
use std::collections::HashSet;
use std::str::FromStr;

use indexmap::IndexMap;
use serde_json::{Number, Value as Json};

use crate::diagnostic::Diagnostic;
use crate::workflow::keys::spec::{KeySpec, KeyType};
use crate::workflow::lang::{Condition, GrammarError, Template, Transform};
use crate::yaml::{Node, Value, key_at};

#[derive(Clone, Copy)]
pub struct Entries<'a> {
    pub node: &'a Node,
    pub found: &'a Findings<'a>,
}

impl<'a> Entries<'a> {
    pub fn from_node(node: &'a Node, found: &'a Findings<'a>) -> Option<Self> {
        if let Value::Map(_) = &node.value { Some(Self { node, found }) } else { None }
    }

    pub fn refuse(&self, node: &Node, message: impl Into<String>, hint: impl Into<String>) {
        self.found.refuse(node, message, hint);
    }

    pub fn has(&self, key: &str) -> bool {
        self.node(key).is_some()
    }

    /// Returns the node under `key`; null counts as absent.
    pub fn node(&self, key: &str) -> Option<&'a Node> {
        self.node.given(key)
    }

    pub fn map(&self, key: &str) -> Option<Self> {
        Self::from_node(self.node(key)?, self.found)
    }

    pub fn list(&self, key: &str) -> &'a [Node] {
        match self.node(key).map(|node| &node.value) {
            Some(Value::List(items)) => items,
            _ => &[],
        }
    }

    pub fn maps(&self, key: &str) -> impl Iterator<Item = Self> + use<'a> {
        let found = self.found;
        self.list(key).iter().filter_map(move |node| Self::from_node(node, found))
    }

    /// Reads the maps of a list; reports duplicate ids.
    pub fn unique<T>(self, key: &str, what: &str, read: fn(Self) -> T, id: fn(&T) -> &String) -> Vec<T> {
        let mut seen = HashSet::new();
        let read = |inner: Self| {
            let one = read(inner);
            let id = id(&one);
            if !id.is_empty() && !seen.insert(id.clone()) {
                inner.refuse(inner.node, format!("duplicate {what} id `{id}`"), "give each its own id");
            }
            one
        };
        self.maps(key).map(read).collect()
    }

    pub fn text(&self, key: &str) -> Option<String> {
        as_text(self.node(key)?)
    }

    pub fn place(self) -> (u64, u64) {
        (self.node.line, self.node.column)
    }
}

/// Declares the keys of a map once: a struct, its key table and its reader. A key's type is that of its
/// field, unless `as` sets another. An expression after `=>` reads fields that the type cannot. Keys after
/// `also` have no field; fields after `and` have no key. A map used as a value has a name, and a name for
/// messages. After `or`: the key that receives a plain text written in place of the map.
macro_rules! keys {
    ($(#[$meta:meta])* pub struct $name:ident
        $(as $map:literal ($what:literal) $(or $alone:literal ($alone_kind:expr))?)?
    {
        $($(#[$of:meta])* $field:ident: $type:ty $(as ($kind:expr))? = $key:expr $(=> $read:expr)?,)+
    } $(also {
        $($more:expr,)+
    })? $(and {
        $($(#[$of_rest:meta])* $rest:ident: $rest_type:ty $(=> $read_rest:expr)?,)+
    })?) => {
        $(#[$meta])*
        pub struct $name {
            $($(#[$of])* pub $field: $type,)+
            $($($(#[$of_rest])* pub $rest: $rest_type,)+)?
        }

        impl $name {
            pub const KEYS: &[$crate::workflow::keys::spec::KeySpec] = &[
                $($crate::workflow::load::entries::keys!(@ $key; [$type] [$($kind)?] [$($read)?]),)+
                $($($more,)+)?
            ];

            pub fn read(entries: $crate::workflow::load::entries::Entries<'_>) -> Self {
                Self {
                    $($field: $crate::workflow::load::entries::keys!(
                        @ entries, $($read)?;
                        $crate::workflow::load::entries::keys!(@ $key; [$type] [$($kind)?] [$($read)?])
                    ),)+
                    $($($rest: $crate::workflow::load::entries::keys!(@ entries, $($read_rest)?),)+)?
                }
            }
        }

        $(impl $name {
            pub const MAP: $crate::workflow::keys::spec::MapSpec =
                $crate::workflow::keys::spec::map($map, $what, Self::KEYS);
        }

        $crate::workflow::load::entries::from_node! {
            $name as $crate::workflow::load::entries::keys!(@ &$name::MAP $(, $alone_kind)?)
            => |node, _key, found| {
                $(if $crate::workflow::load::entries::as_text(node).is_some() {
                    let node = &$crate::workflow::load::entries::map_with_key(node, $alone);
                    return Some($name::read($crate::workflow::load::entries::Entries { node, found }));
                })?
                $crate::workflow::load::entries::Entries::from_node(node, found).map($name::read)
            };
        })?
    };
    (@ $key:expr; [$type:ty] [] []) => {
        $key.with_type(<$type as $crate::workflow::load::entries::FromKey>::KIND)
    };
    (@ $key:expr; [$type:ty] [] [$read:expr]) => {
        $key
    };
    (@ $key:expr; [$type:ty] [$kind:expr] [$($read:expr)?]) => {
        $key.with_type($kind)
    };
    (@ &$map:expr) => {
        $crate::workflow::keys::spec::KeyType::Map(&$map)
    };
    (@ &$map:expr, $alone:expr) => {
        $crate::workflow::keys::spec::KeyType::Either(&[
            $alone,
            $crate::workflow::keys::spec::KeyType::Map(&$map),
        ])
    };
    (@ $entries:ident, $read:expr; $key:expr) => {
        $read($entries)
    };
    (@ $entries:ident, ; $key:expr) => {
        $crate::workflow::load::entries::FromKey::from_key($entries, &$key)
    };
    (@ $entries:ident, $read:expr) => {
        $read($entries)
    };
    (@ $entries:ident,) => {
        Default::default()
    };
}
pub(crate) use keys;

pub fn map_with_key(value: &Node, key: &str) -> Node {
    value.with(Value::Map(vec![(key_at(key, value), value.clone())]))
}

/// Value type of a definition. Reading returns `None` for a node of another type, which is already
/// reported.
pub trait FromNode: Sized {
    const KIND: KeyType;

    fn from_node(node: &Node, key: &KeySpec, found: &Findings<'_>) -> Option<Self>;

    /// Returns the value of an absent key.
    fn absent(_: &KeySpec) -> Self
    where
        Self: Default,
    {
        Self::default()
    }
}

/// Implements [`FromNode`]. A function after `says` computes an absent value from the key's default.
macro_rules! from_node {
    ($(
        $type:ty as $kind:expr
        => |$node:ident, $key:ident, $found:ident| $read:expr $(, says $absent:expr)?;
    )+) => {
        $(impl $crate::workflow::load::entries::FromNode for $type {
            const KIND: $crate::workflow::keys::spec::KeyType = $kind;

            fn from_node(
                $node: &$crate::yaml::Node,
                $key: &$crate::workflow::keys::spec::KeySpec,
                $found: &$crate::workflow::load::entries::Findings<'_>,
            ) -> Option<Self> {
                $read
            }

            $(fn absent(key: &$crate::workflow::keys::spec::KeySpec) -> Self {
                $absent(key.default)
            })?
        })+
    };
}
pub(crate) use from_node;

/// Declares an enum with one word of the definition format per variant.
macro_rules! enum_of_words {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$of:meta])* $value:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        pub enum $name {
            $($(#[$of])* $value,)+
        }

        $crate::workflow::load::entries::from_node! {
            $name as $crate::workflow::keys::spec::KeyType::Words(
                || $crate::workflow::keys::spec::words_of(&$name::WORDS)
            ) => |node, _key, _found| $crate::workflow::load::entries::word(node, &$name::WORDS);
        }

        impl $name {
            pub const WORDS: [(&'static str, Self); [$($word),+].len()] = [$(($word, Self::$value),)+];

            pub fn word(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)+
                }
            }
        }
    };
}
pub(crate) use enum_of_words;

const WHOLE: KeyType = KeyType::Whole(0, u64::MAX);
const NUMBER: KeyType = KeyType::Number(f64::MIN, f64::MAX);

from_node! {
    String as KeyType::Text => |node, _key, _found| as_text(node);
    Node as KeyType::Any => |node, _key, _found| Some(node.clone());
    Json as KeyType::Any => |node, _key, _found| Some(node.to_json());
    IndexMap<String, String> as KeyType::Named(&KeyType::Text) => |node, _key, _found| {
        let Value::Map(own) = &node.value else { return None };
        Some(own.iter().filter_map(|(name, node)| Some((name.text.clone(), as_text(node)?))).collect())
    };
    // For a key with two words, true means the word that is not the default.
    bool as KeyType::Flag => |node, key, _found| match node.value {
        Value::Bool(flag) => Some(flag),
        _ if matches!(key.kind, KeyType::Words(_)) => Some(as_text(node)? != key.default),
        _ => None,
    }, says parsed_default;
    Number as NUMBER => |node, _key, _found| match &node.value {
        Value::Number(number) => Some(number.clone()),
        _ => None,
    };
    u64 as WHOLE => |node, key, found| match key.kind {
        KeyType::Duration => parse_duration(&as_text(node)?),
        _ => Number::from_node(node, key, found)?.as_u64(),
    };
    // Larger numbers saturate.
    u32 as WHOLE => |node, key, found| {
        u64::from_node(node, key, found).map(|number| number.try_into().unwrap_or(u32::MAX))
    }, says parsed_default;
    usize as WHOLE => |node, key, found| {
        u32::from_node(node, key, found).map(|number| number as usize)
    }, says parsed_default;
    i64 as WHOLE => |node, key, found| Number::from_node(node, key, found)?.as_i64();
    f64 as NUMBER => |node, key, found| Number::from_node(node, key, found)?.as_f64(), says parsed_default;
    // A template with an error counts as empty, so that no second error reports it as missing.
    Template as KeyType::Text => |node, key, found| {
        as_text(node)?;
        parsed(node, key.name, found, Template::parse).or_else(|| Template::parse("").ok())
    };
    Condition as KeyType::Text => |node, key, found| parsed(node, key.name, found, Condition::parse);
    Transform as KeyType::Text => |node, key, found| parsed(node, key.name, found, Transform::parse);
}

fn parsed_default<T: FromStr + Default>(default: &str) -> T {
    default.parse().unwrap_or_default()
}

/// Returns the table entry of the node's word.
pub fn word<T: Copy>(node: &Node, words: &[(&'static str, T)]) -> Option<T> {
    let text = as_text(node)?;
    words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value)
}

/// Field type that reads itself by key: a value, an optional value, or a list that may be one plain value.
pub trait FromKey: Sized {
    const KIND: KeyType;

    fn from_key(entries: Entries<'_>, key: &KeySpec) -> Self;
}

impl<T: FromNode> FromKey for Option<T> {
    const KIND: KeyType = T::KIND;

    fn from_key(entries: Entries<'_>, key: &KeySpec) -> Self {
        T::from_node(entries.node(key.name)?, key, entries.found)
    }
}

impl<T: FromNode> FromKey for Vec<T> {
    const KIND: KeyType = list_of(&T::KIND);

    fn from_key(entries: Entries<'_>, key: &KeySpec) -> Self {
        let is_one =
            |node: &&Node| matches!(node.value, Value::List(_)) || !matches!(key.kind, KeyType::List(_));
        let items = entries.node(key.name).filter(is_one).map(items).unwrap_or_default();
        items.iter().filter_map(|node| T::from_node(node, key, entries.found)).collect()
    }
}

impl<T: FromNode + Default> FromKey for T {
    const KIND: KeyType = <T as FromNode>::KIND;

    fn from_key(entries: Entries<'_>, key: &KeySpec) -> Self {
        Option::<T>::from_key(entries, key).unwrap_or_else(|| T::absent(key))
    }
}

/// Returns the texts of a list, or a single text as a list.
pub fn texts(node: &Node) -> Vec<String> {
    items(node).iter().filter_map(as_text).collect()
}

const fn list_of(kind: &'static KeyType) -> KeyType {
    match kind {
        KeyType::Text => KeyType::Texts,
        item => KeyType::List(item),
    }
}

/// Returns the items of a list; any other value counts as a list of one.
pub fn items(node: &Node) -> &[Node] {
    match &node.value {
        Value::List(items) => items,
        _ => std::slice::from_ref(node),
    }
}

pub struct Findings<'a> {
    pub file: &'a str,
    pub problems: RefCell<Vec<Diagnostic>>,
    pub warnings: RefCell<Vec<Diagnostic>>,
}

impl<'a> Findings<'a> {
    pub fn new(file: &'a str) -> Self {
        Self { file, problems: RefCell::default(), warnings: RefCell::default() }
    }

    pub fn add(&self, problem: Diagnostic) {
        self.problems.borrow_mut().push(problem);
    }

    pub fn add_at(&self, place: (u64, u64), problem: Diagnostic) {
        self.add(problem.at(self.file, place.0, place.1));
    }

    pub fn refuse(&self, node: &Node, message: impl Into<String>, hint: impl Into<String>) {
        self.refuse_at((node.line, node.column), message, hint);
    }

    pub fn refuse_at(&self, place: (u64, u64), message: impl Into<String>, hint: impl Into<String>) {
        self.add_at(place, Diagnostic::new(message).hint(hint));
    }

    pub fn warn_at(&self, place: (u64, u64), message: impl Into<String>, hint: impl Into<String>) {
        self.warn(Diagnostic::new(message).at(self.file, place.0, place.1).hint(hint));
    }

    pub fn is_sound(&self) -> bool {
        self.problems.borrow().is_empty()
    }

    /// Returns whether an error was reported at a node or inside it.
    pub fn is_wrong(&self, node: &Node) -> bool {
        let is_at = |line, column| {
            let at = |problem: &Diagnostic| problem.place.as_ref().map(|at| (at.line, at.column));
            self.problems.borrow().iter().any(|problem| at(problem) == Some((line, column)))
        };
        is_at(node.line, node.column)
            || match &node.value {
                Value::Map(map) => {
                    map.iter().any(|(key, value)| is_at(key.line, key.column) || self.is_wrong(value))
                }
                Value::List(items) => items.iter().any(|item| self.is_wrong(item)),
                _ => false,
            }
    }

    pub fn warn(&self, warning: Diagnostic) {
        self.warnings.borrow_mut().push(warning);
    }
}

/// Parses the node's text; reports an error at the node. Blank text is `None`.
fn parsed<T>(
    node: &Node,
    key: &str,
    found: &Findings<'_>,
    parse: impl Fn(&str) -> Result<T, GrammarError>,
) -> Option<T> {
    let text = as_text(node).filter(|text| !text.trim().is_empty())?;
    let error = match parse(&text) {
        Ok(parsed) => return Some(parsed),
        Err(error) => error,
    };
    let rest: String = text.get(error.offset..).unwrap_or_default().chars().take(20).collect();
    let place = if rest.is_empty() || error.offset == 0 { String::new() } else { format!(", at `{rest}`") };
    let hint = error.hint.unwrap_or_else(|| format!("correct the `{key}`"));
    found.refuse(node, format!("`{key}` cannot be read: {}{place}", error.message), hint);
    None
}

pub fn as_text(node: &Node) -> Option<String> {
    match &node.value {
        Value::Text(text) => Some(text.clone()),
        Value::Number(n) if n.is_u64() || n.is_i64() => Some(n.to_string()),
        _ => None,
    }
}

/// Parses a time such as `90s`, `1.5m`, `2h` or `500ms` into milliseconds; at most a year.
pub fn parse_duration(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim() {
        "ms" => 1.0,
        "s" => 1000.0,
        "m" | "min" => 60_000.0,
        "h" => 3_600_000.0,
        _ => return None,
    };
    let millis = number.parse::<f64>().ok()? * factor;
    // A time of more than a year is probably a typing error.
    (0.0 < millis && millis <= 31_536_000_000.0).then_some(millis.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::parse_duration;

    #[test]
    fn durations_parse_to_milliseconds() {
        assert_eq!(parse_duration("90s"), Some(90_000));
        assert_eq!(parse_duration("1.5m"), Some(90_000));
        assert_eq!(parse_duration("500ms"), Some(500));
        for bad in ["90", "s", "-1s", "0s", "1e9h", "9999999h", "1d"] {
            assert_eq!(parse_duration(bad), None, "{bad}");
        }
    }
}
