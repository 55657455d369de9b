//! Score voting by the mean: the option with the highest mean score wins.
//!
//! Source: range voting, as in Warren D. Smith, "Range Voting" (2000). An option's mean is over the
//! ballots that score it; an option without any score cannot win. Means compare as exact ratios.

use super::decimal::{Decimal, Score, compare_ratios};
use super::no_decision::NoDecision;
use super::profile::{IndexedBallot, Profile};
use super::verdict::Verdict;

/// Adds up scores and divides by the weight of those who gave them.
pub fn count(profile: &Profile) -> Verdict {
    let mut sums = vec![(Decimal::ZERO, Decimal::ZERO); profile.options.len()];
    for ballot in &profile.ballots {
        let IndexedBallot::Scores(scores) = &ballot.mark else { continue };
        for (sum, score) in sums.iter_mut().zip(scores) {
            if let Some(score) = score {
                sum.0 += score.times(ballot.weight).repeated(ballot.count);
                sum.1 += ballot.total_weight();
            }
        }
    }
    let mean = |at: usize| Score::ratio(sums[at].0.units(), sums[at].1.units().max(1));
    let scored: Vec<usize> = (0..sums.len()).filter(|at| sums[*at].1 > Decimal::ZERO).collect();
    let compare = |a: usize, b: usize| {
        compare_ratios(sums[a].0.units(), sums[a].1.units(), sums[b].0.units(), sums[b].1.units())
    };
    let best = scored.iter().copied().max_by(|a, b| compare(*a, *b));
    let won: Vec<usize> =
        scored.iter().copied().filter(|at| best.is_some_and(|best| compare(*at, best).is_eq())).collect();
    let line = |at: usize| match sums[at].1 {
        Decimal::ZERO => format!("{}: no scores", profile.options[at]),
        weight => format!("{}: {} / {weight} = {}", profile.options[at], sums[at].0, mean(at)),
    };
    let mut verdict = Verdict::from_winners(&profile.options, &won, NoDecision::NoBallots)
        .scored(&profile.options, (0..sums.len()).map(mean));
    verdict.steps = (0..sums.len()).map(line).collect();
    if won.is_empty() {
        return verdict;
    }
    let is_scored = |at: usize| sums[at].1 > Decimal::ZERO;
    // Options that no ballot scores stand last.
    verdict.ordered(&profile.options, |a, b| match (is_scored(a), is_scored(b)) {
        (true, true) => compare(b, a),
        (a, b) => b.cmp(&a),
    })
}
