//! Sessions that this server runs, and their public numbers.
//!
//! Each session runs on its own thread. The numbers reflect only events that are on disk.

use std::collections::HashMap;
use std::sync::Mutex;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::arguments::{Numbers, SessionState};
use crate::diagnostic::Diagnostic;
use crate::engine::{EngineError, Observer};
use crate::history::{PauseReason, RoundRun, Session};
use crate::launch::environment::Environment;
use crate::launch::headless::HeadlessFacilitator;
use crate::launch::run::{FrontEnd, run};
use crate::launch::seat::ReadySession;
use crate::participants::lock;
use crate::participants::progress::ProgressBoard;

const MOST: usize = 8;
/// Recommended polling interval in milliseconds.
const POLL_MS: u64 = 3000;

pub struct Sessions {
    runtime: Handle,
    /// Cancelled when the server ends; every session pauses then.
    interrupt: CancellationToken,
    running: Mutex<HashMap<String, RunningSession>>,
}

struct RunningSession {
    numbers: watch::Receiver<Numbers>,
    thread: Option<JoinHandle<()>>,
}

impl RunningSession {
    fn is_open(&self) -> bool {
        self.numbers.borrow().state == SessionState::Open
    }
}

impl Sessions {
    pub fn new(runtime: Handle, interrupt: CancellationToken) -> Self {
        Self { runtime, interrupt, running: Mutex::default() }
    }

    pub fn has_room(&self) -> Result<(), Diagnostic> {
        let open = lock(&self.running).values().filter(|session| session.is_open()).count();
        if open < MOST {
            return Ok(());
        }
        let problem = Diagnostic::new(format!("{open} sessions are running"));
        Err(problem.hint("wait for one of them to close, with `status`"))
    }

    /// Runs a prepared session on a new thread, and returns its first numbers.
    pub fn start(&self, ready: ReadySession, set_up: Environment) -> Result<Numbers, Diagnostic> {
        let first = numbers_of(&ready.session);
        let id = first.session.clone();
        let (tell, numbers) = watch::channel(first.clone());
        let mut publisher = NumbersPublisher { tell };
        let (runtime, interrupt) = (self.runtime.clone(), self.interrupt.clone());
        let work = move || {
            let mut facilitator = HeadlessFacilitator::new(ready.answers.clone(), false);
            let front = FrontEnd {
                observer: &mut publisher,
                facilitator: &mut facilitator,
                interrupt,
                progress: ProgressBoard::default(),
                desk: None,
                remote: None,
            };
            let ended = runtime.block_on(run(ready, &set_up, front));
            publisher.end(&ended.session, ended.done.err());
        };
        let thread = std::thread::Builder::new().name("session".to_owned()).spawn(work);
        let thread = thread
            .map_err(|error| Diagnostic::new(format!("the session is saved and cannot run: {error}")))?;
        let running = RunningSession { numbers, thread: Some(thread) };
        lock(&self.running).insert(id, running);
        Ok(first)
    }

    /// Returns the numbers of a session that this server has started.
    /// Waits at most `wait` for the session to pause or close.
    pub async fn numbers(&self, id: &str, wait: Duration) -> Option<Numbers> {
        let mut numbers = lock(&self.running).get(id)?.numbers.clone();
        let settled = numbers.wait_for(|numbers| numbers.state != SessionState::Open);
        let is_lost = matches!(tokio::time::timeout(wait, settled).await, Ok(Err(_)));
        let mut now = numbers.borrow().clone();
        if is_lost && now.state == SessionState::Open {
            now.stop("it stopped with an internal error; what is recorded is safe".to_owned());
        }
        Some(now)
    }

    pub fn is_open(&self, id: &str) -> bool {
        lock(&self.running).get(id).is_some_and(RunningSession::is_open)
    }

    pub fn wait(&self) {
        for thread in lock(&self.running).values_mut().filter_map(|session| session.thread.take()) {
            // A failed session has reported that already.
            let _ = thread.join();
        }
    }
}

fn numbers_of(session: &Session) -> Numbers {
    let round = session.rounds.last();
    let state = match (&session.closed, &session.paused) {
        (Some(_), _) => SessionState::Closed,
        (None, Some(_)) => SessionState::Paused,
        (None, None) => SessionState::Open,
    };
    let why = session.paused.as_ref().filter(|_| state == SessionState::Paused).map(|(_, reason)| {
        let resume = format!("the user continues it with `roundtable resume {}`", session.id);
        match reason {
            PauseReason::Interrupted => format!("interrupted; {resume}"),
            PauseReason::QuorumUnreachable => {
                format!("too few seats answered, and nothing is revealed; {resume}")
            }
            _ => format!("a person has to answer something; {resume}, or in the terminal UI"),
        }
    });
    Numbers {
        session: session.id.clone(),
        state,
        seats: round.map_or(session.roster.len(), |round| round.seats.len()),
        sealed: round.map_or(0, RoundRun::sealed),
        poll_ms: if state == SessionState::Open { POLL_MS } else { 0 },
        why,
        notices: Vec::new(),
    }
}

/// Returns the numbers of a session that this server has not started.
pub fn numbers_elsewhere(session: &Session) -> Numbers {
    let mut numbers = numbers_of(session);
    if numbers.state == SessionState::Open {
        let resume = format!("the user continues it with `roundtable resume {}`", session.id);
        numbers.why = Some(format!("it does not run here: another program runs it, or {resume}"));
    }
    numbers
}

/// Publishes the numbers of events that are on disk.
struct NumbersPublisher {
    tell: watch::Sender<Numbers>,
}

impl NumbersPublisher {
    fn end(&self, session: &Session, error: Option<EngineError>) {
        let Some(error) = error else { return drop(self.tell.send_replace(numbers_of(session))) };
        self.tell.send_modify(|numbers| {
            numbers.stop(format!("it stopped with an error, what is recorded is safe: {error}"));
        });
    }
}

impl Observer for NumbersPublisher {
    fn on_written(&mut self, session: &Session) {
        let numbers = numbers_of(session);
        // The end is published later, when the file is closed.
        if numbers.state == SessionState::Open {
            self.tell.send_replace(numbers);
        }
    }
}
