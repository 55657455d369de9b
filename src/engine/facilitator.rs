//! What a facilitator at the screen orders while the engine runs, and when the engine waits for it.
//!
//! With a facilitator at the table the engine holds before a round is opened, when a person is asked,
//! and when a round is counted; it goes on by an order alone. Orders that the core refuses change
//! nothing, and the refusal is told. Without one it holds nowhere.

use std::sync::Arc;

use tokio::sync::mpsc::UnboundedReceiver;

use super::{Engine, EngineError, FacilitatorAnswer};
use crate::core::{Command, ExitCode, NextAction, Question, QuestionKind, Refusal, decide, next};
use crate::history::{CloseReason, Event, Price, RoundRevised, Session};
use crate::participants::Participant;
use crate::participants::progress::ProgressBoard;

/// What the facilitator wants done now.
#[derive(Debug, Clone, PartialEq)]
pub enum FacilitatorRequest {
    /// Open the round that waits, if its snapshot is still the one that was seen.
    OpenRound {
        /// SHA-256 of the snapshot that was seen.
        seen: String,
    },
    /// Change the round that waits.
    Revise(RoundRevised),
    /// Put an artifact on the table.
    Record(serde_json::Map<String, serde_json::Value>),
    /// Note on a closed round what came of it.
    Note { round: String, text: String },
    /// Close the open round as its seats stand.
    CloseRound,
    /// Let a seat of the open round go.
    Excuse { participant: String, reason: String },
    /// Ask a seat of the open round again; what it was asked before is given up.
    Retry {
        participant: String,
        /// The model that is to answer for it from now on; the same as before when absent.
        model: Option<String>,
    },
    /// Give the open round this much more time, in milliseconds.
    MoreTime(u64),
    /// Go on with what the counted round came to.
    Accept,
    /// Ask the counted round again, as a new round.
    AskAgain,
    /// Answer what the person is asked.
    Answer(FacilitatorAnswer),
    /// Rest; the session can be resumed.
    Leave,
}

/// Where the engine waits for an order.
#[derive(Debug, Clone, PartialEq)]
pub enum WaitPoint {
    /// A round is drafted and not opened.
    Draft,
    /// A person is asked.
    Question(Question),
    /// A round is counted: accept, or ask again.
    Counted,
}

/// Where a session with a facilitator at the table waits now, if it does.
pub fn hold(session: &Session) -> Option<WaitPoint> {
    match next(session) {
        NextAction::OpenRound => Some(WaitPoint::Draft),
        NextAction::AskPerson(question) => Some(WaitPoint::Question(question)),
        NextAction::Decide(Command::FinishStep { step }) => {
            let is_round = session.definition.as_ref()?.step(&step)?.round().is_some();
            let is_open = session.running(&step).is_some_and(|run| run.round.is_some());
            // A round that is refused as it stands can be corrected.
            is_round.then_some(if is_open { WaitPoint::Counted } else { WaitPoint::Draft })
        }
        _ => None,
    }
}

/// What a person is asked now: also while other branches of a parallel are at work.
pub fn pending_question(session: &Session) -> Option<Question> {
    if let Some(WaitPoint::Question(question)) = hold(session) {
        return Some(question);
    }
    let run = session.asked().next()?;
    let asked = &run.approval.as_ref()?.requested;
    let kind = match asked.choices.as_slice() {
        [] => QuestionKind::Approval,
        choices => QuestionKind::Tie(choices.to_vec()),
    };
    Some(Question { step: run.id.clone(), kind, message: asked.message.clone() })
}

/// Who takes a seat whose model is replaced.
pub struct ReplacementSeat {
    pub participant: Arc<dyn Participant>,
    /// What the model costs; none where it costs nothing.
    pub price: Option<Price>,
}

/// Finds who answers for a model, or says in words why nobody does.
pub type SeatReplacer<'a> = Box<dyn FnMut(&str) -> Result<ReplacementSeat, String> + Send + 'a>;

/// The facilitator's orders as they come.
pub type FacilitatorRequests = UnboundedReceiver<FacilitatorRequest>;

/// The next order; never, where no facilitator sits.
pub(super) async fn next_request(orders: &mut Option<FacilitatorRequests>) -> FacilitatorRequest {
    match orders {
        // Whose screen is gone has left.
        Some(orders) => orders.recv().await.unwrap_or(FacilitatorRequest::Leave),
        None => std::future::pending().await,
    }
}

impl<'a> Engine<'a> {
    /// Puts a facilitator at the table: from now on the engine waits for orders where it should.
    ///
    /// `seating` finds who takes a seat when its model is replaced; how requests stand is noted in
    /// `watches`.
    pub fn attach_facilitator(
        &mut self,
        orders: FacilitatorRequests,
        seating: SeatReplacer<'a>,
        watches: ProgressBoard,
    ) {
        (self.orders, self.seating) = (Some(orders), Some(seating));
        self.is_watched(watches);
    }

    /// Whether the engine must wait for an order now.
    pub(super) fn waits_for_facilitator(&self) -> bool {
        self.orders.is_some() && hold(&self.session).is_some()
    }

    /// Waits for one order and carries it out; the exit code if it was to leave.
    pub(super) async fn await_order(&mut self) -> Result<Option<ExitCode>, EngineError> {
        self.commit().await?;
        let order = tokio::select! {
            order = next_request(&mut self.orders) => order,
            () = self.interrupt.cancelled() => FacilitatorRequest::Leave,
        };
        self.execute(order)?;
        if self.interrupt.is_cancelled() {
            let step = self.session.step.as_ref().map(|run| run.id.clone());
            return self.pause("left by the facilitator", step).await.map(Some);
        }
        Ok(None)
    }

    /// Carries out an order. What the core refuses is told and changes nothing.
    pub(super) fn execute(&mut self, order: FacilitatorRequest) -> Result<(), EngineError> {
        let done = match order {
            FacilitatorRequest::Leave => {
                self.interrupt.cancel();
                Ok(())
            }
            FacilitatorRequest::OpenRound { seen } => return self.open_as_seen(&seen),
            FacilitatorRequest::CloseRound => return self.close_by_order(),
            FacilitatorRequest::Excuse { participant, reason } => self.excuse(&participant, reason),
            FacilitatorRequest::Retry { participant, model } => return self.retry(&participant, model),
            FacilitatorRequest::MoreTime(more) => self.more_time(more),
            FacilitatorRequest::Revise(revised) => self.stage(Command::ReviseRound(revised)),
            FacilitatorRequest::Record(artifact) => {
                self.stage(Command::RecordArtifact { artifact, by: "facilitator".to_owned() })
            }
            FacilitatorRequest::Note { round, text } => self.stage(Command::RecordSynthesis { round, text }),
            FacilitatorRequest::Accept => match (hold(&self.session), next(&self.session)) {
                (Some(WaitPoint::Counted), NextAction::Decide(finish)) => self.stage(finish),
                _ => Err(Refusal("there is nothing to accept now".to_owned())),
            },
            FacilitatorRequest::AskAgain => self.stage(Command::AskRoundAgain),
            FacilitatorRequest::Answer(says) => self.take_answer(says),
        };
        if let Err(refusal) = done {
            self.observer.on_refused(&refusal.0);
        }
        Ok(())
    }

    fn take_answer(&mut self, says: FacilitatorAnswer) -> Result<(), Refusal> {
        let Some(question) = pending_question(&self.session) else {
            return Err(Refusal("nobody is asked anything now".to_owned()));
        };
        match question.kind {
            QuestionKind::KeyLost(_) if says.approved => self.stage(Command::AskAgain),
            QuestionKind::KeyLost(_) => {
                self.interrupt.cancel();
                Ok(())
            }
            QuestionKind::Approval | QuestionKind::Tie(_) | QuestionKind::Exhausted(_) => {
                let FacilitatorAnswer { approved, choice, comment, by } = says;
                self.stage(Command::Answer { step: question.step, approved, choice, comment, by })
            }
        }
    }

    /// Opens the round that waits; what would be sent must be what was looked at.
    fn open_as_seen(&mut self, seen: &str) -> Result<(), EngineError> {
        if hold(&self.session) != Some(WaitPoint::Draft) {
            self.observer.on_refused("no round waits to be opened");
            return Ok(());
        }
        if let Err(lack) = self.check_seats() {
            self.observer.on_refused(&lack.to_string());
            return Ok(());
        }
        let project_summary = match (self.context_file)() {
            Ok(summary) => summary,
            Err(problem) => {
                self.observer.on_refused(&problem);
                return Ok(());
            }
        };
        let command = Command::OpenRound { project_summary };
        let events = match decide(&self.session, command.clone(), (self.now)()) {
            Ok(events) => events,
            Err(refusal) => {
                self.observer.on_refused(&refusal.0);
                return Ok(());
            }
        };
        let is_seen = |event: &Event| matches!(event, Event::RoundOpened(o) if o.snapshot_sha256 == seen);
        if !events.iter().any(is_seen) {
            self.observer.on_refused("CONTEXT.md changed on disk; review the snapshot again");
            return Ok(());
        }
        for message in self.session.opening_warnings() {
            self.stage(Command::Warn { message })?;
        }
        self.open_within_budget(command)
    }

    fn close_by_order(&mut self) -> Result<(), EngineError> {
        if self.session.open_round().is_none() {
            self.observer.on_refused("no round is open");
            return Ok(());
        }
        // What is ready when the word is given still counts; what comes later is refused.
        self.collect_finished()?;
        self.close_round(CloseReason::Facilitator)
    }

    fn excuse(&mut self, participant: &str, reason: String) -> Result<(), Refusal> {
        let round = self.session.open_round().map(|round| round.opened.round.clone()).unwrap_or_default();
        self.stage(Command::Excuse { round, participant: participant.to_owned(), reason })?;
        self.cancel_seat(participant);
        Ok(())
    }

    /// Retries a seat. Its answer counts only once: what it was asked before is given up first.
    fn retry(&mut self, participant: &str, model: Option<String>) -> Result<(), EngineError> {
        // What is ready when the word is given is sealed, and stays.
        self.collect_finished()?;
        let round = self.session.open_round().map(|round| round.opened.round.clone()).unwrap_or_default();
        let now = self.session.seat_info(participant).map(|info| info.model.clone());
        let model = model.filter(|model| Some(model) != now.as_ref());
        let command = Command::Retry { round, participant: participant.to_owned(), model: model.clone() };
        let refused = decide(&self.session, command.clone(), (self.now)()).err().map(|refusal| refusal.0);
        let refused = refused.or_else(|| self.replace_model(participant, model.as_deref()).err());
        if let Some(why) = refused {
            self.observer.on_refused(&why);
            return Ok(());
        }
        self.cancel_seat(participant);
        self.stage(command)?;
        self.retry_seat(participant)
    }

    /// Makes sure that one more request can be paid, and puts a new model into the seat.
    fn replace_model(&mut self, participant: &str, model: Option<&str>) -> Result<(), String> {
        let newcomer = match (model, &mut self.seating) {
            (Some(model), Some(seating)) => Some(seating(model)?),
            _ => None,
        };
        if let (Some(budget), Some(round)) = (&mut self.budget, self.session.open_round()) {
            if let (Some(model), Some(newcomer)) = (model, &newcomer) {
                budget.prices.extend(newcomer.price.map(|price| (model.to_owned(), price)));
            }
            let model =
                model.or_else(|| Some(self.session.seat_info(participant)?.label(&round.opened.step)));
            let why = budget.refuses_retry(&self.session, &round.opened, model.unwrap_or_default());
            why.map_or(Ok(()), Err)?;
        }
        if let Some(newcomer) = newcomer {
            self.table.insert(participant.to_owned(), newcomer.participant);
        }
        Ok(())
    }

    fn more_time(&mut self, more: u64) -> Result<(), Refusal> {
        let now = self.session.open_round().and_then(|round| round.deadline_ms);
        let deadline_ms = now.unwrap_or(0).saturating_add(more);
        self.stage(Command::ExtendDeadline { deadline_ms })?;
        self.reset_deadline();
        Ok(())
    }
}
