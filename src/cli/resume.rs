//! Going on with an unfinished session, headless.

use std::path::Path;

use super::VerbResult;
use super::args::Run;
use super::batch::{budget, refuse_manual};
use super::console::Console;
use super::files::refuse_damaged;
use super::plan::{Environment, PROGRAM};
use super::work::{ReadySession, RunContext, run_session};
use crate::config::dirs::unreadable;
use crate::config::path_policy::PathPolicy;
use crate::config::tasks::TaskFile;
use crate::core::{Command, ExitCode, UnwrittenTask, exit_code, not_written};
use crate::diagnostic::Diagnostic;
use crate::history::Session;
use crate::journal::{
    Disk, DiskError, Journal, KeyStore, OpenJournalError, OpenedJournal, fold, fold_to_show,
};
use crate::launch::scripted_answers::Answers;
use crate::launch::seating::{outside, personas_of, seat_participants};
use crate::report;

/// Goes on with an unfinished session; one that is over is reported again.
pub fn resume_headless(
    path: &Path,
    args: &Run,
    mut answers: Answers,
    set_up: &Environment,
    bench: &RunContext<'_>,
    output: &mut Console,
) -> VerbResult {
    let opened = match open(path, output)? {
        Ok(opened) => opened,
        Err(exit) => return Ok(exit),
    };
    let session = fold(&opened.log);
    if let Some(aside) = &opened.torn {
        let problem = Diagnostic::new(format!("removed {} bytes of an incomplete write", opened.log.torn));
        let problem = problem.with_file(&path.display().to_string());
        output.warn(&problem.hint(format!("saved them to {}", aside.display())));
    }
    if let Some(closed) = &session.closed {
        erase_keys(&session, set_up, output);
        output.note(&format!("session already finished: {}", closed.status.name()));
        if !output.json {
            output.bytes(report::markdown(&fold_to_show(opened.log)).as_bytes());
        }
        return Ok(exit_code(&session, closed.status).max(write_tasks(&session, set_up, output)));
    }
    warn_of_ignored(args, output);
    answers.resume(&session);
    if let Some(definition) = &session.definition {
        let file = session.header.as_ref().map_or("", |header| header.definition_file.as_str());
        refuse_manual(definition, file)?;
        answers.check(definition)?;
        for problem in answers.unused_answers(definition) {
            output.warn(&problem);
        }
    }
    let led_out = outside(&session, &answers, &PathPolicy::for_project(&set_up.folders, path.to_str()));
    if !led_out.is_empty() {
        return Err(led_out);
    }
    let table = seat_participants(&session, &mut set_up.catalog(), &answers)?;
    let budget = budget(args, &session, set_up)?;
    let torn_bytes = opened.log.torn as u64;
    let start = Command::Resume { program: PROGRAM.to_owned(), torn_bytes };
    let personas = personas_of(&session);
    let seated = ReadySession {
        session,
        journal: opened.journal,
        personas,
        table,
        answers,
        budget,
        path: path.to_owned(),
    };
    Ok(run_session(seated, start, args, set_up, bench, output))
}

/// Opens a session file and locks it; a damaged one is refused with its exit code.
fn open(path: &Path, output: &mut Console) -> Result<Result<OpenedJournal, ExitCode>, Vec<Diagnostic>> {
    let file = path.display().to_string();
    if !path.is_file() {
        let missing = std::fs::File::open(path).err();
        let cause = missing.unwrap_or_else(|| std::io::ErrorKind::IsADirectory.into());
        return Err(vec![unreadable(path, &cause)]);
    }
    match Journal::open(&Disk::default(), path) {
        Ok(opened) => Ok(Ok(opened)),
        Err(OpenJournalError::Disk(error)) => Err(vec![not_opened(&error, &file)]),
        Err(error @ OpenJournalError::NothingRecorded) => {
            let problem = Diagnostic::new(error.to_string()).with_file(&file);
            Err(vec![problem.hint("remove it and run the definition again")])
        }
        Err(OpenJournalError::Damage(damage)) => Ok(Err(refuse_damaged(&damage, &file, output))),
    }
}

/// A session file that cannot be opened, as a person reads of it: who holds it, if somebody does.
pub fn not_opened(error: &DiskError, file: &str) -> Diagnostic {
    match error.locked {
        Some(holder) => Diagnostic::new(format!("session locked by {holder}"))
            .hint("wait for it, or stop it")
            .with_file(file),
        None => Diagnostic::new(error.to_string()),
    }
}

/// Writes what a finished session could not write to the file of its tasks.
fn write_tasks(session: &Session, set_up: &Environment, output: &Console) -> ExitCode {
    let mut exit = ExitCode::Finished;
    for UnwrittenTask { mark, .. } in session.unwritten_tasks() {
        let file = session.tasks_file().unwrap_or_default();
        match TaskFile::of(&set_up.folders, file).mark(&mark) {
            Ok(()) => output.note(&format!("written: {} {} to {file}", mark.task, mark.status)),
            Err(why) => {
                output.note(&format!("warning: {}", not_written(&mark.task, file, &why)));
                exit = ExitCode::Failure;
            }
        }
    }
    exit
}

/// Keys that a finished session left behind because they could not be removed then.
fn erase_keys(session: &Session, set_up: &Environment, output: &Console) {
    for error in KeyStore::new(Disk::default(), &set_up.folders.keys()).erase_all(session) {
        output.warn(&Diagnostic::new(error.to_string()).hint("its key is published; remove the file"));
    }
}

/// A session goes on as it was opened; flags that say otherwise are named.
fn warn_of_ignored(args: &Run, output: &Console) {
    let given = [
        ("--input", args.input.is_some()),
        ("--model", !args.model.is_empty()),
        ("--participants", !args.participants.is_empty()),
        ("--save", args.save.is_some()),
        ("--seed", args.seed.is_some()),
        ("--dry-run", args.dry_run),
    ];
    for (flag, _) in given.into_iter().filter(|(_, is_given)| *is_given) {
        let problem = Diagnostic::new(format!("{flag} has no effect when resuming"));
        output.warn(&problem.hint("it keeps what it was opened with, and its file"));
    }
}
