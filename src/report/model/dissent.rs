//! Who disagrees with what was decided, and which seats did not count, in their own words.

use serde::Serialize;

use super::Report;
use super::options::{Badge, stance_badge};
use super::reasons::plain_texts;
use crate::ballot::{Ballot, BallotKind, Stance};
use crate::history::RoundRun;
use crate::insight::estimates::spread;
use crate::insight::movement::{Move, movement};
use crate::insight::{SeatView, confidence, dissents, seats, tally, winners};
use crate::round::answer::Outcome;

#[derive(Debug, Serialize)]
pub struct Dissenter<'a> {
    pub participant: &'a str,
    pub model: &'a str,
    pub round: &'a str,
    pub number: u32,
    /// "votes redis", "puts search first and csv-export in place 3".
    pub vote: String,
    /// What it said, in full: its position, else its reasons, concerns, risks or suggestions; its last reply
    /// where it gave no valid answer.
    pub said: String,
    /// What would have to change, if it blocks.
    pub minimum_change: Option<String>,
    pub sure: Option<String>,
    #[serde(flatten)]
    pub badge: Badge,
    #[serde(skip)]
    is_block: bool,
}

/// Seats without a ballot that counts, with one reason in common.
#[derive(Debug, PartialEq, Eq)]
pub struct Absent {
    pub seats: Vec<String>,
    /// "failed", "did not answer in time".
    pub outcome: &'static str,
    pub reason: Option<String>,
}

/// A seat that changed its ballot between two rounds of the question.
#[derive(Debug, Serialize)]
pub struct Moved {
    pub round: u32,
    pub seat: String,
    pub from: String,
    pub to: String,
    pub has_new_argument: bool,
    pub said: String,
}

pub fn dissent_heading(kind: BallotKind) -> &'static str {
    match kind {
        BallotKind::Consent => "Reservations",
        BallotKind::Estimate => "The extremes",
        BallotKind::Position
        | BallotKind::Choice
        | BallotKind::Approval
        | BallotKind::Ranking
        | BallotKind::Score
        | BallotKind::Ideas
        | BallotKind::Findings => "Dissent",
    }
}

/// The first text of an answer that says why.
pub fn said(seat: &SeatView<'_>) -> String {
    let Some(answer) = seat.answer() else { return String::new() };
    if answer.may_block && seat.ballot().is_none() {
        return answer.record.replies.last().map(|reply| reply.text.trim().to_owned()).unwrap_or_default();
    }
    let texts = |key: &str| plain_texts(answer.answer.get(key));
    let risks = plain_texts(answer.answer.get("trade_offs").and_then(|given| given.get("risks")));
    let found = [texts("position"), texts("rationale"), texts("concerns"), risks, texts("suggestions")];
    found.into_iter().find(|texts| !texts.is_empty()).unwrap_or_default().join("\n")
}

impl<'a> Report<'a> {
    /// Who disagrees with what the deciding round came to.
    pub fn dissent(&self) -> Vec<Dissenter<'a>> {
        let Some(run) = self.run else { return Vec::new() };
        let winners = winners(self.session, run);
        let extremes = spread(run).filter(|spread| spread.values.len() > 1);
        let is_estimate = run.opened.ballot.kind == BallotKind::Estimate;
        let found = seats(self.session, run).filter_map(|seat| {
            let vote = if is_estimate {
                let (spread, value) = (extremes?, seat.ballot()?.brief()?);
                let end = if winners.contains(&value.as_str()) {
                    return None;
                } else if value == spread.highest {
                    "highest"
                } else if value == spread.lowest {
                    "lowest"
                } else {
                    return None;
                };
                format!("says {value} ({end})")
            } else {
                dissents(&seat, &winners).then(|| self.vote(&seat))?
            };
            let top = seat.ballot().and_then(Ballot::top_options).unwrap_or_default();
            let badge = match top.as_slice() {
                [option] => self.letters.badge(option),
                _ => stance_badge(&seat),
            };
            Some(Dissenter {
                participant: seat.name,
                model: seat.model,
                round: &run.opened.round,
                number: run.opened.number,
                vote,
                said: said(&seat),
                minimum_change: seat.ballot().and_then(Ballot::minimum_change).map(str::to_owned),
                sure: sure(&seat),
                badge: badge.unwrap_or_default(),
                is_block: matches!(seat.ballot(), Some(Ballot::Consent(Stance::Block, _)) | None),
            })
        });
        let mut found: Vec<Dissenter<'a>> = found.collect();
        // Blocks first: a stand-aside lets it pass.
        found.sort_by_key(|one| !one.is_block);
        found
    }

    /// The seats whose ballot differs from the result; of estimates there are none.
    pub fn dissenting(&self) -> Vec<&'a str> {
        let Some(run) = self.run else { return Vec::new() };
        let winners = winners(self.session, run);
        seats(self.session, run).filter(|seat| dissents(seat, &winners)).map(|seat| seat.name).collect()
    }

    /// Who changed their ballot between rounds of this question, in order.
    pub fn moves(&self) -> Vec<Moved> {
        let of_round = |run: &&'a RoundRun| {
            let found = movement(self.session, run).map(|found| found.moves).unwrap_or_default();
            let said_in = |name: &str| seats(self.session, run).find(|seat| seat.name == name);
            let moved = |one: Move| {
                let said = said_in(&one.seat).map(|seat| said(&seat)).unwrap_or_default();
                let Move { seat, from, to, has_new_argument } = one;
                Moved { round: run.opened.number, seat, from, to, has_new_argument, said }
            };
            found.into_iter().map(moved).collect::<Vec<Moved>>()
        };
        self.rounds.iter().flat_map(of_round).collect()
    }

    fn vote(&self, seat: &SeatView<'_>) -> String {
        let Some(ballot) = seat.ballot() else {
            return "gave no valid answer, and it may be a block".to_owned();
        };
        let Some(winner) = self.winners().first().copied() else {
            return ballot.phrase().unwrap_or_default();
        };
        match ballot {
            Ballot::Ranking(places) => {
                let first = places.first().map(|place| place.join(" and ")).unwrap_or_default();
                let mut before = 0;
                for place in places {
                    if place.iter().any(|option| option == winner) {
                        return format!("puts {first} first and {winner} in place {}", before + 1);
                    }
                    before += place.len();
                }
                format!("puts {first} first and leaves {winner} out")
            }
            Ballot::Scores(scores) => {
                let given = scores.get(winner).map(ToString::to_string).unwrap_or_default();
                let top = ballot.top_options().unwrap_or_default().join(" and ");
                format!("scores {top} highest and {winner} {given}")
            }
            Ballot::Position
            | Ballot::Choice(_)
            | Ballot::Approval(_)
            | Ballot::Estimate(_)
            | Ballot::Consent(..)
            | Ballot::Ideas(_)
            | Ballot::Findings(_)
            | Ballot::Abstain => ballot.phrase().unwrap_or_default(),
        }
    }

    /// The seats of the deciding round without a ballot that counts; abstentions are ballots.
    pub fn absent(&self) -> Vec<Absent> {
        let mut found: Vec<Absent> = Vec::new();
        let Some(run) = self.run.filter(|run| tally(run).is_some()) else { return found };
        for seat in seats(self.session, run) {
            let outcome = match seat.outcome() {
                None | Some(Outcome::Answered | Outcome::Abstained) => continue,
                Some(Outcome::Invalid) => "gave no valid answer",
                Some(Outcome::Refused) => "declined to answer",
                Some(Outcome::Failed) => "failed",
                Some(Outcome::TimedOut) => "timed out",
                Some(Outcome::Missing) => "did not answer before the close",
                Some(Outcome::Excused) => "was excused",
            };
            let reason = seat.reason().map(str::to_owned);
            match found.iter_mut().find(|one| one.outcome == outcome && one.reason == reason) {
                Some(one) => one.seats.push(seat.name.to_owned()),
                None => found.push(Absent { seats: vec![seat.name.to_owned()], outcome, reason }),
            }
        }
        found
    }
}

/// How sure a seat says it is: "55 %".
pub fn sure(seat: &SeatView<'_>) -> Option<String> {
    let given = confidence(seat.answer()?)?.parse::<f64>().ok()?;
    Some(format!("{:.0} %", given * 100.0))
}
