//! View of a round for every report: seats, answers, count and bars.
//!
//! Reports read seats only through it. It shows no part of an answer before the round is revealed. It returns
//! raw text; each format escapes it.

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
    /// Cost of the answer, once revealed and if the provider reported tokens.
    pub spent: Option<Cost>,
    /// Origin of the answer; the planned one before the reveal.
    pub origin: Origin,
    /// Time from the round's opening to the seat's seal or failure, in milliseconds.
    pub elapsed_ms: Option<u64>,
    pub state: &'static str,
    /// `None` while the seat is open or sealed.
    pub outcome: Option<Outcome>,
    pub reason: Option<&'a str>,
    pub failed: Option<&'a SeatFailed>,
    pub answer: Option<&'a AnswerRevealed>,
    /// The seat's own draft among the options, which it cannot choose.
    pub own: Option<&'a str>,
    /// Names that the answer reveals, with their masks.
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

/// Returns the seats that block, each with its required change if stated.
pub fn blocks<'a>(
    session: &'a Session,
    round: &'a RoundRun,
) -> impl Iterator<Item = (&'a str, Option<&'a str>)> {
    seats(session, round).filter_map(|seat| {
        let Ballot::Consent(Stance::Block, change) = seat.ballot()? else { return None };
        Some((seat.name, change.as_deref()))
    })
}

/// Returns the number of seats that choose, approve or rank first each option.
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

/// Returns the number of a round's answers that scripts gave in place of models, and of all.
pub fn scripted(session: &Session, round: &RoundRun) -> (usize, usize) {
    let answers: Vec<&AnswerRevealed> = seats(session, round).filter_map(|seat| seat.answer).collect();
    (answers.iter().filter(|answer| is_scripted(session, answer)).count(), answers.len())
}

/// Checks if a round's answers may be read: the round is closed and all answers are revealed.
pub fn is_revealed(round: &RoundRun) -> bool {
    round.closed.is_some() && !round.seats.values().any(|seat| matches!(seat.status, SeatStatus::Sealed(_)))
}

pub fn tally(round: &RoundRun) -> Option<&Tally> {
    round.tally.as_ref().filter(|_| is_revealed(round))
}

impl<'a> SeatView<'a> {
    /// Returns the seat's model for display, with the answering one if different, or a label if no model
    /// answers.
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

    /// Returns the seat's valid ballot, once revealed.
    pub fn ballot(&self) -> Option<&'a Ballot> {
        self.answer.filter(|answer| answer.outcome == Outcome::Answered)?.ballot.as_ref()
    }
}

/// Checks if a seat's ballot differs from the round's decision. Every stance but support dissents, and so does
/// a reply that may be a block.
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

/// Returns the author of an option whose label is not the seat's name.
pub fn author<'a>(session: &'a Session, round: &'a RoundRun, option: &str) -> Option<&'a str> {
    let is_own = |seat: &SeatView<'_>| seat.own == Some(option) && seat.name != option;
    seats(session, round).find(is_own).map(|seat| seat.name)
}

/// Returns the result of a round: the facilitator's choice, else the winners of its rule.
pub fn winners<'a>(session: &'a Session, round: &'a RoundRun) -> Vec<&'a str> {
    if let Some(option) = decided_by_person(session, round).and_then(AnsweredQuestion::decides) {
        return vec![option];
    }
    let decided = tally(round).filter(|tally| tally.decided);
    decided.iter().flat_map(|tally| &tally.verdict.winners).map(String::as_str).collect()
}

/// Returns the confidence that an answer states, as given.
pub fn confidence(answer: &AnswerRevealed) -> Option<String> {
    Some(answer.answer.get("confidence")?.as_number()?.to_string())
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bar<'a> {
    pub name: &'a str,
    pub score: &'a Score,
    /// Length from 0 to 1.
    pub share: f64,
    /// Supporters, most confident first: seats that chose, approved, ranked first or scored highest this option.
    pub seats: Vec<Supporter<'a>>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Supporter<'a> {
    #[serde(rename = "participant")]
    pub seat: &'a str,
    pub sure: Option<f64>,
}

/// Returns the bars of a counted round, in form order, and a note on their scale; no bars before the reveal and
/// for open questions.
pub fn bars<'a>(session: &'a Session, round: &'a RoundRun) -> (Vec<Bar<'a>>, String) {
    let Some(tally) = tally(round) else { return Default::default() };
    let scores = &tally.verdict.scores;
    let most = scores.values().map(Score::as_f64).fold(0.0, f64::max);
    let asked = tally.asked as f64;
    // The scores of a median are the numbers of seats per card.
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
        for at in supported_options(&seat).iter().filter_map(|option| scores.get_index_of(option)) {
            bars[at].seats.push(Supporter { seat: seat.name, sure });
        }
    }
    for bar in &mut bars {
        bar.seats.sort_by(|a, b| b.sure.unwrap_or(1.0).total_cmp(&a.sure.unwrap_or(1.0)));
    }
    (bars, scale)
}

/// Returns the counted options that a seat's ballot supports.
fn supported_options(seat: &SeatView<'_>) -> Vec<String> {
    match seat.ballot() {
        None => Vec::new(),
        Some(Ballot::Consent(stance, _)) => vec![stance.name().to_owned()],
        Some(ballot @ Ballot::Estimate(_)) => ballot.brief().into_iter().collect(),
        Some(ballot) => ballot.top_options().unwrap_or_default(),
    }
}

/// Returns the index of a seat's first supported option, for its color; `None` for an abstention.
pub fn side_of(seat: &SeatView<'_>, round: &RoundRun) -> Option<usize> {
    let scores = &tally(round)?.verdict.scores;
    supported_options(seat).iter().find_map(|option| scores.get_index_of(option))
}

/// Returns the number of filled cells in a bar of `room` cells; at least one for a share above 0.
pub fn bar_cells(share: f64, room: usize) -> usize {
    let filled = (share * room as f64).floor() as usize;
    filled.clamp(usize::from(share > 0.0), room)
}
