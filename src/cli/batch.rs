//! `--batch`: definitions and unfinished sessions, one after another, without a person.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use clap::CommandFactory as _;
use tokio_util::sync::CancellationToken;

use super::args::{Args, Run};
use super::browse::session_file;
use super::console::{Console, fail, fail_to_write, is_on_terminal};
use super::plan::{
    Environment, PreparedSession, load_plan, rehearsed_tasks, session_id, warn_json_like_input,
};
use super::receipts::Receipts;
use super::work::{ReadySession, RunContext, cancel_on_signal, run_session};
use super::{VerbResult, dry_run};
use crate::config::dirs::read_text;
use crate::config::prices::{price_of, unpriced};
use crate::core::{Command, ExitCode};
use crate::diagnostic::{Diagnostic, nearest};
use crate::engine::Budget;
use crate::history::{Event, Price, Session, TimedEvent};
use crate::journal::{Disk, DiskError, Journal};
use crate::launch::roster::ModelFlags;
use crate::launch::scripted_answers::Answers;
use crate::launch::seating::{personas_of, seat_participants};
use crate::tui::OpenTarget;
use crate::workflow::{Definition, needs_screen, recheck};

/// Runs every file; the exit code is the highest.
pub fn run(run: &Run, output: &mut Console) -> VerbResult {
    if !run.batch {
        if run.receipts.is_some() {
            let problem = Diagnostic::new("--receipts needs --batch");
            return Err(vec![
                problem.hint("the screen shows every seal; `--batch FILE --receipts OUT` runs headless"),
            ]);
        }
        if let [file] = run.files.as_slice()
            && is_session(file)
            && file.exists()
        {
            return if is_on_terminal() {
                super::face::show(run, Some(OpenTarget::Replay(file.clone())))
            } else {
                super::files::replay(file, None, output)
            };
        }
        let is_lost = |file: &PathBuf| !file.exists();
        if is_on_terminal() && run.files.len() <= 1 && !run.files.iter().any(is_lost) {
            let opening = run.files.first().map(|file| OpenTarget::File(file.clone()));
            return super::face::show(run, opening);
        }
        return Err(vec![interactive(run.files.first().map(PathBuf::as_path))]);
    }
    if run.files.is_empty() {
        return Err(vec![Diagnostic::new("--batch needs a file").hint("roundtable --batch FILE...")]);
    }
    check_save(run)?;
    let set_up = Environment::find_and_tell(run.trust, output)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(8 << 20)
        .build()
        .map_err(|error| vec![Diagnostic::new(format!("the runtime cannot start: {error}"))])?;
    raise_descriptor_limit();
    let answers = read_answers(run)?;
    if let Some(doubt) = run.input.as_deref().and_then(warn_json_like_input) {
        output.warn(&doubt);
    }
    let receipts = run.receipts.as_ref().filter(|_| !run.dry_run);
    let receipts = receipts.map(|path| Receipts::create(path)).transpose()?;
    let mut highest = ExitCode::Finished;
    let interrupt = CancellationToken::new();
    let ended_by = Arc::new(OnceLock::new());
    runtime.spawn(cancel_on_signal(interrupt.clone(), Arc::clone(&ended_by)));
    let receipts = receipts.as_ref();
    let bench = RunContext { runtime: &runtime, interrupt: &interrupt, ended_by: &ended_by, receipts };
    for (index, file) in run.files.iter().enumerate() {
        if interrupt.is_cancelled() {
            let (left, all) = (run.files.len() - index, run.files.len());
            output.note(&format!("interrupted: {left} of {all} files not started"));
            highest = ended_by.get().copied().unwrap_or(highest);
            break;
        }
        let exit = run_file(file, run, answers.clone(), &set_up, &bench, output)
            .unwrap_or_else(|problems| fail(&problems, output));
        highest = highest.max(exit);
    }
    runtime.shutdown_background();
    Ok(highest)
}

/// Each seat of a round holds a connection: as many may be open as the system lets one process have.
pub fn raise_descriptor_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let maximum = getrlimit(Resource::Nofile).maximum;
        // Where it is refused, what is open already stays usable; a seat beyond it fails by name.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}

/// `resume FILE...`: as `--batch` with sessions only.
pub fn resume(args: &Run, output: &mut Console) -> VerbResult {
    if args.files.is_empty() {
        let problem = Diagnostic::new("resume needs a session");
        return Err(vec![problem.hint("roundtable resume FILE.s2s; `roundtable sessions` lists them")]);
    }
    let files: Vec<PathBuf> = args.files.iter().map(|file| session_file(file)).collect();
    for file in &files {
        if !is_session(file) {
            let problem =
                Diagnostic::new("only a session can be resumed").with_file(&file.display().to_string());
            return Err(vec![problem.hint("give a `.s2s` file; `roundtable sessions` lists them")]);
        }
    }
    run(&Run { batch: true, files, ..args.clone() }, output)
}

fn run_file(
    file: &Path,
    args: &Run,
    answers: Answers,
    set_up: &Environment,
    bench: &RunContext<'_>,
    output: &mut Console,
) -> VerbResult {
    if is_session(file) {
        return super::resume::resume_headless(file, args, answers, set_up, bench, output);
    }
    let mut plan = load_plan(file, &set_up.folders, output)?;
    plan.flags = ModelFlags::parse(&args.model);
    plan.answers = answers;
    if !args.participants.is_empty() {
        plan.definition = plan.definition.with_participants(&args.participants);
        let problems = recheck(&plan.definition, &plan.file);
        if !problems.is_empty() {
            return Err(problems);
        }
    }
    refuse_manual(&plan.definition, &plan.file)?;
    plan.answers.check(&plan.definition)?;
    for problem in plan.answers.unused_answers(&plan.definition) {
        output.warn(&problem);
    }
    let roster = plan.roster(set_up)?;
    for notice in &roster.notices {
        output.warn(notice);
    }
    let id = session_id(&plan.definition.id);
    note_linked_sessions(&plan, set_up, output);
    let header = plan.header(roster, &id, (args.input.as_deref(), args.seed), &set_up.folders)?;
    let mut session = Session::default();
    let now = crate::clock::now();
    session.apply(&TimedEvent { at: now, event: Event::SessionOpened(Box::new(header.clone())) });
    if let Some(notice) = rehearsed_tasks(&session) {
        output.warn(&notice);
    }
    let needs = plan.needs(&session, set_up)?;
    if args.dry_run {
        return dry_run::run(session, &needs, now, set_up, output);
    }
    if let Some(notice) = set_up.catalog().unneeded(&needs) {
        output.warn(&notice);
    }
    let table = seat_participants(&session, &mut set_up.catalog(), &plan.answers)?;
    let budget = budget(args, &session, set_up)?;
    let path = save_path(args, &id, set_up).map_err(|problem| vec![problem])?;
    let journal = match Journal::create(&Disk::default(), &path, &id) {
        Ok(journal) => journal,
        Err(error) => return Ok(fail_to_create(&error, output)),
    };
    let start = Command::Open(Box::new(header));
    let personas = personas_of(&session);
    let seated = ReadySession {
        session: Session::default(),
        journal,
        personas,
        table,
        answers: plan.answers,
        budget,
        path,
    };
    Ok(run_session(seated, start, args, set_up, bench, output))
}

/// Says which saved sessions are linked, and which could not be read.
fn note_linked_sessions(plan: &PreparedSession, set_up: &Environment, output: &mut Console) {
    let (linked, unread) = plan.linked_sessions(&set_up.folders);
    for problem in &unread {
        output.warn(problem);
    }
    for past in &linked {
        let hash = past.sha256.get(..12).unwrap_or_default();
        output.note(&format!("linked: {} ({}, hash {hash}…): {}", past.id, past.status, past.report));
    }
}

/// Says why the session file could not be created, with the next step.
fn fail_to_create(error: &DiskError, output: &mut Console) -> ExitCode {
    let problem = Diagnostic::new(error.to_string()).hint(match error.cause.kind() {
        std::io::ErrorKind::AlreadyExists => "--save does not overwrite; choose another path",
        _ => "check the folder's permissions and room, or give another path with --save",
    });
    fail_to_write(problem, &error.cause, output)
}

/// Refuses rounds that only a facilitator at the screen can close, before anything is sent.
pub fn refuse_manual(definition: &Definition, file: &str) -> Result<(), Vec<Diagnostic>> {
    let problems = needs_screen(definition, file);
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// What is said where the screen will be: the next best thing for this file.
fn interactive(file: Option<&Path>) -> Diagnostic {
    let Some(file) = file else {
        return Diagnostic::new("the terminal UI needs a terminal")
            .hint("use roundtable --batch FILE; see --help");
    };
    let name = file.display().to_string();
    if !file.exists() && file != Path::new("-") {
        let command = Args::command();
        let verbs: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
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

/// `--save` with several files names a folder; anything else is told before the first one runs.
fn check_save(run: &Run) -> Result<(), Vec<Diagnostic>> {
    let Some(path) = &run.save else { return Ok(()) };
    if run.files.len() > 1 && path.exists() && !path.is_dir() {
        let problem = Diagnostic::new("--save must be a directory for several inputs");
        return Err(vec![problem.hint("give --save a folder").with_file(&path.display().to_string())]);
    }
    Ok(())
}

pub fn read_answers(run: &Run) -> Result<Answers, Vec<Diagnostic>> {
    let Some(path) = &run.answers else { return Ok(Answers::default()) };
    let text = read_text(path, 64 * 1024 * 1024).map_err(|problem| vec![problem])?;
    Answers::parse(&text, &path.display().to_string()).map_err(|problem| vec![problem])
}

fn save_path(args: &Run, id: &str, set_up: &Environment) -> Result<PathBuf, Diagnostic> {
    Ok(match &args.save {
        None => set_up.folders.sessions_to_write()?.join(format!("{id}.s2s")),
        Some(path) if args.files.len() > 1 || path.is_dir() => path.join(format!("{id}.s2s")),
        Some(path) => path.clone(),
    })
}

pub fn budget(
    args: &Run,
    session: &Session,
    set_up: &Environment,
) -> Result<Option<Budget>, Vec<Diagnostic>> {
    let of_session = session.definition.as_ref().and_then(|definition| definition.budget);
    let Some(limit) = args.max_usd.into_iter().chain(of_session).reduce(f64::min) else { return Ok(None) };
    let prices = known_prices(session, set_up);
    let mut problems = Vec::new();
    for seat in session.roster.values().filter(|seat| !prices.contains_key(&seat.model)) {
        let why = unpriced(&set_up.catalog(), &seat.model);
        let message =
            format!("the price of `{}` is not known, so that no budget can be kept: {why}", seat.model);
        let hint = format!("add `prices: {{{}: {{input: …, output: …}}}}` to config.yaml", seat.model);
        let problem = Diagnostic::new(message).hint(hint);
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let max_output_tokens = set_up.config.max_output_tokens.value;
    let mut budget = Budget::new(limit, prices, max_output_tokens);
    budget.go_on(session);
    Ok(Some(budget))
}

/// The prices of a session's models, as far as they are known.
pub fn known_prices(session: &Session, set_up: &Environment) -> HashMap<String, Price> {
    let catalog = set_up.catalog();
    let models = session.roster.values().map(|seat| seat.model.clone());
    models.filter_map(|model| Some((price_of(&catalog, &model)?, model))).map(|(p, m)| (m, p)).collect()
}
