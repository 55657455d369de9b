//! The form of the key table: a key, the type of its value, a map of keys.
//!
//! Plain data. Every map of a definition is one table of these; the checks of the loader, the JSON Schema
//! and the reference page are made from it.

#[derive(Clone, Copy)]
pub enum KeyType {
    Any,
    /// Text; a whole number is taken as it is written.
    Text,
    /// A list of texts, or one text.
    Texts,
    Flag,
    Whole(u64, u64),
    Number(f64, f64),
    /// A number greater than 0.
    Positive,
    /// A number of at most six decimal places.
    Decimal,
    /// A share above 0 and up to 1.
    Share,
    /// A number of seats, or a percentage of them.
    Quorum,
    Duration,
    Words(fn() -> Vec<&'static str>),
    Map(&'static MapSpec),
    List(&'static KeyType),
    /// A map whose keys are names of the writer's own.
    Named(&'static KeyType),
    Steps,
    Either(&'static [KeyType]),
}

/// The default of a key that has none and must be given.
pub const REQUIRED: &str = "required";

#[derive(Clone, Copy)]
pub struct KeySpec {
    pub name: &'static str,
    pub kind: KeyType,
    /// The value when absent, in words; [`REQUIRED`] where there is none, empty where absence says it.
    pub default: &'static str,
    pub about: &'static str,
    pub example: &'static str,
}

impl KeySpec {
    pub fn is_required(&self) -> bool {
        self.default == REQUIRED
    }

    pub const fn of(self, kind: KeyType) -> Self {
        Self { kind, ..self }
    }
}

/// A key of any value.
pub const fn key(
    name: &'static str,
    default: &'static str,
    about: &'static str,
    example: &'static str,
) -> KeySpec {
    KeySpec { name, kind: KeyType::Any, default, about, example }
}

pub struct MapSpec {
    /// Its name in the JSON Schema and its heading in the reference.
    pub name: &'static str,
    /// Its name in messages, with the article.
    pub what: &'static str,
    pub keys: &'static [KeySpec],
    /// What becomes of other keys; none: they are errors.
    pub others: Option<&'static str>,
}

pub const fn map(name: &'static str, what: &'static str, keys: &'static [KeySpec]) -> MapSpec {
    MapSpec { name, what, keys, others: None }
}

pub struct StepType {
    pub name: &'static str,
    pub about: &'static str,
    pub keys: &'static [KeySpec],
}

impl StepType {
    /// Its name in messages, with the article.
    pub fn what(&self) -> String {
        format!("{} {} step", article(self.name), self.name)
    }
}

pub fn article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" }
}

pub fn words_of<T>(table: &[(&'static str, T)]) -> Vec<&'static str> {
    table.iter().map(|(word, _)| *word).collect()
}
