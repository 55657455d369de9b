//! Page of one decision as data. Texts are raw.

use serde::Serialize;

use super::blocks::Block;
use super::dissent::{Dissenter, Moved, dissent_heading};
use super::facts::{ApprovalFacts, Facts};
use super::options::OptionView;
use super::question::QuestionRounds;
use super::reasons::headings;
use super::votes::Table;
use crate::core::{Deciding, deciding};
use crate::history::{RoundOutcome, round_outcome};
use crate::insight::{Headline, first_names};
use crate::tally::{Rule, Tier};

/// One decision, or a session without decisions.
#[derive(Debug, Serialize)]
pub struct Page<'a> {
    pub question: &'a str,
    /// Deciding round, else the last one.
    pub round: Option<&'a str>,
    /// Rule of the decision.
    pub rule: Option<Rule>,
    pub winners: Vec<&'a str>,
    /// Set if the facilitator decided instead of the rule.
    pub by: Option<&'static str>,
    pub one_of_many: bool,
    /// Mark of a rehearsal, else empty.
    pub mark: &'static str,
    /// Rounds of the question and those without a rule of its discussion, earliest first.
    pub rounds: Vec<&'a str>,
    pub verdict: PageVerdict,
    pub outcome: Option<RoundOutcome>,
    pub tier: Option<Tier>,
    /// Facts for a list of decisions: "weak: 2 of 3 chose it", "dissent: skeptic", "approved: by Ana Berg".
    pub short: Vec<String>,
    pub ballot: &'static str,
    pub seats: usize,
    /// Set once the deciding round is counted.
    pub counted: bool,
    pub blocks: Vec<Block>,
    pub approval: Option<ApprovalFacts<'a>>,
    /// "accepted", "rejected" or "proposed". Seats only propose; a person accepts or rejects.
    pub status: &'static str,
    pub next: Option<String>,
    pub options: Vec<OptionView>,
    pub reasons: [&'static str; 2],
    pub votes: Table<'a>,
    pub dissent_heading: &'static str,
    pub dissent: Vec<Dissenter<'a>>,
    pub not_counted: Option<Block>,
    pub moves: Option<Block>,
    pub moved: Vec<Moved>,
}

#[derive(Debug, Clone, Serialize)]
pub struct PageVerdict {
    #[serde(flatten)]
    pub made: Headline,
    pub decided: bool,
    #[serde(flatten)]
    pub facts: Option<Facts>,
}

impl<'a> QuestionRounds<'a> {
    /// Creates the page. `file` is the name of the session's file.
    pub fn page(&self, file: &str) -> Page<'a> {
        let (facts, dissent, moved, approval) = (self.facts(), self.dissent(), self.moves(), self.approval());
        Page {
            question: self.title(),
            round: self.run.map(|run| run.opened.round.as_str()),
            rule: self.rule,
            winners: self.winners(),
            by: self.by_person.map(|_| "facilitator"),
            one_of_many: self.is_one_of_many,
            mark: self.mark(),
            rounds: self.record().into_iter().map(|run| run.opened.round.as_str()).collect(),
            short: self.in_short(&facts, &dissent, approval.is_some()),
            verdict: PageVerdict { made: self.made.clone(), decided: self.is_decided(), facts: Some(facts) },
            outcome: self.outcome(),
            tier: self.tally.and_then(|tally| tally.tier),
            ballot: self.kind().name(),
            seats: self.run.map_or(0, |run| run.seats.len()),
            counted: self.tally.is_some(),
            blocks: self.blocks(),
            status: match &approval {
                Some(said) if !said.given.approved => "rejected",
                Some(said) if said.because.is_none() => "accepted",
                _ => "proposed",
            },
            next: approval.is_none().then(|| self.next(file)),
            approval,
            options: self.options(),
            reasons: headings(self.kind()),
            votes: self.table(),
            dissent_heading: dissent_heading(self.kind()),
            dissent,
            not_counted: self.not_counted(),
            moves: Block::from_moves(&moved),
            moved,
        }
    }

    fn outcome(&self) -> Option<RoundOutcome> {
        match deciding(self.session) {
            _ if self.by_person.is_some() => Some(RoundOutcome::Decided),
            Some(Deciding::NotHeld(..) | Deciding::NoneHeld) if !self.is_one_of_many => {
                Some(RoundOutcome::Failed)
            }
            _ => self.tally.map(round_outcome),
        }
    }

    fn in_short(&self, all: &Facts, dissent: &[Dissenter<'_>], is_asked: bool) -> Vec<String> {
        let Facts { strength, approval, .. } = all;
        let mut facts = Vec::new();
        if self.is_decided() {
            facts.push(format!("{}: {}", strength.value.to_lowercase(), strength.note));
        } else if !self.made.sentence.is_empty() {
            facts.push(self.made.sentence.trim_end_matches('.').to_owned());
        }
        if !dissent.is_empty() {
            let names: Vec<&str> = dissent.iter().map(|one| one.participant).collect();
            let heading = dissent_heading(self.kind()).to_lowercase();
            facts.push(format!("{heading}: {}", first_names(&names, 4)));
        }
        if is_asked {
            facts.push(format!("{}: {}", approval.value.to_lowercase(), approval.note));
        }
        facts
    }
}
