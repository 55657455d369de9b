//! What each seat stood for over the rounds of one form.

use super::movement::earlier;
use super::round_view::{SeatView, confidence, seat_at};
use super::sides::{side_of, stands_for};
use crate::history::{RoundRun, Session};

/// What one seat stood for in one round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stand {
    /// The place of the option in the count, for its color.
    pub side: Option<usize>,
    /// What it stood for, in the fewest words.
    pub name: String,
    /// How sure it said it was.
    pub sure: Option<String>,
}

/// What the seats stood for over the rounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Courses {
    /// The numbers of the rounds, the earliest first.
    pub rounds: Vec<u32>,
    /// Each seat of the last round with where it stood in each; none where it gave no ballot.
    pub seats: Vec<(String, Vec<Option<Stand>>)>,
}

/// The rounds of one form up to this one, the earliest first.
pub fn rounds_of_form<'a>(session: &'a Session, round: &'a RoundRun) -> Vec<&'a RoundRun> {
    let mut rounds = vec![round];
    while let Some(before) = rounds.last().and_then(|round| earlier(session, round)) {
        rounds.push(before);
    }
    rounds.reverse();
    rounds
}

/// Whether no later round has the form of this one.
pub fn is_last_of_form(session: &Session, round: &RoundRun) -> bool {
    let mut later = session.rounds.iter().skip_while(|other| !std::ptr::eq(*other, round)).skip(1);
    !later.any(|later| earlier(session, later).is_some_and(|before| std::ptr::eq(before, round)))
}

/// The courses of the seats; none with a single round.
pub fn courses(session: &Session, round: &RoundRun) -> Option<Courses> {
    let rounds = rounds_of_form(session, round);
    if rounds.len() < 2 {
        return None;
    }
    let stand = |round: &RoundRun, name: &str| {
        let seat: SeatView<'_> = seat_at(session, round, round.seats.get_index_of(name)?)?;
        let name = stands_for(&seat).join(", ");
        if name.is_empty() {
            return None;
        }
        let sure = seat.answer().and_then(confidence);
        Some(Stand { side: side_of(&seat, round), name, sure })
    };
    let seats = round
        .seats
        .keys()
        .map(|name| (name.clone(), rounds.iter().map(|round| stand(round, name)).collect()))
        .collect();
    Some(Courses { rounds: rounds.iter().map(|round| round.opened.number).collect(), seats })
}
