//! What remote seats send, and what they are answered.

use tokio::sync::{mpsc, oneshot};

use crate::history::{Receipt, SeatInvited, SeatJoined};
use crate::round::envelope::Envelope;

/// The remote seats of a session, as its front end brings them in.
pub struct RemoteSeats {
    /// Seats that are to be invited now.
    pub invitations: Vec<SeatInvited>,
    pub arrivals: mpsc::Receiver<Arrival>,
}

/// Something that arrives.
pub struct Arrival {
    pub message: Message,
    /// Takes what was accepted, or the word of the refusal.
    pub answer: oneshot::Sender<Result<Accepted, String>>,
}

/// What a remote seat sends.
pub enum Message {
    Join(SeatJoined),
    Ballot(Box<Envelope>),
}

/// What was accepted; it is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Accepted {
    Joined,
    /// The ballot is sealed, with its receipt; false where it was before.
    Sealed(Receipt, bool),
}

/// An answer that waits for the disk.
pub(super) type DueAnswer = (oneshot::Sender<Result<Accepted, String>>, Accepted);

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
