//! The door of workers: their offers are published once they are on disk, and what they send is
//! acknowledged once that is on disk. The file alone is the truth; the queue only carries.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use async_nats::jetstream::{self, Context};
use tokio::sync::mpsc::{self, UnboundedSender, unbounded_channel};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::given_up::watch;
use super::offers::{Offers, Order};
use super::publish::publish;
use super::receive::BallotReceiver;
use crate::engine::Arrival;
use crate::history::{Door, SeatInfo, Session, SessionOpened};
use crate::remote::nats::{Address, QueueError, Tell, connect, names, stop_at, streams};
use crate::round::seal::sign::SigningKey;

pub struct QueueDoor {
    queue: Context,
    session: String,
    workers: Vec<String>,
    offers: Arc<Mutex<Offers>>,
    orders: UnboundedSender<Order>,
    ends: CancellationToken,
    _guard: DropGuard,
}

pub fn workers_of(header: &SessionOpened) -> Vec<String> {
    let worker = |seat: &SeatInfo| {
        let remote = seat.remote.as_ref().filter(|remote| remote.door == Door::Nats)?;
        remote.worker.clone()
    };
    let mut workers: Vec<String> = header.participants.iter().filter_map(worker).collect();
    workers.sort();
    workers.dedup();
    workers
}

fn seats_of(header: &SessionOpened, worker: &str) -> HashSet<String> {
    let is_of =
        |seat: &&SeatInfo| seat.remote.as_ref().and_then(|remote| remote.worker.as_deref()) == Some(worker);
    header.participants.iter().filter(is_of).map(|seat| seat.name.clone()).collect()
}

impl QueueDoor {
    /// Connects, makes the streams of the session's workers, and takes in what they send from here on.
    pub async fn open(
        address: &Address,
        header: &SessionOpened,
        session: &str,
        key: SigningKey,
        arrive: &mpsc::Sender<Arrival>,
        tell: &Tell,
    ) -> Result<Self, QueueError> {
        let client = connect(address, tell).await?;
        let queue = jetstream::new(client.clone());
        let workers = workers_of(header);
        streams::make(&queue, &workers).await?;
        let ends = CancellationToken::new();
        for worker in &workers {
            let receiver = BallotReceiver {
                consumer: streams::session_consumer(&queue, worker, session).await?,
                worker: worker.clone(),
                seats: seats_of(header, worker),
                arrive: arrive.clone(),
            };
            tokio::spawn(ends.clone().run_until_cancelled_owned(receiver.run()));
            let watching =
                watch(client.clone(), queue.clone(), worker.clone(), session.to_owned(), arrive.clone());
            tokio::spawn(ends.clone().run_until_cancelled_owned(watching));
        }
        let (orders, ordered) = unbounded_channel();
        let offers = Arc::new(Mutex::default());
        let publishing = publish(queue.clone(), key, ordered, Arc::clone(&offers), arrive.clone());
        tokio::spawn(ends.clone().run_until_cancelled_owned(publishing));
        Ok(Self {
            queue,
            session: session.to_owned(),
            workers,
            offers,
            orders,
            _guard: ends.clone().drop_guard(),
            ends,
        })
    }

    /// Sees the state after a write to disk, and orders what follows from it.
    pub fn see(&self, session: &Session) {
        let mut offers = self.offers.lock().unwrap_or_else(PoisonError::into_inner);
        for order in offers.orders(session) {
            // Once the door is closed nothing is ordered any more.
            let _ = self.orders.send(order);
        }
    }

    /// Takes away what a session that is over has left in the queue.
    ///
    /// # Errors
    /// When the server does not do it; what lies there then is refused by whoever reads it.
    pub async fn close(&self) -> Result<(), QueueError> {
        stop_at("closed");
        self.ends.cancel();
        let failed = |error: &dyn std::fmt::Display| QueueError::Refused(format!("the queue: {error}"));
        for worker in &self.workers {
            let sealed = names::sealed_stream(worker);
            let of_session = [
                (names::OFFERS, names::offers(worker, &self.session)),
                (sealed.as_str(), names::all_sealed(worker, &self.session)),
            ];
            for (stream, subject) in of_session {
                let stream = self.queue.get_stream_no_info(stream).await.map_err(|error| failed(&error))?;
                stream.purge().filter(subject).await.map_err(|error| failed(&error))?;
            }
            let consumer = names::facilitator(&self.session);
            let deleted = self.queue.delete_consumer_from_stream(consumer, sealed).await;
            deleted.map_err(|error| failed(&error))?;
        }
        Ok(())
    }
}
