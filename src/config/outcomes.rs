//! `.s2s/outcomes.yaml`: what turned out right, recorded after sessions. Their files are not touched.
//!
//! The file belongs to the project: it is never read or written through a link that leads out, and new
//! entries are appended under its lock, whole or not at all.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::dirs::Dirs;
use super::read_file::text_of;
use crate::diagnostic::Diagnostic;
use crate::history::Timestamp;
use crate::journal::{Disk, DiskError};
use crate::yaml::{self, Out};

const NAME: &str = "outcomes.yaml";
/// A larger file is not read, in bytes.
const MAX_OUTCOMES: u64 = 4 * 1024 * 1024;

/// What a round's question turned out to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedOutcome {
    pub session: String,
    /// The session's last hash when this was recorded.
    pub hash: String,
    /// The session's file from the project's folder on, where it is none of the saved sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    pub round: String,
    /// What turned out right.
    pub was: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    pub at: Timestamp,
}

/// Reads all of them, in the order they were recorded; none where the project has no such file.
///
/// # Errors
/// When the file leads out of the project, cannot be read, or is not such a list.
pub fn read_outcomes(folders: &Dirs) -> Result<Vec<RecordedOutcome>, Diagnostic> {
    match folders.of_project(NAME, MAX_OUTCOMES)? {
        Some(text) => parse(&text, folders),
        None => Ok(Vec::new()),
    }
}

fn parse(text: &str, folders: &Dirs) -> Result<Vec<RecordedOutcome>, Diagnostic> {
    let file = folders.project.join(".s2s").join(NAME).display().to_string();
    let node = yaml::read_large(text, &file)?;
    let hint =
        "each entry has session, hash, round, was and at; `roundtable calibrate FILE --was X` writes it";
    let yaml::Value::Map(entries) = &node.value else {
        if matches!(node.value, yaml::Value::Null) {
            return Ok(Vec::new());
        }
        return Err(node.problem(&file, "expected a map with the key `outcomes`").hint(hint));
    };
    let list = entries.iter().find(|(key, _)| key.text == "outcomes").map(|(_, value)| value);
    let Some(yaml::Value::List(items)) = list.map(|list| &list.value) else {
        return Err(node.problem(&file, "expected a list under `outcomes`").hint(hint));
    };
    let read = |item: &yaml::Node| {
        serde_json::from_value(texts(item.to_json()))
            .map_err(|error| item.problem(&file, error.to_string()).hint(hint))
    };
    items.iter().map(read).collect()
}

/// An entry whose values are texts, as a person may have written them without quotes.
fn texts(entry: Value) -> Value {
    let Value::Object(map) = entry else { return entry };
    let text = |value: Value| match value {
        Value::Number(number) => Value::String(number.to_string()),
        Value::Bool(is) => Value::String(is.to_string()),
        other => other,
    };
    map.into_iter().map(|(key, value)| (key, text(value))).collect::<serde_json::Map<_, _>>().into()
}

/// Appends one, and returns the path it was written to.
///
/// # Errors
/// When the project has no `.s2s`, or the file cannot be read or written.
pub fn record_outcome(folders: &Dirs, outcome: &RecordedOutcome) -> Result<String, Diagnostic> {
    let Some(s2s) = folders.s2s() else {
        let problem = Diagnostic::new("there is no `.s2s` to keep outcomes in");
        return Err(problem.hint("`roundtable init` makes one in this folder"));
    };
    let path = s2s.join(NAME);
    let failed = |error: DiskError| Diagnostic::new(format!("the outcome is not recorded: {error}"));
    let entry = entry(outcome);
    folders.path_policy(None).check(&path)?;
    if path.symlink_metadata().is_err() {
        let head = "# What turned out right, for `roundtable calibrate`. Entries may be removed by hand.\noutcomes:\n";
        Disk::default().write_whole(&path, format!("{head}{entry}").as_bytes()).map_err(failed)?;
        return Ok(path.display().to_string());
    }
    let mut file = Disk::default().open_whole(&path).map_err(failed)?;
    let text = text_of(&path, MAX_OUTCOMES, file.read_all().map_err(failed)?)?;
    let before = parse(&text, folders)?;
    let feed = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let longer = format!("{text}{feed}{entry}");
    // A list in brackets, or on another indent, takes no entry at its end.
    let after = parse(&longer, folders).ok().filter(|after| after.len() == before.len() + 1);
    if after.is_none_or(|after| after.last() != Some(outcome)) {
        let problem = Diagnostic::new(
            "the outcome is not recorded: the list does not end the file, or is not indented by two",
        );
        return Err(problem
            .hint("write it as `outcomes:` with one `  - session: …` per entry")
            .with_file(&path.display().to_string()));
    }
    file.replace(longer.as_bytes()).map_err(failed)?;
    Ok(path.display().to_string())
}

/// One entry as it stands in the list.
fn entry(outcome: &RecordedOutcome) -> String {
    let value = serde_json::to_value(outcome).unwrap_or_default();
    let Value::Object(map) = &value else { return String::new() };
    let entries: Vec<_> =
        map.iter().map(|(key, value)| (key.as_str().into(), Out::json(value, false))).collect();
    let mut lines = String::new();
    Out::write_entries(&entries, 4, &mut lines);
    format!("  - {}", lines.trim_start_matches(' '))
}
