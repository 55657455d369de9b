//! What remote seats and agents send, and what they are answered.

use tokio::sync::{mpsc, oneshot};

use crate::core::Refusal;
use crate::history::{Receipt, SeatInvited, SeatJoined};
use crate::round::envelope::{Envelope, FailedDelivery};

/// The remote seats of a session, as its front end brings them in.
pub struct RemoteSeats {
    pub invitations: Vec<SeatInvited>,
    pub arrive: mpsc::Sender<Arrival>,
    pub arrivals: mpsc::Receiver<Arrival>,
}

impl Default for RemoteSeats {
    /// Seats to which doors bring what arrives; nobody is invited yet.
    fn default() -> Self {
        /// Arrivals that wait for the engine; a sender beyond them waits too.
        const WAITING: usize = 1024;
        let (arrive, arrivals) = mpsc::channel(WAITING);
        Self { invitations: Vec::new(), arrive, arrivals }
    }
}

pub struct Arrival {
    pub message: Message,
    pub answer: oneshot::Sender<Result<Accepted, Refusal>>,
}

pub enum Message {
    Join(SeatJoined),
    Ballot(Box<Envelope>),
    Failed(Box<FailedDelivery>),
    GivenUp(GivenUp),
    Work(WorkMessage),
    /// The answer of an agent whose ballots are sealed here.
    Answer(PlainAnswer),
}

/// An answer to a round as plain text.
pub struct PlainAnswer {
    pub participant: String,
    pub holder: String,
    /// The id of what it was asked, such as `vote/3`.
    pub item: String,
    pub text: String,
    /// It corrects an earlier one, and counts as it is.
    pub again: bool,
}

/// An offer that no worker will answer.
pub struct GivenUp {
    pub why: &'static str,
    pub session: String,
    pub round: String,
    pub participant: String,
    pub delivery: String,
}

pub struct WorkMessage {
    pub participant: String,
    pub holder: String,
    pub work: Work,
}

/// By the id of a work item.
pub enum Work {
    Claim(String),
    /// Claims so many that are open, oldest first.
    Take(usize),
    Renew(String),
    Return(String, String),
    Fail(String, String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Accepted {
    Joined,
    /// The ballot is sealed, with its receipt; false where it was before.
    Sealed(Receipt, bool),
    Failed,
    /// These work items are claimed, or their claims last longer.
    Claimed(Vec<String>),
    /// A work item has come back, and is in this state now.
    Returned(&'static str),
}

/// An answer that waits for the disk.
pub(super) type DueAnswer = (oneshot::Sender<Result<Accepted, Refusal>>, Accepted);

/// The next arrival; never one where there are no remote seats.
pub(super) async fn next_arrival(arrivals: &mut Option<mpsc::Receiver<Arrival>>) -> Arrival {
    let next = match arrivals {
        Some(arrivals) => arrivals.recv().await,
        None => None,
    };
    match next {
        Some(arrival) => arrival,
        None => std::future::pending().await,
    }
}
