//! The report a person reads: the decision first, or why there is none, then how it came about.
//!
//! It reads well as plain text in a terminal and as rendered Markdown. Every seat of every closed
//! round is in it, in roster order, and dissent stands in it word for word. Foreign text goes
//! through `quote.rs` and cannot forge any of this.

mod madr;
mod quote;
mod round;
mod seat;
mod steps;

pub use madr::madr;

use std::fmt::Write as _;

use self::quote::{code, first_line, inline, quote};
use super::decision;
use crate::core::deciding;
use crate::history::{AnsweredQuestion, RoundRun, Session, Status, Tally};
use crate::insight::{
    headline, join_list, labels, money, pluralize, round_view, turnout, why_paused, without_count,
};

/// The report of a session.
pub fn markdown(session: &Session) -> String {
    let mut out = format!("# {}\n\n", inline(&title(session)));
    verdict(session, &mut out);
    for label in labels(session) {
        let _ = writeln!(out, "**{}**\n", inline(&label));
    }
    goal(session, &mut out);
    for run in &session.rounds {
        round::section(session, run, &mut out);
    }
    dissent(session, &mut out);
    approvals(session, &mut out);
    steps::results(session, &mut out);
    steps::reviews(session, &mut out);
    failed_steps(session, &mut out);
    warnings(session, &mut out);
    about(session, &mut out);
    out
}

/// The goal, else the question, else the session's id: its first line.
fn title(session: &Session) -> String {
    let definition = session.definition.as_deref();
    let goal = definition.and_then(|definition| definition.goal.as_deref());
    let asked = session.rounds.first().map(|run| run.opened.question.as_str());
    let planned = definition
        .and_then(|definition| definition.steps.iter().find_map(|step| step.round()))
        .map(|round| round.question.as_str());
    first_line(goal.or(asked).or(planned).unwrap_or(&session.id))
}

/// The whole goal, where the title could not hold it.
fn goal(session: &Session, out: &mut String) {
    let goal = session.definition.as_ref().and_then(|definition| definition.goal.as_deref());
    if let Some(goal) = goal.filter(|goal| first_line(goal) != goal.trim()) {
        let _ = writeln!(out, "## Goal\n\n{}", quote(goal));
    }
}

/// How the session stands, worst news first.
fn verdict(session: &Session, out: &mut String) {
    if let Some(closed) = &session.closed {
        let word = match closed.status {
            Status::Rejected => "Rejected by the facilitator",
            Status::Failed => "Failed",
            Status::Stopped => "Stopped",
            Status::Finished | Status::Paused => "",
        };
        let reason =
            closed.reason.as_ref().map_or_else(String::new, |reason| format!(": {}", inline(reason)));
        if !word.is_empty() {
            let _ = writeln!(out, "**{word}**{reason}\n");
        }
    }
    let _ = writeln!(out, "{}\n", decision_line(session));
    if let (None, Some((_, reason))) = (&session.closed, &session.paused) {
        let _ = writeln!(out, "**Paused**: {}\n", inline(why_paused(reason)));
    }
}

fn decision_line(session: &Session) -> String {
    if let Some(said) = deciding(session).and_then(|deciding| without_count(session, deciding)) {
        let (label, rest) = said.split_once(": ").unwrap_or((&said, ""));
        return format!("**{label}**: {}.", inline(rest));
    }
    let (round, tally) = match decision(session) {
        Some(made) => (Some(made.round), made.tally),
        None => (session.rounds.last(), session.rounds.last().and_then(round_view::tally)),
    };
    let Some(round) = round else { return without_round(session) };
    match tally {
        Some(tally) => counted_line(round, tally),
        None => uncounted_line(session, round),
    }
}

/// Where a workflow stands in which no round was opened.
fn without_round(session: &Session) -> String {
    let has_rounds = session.definition.iter().any(|d| d.all_steps().any(|step| step.round().is_some()));
    if has_rounds {
        return "**No decision**: no round was opened.".to_owned();
    }
    let steps = pluralize(session.iterations as usize, "step");
    match &session.closed {
        Some(closed) if closed.status == Status::Finished => format!("**Finished** after {steps}."),
        Some(_) => format!("Ended after {steps}."),
        None => format!("Not finished: {steps} so far."),
    }
}

fn counted_line(round: &RoundRun, tally: &Tally) -> String {
    let headline = headline(tally);
    format!(
        "**{}** ({}; round {}). {}.",
        inline(&headline.label),
        inline(&headline.detail),
        code(&round.opened.round),
        turnout(tally)
    )
}

fn uncounted_line(session: &Session, round: &RoundRun) -> String {
    let word = if session.closed.is_some() { "No decision" } else { "No decision yet" };
    let state = if round.closed.is_some() { "is closed and not counted" } else { "is open" };
    let (sealed, asked) = (round.sealed(), round.seats.len());
    format!("**{word}**: round {} {state}; {sealed} of {asked} seats sealed.", code(&round.opened.round))
}

/// Word for word, every ballot that differs from what its round decided, every block, every
/// stand-aside.
fn dissent(session: &Session, out: &mut String) {
    let mut found = String::new();
    let mut is_counted = false;
    for run in &session.rounds {
        let tally = round_view::tally(run);
        is_counted |= tally.is_some_and(|tally| tally.decided);
        for seat in round_view::seats(session, run).filter(|seat| round_view::dissents(seat, tally)) {
            seat::dissent(&seat, run, &mut found);
        }
    }
    if !found.is_empty() {
        let _ = write!(out, "## Dissent\n\n{found}");
    } else if is_counted {
        out.push_str("## Dissent\n\nNo dissent among the counted ballots.\n\n");
    }
}

/// Every answer a person gave, in order, those that a later run of the step replaced among them.
fn approvals(session: &Session, out: &mut String) {
    let mut found = String::new();
    for AnsweredQuestion { message, choices, given, at } in &session.approvals {
        let what = match &given.choice {
            Some(choice) => format!("{} chosen among {}", inline(choice), inline(&join_list(choices))),
            None if given.approved => "approved".to_owned(),
            None => "rejected".to_owned(),
        };
        let _ = writeln!(found, "**{}: {what}**, by {}, {at}\n", inline(&given.step), inline(&given.by));
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

/// Where all of this can be checked.
fn about(session: &Session, out: &mut String) {
    let Some(header) = &session.header else { return };
    let _ = writeln!(out, "## Session details\n");
    let _ = writeln!(out, "- Session {}, opened {}", code(&session.id), session.opened_at);
    let status = match &session.closed {
        Some(closed) => format!("{}, exit code {}", closed.status.name(), closed.exit_code),
        None if session.paused.is_some() => "paused".to_owned(),
        None => "not finished".to_owned(),
    };
    let _ = writeln!(out, "- Status: {status}, last event {}", session.last_at);
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
    // Who is who is told when nobody is asked any more.
    if let Some(names) = session.pseudonyms().filter(|_| session.closed.is_some()) {
        let pairs = names.iter().map(|(name, shown)| format!("{name} as {shown}"));
        let _ = writeln!(out, "- Pseudonyms: {}", inline(&join_list(pairs)));
    }
    if session.rounds.iter().any(|run| round_view::tally(run).is_some()) {
        out.push_str(
            "- What the agreement of models is worth: `docs/INDEPENDENCE.md` of roundtable, with sources\n",
        );
    }
    out.push_str("- Verify offline: `roundtable verify FILE`, with the session's `.s2s` file\n");
}
