//! One headless session at work: signals, progress, scripted persons, the closing words.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt as _, ready};
use tokio_util::sync::CancellationToken;

use super::args::Run;
use super::batch::known_prices;
use super::output::{Output, fail_as};
use super::plan::SetUp;
use super::receipts::Receipts;
use super::spent;
use crate::engine::{Budget, Engine, EngineError, Observer, Parts, Person, PersonSays, Table};
use crate::journal::{Disk, Journal, KeyStore};
use crate::persona::Persona;
use crate::problem::Problem;
use crate::report;
use crate::session::{Command, Event, Exit, Line, Question, QuestionKind, Session};
use crate::setup::answers::Answers;

/// A session with everyone at the table.
pub struct Seated {
    /// The state so far.
    pub session: Session,
    /// The journal, at its end.
    pub journal: Journal,
    /// Who takes each seat.
    pub table: Table,
    /// The personas of the roster, by name.
    pub personas: HashMap<String, Arc<Persona>>,
    /// Scripted answers.
    pub answers: Answers,
    /// The limit on money.
    pub budget: Option<Budget>,
    /// The session's file.
    pub path: PathBuf,
}

/// What all sessions of one command share.
pub struct Bench<'a> {
    /// Where they run.
    pub runtime: &'a tokio::runtime::Runtime,
    /// Cancelled by the first signal: no further session is begun then.
    pub interrupt: &'a CancellationToken,
    /// Where each seat's receipt goes, if somebody wants them.
    pub receipts: Option<&'a Receipts>,
}

/// Works a session to its end or rest.
pub fn work(
    seated: Seated,
    start: Command,
    args: &Run,
    set_up: &SetUp,
    bench: &Bench<'_>,
    output: &mut Output,
) -> Exit {
    output.note(&format!("session: {}", seated.path.display()));
    let mut person = Scripted { answers: seated.answers, ask_again: args.ask_again };
    let mut face = Face { output, bar: None, receipts: bench.receipts };
    let mut engine = Engine::new(Parts {
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
    let done = bench.runtime.block_on(async {
        engine.erase_old_keys()?;
        engine.stage(start)?;
        engine.run().await
    });
    let (session, head) = (std::mem::take(&mut engine.session), engine.head());
    let prices = known_prices(&session, set_up);
    let left_behind = engine.left_behind.take();
    drop(engine);
    face.finish();
    if let Some(error) = left_behind {
        let hint = "its key is published, so nothing is lost; resuming the session tries again";
        output.warn(&Problem::new(error.to_string()).hint(hint));
    }
    spent::say(&session, &prices, output);
    conclude(done, &session, &seated.path, &head, output)
}

fn conclude(
    done: Result<Exit, EngineError>,
    session: &Session,
    path: &Path,
    head: &str,
    output: &mut Output,
) -> Exit {
    let file = path.display();
    let exit = match done {
        Ok(exit) => exit,
        Err(error) => {
            let exit = if matches!(error, EngineError::Table(_)) { Exit::Usage } else { Exit::Failure };
            let hint = if matches!(&error, EngineError::Disk(error) if error.is_gone()) {
                "what was recorded before is in the file that was moved; `roundtable resume` goes on with it"
                    .to_owned()
            } else if path.exists() {
                format!("what was recorded is safe; `roundtable resume {file}` goes on from there")
            } else {
                "nothing was recorded; run it again when there is room".to_owned()
            };
            let problem = Problem::new(error.to_string()).hint(hint);
            return fail_as(&[problem], exit, output);
        }
    };
    if !output.json {
        output.bytes(report::markdown(session).as_bytes());
    }
    match (&session.paused, report::outcome(session)) {
        (Some((_, reason)), _) => {
            let is_asked = session.step.as_ref().is_some_and(|run| run.approval.is_some());
            let lead = if is_asked || reason != "interrupted" { "waiting: " } else { "" };
            output.note(&format!("{lead}{reason}"));
            output.note(&format!("go on with: roundtable resume {file}{}", answer_hint(session)));
        }
        (None, Some(outcome)) => output.note(&format!("outcome: {outcome}")),
        (None, None) => {}
    }
    if exit == Exit::Unreachable && session.rounds.last().is_some_and(|round| round.sealed() == 0) {
        output.note("nobody answered: check that the service runs, its address and its key");
    }
    output.note(&format!("saved: {file}"));
    output.note(&format!("last hash: {head}"));
    exit
}

/// How the answer that is waited for can be given.
fn answer_hint(session: &Session) -> String {
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
struct Scripted {
    answers: Answers,
    ask_again: bool,
}

impl Person for Scripted {
    fn ask<'a>(
        &'a mut self,
        question: &'a Question,
        _session: &'a Session,
    ) -> BoxFuture<'a, Result<Option<PersonSays>, String>> {
        let says =
            |approved, choice, comment| PersonSays { approved, choice, comment, by: "scripted".to_owned() };
        let answer = match &question.kind {
            QuestionKind::KeyLost(_) => Ok(self.ask_again.then(|| says(true, None, None))),
            kind => self
                .answers
                .say(&question.step, kind)
                .map(|said| said.map(|said| says(said.approved, said.choice, said.comment))),
        };
        ready(answer).boxed()
    }
}

/// What watches a headless run: NDJSON on standard output, progress on a terminal.
struct Face<'a> {
    output: &'a mut Output,
    bar: Option<indicatif::ProgressBar>,
    receipts: Option<&'a Receipts>,
}

impl Face<'_> {
    fn progress(&mut self, session: &Session) {
        let Some(round) = session.open_round() else {
            if let Some(bar) = self.bar.take() {
                bar.finish_and_clear();
            }
            return;
        };
        let bar = self.bar.get_or_insert_with(|| {
            let bar = indicatif::ProgressBar::new(round.seats.len() as u64);
            let style =
                indicatif::ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} settled {elapsed}");
            bar.set_style(style.unwrap_or_else(|_| indicatif::ProgressStyle::default_bar()));
            bar.enable_steady_tick(std::time::Duration::from_millis(200));
            bar
        });
        let message = format!("round {} · {} sealed", round.opened.number, round.sealed());
        bar.set_message(message);
        bar.set_position((round.seats.len() - round.open_seats().count()) as u64);
    }

    fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Observer for Face<'_> {
    fn saw(&mut self, line: &Line, session: &Session) {
        let Line { seq, prev, hash, stamped } = line;
        tracing::debug!(seq, at = %stamped.at, "on disk");
        if let Some(receipts) = self.receipts {
            receipts.give(&stamped.event, session, self.output);
        }
        if self.output.json {
            self.output.line(&report::line(*seq, prev, hash, stamped.at, &stamped.event, session));
            return;
        }
        // The size of what is about to be sent is said before anything is sent.
        if matches!(stamped.event, Event::RoundOpened(_)) {
            self.finish();
            self.output.note(&report::happening(&stamped.event, stamped.at, session).unwrap_or_default());
        }
        if self.output.shows_progress() {
            self.progress(session);
        }
    }
}

/// Rests the session on Ctrl-C, and on SIGTERM and SIGHUP where there are signals. A second one
/// ends the program at once: what was recorded is safe.
pub async fn cancel_on_signal(interrupt: CancellationToken) {
    if signalled().await.is_ok() {
        interrupt.cancel();
        if signalled().await.is_ok() {
            std::process::exit(i32::from(Exit::Waiting as u8));
        }
    }
}

/// Waits for Ctrl-C, and for SIGTERM and SIGHUP where there are signals.
pub async fn signalled() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let (mut term, mut hup) = (signal(SignalKind::terminate())?, signal(SignalKind::hangup())?);
        tokio::select! {
            pressed = tokio::signal::ctrl_c() => pressed?,
            _ = term.recv() => {}
            _ = hup.recv() => {}
        }
        Ok(())
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}
