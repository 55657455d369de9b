//! Instant runoff: the option with the fewest first places goes out, one at a time, until one of those
//! that are left has more than half of the ballots that still name one.
//!
//! Source: W. R. Ware's method (1871); Robert's Rules of Order Newly Revised (12th ed.), §45:62,
//! "preferential voting". When several are level for last every order of taking them out is followed, and
//! every option that wins under some order is reported. Which of several options without any first place
//! goes first changes nothing, so that only one order of them is followed. The order of all options is
//! found by removing who has won and counting again.

use std::collections::BTreeSet;

use super::decimal::{Decimal, Score};
use super::first_places::{FirstPlaces, ListedBallot, MOST_SHARED, among, part_size};
use super::no_decision::{NoDecision, and_list};
use super::profile::Profile;
use super::verdict::{Elimination, Trace, Verdict};

/// Sets of options left that are looked at, at most.
const MOST_SITUATIONS: usize = 10_000;

/// [`Verdict::order_by`] of an order that is found so.
const COUNTED_AGAIN: &str = "removing who wins and counting again";

/// Ranks looked at while orders of equals are followed, at most.
const MOST_WORK: usize = 2_000_000_000;

struct EliminationSearch<'a> {
    names: &'a [String],
    rankings: Vec<ListedBallot>,
    size: i128,
    seen: BTreeSet<Vec<bool>>,
    won: Vec<bool>,
    /// The first order that is followed, to its end.
    shown: Vec<Elimination>,
    steps: Vec<String>,
    scores: Vec<Score>,
    is_shown: bool,
    /// Set when options that were level for last had first places.
    branched: bool,
}

/// Takes options out until one is left that has a majority.
pub fn count(profile: &Profile) -> Verdict {
    let mut rankings = profile.rankings();
    // Ballots that rank alike become one.
    rankings.sort_unstable();
    rankings.dedup_by(|next, kept| {
        let is_alike = next.0 == kept.0;
        kept.1 += if is_alike { next.1 } else { Decimal::ZERO };
        is_alike
    });
    let names = &profile.options;
    let rankings: Vec<_> = rankings.iter().map(|(ranks, worth)| ListedBallot::new(ranks, *worth)).collect();
    let Some(size) = part_size(&rankings) else {
        return Verdict::from_winners(names, &[], NoDecision::Unsplittable(MOST_SHARED));
    };
    let mut search = EliminationSearch {
        names,
        rankings,
        size,
        seen: BTreeSet::new(),
        won: vec![false; names.len()],
        shown: Vec::new(),
        steps: Vec::new(),
        scores: vec![Score::default(); names.len()],
        is_shown: true,
        branched: false,
    };
    let everyone = vec![true; names.len()];
    if search.first_places(&everyone).total() == 0 {
        return Verdict::from_winners(names, &[], NoDecision::NoBallots).scored(names, search.scores);
    }
    let is_whole = search.follow(&everyone);
    let first = std::mem::replace(&mut search.won, vec![false; names.len()]);
    let branched = search.branched;
    let (layers, by) = search.layers(first.clone(), is_whole);
    (search.won, search.branched) = (first, branched);
    search.verdict(is_whole).ordered(names, |a, b| layers[a].cmp(&layers[b])).ordered_by(&by)
}

impl EliminationSearch<'_> {
    fn first_places(&self, left: &[bool]) -> FirstPlaces {
        among(&self.rankings, left, self.size)
    }

    /// The layer of each option, those of `first` having won, and what that order is by: who wins is
    /// removed and the ballots are counted again. What there is no more work for stays together at the end.
    fn layers(&mut self, first: Vec<bool>, is_whole: bool) -> (Vec<usize>, String) {
        let options = first.len();
        let mut layers = vec![options; options];
        let (mut won, mut is_whole, mut work) = (first, is_whole, 0_usize);
        for layer in 0..options {
            (0..options).filter(|option| won[*option]).for_each(|option| layers[option] = layer);
            let left: Vec<bool> = layers.iter().map(|own| *own == options).collect();
            work += self.seen.len().saturating_mul(self.rankings.len() * options);
            if !left.contains(&true) || self.first_places(&left).total() == 0 {
                return (layers, COUNTED_AGAIN.to_owned());
            }
            if !is_whole || work > MOST_WORK {
                break;
            }
            self.seen.clear();
            is_whole = self.follow(&left);
            won = std::mem::replace(&mut self.won, vec![false; options]);
        }
        let open = layers.iter().filter(|layer| **layer == options).count();
        (layers, format!("{COUNTED_AGAIN}; the last {open} are not resolved"))
    }

    /// Follows every order from here on; false if there are too many.
    fn follow(&mut self, left: &[bool]) -> bool {
        // The first order is followed to its end, whatever it takes.
        let work = self.seen.len().saturating_mul(self.rankings.len() * left.len());
        if (self.seen.len() >= MOST_SITUATIONS || work > MOST_WORK) && !self.is_shown {
            return false;
        }
        if !self.seen.insert(left.to_vec()) {
            return true;
        }
        let places = self.first_places(left);
        let remaining: Vec<usize> = (0..left.len()).filter(|option| left[*option]).collect();
        let total = places.total();
        let winner = remaining.iter().copied().find(|option| 2 * places.parts[*option] > total);
        let winner = winner.or_else(|| remaining.first().copied().filter(|_| remaining.len() == 1));
        let fewest = remaining.iter().map(|option| places.parts[*option]).min().unwrap_or(0);
        let last: Vec<usize> =
            remaining.iter().copied().filter(|option| places.parts[*option] == fewest).collect();
        self.show(&remaining, &places, winner, &last);
        if let Some(winner) = winner {
            self.won[winner] = true;
            self.is_shown = false;
            return true;
        }
        let followed = if fewest == 0 { &last[..1] } else { &last[..] };
        self.branched |= followed.len() > 1;
        followed.iter().all(|out| {
            let mut left = left.to_vec();
            left[*out] = false;
            self.follow(&left)
        })
    }

    fn show(&mut self, remaining: &[usize], places: &FirstPlaces, winner: Option<usize>, last: &[usize]) {
        if !self.is_shown {
            return;
        }
        let name = |option: &usize| self.names[*option].clone();
        let mut round = Elimination { exhausted: Score::from(places.exhausted), ..Elimination::default() };
        for option in remaining {
            round.counts.insert(name(option), places.shown(places.parts[*option]));
            self.scores[*option] = places.shown(places.parts[*option]);
        }
        let counts: Vec<String> =
            round.counts.iter().map(|(option, count)| format!("{option} {count}")).collect();
        let exhausted = format!("; exhausted {}", places.exhausted);
        let exhausted = if places.exhausted > Decimal::ZERO { exhausted } else { String::new() };
        let number = self.shown.len() + 1;
        self.steps.push(format!("round {number}: {}{exhausted}", counts.join(", ")));
        self.steps.extend(places.split_step().filter(|_| number == 1));
        if let Some(winner) = winner {
            let (count, total) = (places.shown(places.parts[winner]), places.shown(places.total()));
            self.steps.push(format!("{} has {count} of {total}: more than half", self.names[winner]));
        } else if let [only] = last {
            self.steps.push(format!("eliminate {}", self.names[*only]));
            round.out = Some(name(only));
        } else {
            round.level = last.iter().map(name).collect();
            let why = match places.parts[last[0]] {
                0 => "whoever goes first changes nothing",
                _ => "every order is followed",
            };
            let (level, out) = (and_list(&round.level), &self.names[last[0]]);
            self.steps.push(format!("{level} tie for last: {why}; shown: eliminate {out}"));
            round.out = Some(out.clone());
        }
        self.shown.push(round);
    }

    fn verdict(mut self, is_whole: bool) -> Verdict {
        let won: Vec<usize> = (0..self.names.len()).filter(|option| self.won[*option]).collect();
        let winners: Vec<String> = won.iter().map(|option| self.names[*option].clone()).collect();
        if self.branched && is_whole {
            let word =
                if winners.len() == 1 { "wins under every order" } else { "win, each under some order" };
            self.steps.push(format!("of options tied for last: {} {word}", and_list(&winners)));
        }
        let trace = Trace { rounds: self.shown, ..Trace::default() };
        let verdict = Verdict::from_winners(self.names, &won, NoDecision::NoBallots);
        let verdict = Verdict { steps: self.steps, trace: Some(Box::new(trace)), ..verdict };
        let mut verdict = verdict.scored(self.names, self.scores);
        if !is_whole {
            // The winners named won under some of the orders that were followed.
            let reason = NoDecision::OpenTie { orders: MOST_SITUATIONS, found: verdict.winners.clone() };
            verdict.steps.push(reason.to_string());
            verdict.tie = true;
            verdict.reason = Some(reason);
        }
        verdict
    }
}
