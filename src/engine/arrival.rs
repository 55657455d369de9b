//! Messages from remote seats and agents, and the answers to them.

use tokio::sync::{mpsc, oneshot};

use crate::core::Refusal;
use crate::history::{Receipt, SeatInvited, SeatJoined};
use crate::round::envelope::{DeliveryIds, Envelope, FailedDelivery};

/// Remote seats of a session, as its front end provides them.
pub struct RemoteSeats {
    pub invitations: Vec<SeatInvited>,
    pub arrive: mpsc::Sender<Arrival>,
    pub arrivals: mpsc::Receiver<Arrival>,
}

impl Default for RemoteSeats {
    /// Creates the channel for arrivals; no seat is invited yet.
    fn default() -> Self {
        /// Arrivals that may wait for the engine; further senders wait too.
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
    Abandoned(AbandonedOffer),
    Work(WorkMessage),
}

/// Offer that no worker will answer.
pub struct AbandonedOffer {
    pub why: &'static str,
    pub ids: DeliveryIds,
}

pub struct WorkMessage {
    pub participant: String,
    pub holder: String,
    /// Id of a work item, or of a seat's question in a round, such as `vote/3`.
    pub item: String,
    pub work: Work,
}

pub enum Work {
    Claim,
    Renew,
    Return(String),
    Fail(String),
    /// Plain-text answer to a round. `again` marks a correction, which counts as it is.
    Answer {
        text: String,
        again: bool,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Accepted {
    /// A seat joined or failed, or a work item was claimed.
    Done,
    /// The ballot is sealed, with its receipt; false if it was sealed before.
    Sealed(Receipt, bool),
    /// A work item was returned and has this state now.
    Returned(&'static str),
}

/// Delivers a message and waits until its effect is on disk; `None` if no engine runs.
pub async fn hand_in(engine: &mpsc::Sender<Arrival>, message: Message) -> Option<Result<Accepted, Refusal>> {
    let (answer, answered) = oneshot::channel();
    engine.send(Arrival { message, answer }).await.ok()?;
    answered.await.ok()
}

/// Answer to send once its events are on disk.
pub(super) type DueAnswer = (oneshot::Sender<Result<Accepted, Refusal>>, Accepted);
