//! The way of a spooled message into the queue: published until the stream has it, then let go.

use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::AckKind;
use futures::StreamExt as _;

use super::handle::Verdict;
use super::run::Worker;
use super::spool::Outgoing;
use crate::remote::nats::names::MESSAGE_ID;
use crate::remote::nats::stop_at;

/// The pause before something is published once more.
const PAUSE: Duration = Duration::from_millis(500);
const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);

impl Worker {
    /// Publishes a message that is on disk, until the queue has it on disk; after an interrupt for a
    /// moment only. Says what becomes of its offer.
    pub(super) async fn deliver(&self, outgoing: &Outgoing) -> Verdict {
        stop_at("before-publish");
        let published = tokio::select! {
            () = self.publish(outgoing) => true,
            () = self.grace_after_interrupt() => false,
        };
        if !published {
            self.tell(&format!("not delivered yet: kept for the next start ({})", outgoing.subject));
            return Verdict::Leave;
        }
        stop_at("before-ack");
        let kind = if outgoing.is_failure { AckKind::Term } else { AckKind::Ack };
        Verdict::Delivered(kind, outgoing.delivery.clone())
    }

    async fn publish(&self, outgoing: &Outgoing) {
        let mut said = String::new();
        loop {
            let mut headers = HeaderMap::new();
            headers.insert(MESSAGE_ID, &*outgoing.message_id);
            let (subject, body) = (outgoing.subject.clone(), outgoing.body.clone());
            let sent = self.queue.publish_with_headers(subject, headers, body.into()).await;
            let stored = match sent {
                Ok(stored) => stored.await.map(drop),
                Err(error) => Err(error),
            };
            let Err(error) = stored else { return };
            let why = error.to_string();
            if said != why {
                self.tell(&format!("{} cannot be delivered yet: {why}; trying again", outgoing.subject));
                said = why;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn grace_after_interrupt(&self) {
        self.interrupt.cancelled().await;
        tokio::time::sleep(SHUTDOWN_GRACE).await;
    }

    pub(super) async fn deliver_left(&self, left: Vec<Outgoing>) {
        let deliver = async |outgoing: Outgoing| {
            if let Verdict::Delivered(..) = self.deliver(&outgoing).await {
                self.finish(&outgoing.delivery);
            }
        };
        futures::stream::iter(left).for_each_concurrent(16, deliver).await;
    }

    /// Notes that a delivery has arrived. If that fails it is sent once more, and known as a duplicate.
    pub(super) fn finish(&self, delivery: &str) {
        if let Err(error) = self.spool.finish(delivery) {
            self.tell(&format!("warning: {error}"));
        }
    }
}
