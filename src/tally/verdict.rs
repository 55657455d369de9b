//! Result of a voting rule: winners, scores and steps.
//!
//! The steps let people redo the count by hand; the trace contains the same as data.

use std::cmp::Ordering;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::decimal::{Decimal, Score};
use super::no_decision::NoDecision;
use super::rule::Choose;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// Reports the tie and decides nothing.
    #[default]
    None,
    /// The facilitator chooses among the tied options.
    Ask,
    /// The option with the lowest SHA-256 over this seed and its name wins.
    Seeded(u64),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Several if they are tied, or if the rule chooses several.
    pub winners: Vec<String>,
    pub tie: bool,
    /// All options, best first, tied ones together; empty if the rule has no order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<Vec<String>>,
    /// Basis of `order`, for rules that define only winners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order_by: Option<String>,
    /// The rule's score for each option, in form order.
    pub scores: IndexMap<String, Score>,
    pub steps: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<Settled>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<NoDecision>,
    /// The steps as data, for rules whose scores do not show them all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Box<Trace>>,
}

/// Source of the choice among tied options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settled {
    Seed(u64),
    Facilitator,
    /// A rehearsal takes the first option, so that it reaches the later steps.
    Rehearsal,
}

/// Steps of a count as data; each rule fills in its own fields.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// Weight of the ballots that prefer the row's option to the column's, in form order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairwise: Vec<Vec<Score>>,
    /// Strength of the strongest path from the row's option to the column's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<Vec<Score>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Elimination>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Quartiles>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Elimination {
    /// First places among the remaining options.
    pub counts: IndexMap<String, Score>,
    /// Weight of the ballots that list none of the remaining options.
    pub exhausted: Score,
    /// Eliminated option; `None` in the last round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out: Option<String>,
    /// Options tied for last, if more than one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub level: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quartiles {
    pub lowest: String,
    pub first_quartile: String,
    pub median: String,
    pub third_quartile: String,
    pub highest: String,
    /// Third minus first quartile; for cards, their distance in cards.
    pub iqr: Score,
    /// Weight of the ballots for each value, lowest first.
    pub values: IndexMap<String, Score>,
}

impl Verdict {
    /// Creates a verdict with these winners, by index: one, several tied ones, or none for the reason `none`.
    pub fn from_winners(options: &[String], won: &[usize], none: NoDecision) -> Self {
        let winners: Vec<String> = won.iter().filter_map(|option| options.get(*option).cloned()).collect();
        let reason = match winners.len() {
            0 => Some(none),
            1 => None,
            _ => Some(NoDecision::Tie(winners.clone())),
        };
        Self { tie: winners.len() > 1, winners, reason, ..Self::default() }
    }

    /// Creates a verdict in which the highest score wins and all options are ordered by score. Options that
    /// `counts` excludes cannot win and come last.
    pub fn highest(
        options: &[String],
        scores: impl IntoIterator<Item = Score>,
        counts: impl Fn(usize) -> bool,
        compare: impl Fn(usize, usize) -> Ordering,
    ) -> Self {
        let in_order = |a: usize, b: usize| match (counts(a), counts(b)) {
            (true, true) => compare(b, a),
            (a, b) => b.cmp(&a),
        };
        let best = (0..options.len()).filter(|at| counts(*at)).min_by(|a, b| in_order(*a, *b));
        let is_best = |at: &usize| best.is_some_and(|best| in_order(*at, best).is_eq());
        let won: Vec<usize> = (0..options.len()).filter(is_best).collect();
        let verdict = Self::from_winners(options, &won, NoDecision::NoBallots).scored(options, scores);
        if won.is_empty() { verdict } else { verdict.ordered(options, in_order) }
    }

    /// Formats the scores as "a 3, b 1".
    pub fn listed(&self) -> String {
        let shown = self.scores.iter().map(|(option, score)| format!("{option} {score}"));
        shown.collect::<Vec<_>>().join(", ")
    }

    #[must_use]
    pub fn scored(mut self, options: &[String], scores: impl IntoIterator<Item = Score>) -> Self {
        self.scores = options.iter().cloned().zip(scores).collect();
        self
    }

    /// Sets the order of all options; `compare` returns `Less` for the better option.
    #[must_use]
    pub fn ordered(mut self, options: &[String], compare: impl Fn(usize, usize) -> Ordering) -> Self {
        let mut places: Vec<usize> = (0..options.len()).collect();
        // Stable sort: tied options keep the form order.
        places.sort_by(|a, b| compare(*a, *b));
        let groups = places.chunk_by(|a, b| compare(*a, *b).is_eq());
        let named = |group: &[usize]| group.iter().map(|option| options[*option].clone()).collect();
        self.order = groups.map(named).collect();
        self
    }

    #[must_use]
    pub fn ordered_by(mut self, what: &str) -> Self {
        self.order_by = (!self.order.is_empty()).then(|| what.to_owned());
        self
    }

    /// Chooses several winners: the first of the order, or every option that at least half approve. `asked` is
    /// the weight of the seats asked. An option without approvals or scores is never chosen.
    pub fn choose(&mut self, choose: Choose, asked: Decimal, is_scored: impl Fn(&str) -> bool) {
        let half = Score::from(asked).as_f64() / 2.0;
        let (mut chosen, mut edge) = (Vec::new(), Vec::new());
        for level in &self.order {
            let score = self.scores[&level[0]].as_f64();
            let room = match choose {
                Choose::Number(most) => most - chosen.len(),
                Choose::Share(_) if score >= half => level.len(),
                Choose::Share(_) => 0,
            };
            if room == 0 || score <= 0.0 && !is_scored(&level[0]) {
                break;
            }
            if level.len() > room {
                edge.clone_from(level);
                break;
            }
            chosen.extend(level.iter().cloned());
        }
        self.tie = !edge.is_empty();
        self.reason = match choose {
            _ if self.tie => Some(NoDecision::EdgeTie(edge)),
            _ if !chosen.is_empty() => None,
            Choose::Share(_) => Some(NoDecision::NoneByHalf),
            Choose::Number(_) => Some(NoDecision::NoBallots),
        };
        self.winners = chosen;
    }

    /// Breaks a tie by the seed, or by the facilitator's choice among the tied options.
    pub fn break_tie(&mut self, ties: Ties, choice: Option<&str>) {
        let (winner, by) = match ties {
            Ties::None => return,
            Ties::Ask => {
                let choice = choice.filter(|choice| self.winners.iter().any(|winner| winner == choice));
                (choice.map(str::to_owned), Settled::Facilitator)
            }
            Ties::Seeded(seed) => (seeded_winner(seed, &self.winners), Settled::Seed(seed)),
        };
        if let Some(winner) = winner {
            self.settle(&winner, by);
        }
    }

    /// Settles a tie; the winner moves ahead of the options that tied with it.
    pub fn settle(&mut self, winner: &str, by: Settled) {
        self.steps.push(match by {
            Settled::Seed(seed) => format!("tie broken by seed {seed}: {winner}"),
            Settled::Facilitator => format!("tie broken by the facilitator: {winner}"),
            Settled::Rehearsal => format!("the rehearsal continues with the first: {winner}"),
        });
        self.settled = Some(by);
        self.winners = vec![winner.to_owned()];
        self.tie = false;
        self.reason = None;
        if let Some(first) = self.order.first_mut().filter(|first| first.len() > 1) {
            first.retain(|option| option != winner);
            self.order.insert(0, vec![winner.to_owned()]);
        }
    }

    pub fn was_tied(&self) -> bool {
        matches!(self.settled, Some(Settled::Seed(_) | Settled::Facilitator))
    }

    /// Returns the reason why the result is not a single winner.
    pub fn why(&self) -> Option<String> {
        self.reason.as_ref().map(NoDecision::to_string)
    }

    /// Keeps the scores and removes the winners and the order.
    pub fn decide_nothing(&mut self, reason: NoDecision) {
        (self.winners, self.order, self.order_by) = (Vec::new(), Vec::new(), None);
        self.tie = false;
        self.reason = Some(reason);
    }
}

/// Returns the options with the highest score; none if no score is above 0.
pub fn leading(scores: &IndexMap<String, Score>) -> impl Iterator<Item = &String> {
    let most = scores.values().map(Score::as_f64).fold(0.0, f64::max);
    let ahead = scores.iter().filter(move |(_, score)| most > 0.0 && score.as_f64() >= most);
    ahead.map(|(option, _)| option)
}

/// Returns the tied option whose SHA-256 over `seed` (decimal), a line feed and its name is lowest.
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
