//! Schulze: an option wins if its strongest path to every other is at least as strong as the way back.
//!
//! Source: M. Schulze, "A new monotonic, clone-independent, reversal symmetric, and Condorcet-consistent
//! single-winner election method", Social Choice and Welfare 36 (2011). A victory is as strong as the votes
//! of its winning side, a path as the weakest victory on it.

use super::decimal::Score;
use super::no_decision::NoDecision;
use super::pairwise::{Matrix, Pairwise, shown};
use super::profile::Profile;
use super::verdict::{Trace, Verdict};

pub fn count(profile: &Profile) -> Verdict {
    let pairs = Pairwise::from_profile(profile);
    let (names, options) = (&profile.options, profile.options.len());
    let paths = paths(&pairs.prefer);
    // The tables are the steps: a pair's paths are compared in them.
    let steps = vec!["strength of a victory: winning votes; of a path: its weakest victory".to_owned()];
    let trace = Some(Box::new(Trace { paths: shown(&paths), ..pairs.trace() }));
    let is_before = |a: usize, b: usize| paths[a][b] > paths[b][a];
    let beaten = (0..options).map(|a| (0..options).filter(|b| is_before(a, *b)).count() as u64);
    let layers = if pairs.total == 0 { Vec::new() } else { layers(options, is_before) };
    let won: Vec<usize> = (0..layers.len()).filter(|option| layers[*option] == 0).collect();
    let verdict = Verdict::from_winners(names, &won, NoDecision::NoBallots);
    let verdict = Verdict { steps, trace, ..verdict.scored(names, beaten.map(Score::from)) };
    if won.is_empty() { verdict } else { verdict.ordered(names, |a, b| layers[a].cmp(&layers[b])) }
}

/// Widest paths, by Floyd and Warshall.
fn paths(prefer: &Matrix) -> Matrix {
    let options = 0..prefer.len();
    let strength = |a: usize, b: usize| if prefer[a][b] > prefer[b][a] { prefer[a][b] } else { 0 };
    let mut paths: Matrix =
        options.clone().map(|a| options.clone().map(|b| strength(a, b)).collect()).collect();
    for via in options {
        let onward = paths[via].clone();
        for row in &mut paths {
            let there = row[via];
            for (path, onward) in row.iter_mut().zip(&onward) {
                *path = (*path).max(there.min(*onward));
            }
        }
    }
    paths
}

/// The layer of each option: the first are those that none is before, the next those that none is before
/// once these are gone, and so on. `is_before` has no cycles.
fn layers(options: usize, is_before: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut layers = vec![options; options];
    for layer in 0..options {
        let left: Vec<usize> = (0..options).filter(|a| layers[*a] == options).collect();
        let first = left.iter().filter(|a| !left.iter().any(|b| is_before(*b, **a)));
        first.for_each(|a| layers[*a] = layer);
    }
    layers
}
