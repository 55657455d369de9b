//! Headless runs of definitions and unfinished sessions, one after another.
//!
//! Also their signals, progress and summaries. Nobody is asked anything.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use clap::CommandFactory as _;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::args::{Args, OpeningOptions, ResumeArgs, RunArgs, ServeArgs};
use super::browse::{newest_session, quoted, session_file};
use super::console::{Console, VerbResult, fail, is_on_terminal};
use super::doors::Doors;
use super::files::{check_out, print_report, remove_unused, source, write_reports};
use super::link_door::{DoorInputs, LinkDoor, Links, OpenedLinks, ServedDoor, check_links};
use super::options::{environment, launch_options};
use super::progress::ProgressPrinter;
use super::{dry_run, tui_host};
use crate::config::dirs::Dirs;
use crate::config::read_file::no_such_file;
use crate::core::{ExitCode, exhausted_key, exit_code};
use crate::diagnostic::{Diagnostic, nearest};
use crate::engine::{EngineError, Observer, RemoteSeats};
use crate::history::{Event, LogEntry, PauseReason, SeatInfo, Session};
use crate::insight::headline::blocked;
use crate::insight::wording::{money, resume_verb};
use crate::insight::{asked, asked_about, valid_proposal};
use crate::journal::fold;
use crate::launch::environment::Environment;
use crate::launch::error::RunError;
use crate::launch::headless::HeadlessFacilitator;
use crate::launch::plan::{LaunchOptions, read_definition};
use crate::launch::prepare::{Opening, prepare};
use crate::launch::run::{self, EndedRun, FrontEnd, raise_descriptor_limit, runtime};
use crate::launch::seat::{Launcher, ReadySession};
use crate::launch::session_file::{open_session, read_session};
use crate::report::{self, Document, Source};
use crate::signals::Signals;
use crate::tui::OpenTarget;
use crate::words::meant;

/// Runs every file; the exit code is the highest.
pub fn run(run: &RunArgs, output: &mut Console) -> VerbResult {
    *output = Console::from_options(&run.common);
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

/// Runs sessions like `run`, with a door for remote seats.
pub fn serve(args: &ServeArgs, output: &mut Console) -> VerbResult {
    *output = Console::from_options(&args.common);
    run_headless(&args.into(), Some(args), output)
}

pub enum HeadlessInput {
    New(Box<Opening>),
    Saved(PathBuf),
}

/// Checks all files first, and runs them one by one only if none has an error.
fn run_headless(run: &RunArgs, served: Option<&ServeArgs>, output: &mut Console) -> VerbResult {
    if run.files.is_empty() {
        return Err(Diagnostic::new("there is nothing to run").hint("roundtable run FILE...").into());
    }
    check_output_paths(run)?;
    let mut set_up = environment(run.common.trust.trust, output)?;
    let options = launch_options(run, &mut set_up)?;
    let (mut inputs, mut found) = (Vec::new(), RunError::from(Vec::new()));
    for file in &run.files {
        match prepare_input(file, run, &options, &set_up, served.is_some(), output) {
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
    let door = served.map(|args| ServedDoor::bind(args, &set_up)).transpose()?;
    run_inputs(inputs, run, &options, &set_up, door.as_ref(), output)
}

/// Prepares a new session of a definition, or checks that a saved one can be read.
fn prepare_input(
    file: &Path,
    run: &RunArgs,
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
pub fn run_inputs(
    inputs: Vec<HeadlessInput>,
    run: &RunArgs,
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
    *output = Console::from_options(&args.common);
    let mut run = RunArgs::from(args);
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
    drop(opening);
    let ready = context.launcher.begin(header, &path)?;
    run_session(ready, context, output)
}

/// Returns an error with the command to use instead of opening this file on the screen.
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

/// Refuses output paths that do not fit several input files.
pub fn check_output_paths(run: &RunArgs) -> Result<(), Diagnostic> {
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

fn save_path(args: &RunArgs, id: &str, folders: &Dirs) -> Result<PathBuf, Diagnostic> {
    Ok(match &args.opening.save {
        None => folders.sessions_to_write()?.join(format!("{id}.s2s")),
        Some(path) if args.files.len() > 1 || path.is_dir() => path.join(format!("{id}.s2s")),
        Some(path) => path.clone(),
    })
}

struct RunContext<'a> {
    launcher: Launcher<'a>,
    runtime: &'a tokio::runtime::Runtime,
    /// Cancelled by the first signal; no further session begins then.
    interrupt: &'a CancellationToken,
    ended_by: &'a OnceLock<ExitCode>,
    run: &'a RunArgs,
    door: Option<&'a ServedDoor<'a>>,
}

impl RunContext<'_> {
    fn open_doors(
        &self,
        session: &Session,
        links: Option<&Arc<LinkDoor>>,
        printer: &Arc<ProgressPrinter>,
    ) -> Result<(Doors, Option<RemoteSeats>, OpenedLinks), RunError> {
        let (of, printer) = (
            DoorInputs { session, set_up: self.launcher.set_up, runtime: self.runtime },
            Arc::clone(printer),
        );
        Doors::open(&of, links.cloned(), move |line| printer.note(line))
    }
}

/// Resumes an unfinished session; prints the report of a finished one again.
fn resume_file(path: &Path, context: &RunContext<'_>, output: &mut Console) -> VerbResult {
    let set_up = context.launcher.set_up;
    let opened = open_session(path)?;
    let session = fold(&opened.log);
    if let Some(aside) = &opened.torn {
        let problem = Diagnostic::new(format!("removed {} bytes of an incomplete write", opened.log.torn));
        let problem = problem.with_file(&path.display().to_string());
        output.warn(&problem.hint(format!("saved them to {}", aside.display())));
    }
    if let Some(closed) = &session.closed {
        set_up.keys().erase_all(&session);
        output.note(&format!("session already finished: {}", closed.status.name()));
        let exit = exit_code(&session, closed.status);
        let document = Document::new(&session, source(path, &opened.log));
        if !output.is_for_scripts() {
            print_report(&document, path, output);
        }
        output.result_line(&document, exit, path);
        // If the program crashed while closing the doors, messages are still in the queue.
        match context.open_doors(&session, None, &Arc::new(output.printer())) {
            Ok((doors, ..)) => {
                context
                    .runtime
                    .block_on(doors.close(&session))
                    .iter()
                    .for_each(|problem| output.warn(problem));
            }
            Err(error) => error.problems.iter().for_each(|problem| output.warn(problem)),
        }
        return Ok(exit);
    }
    warn_of_ignored(context.run, output);
    let ready = context.launcher.resume(session, opened, path, &mut |notice| output.warn(notice))?;
    run_session(ready, context, output)
}

/// Warns of options that only a new session uses.
fn warn_of_ignored(args: &RunArgs, output: &Console) {
    let is_ignored = args.opening != OpeningOptions::default()
        || args.dry_run
        || args.rehearse
        || args.seed.is_some()
        || !args.participants.is_empty()
        || !args.invite.is_empty();
    if is_ignored {
        let problem = Diagnostic::new("options for a new session are ignored when resuming");
        output.warn(&problem.hint("the session keeps what it was opened with: leave them out"));
    }
}

fn run_session(ready: ReadySession, context: &RunContext<'_>, output: &mut Console) -> VerbResult {
    if ready.session.is_rehearsal() {
        output.note("REHEARSAL: placeholders answer, no model is asked");
    }
    output.note(&format!("session: {}", ready.path.display()));
    let path = ready.path.clone();
    let mut facilitator = HeadlessFacilitator::new(ready.answers.clone(), context.run.common.ask_again);
    let printer = Arc::new(output.printer());
    let links = context.door.map(|served| served.links(output)).transpose();
    let mut links = links.inspect_err(|_| remove_unused(&path))?;
    let opened = context.open_doors(&ready.session, context.door.map(|served| &served.door), &printer);
    let (doors, remote, opened) = opened.inspect_err(|_| remove_unused(&path))?;
    if let Some(links) = &mut links {
        links.access = opened.access;
    }
    let mut reporter = ProgressReporter { output, printer: &printer, doors: &doors, links };
    let front = FrontEnd {
        observer: &mut reporter,
        facilitator: &mut facilitator,
        interrupt: context.interrupt.clone(),
        progress: printer.watches.clone(),
        desk: None,
        remote,
    };
    let EndedRun { done, session, entries, last_hash } = context.runtime.block_on(async {
        tokio::select! {
            ended = run::run(ready, context.launcher.set_up, front) => ended,
            never = printer.keep_reporting() => match never {},
        }
    });
    printer.finish();
    if let Some(problem) = context.runtime.block_on(doors.close(&session)) {
        output.warn(&problem);
    }
    let spent = money(&session.spent(&|model| session.price(model)));
    if let Some(said) = spent.filter(|_| !output.wants_summary()) {
        output.note(&format!("spent: {said}"));
    }
    let options = context.door.map(|served| served.door.options()).unwrap_or_default();
    let file = quoted(&path.display().to_string());
    let resume = format!("roundtable {} {file}{options}", resume_verb(&session));
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let document = Document::new(&session, Source { file: name, entries, last_hash, torn: 0 });
    let exit = print_summary(done, &session, &document, &path, &resume, output)?;
    let written = write_reports(&document, &context.run.common.out, output);
    let is_interrupted =
        session.paused.as_ref().is_some_and(|(_, reason)| *reason == PauseReason::Interrupted);
    let exit = context.ended_by.get().filter(|_| is_interrupted).copied().unwrap_or(exit);
    let exit = written.as_ref().map_or_else(|error| error.exit.max(exit), |()| exit);
    output.result_line(&document, exit, &path);
    linger(context, &session);
    written.map(|()| exit).map_err(|error| RunError { exit, ..error })
}

/// Serves a result to remote seats for the `--linger` time; a session that waits for a person may have one.
fn linger(context: &RunContext<'_>, session: &Session) {
    let waits = matches!(session.paused, Some((_, PauseReason::Waiting(_))));
    let is_counted = session.rounds.last().is_some_and(|round| round.tally.is_some());
    let has_result = session.closed.is_some() || waits && is_counted;
    let Some(served) = context.door.filter(|_| has_result) else { return };
    let time = Duration::from_secs(served.args.linger);
    context.runtime.block_on(async {
        tokio::select! {
            () = tokio::time::sleep(time) => {}
            () = served.door.wait_until_notified() => {}
            () = context.interrupt.cancelled() => {}
        }
    });
}

fn print_summary(
    done: Result<ExitCode, EngineError>,
    session: &Session,
    document: &Document<'_>,
    path: &Path,
    resume: &str,
    output: &mut Console,
) -> VerbResult {
    let file = path.display();
    let exit = match done {
        Ok(exit) => exit,
        Err(error) => {
            let exit =
                if matches!(error, EngineError::Other(_)) { ExitCode::Usage } else { ExitCode::Failure };
            let hint = if matches!(&error, EngineError::Disk(error) if error.is_gone()) {
                "what was recorded before is in the file that was moved; resume it with `roundtable resume`"
                    .to_owned()
            } else if path.exists() {
                format!("recorded events are safe; continue with `{resume}`")
            } else {
                "nothing was recorded; free disk space and run again".to_owned()
            };
            let problem = Diagnostic::new(error.to_string()).hint(hint);
            return Err(RunError { problems: vec![problem], exit });
        }
    };
    if !output.is_for_scripts() {
        print_report(document, path, output);
    }
    match (&session.paused, report::in_one_line(document)) {
        (Some((_, reason)), _) => {
            let lead = match reason {
                PauseReason::QuorumUnreachable => "stopped: ",
                PauseReason::Waiting(message) if !message.starts_with("waiting ") => "waiting: ",
                _ => "",
            };
            output.note(&format!("{lead}{reason}"));
            for line in asked_about(session) {
                output.note(&line);
            }
            let hint = answer_hint(session);
            if !hint.is_empty() && resume_verb(session) == "resume" {
                output.note(&format!("answer on the screen: roundtable {}", quoted(&file.to_string())));
            }
            output.note(&format!("resume with: {resume}{hint}"));
        }
        (None, Some(outcome)) if !output.wants_summary() => output.note(&format!("outcome: {outcome}")),
        (None, _) => {}
    }
    if exit == ExitCode::Unreachable && session.rounds.last().is_some_and(|round| round.sealed() == 0) {
        output.note("no seat answered; why: roundtable doctor PROVIDER/MODEL --probe");
    }
    if !output.wants_summary() {
        output.note(&format!("saved: {file}"));
    }
    output.note(&format!("last hash: {}", document.source.last_hash));
    Ok(exit)
}

fn answer_hint(session: &Session) -> String {
    let says = |step: &str, answer: &str| format!(" --answers FILE, where FILE says `{step}: {answer}`");
    if let Some(asked) = &session.exhausted {
        let decide = if asked.requested.choices.len() > 3 { ", {choice: decide, option: …}" } else { "" };
        return says(&exhausted_key(&asked.requested.step), "take")
            + &format!(" (it continues with the last result; or continue, stop{decide})");
    }
    let merge = "{options: [{title: …, from: [IDEA, …]}], set_aside: [{idea: …, reason: …}]}";
    match asked(session) {
        None if session.open_round().is_some_and(|round| !round.lost_seats().is_empty()) => {
            " --ask-again".to_owned()
        }
        None => seats_answer(session).map(|(step, answer)| says(step, &answer)).unwrap_or_default(),
        Some(asked) if !asked.ideas.is_empty() || asked.proposal.is_some() => {
            let parts = asked.proposal.iter().filter_map(Value::as_object).flatten();
            let part = |(key, value): (&String, &Value)| {
                format!("{key}: {}", if value.is_null() { "null" } else { "…" })
            };
            let edited = format!("{{edited: {{{}}}}}", parts.map(part).collect::<Vec<_>>().join(", "));
            let changed = if asked.ideas.is_empty() { &edited } else { merge };
            match valid_proposal(session) {
                Some(_) => says(&asked.step, "true") + &format!(", or `{changed}`"),
                None => says(&asked.step, changed),
            }
        }
        Some(asked) if blocked(session).is_some() => {
            let amended = "{approved: true, comment: \"<the whole new proposal>\"}";
            says(&asked.step, amended) + ", or `false` to leave it"
        }
        Some(asked) => match asked.choices.first() {
            Some(choice) => says(&asked.step, &format!("{{tie: {choice}}}")),
            None => says(&asked.step, "{approved: true}"),
        },
    }
}

/// Returns the step that waits for human seats, and an example of its entry in an answers file.
fn seats_answer(session: &Session) -> Option<(&str, String)> {
    let definition = session.definition();
    let is_open = |seat: &&SeatInfo| {
        let round = session.open_round();
        round.and_then(|round| round.seat(&seat.name)).is_none_or(|seat| seat.status.is_open())
    };
    session.active_steps().filter_map(|run| definition.step(&run.id)).find_map(|step| {
        let is_asked = |seat: &&SeatInfo| {
            seat.model == "human" && seat.sits_in(definition, step) && !seat.is_scripted(&step.id)
        };
        let people = session.roster.values().filter(is_asked).filter(is_open);
        let names: Vec<String> = people.map(|seat| format!("{}: …", seat.name)).collect();
        let answer =
            if step.agent().is_some() { "…".to_owned() } else { format!("{{{}}}", names.join(", ")) };
        (!names.is_empty()).then_some((step.id.as_str(), answer))
    })
}

/// Reports a headless run: events on standard output, progress on standard error.
struct ProgressReporter<'a> {
    output: &'a mut Console,
    printer: &'a ProgressPrinter,
    doors: &'a Doors,
    /// Printed once their invitations are on disk, because links work only then.
    links: Option<Links>,
}

impl Observer for ProgressReporter<'_> {
    fn on_event(&mut self, line: &LogEntry, session: &Session) {
        let LogEntry { seq, prev, hash, stamped } = line;
        if self.output.json {
            self.output.line(&report::line(*seq, prev, hash, stamped.at, &stamped.event, session));
        } else if matches!(stamped.event, Event::RoundOpened(_)) {
            // The size of the prompts is printed before anything is sent.
            self.printer.note(&report::event_line(&stamped.event, stamped.at, session).unwrap_or_default());
        }
        self.printer.print_event(&stamped.event, session);
    }

    fn on_written(&mut self, session: &Session) {
        self.printer.see(session);
        self.doors.see(session);
        if let Some(links) = self.links.take() {
            links.print(self.output);
        }
    }
}

/// Pauses the sessions on the first signal and stores it; a second signal ends the program at once.
/// Recorded events are safe in both cases.
pub async fn cancel_on_signal(interrupt: CancellationToken, ended_by: Arc<OnceLock<ExitCode>>) {
    let Ok(mut signals) = Signals::new() else { return };
    let _ = ended_by.set(signals.any().await);
    interrupt.cancel();
    std::process::exit(i32::from(signals.any().await as u8));
}
