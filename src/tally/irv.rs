//! Instant runoff: repeated elimination of the option with the fewest first places.
//!
//! Source: W. R. Ware's method (1871); Robert's Rules of Order Newly Revised (12th ed.), §45:62,
//! "preferential voting". An option wins with more than half of the ballots that still name an option. If
//! several options tie for last, every elimination order is followed, and every option that wins under some
//! order is reported. The order among options without first places cannot change the result, so only one is
//! followed. Removing the winners and counting again yields the full order.

use std::collections::BTreeSet;

use super::decimal::{Decimal, Score};
use super::first_places::{FirstPlaces, ListedBallots, MOST_SHARED, among, listed_ballots, part_size};
use super::no_decision::{NoDecision, and_list};
use super::profile::Profile;
use super::verdict::{Elimination, Trace, Verdict};

/// Most sets of remaining options that the search visits.
const MOST_SITUATIONS: usize = 10_000;

/// [`Verdict::order_by`] of the full order.
const COUNTED_AGAIN: &str = "removing who wins and counting again";

/// Most ranks that the search reads.
const MOST_WORK: usize = 2_000_000_000;

struct EliminationSearch<'a> {
    names: &'a [String],
    ballots: Vec<ListedBallots>,
    size: i128,
    seen: BTreeSet<Vec<bool>>,
    won: Vec<bool>,
    /// Rounds of the first elimination order, for output.
    shown: Vec<Elimination>,
    steps: Vec<String>,
    is_shown: bool,
}

/// Eliminates options until one of the remaining has a majority.
pub fn count(profile: &Profile) -> Verdict {
    let (names, ballots) = (&profile.options, listed_ballots(profile));
    let Some(size) = part_size(&ballots) else {
        return Verdict::from_winners(names, &[], NoDecision::Unsplittable(MOST_SHARED));
    };
    let mut search = EliminationSearch {
        names,
        ballots,
        size,
        seen: BTreeSet::new(),
        won: Vec::new(),
        shown: Vec::new(),
        steps: Vec::new(),
        is_shown: true,
    };
    let everyone = vec![true; names.len()];
    if search.first_places(&everyone).total() == 0 {
        let none = names.iter().map(|_| Score::default());
        return Verdict::from_winners(names, &[], NoDecision::NoBallots).scored(names, none);
    }
    let (won, is_whole) = search.winners(&everyone);
    let (layers, by) = search.layers(&won, is_whole);
    let won: Vec<usize> = (0..won.len()).filter(|option| won[*option]).collect();
    search.verdict(&won, is_whole).ordered(names, |a, b| layers[a].cmp(&layers[b])).ordered_by(&by)
}

impl EliminationSearch<'_> {
    fn first_places(&self, left: &[bool]) -> FirstPlaces {
        among(&self.ballots, left, self.size)
    }

    /// Returns the number of ranks read since the search began.
    fn work(&self) -> usize {
        self.seen.len().saturating_mul(self.ballots.len() * self.names.len())
    }

    /// Returns the options that win under some elimination order, and whether all orders were followed.
    fn winners(&mut self, left: &[bool]) -> (Vec<bool>, bool) {
        (self.seen, self.won) = (BTreeSet::new(), vec![false; left.len()]);
        let is_whole = self.follow(left);
        (std::mem::take(&mut self.won), is_whole)
    }

    /// Returns the layer of each option and the text of `order_by`. Layer 0 is `first`, the winners. Each next
    /// layer wins once the earlier ones are removed. At the work limit, the remaining options share a last
    /// layer.
    fn layers(&mut self, first: &[bool], is_whole: bool) -> (Vec<usize>, String) {
        let options = first.len();
        let mut layers = vec![options; options];
        let (mut won, mut is_whole, mut work) = (first.to_vec(), is_whole, 0_usize);
        for layer in 0..options {
            (0..options).filter(|option| won[*option]).for_each(|option| layers[option] = layer);
            let left: Vec<bool> = layers.iter().map(|own| *own == options).collect();
            work = work.saturating_add(self.work());
            if !left.contains(&true) || self.first_places(&left).total() == 0 {
                return (layers, COUNTED_AGAIN.to_owned());
            }
            if !is_whole || work > MOST_WORK {
                break;
            }
            (won, is_whole) = self.winners(&left);
        }
        let open = layers.iter().filter(|layer| **layer == options).count();
        (layers, format!("{COUNTED_AGAIN}; the last {open} are not resolved"))
    }

    /// Follows every elimination order from `left`; returns false if there are too many.
    fn follow(&mut self, left: &[bool]) -> bool {
        // The first order is reported, so it is followed to its end despite the limits.
        if (self.seen.len() >= MOST_SITUATIONS || self.work() > MOST_WORK) && !self.is_shown {
            return false;
        }
        if !self.seen.insert(left.to_vec()) {
            return true;
        }
        let places = self.first_places(left);
        let remaining: Vec<usize> = (0..left.len()).filter(|option| left[*option]).collect();
        let has_most = |option: &&usize| remaining.len() == 1 || 2 * places.parts[**option] > places.total();
        let winner = remaining.iter().find(has_most).copied();
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
        let shown = |option: &usize| places.to_score(places.parts[*option]);
        let mut round = Elimination { exhausted: Score::from(places.exhausted), ..Elimination::default() };
        round.counts = remaining.iter().map(|option| (name(option), shown(option))).collect();
        let counts: Vec<String> =
            round.counts.iter().map(|(option, count)| format!("{option} {count}")).collect();
        let exhausted = format!("; exhausted {}", places.exhausted);
        let exhausted = if places.exhausted > Decimal::ZERO { exhausted } else { String::new() };
        let number = self.shown.len() + 1;
        self.steps.push(format!("round {number}: {}{exhausted}", counts.join(", ")));
        self.steps.extend(places.split_step().filter(|_| number == 1));
        let out = name(&last[0]);
        self.steps.push(match (winner, last) {
            (Some(winner), _) => {
                let total = places.to_score(places.total());
                format!("{} has {} of {total}: more than half", self.names[winner], shown(&winner))
            }
            (None, [_]) => format!("eliminate {out}"),
            (None, level) => {
                round.level = level.iter().map(name).collect();
                let why = match places.parts[last[0]] {
                    0 => "whoever goes first changes nothing",
                    _ => "every order is followed",
                };
                format!("{} tie for last: {why}; shown: eliminate {out}", and_list(&round.level))
            }
        });
        round.out = winner.is_none().then_some(out);
        self.shown.push(round);
    }

    fn verdict(mut self, won: &[usize], is_whole: bool) -> Verdict {
        let is_level = |round: &Elimination| {
            round.level.first().is_some_and(|option| round.counts[option] != Score::default())
        };
        if is_whole && self.shown.iter().any(is_level) {
            let word = if won.len() == 1 { "wins under every order" } else { "win, each under some order" };
            let names: Vec<String> = won.iter().map(|option| self.names[*option].clone()).collect();
            self.steps.push(format!("of options tied for last: {} {word}", and_list(&names)));
        }
        let last = |name: &String| self.shown.iter().rev().find_map(|round| round.counts.get(name)).cloned();
        let scores: Vec<Score> = self.names.iter().map(|name| last(name).unwrap_or_default()).collect();
        let mut verdict = Verdict::from_winners(self.names, won, NoDecision::NoBallots);
        verdict = Verdict { steps: self.steps, ..verdict.scored(self.names, scores) };
        verdict.trace = Some(Box::new(Trace { rounds: self.shown, ..Trace::default() }));
        if !is_whole {
            // These winners won under some of the orders that were followed.
            let reason = NoDecision::OpenTie { orders: MOST_SITUATIONS, found: verdict.winners.clone() };
            verdict.steps.push(reason.to_string());
            (verdict.tie, verdict.reason) = (true, Some(reason));
        }
        verdict
    }
}
