//! Answers of the tools about sessions on disk.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::cli::browse::saved;
use crate::cli::files::source;
use crate::config::dirs::Dirs;
use crate::diagnostic::Diagnostic;
use crate::journal::fold;
use crate::launch::error::RunError;
use crate::launch::session_file::read_session;
use crate::report::{self, Document};

/// Keys that are left out of a round's result: a caller pays for each word.
const LEFT_OUT: [&str; 6] = ["snapshot", "rules", "held", "counted", "chart", "tables"];

pub fn file_of(folders: &Dirs, id: &str) -> Result<PathBuf, Diagnostic> {
    let is_it = |path: &PathBuf| path.file_stem().is_some_and(|stem| stem == id);
    saved(folders).into_iter().find(is_it).ok_or_else(|| {
        Diagnostic::new(format!("no session `{id}`")).hint("`convene` gives the id of a new one")
    })
}

pub fn not_over() -> Diagnostic {
    let problem = Diagnostic::new("the session is not over: nothing can be shown before it closes");
    problem.hint("ask `status` until its state is `closed`")
}

/// The result of a session that is over: its line of `--json=result`, and of the report what each seat said.
pub fn outcome(path: &Path) -> Result<Value, RunError> {
    let log = read_session(path)?;
    let session = fold(&log);
    if session.closed.is_none() {
        return Err(not_over().into());
    }
    let document = Document::new(&session, source(path, &log));
    let mut result = report::result(&document, 0, &path.display().to_string());
    let whole = serde_json::to_value(&document).unwrap_or_default();
    for key in ["rounds", "pseudonyms"] {
        result[key] = whole[key].clone();
    }
    let rounds = result["rounds"].as_array_mut().into_iter().flatten();
    for round in rounds.filter_map(Value::as_object_mut) {
        round.retain(|key, _| !LEFT_OUT.contains(&key.as_str()));
    }
    Ok(result)
}
