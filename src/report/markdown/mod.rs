//! The report a person reads in a terminal, a pull request or a wiki: what was decided, what the options
//! are, who disagreed and why; then the record, every seat of every round word for word.
//!
//! It reads well as plain text and as rendered Markdown. Foreign text goes through `quote.rs` and cannot
//! forge any of this.

mod agenda;
mod body;
mod findings;
mod madr;
mod quote;
mod round;
mod seat;
mod steps;

pub use madr::{decision_rows, file_title, madr};

use std::fmt::Write as _;

use self::quote::{code, first_line, inline, quote};
use super::model::{Reports, Source, remote_notes, status};
use crate::history::{AnsweredQuestion, RoundRun, Session};
use crate::insight::{join_list, money};

pub fn markdown(reports: &Reports<'_>) -> String {
    let session = reports.session;
    let mut out = body::body(reports);
    if !session.rounds.is_empty() {
        out.push_str("## The record: rounds and answers, word for word\n\n");
    }
    for run in &session.rounds {
        let question = inline(&first_line(&run.opened.question));
        let _ = writeln!(out, "### Round {} {}: {question}\n", run.opened.number, code(&run.opened.round));
        out.push_str(&round(session, run));
    }
    out + &after_rounds(session) + &about(session, reports.source)
}

/// One round of the record, below its heading.
pub fn round(session: &Session, run: &RoundRun) -> String {
    let mut out = String::new();
    round::section(session, run, &mut out);
    out
}

/// What people answered, what steps that are no rounds came to, and what was warned of.
pub fn after_rounds(session: &Session) -> String {
    let mut out = String::new();
    approvals(session, &mut out);
    steps::merges(session, &mut out);
    findings::findings(session, &mut out);
    steps::results(session, &mut out);
    steps::reviews(session, &mut out);
    failed_steps(session, &mut out);
    warnings(session, &mut out);
    agenda::agenda(session, &mut out);
    out
}

/// Every answer a person gave, in order, those that a later run of the step replaced among them.
fn approvals(session: &Session, out: &mut String) {
    let mut found = String::new();
    for AnsweredQuestion { message, choices, given, at, .. } in &session.approvals {
        let what = match &given.choice {
            Some(choice) => format!("{} chosen among {}", inline(choice), inline(&join_list(choices))),
            None if given.edited.is_some() => "changed and approved".to_owned(),
            None if given.approved => "approved".to_owned(),
            None => "rejected".to_owned(),
        };
        let _ =
            writeln!(found, "**{}: {what}**, by {}, {at}\n", inline(&given.step), inline(&given.approver()));
        let _ = writeln!(found, "{}", quote(message));
        if let Some(comment) = given.comment.as_ref().filter(|comment| !comment.trim().is_empty()) {
            let _ = writeln!(found, "Comment:\n\n{}", quote(comment));
        }
    }
    let waiting =
        session.step.as_ref().and_then(|step| step.approval.as_ref()).or(session.exhausted.as_ref());
    if let Some(waiting) = waiting.filter(|approval| approval.given.is_none()) {
        let asked = &waiting.requested;
        let _ =
            writeln!(found, "**{}: waiting for a person**\n\n{}", inline(&asked.step), quote(&asked.message));
    }
    if !found.is_empty() {
        let _ = write!(out, "## Approvals\n\n{found}");
    }
}

/// Steps that failed and are no rounds: a round's own section says why it came to nothing.
fn failed_steps(session: &Session, out: &mut String) {
    let is_round = |id: &str| session.rounds.iter().any(|round| round.opened.step == id);
    let failed: Vec<_> =
        session.results.iter().filter(|(id, result)| !result.success && !is_round(id)).collect();
    if failed.is_empty() {
        return;
    }
    out.push_str("## Failed steps\n\n");
    for (id, result) in failed {
        let error = result.error.as_deref().unwrap_or("no reason given");
        let _ = writeln!(out, "- {}: {}", code(id), inline(error));
    }
    out.push('\n');
}

fn warnings(session: &Session, out: &mut String) {
    if session.warnings.is_empty() {
        return;
    }
    out.push_str("## Warnings\n\n");
    for warning in &session.warnings {
        let _ = writeln!(out, "- {}", inline(warning));
    }
    out.push('\n');
}

/// What the session and its file are, and how they are checked.
pub fn about(session: &Session, source: &Source) -> String {
    let mut out = String::new();
    let Some(header) = &session.header else { return out };
    let _ = writeln!(out, "## Session details\n");
    let _ = writeln!(out, "- Session {}, opened {}", code(&session.id), session.opened_at);
    let _ = writeln!(out, "- Status: {}, last event {}", status(session), session.last_at);
    if let Some(cost) = money(&session.spent(&|model| session.price(model))) {
        let _ = writeln!(out, "- Total cost (prices when opened): {cost}");
    }
    let _ = writeln!(out, "- Written by {}", inline(&header.program));
    let _ = writeln!(
        out,
        "- Definition {}, sha256 {}",
        code(&header.definition_file),
        inline(&header.definition_sha256)
    );
    // The pseudonyms are resolved when nobody is asked any more.
    if let Some(names) = session.pseudonyms().filter(|_| session.closed.is_some()) {
        let pairs = names.iter().map(|(name, shown)| format!("{name} as {shown}"));
        let _ = writeln!(out, "- Pseudonyms: {}", inline(&join_list(pairs)));
    }
    if source.entries > 0 {
        let _ = writeln!(out, "- Record: {} entries, last hash {}", source.entries, code(&source.last_hash));
    }
    for note in remote_notes(session) {
        let _ = writeln!(out, "- {}", inline(&note));
    }
    let _ = writeln!(
        out,
        "- Verify offline: {}, with the session's `.s2s` file",
        code(&format!("roundtable verify {}", source.name()))
    );
    out
}
