//! Supermajority: an option that at least a given share of the ballots put first wins.
//!
//! Source: Robert's Rules of Order Newly Revised (12th ed.), §44:3, "two-thirds vote": at least two
//! thirds of the votes cast, abstentions excluded. Shares compare exactly: 2 of 3 is less than 0.6667.

use std::cmp::Ordering;

use super::decimal::Fraction;
use super::first_places::{FirstPlaces, first_places};
use super::profile::Profile;
use super::verdict::Verdict;

/// Counts first places against a share of all of them.
pub fn count(profile: &Profile, threshold: Option<&Fraction>) -> Verdict {
    let places = first_places(profile);
    let total = places.total();
    let needed = threshold.map_or_else(String::new, ToString::to_string);
    let reaches = |parts: i128| {
        total > 0 && threshold.is_some_and(|share| share.compare(parts, total) != Ordering::Less)
    };
    let first = places.leaders();
    let most = first.first().map_or(0, |option| places.parts[*option]);
    let mut steps = vec![places.step(&profile.options)];
    steps.extend(places.split_step());
    steps.push(format!("needed: at least {needed} of {}", places.shown(total)));
    let won = if reaches(most) { first } else { Vec::new() };
    let none = if total == 0 {
        FirstPlaces::no_ballots().to_owned()
    } else {
        format!(
            "no supermajority: {} of {} is the most, {needed} is needed",
            places.shown(most),
            places.shown(total)
        )
    };
    places
        .scored(Verdict::from_winners(&profile.options, &won, &none), &profile.options, "first places")
        .with_steps(steps)
}
