//! The engine: does what [`next`] says, and comes back with events.
//!
//! One loop owns the session and the journal. Seats work in parallel and hand in sealed answers;
//! events that arrive while a sync is running share the next one. Nothing is sent, shown or asked
//! before what led to it is on disk. It knows no provider and no face.

mod budget;
mod commit;
mod facilitator;
mod fan_out;
mod human_seats;
mod late;
mod round_key;
mod seat;
mod tasks;
mod transcript;
mod work_item_attempt;
mod work_items;

pub use budget::Budget;
pub use facilitator::{
    FacilitatorRequest, FacilitatorRequests, ReplacementSeat, SeatReplacer, WaitPoint, hold, pending_question,
};
pub use tasks::TasksFile;

use std::collections::HashMap;
use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::core::{
    Command, ExitCode, NextAction, QUORUM_UNREACHABLE, Question, QuestionKind, Refusal, decide, exit_code,
    next,
};
use crate::history::{CloseReason, Event, LogEntry, RoundRun, Session, TimedEvent, Timestamp};
use crate::journal::{DiskError, Journal, KeyStore};
use crate::participants::Participant;
use crate::participants::progress::{ProgressBoard, ProgressHandle};
use crate::persona::Persona;
use crate::round::seal::RoundKey;
use commit::CommitResult;
use fan_out::FanOut;
use tasks::TasksKept;

/// Why a session rests that a signal ended.
pub const INTERRUPTED: &str = "interrupted";

/// Sees every event once it is on disk.
pub trait Observer: Send {
    /// Is shown the event, and the state, which may be some events further.
    fn on_event(&mut self, line: &LogEntry, session: &Session);

    /// Is told why a facilitator's order was refused; nothing has changed.
    fn on_refused(&mut self, _why: &str) {}
}

/// A person's answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FacilitatorAnswer {
    /// Yes or no.
    pub approved: bool,
    /// The option chosen among level ones.
    pub choice: Option<String>,
    /// What the person adds.
    pub comment: Option<String>,
    /// `facilitator`, or `scripted`.
    pub by: String,
}

/// The person who is asked; `None` means nobody answers now, and the session rests.
pub trait FacilitatorPrompt: Send {
    fn ask<'a>(
        &'a mut self,
        question: &'a Question,
        session: &'a Session,
    ) -> BoxFuture<'a, Result<Option<FacilitatorAnswer>, String>>;
}

/// Who takes each seat.
pub type SeatedParticipants = HashMap<String, Arc<dyn Participant>>;

/// Why a session stopped with an error; what was acknowledged is in the file.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The storage failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The core refused what it had asked for: a fault of the program.
    #[error("unexpected: {0}")]
    Refused(#[from] Refusal),
    /// A seat has nobody to take it, or the person's answer cannot be used.
    #[error("{0}")]
    Table(String),
}

/// Reads `CONTEXT.md` as it is now.
pub type ContextFile<'a> = Box<dyn FnMut() -> Result<Option<String>, String> + Send + 'a>;

/// A session at work.
pub struct Engine<'a> {
    pub session: Session,
    /// A key file that could not be removed after the session was over; its key is published.
    pub left_behind: Option<DiskError>,
    /// The journal, unless a write is running.
    journal: Option<Journal>,
    writing: Option<JoinHandle<CommitResult>>,
    /// On disk and not shown yet.
    unshown: Vec<LogEntry>,
    keys: KeyStore,
    table: SeatedParticipants,
    personas: HashMap<String, Arc<Persona>>,
    context_file: ContextFile<'a>,
    observer: &'a mut dyn Observer,
    person: &'a mut dyn FacilitatorPrompt,
    interrupt: CancellationToken,
    budget: Option<Budget>,
    /// A facilitator at the screen, if one sits there.
    orders: Option<FacilitatorRequests>,
    seating: Option<SeatReplacer<'a>>,
    /// Where others look how requests stand.
    watches: Option<ProgressBoard>,
    staged: Vec<TimedEvent>,
    fan_out: FanOut,
    key: Option<(u32, RoundKey)>,
    /// The round whose key is to be erased once what is staged is on disk.
    spent_key: Option<u32>,
    tasks: TasksKept<'a>,
    now: fn() -> Timestamp,
}

/// What an engine is made of.
pub struct EngineConfig<'a> {
    /// The state so far.
    pub session: Session,
    /// The journal, at its end.
    pub journal: Journal,
    /// The keys of open rounds.
    pub keys: KeyStore,
    /// Who takes each seat.
    pub table: SeatedParticipants,
    /// The personas of the roster, by name.
    pub personas: HashMap<String, Arc<Persona>>,
    /// Reads `CONTEXT.md` as it is now.
    pub context_file: ContextFile<'a>,
    pub observer: &'a mut dyn Observer,
    /// Who is asked.
    pub person: &'a mut dyn FacilitatorPrompt,
    /// Cancelled when the session is to rest at once.
    pub interrupt: CancellationToken,
    /// The most money it may cost, if there is a limit.
    pub budget: Option<Budget>,
}

impl<'a> Engine<'a> {
    /// An engine at rest.
    pub fn new(parts: EngineConfig<'a>) -> Self {
        Self {
            session: parts.session,
            left_behind: None,
            journal: Some(parts.journal),
            writing: None,
            unshown: Vec::new(),
            keys: parts.keys,
            table: parts.table,
            personas: parts.personas,
            context_file: parts.context_file,
            observer: parts.observer,
            person: parts.person,
            interrupt: parts.interrupt,
            budget: parts.budget,
            orders: None,
            seating: None,
            watches: None,
            staged: Vec::new(),
            fan_out: FanOut::default(),
            key: None,
            spent_key: None,
            tasks: TasksKept::default(),
            now: crate::clock::now,
        }
    }

    /// Decides a command and folds its events; they are on disk after the next [`Engine::commit`].
    ///
    /// # Errors
    /// The core's refusal.
    pub fn stage(&mut self, command: Command) -> Result<(), Refusal> {
        let at = (self.now)();
        for event in decide(&self.session, command, at)? {
            let stamped = TimedEvent { at, event };
            self.session.apply(&stamped);
            self.staged.push(stamped);
        }
        Ok(())
    }

    /// Notes from now on in `watches` how requests stand.
    pub fn is_watched(&mut self, watches: ProgressBoard) {
        self.watches = Some(watches);
    }

    /// Where one request notes how it stands.
    pub(super) fn watch(&self, name: &str) -> ProgressHandle {
        self.watches.as_ref().map(|watches| watches.begin(name)).unwrap_or_default()
    }

    /// Runs the session until it is done or rests.
    ///
    /// # Errors
    /// When the storage fails, or a seat has nobody to take it.
    pub async fn run(&mut self) -> Result<ExitCode, EngineError> {
        loop {
            if self.interrupt.is_cancelled() && self.session.closed.is_none() && self.session.paused.is_none()
            {
                return self.pause(INTERRUPTED, None).await;
            }
            if self.tasks.is_due {
                self.commit().await?;
            }
            if self.waits_for_facilitator() {
                if let Some(exit) = self.await_order().await? {
                    return Ok(exit);
                }
                continue;
            }
            let now = next(&self.session);
            // Who has been asked is there.
            if (matches!(now, NextAction::OpenRound)
                || matches!(now, NextAction::AwaitSeats) && !self.is_asking())
                && let Some((step, message)) = self.missing_human()
            {
                return self.pause(&message, Some(step)).await;
            }
            match now {
                NextAction::Nothing => return Err(EngineError::Table("the session is not open".to_owned())),
                NextAction::Decide(Command::Offer { step }) => self.offer(step)?,
                NextAction::Decide(command) => self.stage(command)?,
                NextAction::OpenRound => {
                    if let Err(lack) = self.check_seats() {
                        self.commit().await?;
                        return Err(lack);
                    }
                    self.open_round()?;
                }
                NextAction::AwaitSeats => self.await_seats().await?,
                NextAction::CloseRound(reason) => {
                    if let Some(exit) = self.close_or_stop(reason).await? {
                        return Ok(exit);
                    }
                }
                NextAction::AskPerson(question) => {
                    if let Some(exit) = self.ask_person(question).await? {
                        return Ok(exit);
                    }
                }
                NextAction::Rest => return Ok(ExitCode::Waiting),
                NextAction::Done => {
                    self.commit().await?;
                    let code = self.session.closed.as_ref().map(|closed| closed.status);
                    return Ok(code.map_or(ExitCode::Failure, |status| exit_code(&self.session, status)));
                }
            }
        }
    }

    /// Closes the open round; where failed seats keep it below its quorum and no facilitator sits at the
    /// screen, the session rests instead and nothing is revealed, unless the round's time is up.
    async fn close_or_stop(&mut self, reason: CloseReason) -> Result<Option<ExitCode>, EngineError> {
        let below = self.session.below_quorum().filter(|_| self.orders.is_none());
        match below.map(|round| self.time_left(round)) {
            None => self.close_round(reason)?,
            Some(Some(left)) if left.is_zero() => self.close_round(CloseReason::Deadline)?,
            Some(_) => {
                self.pause(QUORUM_UNREACHABLE, None).await?;
                return Ok(Some(ExitCode::Unreachable));
            }
        }
        Ok(None)
    }

    /// Opens the round of the step that runs, unless the budget would not bear it.
    fn open_round(&mut self) -> Result<(), EngineError> {
        let project_summary = (self.context_file)().map_err(EngineError::Table)?;
        for message in self.session.opening_warnings() {
            self.stage(Command::Warn { message })?;
        }
        self.open_within_budget(Command::OpenRound { project_summary })
    }

    fn open_within_budget(&mut self, command: Command) -> Result<(), EngineError> {
        if let Some(budget) = &self.budget {
            let events = decide(&self.session, command.clone(), (self.now)())?;
            let opened = events
                .iter()
                .find_map(|event| if let Event::RoundOpened(opened) = event { Some(opened) } else { None });
            if let Some(reason) = opened.and_then(|opened| budget.refuses(&self.session, opened)) {
                return Ok(self.stage(Command::Stop { reason })?);
            }
        }
        Ok(self.stage(command)?)
    }

    /// Refuses a round that a seat is known to have no answer for, before anything is sent.
    fn check_seats(&self) -> Result<(), EngineError> {
        let (Some(definition), Some(run)) = (&self.session.definition, &self.session.step) else {
            return Ok(());
        };
        let Some(round) = definition.step(&run.id).and_then(|step| step.round()) else { return Ok(()) };
        for name in self.session.roster.keys().filter(|name| round.participants.holds(name)) {
            if let Some(lack) =
                self.table.get(name).and_then(|participant| participant.unavailable_reason(&run.id))
            {
                return Err(EngineError::Table(format!("{lack} (seat `{name}`)")));
            }
        }
        Ok(())
    }

    async fn pause(&mut self, reason: &str, step: Option<String>) -> Result<ExitCode, EngineError> {
        self.collect_finished()?;
        self.fan_out = FanOut::default();
        self.stage(Command::Pause { reason: reason.to_owned(), step })?;
        self.commit().await?;
        // The first write may have led to a warning about a key file.
        self.commit().await?;
        Ok(ExitCode::Waiting)
    }

    async fn ask_person(&mut self, question: Question) -> Result<Option<ExitCode>, EngineError> {
        self.commit().await?;
        let asked = tokio::select! {
            says = self.person.ask(&question, &self.session) => says.map_err(EngineError::Table)?,
            () = self.interrupt.cancelled() => None,
        };
        let Some(says) = asked else {
            return self.pause(&question.message, Some(question.step)).await.map(Some);
        };
        match question.kind {
            QuestionKind::KeyLost(_) if says.approved => self.stage(Command::AskAgain)?,
            QuestionKind::KeyLost(_) => {
                return self.pause(&question.message, Some(question.step)).await.map(Some);
            }
            QuestionKind::Approval | QuestionKind::Tie(_) | QuestionKind::Exhausted(_) => {
                let FacilitatorAnswer { approved, choice, comment, by } = says;
                let step = question.step;
                self.stage(Command::Answer { step, approved, choice, comment, by })
                    .map_err(|refusal| EngineError::Table(refusal.0))?;
            }
        }
        Ok(None)
    }

    /// Closes the open round: its requests are given up, its key is published, and erased once that
    /// is on disk. What it reveals shares the write of the close.
    fn close_round(&mut self, reason: CloseReason) -> Result<(), EngineError> {
        let Some(key) = self.round_key()? else {
            return Ok(self.stage(Command::LoseKey)?);
        };
        if let (Some(watches), Some(round)) = (&self.watches, self.session.open_round()) {
            round.seats.keys().for_each(|seat| watches.end(seat));
        }
        self.fan_out.cancel_round();
        let number = self.session.open_round().map(|round| round.opened.number);
        self.stage(Command::CloseRound { reason, key })?;
        let is_sealed = |round: &RoundRun| round.closed.is_some() && round.sealed_seats().next().is_some();
        if self.session.rounds.last().is_some_and(is_sealed) {
            self.stage(Command::Reveal)?;
        }
        (self.key, self.spent_key) = (None, number);
        Ok(())
    }
}
