//! First places: which options each ballot puts first, among all or among those that are left.
//!
//! A ballot that puts several first is split between them in equal parts, so that each ballot counts
//! once; parts are kept exact by counting in fractions of one common size.

use super::decimal::{Decimal, Score};
use super::profile::{IndexedBallot, Profile, UNLISTED};
use super::verdict::Verdict;

/// More options than this in one place cannot be split exactly.
pub const MOST_SHARED: u64 = 36;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstPlaces {
    /// By option, in parts.
    pub parts: Vec<i128>,
    /// The parts of one unit of an amount.
    pub size: i128,
    pub exhausted: Decimal,
    pub split: Decimal,
}

impl FirstPlaces {
    pub fn total(&self) -> i128 {
        self.parts.iter().sum()
    }

    pub fn shown(&self, parts: i128) -> Score {
        Score::ratio(parts, self.size.saturating_mul(Decimal::ONE.units()))
    }

    pub fn scores(&self) -> Vec<Score> {
        self.parts.iter().map(|parts| self.shown(*parts)).collect()
    }

    pub fn most(&self) -> i128 {
        self.parts.iter().copied().max().unwrap_or(0)
    }

    /// The options with the most parts; none if there are none.
    pub fn leaders(&self) -> Vec<usize> {
        let most = self.most();
        (0..self.parts.len()).filter(|at| most > 0 && self.parts[*at] == most).collect()
    }

    /// A verdict with these numbers, and with the order of the options by them.
    pub fn scored(&self, verdict: Verdict, options: &[String], what: &str) -> Verdict {
        let verdict = verdict.scored(options, self.scores());
        if self.total() == 0 {
            return verdict;
        }
        verdict.ordered(options, |a, b| self.parts[b].cmp(&self.parts[a])).ordered_by(what)
    }

    /// "a 3, b 1" for a step's text.
    pub fn listed(&self, options: &[String]) -> String {
        let shown =
            options.iter().zip(&self.parts).map(|(option, parts)| format!("{option} {}", self.shown(*parts)));
        shown.collect::<Vec<_>>().join(", ")
    }

    /// All first places, if they are whole and so is each option's number.
    pub fn whole(&self) -> Option<u64> {
        let one = self.size.saturating_mul(Decimal::ONE.units());
        let is_whole = self.parts.iter().all(|parts| parts % one == 0);
        is_whole.then(|| u64::try_from(self.total() / one).ok()).flatten()
    }

    /// A step that says so, if ballots were split.
    pub fn split_step(&self) -> Option<String> {
        let split = self.split;
        (split > Decimal::ZERO).then(|| {
            format!("ballots that put several options first are split between them equally: {split}")
        })
    }
}

/// A ballot: the options it lists, best first, each with its rank.
pub struct ListedBallot {
    places: Vec<(u16, usize)>,
    worth: Decimal,
}

impl ListedBallot {
    pub fn new(ranks: &[u16], worth: Decimal) -> Self {
        let listed = ranks.iter().enumerate().filter(|(_, rank)| **rank != UNLISTED);
        let mut places: Vec<(u16, usize)> = listed.map(|(option, rank)| (*rank, option)).collect();
        places.sort_unstable();
        Self { places, worth }
    }
}

pub fn first_places(profile: &Profile) -> FirstPlaces {
    if profile.ballots.iter().all(|ballot| matches!(ballot.mark, IndexedBallot::Choice(_))) {
        return of_choices(profile);
    }
    let rankings = profile.rankings();
    let ballots: Vec<_> = rankings.iter().map(|(ranks, worth)| ListedBallot::new(ranks, *worth)).collect();
    among(&ballots, &vec![true; profile.options.len()], part_size(&ballots).unwrap_or(1))
}

fn of_choices(profile: &Profile) -> FirstPlaces {
    let mut parts = vec![0; profile.options.len()];
    for ballot in &profile.ballots {
        if let IndexedBallot::Choice(option) = ballot.mark
            && let Some(own) = parts.get_mut(option)
        {
            *own += ballot.total_weight().units();
        }
    }
    FirstPlaces { parts, size: 1, exhausted: Decimal::ZERO, split: Decimal::ZERO }
}

/// The number into which a unit must be parted so that every shared place splits evenly; none if a
/// place is shared by too many.
pub fn part_size(ballots: &[ListedBallot]) -> Option<i128> {
    let level = |ballot: &ListedBallot| ballot.places.chunk_by(|a, b| a.0 == b.0).map(<[_]>::len).max();
    let most = ballots.iter().filter_map(level).max().unwrap_or(1) as u64;
    (most <= MOST_SHARED)
        .then(|| (1..=most).fold(1, |size, n| size / gcd(size, i128::from(n)) * i128::from(n)))
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

/// Counts first places among the options that are left.
pub fn among(ballots: &[ListedBallot], left: &[bool], size: i128) -> FirstPlaces {
    let mut parts = vec![0; left.len()];
    let (mut exhausted, mut split) = (Decimal::ZERO, Decimal::ZERO);
    for ListedBallot { places, worth } in ballots {
        let mut of_ballot = places.iter().filter(|(_, option)| left[*option]);
        let Some((best, first)) = of_ballot.next() else {
            exhausted += *worth;
            continue;
        };
        let level: Vec<usize> =
            of_ballot.take_while(|(rank, _)| rank == best).map(|(_, option)| *option).collect();
        let part = worth.units().saturating_mul(size) / (1 + level.len() as i128);
        parts[*first] += part;
        for option in &level {
            parts[*option] += part;
        }
        if !level.is_empty() {
            split += *worth;
        }
    }
    FirstPlaces { parts, size, exhausted, split }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_places_split_exactly() {
        let worth = Decimal::ONE;
        let rankings =
            [[0, 0, 0], [0, UNLISTED, 0], [UNLISTED; 3]].map(|ranks| ListedBallot::new(&ranks, worth));
        let size = part_size(&rankings).unwrap();
        assert_eq!(size, 6);
        let places = among(&rankings, &[true; 3], size);
        assert_eq!(
            places.scores().iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["0.833333", "0.333333", "0.833333"]
        );
        assert_eq!(places.total(), 2 * 6 * worth.units());
        assert_eq!((places.exhausted, places.split), (worth, Decimal::whole(2)));
        assert_eq!(part_size(&[ListedBallot::new(&[0; 37], worth)]), None);
    }
}
