//! Who disagrees with what was decided, and which seats did not count, in their own words.

use super::Report;
use super::reasons::plain_texts;
use crate::ballot::{Ballot, BallotKind, Stance};
use crate::history::RoundRun;
use crate::insight::{SeatView, confidence, dissents, seats, tally, winners};
use crate::round::answer::Outcome;

#[derive(Debug)]
pub struct Dissenter<'a> {
    pub run: &'a RoundRun,
    pub seat: SeatView<'a>,
    /// "votes redis", "puts search first and csv-export in place 3".
    pub vote: String,
    /// What it said, in full: its position, else its reasons, concerns, risks or suggestions; its last reply
    /// where it gave no valid answer.
    pub said: String,
    /// What would have to change, if it blocks.
    pub change: Option<String>,
}

/// Seats without a ballot that counts, with one reason in common.
#[derive(Debug, PartialEq, Eq)]
pub struct Absent {
    pub seats: Vec<String>,
    /// "failed", "did not answer in time".
    pub outcome: &'static str,
    pub reason: Option<String>,
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
    /// The dissent of the deciding round, then of other rounds that decided something of their own.
    pub fn dissent(&self) -> Vec<Dissenter<'a>> {
        let runs = self.run.into_iter().chain(self.others.iter().map(|(run, _)| *run));
        runs.flat_map(|run| self.dissent_of(run)).collect()
    }

    fn dissent_of(&self, run: &'a RoundRun) -> Vec<Dissenter<'a>> {
        let winners = winners(self.session, run);
        let extremes = tally(run).filter(|tally| tally.decided).and_then(|tally| {
            let spread = tally.verdict.trace.as_ref()?.spread.as_ref()?;
            (spread.values.len() > 2).then(|| (spread.lowest.clone(), spread.highest.clone()))
        });
        let is_estimate = run.opened.ballot.kind == BallotKind::Estimate;
        let found = seats(self.session, run).filter_map(|seat| {
            let vote = if is_estimate {
                let (lowest, highest) = extremes.as_ref()?;
                let value = seat.ballot()?.brief()?;
                let end = if value == *highest {
                    "highest"
                } else if value == *lowest {
                    "lowest"
                } else {
                    return None;
                };
                format!("says {value} ({end})")
            } else {
                dissents(&seat, &winners).then(|| self.vote(&seat))?
            };
            let change = seat.ballot().and_then(Ballot::minimum_change).map(str::to_owned);
            Some(Dissenter { run, said: said(&seat), seat, vote, change })
        });
        let mut found: Vec<Dissenter<'a>> = found.collect();
        // Blocks first: a stand-aside lets it pass.
        found.sort_by_key(|one| !matches!(one.seat.ballot(), Some(Ballot::Consent(Stance::Block, _)) | None));
        found
    }

    fn vote(&self, seat: &SeatView<'_>) -> String {
        let Some(ballot) = seat.ballot() else {
            return "gave no valid answer, and it may be a block".to_owned();
        };
        let Some(winner) = self.winner() else { return ballot.phrase().unwrap_or_default() };
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
