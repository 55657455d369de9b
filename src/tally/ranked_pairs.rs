//! Ranked pairs: victories are locked in, strongest first, except where one would close a cycle; who is
//! not beaten by a locked victory wins.
//!
//! Source: T. N. Tideman, "Independence of clones as a criterion for voting rules", Social Choice and
//! Welfare 4 (1987). Equally strong victories are taken in every order, and every option that wins under
//! some order is reported. Orders that have locked the same so far are followed once.

use std::collections::BTreeSet;

use super::decimal::{Decimal, Score};
use super::irv::{COUNTED_AGAIN, MOST_SITUATIONS, unresolved};
use super::pairwise::{NO_RANKINGS, Pairwise, layers, measured};
use super::profile::Profile;
use super::rule::Strength;
use super::verdict::{Pair, Trace, Verdict, and_list};

/// More options than this are not counted: equally strong victories would be too many to follow.
const MOST_OPTIONS: usize = 200;
/// Words touched while orders of equals are followed, at most.
const MOST_WORK: usize = 300_000_000;

/// A victory: strength, winner, loser.
type Victory = (i128, usize, usize);

/// What is locked, with everything that follows from it: a row of bits for each option.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct LockedOrder {
    options: usize,
    words: usize,
    bits: Vec<u64>,
}

impl LockedOrder {
    fn nothing(options: usize) -> Self {
        let words = options.div_ceil(64);
        Self { options, words, bits: vec![0; options * words] }
    }

    fn is_before(&self, a: usize, b: usize) -> bool {
        (self.bits[a * self.words + b / 64] >> (b % 64)) & 1 == 1
    }

    /// Locks `a` over `b`, unless `b` is before `a`.
    fn lock(&mut self, a: usize, b: usize) -> bool {
        if self.is_before(b, a) {
            return false;
        }
        if !self.is_before(a, b) {
            let mut after = self.bits[b * self.words..(b + 1) * self.words].to_vec();
            after[b / 64] |= 1 << (b % 64);
            for c in 0..self.options {
                if c == a || self.is_before(c, a) {
                    let row = &mut self.bits[c * self.words..(c + 1) * self.words];
                    row.iter_mut().zip(&after).for_each(|(word, after)| *word |= after);
                }
            }
        }
        true
    }

    /// Who stands behind nobody.
    fn first(&self) -> impl Iterator<Item = usize> {
        (0..self.options).filter(|a| (0..self.options).all(|b| !self.is_before(b, *a)))
    }

    /// How many options each is before.
    fn before(&self) -> Vec<Score> {
        let count = |row: &[u64]| row.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        self.bits.chunks(self.words.max(1)).map(|row| Score::from(count(row))).collect()
    }
}

/// A search through the orders of equally strong victories.
struct LockInSearch {
    groups: Vec<Vec<Victory>>,
    seen: BTreeSet<(usize, LockedOrder)>,
    won: Vec<bool>,
    branched: bool,
    /// Locks tried so far, times the words that one touches.
    work: usize,
}

impl LockInSearch {
    /// The layer of each option, and what that order is by: all who win under some order are removed and
    /// the rest counted again. What there is no more work for stays together at the end.
    fn layers(&mut self, won: &[usize], is_whole: bool) -> (Vec<usize>, String) {
        let options = self.won.len();
        let mut layers = vec![options; options];
        let (mut won, mut is_whole) = (won.to_vec(), is_whole);
        for layer in 0..options {
            for option in &won {
                layers[*option] = layer;
            }
            let is_left = |option: &usize| layers[*option] == options;
            if !(0..options).any(|option| is_left(&option)) {
                return (layers, COUNTED_AGAIN.to_owned());
            }
            if !is_whole || self.work > MOST_WORK {
                break;
            }
            for group in &mut self.groups {
                group.retain(|(_, a, b)| is_left(a) && is_left(b));
            }
            self.work += self.groups.iter().map(Vec::len).sum::<usize>() * options * options.div_ceil(64);
            self.seen.clear();
            self.won = vec![false; options];
            is_whole = self.follow(0, LockedOrder::nothing(options));
            // Who went before is beaten by nobody any more.
            won = (0..options).filter(|option| self.won[*option] && is_left(option)).collect();
        }
        let open = layers.iter().filter(|layer| **layer == options).count();
        (layers, format!("{COUNTED_AGAIN}; the last {open} are not resolved"))
    }

    /// Follows every order from this group on; false if there are too many.
    fn follow(&mut self, group: usize, mut order: LockedOrder) -> bool {
        let mut group = group;
        loop {
            let Some(victories) = self.groups.get(group) else {
                for first in order.first() {
                    self.won[first] = true;
                }
                return true;
            };
            let open: Vec<Victory> = victories
                .iter()
                .copied()
                .filter(|(_, a, b)| !order.is_before(*a, *b) && !order.is_before(*b, *a))
                .collect();
            let mut all = order.clone();
            if open.iter().all(|(_, a, b)| all.lock(*a, *b)) {
                // No cycle among them: every order locks them all.
                order = all;
                group += 1;
                continue;
            }
            return self.branch(group, &order, &open);
        }
    }

    fn branch(&mut self, group: usize, order: &LockedOrder, open: &[Victory]) -> bool {
        if self.seen.len() >= MOST_SITUATIONS || self.work > MOST_WORK {
            return false;
        }
        self.work += open.len() * order.bits.len();
        if !self.seen.insert((group, order.clone())) {
            return true;
        }
        self.branched = true;
        open.iter().all(|(_, a, b)| {
            let mut next = order.clone();
            next.lock(*a, *b);
            self.follow(group, next)
        })
    }
}

/// Locks victories in the order of their strength.
pub fn count(profile: &Profile, strength: Strength) -> Verdict {
    let pairs = Pairwise::from_profile(profile);
    let (names, options) = (&profile.options, profile.options.len());
    if pairs.total == 0 {
        return Verdict::from_winners(names, &[], NO_RANKINGS);
    }
    if options > MOST_OPTIONS {
        return Verdict::from_winners(names, &[], "ranked pairs are not counted over more than 200 options");
    }
    let mut victories: Vec<Victory> = (0..options)
        .flat_map(|a| pairs.others(a).map(move |b| (a, b)))
        .filter_map(|(a, b)| Some((pairs.strength(a, b, strength)?, a, b)))
        .collect();
    victories.sort_unstable_by_key(|(strength, a, b)| (std::cmp::Reverse(*strength), *a, *b));
    let groups: Vec<Vec<Victory>> = victories.chunk_by(|a, b| a.0 == b.0).map(<[Victory]>::to_vec).collect();
    let nothing = LockedOrder::nothing(options);
    let mut steps = pairs.steps(names);
    steps.push(format!("strength of a victory: {}", measured(strength)));
    let (shown, order) = shown(names, &groups, nothing.clone(), &mut steps);
    let mut search =
        LockInSearch { groups, seen: BTreeSet::new(), won: vec![false; options], branched: false, work: 0 };
    for first in order.first() {
        search.won[first] = true;
    }
    let is_whole = search.follow(0, nothing);
    let won: Vec<usize> = (0..options).filter(|option| search.won[*option]).collect();
    let has_branched = search.branched;
    let (layers, by) = if has_branched {
        search.layers(&won, is_whole)
    } else {
        (layers(options, |a, b| order.is_before(a, b)), String::new())
    };
    let mut verdict = Verdict::from_winners(names, &won, NO_RANKINGS);
    if has_branched && is_whole {
        let word = if won.len() == 1 { "wins under every order" } else { "win, each under some order" };
        steps.push(format!("of equally strong victories: {} {word}", and_list(&verdict.winners)));
    }
    verdict = verdict
        .scored(names, order.before())
        .with_steps(steps)
        .with_trace(Trace { pairs: shown, ..pairs.trace() });
    verdict = verdict.ordered(names, |a, b| layers[a].cmp(&layers[b]));
    if has_branched {
        verdict = verdict.ordered_by(&by);
    }
    if !is_whole {
        unresolved(&mut verdict);
    }
    verdict
}

/// One order, in which equals stand as on the form: its pairs, and what they lock.
fn shown(
    names: &[String],
    groups: &[Vec<Victory>],
    mut order: LockedOrder,
    steps: &mut Vec<String>,
) -> (Vec<Pair>, LockedOrder) {
    let mut pairs = Vec::new();
    for group in groups {
        let mut left_out = false;
        for (strength, a, b) in group {
            let locked = order.lock(*a, *b);
            left_out |= !locked;
            let shown = Score::from(Decimal::of_units(*strength));
            let word = if locked { "locked" } else { "skipped: would create a cycle" };
            steps.push(format!("{} over {} ({shown}): {word}", names[*a], names[*b]));
            pairs.push(Pair { over: names[*a].clone(), under: names[*b].clone(), strength: shown, locked });
        }
        if left_out && group.len() > 1 {
            let count = group.len();
            steps.push(format!(
                "these {count} victories are equally strong: every order is followed, one is shown"
            ));
        }
    }
    (pairs, order)
}
