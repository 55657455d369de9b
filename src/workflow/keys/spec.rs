//! Types of the key table: keys, value types and maps.
//!
//! Plain data. Each map of a definition is one such table. The loader's checks, the JSON Schema and the
//! reference page are generated from it.

#[derive(Clone, Copy)]
pub enum KeyType {
    Any,
    /// Text; whole numbers are accepted as written.
    Text,
    /// List of texts, or one text.
    Texts,
    Flag,
    Whole(u64, u64),
    Number(f64, f64),
    Positive,
    /// Number of at most six decimal places.
    Decimal,
    /// Share above 0 and up to 1.
    Share,
    /// Number of seats, or a percentage of them.
    Quorum,
    Duration,
    Words(fn() -> Vec<&'static str>),
    Map(&'static MapSpec),
    List(&'static KeyType),
    /// Map with keys that the author chooses.
    Named(&'static KeyType),
    Steps,
    Either(&'static [KeyType]),
}

/// Marks a key that has no default and must be set.
pub const REQUIRED: &str = "required";

#[derive(Clone, Copy)]
pub struct KeySpec {
    pub name: &'static str,
    pub kind: KeyType,
    /// Description of the default; [`REQUIRED`] if the key must be set, empty if it needs no description.
    pub default: &'static str,
    pub about: &'static str,
    pub example: &'static str,
}

impl KeySpec {
    pub fn is_required(&self) -> bool {
        self.default == REQUIRED
    }

    pub const fn with_type(self, kind: KeyType) -> Self {
        Self { kind, ..self }
    }
}

/// Creates a key that accepts any value.
pub const fn key(
    name: &'static str,
    default: &'static str,
    about: &'static str,
    example: &'static str,
) -> KeySpec {
    KeySpec { name, kind: KeyType::Any, default, about, example }
}

pub struct MapSpec {
    /// Name in the JSON Schema and heading in the reference.
    pub name: &'static str,
    /// Name in messages, with the article.
    pub what: &'static str,
    pub keys: &'static [KeySpec],
    /// Description of other keys, if they are allowed; `None` makes them errors.
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
    /// Returns the name for messages, with the article.
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
