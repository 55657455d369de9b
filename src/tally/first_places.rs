//! First places of ballots, among all options or among the remaining ones.
//!
//! A ballot with several first options is split equally between them, so that each ballot counts once. Parts
//! are exact: whole numbers over a common denominator.

use std::collections::BTreeMap;

use super::decimal::{Decimal, Score};
use super::profile::{Profile, UNLISTED};
use super::verdict::Verdict;

/// Most options in one place that still split exactly.
pub const MOST_SHARED: u64 = 36;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstPlaces {
    /// Parts of each option.
    pub parts: Vec<i128>,
    /// Number of parts in one unit of an amount.
    pub size: i128,
    pub exhausted: Decimal,
    pub split: Decimal,
}

impl FirstPlaces {
    pub fn total(&self) -> i128 {
        self.parts.iter().sum()
    }

    pub fn to_score(&self, parts: i128) -> Score {
        Score::ratio(parts, self.size.saturating_mul(Decimal::ONE.0))
    }

    pub fn most(&self) -> i128 {
        self.parts.iter().copied().max().unwrap_or(0)
    }

    /// Returns the verdict in which the most first places win, with the order by them.
    pub fn most_win(&self, options: &[String], what: &str) -> Verdict {
        let shown = self.parts.iter().map(|parts| self.to_score(*parts));
        let compare = |a: usize, b: usize| self.parts[a].cmp(&self.parts[b]);
        Verdict::highest(options, shown, |at| self.parts[at] > 0, compare).ordered_by(what)
    }

    /// Returns the number of all first places if each option's number is whole.
    pub fn whole(&self) -> Option<u64> {
        let one = self.size.saturating_mul(Decimal::ONE.0);
        let is_whole = self.parts.iter().all(|parts| parts % one == 0);
        is_whole.then(|| u64::try_from(self.total() / one).ok()).flatten()
    }

    /// Returns a step about split ballots, if any.
    pub fn split_step(&self) -> Option<String> {
        let split = self.split;
        (split > Decimal::ZERO).then(|| {
            format!("ballots that put several options first are split between them equally: {split}")
        })
    }
}

/// Ballots with equal ranks: their listed options, best first, each with its rank.
pub struct ListedBallots {
    places: Vec<(u16, usize)>,
    worth: Decimal,
}

pub fn listed_ballots(profile: &Profile) -> Vec<ListedBallots> {
    let mut alike: BTreeMap<Vec<u16>, Decimal> = BTreeMap::new();
    for (ballot, ranks) in profile.ranked() {
        *alike.entry(ranks).or_default() += ballot.total_weight();
    }
    let listed = |(ranks, worth): (Vec<u16>, Decimal)| {
        let listed = ranks.iter().enumerate().filter(|(_, rank)| **rank != UNLISTED);
        let mut places: Vec<(u16, usize)> = listed.map(|(option, rank)| (*rank, option)).collect();
        places.sort_unstable();
        ListedBallots { places, worth }
    };
    alike.into_iter().map(listed).collect()
}

pub fn first_places(profile: &Profile) -> FirstPlaces {
    let ballots = listed_ballots(profile);
    among(&ballots, &vec![true; profile.options.len()], part_size(&ballots).unwrap_or(1))
}

/// Returns the denominator that splits every shared place evenly; `None` if a place has too many options.
pub fn part_size(ballots: &[ListedBallots]) -> Option<i128> {
    let levels = ballots.iter().flat_map(|ballot| ballot.places.chunk_by(|a, b| a.0 == b.0));
    let most = levels.map(<[_]>::len).max().unwrap_or(1) as u64;
    let parted = |size, n| size / gcd(size, n) * n;
    (most <= MOST_SHARED).then(|| (1..=i128::from(most)).fold(1, parted))
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

/// Counts first places among the options in `left`.
pub fn among(ballots: &[ListedBallots], left: &[bool], size: i128) -> FirstPlaces {
    let mut parts = vec![0; left.len()];
    let (mut exhausted, mut split) = (Decimal::ZERO, Decimal::ZERO);
    for ListedBallots { places, worth } in ballots {
        let of_ballot: Vec<(u16, usize)> =
            places.iter().copied().filter(|(_, option)| left[*option]).collect();
        let Some(level) = of_ballot.chunk_by(|a, b| a.0 == b.0).next() else {
            exhausted += *worth;
            continue;
        };
        for (_, option) in level {
            parts[*option] += worth.0.saturating_mul(size) / level.len() as i128;
        }
        if level.len() > 1 {
            split += *worth;
        }
    }
    FirstPlaces { parts, size, exhausted, split }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::{IndexedBallot, WeightedBallot};

    #[test]
    fn shared_places_split_exactly() {
        let worth = Decimal::ONE;
        let rankings =
            [[0, 0, 0], [0, UNLISTED, 0], [UNLISTED; 3]].map(|ranks| IndexedBallot::Ranking(ranks.to_vec()));
        let profile = Profile {
            options: ["a", "b", "c"].map(str::to_owned).to_vec(),
            ballots: rankings.map(|mark| WeightedBallot::one("v", mark)).to_vec(),
            ..Profile::default()
        };
        let rankings = listed_ballots(&profile);
        let size = part_size(&rankings).unwrap();
        assert_eq!(size, 6);
        let places = among(&rankings, &[true; 3], size);
        assert_eq!(
            places.parts.iter().map(|parts| places.to_score(*parts).to_string()).collect::<Vec<_>>(),
            ["0.833333", "0.333333", "0.833333"]
        );
        assert_eq!(places.total(), 2 * 6 * worth.0);
        assert_eq!((places.exhausted, places.split), (worth, Decimal::whole(2)));
        let level = ListedBallots { places: (0..37).map(|option| (0, option)).collect(), worth };
        assert_eq!(part_size(&[level]), None);
    }
}
