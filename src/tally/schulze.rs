//! Schulze method: winners by the strongest paths between options.
//!
//! Source: M. Schulze, "A new monotonic, clone-independent, reversal symmetric, and Condorcet-consistent
//! single-winner election method", Social Choice and Welfare 36 (2011). An option wins if its strongest path
//! to every other option is at least as strong as the path back. A victory is as strong as its winning votes,
//! a path as its weakest victory.

use super::decimal::Score;
use super::no_decision::NoDecision;
use super::pairwise::{Matrix, Pairwise, to_scores};
use super::profile::Profile;
use super::verdict::{Trace, Verdict};

pub fn count(profile: &Profile) -> Verdict {
    let pairs = Pairwise::from_profile(profile);
    let (names, options) = (&profile.options, profile.options.len());
    let paths = paths(&pairs.prefer);
    // The trace's matrices show every pair, so the steps do not.
    let steps = vec!["strength of a victory: winning votes; of a path: its weakest victory".to_owned()];
    let trace = Some(Box::new(Trace { paths: to_scores(&paths), ..pairs.trace() }));
    let is_before = |a: usize, b: usize| paths[a][b] > paths[b][a];
    let beaten = (0..options).map(|a| (0..options).filter(|b| is_before(a, *b)).count() as u64);
    let layers = if pairs.total == 0 { Vec::new() } else { layers(options, is_before) };
    let won: Vec<usize> = (0..layers.len()).filter(|option| layers[*option] == 0).collect();
    let verdict = Verdict::from_winners(names, &won, NoDecision::NoBallots);
    let verdict = Verdict { steps, trace, ..verdict.scored(names, beaten.map(Score::from)) };
    if won.is_empty() { verdict } else { verdict.ordered(names, |a, b| layers[a].cmp(&layers[b])) }
}

/// Returns the strength of the strongest paths (Floyd–Warshall).
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

/// Returns the layer of each option. Layer 0 has the options that no option precedes; each next layer has
/// those that none precedes once the earlier layers are removed. `is_before` must have no cycles.
fn layers(options: usize, is_before: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut layers = vec![options; options];
    for layer in 0..options {
        let left: Vec<usize> = (0..options).filter(|a| layers[*a] == options).collect();
        let first = left.iter().filter(|a| !left.iter().any(|b| is_before(*b, **a)));
        first.for_each(|a| layers[*a] = layer);
    }
    layers
}
