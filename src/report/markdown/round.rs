//! One round in the record of the Markdown report: what was asked, how it went, the count and every seat.
//!
//! An open round shows where its seats stand and nothing else.

use std::fmt::Write as _;

use super::quote::{code, first_line, inline, quote, told};
use super::seat;
use crate::history::{RoundRun, Session, Tally};
use crate::insight::references::Citable;
use crate::insight::{
    Bar, bars, close_reason, estimates, format_duration, group_digits, headline, independence, join_list,
    long_order, money, pluralize, quorum_ballots, round_view, rule_description, slots, tables, turnout,
};
use crate::report::model::{FULL_RECORD, POSITIONS_ONLY, background, standing};
use crate::sanitize::harmless_line;
use crate::tally::Ties;
use crate::workflow::Close;

/// How much of a round with very many seats stands in a report, in bytes.
const DISSENT: usize = 1_200_000;

/// How wide a bar of all ballots is; a full bar means every seat that was asked.
const BAR: usize = 20;

pub fn section(session: &Session, run: &RoundRun, out: &mut String) {
    let opened = &run.opened;
    let question = first_line(&opened.question);
    let tally = round_view::tally(run);
    if let Some(tally) = tally {
        let made = headline(session, run, tally);
        let _ = writeln!(out, "**{}** – {}\n", inline(&made.label), inline(&made.detail));
    }
    if opened.question.trim() != question {
        let _ = writeln!(out, "{}", quote(&opened.question));
    }
    if let Some(text) = background(run) {
        let _ = writeln!(out, "Background given:\n\n{}", quote(&text));
    }
    facts(run, out);
    let spent = round_view::is_revealed(run).then(|| run.spent(&|model| session.price(model)));
    if let Some(cost) = spent.as_ref().and_then(money) {
        let _ = writeln!(out, "- Cost: {cost}");
    }
    lost(run, out);
    if let Some(note) = &run.synthesis {
        let _ = writeln!(out, "\nThe facilitator's note:\n\n{}", quote(note).trim_end());
    }
    match tally {
        Some(tally) => {
            participation(tally, out);
            write_independence(session, run, out);
            out.push('\n');
            write_tally(session, run, tally, out);
        }
        None => out.push('\n'),
    }
    if round_view::is_revealed(run) {
        answers(session, run, out);
    } else {
        standings(session, run, out);
    }
}

/// The answers in roster order, as far as a report of this size has room for them.
fn answers(session: &Session, run: &RoundRun, out: &mut String) {
    let citable = Citable::of_round(run);
    let seats = run.seats.len();
    if seats > FULL_RECORD {
        let what =
            if seats > POSITIONS_ONLY { "dissent" } else { "dissent in full, of the others the positions" };
        let _ = writeln!(
            out,
            "{} seats: here stands {what}. `roundtable report --format csv` and `json` have every answer.\n",
            group_digits(seats)
        );
    }
    let begun = out.len();
    let winners = round_view::winners(session, run);
    for view in round_view::seats(session, run) {
        let dissents = round_view::dissents(&view, &winners);
        if seats > FULL_RECORD && out.len() - begun > DISSENT {
            out.push_str("- More dissent: `roundtable report --format json`\n");
            break;
        }
        if seats <= FULL_RECORD || dissents {
            seat::item(session, &view, &citable, out);
        } else if seats <= POSITIONS_ONLY {
            seat::position_alone(&view, out);
        }
    }
    out.push('\n');
}

fn facts(run: &RoundRun, out: &mut String) {
    let opened = &run.opened;
    let is_again = opened.round != opened.step;
    let step = if is_again { format!("Step {}; opened", code(&opened.step)) } else { "Opened".to_owned() };
    let _ = writeln!(out, "- {step} {}; {}", run.opened_at, closing(run));
    let hash: String = opened.snapshot_sha256.chars().take(16).collect();
    let _ = writeln!(
        out,
        "- Snapshot {} bytes, sha256 {}",
        group_digits(opened.snapshot_bytes),
        code(&format!("{hash}…"))
    );
    let form = &opened.ballot;
    let options = join_list(if form.cards.is_empty() { &form.options } else { &form.cards });
    let mut named = if options.is_empty() { String::new() } else { format!(" of {}", inline(&options)) };
    if let (Some(min), Some(max)) = (&form.min, &form.max) {
        let _ = write!(named, " from {min} to {max}");
    }
    for (option, about) in &form.about {
        let texts: Vec<String> = about.entries().map(|(_, text)| inline(text)).collect();
        let _ = writeln!(out, "- Option {}: {}", inline(option), texts.join(". "));
    }
    let rule = opened
        .rule
        .map_or_else(|| "none (no decision)".to_owned(), |rule| rule_description(rule, &opened.terms));
    let _ = writeln!(
        out,
        "- Ballot: {}{named}; rule: {rule}{}; quorum {}{}",
        form.kind.name(),
        ties(opened.ties),
        opened.quorum,
        quorum_ballots(opened)
    );
}

/// The seats whose answers an earlier key took with it, asked again or not.
fn lost(run: &RoundRun, out: &mut String) {
    if !run.key_lost.is_empty() {
        let seats = inline(&join_list(&run.key_lost));
        let _ = writeln!(out, "- Lost with a key of this round, unread: what {seats} had sealed under it");
    }
}

fn closing(run: &RoundRun) -> String {
    match (&run.closed, run.closed_at) {
        (Some(closed), Some(at)) => {
            format!(
                "closed after {}: {}",
                format_duration(at.since(run.opened_at)),
                close_reason(closed.reason)
            )
        }
        _ => match run.opened.close {
            Close::All => "open until every seat is settled".to_owned(),
            Close::Quorum => format!("open until {} seats are sealed", run.opened.quorum),
            Close::Deadline => "open until its deadline".to_owned(),
            Close::Manual => "open until the facilitator closes it".to_owned(),
        },
    }
}

fn ties(ties: Ties) -> String {
    match ties {
        Ties::None => String::new(),
        Ties::Ask => ", ties to the facilitator".to_owned(),
        Ties::Seeded(seed) => format!(", ties by seed {seed}"),
    }
}

fn participation(tally: &Tally, out: &mut String) {
    let _ = writeln!(out, "- Seats: {}", turnout(tally));
    let met = if tally.quorum_met { "met" } else { "not met" };
    let ballots = tally.quorum_ballots.map(|needed| {
        format!("; {} beside abstentions, {needed} needed", pluralize(tally.answered, "ballot"))
    });
    let _ = writeln!(
        out,
        "- Quorum {met}: {} participated, {} required{}",
        tally.took_part(),
        tally.quorum,
        ballots.unwrap_or_default()
    );
}

fn write_independence(session: &Session, run: &RoundRun, out: &mut String) {
    if let Some(found) = independence(session, run) {
        for line in found.lines() {
            let _ = writeln!(out, "- {}", inline(&line));
        }
        if let Some(found) = slots(session, run) {
            let _ = writeln!(out, "- {}", found.line());
        }
    }
}

/// Bars, then the steps by which a person can redo the count.
fn write_tally(session: &Session, run: &RoundRun, tally: &Tally, out: &mut String) {
    if tally.verdict.scores.is_empty() && tally.verdict.steps.is_empty() {
        return;
    }
    let (bars, legend) = bars(tally);
    for bar in &bars {
        // Indented by four: code, whatever the option's text is.
        let _ = writeln!(out, "    {}  {}  {}", drawn(bar), bar.score, harmless_line(bar.name));
    }
    if !bars.is_empty() {
        let _ = writeln!(out, "\n{legend}\n");
    }
    if let Some(order) = long_order(&tally.verdict) {
        let _ = writeln!(out, "The {}.\n", inline(&order));
    }
    for (i, step) in tally.verdict.steps.iter().enumerate() {
        let _ = writeln!(out, "{}. {}", i + 1, inline(step));
    }
    out.push('\n');
    let tables = tables(&tally.verdict);
    if !tables.is_empty() {
        out.push_str("Pairwise:\n\n");
    }
    drawing(&tables, out);
    for line in estimates(session, run) {
        let _ = writeln!(out, "- {}", inline(&line));
    }
}

/// Lines as they are, indented by four: code, whatever their text is.
fn drawing(lines: &[String], out: &mut String) {
    for line in lines {
        let indented = format!("    {}", harmless_line(line));
        let _ = writeln!(out, "{}", indented.trim_end());
    }
    if !lines.is_empty() {
        out.push('\n');
    }
}

fn drawn(bar: &Bar<'_>) -> String {
    let filled = bar.cells(BAR);
    format!("{}{}", "█".repeat(filled), "·".repeat(BAR - filled))
}

/// Where the seats of a round stand whose answers may not be read.
fn standings(session: &Session, run: &RoundRun, out: &mut String) {
    for view in round_view::seats(session, run) {
        let after = view.elapsed_ms.map(|ms| format!(" after {}", format_duration(ms))).unwrap_or_default();
        let reason = view.reason().map(|reason| format!(": {}", told(reason))).unwrap_or_default();
        let _ = writeln!(out, "- **{}**: {}{after}{reason}", inline(view.name), standing(&view));
    }
    out.push('\n');
}
