//! The page of one decision as data. Texts are raw.

use serde::Serialize;

use super::blocks::Block;
use super::facts::{Fact, InShort, Waiting};
use super::options::OptionView;
use super::votes::Table;
use super::{Approval, Chart, Dissenter, Report, chart, dissent_heading, headings};
use crate::ballot::BallotKind;
use crate::insight::Headline;
use crate::insight::movement::{Movement, movement};

/// One decision of a session, or a session without any.
#[derive(Debug, Serialize)]
pub struct Page<'a> {
    #[serde(flatten)]
    pub decided: Option<Decided<'a>>,
    pub question: &'a str,
    /// The rounds of its question, the earliest first.
    pub rounds: Vec<&'a str>,
    pub verdict: Verdict<'a>,
    pub short: InShort,
    pub ballot: Option<&'static str>,
    pub seats: usize,
    /// Whether its deciding round was counted.
    pub counted: bool,
    pub blocks: Vec<Block>,
    pub approval: Option<Approval<'a>>,
    pub waiting: Option<Waiting<'a>>,
    pub next: Vec<String>,
    pub chart: Option<Chart>,
    pub options: Vec<OptionView>,
    pub reasons: [&'static str; 2],
    pub votes: Table<'a>,
    pub dissent_heading: &'static str,
    pub dissent: Vec<Dissenter<'a>>,
    pub not_counted: Option<Block>,
    pub moves: Option<Block>,
    pub movement: Vec<Movement>,
}

#[derive(Debug, Serialize)]
pub struct Decided<'a> {
    pub round: &'a str,
    pub rule: &'static str,
    pub winners: Vec<&'a str>,
    /// Who decided, if it was not the rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<&'static str>,
}

#[derive(Debug, Serialize)]
pub struct Verdict<'a> {
    pub headline: String,
    pub sentence: String,
    pub label: String,
    pub order: Option<String>,
    pub decided: bool,
    pub round: Option<&'a str>,
    #[serde(flatten)]
    pub facts: Option<Facts>,
}

#[derive(Debug, Serialize)]
pub struct Facts {
    /// How strong it is, as three boxes: 0 to 3.
    pub boxes: usize,
    pub strength: Fact,
    pub quorum: Fact,
    pub independence: Fact,
    pub approval: Fact,
}

impl Verdict<'_> {
    pub fn new(made: &Headline, decided: bool) -> Self {
        let Headline { label, name, sentence, order, .. } = made.clone();
        Self { headline: name, sentence, label, order, decided, round: None, facts: None }
    }
}

impl<'a> Report<'a> {
    pub fn verdict(&self) -> Verdict<'a> {
        let [strength, quorum, independence, approval] = self.facts();
        let facts = Facts { boxes: self.boxes(), strength, quorum, independence, approval };
        let round = self.run.map(|run| run.opened.round.as_str());
        Verdict { round, facts: Some(facts), ..Verdict::new(&self.made, self.is_decided()) }
    }

    pub fn decided(&self) -> Option<Decided<'a>> {
        let made = self.decision.as_ref()?;
        Some(Decided {
            round: &made.round.opened.round,
            rule: made.rule.name(),
            winners: made.winners(),
            by: made.by_person.map(|_| "facilitator"),
        })
    }

    pub fn page(&self) -> Page<'a> {
        let kind = self.run.map(|run| run.opened.ballot.kind);
        Page {
            decided: self.decided(),
            question: self.title(),
            rounds: self.rounds.iter().map(|run| run.opened.round.as_str()).collect(),
            verdict: self.verdict(),
            short: self.in_short(),
            ballot: kind.map(BallotKind::name),
            seats: self.run.map_or(0, |run| run.seats.len()),
            counted: self.tally.is_some(),
            blocks: self.blocks(),
            approval: self.approval(),
            waiting: self.waiting(),
            next: self.next(),
            chart: self.run.zip(self.tally).and_then(|(run, tally)| chart(&self.letters, run, tally)),
            options: self.options(),
            reasons: headings(kind.unwrap_or_default()),
            votes: self.table(),
            dissent_heading: dissent_heading(kind.unwrap_or_default()),
            dissent: self.dissent(),
            not_counted: self.without_ballot(),
            moves: self.movement(),
            movement: self.rounds.iter().filter_map(|run| movement(self.session, run)).collect(),
        }
    }
}
