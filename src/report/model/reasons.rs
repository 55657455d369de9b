//! Reasons for and against options, verbatim, merged over seats and rounds.
//!
//! In choice and consent rounds, a seat's reasons belong to its choice. In rankings, scores and approvals, a
//! text counts for an option only if it names the option; anything else would be a guess.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;

use super::question::QuestionRounds;
use crate::ballot::{Ballot, BallotKind, Stance};
use crate::core::is_placeholder;
use crate::handoff::{options_named, plain_texts, words};
use crate::history::{AnswerRevealed, RoundRun};
use crate::insight::{first_names, join_list, seats};

/// Key of the proposal in a consent round.
pub const PROPOSAL: &str = "\u{0}proposal";

#[derive(Debug, Default, Serialize)]
pub struct Reason {
    /// Text of the first seat that gave it.
    pub text: String,
    #[serde(rename = "participants")]
    pub seats: IndexSet<String>,
    pub models: BTreeSet<String>,
    pub rounds: BTreeSet<u32>,
    /// Set if only seats that left the option gave it.
    pub left: bool,
    /// "qa-lead, skeptic in round 2", "devops-engineer (left it)".
    pub who: String,
}

/// Reasons for and against an option, the most widely shared first.
#[derive(Debug, Default, Serialize)]
pub struct Reasons {
    #[serde(rename = "for")]
    pub pro: Vec<Reason>,
    #[serde(rename = "against")]
    pub con: Vec<Reason>,
}

fn texts(answer: &AnswerRevealed, key: &str) -> Vec<String> {
    plain_texts(answer.answer.get(key))
}

/// Returns the seat's reasons for its choice, else its position.
fn grounds(answer: &AnswerRevealed) -> Vec<String> {
    let reasons = texts(answer, "rationale");
    if reasons.is_empty() { texts(answer, "position") } else { reasons }
}

/// Reason of one seat in one round.
struct Argument<'a> {
    option: &'a str,
    is_pro: bool,
    /// Set if the seat left the option for this reason.
    left: bool,
    text: String,
}

/// Returns the arguments of an answer. `before` is the seat's last choice, if it differs.
fn arguments<'a>(
    answer: &AnswerRevealed,
    ballot: &'a Ballot,
    before: Option<&'a str>,
    options: &'a [String],
) -> Vec<Argument<'a>> {
    let on = |option, is_pro| move |text| Argument { option, is_pro, left: false, text };
    let concerns = texts(answer, "concerns").into_iter();
    match ballot {
        Ballot::Choice(option) => {
            let given = grounds(answer);
            let left = before.zip(given.first().cloned());
            let left = left.map(|(option, text)| Argument { option, is_pro: false, left: true, text });
            let given = given.into_iter().map(on(option, true));
            given.chain(concerns.map(on(option, false))).chain(left).collect()
        }
        Ballot::Consent(stance, _) => {
            let given = grounds(answer).into_iter().map(on(PROPOSAL, *stance == Stance::Support));
            given.chain(concerns.map(on(PROPOSAL, false))).collect()
        }
        Ballot::Ranking(_) | Ballot::Scores(_) | Ballot::Approval(_) => {
            let given = texts(answer, "rationale").into_iter().map(|text| (text, true));
            let mut found = Vec::new();
            for (text, is_pro) in given.chain(concerns.map(|text| (text, false))) {
                found.extend(options_named(&text, options).map(|option| on(option, is_pro)(text.clone())));
            }
            found
        }
        Ballot::Position | Ballot::Estimate(_) | Ballot::Ideas(_) | Ballot::Findings(_) | Ballot::Abstain => {
            Vec::new()
        }
    }
}

/// Returns the reasons by option, over the revealed rounds with the ballot form of `run`. Reasons shared by
/// most models come first.
pub fn by_option(question: &QuestionRounds<'_>, run: &RoundRun) -> IndexMap<String, Reasons> {
    let mut found: IndexMap<_, Reason> = IndexMap::new();
    let mut held: HashMap<&str, &str> = HashMap::new();
    for round in question.alike() {
        for seat in seats(question.session, round) {
            let said = seat.answer.filter(|answer| !is_placeholder(answer));
            let (Some(answer), Some(ballot)) = (said, seat.ballot()) else { continue };
            let before = if let Ballot::Choice(option) = ballot {
                held.insert(seat.name, option).filter(|before| before != option)
            } else {
                None
            };
            for Argument { option, is_pro, left, text } in
                arguments(answer, ballot, before, &run.opened.ballot.options)
            {
                let words = words(&text);
                if words.is_empty() {
                    continue;
                }
                let new = || Reason { text, left, ..Reason::default() };
                let reason = found.entry((option.to_owned(), is_pro, words)).or_insert_with(new);
                reason.seats.insert(seat.name.to_owned());
                reason.models.insert(answer.record.model.clone());
                reason.rounds.insert(round.opened.number);
                reason.left &= left;
            }
        }
    }
    let mut by_option: IndexMap<String, Reasons> = IndexMap::new();
    for ((option, is_pro, _), mut reason) in found {
        reason.who = reason.given_by(run.opened.number);
        let of_option = by_option.entry(option).or_default();
        if is_pro { of_option.pro.push(reason) } else { of_option.con.push(reason) }
    }
    for side in by_option.values_mut().flat_map(|reasons| [&mut reasons.pro, &mut reasons.con]) {
        // The stable sort keeps equal reasons in the order they were given.
        side.sort_by_key(|reason| {
            Reverse((reason.models.len(), reason.seats.len(), reason.rounds.last().copied()))
        });
    }
    by_option
}

pub fn headings(kind: BallotKind) -> [&'static str; 2] {
    if matches!(kind, BallotKind::Ranking | BallotKind::Score | BallotKind::Approval) {
        ["Reasons that name it", "Concerns that name it"]
    } else {
        ["Said for it", "Said against it"]
    }
}

impl Reason {
    fn given_by(&self, last: u32) -> String {
        let names: Vec<&String> = self.seats.iter().collect();
        let mut who = match names.len() {
            ..=3 => join_list(names),
            _ => first_names(&names, 2),
        };
        if self.left {
            who += " (left it)";
        } else if !self.rounds.contains(&last) {
            let word = if self.rounds.len() == 1 { "round" } else { "rounds" };
            who += &format!(" in {word} {}", join_list(self.rounds.iter().map(u32::to_string)));
        }
        who
    }
}
