//! The part of a rehearsed answer that is counted: by the persona's words, else by lot.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::lots::{LABEL, Lots};
use super::scene::{Scene, words};
use crate::ballot::Stage;
use crate::persona::Persona;

/// A ballot and how it came about.
pub(super) struct Drawn {
    /// The keys of the form.
    pub keys: Map<String, Value>,
    pub why: String,
    pub is_abstention: bool,
    /// Whether a position belongs beside the ballot.
    pub has_position: bool,
}

/// An abstention by lot.
pub(super) fn abstention(scene: &Scene) -> Drawn {
    let keys = Map::from_iter([("vote".to_owned(), json!("abstain"))]);
    // Beside an abstention from an open question a position would be a second answer.
    let has_position = scene.kind.key() != "position";
    Drawn { keys, why: "The lot fell on an abstention.".to_owned(), is_abstention: true, has_position }
}

/// A ballot that fits the form.
pub(super) fn draw(scene: &Scene, persona: &Persona, lots: &Lots, quotes: &[String]) -> Drawn {
    let order = Order::of(scene, persona, lots);
    let stage = Stage {
        order_reason: order.why(),
        options: order.names,
        leaning: order.leaning,
        scale: scene.scale,
        cards: &scene.cards,
        quotes,
        label: LABEL,
        lot: &|what, count| lots.index(what, count),
    };
    let ballot = scene.kind.spec().rehearse(&stage);
    let keys = ballot.keys.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    Drawn { keys, why: ballot.reason, is_abstention: false, has_position: true }
}

/// The options in the order a seat puts them.
struct Order<'a> {
    names: Vec<&'a str>,
    /// How many of the first share words with the priorities.
    leaning: usize,
    /// The priorities the first option's text holds.
    shared: Vec<&'a str>,
}

impl<'a> Order<'a> {
    fn of(scene: &'a Scene, persona: &'a Persona, lots: &Lots) -> Self {
        // A word in the texts of two options leans to neither.
        let holders = |word: &str| scene.options.iter().filter(|(_, text)| text.contains(word)).count();
        let alone = |text: &BTreeSet<String>, word: &str| text.contains(word) && holders(word) == 1;
        let held = |text: &BTreeSet<String>| -> Vec<&'a str> {
            let names = persona.priorities.keys().map(String::as_str);
            names.filter(|priority| words(priority).any(|word| alone(text, &word))).collect()
        };
        // In thousandths, so that weights can be ordered.
        let weigh = |text: &BTreeSet<String>| -> u64 {
            held(text).into_iter().map(|priority| (persona.priorities[priority] * 1000.0) as u64).sum()
        };
        let mut all: Vec<_> = scene.options.iter().collect();
        all.sort_by_cached_key(|(name, text)| (std::cmp::Reverse(weigh(text)), lots.number(name)));
        let leaning = all.iter().take_while(|(_, text)| weigh(text) > 0).count();
        let shared = all.first().map_or_else(Vec::new, |(_, text)| held(text));
        Self { names: all.iter().map(|(name, _)| name.as_str()).collect(), leaning, shared }
    }

    fn why(&self) -> String {
        let first = self.names.first().copied().unwrap_or_default();
        let shared = self.shared.join(", ");
        if shared.is_empty() {
            return format!("The lot fell on {first}.");
        }
        format!("The text about {first} and the persona's priorities share words: {shared}.")
    }
}
