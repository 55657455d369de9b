//! What every report shows of a session, found once: the formats only write it down.
//!
//! Texts are raw here. Nothing of a round is in it before the round is revealed.

mod dissent;
mod facts;
mod options;
mod reasons;

use super::Decision;
use super::decision;
use crate::ballot::BallotKind;
use crate::core::{Deciding, deciding};
use crate::history::{RoundRun, Session, Tally};
use crate::insight::headline::rehearsal_mark;
use crate::insight::movement::{earlier, is_last_of_form};
use crate::insight::{Headline, headline, is_revealed, session_headline, tally};
use crate::yaml;

pub use dissent::{Absent, Dissenter, dissent_heading, said, sure};
pub use facts::{Fact, answering_ms, people_money, remote_notes, standing, status};
pub use options::{Letters, OptionView, asked, needed_votes};
pub use reasons::{Reason, headings, plain_texts};

/// With more seats in a round the record holds dissent in full and of the others positions alone.
pub const FULL_RECORD: usize = 300;
/// With more seats in a round the record holds counts and dissent.
pub const POSITIONS_ONLY: usize = 2_000;

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

#[derive(Debug)]
pub struct Report<'a> {
    pub session: &'a Session,
    pub source: &'a Source,
    pub made: Headline,
    /// The round that decides, else the last one; none where that was not held.
    pub run: Option<&'a RoundRun>,
    pub tally: Option<&'a Tally>,
    pub letters: Letters,
    /// The revealed rounds with ballots, for the table of who voted what.
    pub voted: Vec<&'a RoundRun>,
    /// Other rounds that decided something of their own.
    pub others: Vec<(&'a RoundRun, Headline)>,
}

impl<'a> Report<'a> {
    pub fn new(session: &'a Session, source: &'a Source) -> Self {
        let is_held = !matches!(deciding(session), Some(Deciding::NotHeld(..) | Deciding::NoneHeld));
        let run = decision(session).map(|made| made.round).or(session.rounds.last()).filter(|_| is_held);
        let tally = run.and_then(tally);
        let revealed = || session.rounds.iter().filter(|round| is_revealed(round));
        let voted =
            revealed().filter(|round| round.opened.ballot.kind.spec().countable().is_some()).collect();
        let others = revealed().filter(|round| run.is_none_or(|run| run.opened.round != round.opened.round));
        let others = others.filter(|round| round.opened.rule.is_some() && is_last_of_form(session, round));
        let others =
            others.filter_map(|round| Some((round, headline(session, round, crate::insight::tally(round)?))));
        Self {
            session,
            source,
            made: session_headline(session),
            run,
            tally,
            letters: run.map(|run| Letters::new(run, tally)).unwrap_or_default(),
            voted,
            others: others.collect(),
        }
    }

    pub fn is_decided(&self) -> bool {
        decision(self.session).as_ref().is_some_and(Decision::is_made)
    }

    /// What is said before the title.
    pub fn mark(&self) -> &'static str {
        rehearsal_mark(self.session)
    }

    /// The option that won, where it is one of a form.
    pub fn winner(&self) -> Option<&'a str> {
        let made = decision(self.session)?;
        let option = made.winners().first().copied()?;
        made.round.opened.ballot.options.iter().any(|known| known == option).then_some(option)
    }

    /// What was asked: the question of the first round of the deciding form; for consent and scores the
    /// goal, else the session's id.
    pub fn title(&self) -> &'a str {
        let definition = self.session.definition.as_deref();
        let goal = definition.and_then(|definition| definition.goal.as_deref());
        let planned = definition
            .and_then(|definition| definition.steps.iter().find_map(|step| step.round()))
            .map(|round| round.question.as_str());
        let question = self.first_question();
        let first = if self.asks_by_goal() { goal.or(question) } else { question.or(goal) };
        first.or(planned).unwrap_or(&self.session.id)
    }

    /// Whether the goal says what it is about, and the question how it is asked.
    fn asks_by_goal(&self) -> bool {
        self.run.is_some_and(|run| matches!(run.opened.ballot.kind, BallotKind::Consent | BallotKind::Score))
    }

    /// The question of the first round with the form of the one that decides.
    fn first_question(&self) -> Option<&'a str> {
        let mut first = self.run?;
        while let Some(before) = earlier(self.session, first) {
            first = before;
        }
        Some(&first.opened.question)
    }

    /// What else is said of the task, in order: question or goal below the title, summary.
    pub fn context(&self) -> Vec<&'a str> {
        let definition = self.session.definition.as_deref();
        let goal = definition.and_then(|definition| definition.goal.as_deref());
        let summary = definition.and_then(|definition| definition.project_summary.as_deref());
        let asked = self.run.filter(|_| self.asks_by_goal()).map(|run| run.opened.question.as_str());
        let parts = [goal, asked, summary];
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

/// What stands under `exploration` in the snapshot of a round.
pub fn background(round: &RoundRun) -> Option<String> {
    let value = yaml::read(&round.opened.snapshot, "snapshot").ok()?.to_json();
    value["participant_context"]["exploration"].as_str().map(str::to_owned)
}
