//! Worker: answers for seats of sessions on other machines, with its own keys.
//!
//! It takes as many offers from the queue as it may answer at once. Each is verified, answered, sealed, signed,
//! stored in the spool, delivered, and acknowledged last. The queue sees no answer, and no other machine sees
//! the keys.

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
/// Time after an interrupt during which replies are still published.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);

/// Acknowledgement of an offer; `None` leaves it to another process of the worker.
type OfferReply = Option<AckKind>;

pub struct WorkerSettings {
    /// NATS server; its `name` is the worker's.
    pub address: Address,
    pub answerer: Answerer,
    pub spool: Spool,
    pub in_flight: usize,
    /// Cancelled when no new offers should be taken.
    pub interrupt: CancellationToken,
    /// Callback for messages to the worker's owner.
    pub tell: Tell,
}

pub struct Worker {
    settings: WorkerSettings,
    queue: Context,
    contexts: Contexts,
    trouble: Trouble,
    /// Deliveries being answered.
    working: Mutex<HashSet<String>>,
}

/// Requests redelivery after a pause, for problems that may be temporary.
fn again() -> AckKind {
    AckKind::Nak(Some(ack_wait() / 15))
}

impl Worker {
    /// Connects within a minute.
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

    /// Sends the replies that an earlier run left, and answers offers until it is interrupted. Finishes the
    /// offers that it has begun.
    ///
    /// # Errors
    /// The consumer of its offers has another configuration, or may not be used.
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

    /// Waits until a session has created the consumer of its offers.
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
                // The server has answered before, so the problem may be temporary.
                Err(QueueError::Refused(_)) if is_told => {}
                Err(error) => return Err(error),
            }
            sleep(PAUSE).await;
        }
    }

    /// Takes as many offers as it may begin.
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

    /// Processes one message, and reports progress to the queue meanwhile.
    async fn handle(&self, message: Message) {
        let delivered = message.info().map_or(1, |info| info.delivered);
        let signature = message.headers.as_ref().and_then(|headers| headers.get(SIGNATURE));
        let signature = signature.map(ToString::to_string).unwrap_or_default();
        let (message, acker) = message.split();
        let work = self.work(&message, &signature, delivered >= MAX_DELIVERIES);
        if let Some(kind) = with_progress(work, &acker).await {
            stop_at("before-ack");
            // If the acknowledgement is lost, the offer arrives again and its delivery is recognized.
            let _ = acker.double_ack_with(kind).await;
        }
    }

    async fn work(&self, message: &async_nats::Message, signature: &str, is_last: bool) -> OfferReply {
        let json = &message.payload;
        let why = match self.settings.answerer.read(json, signature) {
            Ok(offer) => return self.work_on(&offer, is_last).await,
            // No signed failure is sent; the session notices after the last delivery.
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
        // The id names a file, and an offer may fail only the seat that it is addressed to.
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
        // Checked before the spool, which would not yet contain the reply of a concurrent task.
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

    /// Stores a reply in the spool and sends it.
    async fn send(&self, reply: SeatReply) -> OfferReply {
        if let SeatReply::Failed(of) = &reply {
            self.tell(&format!("{}: {} failed: {}", of.ids.session, of.ids.participant, of.failed.reason));
        }
        stop_at("before-spool");
        // Sent anyway, because asking the model again would cost more.
        if let Err(error) = self.settings.spool.keep(&reply) {
            self.tell(&format!("warning: {error}"));
        }
        self.deliver(&reply).await
    }

    /// Publishes a reply until the queue has it on disk, and records that. Gives up shortly after an interrupt.
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
        // After a failure it is sent again, and recognized as a duplicate.
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

    async fn deliver_left(&self, left: Vec<SeatReply>) {
        let deliver = async |reply: SeatReply| {
            self.deliver(&reply).await;
        };
        futures::stream::iter(left).for_each_concurrent(16, deliver).await;
    }
}

/// Awaits the work, and reports progress to the queue at intervals.
async fn with_progress<T>(work: impl Future<Output = T>, acker: &Acker) -> T {
    let every = ack_wait() / 3;
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done,
            () = sleep(every) => {
                // The next report follows soon.
                let _ = acker.ack_with(AckKind::Progress).await;
            }
        }
    }
}
