//! Pending requests: seats of the open round, and agents with work items.

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

/// Pending requests; dropping the pool abandons them all.
#[derive(Default)]
pub(super) struct RequestPool {
    pub at_work: JoinSet<(RequestId, FinishedRequest)>,
    pub requests: HashMap<RequestId, AbortHandle>,
    pub round: Option<PendingRound>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum RequestId {
    /// Number of the round, the seat, and how often it was retried before.
    Seat(u32, String, u32),
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
    /// Schema of the replies, for providers with structured output.
    pub schema: Option<Arc<ReplySchema>>,
    /// First invalid answers of agents, by seat, with how often the seat was retried then.
    pub unfit: HashMap<String, (u32, ReplyAttempt)>,
    /// SHA-256 of the sealed plain answers, by seat.
    pub sealed: HashMap<String, String>,
    /// Models of a seat's list that failed so far, with their reasons, by seat.
    pub failed_models: HashMap<String, String>,
}

pub(super) struct PreparedSeat {
    pub participant: Arc<dyn Participant>,
    pub ask: SeatRequest,
    pub attempt: u32,
    pub model: String,
}

impl RequestPool {
    /// Starts a request. A panic in it fails that request alone. The future is boxed, because the runtime moves
    /// it and the slot of its result several times.
    pub fn begin(
        &mut self,
        place: RequestId,
        work: BoxFuture<'static, FinishedRequest>,
        on_panic: impl FnOnce() -> FinishedRequest + Send + 'static,
    ) {
        let of = place.clone();
        let work =
            async move { (of, AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| on_panic())) };
        self.requests.insert(place, self.at_work.spawn(work));
    }

    pub fn ask(&mut self, ready: PreparedSeat) {
        let Some(round) = &self.round else { return };
        let PreparedSeat { participant, ask, attempt, model } = ready;
        let place = RequestId::Seat(round.number, ask.seat.clone(), attempt);
        let shared = Arc::clone(&round.shared);
        let work = seat::ask_and_seal(participant, ask, model, shared).map(FinishedRequest::Seat);
        self.begin(place, work.boxed(), || FinishedRequest::Seat(SeatResult::internal_error()));
    }

    /// Checks if seats of this round are being asked.
    pub fn is_asking(&self, round: u32) -> bool {
        self.requests.keys().any(|place| matches!(place, RequestId::Seat(number, ..) if *number == round))
    }

    /// Abandons the requests of the round's seats; agents continue.
    pub fn cancel_round(&mut self) {
        self.round = None;
        self.requests.retain(|place, request| {
            let is_item = matches!(place, RequestId::Item(_));
            if !is_item {
                request.abort();
            }
            is_item
        });
    }
}
