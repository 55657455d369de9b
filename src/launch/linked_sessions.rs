//! Saved sessions that a definition links: read once, frozen by what they came to and their hash.

use std::path::Path;

use crate::config::{PathPolicy, read_text};
use crate::diagnostic::Diagnostic;
use crate::history::{LinkedSession, Session};
use crate::journal::{fold, read_log};
use crate::report;
use crate::workflow::Definition;

/// A linked session larger than this is not read, in bytes.
const MAX_LINKED: u64 = 256 * 1024 * 1024;

/// The saved sessions that links of a definition name, looked for beside its file, then where the
/// program runs; and what could not be read of them.
pub fn linked_sessions(
    definition: &Definition,
    file: &str,
    bounds: &PathPolicy,
) -> (Vec<LinkedSession>, Vec<Diagnostic>) {
    let (mut sessions, mut problems): (Vec<LinkedSession>, Vec<Diagnostic>) = (Vec::new(), Vec::new());
    for link in &definition.links {
        for id in [&link.from, &link.to] {
            let is_file = Path::new(id).extension().is_some_and(|extension| extension == "s2s");
            if !is_file || sessions.iter().any(|known| known.id == *id) {
                continue;
            }
            match read(id, file, bounds) {
                Ok(session) => sessions.push(session),
                Err(problem) => problems
                    .push(problem.at(file, link.place.0, link.place.1).hint("nothing of it is handed over")),
            }
        }
    }
    (sessions, problems)
}

/// Returns a session's outcome, else its last result.
fn outcome(session: &Session) -> String {
    let last = || session.results.values().last().filter(|result| result.success);
    report::outcome(session).or_else(|| Some(last()?.data.to_string())).unwrap_or_default()
}

fn read(id: &str, file: &str, bounds: &PathPolicy) -> Result<LinkedSession, Diagnostic> {
    let beside = Path::new(file).parent().map(|folder| folder.join(id)).filter(|path| path.is_file());
    let path = beside.unwrap_or_else(|| Path::new(id).to_owned());
    let unread = |why: String| Diagnostic::new(format!("linked session `{id}` cannot be read: {why}"));
    bounds.check_named(&path).map_err(|problem| unread(problem.message))?;
    let text = read_text(&path, MAX_LINKED).map_err(|problem| unread(problem.message))?;
    let log = read_log(text.as_bytes()).map_err(|damage| unread(damage.what))?;
    if log.lines.is_empty() {
        return Err(unread("it holds no complete event".to_owned()));
    }
    let head = log.lines.last().map(|line| line.hash.clone());
    let session = fold(&log);
    let title = session.definition.as_ref().and_then(|definition| definition.goal.clone());
    let asked = session.rounds.first().map(|round| round.opened.question.clone());
    let status = match &session.closed {
        Some(closed) => closed.status.name(),
        None if session.paused.is_some() => "paused",
        None => "open",
    };
    Ok(LinkedSession {
        id: id.to_owned(),
        session: session.id.clone(),
        sha256: head.unwrap_or_default(),
        title: title.or(asked).unwrap_or_else(|| session.id.clone()),
        status: status.to_owned(),
        created_at: session.opened_at.to_string(),
        reported_at: session.last_at.to_string(),
        report: outcome(&session),
    })
}
