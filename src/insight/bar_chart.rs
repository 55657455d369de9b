//! The numbers of a count as bars: how long each is, and what a full one stands for.
//!
//! Pictures only: lengths are rounded, nothing is decided by them.

use crate::history::Tally;
use crate::tally::{Rule, Score};

#[derive(Debug, Clone, PartialEq)]
pub struct Bar<'a> {
    /// The option, card or stance.
    pub name: &'a str,
    pub score: &'a Score,
    /// Its length, from 0 to 1.
    pub share: f64,
}

impl Bar<'_> {
    /// How many of `room` cells are filled: something is never nothing.
    pub fn cells(&self, room: usize) -> usize {
        let filled = (self.share * room as f64).floor() as usize;
        filled.clamp(usize::from(self.share > 0.0), room)
    }
}

/// The bars of a count, in the order of the form, and what a full one stands for.
pub fn bars(tally: &Tally) -> (Vec<Bar<'_>>, String) {
    let scores = &tally.verdict.scores;
    let most = scores.values().map(Score::as_f64).fold(0.0, f64::max);
    let asked = tally.asked as f64;
    let (full, caption) = if counts_seats(tally.rule) && most <= asked {
        (asked, format!("Scale: full bar = {} seats asked.", tally.asked))
    } else {
        let longest = scores.values().find(|score| score.as_f64() >= most).cloned().unwrap_or_default();
        (most, format!("Scale: full bar = {longest}."))
    };
    let share = |score: &Score| if full > 0.0 { (score.as_f64() / full).clamp(0.0, 1.0) } else { 0.0 };
    let bars = scores.iter().map(|(name, score)| Bar { name, score, share: share(score) });
    (bars.collect(), caption)
}

/// Whether a rule's numbers are ballots, so that a full bar can be all of them. Of a median they are how
/// many seats gave each card.
fn counts_seats(rule: Option<Rule>) -> bool {
    rule.is_none_or(|rule| rule.counts_ballots() || rule == Rule::Median)
}
