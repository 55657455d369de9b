//! Borda count: a point for each option ranked below; most points win.
//!
//! Source: J.-C. de Borda, "Mémoire sur les élections au scrutin" (1781). Tied options get half a point for
//! each other, and omitted options tie for last.

use super::decimal::{Decimal, Score};
use super::pairwise::Pairwise;
use super::profile::Profile;
use super::verdict::Verdict;

/// Adds up points: pairwise wins plus half of the ties.
pub fn count(profile: &Profile) -> Verdict {
    let pairs = Pairwise::from_profile(profile);
    let sums = pairs.prefer.iter().zip(&pairs.tied);
    let sums: Vec<(i128, i128)> =
        sums.map(|(below, level)| (below.iter().sum(), level.iter().sum())).collect();
    let twice = |at: usize| 2 * sums[at].0 + sums[at].1;
    let points: Vec<Score> = (0..sums.len()).map(|at| Score::ratio(twice(at), 2 * Decimal::ONE.0)).collect();
    let each = profile.options.len().saturating_sub(1);
    let mut steps = vec![format!(
        "a point for each option below, half a point for each that is level: {each} at most from a ballot"
    )];
    for ((option, (below, level)), points) in profile.options.iter().zip(&sums).zip(&points) {
        let (below, level) = (Decimal(*below), Decimal(*level));
        steps.push(format!("{option}: {below} below + {level} level / 2 = {points}"));
    }
    let compare = |a: usize, b: usize| twice(a).cmp(&twice(b));
    let verdict = Verdict::highest(&profile.options, points, |_| pairs.total > 0, compare);
    Verdict { steps, trace: Some(Box::new(pairs.trace())), ..verdict }
}
