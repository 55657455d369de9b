//! Reasons for and against options, merged over seats and rounds; every line is somebody's own words.
//!
//! Of a choice and of consent the reasons are those of who chose so. Of rankings, scores and approvals a
//! text counts for an option only if it names it: anything else would be a guess.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use serde::Serialize;
use serde_json::Value;

use super::Report;
use crate::ballot::{Ballot, BallotKind, Stance};
use crate::history::{AnswerRevealed, RoundRun};
use crate::identity::{options_named, words};
use crate::insight::round_view::SeatView;
use crate::insight::{is_revealed, seats};

/// The name of what is consented to.
pub const PROPOSAL: &str = "\u{0}proposal";

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// In the words of the first who gave it.
    pub text: String,
    #[serde(rename = "participants")]
    pub seats: Vec<String>,
    pub models: BTreeSet<String>,
    pub rounds: BTreeSet<u32>,
    /// Whether it was given last by somebody who left the option.
    pub left: bool,
    /// "qa-lead, skeptic in round 2", "devops-engineer (left it)".
    pub who: String,
}

/// The reasons for an option and those against it, the most widely held first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Reasons {
    #[serde(rename = "for")]
    pub pro: Vec<Reason>,
    #[serde(rename = "against")]
    pub con: Vec<Reason>,
}

/// A text, or a list of texts, as texts; blank ones left out. YAML reads "- cost: too high" as a key with a
/// value: both are the text.
pub fn plain_texts(value: Option<&Value>) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    let item = |item: &Value| match item {
        Value::Object(keys) => {
            let pairs = keys.iter().filter_map(|(key, value)| Some(format!("{key}: {}", text(value)?)));
            Some(pairs.collect::<Vec<_>>().join("; "))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => text(item),
    };
    let items: Vec<String> = match value {
        Some(Value::Array(items)) => items.iter().filter_map(item).collect(),
        Some(value) => item(value).into_iter().collect(),
        None => Vec::new(),
    };
    items.into_iter().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect()
}

fn texts(answer: &AnswerRevealed, key: &str) -> Vec<String> {
    plain_texts(answer.answer.get(key))
}

/// Why a seat is for what it is for: its reasons, else its position.
fn grounds(answer: &AnswerRevealed) -> Vec<String> {
    let reasons = texts(answer, "rationale");
    if reasons.is_empty() { texts(answer, "position") } else { reasons }
}

/// Reasons on their way: by option and side, by their words.
#[derive(Default)]
struct Merger {
    found: IndexMap<(String, bool, String), Reason>,
}

impl Merger {
    fn add(
        &mut self,
        option: &str,
        is_pro: bool,
        text: String,
        seat: &SeatView<'_>,
        round: &RoundRun,
        left: bool,
    ) {
        let words = words(&text);
        if words.is_empty() {
            return;
        }
        let reason = self.found.entry((option.to_owned(), is_pro, words)).or_insert_with(|| Reason {
            text,
            seats: Vec::new(),
            models: BTreeSet::new(),
            rounds: BTreeSet::new(),
            left,
            who: String::new(),
        });
        if !reason.seats.iter().any(|name| name == seat.name) {
            reason.seats.push(seat.name.to_owned());
        }
        let model = seat.answer().map_or(seat.model, |answer| &answer.record.model);
        reason.models.insert(model.to_owned());
        reason.rounds.insert(round.opened.number);
        reason.left &= left;
    }
}

/// The reasons by option, over the revealed rounds of the question that have the form of `run`.
pub fn by_option(report: &Report<'_>, run: &RoundRun) -> IndexMap<String, Reasons> {
    let session = report.session;
    let mut merger = Merger::default();
    let mut held: IndexMap<String, String> = IndexMap::new();
    let rounds = report
        .rounds
        .iter()
        .filter(|round| is_revealed(round) && round.opened.ballot.is_like(&run.opened.ballot));
    for round in rounds {
        for seat in seats(session, round) {
            let (Some(answer), Some(ballot)) = (seat.answer(), seat.ballot()) else { continue };
            match ballot {
                Ballot::Choice(option) => {
                    for text in grounds(answer) {
                        merger.add(option, true, text, &seat, round, false);
                    }
                    for text in texts(answer, "concerns") {
                        merger.add(option, false, text, &seat, round, false);
                    }
                    let before = held.insert(seat.name.to_owned(), option.clone());
                    if let (Some(before), Some(first)) =
                        (before.filter(|before| before != option), grounds(answer).into_iter().next())
                    {
                        merger.add(&before, false, first, &seat, round, true);
                    }
                }
                Ballot::Consent(stance, _) => {
                    for text in grounds(answer) {
                        merger.add(PROPOSAL, *stance == Stance::Support, text, &seat, round, false);
                    }
                    for text in texts(answer, "concerns") {
                        merger.add(PROPOSAL, false, text, &seat, round, false);
                    }
                }
                Ballot::Ranking(_) | Ballot::Scores(_) | Ballot::Approval(_) => {
                    for (key, is_pro) in [("rationale", true), ("concerns", false)] {
                        for text in texts(answer, key) {
                            for option in options_named(&text, &run.opened.ballot.options) {
                                merger.add(option, is_pro, text.clone(), &seat, round, false);
                            }
                        }
                    }
                }
                Ballot::Position
                | Ballot::Estimate(_)
                | Ballot::Ideas(_)
                | Ballot::Findings(_)
                | Ballot::Abstain => {}
            }
        }
    }
    by_weight(merger, run.opened.number)
}

/// The reasons by option, those that most models have first.
fn by_weight(merger: Merger, last: u32) -> IndexMap<String, Reasons> {
    let mut found: IndexMap<String, Reasons> = IndexMap::new();
    for ((option, is_pro, _), mut reason) in merger.found {
        reason.who = reason.given_by(last);
        let of_option = found.entry(option).or_default();
        if is_pro { of_option.pro.push(reason) } else { of_option.con.push(reason) }
    }
    for reasons in found.values_mut() {
        for side in [&mut reasons.pro, &mut reasons.con] {
            // Stable: what was said first comes first among equals.
            side.sort_by_key(|reason| {
                let last = reason.rounds.last().copied().unwrap_or(0);
                std::cmp::Reverse((reason.models.len(), reason.seats.len(), last))
            });
        }
    }
    found
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
        const NAMED: usize = 3;
        let mut who = match self.seats.len() {
            ..=NAMED => self.seats.join(", "),
            all => format!("{} and {} more", self.seats[..2].join(", "), all - 2),
        };
        if self.left {
            who += " (left it)";
        } else if !self.rounds.contains(&last) {
            let rounds: Vec<String> = self.rounds.iter().map(u32::to_string).collect();
            let word = if rounds.len() == 1 { "round" } else { "rounds" };
            who += &format!(" in {word} {}", rounds.join(", "));
        }
        who
    }
}
