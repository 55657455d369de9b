//! Resumes an unfinished session, headless.

use std::path::Path;

use super::args::Run;
use super::console::{Console, VerbResult};
use super::files::source;
use super::headless::{RunContext, close_workers, run_session};
use crate::core::exit_code;
use crate::diagnostic::Diagnostic;
use crate::history::Session;
use crate::journal::{Disk, KeyStore, fold};
use crate::launch::environment::Environment;
use crate::launch::prepare::LaunchOptions;
use crate::launch::seat::Launcher;
use crate::launch::session_file::open_session;
use crate::report::{self, Document};

/// Continues an unfinished session; one that is over is reported again.
pub fn resume_file(
    path: &Path,
    args: &Run,
    options: &LaunchOptions,
    context: &RunContext<'_>,
    output: &mut Console,
) -> VerbResult {
    let set_up = context.set_up;
    let opened = open_session(path)?;
    let session = fold(&opened.log);
    if let Some(aside) = &opened.torn {
        let problem = Diagnostic::new(format!("removed {} bytes of an incomplete write", opened.log.torn));
        let problem = problem.with_file(&path.display().to_string());
        output.warn(&problem.hint(format!("saved them to {}", aside.display())));
    }
    if let Some(closed) = &session.closed {
        erase_keys(&session, set_up, output);
        output.note(&format!("session already finished: {}", closed.status.name()));
        let exit = exit_code(&session, closed.status);
        let document = Document::new(&session, source(path, &opened.log));
        if !output.is_for_scripts() {
            output.bytes(report::markdown(&document).as_bytes());
        }
        output.result_line(&document, exit, path);
        close_workers(&session, context, output);
        return Ok(exit);
    }
    warn_of_ignored(args, output);
    let launcher = Launcher { options, set_up, desk: None };
    let ready = launcher.resume(session, opened, path, &mut |notice| output.warn(notice))?;
    run_session(ready, context, output)
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
        ("--input", args.opening.input.is_some()),
        ("--model", !args.opening.model.is_empty()),
        ("--participants", !args.participants.is_empty()),
        ("--invite", !args.invite.is_empty()),
        ("--save", args.opening.save.is_some()),
        ("--seed", args.seed.is_some()),
        ("--dry-run", args.trial.dry_run),
        ("--rehearse", args.trial.rehearse),
    ];
    for (flag, _) in given.into_iter().filter(|(_, is_given)| *is_given) {
        let problem = Diagnostic::new(format!("{flag} has no effect when resuming"));
        output.warn(&problem.hint("it keeps what it was opened with, and its file"));
    }
}
