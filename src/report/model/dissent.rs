//! Dissent and changed votes, in the seats' own words.

use serde::Serialize;

use super::options::{Badge, stance_badge};
use super::question::QuestionRounds;
use crate::ballot::{Ballot, BallotKind, Stance};
use crate::handoff::plain_texts;
use crate::insight::counts::spread;
use crate::insight::movement::{Move, Movement, earlier, movement};
use crate::insight::round_view::seat_named;
use crate::insight::{SeatView, confidence, dissents, seats, winners};

#[derive(Debug, Serialize)]
pub struct Dissenter<'a> {
    pub participant: &'a str,
    pub model: &'a str,
    pub round: &'a str,
    pub number: u32,
    /// "votes redis", "ranks search, csv-export".
    pub vote: String,
    /// Full text: the position, else reasons, concerns, risks or suggestions; without a valid answer, the
    /// last reply.
    pub said: String,
    /// Change that the seat requires, if it blocks.
    pub minimum_change: Option<&'a str>,
    pub sure: Option<String>,
    #[serde(flatten)]
    pub badge: Badge,
}

/// Seat that changed its ballot between two rounds of the question.
#[derive(Debug, Serialize)]
pub struct Moved {
    pub round: u32,
    pub seat: String,
    pub from: String,
    pub to: String,
    pub has_new_argument: bool,
    pub joined_leader: bool,
    pub said: String,
}

pub fn dissent_heading(kind: BallotKind) -> &'static str {
    if kind == BallotKind::Consent {
        "Reservations"
    } else if kind == BallotKind::Estimate {
        "The extremes"
    } else {
        "Dissent"
    }
}

/// Returns the first text of an answer that gives a reason.
pub fn said(seat: &SeatView<'_>) -> String {
    let Some(answer) = seat.answer else { return String::new() };
    if answer.may_block && seat.ballot().is_none() {
        return answer.record.replies.last().map(|reply| reply.text.trim().to_owned()).unwrap_or_default();
    }
    let texts = |key: &str| plain_texts(answer.answer.get(key));
    let risks = plain_texts(answer.answer.get("trade_offs").and_then(|given| given.get("risks")));
    let found = [texts("position"), texts("rationale"), texts("concerns"), risks, texts("suggestions")];
    found.into_iter().find(|texts| !texts.is_empty()).unwrap_or_default().join("\n")
}

impl<'a> QuestionRounds<'a> {
    /// Returns the seats that disagree with the result; for estimates, those at the extremes.
    pub fn dissent(&self) -> Vec<Dissenter<'a>> {
        let Some(run) = self.run else { return Vec::new() };
        let (winners, letters) = (winners(self.session, run), self.letters());
        let extremes = spread(run).filter(|spread| spread.values.len() > 1);
        let vote = |seat: &SeatView<'_>| {
            if self.kind() != BallotKind::Estimate {
                let unread = || "gave no valid answer, and it may be a block".to_owned();
                let phrase = || seat.ballot().and_then(Ballot::phrase).unwrap_or_else(unread);
                return dissents(seat, &winners).then(phrase);
            }
            let (spread, value) = (extremes?, seat.ballot()?.brief()?);
            let ends = [(&spread.highest, "highest"), (&spread.lowest, "lowest")];
            let (_, end) = ends.into_iter().find(|(end, _)| value == **end)?;
            Some(format!("says {value} ({end})"))
        };
        let dissenter = |seat: SeatView<'a>| {
            let top = seat.ballot().and_then(Ballot::top_options).unwrap_or_default();
            let badge = match top.as_slice() {
                [option] => letters.badge(option),
                _ => stance_badge(&seat),
            };
            Some(Dissenter {
                participant: seat.name,
                model: seat.model,
                round: &run.opened.round,
                number: run.opened.number,
                vote: vote(&seat)?,
                said: said(&seat),
                minimum_change: seat.ballot().and_then(Ballot::minimum_change),
                sure: sure(&seat),
                badge: badge.unwrap_or_default(),
            })
        };
        let mut all: Vec<SeatView<'a>> = seats(self.session, run).collect();
        // Blocks come first, because a stand-aside does not stop the proposal.
        all.sort_by_key(|seat| matches!(seat.ballot(), Some(Ballot::Consent(Stance::StandAside, _))));
        all.into_iter().filter_map(dissenter).collect()
    }

    /// Returns the changed ballots between rounds of this question, in order.
    pub fn moves(&self) -> Vec<Moved> {
        let mut found = Vec::new();
        for run in &self.rounds {
            let Some(Movement { moves, joined_leader, .. }) = movement(self.session, run) else { continue };
            for Move { seat, from, to, has_new_argument } in moves {
                let said = seat_named(self.session, run, &seat).map(|view| said(&view)).unwrap_or_default();
                let (round, joined_leader) = (run.opened.number, joined_leader.contains(&seat));
                found.push(Moved { round, seat, from, to, has_new_argument, joined_leader, said });
            }
        }
        found
    }

    /// Returns winners that fewer than a third had chosen before the revision.
    pub fn risen_winners(&self) -> Vec<(String, String)> {
        let run = self.run.filter(|run| run.opened.revises.is_some());
        let before = run.and_then(|run| earlier(self.session, run)).into_iter();
        let before = before.flat_map(|before| seats(self.session, before));
        let tops: Vec<Vec<String>> = before.filter_map(|seat| seat.ballot()?.top_options()).collect();
        let line = |winner: &str| {
            let had = tops.iter().filter(|top| top.iter().any(|option| option == winner)).count();
            (3 * had < tops.len())
                .then(|| (winner.to_owned(), format!("had {had} of {} ballots", tops.len())))
        };
        self.winners().into_iter().filter_map(line).collect()
    }
}

/// Returns the seat's stated confidence: "55 %".
pub fn sure(seat: &SeatView<'_>) -> Option<String> {
    let given = confidence(seat.answer?)?.parse::<f64>().ok()?;
    Some(format!("{:.0} %", given * 100.0))
}
