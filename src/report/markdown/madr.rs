//! An architecture decision record: the decision, its options, who voted how, and dissent.
//!
//! The sections and their order are those of MADR 4.0 (Markdown Architectural Decision Records,
//! <https://adr.github.io/madr/>). Nothing is made up: reasons are the participants' own words.

use std::fmt::Write as _;

use serde_json::Value;

use super::quote::{inline, quote};
use super::{dissent, title};
use crate::ballot::Ballot;
use crate::core::{Deciding, deciding};
use crate::history::{RoundRun, Session};
use crate::insight::{
    SeatView, confidence, headline, join_list, labels, long_order, round_view, seats, turnout, without_count,
};
use crate::report::{Decision, decision};

/// The decision record of a session: of its last round with a rule, else of its last round.
pub fn madr(session: &Session) -> String {
    let made = decision(session);
    let is_held = !matches!(deciding(session), Some(Deciding::NotHeld(..) | Deciding::NoneHeld));
    let run = made.as_ref().map(|made| made.round).or(session.rounds.last()).filter(|_| is_held);
    let mut out = String::new();
    head(session, made.as_ref(), run, &mut out);
    if !is_held {
        let _ = writeln!(out, "{}\n", not_decided(session));
    }
    problem(session, run, &mut out);
    if let Some(run) = run {
        options(run, &mut out);
        outcome(session, run, &mut out);
        reasons(session, run, &mut out);
        votes(session, run, &mut out);
    } else {
        let _ = writeln!(out, "## Decision Outcome\n\n{}\n", not_decided(session));
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
    // The seats recommend; a person accepts or rejects.
    let last = session.approvals.iter().rev().find(|asked| asked.given.choice.is_none());
    let status = match last {
        Some(asked) if asked.given.approved && made.is_some_and(Decision::is_made) => "accepted",
        Some(asked) if !asked.given.approved => "rejected",
        _ => "proposed",
    };
    let by = last.map_or("nobody yet", |asked| asked.given.by.as_str());
    let date: String = session.last_at.to_string().chars().take(10).collect();
    let seats = run.map_or_else(String::new, |run| join_list(run.seats.keys()));
    let text = |text: &str| serde_json::Value::from(crate::sanitize::harmless_line(text)).to_string();
    let _ = write!(
        out,
        "---\nstatus: {status}\ndate: {date}\ndecision-makers: {}\nconsulted: {}\n---\n\n# {}\n\n",
        text(by),
        text(&seats),
        inline(&title(session))
    );
}

/// What stands for the outcome where the round that was to decide was not held.
fn not_decided(session: &Session) -> String {
    let said = deciding(session).and_then(|deciding| without_count(session, deciding));
    inline(&said.unwrap_or_else(|| "None yet: no round was held".to_owned())) + "."
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
    match round_view::tally(run) {
        None => {
            let _ = writeln!(out, "No decision yet: the round has no tally.\n");
        }
        Some(tally) => {
            let made = headline(tally);
            let detail = inline(&made.detail);
            let chosen = deciding(session).and_then(|deciding| without_count(session, deciding));
            let _ = match tally.verdict.winners.first().filter(|_| tally.decided) {
                _ if chosen.is_some() => writeln!(out, "{}.\n", inline(&chosen.unwrap_or_default())),
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

/// Under each option, the words of those who voted for it, in whatever round.
fn reasons(session: &Session, run: &RoundRun, out: &mut String) {
    let voters = |option: &str| -> Vec<(&RoundRun, SeatView<'_>)> {
        let voted = |seat: &SeatView<'_>| {
            let top = seat.ballot().and_then(Ballot::top_options);
            top.is_some_and(|top| top.iter().any(|first| first == option))
        };
        let of_round = |round| seats(session, round).filter(voted).map(move |seat| (round, seat));
        session.rounds.iter().flat_map(of_round).collect()
    };
    let options = &run.opened.ballot.options;
    if options.iter().all(|option| voters(option).is_empty()) {
        return;
    }
    let _ = writeln!(out, "## Pros and Cons of the Options\n");
    for option in options {
        let _ = writeln!(out, "### {}\n", inline(option));
        let voters = voters(option);
        let mut said = std::collections::BTreeSet::new();
        for (round, seat) in &voters {
            let is_earlier = round.opened.round != run.opened.round;
            let when = if is_earlier { format!(", round {}", round.opened.round) } else { String::new() };
            for (key, word) in [("rationale", "Good"), ("concerns", "Bad")] {
                for reason in texts(seat.answer().and_then(|answer| answer.answer.get(key))) {
                    if said.insert((seat.name, reason.clone())) {
                        let who = inline(&format!("{}{when}", seat.name));
                        let _ = writeln!(out, "* {word}, because {} ({who})", inline(&reason));
                    }
                }
            }
        }
        let _ = match voters.as_slice() {
            [] => writeln!(out, "* No votes."),
            all if all.iter().all(|(round, _)| round.opened.round != run.opened.round) => {
                writeln!(out, "* Nobody voted for it in the last round.")
            }
            _ => Ok(()),
        };
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
        let said = seat
            .ballot()
            .and_then(Ballot::phrase)
            .or_else(|| seat.outcome().map(|outcome| outcome.name().to_owned()));
        let sure = seat.answer().and_then(confidence).unwrap_or_default();
        let cell = |text: &str| inline(text).replace('|', "\\|");
        let _ = writeln!(out, "| {} | {} | {sure} |", cell(seat.name), cell(&said.unwrap_or_default()));
    }
    out.push('\n');
}
