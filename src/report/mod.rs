//! The reports: what a session was, as text for people and as JSON for programs; one format a file.
//!
//! Pure functions of the folded [`Session`], or of one event of it. While a round is open they show
//! which seats are sealed or failed and nothing of an answer. Text of foreign origin is shown, never
//! interpreted. They open no file and decide nothing: what counts was settled by the tally.

mod ci;
mod csv;
mod glance;
mod html;
mod json;
mod markdown;
mod markup;
mod model;
mod ndjson;
mod plain_text;
mod quote;
mod result;
mod sarif;
mod templates;
mod terminal_json;
#[cfg(test)]
mod tests;
pub mod trace;

pub use ci::{github, junit};
pub use csv::csv;
pub use glance::{Look, glance};
pub use html::html;
pub use json::json;
pub use markdown::{decision_rows, file_title, madr, markdown};
pub use model::{Report, Reports, Source};
pub use ndjson::{line, preview};
pub use plain_text::event_line;
pub use result::{in_one_line, no_result, result};
pub use sarif::sarif;
pub use terminal_json::terminal_safe_json;

/// A JSON value on one line, safe to show on a terminal.
pub fn safe_json(value: &serde_json::Value) -> String {
    terminal_safe_json(&value.to_string()).into_owned()
}

use crate::core::{AskedQuestion, Deciding, deciding, questions};
use crate::history::{AnsweredQuestion, RoundRun, Session, Tally};
use crate::insight::{Headline, session_headline};
use crate::tally::Rule;

/// What one question of a session came to.
#[derive(Debug, Clone)]
pub struct Decision<'a> {
    /// Its rounds, the earliest first.
    pub rounds: Vec<&'a RoundRun>,
    /// The one that decides.
    pub round: &'a RoundRun,
    pub rule: Rule,
    /// Its count; none while it is open or uncounted.
    pub tally: Option<&'a Tally>,
    /// What the facilitator decided, where the round had used up its runs.
    pub by_person: Option<&'a AnsweredQuestion>,
}

impl<'a> Decision<'a> {
    fn of(session: &'a Session, asked: AskedQuestion<'a>) -> Option<Self> {
        let (round, by_person) = (asked.decides, asked.by_person(session));
        let tally = crate::insight::tally(round);
        Some(Self { rounds: asked.rounds, round, rule: round.opened.rule?, tally, by_person })
    }

    pub fn is_made(&self) -> bool {
        self.by_person.is_some() || self.tally.is_some_and(|tally| tally.decided)
    }

    /// What was decided; empty unless something was.
    pub fn winners(&self) -> Vec<&'a str> {
        if let Some(decided) = self.by_person {
            return decided.decides().into_iter().collect();
        }
        let counted = self.tally.filter(|tally| tally.decided);
        counted.iter().flat_map(|tally| &tally.verdict.winners).map(String::as_str).collect()
    }
}

/// The decisions of a session, made or not, in the order in which they were asked for.
pub fn decisions(session: &Session) -> Vec<Decision<'_>> {
    questions(session).into_iter().filter_map(|asked| Decision::of(session, asked)).collect()
}

/// What a session came to, in a few words: why it was ended, else its decision or the lack of one.
pub fn outcome(session: &Session) -> Option<String> {
    Some(outcome_headline(session)?.label)
}

pub fn outcome_headline(session: &Session) -> Option<Headline> {
    let is_ended = session.closed.as_ref().is_some_and(|closed| closed.reason.is_some());
    let is_counted = match deciding(session) {
        Some(Deciding::Round(round)) => crate::insight::tally(round).is_some(),
        Some(Deciding::Person(..) | Deciding::NotHeld(..) | Deciding::NoneHeld) => true,
        None => false,
    };
    (is_ended || is_counted).then(|| session_headline(session))
}
