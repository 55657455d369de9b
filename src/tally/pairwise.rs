//! Pair by pair: how many ballots put one option above another.
//!
//! Options that a ballot leaves out stand below those it lists, tied. The strength of a victory
//! is the winning side's votes. A ballot says nothing of its voter's own option.

use std::cmp::Ordering;

use super::decimal::{Decimal, Score};
use super::profile::{IndexedBallot, Profile, UNLISTED};
use super::verdict::{Trace, Verdict};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairwise {
    options: usize,
    /// Row over column, in units.
    prefer: Vec<i128>,
    /// The weight of all ballots, in units.
    pub total: i128,
    /// The weight of the ballots that do not compare the two, in units.
    not_compared: Vec<i128>,
}

impl Pairwise {
    pub fn from_profile(profile: &Profile) -> Self {
        let options = profile.options.len();
        let mut pairs = Self {
            options,
            prefer: vec![0; options * options],
            total: 0,
            not_compared: vec![0; options * options],
        };
        let mut rankings = profile.rankings();
        rankings.sort_by_key(|(_, worth)| *worth);
        let mut counts = vec![0_u64; options * options];
        for alike in rankings.chunk_by(|(_, a), (_, b)| a == b) {
            counts.fill(0);
            for (ranks, _) in alike {
                for (a, rank) in ranks.iter().enumerate() {
                    let row = &mut counts[a * options..(a + 1) * options];
                    for (count, other) in row.iter_mut().zip(ranks) {
                        *count += u64::from(rank < other);
                    }
                }
            }
            let worth = alike[0].1.units();
            pairs.total += worth * alike.len() as i128;
            for (sum, count) in pairs.prefer.iter_mut().zip(&counts) {
                *sum += worth * i128::from(*count);
            }
        }
        for ballot in &profile.ballots {
            if let (Some(own), IndexedBallot::Ranking(ranks)) = (ballot.own, &ballot.mark) {
                pairs.leave_out(own, ranks, ballot.total_weight().units());
            }
        }
        pairs
    }

    /// Takes back what a ballot says of its voter's own option, which it does not list.
    fn leave_out(&mut self, own: usize, ranks: &[u16], worth: i128) {
        for other in self.others(own) {
            let (above, below) = (other * self.options + own, own * self.options + other);
            if ranks[other] != UNLISTED {
                self.prefer[above] -= worth;
            }
            self.not_compared[above] += worth;
            self.not_compared[below] += worth;
        }
    }

    pub fn prefer(&self, a: usize, b: usize) -> i128 {
        self.prefer[a * self.options + b]
    }

    /// The weight that puts neither above the other.
    pub fn level(&self, a: usize, b: usize) -> i128 {
        self.total - self.not_compared[a * self.options + b] - self.prefer(a, b) - self.prefer(b, a)
    }

    pub fn beats(&self, a: usize, b: usize) -> bool {
        self.prefer(a, b) > self.prefer(b, a)
    }

    /// The votes by which `a` beats `b`; 0 if it does not.
    pub fn strength(&self, a: usize, b: usize) -> i128 {
        if self.beats(a, b) { self.prefer(a, b) } else { 0 }
    }

    pub fn others(&self, a: usize) -> impl Iterator<Item = usize> + use<> {
        (0..self.options).filter(move |b| *b != a)
    }

    /// A verdict with the order of the options, if any ballot ranks them.
    pub fn ordered(
        &self,
        verdict: Verdict,
        names: &[String],
        compare: impl Fn(usize, usize) -> Ordering,
    ) -> Verdict {
        if self.total == 0 { verdict } else { verdict.ordered(names, compare) }
    }

    pub fn trace(&self) -> Trace {
        Trace { pairwise: matrix(self.options, |a, b| self.prefer(a, b)), ..Trace::default() }
    }
}

/// For each option its layer: the first are those that none is before, the next those that none is
/// before once these are gone, and so on. `is_before` has no cycles.
pub fn layers(options: usize, is_before: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut layers = vec![options; options];
    for layer in 0..options {
        let left: Vec<usize> = (0..options).filter(|a| layers[*a] == options).collect();
        let first = left.iter().filter(|a| !left.iter().any(|b| is_before(*b, **a)));
        first.for_each(|a| layers[*a] = layer);
    }
    layers
}

/// A matrix of amounts as it is written, the diagonal 0.
pub fn matrix(options: usize, cell: impl Fn(usize, usize) -> i128) -> Vec<Vec<Score>> {
    let shown = |a, b| if a == b { Score::default() } else { Score::from(Decimal::of_units(cell(a, b))) };
    (0..options).map(|a| (0..options).map(|b| shown(a, b)).collect()).collect()
}
