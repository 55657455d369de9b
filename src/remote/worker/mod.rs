//! A worker: a machine that keeps its own keys to models, and answers for seats of sessions elsewhere.
//!
//! It takes as many offers from the queue as it may answer at once. Each is checked, answered, sealed, signed,
//! spooled, delivered, and acknowledged last. The queue never sees an answer, and nobody sees the keys.

mod answer;
mod context;
mod money;
mod spool;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_nats::HeaderMap;
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::message::Acker;
use async_nats::jetstream::{self, AckKind, Context, Message};
use futures::StreamExt as _;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::clock::now;
use crate::participants::lock;
use crate::remote::nats::names::{self, SIGNATURE, sealed};
use crate::remote::nats::send::{PAUSE, SeatReply, publish};
use crate::remote::nats::streams::{MAX_DELIVERIES, ack_wait, worker_consumer};
use crate::remote::nats::{Address, QueueError, Tell, Trouble, connect, stop_at};
use crate::round::envelope::DeliveryIds;
use crate::round::offer::{BadOffer, Offer};
use crate::round::seal::sign::named_key;
use crate::round::snapshot::unhex;

pub use answer::{Answerer, WorkerModel};
use context::Contexts;
pub use money::Money;
pub use spool::Spool;

const PULL: Duration = Duration::from_secs(2);
const DAY: Duration = Duration::from_secs(24 * 3600);
/// A message is published so long after an interrupt.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);

/// The answer to the queue about an offer; `None` leaves it to another process of the worker.
type OfferReply = Option<AckKind>;

pub struct WorkerSettings {
    /// The server; its name is the worker's.
    pub address: Address,
    pub answerer: Answerer,
    pub spool: Spool,
    pub in_flight: usize,
    /// Cancelled when nothing more is to be begun.
    pub interrupt: CancellationToken,
    /// Says one line to its owner.
    pub tell: Tell,
}

pub struct Worker {
    settings: WorkerSettings,
    queue: Context,
    contexts: Contexts,
    trouble: Trouble,
    /// Deliveries in work.
    working: Mutex<HashSet<String>>,
}

/// After a pause: what was wrong may pass.
fn again() -> AckKind {
    AckKind::Nak(Some(ack_wait() / 15))
}

impl Worker {
    /// Connects, for a minute at the most.
    pub async fn connect(settings: WorkerSettings) -> Result<Arc<Self>, QueueError> {
        let client = connect(&settings.address, &settings.tell).await?;
        Ok(Arc::new(Self {
            queue: jetstream::new(client.clone()),
            contexts: Contexts::new(client),
            trouble: Trouble::new(&settings.tell, ""),
            working: Mutex::default(),
            settings,
        }))
    }

    fn name(&self) -> &str {
        &self.settings.address.name
    }

    fn tell(&self, line: &str) {
        (self.settings.tell)(line);
    }

    /// Sends what an earlier run has left, and answers offers until it is interrupted. What is in work then
    /// is finished.
    ///
    /// # Errors
    /// When the consumer of its offers has another configuration, or it may not use it.
    pub async fn run(self: &Arc<Self>, left: Vec<SeatReply>) -> Result<(), QueueError> {
        let mut at_work = JoinSet::new();
        let this = Arc::clone(self);
        let delivering = tokio::spawn(async move { this.deliver_left(left).await });
        let taken = self.settings.interrupt.run_until_cancelled(self.take_offers(&mut at_work)).await;
        taken.unwrap_or(Ok(()))?;
        while at_work.join_next().await.is_some() {}
        let _ = delivering.await;
        Ok(())
    }

    async fn take_offers(self: &Arc<Self>, at_work: &mut JoinSet<()>) -> Result<(), QueueError> {
        let consumer = self.consumer().await?;
        let mut forgot = None::<Instant>;
        loop {
            if forgot.is_none_or(|forgot| forgot.elapsed() > DAY) {
                self.settings.spool.forget_old();
                forgot = Some(Instant::now());
            }
            if at_work.len() >= self.settings.in_flight {
                at_work.join_next().await;
            }
            while at_work.try_join_next().is_some() {}
            if let Err(why) = self.pull(&consumer, at_work).await {
                self.trouble.say(&format!("the queue gives no offers: {why}; trying again"));
                sleep(PAUSE).await;
            }
        }
    }

    /// The consumer of its offers, once a session has made it.
    async fn consumer(&self) -> Result<PullConsumer, QueueError> {
        let mut is_told = false;
        loop {
            match worker_consumer(&self.queue, self.name()).await {
                Ok(Some(consumer)) => return Ok(consumer),
                Ok(None) => {
                    if !std::mem::replace(&mut is_told, true) {
                        self.tell("no session has asked for this worker yet: waiting");
                    }
                }
                // The server has answered before: what is wrong now may pass.
                Err(QueueError::Refused(_)) if is_told => {}
                Err(error) => return Err(error),
            }
            sleep(PAUSE).await;
        }
    }

    /// Takes as many offers as there is room for.
    async fn pull(
        self: &Arc<Self>,
        consumer: &PullConsumer,
        at_work: &mut JoinSet<()>,
    ) -> Result<(), String> {
        let free = self.settings.in_flight - at_work.len();
        let batch = consumer.batch().max_messages(free).expires(PULL).messages().await;
        let mut batch = batch.map_err(|error| error.to_string())?;
        while let Some(message) = batch.next().await {
            let (this, message) = (Arc::clone(self), message.map_err(|error| error.to_string())?);
            at_work.spawn(async move { this.handle(message).await });
        }
        Ok(())
    }

    /// Works on one message to its end, and tells the queue meanwhile that somebody does.
    async fn handle(&self, message: Message) {
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
        // Before the look at the spool: what is kept there meanwhile would be missed.
        if !lock(&self.working).insert(offer.ids.delivery.clone()) {
            return None;
        }
        let reply = self.reply_to(offer, is_last).await;
        lock(&self.working).remove(&offer.ids.delivery);
        reply
    }

    async fn reply_to(&self, offer: &Offer, is_last: bool) -> OfferReply {
        let ids = &offer.ids;
        let DeliveryIds { delivery, session, round, participant } = ids;
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
        let asked = async {
            let snapshot = self.contexts.get(&offer.snapshot_sha256).await?;
            self.settings.answerer.answer(offer, snapshot).await.map_err(|error| error.to_string())
        };
        match asked.await {
            Ok(reply) => self.send(reply).await,
            Err(why) if is_last => self.send(self.settings.answerer.fail(ids.clone(), &why)).await,
            Err(why) => {
                self.tell(&format!("{session}: {participant}: {why}"));
                Some(again())
            }
        }
    }

    /// Keeps what is to be sent back on disk, and sends it.
    async fn send(&self, reply: SeatReply) -> OfferReply {
        if let SeatReply::Failed(of) = &reply {
            self.tell(&format!("{}: {} failed: {}", of.ids.session, of.ids.participant, of.failed.reason));
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
        let grace_after_interrupt = async {
            self.settings.interrupt.cancelled().await;
            sleep(SHUTDOWN_GRACE).await;
        };
        tokio::select! {
            () = self.publish(reply, &subject) => {}
            () = grace_after_interrupt => {
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
            SeatReply::Failed(failed) => format!("{}.failed", failed.ids.delivery),
        };
        while let Err(why) = publish(&self.queue, subject, Some(&id), HeaderMap::new(), &body).await {
            self.trouble.say(&format!("an answer cannot be delivered yet: {why}; trying again"));
            sleep(PAUSE).await;
        }
    }

    /// Sends what an earlier run has left.
    async fn deliver_left(&self, left: Vec<SeatReply>) {
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
            () = sleep(every) => {
                // The next one comes soon.
                let _ = acker.ack_with(AckKind::Progress).await;
            }
        }
    }
}
