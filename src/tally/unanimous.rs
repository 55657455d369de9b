//! Unanimous: an option wins if every ballot puts it first, alone, and there are at least two ballots.
//!
//! Source: Robert's Rules of Order Newly Revised (12th ed.), §44:6 n., "unanimous vote": of those who
//! vote; an abstention does not stand against it. One ballot alone agrees with nobody.

use super::first_places::{FirstPlaces, first_places};
use super::profile::Profile;
use super::verdict::Verdict;

/// Looks whether all first places are one option's.
pub fn count(profile: &Profile) -> Verdict {
    let places = first_places(profile);
    let total = places.total();
    let named: Vec<usize> = (0..places.parts.len()).filter(|option| places.parts[*option] > 0).collect();
    let nothing_first = places.exhausted.units() > 0;
    let mut steps = vec![places.step(&profile.options)];
    steps.extend(places.split_step());
    let (won, none) = match named.as_slice() {
        [] => (Vec::new(), FirstPlaces::no_ballots().to_owned()),
        [_] if profile.ballot_count() < 2 => (Vec::new(), "a single ballot is not unanimity".to_owned()),
        [_] if nothing_first => (Vec::new(), "not unanimous: a ballot names no option".to_owned()),
        [one] => (vec![*one], String::new()),
        several => {
            let most = places.leaders().first().map_or(0, |option| places.parts[*option]);
            let named = several.len();
            let (most, total) = (places.shown(most), places.shown(total));
            (Vec::new(), format!("not unanimous: {named} options are named, the first has {most} of {total}"))
        }
    };
    places
        .scored(Verdict::from_winners(&profile.options, &won, &none), &profile.options, "first places")
        .with_steps(steps)
}
