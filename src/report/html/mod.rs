//! The report as one web page: it loads nothing, runs no script and prints on A4.
//!
//! First what a reader needs who was not there, then the whole record, folded.

#[cfg(test)]
mod tests;

use serde::Serialize;

use super::model::Document;
use super::templates;

const STYLE: &str = include_str!("style.css");

/// The report with the style sheet of the page.
#[derive(Serialize)]
struct WebPage<'a> {
    #[serde(flatten)]
    document: &'a Document<'a>,
    style: &'static str,
}

pub fn html(document: &Document<'_>) -> String {
    templates::render("page.html", WebPage { document, style: STYLE })
}
