//! What the tools say of sessions on disk.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::arguments::{EarlierRound, Outcome, SeatAnswer};
use crate::cli::browse::saved;
use crate::config::dirs::Dirs;
use crate::diagnostic::Diagnostic;
use crate::history::Session;
use crate::journal::{EventLog, fold};
use crate::launch::error::RunError;
use crate::launch::session_file::read_session;
use crate::report;

/// Finds the file of a saved session by its id.
pub fn file_of(folders: &Dirs, id: &str) -> Result<PathBuf, Diagnostic> {
    let is_it = |path: &PathBuf| path.file_stem().is_some_and(|stem| stem == id);
    saved(folders).into_iter().find(is_it).ok_or_else(|| {
        Diagnostic::new(format!("no session `{id}`")).hint("`convene` gives the id of a new one")
    })
}

/// A session that is over, and its log's last hash.
fn closed(path: &Path) -> Result<(Session, String), RunError> {
    let log: EventLog = read_session(path)?;
    let hash = log.lines.last().map(|line| line.hash.clone()).unwrap_or_default();
    let session = fold(&log);
    if session.closed.is_some() {
        return Ok((session, hash));
    }
    Err(not_over().into())
}

pub fn not_over() -> Diagnostic {
    let problem = Diagnostic::new("the session is not over: nothing can be shown before it closes");
    problem.hint("ask `status` until its state is `closed`")
}

/// The result of a session that is over.
///
/// # Errors
/// While it is not over, and when its file cannot be read.
pub fn outcome(path: &Path) -> Result<Outcome, RunError> {
    let (session, last_hash) = closed(path)?;
    let file = path.display().to_string();
    let line = report::result(&session, 0, &file, &last_hash);
    let source = report::Source::default();
    let whole = report::json(&report::Reports::new(&session, &source));
    let rounds = items(&whole["rounds"]);
    let (round, before) =
        rounds.split_last().map_or((&Value::Null, &[][..]), |(last, before)| (last, before));
    let is_minority = |seat: &&Value| {
        let mut said = items(&whole["dissent"]).iter().filter(|said| said["round"] == round["id"]);
        said.any(|said| said["participant"] == seat["participant"])
    };
    let (minority, others): (Vec<&Value>, Vec<&Value>) = items(&round["seats"]).iter().partition(is_minority);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let answers = |seats: Vec<&Value>| seats.into_iter().map(answer).collect();
    let earlier = |round: &Value| EarlierRound {
        round: text(&round["id"]).unwrap_or_default(),
        question: text(&round["question"]).unwrap_or_default(),
        answers: items(&round["seats"]).iter().map(answer).collect(),
    };
    Ok(Outcome {
        session: session.id.clone(),
        decided: line["decided"] == true,
        winners: items(&whole["decision"]["winners"]).iter().filter_map(text).collect(),
        headline: text(&line["headline"]),
        reason: text(&line["reason"]),
        tally: round["tally"].as_object().cloned(),
        minority: answers(minority),
        others: answers(others),
        earlier: before.iter().map(earlier).collect(),
        pseudonyms: whole["pseudonyms"].as_object().cloned().unwrap_or_default(),
        rehearsal: session.has_rehearsal(),
        usd: line["usd"].as_f64(),
        file,
        last_hash,
    })
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn answer(seat: &Value) -> SeatAnswer {
    let text = |key: &str| seat[key].as_str().map(str::to_owned);
    SeatAnswer {
        participant: text("participant").unwrap_or_default(),
        model: text("model"),
        outcome: text("outcome"),
        reason: text("reason"),
        answer: seat["answer"].as_object().cloned(),
    }
}
