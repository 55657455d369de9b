//! The requests that are out: seats of the open round, and agents with their work items.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt as _};
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;

use super::seat::{self, RoundShared, SeatResult};
use crate::ballot::ReplySchema;
use crate::history::WorkItemReturned;
use crate::participants::{Participant, SeatRequest};
use crate::round::answer::ReplyAttempt;

/// Everyone at work: the seats of the open round, and agents with their work items. Dropping it
/// gives up every request.
#[derive(Default)]
pub(super) struct RequestPool {
    pub at_work: JoinSet<(RequestId, FinishedRequest)>,
    pub requests: HashMap<RequestId, AbortHandle>,
    pub round: Option<PendingRound>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum RequestId {
    /// A seat of the round of that number, and how often it was asked again before.
    Seat(u32, String, u32),
    /// The agent that holds this work item.
    Item(String),
}

pub(super) enum FinishedRequest {
    Seat(SeatResult),
    Item(Box<WorkItemReturned>),
}

pub(super) struct PendingRound {
    pub number: u32,
    pub deadline: Option<Instant>,
    pub shared: Arc<RoundShared>,
    /// The form that services hold the replies to.
    pub schema: Option<Arc<ReplySchema>>,
    /// First answers of agents that did not fit, by seat, and how often it was asked again then.
    pub unfit: HashMap<String, (u32, ReplyAttempt)>,
    /// The SHA-256 of the plain answers that are sealed, by seat.
    pub sealed: HashMap<String, String>,
}

pub(super) struct PreparedSeat {
    pub participant: Arc<dyn Participant>,
    pub ask: SeatRequest,
    pub attempt: u32,
    pub model: String,
}

impl RequestPool {
    /// Starts a request. A panic in it is a failure of that request alone. The work is
    /// boxed, since the runtime moves what it is given, and its place for the result, several times.
    pub fn begin(
        &mut self,
        place: RequestId,
        work: BoxFuture<'static, FinishedRequest>,
        fault: impl FnOnce() -> FinishedRequest + Send + 'static,
    ) {
        let of = place.clone();
        let work =
            async move { (of, AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| fault())) };
        self.requests.insert(place, self.at_work.spawn(work));
    }

    pub fn ask(&mut self, ready: PreparedSeat) {
        let Some(round) = &self.round else { return };
        let PreparedSeat { participant, ask, attempt, model } = ready;
        let place = RequestId::Seat(round.number, ask.seat.clone(), attempt);
        let shared = Arc::clone(&round.shared);
        let work = seat::ask_and_seal(participant, ask, model, shared).map(FinishedRequest::Seat);
        self.begin(place, work.boxed(), || FinishedRequest::Seat(SeatResult::fault()));
    }

    /// Seats of this round are asked now.
    pub fn is_asking(&self, round: u32) -> bool {
        self.requests.keys().any(|place| matches!(place, RequestId::Seat(number, ..) if *number == round))
    }

    /// Gives up the seats of the round; agents go on.
    pub fn cancel_round(&mut self) {
        self.round = None;
        self.requests.retain(|place, request| {
            if matches!(place, RequestId::Seat(..)) {
                request.abort();
            }
            matches!(place, RequestId::Item(_))
        });
    }
}
