//! An answer while it is being put together, and its JSON form.

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::scene::Scene;
use super::weigh::Weighed;
use crate::persona::Persona;

/// The parts of an answer; empty parts are left out of the JSON.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// The ballot's own keys, first in the answer.
    pub ballot: Vec<(&'static str, Value)>,
    pub position: String,
    pub rationale: Vec<String>,
    pub optimizing_for: String,
    pub accepting_as_cost: String,
    pub risks: Vec<String>,
    pub concerns: Vec<String>,
    pub suggestions: Vec<String>,
    pub confidence: Option<f64>,
    /// Artifacts the answer draws on.
    pub references: Vec<String>,
}

impl Draft {
    /// An abstention that says why.
    pub fn abstain(why: &str) -> Self {
        Self {
            ballot: vec![("vote", "abstain".into())],
            position: format!("I abstain. {why}"),
            rationale: vec![why.to_owned()],
            ..Self::default()
        }
    }

    /// Notes the artifacts behind some sentences.
    pub fn refer<'a>(&mut self, scene: &Scene, used: impl IntoIterator<Item = &'a Weighed<'a>>) {
        for weighed in used {
            let backing = weighed.backing.map(|at| scene.requirements[at].place.as_str());
            for place in [Some(weighed.statement.place.as_str()), backing].into_iter().flatten() {
                if is_id(place) && !self.references.iter().any(|known| known == place) {
                    self.references.push(place.to_owned());
                }
            }
        }
    }

    /// Adds what is still open to the concerns and the suggestions.
    pub fn mind_open(&mut self, scene: &Scene) {
        if let Some(open) = scene.open.first() {
            let open = super::voice::clip(open);
            self.concerns.push(format!("Still open: \u{201c}{open}\u{201d}"));
            self.suggestions.push(format!("Settle \u{201c}{open}\u{201d} before this is called done."));
        }
    }

    /// The answer; hashes of snapshot and persona stand last in its references.
    pub fn into_json(mut self, snapshot: &str, persona: &Persona) -> Value {
        self.references.push(format!("snapshot sha256:{}", short_hash(snapshot)));
        self.references.push(format!("persona sha256:{}", short_hash(&persona_text(persona))));
        let mut map: Map<String, Value> = self.ballot.into_iter().map(|(k, v)| (k.to_owned(), v)).collect();
        if !self.position.is_empty() {
            map.insert("position".to_owned(), self.position.into());
        }
        map.insert("rationale".to_owned(), self.rationale.into());
        if !self.optimizing_for.is_empty() {
            let trade_offs = json!({
                "optimizing_for": self.optimizing_for,
                "accepting_as_cost": self.accepting_as_cost,
                "risks": self.risks,
            });
            map.insert("trade_offs".to_owned(), trade_offs);
        }
        map.insert("concerns".to_owned(), self.concerns.into());
        map.insert("suggestions".to_owned(), self.suggestions.into());
        if let Some(confidence) = self.confidence {
            let rounded = (confidence.clamp(0.05, 0.95) * 100.0).round() / 100.0;
            map.insert("confidence".to_owned(), rounded.into());
        }
        map.insert("references".to_owned(), self.references.into());
        Value::Object(map)
    }
}

/// Lowers a confidence for every conflict or question that is still open.
pub(super) fn doubt(confidence: f64, scene: &Scene) -> f64 {
    (0..scene.open.len().min(3)).fold(confidence, |left, _| left - 0.05)
}

/// Places that are artifact ids are told from the rest by their digits or lack of spaces.
fn is_id(place: &str) -> bool {
    !place.contains(' ') && !matches!(place, "exploration" | "question")
}

/// What of a persona can change an answer: name, priorities and text.
fn persona_text(persona: &Persona) -> String {
    let priorities: Vec<String> =
        persona.priorities.iter().map(|(word, weight)| format!("{word}={weight}")).collect();
    format!("{}\n{}\n{}", persona.name, priorities.join("\n"), persona.text)
}

fn short_hash(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    let first = hash.iter().take(8).fold(0_u64, |sum, byte| sum << 8 | u64::from(*byte));
    format!("{first:016x}")
}
