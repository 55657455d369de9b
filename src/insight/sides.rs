//! Who stands behind which option of a count: the bars of a result with the seats' names.
//!
//! A bar's length is rounded, and nothing is decided by it.

use super::round_view::{SeatView, confidence, seats, tally};
use super::wording::pluralize;
use crate::ballot::{Ballot, Stance};
use crate::history::{RoundRun, Session, Tally};
use crate::tally::{Rule, Score};

/// One option of a count, and the seats whose ballots stand behind its number.
#[derive(Debug, Clone, PartialEq)]
pub struct Side<'a> {
    pub name: &'a str,
    pub score: &'a Score,
    /// The length of its bar, from 0 to 1.
    pub share: f64,
    /// The surest first; of a ranking those that put it first, of scores those that gave it most.
    pub seats: Vec<Backer<'a>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Backer<'a> {
    pub seat: &'a str,
    pub sure: Option<String>,
}

impl Backer<'_> {
    /// How sure it is, from 0 to 1; sure where it does not say.
    pub fn share(&self) -> f64 {
        self.sure.as_ref().and_then(|sure| sure.parse().ok()).unwrap_or(1.0)
    }
}

/// The sides of a counted round, in the order of the form; none before the reveal and for open questions.
pub fn sides<'a>(session: &'a Session, round: &'a RoundRun) -> Vec<Side<'a>> {
    let Some(tally) = tally(round) else { return Vec::new() };
    let mut sides: Vec<Side<'a>> = bars(tally)
        .0
        .into_iter()
        .map(|bar| Side { name: bar.name, score: bar.score, share: bar.share, seats: Vec::new() })
        .collect();
    for seat in seats(session, round) {
        let sure = seat.answer().and_then(confidence);
        for option in stands_for(&seat) {
            if let Some(side) = sides.iter_mut().find(|side| side.name == option) {
                side.seats.push(Backer { seat: seat.name, sure: sure.clone() });
            }
        }
    }
    for side in &mut sides {
        side.seats.sort_by(|a, b| b.share().total_cmp(&a.share()));
    }
    sides
}

/// What a seat's ballot stands for, as the count names it.
fn stands_for(seat: &SeatView<'_>) -> Vec<String> {
    match seat.ballot() {
        None => Vec::new(),
        Some(Ballot::Consent(stance, _)) => {
            let word = match stance {
                Stance::Support => "support",
                Stance::StandAside => "stand-aside",
                Stance::Block => "block",
            };
            vec![word.to_owned()]
        }
        Some(ballot @ Ballot::Estimate(_)) => ballot.brief().into_iter().collect(),
        Some(ballot) => ballot.top_options().unwrap_or_default(),
    }
}

/// The place of a seat's first option among those of the count, for its color; none for an abstention.
pub fn side_of(seat: &SeatView<'_>, round: &RoundRun) -> Option<usize> {
    let scores = &tally(round)?.verdict.scores;
    stands_for(seat).iter().find_map(|option| scores.get_index_of(option))
}

#[derive(Debug, Clone, PartialEq)]
pub struct Bar<'a> {
    pub name: &'a str,
    pub score: &'a Score,
    /// Its length, from 0 to 1.
    pub share: f64,
}

/// How many of `room` cells of a bar are filled: something is never nothing.
pub fn bar_cells(share: f64, room: usize) -> usize {
    let filled = (share * room as f64).floor() as usize;
    filled.clamp(usize::from(share > 0.0), room)
}

/// The bars of a count, in the order of the form, and what a full one stands for.
pub fn bars(tally: &Tally) -> (Vec<Bar<'_>>, String) {
    let scores = &tally.verdict.scores;
    let most = scores.values().map(Score::as_f64).fold(0.0, f64::max);
    let asked = tally.asked as f64;
    let (full, caption) = if counts_seats(tally.rule) && most <= asked {
        (asked, format!("Scale: full bar = {} asked.", pluralize(tally.asked, "seat")))
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
