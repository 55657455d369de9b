//! An architecture decision record: the decision, its options, who voted how, and dissent.
//!
//! The sections and their order are those of MADR 4.0 (Markdown Architectural Decision Records,
//! <https://adr.github.io/madr/>). Nothing is made up: reasons are the participants' own words.

use std::fmt::Write as _;

use serde_json::Value;

use super::quote::{inline, quote};
use super::{dissent, labels, title};
use crate::report::count::long_order;
use crate::report::view::{self, SeatView, confidence, seats, vote};
use crate::report::words::{headline, listed, turnout};
use crate::report::{Decision, decision};
use crate::round::ballot::Ballot;
use crate::session::{RoundRun, Session};

/// The decision record of a session: of its last round with a rule, else of its last round.
pub fn madr(session: &Session) -> String {
    let made = decision(session);
    let run = made.as_ref().map(|made| made.round).or(session.rounds.last());
    let mut out = String::new();
    head(session, made.as_ref(), run, &mut out);
    problem(session, run, &mut out);
    if let Some(run) = run {
        options(run, &mut out);
        outcome(session, run, &mut out);
        reasons(session, run, &mut out);
        votes(session, run, &mut out);
    }
    dissent(session, &mut out);
    let _ = writeln!(out, "## More Information\n");
    for label in labels(session) {
        let _ = writeln!(out, "* {}", inline(&label));
    }
    let _ = writeln!(out, "* Session `{}`; `roundtable verify` checks its file.", session.id);
    if let Some(run) = run {
        let _ = writeln!(
            out,
            "* Every participant was handed the same snapshot, SHA-256 `{}`.",
            run.opened.snapshot_sha256
        );
    }
    out
}

fn head(session: &Session, made: Option<&Decision<'_>>, run: Option<&RoundRun>, out: &mut String) {
    let status = match made {
        Some(made) if made.is_made() => "accepted",
        Some(_) if session.closed.is_some() => "rejected",
        _ => "proposed",
    };
    let date: String = session.last_at.to_string().chars().take(10).collect();
    let seats = run.map_or_else(String::new, |run| listed(run.seats.keys()));
    let text = |text: &str| serde_json::Value::from(crate::text::harmless_line(text)).to_string();
    let _ = write!(
        out,
        "---\nstatus: {status}\ndate: {date}\ndecision-makers: {}\nconsulted: {}\n---\n\n# {}\n\n",
        text("facilitator"),
        text(&seats),
        inline(&title(session))
    );
}

fn problem(session: &Session, run: Option<&RoundRun>, out: &mut String) {
    let _ = writeln!(out, "## Context and Problem Statement\n");
    let definition = session.definition.as_deref();
    let summary = definition.and_then(|definition| definition.project_summary.as_deref());
    for text in summary.into_iter().chain(run.map(|run| run.opened.question.as_str())) {
        let _ = writeln!(out, "{}\n", inline(text));
    }
    let constraints = definition.map_or(&[][..], |definition| &definition.constraints);
    if !constraints.is_empty() {
        let _ = writeln!(out, "## Decision Drivers\n");
        for constraint in constraints {
            let _ = writeln!(out, "* {}", inline(constraint));
        }
        out.push('\n');
    }
}

fn options(run: &RoundRun, out: &mut String) {
    if run.opened.ballot.options.is_empty() {
        return;
    }
    let _ = writeln!(out, "## Considered Options\n");
    for option in &run.opened.ballot.options {
        let _ = writeln!(out, "* {}", inline(option));
    }
    out.push('\n');
}

fn outcome(session: &Session, run: &RoundRun, out: &mut String) {
    let _ = writeln!(out, "## Decision Outcome\n");
    match view::tally(run) {
        None => {
            let _ = writeln!(out, "None yet: the round is not counted.\n");
        }
        Some(tally) => {
            let made = headline(tally);
            let detail = inline(&made.detail);
            let _ = match tally.verdict.winners.first().filter(|_| tally.decided) {
                Some(winner) => writeln!(out, "Chosen option: \"{}\", {detail}.\n", inline(winner)),
                None => writeln!(out, "{} ({detail}).\n", inline(&made.label)),
            };
            let _ = writeln!(out, "{}.\n", turnout(tally));
            if let Some(order) = long_order(&tally.verdict) {
                let _ = writeln!(out, "The {}.\n", inline(&order));
            }
        }
    }
    if let Some(note) = &run.synthesis {
        let _ = writeln!(out, "The facilitator's note:\n\n{}\n", quote(note).trim_end());
    }
    for asked in &session.approvals {
        let said = if asked.given.approved { "approved" } else { "rejected" };
        let comment = asked.given.comment.as_ref().map(|comment| format!(": {}", inline(comment)));
        let by = inline(&asked.given.by);
        let _ = writeln!(out, "* {} {said} by {by}{}", inline(&asked.message), comment.unwrap_or_default());
    }
    if !session.approvals.is_empty() {
        out.push('\n');
    }
}

/// Under each option, the words of those who voted for it.
fn reasons(session: &Session, run: &RoundRun, out: &mut String) {
    let voters = |option: &str| -> Vec<SeatView<'_>> {
        let voted =
            |seat: &SeatView<'_>| matches!(seat.ballot(), Some(Ballot::Choice(choice)) if choice == option);
        seats(session, run).filter(voted).collect()
    };
    let options = &run.opened.ballot.options;
    if options.iter().all(|option| voters(option).is_empty()) {
        return;
    }
    let _ = writeln!(out, "## Pros and Cons of the Options\n");
    for option in options {
        let _ = writeln!(out, "### {}\n", inline(option));
        for seat in voters(option) {
            for (key, word) in [("rationale", "Good"), ("concerns", "Bad")] {
                for reason in texts(seat.answer().and_then(|answer| answer.answer.get(key))) {
                    let _ = writeln!(out, "* {word}, because {} ({})", inline(&reason), inline(seat.name));
                }
            }
        }
        if voters(option).is_empty() {
            let _ = writeln!(out, "* Nobody voted for it.");
        }
        out.push('\n');
    }
}

fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(items)) => {
            items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
        }
        _ => Vec::new(),
    }
}

fn votes(session: &Session, run: &RoundRun, out: &mut String) {
    let _ = writeln!(out, "## Votes\n\n| participant | vote | confidence |\n|---|---|---|");
    for seat in seats(session, run) {
        let said =
            seat.ballot().and_then(vote).or_else(|| seat.outcome().map(|outcome| outcome.name().to_owned()));
        let sure = seat.answer().and_then(confidence).unwrap_or_default();
        let cell = |text: &str| inline(text).replace('|', "\\|");
        let _ = writeln!(out, "| {} | {} | {sure} |", cell(seat.name), cell(&said.unwrap_or_default()));
    }
    out.push('\n');
}
