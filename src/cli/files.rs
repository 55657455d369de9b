//! Commands on one session file: `replay`, `trace`, `report`.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use super::args::{Format, ReportArgs};
use super::browse::{quoted, session_name};
use super::console::{Console, VerbResult};
use crate::core::ExitCode;
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::history::Session;
use crate::journal::{Disk, EventLog, fold};
use crate::launch::error::RunError;
use crate::launch::session_file::read_session;
use crate::report::{self, Document, Page, Source};
use crate::sanitize::harmless_line;
use crate::tui::Theme;

/// Reads a session file, and warns of an incomplete write at its end.
pub fn read_log_file(path: &Path, output: &Console) -> Result<EventLog, RunError> {
    let log = read_session(path)?;
    if log.torn > 0 {
        let file = path.display().to_string();
        let problem =
            Diagnostic::new(format!("ignoring {} bytes of an incomplete write at the end", log.torn));
        let hint = format!("`roundtable resume {file}` cuts them off and resumes the session");
        output.warn(&problem.hint(hint).with_file(&file));
    }
    Ok(log)
}

/// Prints the events of a session: as text with the outcome first, or as NDJSON.
pub fn replay(path: &Path, at: Option<u64>, output: &mut Console) -> VerbResult {
    let log = read_log_file(path, output)?;
    let lines = || log.lines.iter().take_while(|line| at.is_none_or(|at| line.seq <= at));
    if !output.json {
        let mut session = Session::default();
        lines().for_each(|line| session.apply_entry(line));
        if let Some(outcome) = report::outcome(&session) {
            output.line(&harmless_line(&format!("outcome: {outcome}")));
        }
    }
    let mut session = Session::default();
    for line in lines() {
        session.apply_entry(line);
        let (when, event) = (line.stamped.at, &line.stamped.event);
        if output.json {
            output.line(&report::line(line.seq, &line.prev, &line.hash, when, event, &session));
        } else if let Some(text) = report::event_line(event, when, &session) {
            output.line(&text);
        }
    }
    Ok(ExitCode::Finished)
}

pub fn trace(path: &Path, output: &mut Console) -> VerbResult {
    let log = read_log_file(path, output)?;
    let session = fold(&log);
    let traces = report::trace::trace(&log.lines, &session);
    if traces.is_empty() {
        output.note("no work items in this session yet");
    }
    for entry in &traces {
        if output.json {
            output.line(&report::safe_json(&serde_json::to_value(entry).unwrap_or_default()));
        } else {
            output.line(&report::trace::text(entry));
        }
    }
    Ok(ExitCode::Finished)
}

pub fn source(path: &Path, log: &EventLog) -> Source {
    Source {
        file: path.file_name().map(|name| name.to_string_lossy().into_owned()),
        entries: log.lines.len(),
        last_hash: log.lines.last().map(|line| line.hash.clone()).unwrap_or_default(),
        torn: log.torn,
    }
}

/// Prints the report of a session: in full, or a summary on a terminal.
pub fn print_report(document: &Document<'_>, path: &Path, output: &mut Console) {
    if !output.wants_summary() {
        let write = if std::io::stdout().is_terminal() { report::with_line_breaks } else { report::markdown };
        return output.bytes(write(document).as_bytes());
    }
    let columns = match crossterm::terminal::size() {
        Ok((columns @ 1.., _)) => usize::from(columns).max(20),
        _ => 80,
    };
    let theme = Theme::from_environment(|name| std::env::var(name).ok());
    let (path, name) = (quoted(&path.display().to_string()), session_name(path));
    let look =
        report::Look { columns, has_color: theme.color, is_ascii: theme.ascii, path: &path, name: &name };
    output.bytes(report::glance(document, &look).as_bytes());
}

/// Renders a session in a report format; a decision record contains only its first decision.
pub fn rendered(document: &Document<'_>, format: Format) -> String {
    let write = match format {
        Format::Md => report::markdown,
        Format::Html => report::html,
        Format::Madr => report::madr,
        Format::Json => report::json,
        Format::Sarif => report::sarif,
        Format::Csv => report::csv,
        Format::Junit => report::junit,
        Format::Github => report::github,
    };
    write(document)
}

/// Removes the file of a session if nothing was written to it.
pub fn remove_unused(path: &Path) {
    if std::fs::metadata(path).is_ok_and(|meta| meta.len() == 0) {
        let _ = std::fs::remove_file(path);
    }
}

/// Replaces a file atomically; writes directly to special files such as pipes.
fn write_out(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let is_special = |there: std::fs::Metadata| !there.is_file() && !there.is_dir();
    if std::fs::metadata(path).is_ok_and(is_special) {
        return std::fs::write(path, bytes);
    }
    Disk::default().write_whole(path, bytes).map_err(|error| error.cause)
}

/// Checks the report paths and formats before the session runs.
pub fn check_out(out: &[PathBuf], format: Option<Format>) -> Result<(), Diagnostic> {
    for path in out {
        let shown = path.display().to_string();
        if path.extension().is_some_and(|extension| extension == "s2s") {
            let problem = Diagnostic::new("refusing to overwrite a session file").with_file(&shown);
            return Err(problem.hint("give a name that does not end in `.s2s`"));
        }
        if format.is_none() && Format::of_file(path).is_none() {
            let problem = Diagnostic::new(format!("cannot tell the format of `{shown}`"));
            return Err(problem.hint("end it in .md, .html, .json, .csv, .sarif, .xml (JUnit) or .madr.md"));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
            let problem = Diagnostic::new(format!("cannot write {shown}: no folder `{}`", folder.display()));
            return Err(problem.hint("create the folder first"));
        }
    }
    Ok(())
}

/// Writes one report per path, in the format of its ending.
pub fn write_reports(document: &Document<'_>, out: &[PathBuf], output: &mut Console) -> Result<(), RunError> {
    let mut refused = None;
    for out in out {
        let format = Format::of_file(out).unwrap_or(Format::Md);
        if format == Format::Madr {
            if let Err(several) = one_decision(document) {
                refused = Some(several);
                continue;
            }
            if let Some(why) = document.only().and_then(|page| missing_record_reason(document, page)) {
                output.note(&why);
                continue;
            }
        }
        write_report(out, rendered(document, format).as_bytes(), output)?;
    }
    refused.map_or(Ok(()), |several| Err(several.into()))
}

/// Fails if the document has several decisions, which one decision record cannot contain.
fn one_decision(document: &Document<'_>) -> Result<(), Diagnostic> {
    if document.only().is_some() {
        return Ok(());
    }
    let line = |page: &Page<'_>| format!("{} ({})", page.round.unwrap_or_default(), page.question);
    let list: Vec<String> = document.decisions.iter().map(line).collect();
    let problem =
        Diagnostic::new(format!("{} decisions need a record each: {}", list.len(), list.join("; ")));
    Err(problem.hint("select one with --round ID, or give a folder: --out FOLDER --format madr"))
}

/// Writes a report file; refuses to overwrite a session.
pub fn write_report(out: &Path, bytes: &[u8], output: &Console) -> Result<(), RunError> {
    check_out(&[out.to_owned()], Some(Format::Md))?;
    if let Err(error) = write_out(out, bytes) {
        let problem = Diagnostic::new(format!("cannot write {}: {error}", out.display()));
        let problem = problem.hint("the folder must be there, be yours to write in, and have room");
        return Err(RunError::unwritable(problem, &error));
    }
    output.note(&format!("written: {}", out.display()));
    Ok(())
}

/// Returns why no decision record is written; `None` if a decision was made.
fn missing_record_reason(document: &Document<'_>, page: &Page<'_>) -> Option<String> {
    let label = &page.verdict.made.label;
    let why = document.outcome.as_ref().map_or("nothing was decided yet", |_| label);
    let said = format!("no decision record written: {why} (`roundtable report --even-undecided` writes one)");
    (!page.verdict.decided).then(|| harmless_line(&said))
}

/// Returns the path of a numbered decision record: `0014-title.md` in the folder.
fn numbered(folder: &Path, number: u32, title: &str) -> Result<PathBuf, Diagnostic> {
    let name = format!("{number:04}-{title}.md");
    let others = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut others = others.map(|entry| entry.file_name().to_string_lossy().into_owned());
    match others.find(|other| other.starts_with(&format!("{number:04}-")) && *other != name) {
        Some(other) => {
            let problem = Diagnostic::new(format!("number {number} is already used by `{other}`"));
            Err(problem.with_file(&folder.display().to_string()).hint("select another --number"))
        }
        None => Ok(folder.join(name)),
    }
}

/// Returns the reports to write, with their formats by file name or `--format`; `None` is standard output.
fn planned(
    wanted: &ReportArgs,
    document: &Document<'_>,
) -> Result<Vec<(Option<PathBuf>, Format)>, Diagnostic> {
    let mut planned = Vec::new();
    for out in &wanted.out {
        let is_folder = out.is_dir();
        let of_folder = (wanted.number.is_some() && is_folder).then_some(Format::Madr);
        let format = of_folder.or(wanted.format).or(Format::of_file(out));
        // Files without an ending are Markdown.
        let format = format.or(out.extension().is_none().then_some(Format::Md));
        if is_folder && format != Some(Format::Madr) {
            let problem = Diagnostic::new(format!("`{}` is a folder", out.display()));
            return Err(problem.hint("folders are for decision records: add --format madr"));
        }
        if format == Some(Format::Madr) && !is_folder {
            one_decision(document)?;
        }
        check_out(std::slice::from_ref(out), format)?;
        planned.push((Some(out.clone()), format.unwrap_or(Format::Md)));
    }
    if wanted.number.is_some() && !wanted.out.iter().any(|out| out.is_dir()) {
        let problem = Diagnostic::new("--number needs a folder");
        return Err(problem.hint("use --out FOLDER; the record is named after its title"));
    }
    if planned.is_empty() {
        planned.push((None, wanted.format.unwrap_or(Format::Md)));
    }
    let has = |format: Format| planned.iter().any(|(_, planned)| *planned == format);
    if wanted.even_undecided && !has(Format::Madr) {
        let problem = Diagnostic::new("--even-undecided needs a decision record");
        return Err(problem.hint("use --format madr, or --out NAME.madr.md"));
    }
    Ok(planned)
}

pub fn report(path: &Path, wanted: &ReportArgs, output: &mut Console) -> VerbResult {
    output.full = wanted.full;
    let log = read_log_file(path, output)?;
    let (session, source) = (fold(&log), source(path, &log));
    let document = match &wanted.round {
        None => Document::new(&session, source),
        Some(round) => Document::for_round(&session, source.clone(), round).ok_or_else(|| {
            let all = Document::new(&session, source);
            let known: Vec<&str> = all.decisions.iter().flat_map(|page| page.rounds.clone()).collect();
            let problem = Diagnostic::new(format!("this session has no decision with a round `{round}`"));
            problem.hint(did_you_mean(round, &known))
        })?,
    };
    let mut code = ExitCode::Finished;
    for (out, format) in planned(wanted, &document)? {
        if format == Format::Madr {
            code = code.max(records(&session, &document, out.as_deref(), wanted, output)?);
            continue;
        }
        if out.is_none() && format == Format::Md && wanted.format.is_none() {
            print_report(&document, path, output);
            continue;
        }
        write_or_print(out.as_deref(), &rendered(&document, format), output)?;
    }
    Ok(code)
}

fn write_or_print(out: Option<&Path>, text: &str, output: &mut Console) -> Result<(), RunError> {
    match out {
        Some(out) => write_report(out, text.as_bytes(), output)?,
        None => output.bytes(text.as_bytes()),
    }
    Ok(())
}

/// Writes one decision record per decision into a folder, or the only one to a file.
fn records(
    session: &Session,
    document: &Document<'_>,
    out: Option<&Path>,
    wanted: &ReportArgs,
    output: &mut Console,
) -> VerbResult {
    let folder = out.filter(|out| out.is_dir());
    if folder.is_none() {
        one_decision(document)?;
    }
    let mut code = ExitCode::Finished;
    for (at, page) in document.pages().enumerate() {
        if let Some(why) = missing_record_reason(document, page).filter(|_| !wanted.even_undecided) {
            output.note(&why);
            code = ExitCode::Undecided;
            continue;
        }
        let round = page.round.filter(|_| document.only().is_none());
        let alone = round.and_then(|round| Document::for_round(session, document.source.clone(), round));
        let record = alone.as_ref().unwrap_or(document);
        let title = report::file_title(record);
        let path = match (folder, wanted.number) {
            (Some(folder), Some(first)) => Some(numbered(folder, first + at as u32, &title)?),
            (Some(folder), None) => Some(folder.join(format!("{title}.md"))),
            (None, _) => out.map(Path::to_owned),
        };
        write_or_print(path.as_deref(), &report::madr(record), output)?;
    }
    Ok(code)
}
