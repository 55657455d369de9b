//! Receiver of a worker's messages: ballots, failures and abandoned offers.
//!
//! A message leaves the queue once the engine has it on disk or refuses it for good. Otherwise it is delivered
//! again.

use std::collections::HashSet;
use std::time::Duration;

use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::message::StreamMessage;
use async_nats::jetstream::{AckKind, Context, Message as Carried};
use futures::StreamExt as _;
use tokio::sync::mpsc;

use super::send::{PAUSE, SeatReply};
use super::{names, stop_at, streams};
use crate::core::Refusal;
use crate::engine::{AbandonedOffer, Arrival, Message, hand_in};
use crate::history::RefusalWord;

const AT_ONCE: usize = 256;
const WAIT: Duration = Duration::from_secs(2);
/// Interval of checks for abandoned offers.
const PERIOD: Duration = Duration::from_secs(2);

pub struct Receiver {
    pub queue: Context,
    pub consumer: PullConsumer,
    pub worker: String,
    pub session: String,
    pub seats: HashSet<String>,
    pub engine: mpsc::Sender<Arrival>,
}

impl Receiver {
    /// Receives messages forever.
    pub async fn run(self) {
        tokio::join!(self.take_ballots(), self.take_abandoned());
    }

    async fn take_ballots(&self) {
        loop {
            match self.consumer.fetch().max_messages(AT_ONCE).expires(WAIT).messages().await {
                Ok(batch) => {
                    let carried = batch.filter_map(async |carried| carried.ok());
                    carried.for_each_concurrent(AT_ONCE, |carried| self.take(carried)).await;
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    async fn take(&self, carried: Carried) {
        let reply = SeatReply::read(&carried.payload);
        let message = match reply.filter(|reply| self.seats.contains(&reply.ids().participant)) {
            Some(SeatReply::Sealed(envelope)) => Message::Ballot(envelope),
            Some(SeatReply::Failed(failed)) => Message::Failed(failed),
            None => {
                let _ = carried.ack_with(AckKind::Term).await;
                return;
            }
        };
        stop_at("taken");
        match hand_in(&self.engine, message).await {
            Some(Ok(_)) => {
                stop_at("synced");
                // If the acknowledgement is lost, the message arrives again and is recognized.
                let _ = carried.double_ack().await;
            }
            Some(Err(Refusal::Word(word))) if word != RefusalWord::TheSessionIsNotRunning => {
                let _ = carried.ack_with(AckKind::Term).await;
            }
            // The session is paused or over; the message stays in the queue.
            Some(Err(_)) | None => {}
        }
    }

    async fn take_abandoned(&self) {
        let mut period = tokio::time::interval(PERIOD);
        loop {
            period.tick().await;
            for found in self.abandoned().await.unwrap_or_default() {
                let Ok(ids) = serde_json::from_slice(&found.payload) else { continue };
                let abandoned = Message::Abandoned(AbandonedOffer { why: "the worker gave up", ids });
                if let Some(Ok(_)) = hand_in(&self.engine, abandoned).await
                    && let Ok(stream) = self.queue.get_stream_no_info(names::OFFERS).await
                {
                    let _ = stream.delete_message(found.sequence).await;
                }
            }
        }
    }

    /// Returns the session's offers in the queue that the worker has received but no longer works on.
    async fn abandoned(&self) -> Option<Vec<StreamMessage>> {
        let consumer = streams::worker_consumer(&self.queue, &self.worker).await.ok()??;
        let info = consumer.get_info().await.ok()?;
        if info.num_pending > 0 || info.num_ack_pending > 0 {
            return None;
        }
        // Later offers are not abandoned.
        let last = info.delivered.stream_sequence;
        let stream = self.queue.get_stream_no_info(names::OFFERS).await.ok()?;
        let offers = names::offer(&self.worker, &[&self.session]);
        let mut subjects = stream.info_with_subjects(offers).await.ok()?;
        let mut found = Vec::new();
        while let Some(Ok((subject, _))) = subjects.next().await {
            let lying = stream.get_last_raw_message_by_subject(&subject).await.ok();
            found.extend(lying.filter(|lying| lying.sequence <= last));
        }
        Some(found)
    }
}
