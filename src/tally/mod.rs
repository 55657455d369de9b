//! Counting ballots by a rule fixed beforehand: one rule a file, and the steps it took.
//!
//! Pure and exact: whole numbers, the order of the form, never the order of a map or of arrival.
//! Quorum and seats are the session's matter; a rule sees valid ballots only.

mod consent;
mod majority;
mod plurality;

pub use consent::{Stances, consent};
pub use majority::majority;
pub use plurality::plurality;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A voting rule as the definition fixes it, before the first ballot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// More than half of the ballots that name an option.
    Majority,
    /// More ballots than any other option.
    Plurality,
    /// No block.
    Consent,
}

impl Rule {
    /// The word that names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Majority => "majority",
            Self::Plurality => "plurality",
            Self::Consent => "consent",
        }
    }
}

/// What happens when options are level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// The tie is reported and nothing is decided.
    #[default]
    None,
    /// The facilitator decides among the tied.
    Ask,
    /// The order of SHA-256 over this seed and the option decides.
    Seeded(u64),
}

/// What a rule found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Who won; several when they are level, none when nobody did.
    pub winners: Vec<String>,
    /// Whether the winners are level.
    pub tie: bool,
    /// Ballots by option, in the order of the form.
    pub scores: IndexMap<String, u64>,
    /// How it was found, so that a person can redo it by hand.
    pub steps: Vec<String>,
    /// Why there is no single winner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Ballots by option: `votes` are indices into `options`; others are not counted.
fn count(options: &[String], votes: &[usize]) -> IndexMap<String, u64> {
    let mut scores: IndexMap<String, u64> = options.iter().map(|option| (option.clone(), 0)).collect();
    for vote in votes {
        if let Some((_, score)) = scores.get_index_mut(*vote) {
            *score += 1;
        }
    }
    scores
}

/// The options with the most ballots, in the order of the form; none when there are no ballots.
fn leaders(scores: &IndexMap<String, u64>) -> Vec<String> {
    let most = scores.values().copied().max().unwrap_or(0);
    scores.iter().filter(|(_, score)| most > 0 && **score == most).map(|(o, _)| o.clone()).collect()
}

/// "a 3, b 1" for a step's text.
fn listed(scores: &IndexMap<String, u64>) -> String {
    scores.iter().map(|(option, score)| format!("{option} {score}")).collect::<Vec<_>>().join(", ")
}

/// The one of `tied` whose SHA-256 over `seed` (decimal), a line feed and the option is lowest.
pub fn seeded_winner(seed: u64, tied: &[String]) -> Option<String> {
    tied.iter().min_by_key(|option| Sha256::digest(format!("{seed}\n{option}"))).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_decides_whatever_the_order() {
        let (ab, ba) = (vec!["a".to_owned(), "b".to_owned()], vec!["b".to_owned(), "a".to_owned()]);
        assert_eq!(seeded_winner(7, &ab), seeded_winner(7, &ba));
        let winners: std::collections::HashSet<_> = (0..50).map(|seed| seeded_winner(seed, &ab)).collect();
        assert_eq!(winners.len(), 2, "both can win");
    }
}
