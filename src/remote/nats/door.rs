//! The door of workers: their offers are published once they are on disk, and what they send is
//! acknowledged once that is on disk. The file alone is the truth; the queue only carries.

use std::sync::{Arc, Mutex, PoisonError};

use async_nats::HeaderMap;
use async_nats::jetstream::{self, Context};
use futures::StreamExt as _;
use tokio::runtime::Handle;
use tokio::sync::{RwLock, mpsc};
use tokio::time::sleep;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::names::{self, CONTEXT_PART, CONTEXTS, OFFERS, SIGNATURE};
use super::offers::{Offers, Orders, QueuedOffer};
use super::receive::Receiver;
use super::send::{PAUSE, lying, publish, purge};
use super::streams::{self, MAX_OFFER, ack_wait};
use super::{Address, QueueError, Tell, Trouble, connect, stop_at};
use crate::engine::{Arrival, GivenUp, Message, hand_in};
use crate::history::{Door, SeatInfo, Session, SessionOpened};
use crate::round::seal::sign::{SigningKey, offer_message};

/// Offers that are on their way at once.
const IN_FLIGHT: usize = 256;
/// Room for the headers of an offer.
const HEADERS: usize = 1024;

pub struct QueueDoor {
    sender: Arc<Sender>,
    session: String,
    workers: Vec<String>,
    offers: Mutex<Offers>,
    runtime: Handle,
    ends: CancellationToken,
    _guard: DropGuard,
}

fn worker_of(seat: &SeatInfo) -> Option<&str> {
    let remote = seat.remote.as_ref().filter(|remote| remote.door == Door::Nats)?;
    remote.worker.as_deref()
}

pub fn workers_of(header: &SessionOpened) -> Vec<String> {
    let mut workers: Vec<String> =
        header.participants.iter().filter_map(worker_of).map(str::to_owned).collect();
    workers.sort();
    workers.dedup();
    workers
}

impl QueueDoor {
    /// Connects, makes the streams of the session's workers, and takes in what they send from here on.
    pub async fn open(
        address: &Address,
        header: &SessionOpened,
        session: &str,
        key: SigningKey,
        engine: &mpsc::Sender<Arrival>,
        tell: &Tell,
    ) -> Result<Self, QueueError> {
        let queue = jetstream::new(connect(address, tell).await?);
        let workers = workers_of(header);
        streams::make(&queue, &workers).await?;
        let ends = CancellationToken::new();
        for worker in &workers {
            let seats = header.participants.iter().filter(|seat| worker_of(seat) == Some(worker));
            let receiver = Receiver {
                queue: queue.clone(),
                consumer: streams::session_consumer(&queue, worker, session).await?,
                worker: worker.clone(),
                session: session.to_owned(),
                seats: seats.map(|seat| seat.name.clone()).collect(),
                engine: engine.clone(),
            };
            tokio::spawn(ends.clone().run_until_cancelled_owned(receiver.run()));
        }
        let (engine, trouble) = (engine.clone(), Trouble::new(tell, ""));
        let sender = Sender { queue, key, engine, trouble, sending: RwLock::default() };
        Ok(Self {
            sender: Arc::new(sender),
            session: session.to_owned(),
            workers,
            offers: Mutex::default(),
            runtime: Handle::current(),
            _guard: ends.clone().drop_guard(),
            ends,
        })
    }

    /// Sees the state after a write to disk, and does what follows from it.
    pub fn see(&self, session: &Session) {
        let orders = self.offers.lock().unwrap_or_else(PoisonError::into_inner).orders(session);
        if orders.withdraw.is_empty() && orders.offers.is_empty() {
            return;
        }
        let carrying = Arc::clone(&self.sender).carry_out(orders);
        self.runtime.spawn(self.ends.clone().run_until_cancelled_owned(carrying));
    }

    /// Takes away what a session that is over has left in the queue.
    ///
    /// # Errors
    /// When the server does not do it; what lies there then is refused by whoever reads it.
    pub async fn close(&self) -> Result<(), QueueError> {
        stop_at("closed");
        self.ends.cancel();
        let failed = |error: String| QueueError::Refused(format!("the queue: {error}"));
        let queue = &self.sender.queue;
        for worker in &self.workers {
            let sealed = names::sealed_stream(worker);
            purge(queue, OFFERS, &names::offer(worker, &[&self.session])).await.map_err(failed)?;
            purge(queue, &sealed, &names::sealed(worker, &[&self.session])).await.map_err(failed)?;
            let consumer = names::facilitator(&self.session);
            let deleted = queue.delete_consumer_from_stream(consumer, sealed).await;
            deleted.map_err(|error| failed(error.to_string()))?;
        }
        Ok(())
    }
}

/// Puts offers and snapshots into the queue, and takes offers back. What the server has already is not put
/// there twice. What it refuses is said, and given up with its round.
struct Sender {
    queue: Context,
    key: SigningKey,
    engine: mpsc::Sender<Arrival>,
    trouble: Trouble,
    /// Nothing is taken back before what was ordered earlier has arrived.
    sending: RwLock<()>,
}

impl Sender {
    async fn carry_out(self: Arc<Self>, orders: Orders) {
        if !orders.withdraw.is_empty() {
            let _alone = self.sending.write().await;
            for subjects in &orders.withdraw {
                if let Err(why) = purge(&self.queue, OFFERS, subjects).await {
                    self.trouble.say(&format!("{subjects} cannot be taken out of the queue: {why}"));
                }
            }
        }
        let _sending = self.sending.read().await;
        if let Some((sha256, text)) = &orders.context {
            orders.ends.run_until_cancelled(self.publish_context(sha256, text)).await;
        }
        let offers = futures::stream::iter(orders.offers);
        offers.for_each_concurrent(IN_FLIGHT, |offer| Arc::clone(&self).publish_offer(offer)).await;
    }

    async fn publish_context(&self, sha256: &str, text: &str) {
        for (number, part) in text.as_bytes().chunks(CONTEXT_PART).enumerate() {
            let subject = names::context(sha256, number);
            while let Err(why) = publish(&self.queue, &subject, Some(&subject), HeaderMap::new(), part).await
                && lying(&self.queue, CONTEXTS, &subject).await.is_none()
            {
                self.trouble.say(&format!("a snapshot cannot be put into the queue: {why}; trying again"));
                sleep(PAUSE).await;
            }
        }
    }

    async fn publish_offer(self: Arc<Self>, offer: QueuedOffer) {
        if offer.body.len() > MAX_OFFER - HEADERS {
            let given_up = GivenUp { why: "its question is too long for the queue", ids: offer.ids };
            hand_in(&self.engine, Message::GivenUp(given_up)).await;
            return;
        }
        while !offer.ends.is_cancelled() {
            let put = self.put(&offer, Some(&offer.message_id)).await;
            if put == Ok(true) {
                stop_at("offered");
                return;
            }
            let why = match (lying(&self.queue, OFFERS, &offer.subject).await, put) {
                (Some(found), _) if found == offer.body.as_bytes() => return,
                // An earlier try lies there, whose worker gave it up; or the deadline was another.
                (Some(_), _) => match purge(&self.queue, OFFERS, &offer.subject).await {
                    Ok(()) => continue,
                    Err(why) => why,
                },
                (None, Err(why)) => why,
                (None, Ok(_)) => {
                    tokio::spawn(self.offer_again(offer));
                    return;
                }
            };
            self.trouble.say(&format!("an offer cannot be put into the queue: {why}; trying again"));
            offer.ends.run_until_cancelled(sleep(PAUSE)).await;
        }
    }

    /// An offer that a worker has taken out of the queue, whose ballot is still to come or was refused: if it
    /// does not come in time, the worker is asked once more. One that has sealed it knows that it has.
    async fn offer_again(self: Arc<Self>, offer: QueuedOffer) {
        offer.ends.run_until_cancelled(sleep(2 * ack_wait() + PAUSE)).await;
        while !offer.ends.is_cancelled()
            && self.put(&offer, None).await.is_err()
            && lying(&self.queue, OFFERS, &offer.subject).await.is_none()
        {
            offer.ends.run_until_cancelled(sleep(PAUSE)).await;
        }
    }

    async fn put(&self, offer: &QueuedOffer, id: Option<&str>) -> Result<bool, String> {
        let mut headers = HeaderMap::new();
        headers.insert(SIGNATURE, self.key.sign(&offer_message(offer.body.as_bytes())));
        publish(&self.queue, &offer.subject, id, headers, offer.body.as_bytes()).await
    }
}
