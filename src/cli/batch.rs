//! `--batch`: definitions and unfinished sessions, one after another, without a person.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use clap::CommandFactory as _;
use tokio_util::sync::CancellationToken;

use super::args::{Args, Run, ServeArgs};
use super::browse::session_file;
use super::console::{Console, VerbResult, fail, is_on_terminal};
use super::door::check_links;
use super::files::check_out;
use super::headless::{RunContext, cancel_on_signal, run_session};
use super::options::{environment, launch_options, load_plan};
use super::serve::ServedDoor;
use super::{dry_run, resume, tui_host};
use crate::config::dirs::Dirs;
use crate::core::ExitCode;
use crate::diagnostic::{Diagnostic, nearest};
use crate::launch::prepare::{LaunchOptions, load_definition, prepare};
use crate::launch::run::{raise_descriptor_limit, runtime};
use crate::launch::seat::{begin, measured};
use crate::tui::OpenTarget;

/// Runs every file; the exit code is the highest.
pub fn run(run: &Run, output: &mut Console) -> VerbResult {
    *output = Console::of(&run.common);
    if output.result_only && (!run.batch || run.trial.dry_run) {
        let problem = Diagnostic::new("--json=result needs a run");
        return Err(problem.hint("roundtable --batch FILE --json=result, without --dry-run").into());
    }
    if !run.batch {
        if !run.common.out.is_empty() {
            let problem = Diagnostic::new("--out needs --batch");
            return Err(problem
                .hint("`roundtable report SESSION --out FILE` reports a saved session")
                .into());
        }
        if let [file] = run.files.as_slice()
            && is_session(file)
            && file.exists()
        {
            return if is_on_terminal() {
                tui_host::show(run, Some(OpenTarget::Replay(file.clone())))
            } else {
                super::files::replay(file, None, output)
            };
        }
        let is_lost = |file: &PathBuf| !file.exists();
        if is_on_terminal() && run.files.len() <= 1 && !run.files.iter().any(is_lost) {
            let opening = run.files.first().map(|file| OpenTarget::File(file.clone()));
            return tui_host::show(run, opening);
        }
        return Err(interactive(run.files.first().map(PathBuf::as_path)).into());
    }
    run_headless(run, None, output)
}

/// `serve`: as `--batch`, with a door for remote seats.
pub fn serve(args: &ServeArgs, trust: bool, output: &mut Console) -> VerbResult {
    *output = Console::of(&args.common);
    let door = ServedDoor::bind(args, trust)?;
    run_headless(&Run { trust, ..args.into() }, Some(&door), output)
}

fn run_headless(run: &Run, door: Option<&ServedDoor<'_>>, output: &mut Console) -> VerbResult {
    if run.files.is_empty() {
        return Err(Diagnostic::new("--batch needs a file").hint("roundtable --batch FILE...").into());
    }
    check_save(run)?;
    check_out(&run.common.out, None)?;
    if !run.common.out.is_empty() && run.files.len() > 1 {
        let problem = Diagnostic::new("--out writes the reports of one session");
        return Err(problem.hint("run the files one by one, or use `roundtable report` afterwards").into());
    }
    let mut set_up = environment(run.trust, output)?;
    let runtime = runtime()?;
    raise_descriptor_limit();
    let options = launch_options(run, &mut set_up)?;
    if let Some(doubt) = run.input.as_deref().and_then(warn_json_like_input) {
        output.warn(&doubt);
    }
    let mut highest = ExitCode::Finished;
    let interrupt = CancellationToken::new();
    let ended_by = Arc::new(OnceLock::new());
    runtime.spawn(cancel_on_signal(interrupt.clone(), Arc::clone(&ended_by)));
    let context = RunContext {
        set_up: &set_up,
        runtime: &runtime,
        interrupt: &interrupt,
        ended_by: &ended_by,
        ask_again: run.common.ask_again,
        out: &run.common.out,
        door,
    };
    for (index, file) in run.files.iter().enumerate() {
        if interrupt.is_cancelled() {
            let (left, all) = (run.files.len() - index, run.files.len());
            output.note(&format!("interrupted: {left} of {all} files not started"));
            highest = ended_by.get().copied().unwrap_or(highest);
            break;
        }
        let done = if is_session(file) {
            resume::resume_file(file, run, &options, &context, output)
        } else {
            run_file(file, run, &options, &context, output)
        };
        highest = highest.max(done.unwrap_or_else(|error| fail(&error, output)));
    }
    runtime.shutdown_background();
    Ok(highest)
}

/// `resume FILE...`: as `--batch` with sessions only.
pub fn resume_files(args: &Run, output: &mut Console) -> VerbResult {
    *output = Console::of(&args.common);
    if args.files.is_empty() {
        let problem = Diagnostic::new("resume needs a session");
        return Err(problem.hint("roundtable resume FILE.s2s; `roundtable sessions` lists them").into());
    }
    let files: Vec<PathBuf> = args.files.iter().map(|file| session_file(file)).collect();
    for file in &files {
        if !is_session(file) {
            let problem =
                Diagnostic::new("only a session can be resumed").with_file(&file.display().to_string());
            return Err(problem.hint("give a `.s2s` file; `roundtable sessions` lists them").into());
        }
    }
    run_headless(&Run { files, ..args.clone() }, None, output)
}

/// Starts a new session of a definition and runs it.
fn run_file(
    file: &Path,
    args: &Run,
    options: &LaunchOptions,
    context: &RunContext<'_>,
    output: &mut Console,
) -> VerbResult {
    let set_up = context.set_up;
    let plan = match &args.text {
        Some(text) => load_definition(text.clone(), file.display().to_string(), &set_up.folders)?.0,
        None => load_plan(file, &set_up.folders, output)?,
    };
    let opening = prepare(plan, options, set_up, &mut |notice| output.warn(notice))?;
    for past in &opening.header.linked_sessions {
        let hash = past.sha256.get(..12).unwrap_or_default();
        output.note(&format!("linked: {} ({}, hash {hash}…): {}", past.id, past.status, past.report));
    }
    if context.door.is_some() {
        check_links(&opening.header)?;
    }
    if args.trial.dry_run {
        return dry_run::run(opening, options, set_up, output);
    }
    if let Some(notice) = set_up.catalog().unneeded(&opening.needs) {
        output.warn(&notice);
    }
    let path = save_path(args, &opening.header.session, &set_up.folders)?;
    let header = measured(&opening.header, options, set_up, &mut |notice| output.warn(notice))?;
    let ready = begin(header, path, options, set_up, None)?;
    run_session(ready, context, output)
}

/// Words that people try as commands, and where they find what they want.
const INSTEAD: &[(&str, &str)] = &[
    ("config", "`roundtable doctor` prints every setting and where it comes from"),
    #[cfg(not(feature = "nats"))]
    ("worker", "this program was built without it: build it with `--features nats`"),
    ("seat", "open the link in a browser: `roundtable serve` prints one for each person"),
];

/// What is said where the screen will be: the next best thing for this file.
pub fn interactive(file: Option<&Path>) -> Diagnostic {
    let Some(file) = file else {
        return Diagnostic::new("the terminal UI needs a terminal")
            .hint("use roundtable --batch FILE; see --help");
    };
    let name = file.display().to_string();
    if !file.exists() && file != Path::new("-") {
        let command = Args::command();
        let verbs: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        if let Some((_, hint)) = INSTEAD.iter().find(|(word, _)| *word == name) {
            return Diagnostic::new(format!("there is no command and no file `{name}`")).hint(*hint);
        }
        let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        return match nearest(&name, verbs.iter().copied()).filter(|_| is_word) {
            Some(verb) => Diagnostic::new(format!("there is no command and no file `{name}`"))
                .hint(format!("did you mean `roundtable {verb}`?")),
            None => Diagnostic::new("there is no such file").hint("check the path").with_file(&name),
        };
    }
    if is_session(file) {
        return Diagnostic::new("interactive replay needs a terminal").hint(format!(
            "`roundtable replay {name} --text` prints it, `roundtable resume {name}` goes on"
        ));
    }
    Diagnostic::new("the terminal UI needs a terminal, and shows one file at a time")
        .hint(format!("`roundtable --batch {name}` runs it headless"))
}

fn is_session(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "s2s")
}

/// `--save` with several files names a folder; anything else is refused before the first one runs.
fn check_save(run: &Run) -> Result<(), Diagnostic> {
    let Some(path) = &run.save else { return Ok(()) };
    if run.files.len() > 1 && path.exists() && !path.is_dir() {
        let problem = Diagnostic::new("--save must be a directory for several inputs");
        return Err(problem.hint("give --save a folder").with_file(&path.display().to_string()));
    }
    Ok(())
}

fn save_path(args: &Run, id: &str, folders: &Dirs) -> Result<PathBuf, Diagnostic> {
    Ok(match &args.save {
        None => folders.sessions_to_write()?.join(format!("{id}.s2s")),
        Some(path) if args.files.len() > 1 || path.is_dir() => path.join(format!("{id}.s2s")),
        Some(path) => path.clone(),
    })
}

/// A warning when an input begins like JSON and is none.
fn warn_json_like_input(text: &str) -> Option<Diagnostic> {
    let is_json = text.trim_start().starts_with(['{', '[']);
    let error = serde_json::from_str::<serde_json::Value>(text).err().filter(|_| is_json)?;
    let problem =
        Diagnostic::new(format!("--input begins like JSON and is not, so it is taken as text: {error}"));
    Some(problem.hint("check its quotes and brackets"))
}
