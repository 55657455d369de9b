//! `calibrate`: records what turned out right, and shows how often results, seats and models were.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use serde_json::json;

use super::args::CalibrateArgs;
use super::browse::{folders, saved, session_file};
use super::console::Console;
use super::files::{log_of, write_report};
use super::verb_result::VerbResult;
use crate::clock;
use crate::config::dirs::Dirs;
use crate::config::outcomes::{RecordedOutcome, read_outcomes, record_outcome};
use crate::core::ExitCode;
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::history::{RoundRun, Session};
use crate::insight::calibration::{Calibration, check_outcome};
use crate::insight::pluralize;
use crate::journal::{fold_to_show, read_log};
use crate::report;
use crate::sanitize::harmless_line;

/// Records an outcome if one is given, else shows the track record.
pub fn run(args: &CalibrateArgs, trusts: bool, output: &mut Console) -> VerbResult {
    output.json = args.json;
    match (&args.was, args.files.as_slice()) {
        (None, files) => show(files, args.out.as_deref(), trusts, output),
        (Some(was), [file]) => record(file, was, args, trusts, output),
        (Some(_), _) => {
            let problem = Diagnostic::new("--was belongs to one session");
            Err(problem.hint("record each session alone").into())
        }
    }
}

fn record(file: &Path, was: &str, args: &CalibrateArgs, trusts: bool, output: &mut Console) -> VerbResult {
    let folders = folders(trusts, output)?;
    let path = session_file(file);
    let log = log_of(&path, output)?;
    let hash = log.lines.last().map(|line| line.hash.clone()).unwrap_or_default();
    let session = fold_to_show(log);
    if session.closed.is_none() {
        let problem = Diagnostic::new("the session is not finished").with_file(&path.display().to_string());
        return Err(problem.hint(format!("resume it with `roundtable resume {}`", path.display())).into());
    }
    let round = round_of(&session, args.round.as_deref())?;
    check_outcome(round, was).map_err(|unfit| Diagnostic::new(unfit.why).hint(unfit.hint))?;
    let is_saved = saved(&folders).contains(&path);
    let inside = path.canonicalize().ok().zip(folders.project.canonicalize().ok());
    let inside =
        inside.and_then(|(path, project)| Some(path.strip_prefix(project).ok()?.display().to_string()));
    let outcome = RecordedOutcome {
        session: session.id.clone(),
        hash,
        file: inside.filter(|_| !is_saved),
        round: round.opened.round.clone(),
        was: was.to_owned(),
        note: args.note.clone(),
        at: clock::now(),
    };
    let to = record_outcome(&folders, &outcome)?;
    output.note(&format!("recorded: round {} was {} (in {to})", outcome.round, outcome.was));
    if outcome.file.is_none() && !is_saved {
        output.note("the session is outside the project: name its file again to have it counted");
    }
    Ok(ExitCode::Finished)
}

/// The round that is meant: the named one, else the last one with options, stances or estimates.
fn round_of<'a>(session: &'a Session, named: Option<&str>) -> Result<&'a RoundRun, Diagnostic> {
    if let Some(named) = named {
        return session.round(named).ok_or_else(|| {
            let known: Vec<&str> = session.rounds.iter().map(|round| round.opened.round.as_str()).collect();
            Diagnostic::new(format!("this session has no round `{named}`")).hint(did_you_mean(named, &known))
        });
    }
    let is_countable = |round: &&RoundRun| round.opened.ballot.kind.spec().countable().is_some();
    session.rounds.iter().rev().find(is_countable).ok_or_else(|| {
        Diagnostic::new("this session has no round whose answers could be right or wrong")
            .hint("rounds with options, consent or estimates have such answers")
    })
}

/// Shows the track record over all recorded outcomes; `files` are sessions outside the project.
fn show(files: &[PathBuf], out: Option<&Path>, trusts: bool, output: &mut Console) -> VerbResult {
    let folders = folders(trusts, output)?;
    let mut latest: IndexMap<(String, String), RecordedOutcome> = IndexMap::new();
    for outcome in read_outcomes(&folders)? {
        latest.insert((outcome.session.clone(), outcome.round.clone()), outcome);
    }
    if latest.is_empty() {
        output.note("no outcomes recorded yet; roundtable calibrate FILE --was OPTION records one");
    }
    let mut sessions: IndexMap<String, Result<(String, Session), String>> = IndexMap::new();
    for path in files.iter().map(|file| session_file(file)) {
        let (session, hash) = read(&path)?;
        sessions.insert(session.id.clone(), Ok((hash, session)));
    }
    let mut found = Calibration::default();
    let mut left_out = Vec::new();
    for outcome in latest.values() {
        let session = sessions.entry(outcome.session.clone()).or_insert_with(|| find(&folders, outcome));
        if let Err(why) = count(outcome, session, &mut found) {
            left_out.push(format!("{}, round {}: {why}", outcome.session, outcome.round));
        }
    }
    if let Some(out) = out {
        return write_report(out, report::calibration_html(&found, &left_out).as_bytes(), output);
    }
    if output.json {
        let mut json = found.json();
        json["left_out"] = json!(left_out);
        output.line(&report::safe_json(&json));
        return Ok(ExitCode::Finished);
    }
    print(&found, &left_out, output);
    Ok(ExitCode::Finished)
}

fn count(
    outcome: &RecordedOutcome,
    session: &Result<(String, Session), String>,
    found: &mut Calibration,
) -> Result<(), String> {
    let (hash, session) = session.as_ref().map_err(Clone::clone)?;
    if *hash != outcome.hash {
        return Err("its file is not the one the outcome was recorded for: another last hash".to_owned());
    }
    let round = session.round(&outcome.round).ok_or("the session has no such round")?;
    check_outcome(round, &outcome.was).map_err(|unfit| unfit.why)?;
    found.count(session, round, &outcome.was);
    Ok(())
}

/// The session of an outcome: the file it names inside the project, else the saved one of its id.
fn find(folders: &Dirs, outcome: &RecordedOutcome) -> Result<(String, Session), String> {
    let path = if let Some(file) = &outcome.file {
        let path = folders.project.join(file);
        if Path::new(file).is_absolute() {
            return Err(format!("`{file}` is an absolute path"));
        }
        folders.path_policy(None).check(&path).map_err(|problem| problem.message)?;
        path
    } else {
        let is_it = |path: &PathBuf| path.file_stem().is_some_and(|stem| *stem == *outcome.session);
        saved(folders).into_iter().find(is_it).ok_or("no saved session has this id")?
    };
    let (session, hash) = read(&path).map_err(|problem| problem.to_string())?;
    if session.id != outcome.session {
        return Err(format!("{} holds the session {}", path.display(), session.id));
    }
    Ok((hash, session))
}

/// Reads a session with its last hash.
fn read(path: &Path) -> Result<(Session, String), Diagnostic> {
    let bytes = crate::launch::session_file::bytes_of(path)?;
    let log = read_log(&bytes).map_err(|damage| {
        crate::launch::session_file::damage_problem(&damage, &path.display().to_string())
    })?;
    let hash = log.lines.last().map(|line| line.hash.clone()).unwrap_or_default();
    Ok((fold_to_show(log), hash))
}

fn print(found: &Calibration, left_out: &[String], output: &mut Console) {
    for line in found.summary() {
        output.line(&line);
    }
    for (heading, rows) in found.tables() {
        let names: Vec<String> = rows.iter().map(|(name, _)| harmless_line(name)).collect();
        let width = names.iter().map(|name| name.chars().count()).chain([heading.len()]).max().unwrap_or(0);
        output.line(&format!("\n{heading:width$}  {:>10}  {:>6}  95 % interval", "right", "share"));
        for (name, (_, share)) in names.iter().zip(&rows) {
            let counts = format!("{} of {}", share.right, share.of);
            let few = if share.is_few() && share.of > 0 { "  few" } else { "" };
            let (share, interval) = (report::percent(*share), report::interval(*share));
            let row = format!("{name:width$}  {counts:>10}  {share:>6}  {interval:<13}{few}");
            output.line(row.trim_end());
        }
    }
    if let Some(brier) = found.brier {
        output.line(&format!(
            "\nBrier score {brier:.3}: 0 is best, and 0.25 is what stating 50 % every time gets"
        ));
    }
    if !left_out.is_empty() {
        output.line(&format!("\nNot counted: {}", pluralize(left_out.len(), "outcome")));
        for line in left_out {
            output.line(&format!("  {}", harmless_line(line)));
        }
    }
}
