//! The bars of a result: each option of a count, with the seats whose ballots stand behind it.
//!
//! A bar's length is rounded, and nothing is decided by it.

use indexmap::IndexMap;
use serde::Serialize;

use super::round_view::{SeatView, confidence, seats, tally};
use super::wording::pluralize;
use crate::ballot::Ballot;
use crate::history::{RoundRun, Session};
use crate::tally::{Rule, Score};

/// One option of a count.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar<'a> {
    pub name: &'a str,
    pub score: &'a Score,
    /// Its length, from 0 to 1.
    pub share: f64,
    /// The surest first; of a ranking those that put it first, of scores those that gave it most.
    pub seats: Vec<Supporter<'a>>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Supporter<'a> {
    #[serde(rename = "participant")]
    pub seat: &'a str,
    /// Its confidence, if it states one.
    pub sure: Option<f64>,
}

impl Supporter<'_> {
    /// Its confidence, 1 where it states none.
    pub fn share(&self) -> f64 {
        self.sure.unwrap_or(1.0)
    }
}

/// The bars of a counted round in the order of the form, and what a full one stands for; none before the
/// reveal and for open questions.
pub fn bars<'a>(session: &'a Session, round: &'a RoundRun) -> (Vec<Bar<'a>>, String) {
    let Some(tally) = tally(round) else { return Default::default() };
    let scores = &tally.verdict.scores;
    let most = scores.values().map(Score::as_f64).fold(0.0, f64::max);
    let asked = tally.asked as f64;
    // The numbers of a median are how many seats gave each card.
    let counts_seats = tally.rule.is_none_or(|rule| rule.counts_ballots() || rule == Rule::Median);
    let (full, scale) = if counts_seats && most <= asked {
        (asked, format!("Scale: full bar = {} asked.", pluralize(tally.asked, "seat")))
    } else {
        let longest = scores.values().find(|score| score.as_f64() >= most).cloned().unwrap_or_default();
        (most, format!("Scale: full bar = {longest}."))
    };
    let share = |score: &Score| if full > 0.0 { (score.as_f64() / full).clamp(0.0, 1.0) } else { 0.0 };
    let bar = |(name, score): (&'a String, &'a Score)| {
        (name.as_str(), Bar { name, score, share: share(score), seats: Vec::new() })
    };
    let mut bars: IndexMap<&str, Bar<'a>> = scores.iter().map(bar).collect();
    for seat in seats(session, round) {
        let sure = seat.answer().and_then(confidence).and_then(|sure| sure.parse().ok());
        for option in stands_for(&seat) {
            if let Some(bar) = bars.get_mut(option.as_str()) {
                bar.seats.push(Supporter { seat: seat.name, sure });
            }
        }
    }
    for bar in bars.values_mut() {
        bar.seats.sort_by(|a, b| b.share().total_cmp(&a.share()));
    }
    (bars.into_values().collect(), scale)
}

/// The options of the count that a seat's ballot stands behind.
fn stands_for(seat: &SeatView<'_>) -> Vec<String> {
    match seat.ballot() {
        None => Vec::new(),
        Some(Ballot::Consent(stance, _)) => vec![stance.name().to_owned()],
        Some(ballot @ Ballot::Estimate(_)) => ballot.brief().into_iter().collect(),
        Some(ballot) => ballot.top_options().unwrap_or_default(),
    }
}

/// The place of a seat's first option among those of the count, for its color; none for an abstention.
pub fn side_of(seat: &SeatView<'_>, round: &RoundRun) -> Option<usize> {
    let scores = &tally(round)?.verdict.scores;
    stands_for(seat).iter().find_map(|option| scores.get_index_of(option))
}

/// The filled cells of a bar of `room` cells: something is never nothing.
pub fn bar_cells(share: f64, room: usize) -> usize {
    let filled = (share * room as f64).floor() as usize;
    filled.clamp(usize::from(share > 0.0), room)
}
