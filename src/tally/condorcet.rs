//! Condorcet winner: the option that beats every other, pair by pair; there may be none.
//!
//! Source: Condorcet, "Essai sur l'application de l'analyse à la probabilité des décisions" (1785).

use super::decimal::Score;
use super::pairwise::{NO_RANKINGS, Pairwise};
use super::profile::Profile;
use super::verdict::Verdict;

/// Looks for an option that wins all of its pairs.
pub fn count(profile: &Profile) -> Verdict {
    let pairs = Pairwise::from_profile(profile);
    let options = profile.options.len();
    let wins: Vec<usize> =
        (0..options).map(|a| pairs.others(a).filter(|b| pairs.beats(a, *b)).count()).collect();
    let won: Vec<usize> = (0..options).filter(|a| pairs.total > 0 && wins[*a] + 1 == options).collect();
    let none = if pairs.total == 0 { NO_RANKINGS } else { "no option beats every other" };
    let mut steps = pairs.steps(&profile.options);
    let lines = profile.options.iter().zip(&wins);
    steps.extend(lines.map(|(option, wins)| format!("{option} wins {wins} of {} pairs", options - 1)));
    let verdict = Verdict::from_winners(&profile.options, &won, none)
        .scored(&profile.options, wins.iter().map(|wins| Score::from(*wins as u64)))
        .with_steps(steps)
        .with_trace(pairs.trace());
    pairs.ordered(verdict, &profile.options, |a, b| wins[b].cmp(&wins[a])).ordered_by("pairs won")
}
