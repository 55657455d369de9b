//! Copeland: the option that wins most pairs wins; a level pair is half a win for both.
//!
//! Source: A. H. Copeland, "A 'reasonable' social welfare function" (1951), in the form with halves.

use super::decimal::{Decimal, Score};
use super::pairwise::{NO_RANKINGS, Pairwise};
use super::profile::Profile;
use super::verdict::{Verdict, leaders};

/// Counts pairs won and pairs level.
pub fn count(profile: &Profile) -> Verdict {
    let pairs = Pairwise::from_profile(profile);
    let options = profile.options.len();
    let mut steps = pairs.steps(&profile.options);
    let mut halves = Vec::with_capacity(options);
    for a in 0..options {
        let wins = pairs.others(a).filter(|b| pairs.beats(a, *b)).count();
        let losses = pairs.others(a).filter(|b| pairs.beats(*b, a)).count();
        let level = options - 1 - wins - losses;
        halves.push(2 * wins + level);
        let score = Score::ratio((2 * wins + level) as i128, 2);
        steps.push(format!("{}: {wins} won, {level} level, {losses} lost: {score}", profile.options[a]));
    }
    let amounts: Vec<Decimal> = halves.iter().map(|halves| Decimal::whole(*halves as u64)).collect();
    // Of one option alone there is no pair to win.
    let won = match (pairs.total, options) {
        (0, _) => Vec::new(),
        (_, 1) => vec![0],
        _ => leaders(&amounts),
    };
    let verdict = Verdict::from_winners(&profile.options, &won, NO_RANKINGS)
        .scored(&profile.options, halves.iter().map(|halves| Score::ratio(*halves as i128, 2)))
        .with_steps(steps)
        .with_trace(pairs.trace());
    pairs.ordered(verdict, &profile.options, |a, b| halves[b].cmp(&halves[a]))
}
