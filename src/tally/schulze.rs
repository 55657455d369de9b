//! Schulze: an option wins if its strongest path to every other is at least as strong as the way back.
//!
//! Source: M. Schulze, "A new monotonic, clone-independent, reversal symmetric, and Condorcet-consistent
//! single-winner election method", Social Choice and Welfare 36 (2011). A path is as strong as the
//! weakest victory on it.

use super::decimal::Score;
use super::no_decision::NoDecision;
use super::pairwise::{Pairwise, layers, matrix};
use super::profile::Profile;
use super::verdict::{Trace, Verdict};

struct Paths {
    options: usize,
    strength: Vec<i128>,
}

impl Paths {
    /// Widest paths, by Floyd and Warshall.
    fn from_strengths(pairs: &Pairwise, options: usize) -> Self {
        let mut paths = Self { options, strength: vec![0; options * options] };
        for a in 0..options {
            for b in pairs.others(a) {
                paths.strength[a * options + b] = pairs.strength(a, b);
            }
        }
        for via in 0..options {
            for a in pairs.others(via) {
                for b in pairs.others(a).filter(|b| *b != via) {
                    let through = paths.at(a, via).min(paths.at(via, b));
                    paths.strength[a * options + b] = through.max(paths.at(a, b));
                }
            }
        }
        paths
    }

    fn at(&self, a: usize, b: usize) -> i128 {
        self.strength[a * self.options + b]
    }
}

pub fn count(profile: &Profile) -> Verdict {
    let pairs = Pairwise::from_profile(profile);
    let (names, options) = (&profile.options, profile.options.len());
    let paths = Paths::from_strengths(&pairs, options);
    // The tables are the steps: a pair's paths are compared in them.
    let steps = vec!["strength of a victory: winning votes; of a path: its weakest victory".to_owned()];
    let beaten = |a: usize| pairs.others(a).filter(|b| paths.at(a, *b) > paths.at(*b, a)).count() as u64;
    let wins = |a: usize| pairs.others(a).all(|b| paths.at(a, b) >= paths.at(b, a));
    let won: Vec<usize> = (0..options).filter(|a| pairs.total > 0 && wins(*a)).collect();
    let trace = Trace { paths: matrix(options, |a, b| paths.at(a, b)), ..pairs.trace() };
    let verdict = Verdict::from_winners(names, &won, NoDecision::NoBallots)
        .scored(names, (0..options).map(|a| Score::from(beaten(a))));
    let verdict = Verdict { steps, trace: Some(Box::new(trace)), ..verdict };
    let layers = layers(options, |a, b| paths.at(a, b) > paths.at(b, a));
    pairs.ordered(verdict, names, |a, b| layers[a].cmp(&layers[b]))
}
