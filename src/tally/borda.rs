//! Borda: an option gets a point for each option that a ballot puts below it; most points win.
//!
//! Source: J.-C. de Borda, "Mémoire sur les élections au scrutin" (1781). An option level with another on
//! a ballot gets half a point for it, and options left out are level at the end, so that every ballot
//! gives the same number of points.

use super::decimal::{Decimal, Score};
use super::no_decision::NoDecision;
use super::pairwise::Pairwise;
use super::profile::Profile;
use super::verdict::{Verdict, leaders};

/// Adds up points, which are wins pair by pair and half of what is level.
pub fn count(profile: &Profile) -> Verdict {
    let pairs = Pairwise::from_profile(profile);
    let points: Vec<i128> = (0..profile.options.len())
        .map(|a| pairs.others(a).map(|b| 2 * pairs.prefer(a, b) + pairs.level(a, b)).sum())
        .collect();
    let amounts: Vec<Decimal> = points.iter().map(|twice| Decimal::of_units(*twice)).collect();
    let won = if pairs.total == 0 { Vec::new() } else { leaders(&amounts) };
    let shown: Vec<Score> =
        points.iter().map(|twice| Score::ratio(*twice, 2 * Decimal::ONE.units())).collect();
    let each = profile.options.len().saturating_sub(1);
    let mut steps = vec![format!(
        "a point for each option below, half a point for each that is level: {each} at most from a ballot"
    )];
    for (a, option) in profile.options.iter().enumerate() {
        let below: i128 = pairs.others(a).map(|b| pairs.prefer(a, b)).sum();
        let level: i128 = pairs.others(a).map(|b| pairs.level(a, b)).sum();
        let (below, level) = (Decimal::of_units(below), Decimal::of_units(level));
        steps.push(format!("{option}: {below} below + {level} level / 2 = {}", shown[a]));
    }
    let verdict = Verdict::from_winners(&profile.options, &won, NoDecision::NoBallots);
    let verdict = Verdict { steps, trace: Some(Box::new(pairs.trace())), ..verdict };
    let verdict = verdict.scored(&profile.options, shown);
    pairs.ordered(verdict, &profile.options, |a, b| points[b].cmp(&points[a]))
}
