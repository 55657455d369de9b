//! The part of a rehearsed answer that is counted: by the persona's words, else by lot.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::Lots;
use super::scene::{Scene, words};
use crate::ballot::BallotKind;
use crate::persona::Persona;

/// Steps a score or an estimate is drawn from at most.
const STEPS: f64 = 20.0;

/// A ballot and how it came about.
pub(super) struct Drawn {
    /// The keys of the form.
    pub keys: Map<String, Value>,
    /// One sentence.
    pub why: String,
    pub is_abstention: bool,
    /// Whether a position belongs beside the ballot.
    pub has_position: bool,
}

/// An abstention by lot.
pub(super) fn abstention(scene: &Scene) -> Drawn {
    let keys = Map::from_iter([("vote".to_owned(), json!("abstain"))]);
    // Beside an abstention from an open question a position would be a second answer.
    let has_position = scene.kind.is_some_and(|kind| kind != BallotKind::Position);
    Drawn { keys, why: "The lot fell on an abstention.".to_owned(), is_abstention: true, has_position }
}

/// A ballot that fits the form.
pub(super) fn draw(scene: &Scene, persona: &Persona, lots: &Lots) -> Drawn {
    let kind = scene.kind.unwrap_or(BallotKind::Position);
    let order = Order::of(scene, persona, lots);
    let mut keys = Map::new();
    let mut put = |key: &str, value: Value| keys.insert(key.to_owned(), value);
    let why = match kind {
        BallotKind::Position => "It answers nothing.".to_owned(),
        BallotKind::Consent => {
            // Two of four consent, so that a round of a few seats shows every stance now and then.
            let stance = ["support", "stand-aside", "support", "block"][lots.index("consent", 4)];
            put("consent", stance.into());
            if stance == "block" {
                put("minimum_change", format!("{} No change is asked for.", super::LABEL).into());
            }
            format!("The lot fell on `{stance}`.")
        }
        BallotKind::Estimate => {
            let estimate = estimate(scene, lots);
            let shown = estimate.as_str().map_or_else(|| estimate.to_string(), str::to_owned);
            put("estimate", estimate);
            format!("The lot fell on {shown}.")
        }
        BallotKind::Choice => {
            put("vote", order.names.first().copied().unwrap_or_default().into());
            order.why()
        }
        BallotKind::Approval => {
            let count = order.leaning.max(1 + lots.index("approve", order.names.len().div_ceil(2)));
            put("approve", order.names.iter().take(count).copied().collect());
            order.why()
        }
        BallotKind::Ranking => {
            put("ranking", order.names.iter().copied().collect());
            order.why()
        }
        BallotKind::Score => {
            let (low, high) = ends(scene, 0.0, 5.0);
            let step = (high - low) / order.names.len().saturating_sub(1).max(1) as f64;
            let score = |nth: usize| number((high - step * nth as f64).round().clamp(low, high));
            let scores = order.names.iter().enumerate().map(|(nth, name)| ((*name).to_owned(), score(nth)));
            put("scores", Value::Object(scores.collect()));
            order.why()
        }
    };
    Drawn { keys, why, is_abstention: false, has_position: true }
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

/// A card, or a number of the scale, by lot.
fn estimate(scene: &Scene, lots: &Lots) -> Value {
    if !scene.cards.is_empty() {
        return scene.cards[lots.index("estimate", scene.cards.len())].as_str().into();
    }
    let (low, high) = ends(scene, 1.0, STEPS);
    let steps = (high - low).clamp(1.0, STEPS).floor();
    let share = lots.index("estimate", steps as usize + 1) as f64 / steps;
    number((low * (1.0 - share) + high * share).round().clamp(low, high))
}

/// The ends of the form's scale; where one is missing, `from` and `span` above it.
fn ends(scene: &Scene, from: f64, span: f64) -> (f64, f64) {
    let low = scene.scale.0.unwrap_or_else(|| scene.scale.1.map_or(from, |high| high.min(from)));
    (low, scene.scale.1.unwrap_or(low + span))
}

/// A whole number without a decimal point.
fn number(value: f64) -> Value {
    value.to_string().parse::<i64>().map_or_else(|_| value.into(), Value::from)
}
