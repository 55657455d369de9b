//! `diff`: what differs between two sessions.

use std::path::Path;

use serde_json::{Value, json};

use super::browse::session_file;
use super::console::Console;
use super::files::log_of;
use super::verb_result::VerbResult;
use crate::core::ExitCode;
use crate::history::Session;
use crate::insight::compare;
use crate::journal::fold_to_show;
use crate::report;
use crate::sanitize::harmless_line;

/// Compares two session files.
pub fn run(before: &Path, after: &Path, json: bool, output: &mut Console) -> VerbResult {
    output.json = json;
    let (before, after) = (&session_file(before), &session_file(after));
    let (a, b) = (fold_to_show(log_of(before, output)?), fold_to_show(log_of(after, output)?));
    let found = compare(&a, &b);
    if output.json {
        let mut json = found.json();
        json["first"] = side(&a, before);
        json["second"] = side(&b, after);
        output.line(&report::safe_json(&json));
        return Ok(ExitCode::Finished);
    }
    for (sign, session) in [('-', &a), ('+', &b)] {
        let what = super::browse::summary(session);
        output.line(&harmless_line(&format!("{sign} {}: {what}", session.id)));
    }
    if found.is_unrelated() {
        output.line("These sessions have no round in common: no id, no question and no option is the same.");
    }
    for line in found.lines() {
        output.line(&harmless_line(&line));
    }
    Ok(ExitCode::Finished)
}

fn side(session: &Session, file: &Path) -> Value {
    json!({
        "session": session.id,
        "file": file.display().to_string(),
        "outcome": report::outcome(session),
    })
}
