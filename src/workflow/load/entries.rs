//! The values of one map of a definition, read as what they are.
//!
//! The key table has been checked before (`keys::check`), which names every value of a wrong type: here
//! such a value counts as absent. What else is wrong is collected, so that a person sees all at once.

use std::cell::RefCell;

use indexmap::IndexMap;
use serde_json::Value as Json;

use super::map_reader::{as_text, parse_duration};
use crate::diagnostic::Diagnostic;
use crate::workflow::keys::spec::{KeySpec, KeyType, Word};
use crate::workflow::lang::{Condition, GrammarError, Template, Transform};
use crate::yaml::{Node, Value};

#[derive(Clone, Copy)]
pub struct Entries<'a> {
    pub node: &'a Node,
    pub found: &'a Findings<'a>,
}

impl<'a> Entries<'a> {
    pub fn of(node: &'a Node, found: &'a Findings<'a>) -> Option<Self> {
        if let Value::Map(_) = &node.value { Some(Self { node, found }) } else { None }
    }

    pub fn refuse(&self, node: &Node, message: impl Into<String>, hint: impl Into<String>) {
        self.found.refuse(node, message, hint);
    }

    pub fn has(&self, key: &str) -> bool {
        self.node(key).is_some()
    }

    /// The node under `key`; null counts as absent.
    pub fn node(&self, key: &str) -> Option<&'a Node> {
        self.node.given(key)
    }

    pub fn map(&self, key: &str) -> Option<Self> {
        Self::of(self.node(key)?, self.found)
    }

    pub fn list(&self, key: &str) -> &'a [Node] {
        match self.node(key).map(|node| &node.value) {
            Some(Value::List(items)) => items,
            _ => &[],
        }
    }

    pub fn maps(&self, key: &str) -> impl Iterator<Item = Self> + use<'a> {
        let found = self.found;
        self.list(key).iter().filter_map(move |node| Self::of(node, found))
    }

    pub fn text(&self, key: &str) -> Option<String> {
        as_text(self.node(key)?)
    }

    /// A list of texts; one text alone is a list of one.
    pub fn texts(&self, key: &str) -> Vec<String> {
        match self.node(key) {
            Some(Node { value: Value::List(items), .. }) => items.iter().filter_map(as_text).collect(),
            node => node.and_then(as_text).into_iter().collect(),
        }
    }

    pub fn values(&self, key: &str) -> Vec<Json> {
        self.list(key).iter().map(Node::to_json).collect()
    }

    /// A map of texts by names of the writer's own.
    pub fn named_texts(&self, key: &str) -> IndexMap<String, String> {
        let Some(Node { value: Value::Map(own), .. }) = self.node(key) else { return IndexMap::new() };
        own.iter().filter_map(|(name, node)| Some((name.text.clone(), as_text(node)?))).collect()
    }

    pub fn whole_number(&self, key: &str) -> Option<u64> {
        if let Value::Number(number) = &self.node(key)?.value { number.as_u64() } else { None }
    }

    /// As [`Entries::whole_number`]; a larger one is the largest.
    pub fn count(&self, key: &str) -> Option<u32> {
        self.whole_number(key).map(|number| u32::try_from(number).unwrap_or(u32::MAX))
    }

    pub fn number(&self, key: &str) -> Option<f64> {
        if let Value::Number(number) = &self.node(key)?.value { number.as_f64() } else { None }
    }

    pub fn flag(&self, key: &str) -> Option<bool> {
        if let Value::Bool(flag) = self.node(key)?.value { Some(flag) } else { None }
    }

    /// A span of time such as `90s`, in milliseconds.
    pub fn duration(&self, key: &str) -> Option<u64> {
        parse_duration(&self.text(key)?)
    }

    pub fn word<T: Copy>(&self, key: &str, words: &[(&'static str, T)]) -> Option<T> {
        let text = self.text(key)?;
        words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value)
    }
}

/// Declares the keys of a map once: the struct that holds them, the table that describes them, and its
/// reader. What stands after `=>` reads a key that no [`FromKey`] does; keys after `also` have no field, and
/// fields after `and` no key.
macro_rules! keys {
    ($(#[$meta:meta])* pub struct $name:ident {
        $($(#[$of:meta])* $field:ident: $type:ty = $key:expr $(=> $read:expr)?,)+
    } $(also {
        $($more:expr,)+
    })? $(and {
        $($(#[$of_rest:meta])* $rest:ident: $rest_type:ty,)+
    })?) => {
        $(#[$meta])*
        pub struct $name {
            $($(#[$of])* pub $field: $type,)+
            $($($(#[$of_rest])* pub $rest: $rest_type,)+)?
        }

        impl $name {
            pub const KEYS: &[$crate::workflow::keys::spec::KeySpec] = &[$($key,)+ $($($more,)+)?];

            pub fn read(entries: $crate::workflow::load::entries::Entries<'_>) -> Self {
                Self {
                    $($field: $crate::workflow::load::entries::keys!(@ entries, $key $(, $read)?),)+
                    $($($rest: Default::default(),)+)?
                }
            }
        }
    };
    (@ $entries:ident, $key:expr) => {
        $crate::workflow::load::entries::FromKey::from_key($entries, &$key)
    };
    (@ $entries:ident, $key:expr, $read:expr) => {
        $read($entries)
    };
}
pub(crate) use keys;

/// A value that is read by its key's name. A number or flag that is absent is what the key's default says.
pub trait FromKey: Sized {
    fn from_key(entries: Entries<'_>, key: &KeySpec) -> Self;
}

macro_rules! from_key {
    ($($type:ty: |$entries:ident, $key:ident| $read:expr;)+) => {
        $(impl FromKey for $type {
            fn from_key($entries: Entries<'_>, $key: &KeySpec) -> Self {
                $read
            }
        })+
    };
}

from_key! {
    String: |entries, key| entries.text(key.name).unwrap_or_default();
    Option<String>: |entries, key| entries.text(key.name);
    Vec<String>: |entries, key| entries.texts(key.name);
    IndexMap<String, String>: |entries, key| entries.named_texts(key.name);
    Vec<Json>: |entries, key| entries.values(key.name);
    Option<Json>: |entries, key| entries.node(key.name).map(Node::to_json);
    bool: |entries, key| entries.flag(key.name).unwrap_or(key.default == "true");
    u32: |entries, key| entries.count(key.name).or_else(|| key.default.parse().ok()).unwrap_or_default();
    usize: |entries, key| u32::from_key(entries, key) as usize;
    f64: |entries, key| entries.number(key.name).or_else(|| key.default.parse().ok()).unwrap_or_default();
    Option<u32>: |entries, key| entries.count(key.name);
    Option<usize>: |entries, key| entries.count(key.name).map(|count| count as usize);
    Option<u64>: |entries, key| match key.kind {
        KeyType::Duration => entries.duration(key.name),
        _ => entries.whole_number(key.name),
    };
    Option<f64>: |entries, key| entries.number(key.name);
    Option<Template>: |entries, key| {
        // One with an error counts as empty, so that nobody else is looked for to give it.
        entries.text(key.name)?;
        parsed(entries, key.name, Template::parse).or_else(|| Template::parse("").ok())
    };
    Option<Condition>: |entries, key| parsed(entries, key.name, Condition::parse);
    Condition: |entries, key| parsed(entries, key.name, Condition::parse).unwrap_or_default();
    Transform: |entries, key| parsed(entries, key.name, Transform::parse).unwrap_or_default();
}

impl<T: Word> FromKey for Option<T> {
    fn from_key(entries: Entries<'_>, key: &KeySpec) -> Self {
        entries.word(key.name, T::words())
    }
}

impl<T: Word + Default> FromKey for T {
    fn from_key(entries: Entries<'_>, key: &KeySpec) -> Self {
        entries.word(key.name, T::words()).unwrap_or_default()
    }
}

/// Findings of loading a file.
pub struct Findings<'a> {
    pub file: &'a str,
    pub problems: RefCell<Vec<Diagnostic>>,
    pub warnings: RefCell<Vec<Diagnostic>>,
}

impl<'a> Findings<'a> {
    pub fn new(file: &'a str) -> Self {
        Self { file, problems: RefCell::default(), warnings: RefCell::default() }
    }

    pub fn refuse(&self, node: &Node, message: impl Into<String>, hint: impl Into<String>) {
        self.problems.borrow_mut().push(node.problem(self.file, message).hint(hint));
    }

    /// An error was noted at a node or inside it.
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

/// The text as `parse` reads it; an error is noted at its key, a blank text is none.
pub fn parsed<T>(
    entries: Entries<'_>,
    key: &str,
    parse: impl Fn(&str) -> Result<T, GrammarError>,
) -> Option<T> {
    let text = entries.text(key).filter(|text| !text.trim().is_empty())?;
    let error = match parse(&text) {
        Ok(parsed) => return Some(parsed),
        Err(error) => error,
    };
    let rest: String = text.get(error.offset..).unwrap_or_default().chars().take(20).collect();
    let place = if rest.is_empty() || error.offset == 0 { String::new() } else { format!(", at `{rest}`") };
    let hint = error.hint.unwrap_or_else(|| format!("correct the `{key}`"));
    let message = format!("`{key}` cannot be read: {}{place}", error.message);
    entries.refuse(entries.node(key)?, message, hint);
    None
}
