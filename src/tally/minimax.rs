//! Minimax: the option whose worst defeat is the smallest wins.
//!
//! Source: P. B. Simpson, "On defining areas of voter choice" (1969), and G. H. Kramer, "A dynamical
//! model of political equilibrium" (1977). Only lost pairs are defeats; who loses none has a worst
//! defeat of 0.

use super::decimal::{Decimal, Score};
use super::pairwise::{NO_RANKINGS, Pairwise, measured};
use super::profile::Profile;
use super::rule::Strength;
use super::verdict::Verdict;

/// Finds each option's strongest defeat.
pub fn count(profile: &Profile, strength: Strength) -> Verdict {
    let pairs = Pairwise::from_profile(profile);
    let options = profile.options.len();
    let mut steps = pairs.steps(&profile.options);
    steps.push(format!("strength of a defeat: {}", measured(strength)));
    let mut worst = Vec::with_capacity(options);
    for a in 0..options {
        let defeats = pairs.others(a).filter_map(|b| Some((pairs.strength(b, a, strength)?, b)));
        let hardest = defeats.max_by_key(|(defeat, b)| (*defeat, std::cmp::Reverse(*b)));
        let name = &profile.options[a];
        steps.push(match hardest {
            Some((defeat, by)) => {
                format!("{name}: worst defeat {}, by {}", Decimal::of_units(defeat), profile.options[by])
            }
            None => format!("{name}: no defeat"),
        });
        worst.push(hardest.map_or(0, |(defeat, _)| defeat));
    }
    let least = worst.iter().copied().min();
    let won: Vec<usize> = (0..options).filter(|a| pairs.total > 0 && Some(worst[*a]) == least).collect();
    let verdict = Verdict::from_winners(&profile.options, &won, NO_RANKINGS)
        .scored(&profile.options, worst.iter().map(|defeat| Score::from(Decimal::of_units(*defeat))))
        .with_steps(steps)
        .with_trace(pairs.trace());
    pairs.ordered(verdict, &profile.options, |a, b| worst[a].cmp(&worst[b]))
}
