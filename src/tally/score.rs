//! Score voting: the option with the highest mean score wins.
//!
//! Source: range voting, as in Warren D. Smith, "Range Voting" (2000). An option's mean is over the
//! ballots that score it; an option without any score cannot win. Means compare as exact ratios.

use super::decimal::{Decimal, Score, compare_ratios};
use super::profile::{IndexedBallot, Profile};
use super::verdict::Verdict;

/// Divides each option's weighted sum of scores by the weight of the ballots that score it.
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
    let mean = |at: usize| Score::ratio(sums[at].0.0, sums[at].1.0.max(1));
    let compare = |a: usize, b: usize| compare_ratios(sums[a].0.0, sums[a].1.0, sums[b].0.0, sums[b].1.0);
    let line = |at: usize| match sums[at].1 {
        Decimal::ZERO => format!("{}: no scores", profile.options[at]),
        weight => format!("{}: {} / {weight} = {}", profile.options[at], sums[at].0, mean(at)),
    };
    let steps = (0..sums.len()).map(line).collect();
    let is_scored = |at: usize| sums[at].1 > Decimal::ZERO;
    let means = (0..sums.len()).map(mean);
    Verdict { steps, ..Verdict::highest(&profile.options, means, is_scored, compare) }
}
