//! Verbs on one session file: replay, trace, report.

use std::path::Path;

use super::VerbResult;
use super::args::Format;
use super::console::{Console, fail_as, fail_to_write};
use crate::config::dirs::unreadable;
use crate::core::ExitCode;
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::history::Session;
use crate::journal::{Damage, Disk, EventLog, PresentWords, fold_to_show, read_log};
use crate::report;
use crate::sanitize::harmless_line;

/// A session file larger than this is not read, in bytes.
const MAX_SESSION: u64 = 4 << 30;

/// Reads a session file's bytes.
pub fn bytes_of(path: &Path) -> Result<Vec<u8>, Vec<Diagnostic>> {
    Disk::default().read(path, MAX_SESSION).map_err(|error| vec![unreadable(path, &error.cause)])
}

/// Reads a session file; damage is exit 6, another version or another file exit 2.
pub fn log_of(path: &Path, output: &mut Console) -> Result<Result<EventLog, ExitCode>, Vec<Diagnostic>> {
    let bytes = bytes_of(path)?;
    let file = path.display().to_string();
    match read_log(&bytes) {
        Ok(log) if log.lines.is_empty() => {
            Err(vec![Diagnostic::new("no complete header: the session is empty").with_file(&file)])
        }
        Ok(log) => {
            if log.torn > 0 {
                output.warn(
                    &Diagnostic::new(format!(
                        "ignoring {} bytes of an incomplete write at the end",
                        log.torn
                    ))
                    .hint(format!("`roundtable resume {file}` cuts them off and goes on"))
                    .with_file(&file),
                );
            }
            Ok(Ok(log))
        }
        Err(damage) => Ok(Err(refuse_damaged(&damage, &file, output))),
    }
}

/// Says what is wrong with a file and gives its exit code: 6 for a damaged session, 2 for one of
/// another version and for what is no session.
pub fn refuse_damaged(damage: &Damage, file: &str, output: &mut Console) -> ExitCode {
    let exit = if is_no_session(damage) { ExitCode::Usage } else { ExitCode::Damaged };
    fail_as(&[damage_problem(damage, file)], exit, output)
}

/// Whether a file is none of ours to read, rather than one of ours that is damaged.
pub fn is_no_session(damage: &Damage) -> bool {
    damage.newer || damage.seq.is_none()
}

/// A damaged file as a person reads of it.
pub fn damage_problem(damage: &Damage, file: &str) -> Diagnostic {
    let what = match damage.seq {
        Some(seq) if !damage.newer => {
            format!("damaged at document {seq}, byte {}: {}", damage.offset, damage.what)
        }
        _ => damage.what.clone(),
    };
    let hint = if damage.newer {
        "use a version of roundtable that knows this format"
    } else if damage.seq.is_none() {
        "give a `.s2s` file that roundtable has written"
    } else {
        "restore the file from a backup (it was not modified)"
    };
    Diagnostic::new(what).hint(hint).at(file, damage.line, 1)
}

/// `replay`: the events again, as text, what they came to first, or as NDJSON.
pub fn replay(path: &Path, at: Option<u64>, output: &mut Console) -> VerbResult {
    let log = match log_of(path, output)? {
        Ok(log) => log,
        Err(exit) => return Ok(exit),
    };
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
    let log = match log_of(path, output)? {
        Ok(log) => log,
        Err(exit) => return Ok(exit),
    };
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
fn known<'a>(
    name: Option<&str>,
    what: &str,
    names: impl Iterator<Item = &'a str>,
) -> Result<(), Vec<Diagnostic>> {
    let names: indexmap::IndexSet<&str> = names.collect();
    let Some(name) = name.filter(|name| !names.contains(name)) else { return Ok(()) };
    let names: Vec<&str> = names.into_iter().collect();
    let problem = Diagnostic::new(format!("this session handed nothing to a {what} `{name}`"));
    Err(vec![problem.hint(did_you_mean(name, &names))])
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
    let log = match log_of(path, output)? {
        Ok(log) => log,
        Err(exit) => return Ok(exit),
    };
    let text = rendered(&fold_to_show(log), format);
    let Some(out) = out else {
        output.bytes(text.as_bytes());
        return Ok(ExitCode::Finished);
    };
    if out.extension().is_some_and(|extension| extension == "s2s") {
        let problem =
            Diagnostic::new("refusing to overwrite a session file").with_file(&out.display().to_string());
        return Err(vec![problem.hint("give a name that does not end in `.s2s`")]);
    }
    if let Err(error) = write_out(out, text.as_bytes()) {
        let problem = Diagnostic::new(format!("cannot write {}: {error}", out.display()));
        let problem = problem.hint("the folder must be there, be yours to write in, and have room");
        return Ok(fail_to_write(problem, &error, output));
    }
    output.note(&format!("written: {}", out.display()));
    Ok(ExitCode::Finished)
}
