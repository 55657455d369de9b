//! Score voting by the median: the option with the highest median score wins.
//!
//! Source: robust voting by medians, as in Bassett and Persky, "Robust voting", Public Choice 99
//! (1999). The median is over the ballots that score the option; between two middle scores it is their
//! mean, so that it can be level more often than `majority-judgment`, which goes on from there.

use super::decimal::{Decimal, Score};
use super::median::middle;
use super::profile::{IndexedBallot, Profile};
use super::verdict::Verdict;

/// Finds each option's median score.
pub fn count(profile: &Profile) -> Verdict {
    let medians: Vec<Option<Decimal>> = (0..profile.options.len()).map(|at| median_of(profile, at)).collect();
    let best = medians.iter().flatten().copied().max();
    let won: Vec<usize> =
        (0..medians.len()).filter(|at| medians[*at].is_some() && medians[*at] == best).collect();
    let line = |(option, median): (&String, &Option<Decimal>)| match median {
        Some(median) => format!("{option}: median {median}"),
        None => format!("{option}: no scores"),
    };
    let steps = profile.options.iter().zip(&medians).map(line).collect();
    let verdict = Verdict::from_winners(&profile.options, &won, "no ballot scores an option")
        .scored(&profile.options, medians.iter().map(|median| median.unwrap_or_default()).map(Score::from))
        .with_steps(steps);
    if won.is_empty() {
        return verdict;
    }
    // Options that no ballot scores stand last: nothing is less than any median.
    verdict.ordered(&profile.options, |a, b| medians[b].cmp(&medians[a]))
}

fn median_of(profile: &Profile, option: usize) -> Option<Decimal> {
    let score = |mark: &IndexedBallot| {
        let IndexedBallot::Scores(scores) = mark else { return None };
        scores.get(option).copied().flatten()
    };
    let given =
        profile.ballots.iter().filter_map(|ballot| Some((score(&ballot.mark)?, ballot.total_weight())));
    let (low, high) = middle(&mut given.collect::<Vec<_>>(), 1, 2)?;
    Some(low.midpoint(high))
}
