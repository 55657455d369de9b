//! Plurality: the option with more first places than any other wins.
//!
//! Source: Robert's Rules of Order Newly Revised (12th ed.), §44:11, "plurality vote".

use super::first_places::{FirstPlaces, first_places};
use super::profile::Profile;
use super::verdict::Verdict;

pub fn count(profile: &Profile) -> Verdict {
    let places = first_places(profile);
    let mut steps = vec![places.step(&profile.options)];
    steps.extend(places.split_step());
    let verdict = Verdict::from_winners(&profile.options, &places.leaders(), FirstPlaces::no_ballots());
    places.scored(verdict, &profile.options, "first places").with_steps(steps)
}
