//! Markdown report for terminals, pull requests and wikis, and the decision record.
//!
//! Both read well as plain text and as rendered Markdown. Foreign text is quoted by `../quote.rs` and cannot
//! imitate the report.

use serde::Serialize;

use super::model::{Document, Page, RoundRecord, SeatRecord};
use super::quote::first_line;
use super::templates;
use crate::insight::join_list;

/// Renders decision, options and dissent; then the full record with every answer verbatim.
pub fn markdown(document: &Document<'_>) -> String {
    templates::render("report.md", document)
}

/// Renders the report for a terminal, which shows `<br>` as it stands.
pub fn with_line_breaks(document: &Document<'_>) -> String {
    // Tags in foreign text follow a backslash; two of these are one of the text.
    const PAIR: &str = "\u{e000}";
    let broken = |part: &str| part.replace("<br>", "\n  ");
    let text = markdown(document).replace("\\\\", PAIR);
    text.split("\\<br>").map(broken).collect::<Vec<_>>().join("\\<br>").replace(PAIR, "\\\\")
}

/// Report, and one of its pages with the deciding round.
#[derive(Serialize)]
struct DecisionRecord<'a> {
    #[serde(flatten)]
    document: &'a Document<'a>,
    page: Option<&'a Page<'a>>,
    run: Option<&'a RoundRecord<'a>>,
    consulted: String,
}

/// Renders the architecture decision record of the first decision. Sections and their order follow MADR 4.0
/// (Markdown Architectural Decision Records, <https://adr.github.io/madr/>). Reasons are the participants'
/// own words; numbers are counted from the record.
pub fn madr(document: &Document<'_>) -> String {
    let page = document.pages().next();
    let run = page.and_then(|page| document.round(page));
    let named = |seat: &SeatRecord<'_>| format!("{} ({})", seat.participant, seat.model);
    let consulted = join_list(run.iter().flat_map(|run| &run.seats).map(named));
    templates::render("decision.md", DecisionRecord { document, page, run, consulted })
}

/// Returns a file name for a decision record: lower-case words with hyphens, at most 60 characters.
pub fn file_title(document: &Document<'_>) -> String {
    let is_one_of_many = document.pages().any(|page| page.one_of_many);
    let goal = document.task.goal.filter(|_| !is_one_of_many);
    let title = first_line(goal.unwrap_or(document.task.title)).to_lowercase();
    let mut name = String::new();
    for word in title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if name.chars().count() + word.chars().count() >= 60 {
            break;
        }
        if !name.is_empty() {
            name.push('-');
        }
        name.push_str(word);
    }
    if name.is_empty() { "decision".to_owned() } else { name }
}
