//! The view of a round for every report: its seats, their answers, its count, its bars.
//!
//! It alone looks at a seat's status, and lets nothing of an answer through before all seats of its
//! round are revealed. It hands out raw text: each format escapes it in its own way.

use std::collections::HashMap;

use serde::Serialize;

use super::wording::pluralize;
use crate::ballot::{Ballot, Stance};
use crate::core::{Cost, decided_by_person, is_scripted};
use crate::history::{
    AnswerRevealed, AnsweredQuestion, Leak, RoundRun, Seat, SeatFailed, SeatInfo, SeatStatus, Session, Tally,
};
use crate::round::answer::{Origin, Outcome};
use crate::tally::{Rule, Score};

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
    pub state: &'static str,
    /// None while it is open or sealed.
    pub outcome: Option<Outcome>,
    pub reason: Option<&'a str>,
    pub failed: Option<&'a SeatFailed>,
    pub answer: Option<&'a AnswerRevealed>,
    /// The option that is its own draft, which it cannot choose.
    pub own: Option<&'a str>,
    /// Names that its answer gives away, with their masks.
    pub leaks: Option<&'a [Leak]>,
}

pub fn seats<'a>(session: &'a Session, round: &'a RoundRun) -> impl Iterator<Item = SeatView<'a>> {
    let revealed = is_revealed(round);
    round.seats.values().map(move |seat| seat_view(session, round, seat, revealed))
}

pub fn seat_at<'a>(session: &'a Session, round: &'a RoundRun, at: usize) -> Option<SeatView<'a>> {
    let (_, seat) = round.seats.get_index(at)?;
    Some(seat_view(session, round, seat, is_revealed(round)))
}

pub fn seat_named<'a>(session: &'a Session, round: &'a RoundRun, name: &str) -> Option<SeatView<'a>> {
    seat_at(session, round, round.seats.get_index_of(name)?)
}

/// The seats that block, each with what would have to change, if it says so.
pub fn blocks<'a>(
    session: &'a Session,
    round: &'a RoundRun,
) -> impl Iterator<Item = (&'a str, Option<&'a str>)> {
    seats(session, round).filter_map(|seat| {
        let Ballot::Consent(Stance::Block, change) = seat.ballot()? else { return None };
        Some((seat.name, change.as_deref()))
    })
}

/// The number of seats that choose or approve of each option, or put it first.
pub fn votes(session: &Session, round: &RoundRun) -> HashMap<String, usize> {
    let mut found = HashMap::new();
    for option in seats(session, round).filter_map(|seat| seat.ballot()?.top_options()).flatten() {
        *found.entry(option).or_default() += 1;
    }
    found
}

fn seat_view<'a>(session: &'a Session, round: &'a RoundRun, seat: &'a Seat, revealed: bool) -> SeatView<'a> {
    let step = round.opened.step.as_str();
    let info = session.seat_info(&seat.name);
    let offered = seat.item.as_ref().map_or("", |item| item.model.as_str());
    let answer = seat.answer().filter(|_| revealed).map(|answer| &**answer);
    let failed = if let SeatStatus::Failed(failed) = &seat.status { Some(failed) } else { None };
    let (state, outcome) = match &seat.status {
        SeatStatus::Waiting => ("waiting", None),
        SeatStatus::Asking => ("asking", None),
        SeatStatus::Revealed(answer, _) if revealed => ("revealed", Some(answer.outcome)),
        SeatStatus::Sealed(_) | SeatStatus::Revealed(..) => ("sealed", None),
        SeatStatus::Lost(_) if round.closed.is_some() => ("key lost", Some(Outcome::Failed)),
        SeatStatus::Lost(_) => ("lost", None),
        SeatStatus::Failed(failed) if failed.timed_out => ("timed out", Some(Outcome::TimedOut)),
        SeatStatus::Failed(_) => ("failed", Some(Outcome::Failed)),
        SeatStatus::Excused(_) => ("excused", Some(Outcome::Excused)),
        SeatStatus::Missing => ("missing", Some(Outcome::Missing)),
    };
    let reason = match &seat.status {
        SeatStatus::Failed(failed) => Some(failed.reason.as_str()),
        SeatStatus::Excused(reason) => Some(reason.as_str()),
        SeatStatus::Lost(_) => outcome.map(|_| "its answer was lost with the round's key"),
        _ => answer.and_then(|answer| answer.reason.as_deref()),
    };
    let (model, origin) = match (answer.map(|answer| &answer.record), info) {
        (Some(record), _) if record.origin == Origin::Script => ("scripted", record.origin),
        (Some(record), _) => (&*record.model, record.origin),
        (None, Some(info)) => (info.label(step), info.planned_origin(step)),
        (None, None) => (offered, Origin::Model),
    };
    SeatView {
        name: &seat.name,
        info,
        spent: answer.and_then(|_| seat.spent(&|model| session.price(model))),
        model,
        origin,
        elapsed_ms: seat.elapsed_ms,
        state,
        outcome,
        reason,
        failed,
        answer,
        own: round.opened.ballot.exclude_own.then(|| session.display_name(&seat.name)),
        leaks: seat.item.as_ref().filter(|_| revealed).and_then(|item| session.leaks_of(&item.item)),
    }
}

/// The number of a round's answers that scripts gave in the place of models, and of all.
pub fn scripted(session: &Session, round: &RoundRun) -> (usize, usize) {
    let answers: Vec<&AnswerRevealed> = seats(session, round).filter_map(|seat| seat.answer).collect();
    (answers.iter().filter(|answer| is_scripted(session, answer)).count(), answers.len())
}

/// Tells if a round's answers may be read: it is closed, and all of them are there together.
pub fn is_revealed(round: &RoundRun) -> bool {
    round.closed.is_some() && !round.seats.values().any(|seat| matches!(seat.status, SeatStatus::Sealed(_)))
}

pub fn tally(round: &RoundRun) -> Option<&Tally> {
    round.tally.as_ref().filter(|_| is_revealed(round))
}

impl<'a> SeatView<'a> {
    /// Who answers, for a person: the model, with the one that answered where that is another; or that it
    /// is no model.
    pub fn who(&self) -> String {
        match (self.origin.label(), self.answer) {
            (Some(label), _) => label.to_owned(),
            (None, Some(answer)) => answer.record.who(),
            (None, None) => self.model.to_owned(),
        }
    }

    pub fn stance(&self) -> Option<Stance> {
        if let Some(Ballot::Consent(stance, _)) = self.ballot() { Some(*stance) } else { None }
    }

    /// Its ballot, if it is a valid one that may be read.
    pub fn ballot(&self) -> Option<&'a Ballot> {
        self.answer.filter(|answer| answer.outcome == Outcome::Answered)?.ballot.as_ref()
    }
}

/// Whether a seat's ballot differs from what the round decided; of stances, all but support do, and so
/// does what may be a block.
pub fn dissents(seat: &SeatView<'_>, winners: &[&str]) -> bool {
    if seat.answer.is_some_and(|answer| answer.may_block) {
        return true;
    }
    if let Some(stance) = seat.stance() {
        return stance != Stance::Support;
    }
    if seat.own.is_some_and(|own| winners.contains(&own)) {
        return false;
    }
    let is_foreign = |option: &String| seat.own != Some(option.as_str());
    let top = if let Some(Ballot::Ranking(places)) = seat.ballot() {
        places.iter().find(|place| place.iter().any(is_foreign)).cloned()
    } else {
        seat.ballot().and_then(Ballot::top_options)
    };
    let Some(top) = top else { return false };
    !winners.is_empty() && !top.iter().any(|option| winners.contains(&option.as_str()))
}

/// The seat whose draft an option is.
pub fn author<'a>(session: &'a Session, round: &'a RoundRun, option: &str) -> Option<&'a str> {
    let is_own = |seat: &SeatView<'_>| seat.own == Some(option) && seat.name != option;
    seats(session, round).find(is_own).map(|seat| seat.name)
}

/// The result of a round: the option that the facilitator chose, else the winners of its rule.
pub fn winners<'a>(session: &'a Session, round: &'a RoundRun) -> Vec<&'a str> {
    if let Some(option) = decided_by_person(session, round).and_then(AnsweredQuestion::decides) {
        return vec![option];
    }
    let decided = tally(round).filter(|tally| tally.decided);
    decided.iter().flat_map(|tally| &tally.verdict.winners).map(String::as_str).collect()
}

/// The confidence that an answer states, as it was given.
pub fn confidence(answer: &AnswerRevealed) -> Option<String> {
    Some(answer.answer.get("confidence")?.as_number()?.to_string())
}

#[derive(Debug, Clone, PartialEq, Serialize)]
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
    pub sure: Option<f64>,
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
    let bar = |(name, score): (&'a String, &'a Score)| Bar {
        name,
        score,
        share: if full > 0.0 { (score.as_f64() / full).clamp(0.0, 1.0) } else { 0.0 },
        seats: Vec::new(),
    };
    let mut bars: Vec<Bar<'a>> = scores.iter().map(bar).collect();
    for seat in seats(session, round) {
        let sure = seat.answer.and_then(confidence).and_then(|sure| sure.parse().ok());
        for at in stands_for(&seat).iter().filter_map(|option| scores.get_index_of(option)) {
            bars[at].seats.push(Supporter { seat: seat.name, sure });
        }
    }
    for bar in &mut bars {
        bar.seats.sort_by(|a, b| b.sure.unwrap_or(1.0).total_cmp(&a.sure.unwrap_or(1.0)));
    }
    (bars, scale)
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
