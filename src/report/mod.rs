//! The reports: what a session was, as text for people and as JSON for programs; one format a file.
//!
//! Pure functions of the folded [`Session`], or of one event of it. While a round is open they show
//! which seats are sealed or failed and nothing of an answer. Text of foreign origin is shown, never
//! interpreted. They open no file and decide nothing: what counts was settled by the tally.

pub mod agreement;
mod bars;
pub mod count;
mod csv;
mod escape;
mod html;
pub mod independence;
mod json;
mod markdown;
pub mod movement;
mod ndjson;
pub mod pictures;
mod strip;
#[cfg(test)]
mod tests;
mod text;
pub mod trace;
pub mod view;
pub mod what_if;
pub mod words;

pub use bars::{Bar, bars};
pub use csv::csv;
pub use escape::terminal_safe_json;
pub use html::html;
pub use json::json;
pub use markdown::{madr, markdown};
pub use ndjson::{line, preview};
pub use text::happening;

/// A JSON value on one line, safe to show on a terminal.
pub fn safe_json(value: &serde_json::Value) -> String {
    terminal_safe_json(&value.to_string()).into_owned()
}

use crate::session::{RoundRun, Session, Tally};
use crate::tally::Rule;

/// What the last round with a rule came to.
#[derive(Debug, Clone, Copy)]
pub struct Decision<'a> {
    /// The round.
    pub round: &'a RoundRun,
    /// Its rule.
    pub rule: Rule,
    /// Its count; none while it is open or uncounted.
    pub tally: Option<&'a Tally>,
}

impl<'a> Decision<'a> {
    /// Whether there is one.
    pub fn is_made(&self) -> bool {
        self.tally.is_some_and(|tally| tally.decided)
    }

    /// What was decided; empty unless something was.
    pub fn winners(&self) -> &'a [String] {
        self.tally.filter(|tally| tally.decided).map_or(&[], |tally| &tally.verdict.winners)
    }
}

/// What a session came to, in a few words: why it was ended, else its decision or the lack of one.
pub fn outcome(session: &Session) -> Option<String> {
    if let Some(reason) = session.closed.as_ref().and_then(|closed| closed.reason.clone()) {
        return Some(reason);
    }
    let tally = match decision(session) {
        Some(made) => made.tally,
        None => session.rounds.last().and_then(view::tally),
    };
    tally.map(|tally| words::headline(tally).label)
}

/// The decision of a session, made or not: that of its last round with a rule.
pub fn decision(session: &Session) -> Option<Decision<'_>> {
    session
        .rounds
        .iter()
        .rev()
        .find_map(|round| Some(Decision { round, rule: round.opened.rule?, tally: view::tally(round) }))
}
