//! What the rehearsal takes from a snapshot: the form, the text of each option, sentences to quote.
//!
//! Reading is total: what is missing or of another type is left out. The number of sentences and
//! options is capped.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::lots::Lots;
use crate::ballot::BallotKind;
use crate::round::snapshot::sha256_hex;

/// Sentences kept at most.
const MOST_SENTENCES: usize = 2000;
/// Words a quoted sentence has at least.
const FEWEST_WORDS: usize = 4;
/// Characters of a sentence that are quoted at most.
const LONGEST_QUOTE: usize = 160;

/// A sentence and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct QuotedSentence {
    pub text: String,
    /// A key of the snapshot, or an artifact's id.
    pub place: String,
    pub is_artifact: bool,
}

impl QuotedSentence {
    /// The sentence in quotation marks, cut between words if it is long, and its place.
    pub fn quote(&self) -> String {
        let text = self.text.replace(['\u{201c}', '\u{201d}'], "\"");
        let mut shown: String = text.chars().take(LONGEST_QUOTE).collect();
        if shown.len() < text.len() {
            shown.truncate(shown.rfind(' ').unwrap_or(shown.len()));
            shown.push('…');
        }
        format!("\u{201c}{shown}\u{201d} ({})", self.place)
    }
}

/// A snapshot as the rehearsal sees it.
#[derive(Debug, Default)]
pub(super) struct Scene {
    pub sha256: String,
    pub kind: BallotKind,
    /// The options, each with the words of its text.
    pub options: Vec<(String, BTreeSet<String>)>,
    /// The lowest and the highest score or estimate.
    pub scale: (Option<f64>, Option<f64>),
    /// The cards of an estimate, lowest first.
    pub cards: Vec<String>,
    sentences: Vec<QuotedSentence>,
}

impl Scene {
    /// Reads a snapshot; a text that is none gives a scene without form and sentences.
    pub fn read(snapshot: &str) -> Self {
        let value = crate::yaml::read(snapshot, "snapshot").map(|node| node.to_json()).unwrap_or_default();
        let mut scene = Self { sha256: sha256_hex(snapshot), ..Self::default() };
        let Some(Value::Object(context)) = value.get("participant_context") else { return scene };
        scene.read_form(context.get("ballot").unwrap_or(&Value::Null));
        for (key, value) in context {
            match (key.as_str(), value) {
                // The form is no text to quote, and what came before holds quotes of its own.
                (
                    "ballot" | "agenda" | "context" | "recent_rounds" | "earlier_reasons" | "earlier_counts",
                    _,
                ) => {}
                ("artifacts_snapshot", Value::Array(artifacts)) => {
                    artifacts.iter().filter_map(Value::as_object).for_each(|one| scene.read_artifact(one));
                }
                _ => scene.add(value, &key.replace('_', " "), false),
            }
        }
        scene
    }

    /// A text without a form, such as an agent's prompt.
    pub fn of_text(text: &str) -> Self {
        let mut scene = Self { sha256: sha256_hex(text), ..Self::default() };
        scene.add_text(text, "prompt", false);
        scene
    }

    /// Up to `count` sentences drawn by lot.
    pub fn quotes(&self, lots: &Lots, count: usize) -> Vec<&QuotedSentence> {
        let start = lots.index("quotes", self.sentences.len());
        let step = 1 + lots.index("step", self.sentences.len().saturating_sub(1));
        let mut drawn: Vec<&QuotedSentence> = Vec::new();
        for nth in 0..count.min(self.sentences.len()) {
            let sentence = &self.sentences[(start + nth * step) % self.sentences.len()];
            if !drawn.contains(&sentence) {
                drawn.push(sentence);
            }
        }
        drawn
    }

    fn read_form(&mut self, form: &Value) {
        let texts = |key: &str| -> Vec<String> {
            let list = form.get(key).and_then(Value::as_array);
            let name = |item: &Value| item.as_str().or_else(|| item["id"].as_str()).map(str::to_owned);
            list.into_iter().flatten().filter_map(name).collect()
        };
        let kind = form.get("kind").and_then(Value::as_str);
        self.kind = kind.and_then(BallotKind::from_name).unwrap_or_default();
        self.options =
            texts("options").into_iter().map(|name| (name.clone(), words(&name).collect())).collect();
        self.cards = texts("cards");
        let end = |key: &str| form.get("scale")?.get(key)?.as_f64();
        self.scale = match (end("min"), end("max")) {
            (Some(low), Some(high)) if low > high => (None, None),
            ends => ends,
        };
    }

    fn read_artifact(&mut self, artifact: &Map<String, Value>) {
        let id = artifact.get("id").and_then(Value::as_str).unwrap_or("an artifact");
        for (key, value) in artifact.iter().filter(|(key, _)| !matches!(key.as_str(), "id" | "status")) {
            self.add(value, id, key != "id");
        }
    }

    fn add(&mut self, value: &Value, place: &str, is_artifact: bool) {
        match value {
            Value::String(text) => self.add_text(text, place, is_artifact),
            Value::Array(items) => items.iter().for_each(|item| self.add(item, place, is_artifact)),
            _ => {}
        }
    }

    /// Takes in a text line by line. A line belongs to the option named last in this text; a heading
    /// that names none, and a line that names several, end that.
    fn add_text(&mut self, text: &str, place: &str, is_artifact: bool) {
        let options: Vec<Vec<String>> = self.options.iter().map(|(name, _)| words(name).collect()).collect();
        let mut option = None;
        for line in text.lines().map(str::trim) {
            let line_words: Vec<String> = words(line).collect();
            let named: Vec<usize> =
                (0..options.len()).filter(|at| holds(&line_words, &options[*at])).collect();
            option = match (named.as_slice(), line.starts_with('#')) {
                ([one], _) => Some(*one),
                ([], false) => option,
                _ => None,
            };
            if let Some(at) = option {
                self.options[at].1.extend(line_words);
            }
            if line.starts_with('#') {
                continue;
            }
            for sentence in sentences(line) {
                if self.sentences.len() < MOST_SENTENCES && words(sentence).count() >= FEWEST_WORDS {
                    let (text, place) = (sentence.to_owned(), place.to_owned());
                    self.sentences.push(QuotedSentence { text, place, is_artifact });
                }
            }
        }
    }
}

/// The words of a text in lower case, a plural `s` taken off.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    parts.map(|word| {
        let word = word.to_lowercase();
        word.strip_suffix('s').filter(|rest| rest.len() > 2).map(str::to_owned).unwrap_or(word)
    })
}

/// Whether the words hold those of a name, one after another.
fn holds(words: &[String], name: &[String]) -> bool {
    !name.is_empty() && words.windows(name.len()).any(|window| window == name)
}

/// The sentences of a line, without list marker and full stop.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let line = line.trim_start_matches(['-', '*', '+', ' ']);
    line.split(". ")
        .map(|sentence| sentence.trim_end_matches(['.', ' ']))
        .filter(|sentence| !sentence.is_empty())
}
