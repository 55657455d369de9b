//! `--batch`: definitions and unfinished sessions, one after another, without a person.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use clap::CommandFactory as _;
use tokio_util::sync::CancellationToken;

use super::args::{Args, ResumeArgs, Run, ServeArgs};
use super::browse::{newest_session, quoted, session_file};
use super::console::{Console, VerbResult, fail, is_on_terminal};
use super::files::check_out;
use super::headless::{RunContext, cancel_on_signal, resume_file, run_session};
use super::link_door::check_links;
use super::options::{environment, launch_options};
use super::serve::ServedDoor;
use super::{dry_run, tui_host};
use crate::config::dirs::Dirs;
use crate::config::read_file::no_such_file;
use crate::core::ExitCode;
use crate::diagnostic::{Diagnostic, nearest};
use crate::launch::environment::Environment;
use crate::launch::error::RunError;
use crate::launch::plan::{LaunchOptions, read_definition};
use crate::launch::prepare::{Opening, prepare};
use crate::launch::run::{raise_descriptor_limit, runtime};
use crate::launch::seat::Launcher;
use crate::launch::session_file::read_session;
use crate::tui::OpenTarget;
use crate::words::meant;

/// Runs every file; the exit code is the highest.
pub fn run(run: &Run, output: &mut Console) -> VerbResult {
    *output = Console::of(&run.common);
    if output.is_for_scripts() && (!run.batch || run.dry_run) {
        let problem = Diagnostic::new("--json needs a run");
        return Err(problem.hint("roundtable run FILE --json, without --dry-run").into());
    }
    if run.batch {
        return run_headless(run, None, output);
    }
    if !run.common.out.is_empty() {
        let problem = Diagnostic::new("--out needs a run without the terminal UI");
        let hint =
            "`roundtable run FILE --out REPORT`, or `roundtable report --out REPORT` for a saved session";
        return Err(problem.hint(hint).into());
    }
    let files: Vec<PathBuf> = run.files.iter().map(|file| session_file(file)).collect();
    match files.as_slice() {
        [file] if is_session(file) && file.exists() && !is_on_terminal() => {
            super::files::replay(file, None, output)
        }
        [] if is_on_terminal() => tui_host::show(run, None),
        [file] if is_on_terminal() && file.exists() => {
            let is_saved = is_session(file);
            let open = if is_saved { OpenTarget::Replay } else { OpenTarget::File };
            tui_host::show(run, Some(open(file.clone())))
        }
        _ => Err(interactive(files.first().map(PathBuf::as_path)).into()),
    }
}

/// `serve`: as `run`, with a door for remote seats.
pub fn serve(args: &ServeArgs, output: &mut Console) -> VerbResult {
    *output = Console::of(&args.common);
    let door = ServedDoor::bind(args)?;
    run_headless(&args.into(), Some(&door), output)
}

pub enum HeadlessInput {
    New(Box<Opening>),
    Saved(PathBuf),
}

/// Looks at all files, and runs them one by one if nothing is wrong with any.
fn run_headless(run: &Run, door: Option<&ServedDoor<'_>>, output: &mut Console) -> VerbResult {
    if run.files.is_empty() {
        return Err(Diagnostic::new("there is nothing to run").hint("roundtable run FILE...").into());
    }
    check_places(run)?;
    let mut set_up = environment(run.common.trust.trust, output)?;
    let options = launch_options(run, &mut set_up)?;
    let (mut inputs, mut found) = (Vec::new(), RunError::from(Vec::new()));
    for file in &run.files {
        match look(file, run, &options, &set_up, door.is_some(), output) {
            Ok(input) => inputs.push(input),
            Err(error) => {
                found.exit = found.exit.max(error.exit);
                found.problems.extend(error.problems);
            }
        }
    }
    if !found.problems.is_empty() {
        return Err(found);
    }
    hold(inputs, run, &options, &set_up, door, output)
}

/// Prepares a new session of a definition, or sees that a saved one can be read.
fn look(
    file: &Path,
    run: &Run,
    options: &LaunchOptions,
    set_up: &Environment,
    is_served: bool,
    output: &Console,
) -> Result<HeadlessInput, RunError> {
    let file = session_file(file);
    if is_session(&file) {
        if run.files.len() > 1 {
            read_session(&file)?;
        }
        return Ok(HeadlessInput::Saved(file));
    }
    let plan = read_definition(&file, &set_up.folders)?;
    let opening = prepare(plan, options, set_up, &mut |notice| output.warn(notice))?;
    if is_served {
        check_links(&opening.header)?;
    }
    Ok(HeadlessInput::New(Box::new(opening)))
}

/// Runs sessions one after another; the exit code is the highest.
pub fn hold(
    inputs: Vec<HeadlessInput>,
    run: &Run,
    options: &LaunchOptions,
    set_up: &Environment,
    door: Option<&ServedDoor<'_>>,
    output: &mut Console,
) -> VerbResult {
    let runtime = runtime()?;
    raise_descriptor_limit();
    let interrupt = CancellationToken::new();
    let ended_by = Arc::new(OnceLock::new());
    runtime.spawn(cancel_on_signal(interrupt.clone(), Arc::clone(&ended_by)));
    let launcher = Launcher { options, set_up, desk: None };
    let context =
        RunContext { launcher, runtime: &runtime, interrupt: &interrupt, ended_by: &ended_by, run, door };
    let (all, mut highest) = (inputs.len(), ExitCode::Finished);
    for (index, input) in inputs.into_iter().enumerate() {
        if interrupt.is_cancelled() {
            output.note(&format!("interrupted: {} of {all} files not started", all - index));
            highest = ended_by.get().copied().unwrap_or(highest);
            break;
        }
        let done = match input {
            HeadlessInput::Saved(file) => resume_file(&file, &context, output),
            HeadlessInput::New(opening) => begin_session(*opening, &context, output),
        };
        highest = highest.max(done.unwrap_or_else(|error| fail(&error, output)));
    }
    runtime.shutdown_background();
    Ok(highest)
}

pub fn resume_files(args: ResumeArgs, output: &mut Console) -> VerbResult {
    *output = Console::of(&args.common);
    let mut run = Run::from(args);
    if run.files.is_empty() {
        run.files.push(newest_session(output)?);
    }
    if let Some(file) = run.files.iter().map(|file| session_file(file)).find(|file| !is_session(file)) {
        let problem = Diagnostic::new("only a session can be resumed");
        let hint = "give a `.s2s` file or an id that `roundtable sessions` lists";
        return Err(problem.with_file(&file.display().to_string()).hint(hint).into());
    }
    run_headless(&run, None, output)
}

fn begin_session(opening: Opening, context: &RunContext<'_>, output: &mut Console) -> VerbResult {
    let Launcher { options, set_up, .. } = context.launcher;
    for past in &opening.header.linked_sessions {
        let hash = past.sha256.get(..12).unwrap_or_default();
        output.note(&format!("linked: {} ({}, hash {hash}…): {}", past.id, past.status, past.report));
    }
    if context.run.dry_run {
        return dry_run::run(opening, options, set_up, output);
    }
    if let Some(notice) = set_up.catalog().unneeded(&opening.needs) {
        output.warn(&notice);
    }
    let path = save_path(context.run, &opening.header.session, &set_up.folders)?;
    let header = context.launcher.measured(&opening.header, &mut |notice| output.warn(notice))?;
    let ready = context.launcher.begin(header, &path)?;
    run_session(ready, context, output)
}

/// Says what to do instead of opening this file on the screen.
fn interactive(file: Option<&Path>) -> Diagnostic {
    let Some(file) = file else {
        return Diagnostic::new("the terminal UI needs a terminal")
            .hint("use `roundtable run FILE`; see --help");
    };
    let name = file.display().to_string();
    if !file.exists() && file != Path::new("-") {
        let no_file = no_such_file(file);
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
            return no_file.with_file(&name);
        }
        let command = Args::command();
        let verb = nearest(&name, command.get_subcommands().map(clap::Command::get_name));
        let hint = match (meant("verb", &name), verb, no_file.hint) {
            (Some((_, hint)), ..) => hint.to_owned(),
            (None, Some(verb), _) => format!("did you mean `roundtable {verb}`?"),
            (None, None, Some(hint)) if hint.starts_with("did you mean") => hint,
            _ => "`roundtable --help` lists the commands; `roundtable run FILE` runs a definition".to_owned(),
        };
        return Diagnostic::new(format!("there is no command and no file `{name}`")).hint(hint);
    }
    let name = quoted(&name);
    Diagnostic::new("the terminal UI needs a terminal, and shows one file at a time")
        .hint(format!("`roundtable run {name}` runs it without one"))
}

fn is_session(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "s2s")
}

/// Refuses places that cannot hold what several files would write there.
pub fn check_places(run: &Run) -> Result<(), Diagnostic> {
    check_out(&run.common.out, None)?;
    let is_several = run.files.len() > 1;
    if is_several && !run.common.out.is_empty() {
        let problem = Diagnostic::new("--out writes the reports of one session");
        return Err(problem.hint("run the files one by one, or use `roundtable report` afterwards"));
    }
    match &run.opening.save {
        Some(path) if is_several && path.exists() && !path.is_dir() => {
            let problem = Diagnostic::new("--save must be a directory for several inputs");
            Err(problem.hint("give --save a folder").with_file(&path.display().to_string()))
        }
        _ => Ok(()),
    }
}

fn save_path(args: &Run, id: &str, folders: &Dirs) -> Result<PathBuf, Diagnostic> {
    Ok(match &args.opening.save {
        None => folders.sessions_to_write()?.join(format!("{id}.s2s")),
        Some(path) if args.files.len() > 1 || path.is_dir() => path.join(format!("{id}.s2s")),
        Some(path) => path.clone(),
    })
}
