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
}

pub const fn key(
    name: &'static str,
    kind: KeyType,
    default: &'static str,
    about: &'static str,
    example: &'static str,
) -> KeySpec {
    KeySpec { name, kind, default, about, example }
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

/// The type of a key whose value is one of an enum's words.
macro_rules! words {
    ($of:ty) => {
        $crate::workflow::keys::spec::KeyType::Words(|| $crate::workflow::keys::spec::words_of(&<$of>::WORDS))
    };
}
pub(crate) use words;

/// Declares an enum each of whose values is a word of a definition.
macro_rules! enum_of_words {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$of:meta])* $value:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        pub enum $name {
            $($(#[$of])* $value,)+
        }

        impl $crate::workflow::keys::spec::Word for $name {
            fn words() -> &'static [(&'static str, Self)] {
                &Self::WORDS
            }
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

/// An enum each of whose values is a word of a definition.
pub trait Word: Copy + 'static {
    fn words() -> &'static [(&'static str, Self)];
}

pub fn words_of<T>(table: &[(&'static str, T)]) -> Vec<&'static str> {
    table.iter().map(|(word, _)| *word).collect()
}
