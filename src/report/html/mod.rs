//! The report as one web page: it loads nothing, runs no script and prints on A4.
//!
//! First what a reader needs who was not there, then the whole record, folded. Everything foreign goes
//! through `markup::e`.

mod charts;
mod markup;
mod page;
mod record;
mod tables;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

pub(super) use self::markup::e;
use super::model::Reports;
use crate::insight::cut;

const STYLE: &str = include_str!("style.css");

pub fn html(reports: &Reports<'_>) -> String {
    let mut out = head(reports);
    body(reports, &mut out);
    out
}

fn head(reports: &Reports<'_>) -> String {
    let made = &reports.made;
    let said = format!("{}. {}", made.name, made.sentence);
    let program = reports.session.header.as_ref().map_or("roundtable", |header| header.program.as_str());
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta name=\"generator\" content=\"{}\"><meta name=\"description\" content=\"{}\">\n\
         <title>{} – {}</title><style>{STYLE}</style></head>",
        e(program),
        e(&cut(&said, 300).replace('\n', " ")),
        e(&cut(&made.name, 80)),
        e(&cut(reports.title(), 120).replace('\n', " ")),
    )
}

fn body(reports: &Reports<'_>, out: &mut String) {
    out.push_str("<body><a class=\"skip\" href=\"#decision\">To the decision</a>\n<main>");
    page::page(reports, out);
    out.push_str("\n<h2 class=\"rec\">The whole record</h2>");
    record::record(reports, out);
    let program = reports.session.header.as_ref().map_or("roundtable", |header| header.program.as_str());
    let _ = write!(
        out,
        "\n<footer>Recorded by {} in {}. This page loads nothing and runs no script.</footer></main></body></html>\n",
        e(program),
        e(reports.source.file.as_deref().unwrap_or("a session file"))
    );
}
