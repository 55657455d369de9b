//! Verbs on one session file: replay, trace, report.

use std::path::Path;

use super::args::Format;
use super::console::Console;
use super::verb_result::VerbResult;
use crate::core::ExitCode;
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::history::Session;
use crate::journal::{Disk, EventLog, PresentWords, fold_to_show};
use crate::launch::error::RunError;
use crate::launch::session_file::read_session;
use crate::report;
use crate::sanitize::harmless_line;

/// Reads a session file, and warns of an incomplete write at its end.
pub fn log_of(path: &Path, output: &Console) -> Result<EventLog, RunError> {
    let log = read_session(path)?;
    if log.torn > 0 {
        let file = path.display().to_string();
        let problem =
            Diagnostic::new(format!("ignoring {} bytes of an incomplete write at the end", log.torn));
        let hint = format!("`roundtable resume {file}` cuts them off and goes on");
        output.warn(&problem.hint(hint).with_file(&file));
    }
    Ok(log)
}

/// `replay`: the events again, as text, what they came to first, or as NDJSON.
pub fn replay(path: &Path, at: Option<u64>, output: &mut Console) -> VerbResult {
    let log = log_of(path, output)?;
    let (all, _) = PresentWords::of_log(log.lines);
    let lines = || all.iter().take_while(|line| at.is_none_or(|at| line.seq <= at));
    if !output.json {
        let mut session = Session::default();
        lines().for_each(|line| session.apply(&line.stamped));
        if let Some(outcome) = report::outcome(&session) {
            output.line(&harmless_line(&format!("outcome: {outcome}")));
        }
    }
    let mut session = Session::default();
    for line in lines() {
        session.apply(&line.stamped);
        let (when, event) = (line.stamped.at, &line.stamped.event);
        if output.json {
            output.line(&report::line(line.seq, &line.prev, &line.hash, when, event, &session));
        } else if let Some(text) = report::event_line(event, when, &session) {
            output.line(&text);
        }
    }
    Ok(ExitCode::Finished)
}

/// `trace`: every work item, whole.
pub fn trace(path: &Path, seat: Option<&str>, round: Option<&str>, output: &mut Console) -> VerbResult {
    let log = log_of(path, output)?;
    let (lines, session) = PresentWords::of_log(log.lines);
    let traces = report::trace::trace(&lines, &session);
    let wanted = |entry: &&report::trace::TraceEntry| {
        seat.is_none_or(|seat| entry.to == seat) && round.is_none_or(|round| entry.round == round)
    };
    known(seat, "participant", traces.iter().map(|entry| entry.to.as_str()))?;
    known(round, "round", traces.iter().map(|entry| entry.round.as_str()))?;
    if traces.is_empty() {
        output.note("no work items in this session yet");
    }
    for entry in traces.iter().filter(wanted) {
        if output.json {
            output.line(&report::safe_json(&serde_json::to_value(entry).unwrap_or_default()));
        } else {
            output.line(&report::trace::text(entry));
        }
    }
    Ok(ExitCode::Finished)
}

/// Refuses a name that no work item has.
fn known<'a>(name: Option<&str>, what: &str, names: impl Iterator<Item = &'a str>) -> Result<(), Diagnostic> {
    let names: indexmap::IndexSet<&str> = names.collect();
    let Some(name) = name.filter(|name| !names.contains(name)) else { return Ok(()) };
    let names: Vec<&str> = names.into_iter().collect();
    let problem = Diagnostic::new(format!("this session handed nothing to a {what} `{name}`"));
    Err(problem.hint(did_you_mean(name, &names)))
}

/// A session in a report's format.
pub fn rendered(session: &Session, format: Format) -> String {
    match format {
        Format::Md => report::markdown(session),
        Format::Json => {
            let json = serde_json::to_string_pretty(&report::json(session)).unwrap_or_default() + "\n";
            report::terminal_safe_json(&json).into_owned()
        }
        Format::Madr => report::madr(session),
        Format::Csv => report::csv(session),
        Format::Html => report::html(session),
    }
}

/// Writes a file whole or not at all; what is no file, such as a pipe, as it is.
fn write_out(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let is_special = |there: std::fs::Metadata| !there.is_file() && !there.is_dir();
    if std::fs::metadata(path).is_ok_and(is_special) {
        return std::fs::write(path, bytes);
    }
    Disk::default().write_whole(path, bytes).map_err(|error| error.cause)
}

/// `report`: a session as a document.
pub fn report(path: &Path, format: Format, out: Option<&Path>, output: &mut Console) -> VerbResult {
    let log = log_of(path, output)?;
    let text = rendered(&fold_to_show(log), format);
    let Some(out) = out else {
        output.bytes(text.as_bytes());
        return Ok(ExitCode::Finished);
    };
    if out.extension().is_some_and(|extension| extension == "s2s") {
        let problem =
            Diagnostic::new("refusing to overwrite a session file").with_file(&out.display().to_string());
        return Err(problem.hint("give a name that does not end in `.s2s`").into());
    }
    if let Err(error) = write_out(out, text.as_bytes()) {
        let problem = Diagnostic::new(format!("cannot write {}: {error}", out.display()));
        let problem = problem.hint("the folder must be there, be yours to write in, and have room");
        return Err(RunError::unwritable(problem, &error));
    }
    output.note(&format!("written: {}", out.display()));
    Ok(ExitCode::Finished)
}
