//! The result of a rule: the winners, the numbers, every step.
//!
//! Steps are for people who redo the count by hand, the trace holds the same as data.

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
    /// The tie is reported and nothing is decided.
    #[default]
    None,
    /// The facilitator decides among the tied.
    Ask,
    /// The order of SHA-256 over this seed and the option decides.
    Seeded(u64),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Several when they are level.
    pub winners: Vec<String>,
    pub tie: bool,
    /// All options from the best on, level ones together; empty where the rule orders none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<Vec<String>>,
    /// By what they are in this order, where the rule itself says only who wins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order_by: Option<String>,
    /// The rule's number for each option, in the order of the form.
    pub scores: IndexMap<String, Score>,
    /// A line for each step, so that a person can redo the count by hand.
    pub steps: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<Settled>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<NoDecision>,
    /// The steps as data, where a rule has more of them than its numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Box<Trace>>,
}

/// The chooser among tied options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settled {
    Seed(u64),
    Facilitator,
    /// A rehearsal takes the first, so that the steps that follow are tried as well.
    Rehearsal,
}

/// The steps of a count as data; what a rule does not have is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// Ballots that prefer the option of the row to that of the column, in the order of the form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairwise: Vec<Vec<Score>>,
    /// The strength of the strongest path from the row to the column.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<Vec<Score>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Elimination>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Quartiles>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Elimination {
    /// First places among the options that are left.
    pub counts: IndexMap<String, Score>,
    /// Ballots that list none of them any more.
    pub exhausted: Score,
    /// None in the last round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out: Option<String>,
    /// All who were level for last, if more than one.
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
    /// Third less first quartile: for cards, how many cards apart.
    pub iqr: Score,
    /// The ballots for each value, lowest first.
    pub values: IndexMap<String, Score>,
}

impl Verdict {
    /// The verdict in which these options, by index, have won: one, several that are level, or none,
    /// which `none` says why.
    pub fn from_winners(options: &[String], won: &[usize], none: NoDecision) -> Self {
        let winners: Vec<String> = won.iter().filter_map(|option| options.get(*option).cloned()).collect();
        let reason = match winners.len() {
            0 => Some(none),
            1 => None,
            _ => Some(NoDecision::Tie(winners.clone())),
        };
        Self { tie: winners.len() > 1, winners, reason, ..Self::default() }
    }

    /// The verdict of a number for each option: the highest win, and all stand in its order. Options that
    /// `counts` leaves out cannot win and stand last.
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

    /// "a 3, b 1" for a step's text.
    pub fn listed(&self) -> String {
        let shown = self.scores.iter().map(|(option, score)| format!("{option} {score}"));
        shown.collect::<Vec<_>>().join(", ")
    }

    /// With the rule's number for each option.
    #[must_use]
    pub fn scored(mut self, options: &[String], scores: impl IntoIterator<Item = Score>) -> Self {
        self.scores = options.iter().cloned().zip(scores).collect();
        self
    }

    /// With the order of all options: `compare` says how one stands to another, the less the better.
    #[must_use]
    pub fn ordered(mut self, options: &[String], compare: impl Fn(usize, usize) -> Ordering) -> Self {
        let mut places: Vec<usize> = (0..options.len()).collect();
        // Stable: level options stay in the order of the form.
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

    /// Takes several winners: the first few of the order, or every option that at least half of those asked
    /// approve; `asked` is what these weigh. An option without approvals or scores is never chosen.
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

    /// Breaks a tie by the seed, or by what the facilitator chose among the tied.
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

    /// Settles a tie: the winner stands before the others that were level with it.
    pub fn settle(&mut self, winner: &str, by: Settled) {
        self.steps.push(match by {
            Settled::Seed(seed) => format!("tie broken by seed {seed}: {winner}"),
            Settled::Facilitator => format!("tie broken by the facilitator: {winner}"),
            Settled::Rehearsal => format!("the rehearsal goes on with the first: {winner}"),
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

    /// The reason why there is no single winner, in words.
    pub fn why(&self) -> Option<String> {
        self.reason.as_ref().map(NoDecision::to_string)
    }

    /// Leaves the numbers and takes away what they would decide.
    pub fn decide_nothing(&mut self, reason: NoDecision) {
        (self.winners, self.order, self.order_by) = (Vec::new(), Vec::new(), None);
        self.tie = false;
        self.reason = Some(reason);
    }
}

/// The options ahead of all others by their scores; none if all have nothing.
pub fn leading(scores: &IndexMap<String, Score>) -> impl Iterator<Item = &String> {
    let most = scores.values().map(Score::as_f64).fold(0.0, f64::max);
    let ahead = scores.iter().filter(move |(_, score)| most > 0.0 && score.as_f64() >= most);
    ahead.map(|(option, _)| option)
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
