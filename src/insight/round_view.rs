//! The view of a round for every report: its seats, their answers, its count.
//!
//! It alone looks at a seat's status, and lets nothing of an answer through before all seats of its
//! round are revealed. It hands out raw text: each format escapes it in its own way.

use serde_json::Value;

use crate::ballot::{Ballot, Stance};
use crate::core::{Cost, is_scripted};
use crate::history::{
    AnswerRevealed, AnsweredQuestion, Leak, RoundRun, Seat, SeatFailed, SeatInfo, SeatStatus, Session, Tally,
};
use crate::round::answer::{Origin, Outcome};

#[derive(Debug, Clone, Copy)]
pub struct SeatView<'a> {
    pub name: &'a str,
    /// `provider/model`, or `scripted`.
    pub model: &'a str,
    pub info: Option<&'a SeatInfo>,
    /// The cost of its answer, once it may be read and if its service told of tokens.
    pub spent: Option<Cost>,
    /// Of the answer; before the reveal the planned one.
    pub origin: Origin,
    /// From the round's opening to its seal or failure, in milliseconds.
    pub elapsed_ms: Option<u64>,
    pub standing: VisibleState<'a>,
    /// Names that its answer gives away, with their masks.
    pub leaks: Option<&'a [Leak]>,
}

#[derive(Debug, Clone, Copy)]
pub enum VisibleState<'a> {
    /// Not settled, or not to be read yet; the word for it.
    Unread(&'static str),
    Lost,
    Failed(&'a SeatFailed),
    Excused(&'a str),
    Missing,
    Revealed(&'a AnswerRevealed),
}

const LOST: &str = "its answer was lost with the round's key";

pub fn seats<'a>(session: &'a Session, round: &'a RoundRun) -> impl Iterator<Item = SeatView<'a>> {
    let revealed = is_revealed(round);
    round.seats.values().map(move |seat| seat_view(session, round, seat, revealed))
}

pub fn seat_at<'a>(session: &'a Session, round: &'a RoundRun, at: usize) -> Option<SeatView<'a>> {
    let (_, seat) = round.seats.get_index(at)?;
    Some(seat_view(session, round, seat, is_revealed(round)))
}

fn seat_view<'a>(session: &'a Session, round: &'a RoundRun, seat: &'a Seat, revealed: bool) -> SeatView<'a> {
    let step = round.opened.step.as_str();
    let info = session.seat_info(&seat.name);
    let offered = seat.item.as_ref().map_or("", |item| item.model.as_str());
    let standing = match &seat.status {
        SeatStatus::Waiting => VisibleState::Unread("waiting"),
        SeatStatus::Asking => VisibleState::Unread("asking"),
        SeatStatus::Revealed(answer, _) if revealed => VisibleState::Revealed(answer),
        SeatStatus::Sealed(_) | SeatStatus::Revealed(..) => VisibleState::Unread("sealed"),
        SeatStatus::Lost(_) if round.closed.is_some() => VisibleState::Lost,
        SeatStatus::Lost(_) => VisibleState::Unread("lost"),
        SeatStatus::Failed(failed) => VisibleState::Failed(failed),
        SeatStatus::Excused(reason) => VisibleState::Excused(reason),
        SeatStatus::Missing => VisibleState::Missing,
    };
    let spent = match standing {
        VisibleState::Revealed(_) => seat.spent(&|model| session.price(model)),
        _ => None,
    };
    let (model, origin) = match standing {
        VisibleState::Revealed(answer) if answer.record.origin == Origin::Script => {
            ("scripted", Origin::Script)
        }
        VisibleState::Revealed(answer) => (answer.record.model.as_str(), answer.record.origin),
        _ => (
            info.map_or(offered, |info| info.label(step)),
            info.map_or(Origin::Model, |info| info.planned_origin(step)),
        ),
    };
    SeatView {
        name: &seat.name,
        info,
        spent,
        model,
        origin,
        elapsed_ms: seat.elapsed_ms,
        standing,
        leaks: seat.item.as_ref().filter(|_| revealed).and_then(|item| session.leaks_of(&item.item)),
    }
}

/// The number of a round's answers that scripts gave in the place of models, and of all.
pub fn scripted(session: &Session, round: &RoundRun) -> (usize, usize) {
    let answers: Vec<&AnswerRevealed> = seats(session, round).filter_map(|seat| seat.answer()).collect();
    (answers.iter().filter(|answer| is_scripted(session, answer)).count(), answers.len())
}

/// Tells if a round's answers may be read: it is closed, and all of them are there together.
pub fn is_revealed(round: &RoundRun) -> bool {
    let is_sealed = |seat: &Seat| matches!(seat.status, SeatStatus::Sealed(_));
    round.closed.is_some() && !round.seats.values().any(is_sealed)
}

pub fn tally(round: &RoundRun) -> Option<&Tally> {
    round.tally.as_ref().filter(|_| is_revealed(round))
}

impl<'a> SeatView<'a> {
    /// Who answers, for a person: the model, with the one that answered where that is another; or that it
    /// is no model.
    pub fn who(&self) -> String {
        match (self.origin.label(), self.answer()) {
            (Some(label), _) => label.to_owned(),
            (None, Some(answer)) => answer.record.who(),
            (None, None) => self.model.to_owned(),
        }
    }

    /// None while it is open or sealed.
    pub fn outcome(&self) -> Option<Outcome> {
        match self.standing {
            VisibleState::Unread(_) => None,
            VisibleState::Failed(failed) if failed.timed_out => Some(Outcome::TimedOut),
            VisibleState::Failed(_) | VisibleState::Lost => Some(Outcome::Failed),
            VisibleState::Excused(_) => Some(Outcome::Excused),
            VisibleState::Missing => Some(Outcome::Missing),
            VisibleState::Revealed(answer) => Some(answer.outcome),
        }
    }

    pub fn reason(&self) -> Option<&'a str> {
        match self.standing {
            VisibleState::Unread(_) | VisibleState::Missing => None,
            VisibleState::Lost => Some(LOST),
            VisibleState::Failed(failed) => Some(&failed.reason),
            VisibleState::Excused(reason) => Some(reason),
            VisibleState::Revealed(answer) => answer.reason.as_deref(),
        }
    }

    pub fn answer(&self) -> Option<&'a AnswerRevealed> {
        match self.standing {
            VisibleState::Revealed(answer) => Some(answer),
            _ => None,
        }
    }

    pub fn stance(&self) -> Option<Stance> {
        if let Some(Ballot::Consent(stance, _)) = self.ballot() { Some(*stance) } else { None }
    }

    /// Its ballot, if it is a valid one that may be read.
    pub fn ballot(&self) -> Option<&'a Ballot> {
        self.answer().filter(|answer| answer.outcome == Outcome::Answered)?.ballot.as_ref()
    }
}

/// Whether a seat's ballot differs from what the round decided; of stances, all but support do, and so
/// does what may be a block.
pub fn dissents(seat: &SeatView<'_>, winners: &[&str]) -> bool {
    if seat.answer().is_some_and(|answer| answer.may_block) {
        return true;
    }
    if let Some(stance) = seat.stance() {
        return stance != Stance::Support;
    }
    let Some(top) = seat.ballot().and_then(Ballot::top_options) else { return false };
    !winners.is_empty() && !top.iter().any(|option| winners.contains(&option.as_str()))
}

/// The result of a round: the option that the facilitator chose, else the winners of its rule.
pub fn winners<'a>(session: &'a Session, round: &'a RoundRun) -> Vec<&'a str> {
    let is_last = session.last_round_of(&round.opened.step).is_some_and(|last| std::ptr::eq(last, round));
    let own = session.chosen.get(&round.opened.step).filter(|_| is_last);
    if let Some(option) = own.and_then(AnsweredQuestion::decides) {
        return vec![option];
    }
    let decided = tally(round).filter(|tally| tally.decided);
    decided.iter().flat_map(|tally| &tally.verdict.winners).map(String::as_str).collect()
}

/// The confidence an answer states, as it was given; none when it states none.
pub fn confidence(answer: &AnswerRevealed) -> Option<String> {
    match answer.answer.get("confidence") {
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    }
}
