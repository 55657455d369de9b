//! The report a person reads in a terminal, a pull request or a wiki: what was decided, what the options
//! are, who disagreed and why; then the record, every seat of every round word for word.
//!
//! It reads well as plain text and as rendered Markdown. Foreign text goes through `../quote.rs` and cannot
//! forge any of this.

mod madr;

pub use madr::{decision_rows, file_title, madr};

use super::model::Reports;
use super::templates;

pub fn markdown(reports: &Reports<'_>) -> String {
    templates::render("report.md", reports.document())
}
