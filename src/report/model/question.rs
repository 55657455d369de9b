//! One question of a session, the source of its page.

use crate::ballot::BallotKind;
use crate::core::{AskedQuestion, Deciding, decided_by_person, deciding, question_asked, questions};
use crate::history::{AnsweredQuestion, RoundRun, Session, Tally};
use crate::insight::headline::{REHEARSAL, question_headline, rehearsal_mark};
use crate::insight::{Headline, is_revealed, session_headline, tally};
use crate::tally::Rule;

/// Question for a decision, or a session without one.
#[derive(Debug)]
pub struct QuestionRounds<'a> {
    pub session: &'a Session,
    pub made: Headline,
    /// Rule of the decision.
    pub rule: Option<Rule>,
    /// Facilitator's decision, if the step had reached `max_runs`.
    pub by_person: Option<&'a AnsweredQuestion>,
    pub is_one_of_many: bool,
    /// Deciding round, else the last one; `None` if it could not be opened.
    pub run: Option<&'a RoundRun>,
    /// Tally of that round; `None` until it is counted.
    pub tally: Option<&'a Tally>,
    /// Rounds of the question, earliest first; all rounds if the session has no decision.
    pub rounds: Vec<&'a RoundRun>,
}

impl<'a> QuestionRounds<'a> {
    /// Returns the questions in the order they were asked; without any, one for the session.
    pub fn all(session: &'a Session) -> Vec<Self> {
        let asked = questions(session);
        let is_one_of_many = asked.len() > 1;
        let question = |asked: AskedQuestion<'a>| {
            let (run, by_person) = (asked.decides, decided_by_person(session, asked.decides));
            let made =
                if is_one_of_many { question_headline(session, run) } else { session_headline(session) };
            let rounds = asked.rounds;
            Self {
                rule: run.opened.rule,
                by_person,
                is_one_of_many,
                ..Self::new(session, made, Some(run), rounds)
            }
        };
        let mut found: Vec<Self> = asked.into_iter().map(question).collect();
        let is_held = !matches!(deciding(session), Some(Deciding::NotHeld(..) | Deciding::NoneHeld));
        if found.is_empty() || !is_held && !is_one_of_many {
            let rounds = found.pop().map_or_else(|| session.rounds.iter().collect(), |one| one.rounds);
            let run = session.rounds.last().filter(|_| is_held);
            found.push(Self::new(session, session_headline(session), run, rounds));
        }
        found
    }

    fn new(
        session: &'a Session,
        made: Headline,
        run: Option<&'a RoundRun>,
        rounds: Vec<&'a RoundRun>,
    ) -> Self {
        let tally = run.and_then(tally);
        Self { session, made, rule: None, by_person: None, is_one_of_many: false, run, tally, rounds }
    }

    /// Returns its rounds, and those without a rule of its discussion.
    pub fn record(&self) -> Vec<&'a RoundRun> {
        crate::core::record_of(self.session, &self.rounds)
    }

    pub fn is_decided(&self) -> bool {
        self.by_person.is_some() || self.rule.is_some() && self.tally.is_some_and(|tally| tally.decided)
    }

    /// Returns the decision; empty without one.
    pub fn winners(&self) -> Vec<&'a str> {
        if let Some(decided) = self.by_person {
            return decided.decides().into_iter().collect();
        }
        let counted = self.tally.filter(|_| self.is_decided());
        counted.iter().flat_map(|tally| &tally.verdict.winners).map(String::as_str).collect()
    }

    /// Iterates over its revealed rounds with ballots, for the table of votes.
    pub fn voted(&self) -> impl Iterator<Item = &'a RoundRun> + '_ {
        let is_countable = |round: &&RoundRun| round.opened.ballot.kind.info().countable.is_some();
        self.rounds.iter().copied().filter(move |round| is_revealed(round) && is_countable(round))
    }

    /// Iterates over its revealed rounds with the ballot form of the deciding one.
    pub fn alike(&self) -> impl Iterator<Item = &'a RoundRun> + '_ {
        let is_like =
            |round: &RoundRun| self.run.is_some_and(|run| round.opened.ballot.is_like(&run.opened.ballot));
        self.rounds.iter().copied().filter(move |round| is_revealed(round) && is_like(round))
    }

    /// Returns the title's mark for a rehearsed session, or for this question alone.
    pub fn mark(&self) -> &'static str {
        let is_rehearsal = self.tally.is_some_and(|tally| tally.rehearsal);
        if is_rehearsal { REHEARSAL } else { rehearsal_mark(self.session) }
    }

    pub fn kind(&self) -> BallotKind {
        self.run.map(|run| run.opened.ballot.kind).unwrap_or_default()
    }

    /// Returns the question; for consent and scores the goal; else the session's id.
    pub fn title(&self) -> &'a str {
        let planned = || self.session.definition().steps.iter().find_map(|step| step.round());
        let asked = self.run.map(|run| question_asked(&self.rounds, run));
        let goal = goal(self.session);
        let first = if self.asks_by_goal() { goal.or(asked) } else { asked.or(goal) };
        first.or(planned().map(|round| round.question.as_str())).unwrap_or(&self.session.id)
    }

    /// Returns whether the goal names the subject, so that the question is secondary.
    fn asks_by_goal(&self) -> bool {
        !self.is_one_of_many && matches!(self.kind(), BallotKind::Consent | BallotKind::Score)
    }

    /// Returns further texts on the task: question or goal below the title, summary.
    pub fn context(&self) -> Vec<&'a str> {
        let summary = self.session.definition().project_summary.as_deref();
        let asked = self.run.filter(|_| self.asks_by_goal()).map(|run| run.opened.question.as_str());
        let mut said = vec![self.title()];
        for part in [goal(self.session), asked, summary].into_iter().flatten() {
            if !part.trim().is_empty() && !said.contains(&part) {
                said.push(part);
            }
        }
        said.split_off(1)
    }
}

pub fn goal(session: &Session) -> Option<&str> {
    session.definition().goal.as_deref()
}
