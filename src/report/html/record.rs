//! The whole record, folded: all reasons, dissent in full, every round, steps, and the audit data.

use std::fmt::Write as _;

use pulldown_cmark::html::push_html;
use pulldown_cmark::{Event as Markup, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::charts;
use super::markup::e;
use crate::history::RoundRun;
use crate::insight::cut;
use crate::insight::{group_digits, headline, tally};
use crate::report::markdown;
use crate::report::model::{Letters, Reports};

/// The largest snapshot that is shown, in characters.
const SNAPSHOT: usize = 60_000;
/// Every heading of the record stands below that of the page.
const HEADING: Tag<'_> =
    Tag::Heading { level: HeadingLevel::H3, id: None, classes: Vec::new(), attrs: Vec::new() };

pub fn record(reports: &Reports<'_>, out: &mut String) {
    let session = reports.session;
    for run in &session.rounds {
        round(reports, run, out);
    }
    let rest = markdown::after_rounds(session);
    if !rest.is_empty() {
        fold("Steps", "Approvals, steps, reviews, warnings, agenda", "", &rendered(&rest), out);
    }
    let mut inner = rendered(&markdown::about(session, reports.source));
    if let Some(header) = &session.header {
        details("The definition", &preformatted(&header.definition), &mut inner);
    }
    fold("Audit", "Times, hashes, definition", "", &inner, out);
}

/// The report's own Markdown as HTML; markup in its texts stays text, and nothing is a link or a picture.
fn rendered(text: &str) -> String {
    let events = Parser::new_ext(text, Options::ENABLE_TABLES).filter_map(|event| match event {
        Markup::Html(text) | Markup::InlineHtml(text) => Some(Markup::Text(text)),
        Markup::Start(Tag::Link { .. } | Tag::Image { .. }) | Markup::End(TagEnd::Link | TagEnd::Image) => {
            None
        }
        Markup::Start(Tag::Heading { .. }) => Some(Markup::Start(HEADING)),
        Markup::End(TagEnd::Heading(_)) => Some(Markup::End(HEADING.to_end())),
        other => Some(other),
    });
    let mut out = "<div class=\"md\">".to_owned();
    push_html(&mut out, events);
    out.replace("<blockquote>", "<blockquote dir=\"auto\">").replace("<li>", "<li dir=\"auto\">") + "</div>"
}

fn fold(name: &str, what: &str, result: &str, inner: &str, out: &mut String) {
    let result = if result.is_empty() {
        String::new()
    } else {
        format!(" <span class=\"r\">{}</span>", e(&cut(result, 200)))
    };
    let _ = write!(
        out,
        "\n<details class=\"round\"><summary><span class=\"rn\">{}</span> <span class=\"q\">{}</span>{result}</summary>\
         {inner}</details>",
        e(name),
        e(&cut(what, 300))
    );
}

fn round(reports: &Reports<'_>, run: &RoundRun, out: &mut String) {
    let session = reports.session;
    let counted = tally(run);
    let mut inner = counted
        .map(|tally| charts::of_round(&Letters::new(run, Some(tally)), run, tally, "h3"))
        .unwrap_or_default();
    inner += &rendered(&markdown::round(session, run));
    let title =
        format!("What every seat was given (snapshot, {} bytes)", group_digits(run.opened.snapshot_bytes));
    details(&title, &preformatted(&run.opened.snapshot), &mut inner);
    details("The rules that stood before it", &preformatted(&run.opened.rules), &mut inner);
    let result =
        counted.map_or_else(|| "not counted".to_owned(), |tally| headline(session, run, tally).label);
    fold(&format!("Round {}", run.opened.number), &run.opened.question, &result, &inner, out);
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
