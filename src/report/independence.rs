//! How many voices a round really had: seats that share a model, and how many independent ones that is.
//!
//! A hint beside the result, not a proof: two models can be as alike as one asked twice, and one model
//! with two personas can differ. Scripted answers come from a person and are not looked at.

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::view;
use super::words::listed;
use crate::round::record::Outcome;
use crate::session::{RoundRun, Session};

/// Which models answered a round.
#[derive(Debug, Clone, PartialEq)]
pub struct Independence {
    /// Models with the seats that answered by them, in roster order.
    pub models: IndexMap<String, Vec<String>>,
    /// Providers with how many seats answered by them.
    pub providers: IndexMap<String, usize>,
}

/// The voices of a revealed round; none if no seat with a model answered.
pub fn independence(session: &Session, round: &RoundRun) -> Option<Independence> {
    if !view::is_revealed(round) {
        return None;
    }
    let mut found = Independence { models: IndexMap::new(), providers: IndexMap::new() };
    for seat in view::seats(session, round).filter(|seat| !seat.scripted) {
        if seat.outcome() == Some(Outcome::Answered) {
            found.models.entry(seat.model.to_owned()).or_default().push(seat.name.to_owned());
            let provider = seat.model.split('/').next().unwrap_or(seat.model);
            *found.providers.entry(provider.to_owned()).or_default() += 1;
        }
    }
    (!found.models.is_empty()).then_some(found)
}

/// The number of equal groups that are as spread as these: the inverse of Simpson's index.
fn effective(sizes: impl Iterator<Item = usize> + Clone) -> f64 {
    let all: usize = sizes.clone().sum();
    let squares: usize = sizes.map(|size| size * size).sum();
    if squares == 0 { 0.0 } else { (all * all) as f64 / squares as f64 }
}

impl Independence {
    /// How many seats answered.
    pub fn seats(&self) -> usize {
        self.providers.values().sum()
    }

    /// How many independent voices that is, if seats of one model are one voice.
    pub fn effective_voices(&self) -> f64 {
        effective(self.models.values().map(Vec::len))
    }

    /// The same, if seats of one provider are one voice.
    pub fn effective_providers(&self) -> f64 {
        effective(self.providers.values().copied())
    }

    /// Whether seats share a model.
    pub fn is_shared(&self) -> bool {
        self.models.values().any(|seats| seats.len() > 1)
    }

    /// A line for a person, if seats share a model: whose votes may be one voice.
    pub fn line(&self) -> Option<String> {
        if !self.is_shared() {
            return None;
        }
        let shared = self.models.iter().filter(|(_, seats)| seats.len() > 1);
        let groups = shared.map(|(model, seats)| format!("{} answer by {model}", listed(seats)));
        Some(format!(
            "Voices: {} seats, as many as {:.1} if those of one model think alike: {}",
            self.seats(),
            self.effective_voices(),
            groups.collect::<Vec<_>>().join("; ")
        ))
    }

    /// It as JSON.
    pub fn json(&self) -> Value {
        let rounded = |number: f64| (number * 1e6).round() / 1e6;
        json!({
            "models": self.models,
            "providers": self.providers,
            "effective_voices": rounded(self.effective_voices()),
            "effective_providers": rounded(self.effective_providers()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_seats_of_two_models_are_not_nine_voices() {
        assert!((effective([8, 1].into_iter()) - 81.0 / 65.0).abs() < 1e-9);
        assert!((effective([1, 1, 1].into_iter()) - 3.0).abs() < 1e-9);
        assert!((effective([4].into_iter()) - 1.0).abs() < 1e-9);
    }
}
