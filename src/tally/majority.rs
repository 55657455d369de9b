//! Majority: an option that more than half of the ballots put first wins.
//!
//! Source: Robert's Rules of Order Newly Revised (12th ed.), §44:1, "majority vote": more than half
//! of the votes cast, abstentions excluded.

use super::decimal::{Decimal, Score};
use super::first_places::{FirstPlaces, first_places};
use super::profile::Profile;
use super::verdict::Verdict;

/// Counts first places; two options with exactly half each are a tie, less than half is no majority.
pub fn count(profile: &Profile) -> Verdict {
    let places = first_places(profile);
    let total = places.total();
    let first = places.leaders();
    let most = first.first().map_or(0, |option| places.parts[*option]);
    let mut steps = vec![places.step(&profile.options)];
    steps.extend(places.split_step());
    let (all, most_shown) = (places.shown(total), places.shown(most));
    let needed = if let Some(whole) = places.whole() {
        let needed = whole / 2 + 1;
        steps.push(format!("{whole} ballots name an option; majority: {needed}"));
        format!("{needed} are needed")
    } else {
        let half = Score::ratio(total, 2 * places.size.saturating_mul(Decimal::ONE.units()));
        steps.push(format!("ballots that name an option: {all}; majority: more than {half}"));
        format!("more than {half} is needed")
    };
    let won = if 2 * most >= total { first } else { Vec::new() };
    let none = match total {
        0 => FirstPlaces::no_ballots().to_owned(),
        _ => format!("no majority: {most_shown} of {all} is the most, {needed}"),
    };
    // One option with exactly half, and no other with the same, has no majority either.
    let won = if won.len() == 1 && 2 * most == total { Vec::new() } else { won };
    places
        .scored(Verdict::from_winners(&profile.options, &won, &none), &profile.options, "first places")
        .with_steps(steps)
}
