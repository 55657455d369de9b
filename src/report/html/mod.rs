//! Report as a web page without scripts or external resources, printable on A4.
//!
//! First a summary for outsiders, then the full record, folded.

#[cfg(test)]
mod tests;

use serde::Serialize;

use super::model::Document;
use super::templates;

const STYLE: &str = include_str!("style.css");

/// Report with the page's style sheet.
#[derive(Serialize)]
struct WebPage<'a> {
    #[serde(flatten)]
    document: &'a Document<'a>,
    style: &'static str,
}

pub fn html(document: &Document<'_>) -> String {
    templates::render("page.html", WebPage { document, style: STYLE })
}
