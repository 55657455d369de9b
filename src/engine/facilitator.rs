//! The facilitator's requests, and where the engine waits for one.
//!
//! The engine waits before a round is opened, when a person is asked, and when a round is counted; it
//! continues by a request alone. A request that the core refuses changes nothing, and the refusal is
//! reported. A person's keys, a script and the tests all make the same requests.

use std::sync::Arc;

use futures::future::BoxFuture;

use crate::core::{Command, NextAction, Question, next};
use crate::history::{ApprovalGiven, PauseReason, Price, Session};
use crate::participants::Participant;

pub trait Facilitator: Send {
    /// Returns the next request; with `at`, the session waits there for it. Elsewhere one may come at any
    /// time, and the future is dropped when something else happens first.
    ///
    /// # Errors
    /// No request can be made: the run ends.
    fn next_request<'a>(
        &'a mut self,
        at: Option<&'a WaitPoint>,
        session: &'a Session,
    ) -> BoxFuture<'a, Result<FacilitatorRequest, String>>;

    /// Receives why the last request was refused; nothing has changed.
    fn on_refused(&mut self, why: &str);

    /// A person leads, who retries failed seats and moves deadlines while a round is open.
    fn is_person(&self) -> bool;
}

#[derive(Debug, Clone, PartialEq)]
pub enum FacilitatorRequest {
    OpenRound {
        /// SHA-256 of the snapshot that was seen, which must still be the one that is sent; any, if
        /// nobody has seen it.
        seen: Option<String>,
    },
    /// Decide this command. A seat that it excuses or asks again is given up first, and a model that it names
    /// takes its seat.
    Order(Command),
    CloseRound,
    /// Continue with the tally of the counted round.
    Accept,
    /// Answer the question that waits; its step is filled in.
    Answer(ApprovalGiven),
    /// Pause, for this reason where the session waits; it can be resumed.
    Leave {
        reason: PauseReason,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub enum WaitPoint {
    Draft,
    Question(Question),
    /// A round is counted: accept, or ask again.
    Counted,
}

/// Returns where a session waits for its facilitator now, if it does.
pub fn hold(session: &Session) -> Option<WaitPoint> {
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

/// The question that waits for a person, also while other branches of a parallel are at work.
pub fn pending_question(session: &Session) -> Option<Question> {
    if let Some(WaitPoint::Question(question)) = hold(session) {
        return Some(question);
    }
    Some(Question::of(&session.asked().next()?.approval.as_ref()?.requested))
}

pub struct ReplacementSeat {
    pub participant: Arc<dyn Participant>,
    pub price: Option<Price>,
}

/// Makes the participant for a model, or says in words why there is none.
pub type SeatReplacer<'a> = Box<dyn FnMut(&str) -> Result<ReplacementSeat, String> + Send + 'a>;
