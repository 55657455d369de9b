//! One headless session at work: signals, progress, scripted persons, the closing words.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use futures::future::{BoxFuture, FutureExt as _, ready};
use tokio_util::sync::CancellationToken;

use super::args::Run;
use super::batch::known_prices;
use super::console::{Console, fail_as};
use super::cost_summary;
use super::files::bytes_of;
use super::plan::Environment;
use super::receipts::Receipts;
use super::told::Teller;
use crate::config::tasks::TaskFile;
use crate::core::{Command, ExitCode, QUORUM_UNREACHABLE, Question, QuestionKind, exhausted_key};
use crate::diagnostic::Diagnostic;
use crate::engine::{
    Budget, Engine, EngineConfig, EngineError, FacilitatorAnswer, FacilitatorPrompt, INTERRUPTED, Observer,
    SeatedParticipants,
};
use crate::history::{Event, LogEntry, Session};
use crate::journal::{Disk, Journal, KeyStore, fold_to_show, read_log};
use crate::launch::scripted_answers::Answers;
use crate::persona::Persona;
use crate::report;
use crate::tui::Signals;

/// A session with everyone at the table.
pub struct ReadySession {
    /// The state so far.
    pub session: Session,
    /// The journal, at its end.
    pub journal: Journal,
    /// Who takes each seat.
    pub table: SeatedParticipants,
    /// The personas of the roster, by name.
    pub personas: HashMap<String, Arc<Persona>>,
    pub answers: Answers,
    /// The limit on money.
    pub budget: Option<Budget>,
    /// The session's file.
    pub path: PathBuf,
}

/// What all sessions of one command share.
pub struct RunContext<'a> {
    pub runtime: &'a tokio::runtime::Runtime,
    /// Cancelled by the first signal: no further session is begun then.
    pub interrupt: &'a CancellationToken,
    /// Which signal it was, as an exit code.
    pub ended_by: &'a OnceLock<ExitCode>,
    /// Where each seat's receipt goes, if somebody wants them.
    pub receipts: Option<&'a Receipts>,
}

/// Works a session to its end or rest.
pub fn run_session(
    seated: ReadySession,
    start: Command,
    args: &Run,
    set_up: &Environment,
    bench: &RunContext<'_>,
    output: &mut Console,
) -> ExitCode {
    output.note(&format!("session: {}", seated.path.display()));
    let is_resumed = seated.session.header.is_some();
    let mut person = ScriptedFacilitator { answers: seated.answers, ask_again: args.ask_again };
    let teller = output.teller();
    let mut face = ProgressReporter { output, teller: &teller, receipts: bench.receipts };
    let mut engine = Engine::new(EngineConfig {
        session: seated.session,
        journal: seated.journal,
        keys: KeyStore::new(Disk::default(), &set_up.folders.keys()),
        table: seated.table,
        personas: seated.personas,
        context_file: Box::new(|| set_up.folders.context().map_err(|problem| problem.to_string())),
        observer: &mut face,
        person: &mut person,
        interrupt: bench.interrupt.clone(),
        budget: seated.budget,
    });
    engine.is_watched(teller.watches.clone());
    engine.keeps_tasks(Box::new(|name, mark| TaskFile::of(&set_up.folders, name).mark(mark)));
    let done = bench.runtime.block_on(async {
        engine.erase_old_keys()?;
        engine.stage(start)?;
        tokio::select! {
            done = engine.run() => done,
            never = teller.keep_telling() => match never {},
        }
    });
    let (session, head) = (std::mem::take(&mut engine.session), engine.last_hash());
    let prices = known_prices(&session, set_up);
    let left_behind = engine.left_behind.take();
    drop(engine);
    teller.finish();
    if let Some(error) = left_behind {
        let hint = "its key is published, so nothing is lost; resuming the session tries again";
        output.warn(&Diagnostic::new(error.to_string()).hint(hint));
    }
    // What an earlier version recorded is reported in the words of this one.
    let session = if is_resumed { read_to_show(&seated.path).unwrap_or(session) } else { session };
    cost_summary::print_cost(&session, &prices, output);
    let exit = print_summary(done, &session, &seated.path, &head, output);
    // What was told of it already must not be lost on a script.
    let exit = if session.unwritten_tasks().is_empty() { exit } else { exit.max(ExitCode::Failure) };
    let is_interrupted = session.paused.as_ref().is_some_and(|(_, reason)| reason == INTERRUPTED);
    bench.ended_by.get().filter(|_| is_interrupted).copied().unwrap_or(exit)
}

fn read_to_show(path: &Path) -> Option<Session> {
    read_log(&bytes_of(path).ok()?).ok().map(fold_to_show)
}

fn print_summary(
    done: Result<ExitCode, EngineError>,
    session: &Session,
    path: &Path,
    head: &str,
    output: &mut Console,
) -> ExitCode {
    let file = path.display();
    let exit = match done {
        Ok(exit) => exit,
        Err(error) => {
            let exit =
                if matches!(error, EngineError::Table(_)) { ExitCode::Usage } else { ExitCode::Failure };
            let hint = if matches!(&error, EngineError::Disk(error) if error.is_gone()) {
                "what was recorded before is in the file that was moved; `roundtable resume` goes on with it"
                    .to_owned()
            } else if path.exists() {
                format!("recorded events are safe; continue with `roundtable resume {file}`")
            } else {
                "nothing was recorded; free disk space and run again".to_owned()
            };
            let problem = Diagnostic::new(error.to_string()).hint(hint);
            return fail_as(&[problem], exit, output);
        }
    };
    if !output.json {
        output.bytes(report::markdown(session).as_bytes());
    }
    match (&session.paused, report::outcome(session)) {
        (Some((_, reason)), _) => {
            let is_asked = session.step.as_ref().is_some_and(|run| run.approval.is_some())
                || session.exhausted.is_some();
            let lead = match reason.as_str() {
                INTERRUPTED if !is_asked => "",
                QUORUM_UNREACHABLE => "stopped: ",
                _ => "waiting: ",
            };
            output.note(&format!("{lead}{}", crate::insight::wording::why_paused(reason)));
            output.note(&format!("resume with: roundtable resume {file}{}", answer_hint(session)));
        }
        (None, Some(outcome)) => output.note(&format!("outcome: {outcome}")),
        (None, None) => {}
    }
    if exit == ExitCode::Unreachable && session.rounds.last().is_some_and(|round| round.sealed() == 0) {
        output.note("no seat answered; run roundtable doctor");
    }
    output.note(&format!("saved: {file}"));
    output.note(&format!("last hash: {head}"));
    exit
}

/// How the answer that is waited for can be given.
fn answer_hint(session: &Session) -> String {
    if let Some(asked) = &session.exhausted {
        let key = exhausted_key(&asked.requested.step);
        return format!(" --answers FILE, where FILE says `{key}: take` (or continue, stop)");
    }
    let Some(run) = &session.step else { return String::new() };
    match run.approval.as_ref().filter(|approval| approval.given.is_none()) {
        None if session.open_round().is_some_and(|round| !round.lost_seats().is_empty()) => {
            " --ask-again".to_owned()
        }
        None => String::new(),
        Some(asked) => {
            let choice = asked.requested.choices.first();
            let answer = choice.map_or("{approved: true}".to_owned(), |choice| format!("{{tie: {choice}}}"));
            format!(" --answers FILE, where FILE says `{}: {answer}`", run.id)
        }
    }
}

/// The person of a headless run: the answers file, or nobody.
struct ScriptedFacilitator {
    answers: Answers,
    ask_again: bool,
}

impl FacilitatorPrompt for ScriptedFacilitator {
    fn ask<'a>(
        &'a mut self,
        question: &'a Question,
        _session: &'a Session,
    ) -> BoxFuture<'a, Result<Option<FacilitatorAnswer>, String>> {
        let says = |approved, choice, comment| FacilitatorAnswer {
            approved,
            choice,
            comment,
            by: "scripted".to_owned(),
        };
        let answer = match &question.kind {
            QuestionKind::KeyLost(_) => Ok(self.ask_again.then(|| says(true, None, None))),
            kind => self
                .answers
                .next_answer(&question.step, kind)
                .map(|said| said.map(|said| says(said.approved, said.choice, said.comment))),
        };
        ready(answer).boxed()
    }
}

/// What watches a headless run: NDJSON on standard output, what goes on on standard error.
struct ProgressReporter<'a> {
    output: &'a mut Console,
    teller: &'a Teller,
    receipts: Option<&'a Receipts>,
}

impl Observer for ProgressReporter<'_> {
    fn on_event(&mut self, line: &LogEntry, session: &Session) {
        let LogEntry { seq, prev, hash, stamped } = line;
        tracing::debug!(seq, at = %stamped.at, "on disk");
        if let Some(receipts) = self.receipts {
            receipts.give(&stamped.event, session, self.output);
        }
        if self.output.json {
            self.output.line(&report::line(*seq, prev, hash, stamped.at, &stamped.event, session));
        } else if matches!(stamped.event, Event::RoundOpened(_)) {
            // The size of what is about to be sent is said before anything is sent.
            self.teller.note(&report::event_line(&stamped.event, stamped.at, session).unwrap_or_default());
        }
        self.teller.saw(&stamped.event, session);
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
