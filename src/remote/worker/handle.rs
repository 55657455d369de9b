//! One offer: checked, answered, spooled, delivered, and acknowledged last.

use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::message::Acker;
use async_nats::jetstream::{AckKind, Message};
use futures::StreamExt as _;

use super::run::Worker;
use crate::clock::now;
use crate::remote::nats::names::{self, SIGNATURE, sealed};
use crate::remote::nats::send::{PAUSE, SeatReply, publish};
use crate::remote::nats::stop_at;
use crate::remote::nats::streams::{MAX_DELIVERIES, ack_wait};
use crate::round::offer::{BadOffer, DeliveryIds, Offer};
use crate::round::seal::sign::named_key;
use crate::round::snapshot::unhex;

/// A message is published so long after an interrupt.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);

/// The answer to the queue about an offer; `None` leaves it to another process of the worker.
type OfferReply = Option<AckKind>;

/// After a pause: what was wrong may pass.
fn again() -> AckKind {
    AckKind::Nak(Some(ack_wait() / 15))
}

impl Worker {
    /// Works on one message to its end. The queue is told meanwhile that somebody does.
    pub(super) async fn handle(&self, message: Message) {
        let delivered = message.info().map_or(1, |info| info.delivered);
        let signature = message.headers.as_ref().and_then(|headers| headers.get(SIGNATURE));
        let signature = signature.map(ToString::to_string).unwrap_or_default();
        let (message, acker) = message.split();
        let work = self.work(&message, &signature, delivered >= MAX_DELIVERIES);
        if let Some(kind) = with_progress(work, &acker).await {
            stop_at("before-ack");
            // One that gets lost brings the offer here again, and its delivery is known then.
            let _ = acker.double_ack_with(kind).await;
        }
    }

    async fn work(&self, message: &async_nats::Message, signature: &str, is_last: bool) -> OfferReply {
        let json = &message.payload;
        let why = match self.settings.answerer.read(json, signature) {
            Ok(offer) => return self.work_on(&offer, is_last).await,
            // Nothing is signed for it; its session finds out once it was given often enough.
            Err(BadOffer::NotSigned) => {
                self.tell("an offer is refused: its table has not signed it");
                return Some(again());
            }
            Err(BadOffer::Stranger) => {
                let offer: serde_json::Value = serde_json::from_slice(json).unwrap_or_default();
                let key = offer["table_key"].as_str().and_then(named_key).unwrap_or_default();
                self.trouble.say(&format!("offers are refused: `ed25519:{key}` is none of `table_keys`"));
                return Some(again());
            }
            Err(BadOffer::Unknown) => "needs a newer version",
        };
        // The id names a file, and nobody has a seat fail that the offer is not addressed to.
        let is_of_seat = |ids: &DeliveryIds| {
            let subject = names::offer(self.name(), &[&ids.session, &ids.round, &ids.participant]);
            unhex::<32>(&ids.delivery).is_some() && *message.subject == subject
        };
        if let Some(ids) = serde_json::from_slice(json).ok().filter(is_of_seat) {
            return self.send(self.settings.answerer.fail(ids, why)).await;
        }
        self.tell(&format!("an offer is refused: {why}"));
        Some(AckKind::Term)
    }

    async fn work_on(&self, offer: &Offer, is_last: bool) -> OfferReply {
        let ids = &offer.ids;
        let DeliveryIds { delivery, session, round, participant } = ids;
        // Before the look at the spool: what is kept there meanwhile would be missed.
        let _working = self.begin(delivery)?;
        if self.settings.spool.is_done(delivery) {
            return Some(AckKind::Ack);
        }
        match self.settings.spool.find(delivery) {
            Ok(Some(reply)) => return self.deliver(&reply).await,
            Ok(None) => {}
            Err(error) => {
                self.tell(&format!("warning: {error}"));
                return Some(again());
            }
        }
        if offer.deadline.is_some_and(|deadline| deadline <= now().0) {
            self.tell(&format!("{session}: {participant} is too late for round `{round}`"));
            return Some(AckKind::Term);
        }
        self.tell(&format!("{session}: {participant} is asked"));
        match self.ask(offer).await {
            Ok(reply) => self.send(reply).await,
            Err(why) if is_last => self.send(self.settings.answerer.fail(ids.clone(), &why)).await,
            Err(why) => {
                self.tell(&format!("{session}: {participant}: {why}"));
                Some(again())
            }
        }
    }

    /// Returns the message to send back, or an error of this side that may pass.
    async fn ask(&self, offer: &Offer) -> Result<SeatReply, String> {
        let snapshot = self.contexts.get(&offer.snapshot_sha256).await?;
        self.settings.answerer.answer(offer, snapshot).await.map_err(|error| error.to_string())
    }

    /// Keeps what is to be sent back on disk, and sends it.
    async fn send(&self, reply: SeatReply) -> OfferReply {
        if let SeatReply::Failed(of) = &reply {
            self.tell(&format!("{}: {} failed: {}", of.session, of.participant, of.failed.reason));
        }
        stop_at("before-spool");
        // Sent all the same: to ask the model again would cost more.
        if let Err(error) = self.settings.spool.keep(&reply) {
            self.tell(&format!("warning: {error}"));
        }
        self.deliver(&reply).await
    }

    /// Publishes a message that is on disk until the queue has it on disk, and notes that; after an interrupt
    /// for a moment only.
    async fn deliver(&self, reply: &SeatReply) -> OfferReply {
        stop_at("before-publish");
        let ids = reply.ids();
        let subject = sealed(self.name(), &[&ids.session, &ids.round, &ids.participant]);
        tokio::select! {
            () = self.publish(reply, &subject) => {}
            () = self.grace_after_interrupt() => {
                self.tell(&format!("not delivered yet: kept for the next start ({subject})"));
                return None;
            }
        }
        // If that fails it is sent once more, and known as a duplicate.
        if let Err(error) = self.settings.spool.finish(&ids.delivery) {
            self.tell(&format!("warning: {error}"));
        }
        Some(AckKind::Ack)
    }

    async fn publish(&self, reply: &SeatReply, subject: &str) {
        let body = serde_json::to_vec(reply).unwrap_or_default();
        let id = match reply {
            SeatReply::Sealed(envelope) => envelope.delivery.clone(),
            SeatReply::Failed(failed) => format!("{}.failed", failed.delivery),
        };
        while let Err(why) = publish(&self.queue, subject, Some(&id), HeaderMap::new(), &body).await {
            self.trouble.say(&format!("an answer cannot be delivered yet: {why}; trying again"));
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn grace_after_interrupt(&self) {
        self.settings.interrupt.cancelled().await;
        tokio::time::sleep(SHUTDOWN_GRACE).await;
    }

    /// Sends what an earlier run has left.
    pub(super) async fn deliver_left(&self, left: Vec<SeatReply>) {
        let deliver = async |reply: SeatReply| {
            self.deliver(&reply).await;
        };
        futures::stream::iter(left).for_each_concurrent(16, deliver).await;
    }
}

/// Tells the queue, as long as the work goes on, that somebody does it.
async fn with_progress<T>(work: impl Future<Output = T>, acker: &Acker) -> T {
    let every = ack_wait() / 3;
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done,
            () = tokio::time::sleep(every) => {
                // The next one comes soon.
                let _ = acker.ack_with(AckKind::Progress).await;
            }
        }
    }
}
