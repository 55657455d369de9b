//! Takes in what workers send. It is acknowledged once the engine has it on disk; what can never count is
//! taken out of the queue, and all else is given again.

use std::collections::HashSet;
use std::time::Duration;

use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::{AckKind, Message as Carried};
use futures::StreamExt as _;
use tokio::sync::{mpsc, oneshot};

use crate::core::Refusal;
use crate::engine::{Accepted, Arrival, Message};
use crate::history::RefusalWord;
use crate::remote::nats::stop_at;
use crate::round::envelope::{Envelope, FailedDelivery};

const AT_ONCE: usize = 256;
const WAIT: Duration = Duration::from_secs(2);
/// The pause after a fetch that failed.
const PAUSE: Duration = Duration::from_millis(500);

pub struct BallotReceiver {
    pub consumer: PullConsumer,
    pub worker: String,
    pub seats: HashSet<String>,
    pub arrive: mpsc::Sender<Arrival>,
}

impl BallotReceiver {
    pub async fn run(self) {
        loop {
            let batch = self.consumer.fetch().max_messages(AT_ONCE).expires(WAIT).messages().await;
            let Ok(mut batch) = batch else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            while let Some(carried) = batch.next().await {
                match carried {
                    Ok(carried) => self.take(carried).await,
                    Err(error) => {
                        tracing::warn!(worker = %self.worker, %error, "a fetch broke off");
                        tokio::time::sleep(PAUSE).await;
                        break;
                    }
                }
            }
        }
    }

    async fn take(&self, carried: Carried) {
        let Some(message) = self.read(&carried.payload) else {
            tracing::warn!(worker = %self.worker, subject = %carried.subject, "no message of its own seat");
            let _ = carried.ack_with(AckKind::Term).await;
            return;
        };
        let (answer, answered) = oneshot::channel();
        if self.arrive.send(Arrival { message, answer }).await.is_ok() {
            stop_at("taken");
            tokio::spawn(settle(carried, answered));
        }
    }

    /// A ballot or a failure of a seat of this worker.
    fn read(&self, json: &[u8]) -> Option<Message> {
        let (seat, message) = if let Some(envelope) = Envelope::read(json) {
            (envelope.participant.clone(), Message::Ballot(Box::new(envelope)))
        } else {
            let failed = FailedDelivery::read(json)?;
            (failed.participant.clone(), Message::Failed(Box::new(failed)))
        };
        self.seats.contains(&seat).then_some(message)
    }
}

async fn settle(carried: Carried, answered: oneshot::Receiver<Result<Accepted, Refusal>>) {
    match answered.await {
        Ok(Ok(_)) => {
            stop_at("synced");
            // If the server does not say so, it comes once more and is known.
            let _ = carried.double_ack().await;
        }
        Ok(Err(refusal)) if is_final(&refusal) => {
            let _ = carried.ack_with(AckKind::Term).await;
        }
        // It is given again: the session rests, or has ended.
        Ok(Err(_)) | Err(_) => {}
    }
}

/// A refusal of this kind is final.
fn is_final(refusal: &Refusal) -> bool {
    matches!(
        refusal,
        Refusal::Word(
            RefusalWord::Stale
                | RefusalWord::AlreadySealed
                | RefusalWord::SeatExcused
                | RefusalWord::TooLong
                | RefusalWord::BadLength
                | RefusalWord::BadSignature
                | RefusalWord::NotAParticipant
                | RefusalWord::RoundClosed
        )
    )
}
