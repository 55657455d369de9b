//! The report a person reads in a terminal, a pull request or a wiki, and the decision record.
//!
//! Both read well as plain text and as rendered Markdown. Foreign text goes through `../quote.rs` and cannot
//! forge any of this.

use serde::Serialize;

use super::model::{Document, Page, RoundRecord, SeatRecord};
use super::quote::first_line;
use super::templates;
use crate::insight::join_list;

/// What was decided, what the options are, who disagreed and why; then the record, every seat of every round
/// word for word.
pub fn markdown(document: &Document<'_>) -> String {
    templates::render("report.md", document)
}

/// The report, and one page of it with its deciding round.
#[derive(Serialize)]
struct DecisionRecord<'a> {
    #[serde(flatten)]
    document: &'a Document<'a>,
    page: Option<&'a Page<'a>>,
    run: Option<&'a RoundRecord<'a>>,
    consulted: String,
}

/// The architecture decision record of the first decision: the options, the arguments of all rounds, dissent.
///
/// The sections and their order are those of MADR 4.0 (Markdown Architectural Decision Records,
/// <https://adr.github.io/madr/>). Nothing is made up: reasons are the participants' own words, and every
/// number is counted from the record.
pub fn madr(document: &Document<'_>) -> String {
    let page = document.pages().next();
    let run = page.and_then(|page| document.round(page));
    let named = |seat: &SeatRecord<'_>| format!("{} ({})", seat.participant, seat.model);
    let consulted = join_list(run.iter().flat_map(|run| &run.seats).map(named));
    templates::render("decision.md", DecisionRecord { document, page, run, consulted })
}

/// Returns the title of a decision record as part of a file name: lower-case words with hyphens, at most 60
/// characters.
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
