//! One headless session while it runs: signals, progress, and the closing lines.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::args::{OpeningOptions, Run};
use super::browse::quoted;
use super::console::{Console, VerbResult};
use super::doors::Doors;
use super::files::{print_report, source, write_reports};
use super::link_door::{DoorInputs, LinkDoor, OpenedLinks};
use super::progress::ProgressPrinter;
use super::serve::{Links, ServedDoor};
use crate::core::{ExitCode, exhausted_key, exit_code};
use crate::diagnostic::Diagnostic;
use crate::engine::{EngineError, Observer, RemoteSeats};
use crate::history::{Event, LogEntry, PauseReason, SeatInfo, Session};
use crate::insight::headline::blocked;
use crate::insight::wording::{money, resume_verb};
use crate::insight::{asked, asked_about};
use crate::journal::fold;
use crate::launch::error::RunError;
use crate::launch::headless::HeadlessFacilitator;
use crate::launch::run::{EndedRun, FrontEnd, run};
use crate::launch::seat::{Launcher, ReadySession};
use crate::launch::session_file::open_session;
use crate::report::{self, Document, Source};
use crate::signals::Signals;

pub struct RunContext<'a> {
    pub launcher: Launcher<'a>,
    pub runtime: &'a tokio::runtime::Runtime,
    /// Cancelled by the first signal: no further session is begun then.
    pub interrupt: &'a CancellationToken,
    pub ended_by: &'a OnceLock<ExitCode>,
    pub run: &'a Run,
    pub door: Option<&'a ServedDoor<'a>>,
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

/// Continues an unfinished session; one that is over is reported again.
pub fn resume_file(path: &Path, context: &RunContext<'_>, output: &mut Console) -> VerbResult {
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
            output.bytes(report::markdown(&document).as_bytes());
        }
        output.result_line(&document, exit, path);
        // A crash between the end of a session and that of its doors leaves something in the queue.
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

/// A session goes on as it was opened; options that say otherwise are not used.
fn warn_of_ignored(args: &Run, output: &Console) {
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

pub fn run_session(ready: ReadySession, context: &RunContext<'_>, output: &mut Console) -> VerbResult {
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
            ended = run(ready, context.launcher.set_up, front) => ended,
            never = printer.keep_reporting() => match never {},
        }
    });
    printer.finish();
    if let Some(problem) = context.runtime.block_on(doors.close(&session)) {
        output.warn(&problem);
    }
    let spent = money(&session.spent(&|model| session.price(model)));
    if let Some(said) = spent.filter(|_| !output.is_for_a_look()) {
        output.note(&format!("spent: {said}"));
    }
    let options = context.door.map(|served| served.door.options()).unwrap_or_default();
    let file = quoted(&path.display().to_string());
    let resume = format!("roundtable {} {file}{options}", resume_verb(&session));
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    let document = Document::new(&session, Source { file: name, entries, last_hash, torn: 0 });
    let exit = print_summary(done, &session, &document, &path, &resume, output)?;
    write_reports(&document, &context.run.common.out, output)?;
    let is_interrupted =
        session.paused.as_ref().is_some_and(|(_, reason)| *reason == PauseReason::Interrupted);
    let exit = context.ended_by.get().filter(|_| is_interrupted).copied().unwrap_or(exit);
    output.result_line(&document, exit, &path);
    linger(context, &session);
    Ok(exit)
}

/// Takes away the file of a session that nothing was written to.
pub fn remove_unused(path: &Path) {
    if std::fs::metadata(path).is_ok_and(|meta| meta.len() == 0) {
        let _ = std::fs::remove_file(path);
    }
}

/// Shows remote seats the result for a while, once there is one.
fn linger(context: &RunContext<'_>, session: &Session) {
    let Some(door) = context.door.filter(|_| session.closed.is_some()) else { return };
    let time = Duration::from_secs(door.args.linger);
    context.runtime.block_on(async {
        tokio::select! {
            () = tokio::time::sleep(time) => {}
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
                if matches!(error, EngineError::Table(_)) { ExitCode::Usage } else { ExitCode::Failure };
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
            let is_asked = session.step.as_ref().is_some_and(|run| run.approval.is_some())
                || session.exhausted.is_some();
            let reason = reason.to_string();
            let lead = match &session.paused {
                Some((_, PauseReason::Interrupted)) if !is_asked => "",
                Some((_, PauseReason::QuorumUnreachable)) => "stopped: ",
                _ if reason.starts_with("waiting ") => "",
                _ => "waiting: ",
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
        (None, Some(outcome)) if !output.is_for_a_look() => output.note(&format!("outcome: {outcome}")),
        (None, _) => {}
    }
    if exit == ExitCode::Unreachable && session.rounds.last().is_some_and(|round| round.sealed() == 0) {
        output.note("no seat answered; run roundtable doctor");
    }
    if !output.is_for_a_look() {
        output.note(&format!("saved: {file}"));
    }
    output.note(&format!("last hash: {}", document.source.last_hash));
    Ok(exit)
}

fn answer_hint(session: &Session) -> String {
    let says = |step: &str, answer: &str| format!(" --answers FILE, where FILE says `{step}: {answer}`");
    if let Some(asked) = &session.exhausted {
        return says(&exhausted_key(&asked.requested.step), "take")
            + " (or continue, stop, {choice: decide, option: …})";
    }
    let Some(run) = &session.step else { return String::new() };
    let merge = "{options: [{title: …, from: [IDEA, …]}], set_aside: [{idea: …, reason: …}]}";
    match asked(session) {
        None if session.open_round().is_some_and(|round| !round.lost_seats().is_empty()) => {
            " --ask-again".to_owned()
        }
        None => seats_answer(session).map(|(step, answer)| says(step, &answer)).unwrap_or_default(),
        Some(asked) if !asked.ideas.is_empty() => says(&run.id, merge),
        Some(asked) if asked.proposal.is_some() => says(&run.id, "true") + ", or `{edited: {…}}`",
        Some(_) if blocked(session).is_some() => {
            let amended = "{approved: true, comment: \"<the whole new proposal>\"}";
            says(&run.id, amended) + ", or `false` to leave it"
        }
        Some(asked) => match asked.choices.first() {
            Some(choice) => says(&run.id, &format!("{{tie: {choice}}}")),
            None => says(&run.id, "{approved: true}"),
        },
    }
}

/// The step in which people are asked for whom nobody answers, and what an answers file says under its id.
fn seats_answer(session: &Session) -> Option<(&str, String)> {
    let definition = session.definition.as_ref()?;
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
    /// Printed once their invitations are on disk, since they work only then.
    links: Option<Links>,
}

impl Observer for ProgressReporter<'_> {
    fn on_event(&mut self, line: &LogEntry, session: &Session) {
        let LogEntry { seq, prev, hash, stamped } = line;
        if self.output.json {
            self.output.line(&report::line(*seq, prev, hash, stamped.at, &stamped.event, session));
        } else if matches!(stamped.event, Event::RoundOpened(_)) {
            // The size of what is about to be sent is said before anything is sent.
            self.printer.note(&report::event_line(&stamped.event, stamped.at, session).unwrap_or_default());
        }
        self.printer.saw(&stamped.event, session);
    }

    fn on_written(&mut self, session: &Session) {
        self.doors.see(session);
        if let Some(links) = self.links.take() {
            links.print(self.output);
        }
    }
}

/// Rests the session on a signal, and remembers which it was. A second one ends the program at once:
/// what was recorded is safe.
pub async fn cancel_on_signal(interrupt: CancellationToken, ended_by: Arc<OnceLock<ExitCode>>) {
    let Ok(mut signals) = Signals::new() else { return };
    let _ = ended_by.set(signals.any().await);
    interrupt.cancel();
    std::process::exit(i32::from(signals.any().await as u8));
}
