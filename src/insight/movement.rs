//! Movement of seats between two rounds of a question, by ballots, never by confidence.
//!
//! Rounds compare if their forms are equal. Open positions compare by their words. A change has a new argument
//! if the answer contains a reason, concern or risk that the seat did not state before. A position is none.

use std::collections::BTreeSet;

use serde::Serialize;

use super::round_view::{self, SeatView, seat_named};
use crate::ballot::BallotKind;
use crate::core::earlier_rounds;
use crate::handoff::{gather_texts, words};
use crate::history::{RoundRun, Session};
use crate::tally::leading;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Movement {
    pub since: String,
    pub moves: Vec<Move>,
    #[serde(rename = "unchanged")]
    pub stayed: Vec<String>,
    /// Seats that moved to the sole leader of the earlier round.
    pub joined_leader: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Move {
    #[serde(rename = "participant")]
    pub seat: String,
    /// An option, an order or a stance.
    pub from: String,
    pub to: String,
    /// The later answer contains an argument that the earlier one did not.
    #[serde(rename = "new_argument")]
    pub has_new_argument: bool,
}

/// Compares a round with the previous round of the same question, by the seats of both; `None` if either is
/// missing or not revealed.
pub fn movement(session: &Session, round: &RoundRun) -> Option<Movement> {
    let before = earlier(session, round)?;
    let since = before.opened.round.clone();
    let (mut moves, mut stayed, mut joined_leader) = (Vec::new(), Vec::new(), Vec::new());
    let leader = leader(before);
    for now in round_view::seats(session, round) {
        let Some(was) = seat_named(session, before, now.name) else { continue };
        let (seat, from, to) = (now.name.to_owned(), position_of(&was), position_of(&now));
        if from == to || (is_open(round) && words(&from) == words(&to)) {
            stayed.push(seat);
            continue;
        }
        let has_new_argument = !arguments(&now).is_subset(&arguments(&was));
        if leader.as_deref() == Some(to.as_str()) {
            joined_leader.push(seat.clone());
        }
        moves.push(Move { seat, from, to, has_new_argument });
    }
    Some(Movement { since, moves, stayed, joined_leader })
}

/// Returns the only leading option of a round: its winner, else the option ahead in its count.
fn leader(round: &RoundRun) -> Option<String> {
    let verdict = &round.tally.as_ref()?.verdict;
    let ahead: Vec<&String> =
        if let [winner] = &*verdict.winners { vec![winner] } else { leading(&verdict.scores).collect() };
    if let [alone] = ahead.as_slice() { Some((*alone).clone()) } else { None }
}

/// Returns the last revealed round before this one with the same question and an equal form.
pub fn earlier<'a>(session: &'a Session, round: &'a RoundRun) -> Option<&'a RoundRun> {
    if !round_view::is_revealed(round) {
        return None;
    }
    earlier_rounds(session, round)
        .find(|before| before.opened.ballot.is_like(&round.opened.ballot) && round_view::is_revealed(before))
}

fn is_open(round: &RoundRun) -> bool {
    round.opened.ballot.kind == BallotKind::default()
}

fn position_of(seat: &SeatView<'_>) -> String {
    let brief = seat.answer.and_then(|answer| answer.ballot.as_ref()?.brief());
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = || seat.answer?.answer.get("position")?.as_str().map(one_line);
    brief.or_else(text).unwrap_or_else(|| "no ballot".to_owned())
}

/// Returns the arguments of a seat's answer, each as words in lower case.
fn arguments(seat: &SeatView<'_>) -> BTreeSet<String> {
    let keys = ["rationale", "concerns", "trade_offs", "minimum_change", "changed_by"].into_iter();
    let (mut texts, answer) = (Vec::new(), seat.answer.map(|answer| &answer.answer));
    keys.filter_map(|key| answer?.get(key)).for_each(|value| gather_texts(value, &mut texts));
    texts.into_iter().map(words).filter(|words| !words.is_empty()).collect()
}
