//! One offer: checked, answered, spooled, delivered, and acknowledged last.

use std::panic::AssertUnwindSafe;

use async_nats::jetstream::message::Acker;
use async_nats::jetstream::{AckKind, Message};
use futures::future::FutureExt as _;

use super::answer::Answer;
use super::run::Worker;
use super::spool::Outgoing;
use crate::clock::now;
use crate::remote::nats::names::{self, SIGNATURE, sealed};
use crate::remote::nats::stop_at;
use crate::remote::nats::streams::{MAX_DELIVERIES, ack_wait};
use crate::round::envelope::FailedDelivery;
use crate::round::offer::{BadOffer, DeliveryIds, Offer};
use crate::round::snapshot::unhex;

/// The fate of an offer in the queue.
#[derive(Debug)]
pub(super) enum Verdict {
    /// It is acknowledged like this, and its delivery has arrived.
    Delivered(AckKind, String),
    /// It is acknowledged: its delivery has arrived before.
    Done,
    /// It is taken away: nobody will answer it.
    Drop,
    Again,
    Leave,
}

impl Worker {
    /// Works on one message to its end. The queue is told meanwhile that somebody does.
    pub(super) async fn handle(&self, message: Message) {
        let delivered = message.info().map_or(1, |info| info.delivered);
        let signature = message.headers.as_ref().and_then(|headers| headers.get(SIGNATURE));
        let signature = signature.map(ToString::to_string).unwrap_or_default();
        let (message, acker) = message.split();
        let is_last = delivered >= MAX_DELIVERIES;
        let work = AssertUnwindSafe(self.work(&message, &signature, is_last)).catch_unwind();
        let verdict = with_progress(work, &acker).await.unwrap_or_else(|_| {
            self.tell("internal error at one offer; it is tried again");
            Verdict::Again
        });
        self.acknowledge(&acker, verdict).await;
    }

    async fn acknowledge(&self, acker: &Acker, verdict: Verdict) {
        let (kind, arrived) = match verdict {
            Verdict::Delivered(kind, delivery) => (kind, Some(delivery)),
            Verdict::Done => (AckKind::Ack, None),
            Verdict::Drop => (AckKind::Term, None),
            // After a pause: what was wrong may pass.
            Verdict::Again => (AckKind::Nak(Some(ack_wait() / 15)), None),
            Verdict::Leave => return,
        };
        // One that gets lost brings the offer here again, and its delivery is known then.
        let _ = acker.double_ack_with(kind).await;
        stop_at("before-done");
        if let Some(delivery) = arrived {
            self.finish(&delivery);
        }
    }

    async fn work(&self, message: &async_nats::Message, signature: &str, is_last: bool) -> Verdict {
        let json = &message.payload;
        let why = match self.answerer.read(json, signature) {
            Ok(offer) => return self.work_on(&offer, is_last).await,
            // Nothing is signed for it; the queue tells its table once it was given often enough.
            Err(BadOffer::NotSigned) => {
                self.tell("an offer is refused: its table has not signed it");
                return Verdict::Again;
            }
            Err(BadOffer::Stranger) => {
                self.tell_stranger(json);
                return Verdict::Again;
            }
            Err(BadOffer::Unknown) => "needs a newer version",
        };
        let ids = serde_json::from_slice::<DeliveryIds>(json).ok();
        // The id names a file, and nobody has a seat fail that the offer is not addressed to.
        let is_of_seat = |ids: &DeliveryIds| {
            let subject = names::offer(&self.name, &ids.session, &ids.round, &ids.participant);
            unhex::<32>(&ids.delivery).is_some() && *message.subject == subject
        };
        let Some(ids) = ids.filter(is_of_seat) else {
            self.tell(&format!("an offer is refused: {why}"));
            return Verdict::Drop;
        };
        self.send_failure(self.answerer.fail(ids, why)).await
    }

    async fn work_on(&self, offer: &Offer, is_last: bool) -> Verdict {
        let ids = &offer.ids;
        let DeliveryIds { delivery, session, round, participant } = ids;
        // Before the look at the spool: what is kept there meanwhile would be missed.
        let Some(_working) = self.begin(delivery) else { return Verdict::Leave };
        if self.spool.is_done(delivery) {
            return Verdict::Done;
        }
        match self.spool.find(delivery) {
            Ok(Some(outgoing)) => return self.deliver(&outgoing).await,
            Ok(None) => {}
            Err(error) => {
                self.tell(&format!("warning: {error}"));
                return Verdict::Again;
            }
        }
        if offer.deadline.is_some_and(|deadline| deadline <= now().0) {
            self.tell(&format!("{session}: {participant} is too late for round `{round}`"));
            return Verdict::Drop;
        }
        self.tell_session(session);
        let body = match self.ask(offer).await {
            Ok(Answer::Sealed(envelope)) => serde_json::to_string(&envelope),
            Ok(Answer::Failed(failed)) => return self.send_failure(failed).await,
            Err(why) if is_last => return self.send_failure(self.answerer.fail(ids.clone(), &why)).await,
            Err(why) => {
                self.tell(&format!("{session}: {participant}: {why}"));
                return Verdict::Again;
            }
        };
        self.send(ids, body.unwrap_or_default(), false).await
    }

    /// Returns the message to send back, or an error of this side that may pass.
    async fn ask(&self, offer: &Offer) -> Result<Answer, String> {
        let snapshot = self.contexts.get(&offer.snapshot_sha256).await?;
        self.answerer.answer(offer, snapshot).await.map_err(|error| error.to_string())
    }

    async fn send_failure(&self, failed: FailedDelivery) -> Verdict {
        self.tell(&format!("{}: {} failed: {}", failed.session, failed.participant, failed.failed.reason));
        let body = serde_json::to_string(&failed).unwrap_or_default();
        let FailedDelivery { delivery, session, round, participant, .. } = failed;
        self.send(&DeliveryIds { delivery, session, round, participant }, body, true).await
    }

    /// Keeps what is to be sent back on disk, and sends it.
    async fn send(&self, ids: &DeliveryIds, body: String, is_failure: bool) -> Verdict {
        let message_id = if is_failure { format!("{}.failed", ids.delivery) } else { ids.delivery.clone() };
        let outgoing = Outgoing {
            delivery: ids.delivery.clone(),
            subject: sealed(&self.name, &ids.session, &ids.round, &ids.participant),
            message_id,
            is_failure,
            body,
        };
        stop_at("before-spool");
        // Sent all the same: to ask the model again would cost more.
        if let Err(error) = self.spool.keep(&outgoing) {
            self.tell(&format!("warning: {error}"));
        }
        self.deliver(&outgoing).await
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
