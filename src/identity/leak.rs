//! What the leak scan looks for, and what it finds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::tokenize::{Word, words};

/// What an answer gives away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeakKind {
    /// It says who or what its author is.
    #[serde(rename = "self")]
    Itself,
    /// It names who makes models.
    Vendor,
    /// It names a model.
    Model,
    /// It names a participant.
    Seat,
}

impl LeakKind {
    /// What is said of it.
    pub fn words(self) -> &'static str {
        match self {
            Self::Itself => "says who its author is",
            Self::Vendor => "names who makes models",
            Self::Model => "names a model",
            Self::Seat => "names a participant",
        }
    }
}

/// Whose name was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// Who makes models.
    Vendor,
    Model,
    /// The participant of this number in the scan's list.
    Seat(usize),
    /// Nobody's: "an AI".
    Ai,
}

/// Something found in a text, by its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// What it gives away.
    pub kind: LeakKind,
    /// Whose name it is.
    pub named: Named,
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

/// One finding in an answer, as it stands in the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Leak {
    /// Whose answer it is.
    pub participant: String,
    /// The work item it answers.
    pub item: String,
    /// What it gives away.
    pub kind: LeakKind,
    /// Where: a JSON pointer into `{result, error}`.
    pub place: String,
    /// Whether it is in the key at that place, not in the text under it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub key: bool,
    /// The first byte in that text.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// The text, as it was written.
    pub text: String,
    /// What stands for it in the copy that is handed on; it stays when absent.
    #[serde(default, rename = "as", skip_serializing_if = "Option::is_none")]
    pub mask: Option<String>,
}

/// What to look for, beside the names that anybody knows.
#[derive(Debug, Clone, Default)]
pub struct LeakScanner {
    /// Participants by the first word of their names: their number, and the name as words.
    pub(super) seats: BTreeMap<String, Vec<(usize, Vec<Word>)>>,
    /// Models of the roster, as words.
    pub(super) models: Vec<Vec<String>>,
    /// The words of the facilitator's own material: who is named there is the matter, no leak.
    material: Vec<String>,
}

impl LeakScanner {
    /// A scan for these participants (none where their names are open) and models of the roster.
    pub fn new(seats: &[&str], models: &[&str], material: &str) -> Self {
        let texts = |text: &str| words(text).0.into_iter().map(|word| word.text).collect::<Vec<String>>();
        let mut names = Vec::new();
        for model in models.iter().filter(|model| model.contains('/')) {
            names.push(texts(model));
            let part = model.split_once('/').map_or(*model, |(_, part)| part);
            // A short or plain word is everybody's.
            if part.len() > 3 && part.contains(|c: char| c.is_ascii_digit()) {
                names.push(texts(part));
            }
        }
        names.sort();
        names.dedup();
        let mut by_first: BTreeMap<String, Vec<(usize, Vec<Word>)>> = BTreeMap::new();
        for (number, name) in seats.iter().map(|name| words(name).0).enumerate() {
            let Some(first) = name.first() else { continue };
            by_first.entry(first.text.clone()).or_default().push((number, name));
        }
        Self { seats: by_first, models: names, material: texts(material) }
    }

    /// Whether the facilitator's own material has these words.
    pub(super) fn is_known(&self, name: &[&str]) -> bool {
        !name.is_empty() && self.material.windows(name.len()).any(|words| words == name)
    }
}
