//! Facilitator interface: requests, and the points where the engine waits for one.
//!
//! The engine waits before a round opens, when a person is asked, and when a round is counted; only a request
//! continues the session. A request that the core refuses changes nothing, and the refusal is reported. People,
//! scripts and tests make the same requests.

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::core::{Command, NextAction, Question, next};
use crate::history::{ApprovalGiven, PauseReason, Price, Session};
use crate::participants::Participant;

pub trait Facilitator: Send {
    /// Returns the next request. With `at`, the session waits there for it. Without, the future is dropped when
    /// something else happens first.
    ///
    /// # Errors
    /// No request is possible, so the run ends.
    fn next_request<'a>(
        &'a mut self,
        at: Option<&'a WaitPoint>,
        session: &'a Session,
    ) -> BoxFuture<'a, Result<FacilitatorRequest, String>>;

    /// Receives the reason of a refused request; nothing has changed.
    fn on_refused(&mut self, why: &str);

    /// Checks if a person leads, who retries failed seats and moves deadlines while a round is open.
    fn is_person(&self) -> bool;
}

#[derive(Debug, Clone, PartialEq)]
pub enum FacilitatorRequest {
    OpenRound {
        /// SHA-256 of the reviewed snapshot, which must equal the one that is sent; `None` if nobody reviewed
        /// it.
        seen: Option<String>,
    },
    /// Decides this command. Abandons the request of a seat that it excuses or retries, and seats a new model.
    Order(Command),
    CloseRound,
    /// Continues with the tally of the counted round.
    Accept,
    /// Answers the pending question; the engine fills in its step.
    Answer(ApprovalGiven),
    /// Pauses the session for this reason; it can be resumed.
    Leave {
        reason: PauseReason,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub enum WaitPoint {
    Draft,
    Question(Question),
    /// A round is counted: accept it, or ask again.
    Counted,
}

/// Returns the point at which a session waits for its facilitator now, if any.
pub fn current_wait_point(session: &Session) -> Option<WaitPoint> {
    wait_point(session, &next(session))
}

pub(super) fn wait_point(session: &Session, now: &NextAction) -> Option<WaitPoint> {
    match now {
        NextAction::OpenRound => Some(WaitPoint::Draft),
        NextAction::AskPerson(question) => Some(WaitPoint::Question(question.clone())),
        NextAction::Decide(Command::FinishStep { step }) => {
            session.definition().step(step)?.round().map(|_| WaitPoint::Counted)
        }
        _ => None,
    }
}

/// Returns the question that waits for a person, even if other branches of a `parallel` continue.
pub fn pending_question(session: &Session) -> Option<Question> {
    if let Some(WaitPoint::Question(question)) = current_wait_point(session) {
        return Some(question);
    }
    Some(Question::from_request(&session.asked().next()?.approval.as_ref()?.requested))
}

pub struct ReplacementSeat {
    pub participant: Arc<dyn Participant>,
    pub price: Option<Price>,
}

/// Creates the participant for a model, or returns why it cannot.
pub type SeatReplacer<'a> = Box<dyn FnMut(&str) -> Result<ReplacementSeat, String> + Send + 'a>;
