//! Schulze: an option wins if its strongest path to every other is at least as strong as the way back.
//!
//! Source: M. Schulze, "A new monotonic, clone-independent, reversal symmetric, and Condorcet-consistent
//! single-winner election method", Social Choice and Welfare 36 (2011). A path is as strong as the
//! weakest victory on it.

use super::decimal::{Decimal, Score};
use super::no_decision::NoDecision;
use super::pairwise::{Pairwise, layers, matrix};
use super::profile::Profile;
use super::verdict::{Trace, Verdict};

struct Paths {
    options: usize,
    strength: Vec<i128>,
    /// The option before the last on the strongest path.
    before: Vec<usize>,
}

impl Paths {
    /// Widest paths, by Floyd and Warshall.
    fn from_strengths(pairs: &Pairwise, options: usize) -> Self {
        let mut paths =
            Self { options, strength: vec![0; options * options], before: vec![0; options * options] };
        for a in 0..options {
            for b in pairs.others(a) {
                paths.strength[a * options + b] = pairs.strength(a, b);
                paths.before[a * options + b] = a;
            }
        }
        for via in 0..options {
            for a in pairs.others(via) {
                for b in pairs.others(a).filter(|b| *b != via) {
                    let through = paths.at(a, via).min(paths.at(via, b));
                    if through > paths.at(a, b) {
                        paths.strength[a * options + b] = through;
                        paths.before[a * options + b] = paths.before[via * options + b];
                    }
                }
            }
        }
        paths
    }

    fn at(&self, a: usize, b: usize) -> i128 {
        self.strength[a * self.options + b]
    }

    /// "a, c, b" with the strength, or that there is none.
    fn shown(&self, a: usize, b: usize, names: &[String]) -> String {
        if self.at(a, b) == 0 {
            return format!("no path from {} to {}", names[a], names[b]);
        }
        let (mut way, mut last) = (vec![names[b].as_str()], b);
        while last != a && way.len() <= self.options {
            last = self.before[a * self.options + last];
            way.push(&names[last]);
        }
        way.reverse();
        format!("{} {}", way.join(" → "), Decimal::of_units(self.at(a, b)))
    }
}

/// Compares the strongest paths both ways.
pub fn count(profile: &Profile) -> Verdict {
    let pairs = Pairwise::from_profile(profile);
    let (names, options) = (&profile.options, profile.options.len());
    let paths = Paths::from_strengths(&pairs, options);
    let mut steps = pairs.steps(names);
    steps.push("strength of a victory: winning votes; of a path: its weakest victory".to_owned());
    let mut beaten = vec![0_u64; options];
    for a in 0..options {
        for b in a + 1..options {
            let (first, second) = if paths.at(b, a) > paths.at(a, b) { (b, a) } else { (a, b) };
            let is_level = paths.at(a, b) == paths.at(b, a);
            beaten[first] += u64::from(!is_level);
            let word = if is_level { "level with" } else { "before" };
            let (there, back) = (paths.shown(first, second, names), paths.shown(second, first, names));
            steps.push(format!("{} {word} {}: {there}; {back}", names[first], names[second]));
        }
    }
    let wins = |a: usize| pairs.others(a).all(|b| paths.at(a, b) >= paths.at(b, a));
    let won: Vec<usize> = (0..options).filter(|a| pairs.total > 0 && wins(*a)).collect();
    let trace = Trace { paths: matrix(options, |a, b| paths.at(a, b)), ..pairs.trace() };
    let verdict = Verdict::from_winners(names, &won, NoDecision::NoBallots)
        .scored(names, beaten.into_iter().map(Score::from))
        .with_steps(steps)
        .with_trace(trace);
    let layers = layers(options, |a, b| paths.at(a, b) > paths.at(b, a));
    pairs.ordered(verdict, names, |a, b| layers[a].cmp(&layers[b]))
}
