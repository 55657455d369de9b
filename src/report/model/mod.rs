//! What every report shows of a session, found once: the formats only write it down.
//!
//! Texts are raw here. Nothing of a round is in it before the round is revealed.

mod blocks;
mod chart;
mod dissent;
mod document;
mod events;
mod facts;
mod options;
mod page;
mod reasons;
mod record;
mod votes;

use super::{Decision, decisions};
use crate::ballot::BallotKind;
use crate::core::{Deciding, deciding};
use crate::history::{RoundRun, Session, Tally};
use crate::insight::headline::rehearsal_mark;
use crate::insight::session_headline::question_headline;
use crate::insight::{Headline, is_revealed, session_headline, tally};

pub use blocks::Block;
pub use chart::{Chart, chart};
pub use dissent::{Dissenter, Moved, dissent_heading, said, sure};
pub use document::{Document, session_status};
pub use events::{FindingRecord, findings, level};
pub use facts::{Approval, Fact, cost_lines, people_money, remote_notes, status};
pub use options::{Letters, asked};
pub use page::Page;
pub use reasons::{headings, plain_texts};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source {
    /// Its name, without its folder.
    pub file: Option<String>,
    pub entries: usize,
    pub last_hash: String,
    /// How many bytes of an incomplete write follow.
    pub torn: usize,
}

impl Source {
    pub fn name(&self) -> &str {
        self.file.as_deref().unwrap_or("FILE")
    }
}

/// What a session came to, for all formats: the parts of all its decisions.
#[derive(Debug)]
pub struct Reports<'a> {
    pub session: &'a Session,
    pub source: &'a Source,
    pub made: Headline,
    /// One for each decision; one of the whole session where it has no rounds with a rule.
    pub parts: Vec<Report<'a>>,
}

/// One decision of a session, or a session without any.
#[derive(Debug)]
pub struct Report<'a> {
    pub session: &'a Session,
    pub source: &'a Source,
    pub made: Headline,
    pub decision: Option<Decision<'a>>,
    pub is_one_of_many: bool,
    /// The round that decides, else the last one; none where that was not held.
    pub run: Option<&'a RoundRun>,
    pub tally: Option<&'a Tally>,
    /// The rounds of its question, the earliest first; of a session without decisions all rounds.
    pub rounds: Vec<&'a RoundRun>,
    pub letters: Letters,
}

impl<'a> Reports<'a> {
    pub fn new(session: &'a Session, source: &'a Source) -> Self {
        let mut made = decisions(session);
        let parts = if made.len() > 1 {
            made.into_iter().map(|one| Report::of_many(session, source, one)).collect()
        } else {
            vec![Report::whole(session, source, made.pop())]
        };
        Self { session, source, made: session_headline(session), parts }
    }

    /// The decision that a round belongs to, alone; none if that is no round of one.
    pub fn of_round(mut self, round: &str) -> Option<Self> {
        let is_of = |run: &&RoundRun| run.opened.round == round || run.opened.step == round;
        self.parts.retain(|part| part.rounds.iter().any(is_of));
        self.made = self.parts.first()?.made.clone();
        self.parts.truncate(1);
        Some(self)
    }

    /// The only part; none where there are several decisions.
    pub fn only(&self) -> Option<&Report<'a>> {
        self.parts.first().filter(|_| self.parts.len() == 1)
    }

    /// What is said of the session whichever decision is shown.
    pub fn head(&self) -> &Report<'a> {
        &self.parts[0]
    }

    pub fn is_decided(&self) -> bool {
        self.parts.iter().all(Report::is_decided)
    }

    /// What a document about it is called: the only question, else the goal.
    pub fn title(&self) -> &'a str {
        match self.only() {
            Some(only) => only.title(),
            None => goal(self.session).unwrap_or(&self.session.id),
        }
    }
}

fn goal(session: &Session) -> Option<&str> {
    session.definition.as_deref()?.goal.as_deref()
}

impl<'a> Report<'a> {
    fn whole(session: &'a Session, source: &'a Source, decision: Option<Decision<'a>>) -> Self {
        let is_held = !matches!(deciding(session), Some(Deciding::NotHeld(..) | Deciding::NoneHeld));
        let run = decision.as_ref().map(|made| made.round).or(session.rounds.last()).filter(|_| is_held);
        let rounds = match &decision {
            Some(made) => made.rounds.clone(),
            None => session.rounds.iter().collect(),
        };
        let decision = decision.filter(|_| is_held);
        Self::about(session, source, session_headline(session), decision, run, rounds)
    }

    fn of_many(session: &'a Session, source: &'a Source, decision: Decision<'a>) -> Self {
        let made = question_headline(session, decision.round, decision.by_person);
        let (run, rounds) = (Some(decision.round), decision.rounds.clone());
        Self { is_one_of_many: true, ..Self::about(session, source, made, Some(decision), run, rounds) }
    }

    fn about(
        session: &'a Session,
        source: &'a Source,
        made: Headline,
        decision: Option<Decision<'a>>,
        run: Option<&'a RoundRun>,
        rounds: Vec<&'a RoundRun>,
    ) -> Self {
        let tally = run.and_then(tally);
        let letters = run.map(|run| Letters::new(run, tally)).unwrap_or_default();
        Self { session, source, made, decision, is_one_of_many: false, run, tally, rounds, letters }
    }

    pub fn is_decided(&self) -> bool {
        self.decision.as_ref().is_some_and(Decision::is_made)
    }

    /// Its revealed rounds with ballots, for the table of who voted what.
    pub fn voted(&self) -> impl Iterator<Item = &'a RoundRun> + '_ {
        let is_countable = |round: &&RoundRun| round.opened.ballot.kind.info().countable.is_some();
        self.rounds.iter().copied().filter(move |round| is_revealed(round) && is_countable(round))
    }

    /// Its rounds; of the only decision of a session all rounds, which led to it.
    pub fn own_rounds(&self) -> impl Iterator<Item = &'a RoundRun> + '_ {
        let is_own = |run: &&RoundRun| {
            !self.is_one_of_many || self.rounds.iter().any(|round| std::ptr::eq(*round, *run))
        };
        self.session.rounds.iter().filter(is_own)
    }

    /// What is said before the title.
    pub fn mark(&self) -> &'static str {
        rehearsal_mark(self.session)
    }

    /// The options that won, where they are of a form.
    pub fn winners(&self) -> Vec<&'a str> {
        let Some(made) = &self.decision else { return Vec::new() };
        let mut found = made.winners();
        found.retain(|option| made.round.opened.ballot.options.iter().any(|known| known == option));
        found
    }

    /// What was asked: the question of the first of its rounds; for consent and scores the goal, else the
    /// session's id.
    pub fn title(&self) -> &'a str {
        let planned = || self.session.definition.as_deref()?.steps.iter().find_map(|step| step.round());
        let question = if self.asks_by_goal() {
            self.run.map(|run| run.opened.question.as_str())
        } else {
            self.run.and_then(|run| {
                Some(
                    &*self
                        .rounds
                        .iter()
                        .find(|round| round.opened.ballot.is_like(&run.opened.ballot))?
                        .opened
                        .question,
                )
            })
        };
        let goal = goal(self.session);
        let first = if self.asks_by_goal() { goal.or(question) } else { question.or(goal) };
        first.or(planned().map(|round| round.question.as_str())).unwrap_or(&self.session.id)
    }

    /// Whether the goal says what it is about, and the question how it is asked.
    fn asks_by_goal(&self) -> bool {
        !self.is_one_of_many
            && self
                .run
                .is_some_and(|run| matches!(run.opened.ballot.kind, BallotKind::Consent | BallotKind::Score))
    }

    /// What else is said of the task, in order: question or goal below the title, summary.
    pub fn context(&self) -> Vec<&'a str> {
        let summary = self.session.definition.as_deref().and_then(|known| known.project_summary.as_deref());
        let asked = self.run.filter(|_| self.asks_by_goal()).map(|run| run.opened.question.as_str());
        let parts = [goal(self.session), asked, summary];
        let mut said = vec![self.title()];
        for part in parts.into_iter().flatten() {
            if !part.trim().is_empty() && !said.contains(&part) {
                said.push(part);
            }
        }
        said.split_off(1)
    }

    pub fn constraints(&self) -> &'a [String] {
        self.session.definition.as_deref().map_or(&[], |definition| &definition.constraints)
    }

    pub fn date(&self) -> String {
        self.session.opened_at.to_string().chars().take(10).collect()
    }

    /// Why a report cannot show all, worst first; empty for a session that is whole.
    pub fn missing(&self) -> Vec<String> {
        let session = self.session;
        let mut said = Vec::new();
        if self.source.torn > 0 {
            said.push(format!(
                "Cut short: {} bytes of an incomplete write at the end of the file are left out.",
                self.source.torn
            ));
        }
        if session.closed.is_none() && session.header.is_some() {
            let why = match &session.paused {
                Some((_, reason)) => {
                    format!(": {}", reason.to_string().trim_end_matches('.'))
                }
                None => String::new(),
            };
            said.push(format!(
                "Not finished{why}. This report ends with the last event, {}. `roundtable {} {}` goes on.",
                session.last_at,
                crate::insight::wording::resume_verb(session),
                self.source.name()
            ));
        }
        for round in &session.rounds {
            let lost = if round.key_lost.is_empty() { round.lost_seats() } else { round.key_lost.clone() };
            if !lost.is_empty() {
                said.push(format!(
                    "Round `{}`: its key was lost, and with it what {} had sealed. Those answers cannot be shown.",
                    round.opened.round,
                    crate::insight::join_list(&lost)
                ));
            }
        }
        said
    }
}
