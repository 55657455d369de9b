//! Weighted majority: an option wins whose share of the weight is above the threshold.
//!
//! Source: weighted voting games (Taylor and Zwicker, "Simple Games", 1999), with a strict quota.
//! A ballot counts what its seat weighs.

use std::cmp::Ordering;

use super::decimal::Fraction;
use super::first_places::{FirstPlaces, first_places};
use super::profile::Profile;
use super::verdict::Verdict;

/// Adds up the weights and compares shares with the threshold, strictly.
pub fn count(profile: &Profile, threshold: Option<&Fraction>) -> Verdict {
    let places = first_places(profile);
    let total = places.total();
    let above = |parts: i128| {
        total > 0 && threshold.is_some_and(|share| share.compare(parts, total) == Ordering::Greater)
    };
    let first: Vec<usize> = places.leaders();
    let most = first.first().map_or(0, |option| places.parts[*option]);
    let needed = threshold.map_or_else(String::new, ToString::to_string);
    let mut steps = vec![format!("weight: {}", places.listed(&profile.options))];
    steps.extend(places.split_step());
    steps.push(format!("needed: more than {needed} of {}", places.shown(total)));
    let won = if above(most) { first } else { Vec::new() };
    let none = if total == 0 {
        FirstPlaces::no_ballots().to_owned()
    } else {
        let (most, total) = (places.shown(most), places.shown(total));
        format!("no weighted majority: {most} of {total} is the most, more than {needed} is needed")
    };
    places
        .scored(Verdict::from_winners(&profile.options, &won, &none), &profile.options, "weight")
        .with_steps(steps)
}
