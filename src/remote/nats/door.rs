//! Door for workers: keeps the queue in step with a session's state.
//!
//! Messages of workers are acknowledged once they are on disk. The session file is the only source of truth; the
//! queue is only transport.

use std::collections::{BTreeSet, HashMap};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::{self, Context};
use futures::StreamExt as _;
use serde_json::json;
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::names::{self, CONTEXT_PART, CONTEXTS, OFFERS, SIGNATURE};
use super::receive::Receiver;
use super::send::{PAUSE, find_message, publish, purge};
use super::streams::{self, MAX_OFFER, ack_wait};
use super::{Address, QueueError, Tell, Trouble, connect, stop_at};
use crate::engine::{AbandonedOffer, Arrival, Message, hand_in};
use crate::history::{
    Door, RemoteSeat, RoundRun, Seat, SeatInfo, SeatStatus, Session, SessionOpened, Timestamp,
};
use crate::remote::board::offer_json;
use crate::round::envelope::DeliveryIds;
use crate::round::seal::sign::{SigningKey, offer_message};

/// Limit of offers being published concurrently.
const IN_FLIGHT: usize = 256;
/// Room for an offer's headers, in bytes.
const HEADERS: usize = 1024;

pub struct QueueDoor {
    queue: Context,
    session: String,
    workers: BTreeSet<String>,
    states: watch::Sender<Arc<Session>>,
    ends: CancellationToken,
    _guard: DropGuard,
}

/// Returns the worker of a seat, if it is reached through the queue.
fn worker_of(remote: Option<&RemoteSeat>) -> Option<&str> {
    remote.filter(|remote| remote.door == Door::Nats)?.worker.as_deref()
}

/// Returns the subject of a seat's offer, if the seat is reached through the queue.
fn subject(session: &Session, round: &RoundRun, seat: &Seat) -> Option<String> {
    let worker = worker_of(session.remote(&seat.name))?;
    Some(names::offer(worker, &[&round.session, &round.opened.round, &seat.name]))
}

fn workers_of(header: &SessionOpened) -> BTreeSet<String> {
    let seats = header.participants.iter();
    seats.filter_map(|seat| worker_of(seat.remote.as_ref())).map(str::to_owned).collect()
}

impl QueueDoor {
    /// Connects, creates the streams of the session's workers, and starts to receive their messages.
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
        let (ends, mut ballots) = (CancellationToken::new(), Vec::new());
        for worker in &workers {
            let is_its_own = |seat: &&SeatInfo| worker_of(seat.remote.as_ref()) == Some(worker);
            let seats = header.participants.iter().filter(is_its_own);
            let consumer = streams::session_consumer(&queue, worker, session).await?;
            ballots.push(consumer.clone());
            let receiver = Receiver {
                queue: queue.clone(),
                consumer,
                worker: worker.clone(),
                session: session.to_owned(),
                seats: seats.map(|seat| seat.name.clone()).collect(),
                engine: engine.clone(),
            };
            tokio::spawn(ends.clone().run_until_cancelled_owned(receiver.run()));
        }
        let (states, seen) = watch::channel(Arc::default());
        let (engine, trouble) = (engine.clone(), Trouble::new(tell, ""));
        let sender =
            Sender { queue: queue.clone(), key, workers: workers.clone(), states: seen, engine, trouble };
        tokio::spawn(ends.clone().run_until_cancelled_owned(sender.run(ballots)));
        let guard = ends.clone().drop_guard();
        Ok(Self { queue, session: session.to_owned(), workers, states, ends, _guard: guard })
    }

    /// Publishes the state after a write to disk.
    pub fn see(&self, session: &Session) {
        self.states.send_replace(Arc::new(session.clone()));
    }

    /// Removes a finished session's messages and consumers from the queue.
    ///
    /// # Errors
    /// The server failed; workers and sessions reject the remaining messages.
    pub async fn close(&self) -> Result<(), QueueError> {
        stop_at("closed");
        self.ends.cancel();
        let failed = |error: String| QueueError::Refused(format!("the queue: {error}"));
        for worker in &self.workers {
            let sealed = names::sealed_stream(worker);
            purge(&self.queue, OFFERS, &names::offer(worker, &[&self.session])).await.map_err(failed)?;
            purge(&self.queue, &sealed, &names::sealed(worker, &[&self.session])).await.map_err(failed)?;
            let consumer = names::facilitator(&self.session);
            let deleted = self.queue.delete_consumer_from_stream(consumer, sealed).await;
            deleted.map_err(|error| failed(error.to_string()))?;
        }
        Ok(())
    }
}

/// Task that publishes and withdraws the seats' offers. Reports the server's errors and retries.
struct Sender {
    queue: Context,
    key: SigningKey,
    workers: BTreeSet<String>,
    states: watch::Receiver<Arc<Session>>,
    engine: mpsc::Sender<Arrival>,
    trouble: Trouble,
}

/// Offers of a round that are in the queue.
#[derive(Default)]
struct Offered {
    public_key: String,
    /// Subjects of the offers, one per worker.
    subjects: Vec<String>,
    /// Number of retries and deadline per seat; a change requires a new offer.
    seats: HashMap<String, (u32, Option<Timestamp>)>,
}

impl Sender {
    /// Follows the states forever. First waits, for a limited time, for earlier messages to be processed.
    async fn run(mut self, ballots: Vec<PullConsumer>) {
        let taken_in = async {
            for consumer in &ballots {
                let is_empty = async || {
                    let info = consumer.get_info().await.ok()?;
                    (info.num_pending == 0 && info.num_ack_pending == 0).then_some(())
                };
                while is_empty().await.is_none() {
                    sleep(PAUSE).await;
                }
            }
        };
        let _ = timeout(2 * ack_wait(), taken_in).await;
        let mut offered = Offered::default();
        loop {
            let session = Arc::clone(&self.states.borrow_and_update());
            let pause = match self.follow(&session, &mut offered).await {
                Ok(()) => Duration::MAX,
                Err(why) => {
                    self.trouble.say(&format!("{why}; trying again"));
                    PAUSE
                }
            };
            // After an error, retries with the same state.
            if let Ok(Err(_)) = timeout(pause, self.states.changed()).await {
                return;
            }
        }
    }

    async fn follow(&self, session: &Session, offered: &mut Offered) -> Result<(), String> {
        let Some(round) = session.rounds.last() else { return Ok(()) };
        let Some(seal_to) = &round.seal_to else { return Ok(()) };
        let of_round = |worker| names::offer(worker, &[&round.session, &round.opened.round]);
        let subjects: Vec<String> = self.workers.iter().map(|worker| of_round(worker)).collect();
        let is_same = offered.public_key == seal_to.public_key && offered.subjects == subjects;
        if round.closed.is_some() || !is_same {
            for subjects in std::mem::take(offered).subjects {
                self.withdraw(&subjects).await;
            }
        }
        if round.closed.is_some() {
            return Ok(());
        }
        (offered.public_key, offered.subjects) = (seal_to.public_key.clone(), subjects);
        let (deadline, mut due) = (session.deadline_at(round), Vec::new());
        for seat in round.seats.values() {
            let asking = (seat.retried, deadline);
            match seat.status {
                SeatStatus::Asking if offered.seats.get(&seat.name) != Some(&asking) => {
                    let subject = subject(session, round, seat);
                    due.extend(subject.map(|subject| (seat.name.clone(), subject, asking)));
                }
                SeatStatus::Excused(_) if offered.seats.remove(&seat.name).is_some() => {
                    // Without a subject, the whole queue would be purged.
                    if let Some(subject) = subject(session, round, seat) {
                        self.withdraw(&subject).await;
                    }
                }
                _ => {}
            }
        }
        if offered.seats.is_empty() && !due.is_empty() {
            self.publish_context(&round.opened.snapshot_sha256, &round.opened.snapshot).await?;
        }
        let put = futures::stream::iter(due).map(|(seat, subject, asking)| async move {
            let put = self.publish_offer(session, round, &seat, &subject).await;
            put.map(|()| (seat, asking))
        });
        let mut put = pin!(put.buffer_unordered(IN_FLIGHT));
        let mut result = Ok(());
        while let Some(put) = put.next().await {
            match put {
                Ok((seat, asking)) => drop(offered.seats.insert(seat, asking)),
                Err(why) => result = Err(format!("an offer cannot be put into the queue: {why}")),
            }
        }
        result
    }

    async fn withdraw(&self, subjects: &str) {
        if let Err(why) = purge(&self.queue, OFFERS, subjects).await {
            self.trouble.say(&format!("{subjects} cannot be taken out of the queue: {why}"));
        }
    }

    async fn publish_context(&self, sha256: &str, text: &str) -> Result<(), String> {
        for (number, part) in text.as_bytes().chunks(CONTEXT_PART).enumerate() {
            let subject = names::context(sha256, number);
            let put = self.put(CONTEXTS, &subject, HeaderMap::new(), part).await;
            put.map_err(|why| format!("a snapshot cannot be put into the queue: {why}"))?;
        }
        Ok(())
    }

    /// Publishes a message, unless it is in the queue already. Replaces another one with its subject.
    async fn put(&self, stream: &str, subject: &str, headers: HeaderMap, body: &[u8]) -> Result<(), String> {
        let put = async || publish(&self.queue, subject, None, headers.clone(), body).await;
        let Err(why) = put().await else { return Ok(()) };
        match find_message(&self.queue, stream, subject).await {
            Some(found) if found == body => Ok(()),
            Some(_) => {
                purge(&self.queue, stream, subject).await?;
                put().await
            }
            None => Err(why),
        }
    }

    /// Publishes a seat's offer in place of one of an earlier attempt or with another deadline.
    async fn publish_offer(
        &self,
        session: &Session,
        round: &RoundRun,
        seat: &str,
        subject: &str,
    ) -> Result<(), String> {
        let is_this = |open: &RoundRun| Arc::ptr_eq(&open.opened, &round.opened);
        let is_open = self.states.borrow().open_round().is_some_and(is_this);
        let json = round.seat(seat).filter(|_| is_open).and_then(|at| offer_json(session, round, at));
        let Some((delivery, mut json)) = round.delivery(seat).zip(json) else { return Ok(()) };
        // Model after `remote/nats/WORKER/`.
        json["model"] = json!(session.seat_info(seat).and_then(|seat| seat.model.splitn(4, '/').nth(3)));
        json["deadline"] = json!(session.deadline_at(round).map(|end| end.0));
        let body = json.to_string();
        if body.len() > MAX_OFFER - HEADERS {
            let ids = DeliveryIds::new(delivery, round.binding(seat));
            let abandoned = AbandonedOffer { why: "its question is too long for the queue", ids };
            hand_in(&self.engine, Message::Abandoned(abandoned)).await;
            return Ok(());
        }
        let mut headers = HeaderMap::new();
        headers.insert(SIGNATURE, self.key.sign(&offer_message(body.as_bytes())));
        self.put(OFFERS, subject, headers, body.as_bytes()).await?;
        stop_at("offered");
        Ok(())
    }
}
