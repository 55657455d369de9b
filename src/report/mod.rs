//! Reports of a session for people and programs, one format per file.
//!
//! Each format is a function of the [`Document`] or of one event. While a round is open, reports show which
//! seats are sealed or failed, but no part of an answer. Foreign text is shown, never interpreted. Reports
//! open no file and decide nothing; the tally settles what counts.

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
#[cfg(test)]
mod tests;
pub mod trace;

pub use ci::{github, junit};
pub use csv::csv;
pub use glance::{Look, glance};
pub use html::html;
pub use json::{json, pretty, safe_json, terminal_safe_json};
pub use markdown::{file_title, madr, markdown, with_line_breaks};
pub use model::{Document, Page, Source};
pub use ndjson::line;
pub use plain_text::event_line;
pub use result::{decision_rows, in_one_line, no_result, result};
pub use sarif::sarif;

use crate::core::{Deciding, deciding};
use crate::history::{Session, SessionClosed, Status};
use crate::insight::{Headline, session_headline, tally};

/// Returns the outcome in a few words: why the session was ended, else its decision or why it has none.
pub fn outcome(session: &Session) -> Option<String> {
    Some(outcome_headline(session)?.label)
}

pub fn outcome_headline(session: &Session) -> Option<Headline> {
    let is_ended = |closed: &SessionClosed| closed.reason.is_some() || closed.status == Status::Rejected;
    let is_counted = match deciding(session) {
        Some(Deciding::Round(round)) => tally(round).is_some(),
        Some(Deciding::NotHeld(..) | Deciding::NoneHeld) => true,
        None => false,
    };
    (session.closed.as_ref().is_some_and(is_ended) || is_counted).then(|| session_headline(session))
}
