//! The door of workers: offers follow from a session's state, each once, in the order in which seats were
//! asked. They are published once they are on disk, and what workers send is acknowledged once that is on disk.
//! The file alone is the truth; the queue only carries.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use async_nats::HeaderMap;
use async_nats::jetstream::{self, Context};
use futures::StreamExt as _;
use serde_json::json;
use tokio::runtime::Handle;
use tokio::sync::{RwLock, mpsc};
use tokio::time::sleep;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::names::{self, CONTEXT_PART, CONTEXTS, OFFERS, SIGNATURE};
use super::receive::Receiver;
use super::send::{PAUSE, lying, publish, purge};
use super::streams::{self, MAX_OFFER, ack_wait};
use super::{Address, QueueError, Tell, Trouble, connect, stop_at};
use crate::engine::{Arrival, GivenUp, Message, hand_in};
use crate::history::{
    Door, RemoteSeat, RoundRun, Seat, SeatInfo, SeatStatus, Session, SessionOpened, Timestamp,
};
use crate::participants::lock;
use crate::remote::board::offer_json;
use crate::round::envelope::DeliveryIds;
use crate::round::seal::sign::{SigningKey, offer_message};

/// Offers that are on their way at once.
const IN_FLIGHT: usize = 256;
/// Room for the headers of an offer.
const HEADERS: usize = 1024;

pub struct QueueDoor {
    sender: Arc<Sender>,
    session: String,
    workers: BTreeSet<String>,
    runtime: Handle,
    ends: CancellationToken,
    _guard: DropGuard,
}

/// The worker of a seat that is behind the queue.
fn worker_of(remote: Option<&RemoteSeat>) -> Option<&str> {
    remote.filter(|remote| remote.door == Door::Nats)?.worker.as_deref()
}

fn workers_of(header: &SessionOpened) -> BTreeSet<String> {
    let seats = header.participants.iter();
    seats.filter_map(|seat| worker_of(seat.remote.as_ref())).map(str::to_owned).collect()
}

/// The orders that follow from a change of the session.
#[derive(Default)]
struct Orders {
    /// Subjects of offers that nobody is to answer any more.
    withdraw: Vec<String>,
    /// Lay down the snapshot of the round with this public key, by its hash.
    context: Option<(String, String, Arc<str>)>,
    offers: Vec<QueuedOffer>,
}

struct QueuedOffer {
    ids: DeliveryIds,
    asking: Asking,
    subject: String,
    /// The server recognizes duplicates by this id: another deadline makes another message.
    message_id: String,
    body: String,
}

/// An asking of a seat. Its offer is out of date once one of these changes.
#[derive(Clone, PartialEq)]
struct Asking {
    /// That of the round.
    public_key: String,
    /// Number of earlier retries of the seat.
    attempt: u32,
    deadline: Option<Timestamp>,
}

/// The seats that wait for an offer which was ordered, by name.
#[derive(Default)]
struct Asked(HashMap<String, Asking>);

impl Asked {
    fn orders(&mut self, session: &Session) -> Option<Orders> {
        let (round, mut orders) = (session.rounds.last()?, Orders::default());
        let public_key = &round.seal_to.as_ref()?.public_key;
        if self.0.values().next().is_some_and(|asking| asking.public_key != *public_key) {
            self.0.clear();
        }
        if round.closed.is_some() {
            let seats = self.0.drain();
            let workers: BTreeSet<&str> =
                seats.filter_map(|(seat, _)| worker_of(session.remote(&seat))).collect();
            let subject = |worker| names::offer(worker, &[&round.session, &round.opened.round]);
            orders.withdraw.extend(workers.into_iter().map(subject));
            return Some(orders);
        }
        let is_first = self.0.is_empty();
        let deadline = session.deadline_at(round);
        for seat in round.seats.values().filter(|seat| seat.door.is_some()) {
            let is_current = |asking: &Asking| asking.attempt == seat.retried && asking.deadline == deadline;
            match &seat.status {
                SeatStatus::Asking if self.0.get(&seat.name).is_some_and(is_current) => {}
                SeatStatus::Asking => {
                    let asking = Asking { public_key: public_key.clone(), attempt: seat.retried, deadline };
                    if let Some(offer) = offer(session, round, seat, asking.clone()) {
                        self.0.insert(seat.name.clone(), asking);
                        orders.offers.push(offer);
                    }
                }
                status => {
                    let was_asked = self.0.remove(&seat.name).is_some();
                    if was_asked && matches!(status, SeatStatus::Excused(_)) {
                        orders.withdraw.extend(subject(session, round, &seat.name));
                    }
                }
            }
        }
        if is_first && !orders.offers.is_empty() {
            let (sha256, text) = (round.opened.snapshot_sha256.clone(), Arc::clone(&round.opened.snapshot));
            orders.context = Some((public_key.clone(), sha256, text));
        }
        Some(orders)
    }
}

fn offer(session: &Session, round: &RoundRun, seat: &Seat, asking: Asking) -> Option<QueuedOffer> {
    let subject = subject(session, round, &seat.name)?;
    let delivery = round.delivery(&seat.name)?;
    let mut json = offer_json(session, round, seat)?;
    // The model behind `remote/nats/WORKER/`.
    json["model"] = json!(session.seat_info(&seat.name)?.model.splitn(4, '/').nth(3));
    json["deadline"] = json!(asking.deadline.map(|end| end.0));
    let message_id = asking.deadline.map_or_else(|| delivery.clone(), |end| format!("{delivery}.{}", end.0));
    let ids = DeliveryIds::new(delivery, round.binding(&seat.name));
    Some(QueuedOffer { ids, asking, subject, message_id, body: json.to_string() })
}

fn subject(session: &Session, round: &RoundRun, seat: &str) -> Option<String> {
    let worker = worker_of(session.remote(seat))?;
    Some(names::offer(worker, &[&round.session, &round.opened.round, seat]))
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
            let is_its_own = |seat: &&SeatInfo| worker_of(seat.remote.as_ref()) == Some(worker);
            let seats = header.participants.iter().filter(is_its_own);
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
        let sender =
            Sender { queue, key, engine, trouble, asked: Mutex::default(), sending: RwLock::default() };
        Ok(Self {
            sender: Arc::new(sender),
            session: session.to_owned(),
            workers,
            runtime: Handle::current(),
            _guard: ends.clone().drop_guard(),
            ends,
        })
    }

    /// Sees the state after a write to disk, and does what follows from it.
    pub fn see(&self, session: &Session) {
        let Some(orders) = lock(&self.sender.asked).orders(session) else { return };
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
    asked: Mutex<Asked>,
    /// Nothing is taken back before what was ordered earlier has arrived.
    sending: RwLock<()>,
}

impl Sender {
    /// The seat still waits for this offer.
    fn is_due(&self, offer: &QueuedOffer) -> bool {
        lock(&self.asked).0.get(&offer.ids.participant) == Some(&offer.asking)
    }

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
        if let Some((public_key, sha256, text)) = &orders.context {
            self.publish_context(public_key, sha256, text).await;
        }
        let offers = futures::stream::iter(orders.offers);
        offers.for_each_concurrent(IN_FLIGHT, |offer| Arc::clone(&self).publish_offer(offer)).await;
    }

    async fn publish_context(&self, public_key: &str, sha256: &str, text: &str) {
        for (number, part) in text.as_bytes().chunks(CONTEXT_PART).enumerate() {
            let subject = names::context(sha256, number);
            while let Err(why) = publish(&self.queue, &subject, Some(&subject), HeaderMap::new(), part).await
                && lying(&self.queue, CONTEXTS, &subject).await.is_none()
            {
                self.trouble.say(&format!("a snapshot cannot be put into the queue: {why}; trying again"));
                sleep(PAUSE).await;
                if lock(&self.asked).0.values().all(|asking| asking.public_key != public_key) {
                    return;
                }
            }
        }
    }

    async fn publish_offer(self: Arc<Self>, offer: QueuedOffer) {
        if offer.body.len() > MAX_OFFER - HEADERS {
            let given_up = GivenUp { why: "its question is too long for the queue", ids: offer.ids };
            hand_in(&self.engine, Message::GivenUp(given_up)).await;
            return;
        }
        while self.is_due(&offer) {
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
            sleep(PAUSE).await;
        }
    }

    /// An offer that a worker has taken out of the queue, whose ballot is still to come or was refused: if it
    /// does not come in time, the worker is asked once more. One that has sealed it knows that it has.
    async fn offer_again(self: Arc<Self>, offer: QueuedOffer) {
        sleep(2 * ack_wait() + PAUSE).await;
        while self.is_due(&offer)
            && self.put(&offer, None).await.is_err()
            && lying(&self.queue, OFFERS, &offer.subject).await.is_none()
        {
            sleep(PAUSE).await;
        }
    }

    async fn put(&self, offer: &QueuedOffer, id: Option<&str>) -> Result<bool, String> {
        let mut headers = HeaderMap::new();
        headers.insert(SIGNATURE, self.key.sign(&offer_message(offer.body.as_bytes())));
        publish(&self.queue, &offer.subject, id, headers, offer.body.as_bytes()).await
    }
}
