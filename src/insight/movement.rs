//! Who moved from what to what between two rounds, by ballots and never by confidence.
//!
//! Rounds of one question are compared when their forms are equal, open ones by the words of the positions.
//! Whether a change came with a
//! new argument is recognized by the answers' own words: a reason, concern or risk, and beside a ballot a
//! position, that the seat had not given in the round before.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use serde_json::{Value, json};

use super::round_view;
use super::round_view::SeatView;
use crate::ballot::{Ballot, BallotKind};
use crate::core::earlier_rounds;
use crate::history::{AnswerRevealed, RoundRun, Session};
use crate::identity::words;
use crate::round::answer::Outcome;
use crate::tally::Score;

/// The position of a seat that gave no ballot.
const NOTHING: &str = "no ballot";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Movement {
    pub from_round: String,
    pub to_round: String,
    pub stayed: Vec<String>,
    pub moves: Vec<Move>,
    /// Seats that moved to what alone was ahead in the earlier round.
    pub joined_leader: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    pub seat: String,
    /// What it stood for: an option, an order, a stance.
    pub from: String,
    pub to: String,
    /// Whether the later answer holds an argument that its earlier one did not.
    pub has_new_argument: bool,
}

/// What changed since the last round of the same question; none if there is none, or it may not be read. Seats of
/// one round alone are left out.
pub fn movement(session: &Session, round: &RoundRun) -> Option<Movement> {
    let before = earlier(session, round)?;
    let mut found = Movement {
        from_round: before.opened.round.clone(),
        to_round: round.opened.round.clone(),
        stayed: Vec::new(),
        moves: Vec::new(),
        joined_leader: Vec::new(),
    };
    let leader = leader(before);
    let were: IndexMap<&str, SeatView<'_>> =
        round_view::seats(session, before).map(|seat| (seat.name, seat)).collect();
    for now in round_view::seats(session, round) {
        let Some(was) = were.get(now.name) else { continue };
        let (from, to) = (position_of(was), position_of(&now));
        if from == to || (is_open(round) && words(&from) == words(&to)) {
            found.stayed.push(now.name.to_owned());
        } else {
            let has_new_argument = now.answer().is_some_and(|answer| {
                let known = was.answer().map(|was| arguments(was, round)).unwrap_or_default();
                arguments(answer, round).iter().any(|argument| !known.contains(argument))
            });
            if leader.as_deref() == Some(to.as_str()) {
                found.joined_leader.push(now.name.to_owned());
            }
            found.moves.push(Move { seat: now.name.to_owned(), from, to, has_new_argument });
        }
    }
    Some(found)
}

/// What alone was ahead in a round, by its winner, else by its count.
fn leader(round: &RoundRun) -> Option<String> {
    let verdict = &round.tally.as_ref()?.verdict;
    if let [winner] = verdict.winners.as_slice() {
        return Some(winner.clone());
    }
    let most = verdict.scores.values().map(Score::as_f64).fold(0.0, f64::max);
    let mut first = verdict.scores.iter().filter(|(_, score)| score.as_f64() >= most && most > 0.0);
    let (option, _) = first.next()?;
    first.next().is_none().then(|| option.clone())
}

/// The last revealed round before this one that asks the same question with an equal form.
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
    let Some(answer) = seat.answer() else { return NOTHING.to_owned() };
    let brief = match answer.outcome {
        Outcome::Abstained => return "abstains".to_owned(),
        Outcome::Answered => answer.ballot.as_ref().and_then(Ballot::brief),
        _ => return NOTHING.to_owned(),
    };
    let text = || answer.answer.get("position").and_then(Value::as_str).map(one_line);
    brief.or_else(text).unwrap_or_else(|| NOTHING.to_owned())
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The arguments of an answer, each as its words in lower case. What an open question is answered with
/// is what is compared, and no argument for itself.
fn arguments(answer: &AnswerRevealed, round: &RoundRun) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let keys = ["position", "rationale", "concerns", "trade_offs", "minimum_change", "changed_by"];
    for key in keys.into_iter().skip(usize::from(is_open(round))) {
        if let Some(value) = answer.answer.get(key) {
            collect(value, &mut found);
        }
    }
    found
}

fn collect(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            let words = words(text);
            if !words.is_empty() {
                found.insert(words);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(map) => map.values().for_each(|item| collect(item, found)),
        _ => {}
    }
}

impl Movement {
    /// From what to what, with the seats that went there, in roster order.
    pub fn flows(&self) -> IndexMap<(&str, &str), Vec<&Move>> {
        let mut flows: IndexMap<(&str, &str), Vec<&Move>> = IndexMap::new();
        for one in &self.moves {
            flows.entry((&one.from, &one.to)).or_default().push(one);
        }
        flows
    }

    pub fn json(&self) -> Value {
        let moves = self.moves.iter().map(|one| {
            json!({
                "participant": one.seat, "from": one.from, "to": one.to,
                "new_argument": one.has_new_argument,
            })
        });
        json!({ "since": self.from_round, "moves": moves.collect::<Value>(), "unchanged": self.stayed,
            "joined_leader": self.joined_leader })
    }
}
