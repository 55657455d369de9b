//! What remote seats and agents send, and what they are answered.

use tokio::sync::{mpsc, oneshot};

use crate::core::Refusal;
use crate::history::{Receipt, SeatInvited, SeatJoined};
use crate::round::envelope::{DeliveryIds, Envelope, FailedDelivery};

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
}

/// An offer that no worker will answer.
pub struct GivenUp {
    pub why: &'static str,
    pub ids: DeliveryIds,
}

pub struct WorkMessage {
    pub participant: String,
    pub holder: String,
    /// The id of a work item, or of what a seat is asked in a round, such as `vote/3`.
    pub item: String,
    pub work: Work,
}

pub enum Work {
    Claim,
    Renew,
    /// The result.
    Return(String),
    /// The reason why there is none.
    Fail(String),
    /// An answer to a round as plain text; one that corrects an earlier one counts as it is.
    Answer {
        text: String,
        again: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Accepted {
    /// A seat has joined or failed, or a work item is claimed.
    Done,
    /// The ballot is sealed, with its receipt; false where it was before.
    Sealed(Receipt, bool),
    /// A work item has come back, and is in this state now.
    Returned(&'static str),
}

/// Hands a message in, and waits until what became of it is on disk; `None` where no engine runs.
pub async fn hand_in(engine: &mpsc::Sender<Arrival>, message: Message) -> Option<Result<Accepted, Refusal>> {
    let (answer, answered) = oneshot::channel();
    engine.send(Arrival { message, answer }).await.ok()?;
    answered.await.ok()
}

/// An answer that waits for the disk.
pub(super) type DueAnswer = (oneshot::Sender<Result<Accepted, Refusal>>, Accepted);
