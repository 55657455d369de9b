//! The whole record, folded: all reasons, dissent in full, every round, steps, and the audit data.

use std::fmt::Write as _;

use pulldown_cmark::html::push_html;
use pulldown_cmark::{Event as Markup, Options, Parser};

use super::answers::answers;
use super::charts;
use super::markup::{DISSENT, TEXT, e};
use super::page::{dissenter, quotes_all};
use super::tables::{all_reasons, votes_table};
use crate::history::{RoundRun, SeatStatus, Session, Tally};
use crate::insight::cut;
use crate::insight::tally_text::tables;
use crate::insight::what_if::{lines, what_if_all};
use crate::insight::{close_reason, group_digits, headline, is_revealed, seats, tally};
use crate::report::markdown;
use crate::report::model::{FULL_RECORD, POSITIONS_ONLY, Report, background, standing, status};
use crate::tally::RuleOptions;

/// The largest snapshot that is shown, in characters.
const SNAPSHOT: usize = 60_000;

pub fn record(report: &Report<'_>, out: &mut String) {
    reasons(report, out);
    dissent_in_full(report, out);
    if report.run.is_some_and(|run| run.seats.len() > 30 && run.seats.len() <= FULL_RECORD) {
        fold("Votes", "Who voted what, seat by seat", "", false, &votes_table(report, true), out);
    }
    for run in &report.session.rounds {
        round(report, run, out);
    }
    let rest = markdown::after_rounds(report.session);
    if !rest.is_empty() {
        fold(
            "Steps",
            "Approvals, steps, reviews, warnings, agenda",
            "",
            false,
            &format!("<div class=\"md\">{}</div>", rendered(&rest)),
            out,
        );
    }
    audit(report, out);
}

/// The report's own Markdown as HTML; markup in its texts stays text, and nothing is a link or a picture.
fn rendered(text: &str) -> String {
    let events = Parser::new_ext(text, Options::ENABLE_TABLES).filter_map(|event| match event {
        Markup::Html(text) | Markup::InlineHtml(text) => Some(Markup::Text(text)),
        Markup::Start(pulldown_cmark::Tag::Link { .. } | pulldown_cmark::Tag::Image { .. })
        | Markup::End(pulldown_cmark::TagEnd::Link | pulldown_cmark::TagEnd::Image) => None,
        other => Some(other),
    });
    let mut out = String::new();
    push_html(&mut out, events);
    out.replace("<h2>", "<h3>").replace("</h2>", "</h3>")
}

fn fold(name: &str, what: &str, result: &str, open: bool, inner: &str, out: &mut String) {
    let open = if open { " open" } else { "" };
    let result = if result.is_empty() {
        String::new()
    } else {
        format!(" <span class=\"r\">{}</span>", e(&cut(result, 200)))
    };
    let _ = write!(
        out,
        "\n<details class=\"round\"{open}><summary><span class=\"rn\">{}</span> <span class=\"q\">{}</span>{result}</summary>\
         {inner}</details>",
        e(name),
        e(&cut(what, 300))
    );
}

fn reasons(report: &Report<'_>, out: &mut String) {
    if report.tally.is_none() || report.options().is_empty() {
        return;
    }
    let mut inner = String::new();
    all_reasons(report, &mut inner);
    fold("Reasons", "All reasons for and against, merged", "", false, &inner, out);
}

/// Dissent word for word, where the first page quotes it in part.
fn dissent_in_full(report: &Report<'_>, out: &mut String) {
    let found = report.dissent();
    if found.is_empty() || quotes_all(&found) {
        return;
    }
    let mut inner = "<div class=\"dl\">".to_owned();
    let mut left_out = 0;
    for one in &found {
        if inner.len() > DISSENT || (!inner.is_empty() && inner.len() + one.said.len() > 2 * DISSENT) {
            left_out += 1;
            continue;
        }
        dissenter(report, one, &one.said, &mut inner);
    }
    inner.push_str("</div>");
    if left_out > 0 {
        let _ = write!(
            inner,
            "<p class=\"more\">{left_out} more: <code>roundtable report --format json</code></p>"
        );
    }
    fold("Dissent in full", &format!("{} seats, word for word", found.len()), "", true, &inner, out);
}

fn round(report: &Report<'_>, run: &RoundRun, out: &mut String) {
    let session = report.session;
    let counted = tally(run);
    let made = counted.map(|tally| headline(session, run, tally));
    let mut inner = String::new();
    if let (Some(made), Some(tally)) = (&made, counted) {
        let _ = write!(inner, "<p class=\"sayr\">{}</p>", e(&made.detail));
        inner.push_str(&charts::of_round(report, run, tally, "h3"));
    }
    if !run.key_lost.is_empty() {
        let _ = write!(
            inner,
            "<p class=\"warn\">Lost with a key of this round, unread: what {} had sealed under it.</p>",
            e(&run.key_lost.join(", "))
        );
    }
    if let Some(note) = &run.synthesis {
        let _ = write!(
            inner,
            "<div class=\"note\"><h3>The facilitator’s note</h3><p class=\"pre\" dir=\"auto\">{}</p></div>",
            e(note)
        );
    }
    if let Some(text) = background(run) {
        let _ = write!(
            inner,
            "<h3>Background given</h3><pre class=\"txt\" dir=\"auto\">{}</pre>",
            e(&cut(&text, TEXT))
        );
    }
    if is_revealed(run) {
        answers(report, run, &mut inner);
    } else {
        standings(session, run, &mut inner);
    }
    if let Some(tally) = counted {
        details("What other rules would find", &what_if(session, run), &mut inner);
        details("The count, step by step", &steps(tally), &mut inner);
        let tables = tables(&tally.verdict).join("\n");
        details(
            "The tables behind it",
            &if tables.is_empty() { tables } else { preformatted(&tables) },
            &mut inner,
        );
    }
    let snapshot = &run.opened.snapshot;
    details(
        &format!("What every seat was given (snapshot, {} bytes)", group_digits(run.opened.snapshot_bytes)),
        &preformatted(snapshot),
        &mut inner,
    );
    details("The rules that stood before it", &preformatted(&run.opened.rules), &mut inner);
    let name = format!("Round {}", run.opened.number);
    let result = made.map_or_else(|| "not counted".to_owned(), |made| made.label);
    fold(&name, &run.opened.question, &result, false, &inner, out);
}

fn preformatted(text: &str) -> String {
    let more = text.chars().count().saturating_sub(SNAPSHOT);
    let more = if more > 0 { format!("\n{more} more characters: roundtable trace") } else { String::new() };
    format!("<pre>{}{more}</pre>", e(&cut(text, SNAPSHOT)))
}

fn details(title: &str, inner: &str, out: &mut String) {
    if !inner.is_empty() {
        let _ = write!(out, "<details class=\"in\"><summary>{}</summary>{inner}</details>", e(title));
    }
}

fn what_if(session: &Session, run: &RoundRun) -> String {
    let found = what_if_all(session, run, &RuleOptions::default());
    if found.is_empty() || run.seats.len() > POSITIONS_ONLY {
        return String::new();
    }
    preformatted(&lines(session, run, &found).join("\n"))
}

fn steps(tally: &Tally) -> String {
    if tally.verdict.steps.is_empty() {
        return String::new();
    }
    let items = tally.verdict.steps.iter().map(|step| format!("<li>{}</li>", e(step)));
    format!("<ol>{}</ol>", items.collect::<String>())
}

fn standings(session: &Session, run: &RoundRun, out: &mut String) {
    out.push_str("<h3>Where the seats stand</h3><ul>");
    for seat in seats(session, run) {
        let state = standing(&seat);
        let why = seat.reason().map(|why| format!(": {}", e(why))).unwrap_or_default();
        let _ = write!(out, "<li><b>{}</b> {state}{why}</li>", e(seat.name));
    }
    out.push_str("</ul>");
}

fn row(head: &str, what: &str, value: &str) -> String {
    let head =
        if head.is_empty() { "<td></td>".to_owned() } else { format!("<th scope=\"row\">{}</th>", e(head)) };
    format!("<tr>{head}<td>{}</td><td>{value}</td></tr>", e(what))
}

fn hashed(text: &str, hash: &str) -> String {
    format!("{} <code>{}</code>", e(text), e(hash))
}

/// Times, seals and prompts of one round.
fn round_rows(run: &RoundRun) -> String {
    let opened = &run.opened;
    let closed = run.closed_at.map_or_else(|| "open".to_owned(), |at| at.to_string());
    let why = run.closed.as_ref().map(|closed| format!(" ({})", close_reason(closed.reason)));
    let name = format!("Round {}", opened.number);
    let mut rows = row(&name, "id, snapshot", &hashed(&opened.round, &opened.snapshot_sha256));
    rows += &row("", "opened, closed", &format!("{} – {closed}{}", run.opened_at, why.unwrap_or_default()));
    if run.seats.len() > FULL_RECORD {
        return rows;
    }
    for seat in run.seats.values() {
        let prompt = seat.item.as_ref().map(|item| format!("prompt <code>{}</code>", e(&item.prompt_sha256)));
        let sealed = match &seat.status {
            SeatStatus::Sealed(sealed) | SeatStatus::Lost(sealed) | SeatStatus::Revealed(_, sealed) => {
                Some(sealed)
            }
            _ => None,
        };
        let seal = sealed.map(|sealed| format!("seal <code>{}</code>", e(&sealed.commitment)));
        let both: Vec<String> = prompt.into_iter().chain(seal).collect();
        rows += &row("", &seat.name, &both.join("<br>"));
    }
    rows
}

fn audit(report: &Report<'_>, out: &mut String) {
    let (session, source) = (report.session, report.source);
    let Some(header) = &session.header else { return };
    let mut rows = row("Session", "id", &format!("<code>{}</code>", e(&session.id)));
    rows += &row("", "opened, last event", &format!("{} – {}", session.opened_at, session.last_at));
    rows += &row("", "status", &e(&status(session)));
    rows += &row("", "written by", &e(&format!("{}, format {}", header.program, header.format)));
    rows += &row("", "definition", &hashed(&header.definition_file, &header.definition_sha256));
    if source.entries > 0 {
        rows += &row("", "entries, last hash", &hashed(&source.entries.to_string(), &source.last_hash));
    }
    if let Some(names) = session.pseudonyms().filter(|_| session.closed.is_some()) {
        let pairs: Vec<String> = names.iter().map(|(name, shown)| format!("{name} as {shown}")).collect();
        rows += &row("", "shown to each other", &e(&pairs.join(", ")));
    }
    rows.extend(session.rounds.iter().map(round_rows));
    let mut inner = format!(
        "<div class=\"sc\" tabindex=\"0\" role=\"region\" aria-label=\"Audit data\"><table class=\"aud\"><tbody>{rows}\
         </tbody></table></div><p class=\"cap\">What the agreement of models is worth: <code>docs/INDEPENDENCE.md</code> of \
         roundtable, with sources.</p>"
    );
    details("The definition", &preformatted(&header.definition), &mut inner);
    fold("Audit", "Times, hashes, definition", "", false, &inner, out);
}
