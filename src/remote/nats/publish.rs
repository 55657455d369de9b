//! Puts offers and snapshots into the queue, and takes offers back. What the server has already is not
//! put there twice; while it cannot be reached everything waits.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::Context;
use tokio::sync::mpsc::{Sender, UnboundedReceiver};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::offers::{Offer, Offers, Order};
use crate::engine::{Arrival, GivenUp, Message};
use crate::remote::nats::names::{self, CONTEXT_PART, MESSAGE_ID, OFFERS, SIGNATURE};
use crate::remote::nats::stop_at;
use crate::remote::nats::streams::{MAX_OFFER, ack_wait};
use crate::round::seal::sign::{SigningKey, offer_message};

const IN_FLIGHT: usize = 256;
const HEADERS: usize = 1024;
/// The pause before something is tried once more.
const PAUSE: Duration = Duration::from_millis(500);

/// Carries out orders until there can be no more.
pub async fn publish(
    queue: Context,
    key: SigningKey,
    mut orders: UnboundedReceiver<Order>,
    offers: Arc<Mutex<Offers>>,
    arrive: Sender<Arrival>,
) {
    let mut going = JoinSet::new();
    while let Some(order) = orders.recv().await {
        match order {
            Order::Offer(offer) if offer.body.len() > MAX_OFFER - HEADERS => refuse(&arrive, *offer).await,
            Order::Offer(offer) => {
                if going.len() >= IN_FLIGHT {
                    going.join_next().await;
                }
                going.spawn(publish_offer(queue.clone(), key.clone(), *offer, Arc::clone(&offers)));
            }
            Order::Context(sha256, text) => publish_context(&queue, &sha256, &text).await,
            Order::Withdraw(subject) => {
                // Not before what was ordered earlier has arrived.
                while going.join_next().await.is_some() {}
                purge(&queue, &subject).await;
            }
        }
    }
}

/// Fails the seat of an offer that the queue does not take.
async fn refuse(arrive: &Sender<Arrival>, offer: Offer) {
    let Offer { seat, session, round: (round, _), delivery, .. } = offer;
    let why = "its question is too long for the queue";
    let given_up = GivenUp { why, session, round, participant: seat, delivery };
    // Nobody waits for the answer: the seat has failed, or the session is over.
    let _ = arrive.send(Arrival { message: Message::GivenUp(given_up), answer: oneshot::channel().0 }).await;
}

async fn publish_offer(queue: Context, key: SigningKey, offer: Offer, offers: Arc<Mutex<Offers>>) {
    let Offer { subject, body, .. } = &offer;
    let signature = key.sign(&offer_message(body.as_bytes()));
    let mut signed = HeaderMap::new();
    signed.insert(SIGNATURE, signature.as_str());
    let mut headers = signed.clone();
    headers.insert(MESSAGE_ID, offer.message_id());
    // One that the server never takes must not hold up what is ordered after its round.
    while offers.lock().is_ok_and(|offers| offers.is_asked(&offer)) {
        match send(&queue, subject, headers.clone(), body.clone().into_bytes()).await {
            Sent::Stored => {
                stop_at("offered");
                break;
            }
            Sent::Duplicate | Sent::Refused if holds(&queue, subject, body).await => break,
            Sent::Duplicate => {
                tokio::spawn(offer_again(queue, signed, offer, offers));
                break;
            }
            // An earlier try lies there, whose worker gave it up; or the deadline was another.
            Sent::Refused => purge(&queue, subject).await,
            Sent::Unconfirmed => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// An offer that a worker has taken out of the queue, whose ballot is still to come or was refused: if it
/// does not come in time, the worker is asked once more. One that has sealed it knows that it has.
async fn offer_again(queue: Context, signed: HeaderMap, offer: Offer, offers: Arc<Mutex<Offers>>) {
    tokio::time::sleep(2 * ack_wait() + PAUSE).await;
    while offers.lock().is_ok_and(|offers| offers.is_asked(&offer))
        && let Sent::Unconfirmed =
            send(&queue, &offer.subject, signed.clone(), offer.body.clone().into_bytes()).await
    {
        tokio::time::sleep(PAUSE).await;
    }
}

async fn publish_context(queue: &Context, sha256: &str, text: &str) {
    for (number, part) in text.as_bytes().chunks(CONTEXT_PART).enumerate() {
        let subject = names::context(sha256, number);
        let mut headers = HeaderMap::new();
        headers.insert(MESSAGE_ID, subject.as_str());
        while let Sent::Unconfirmed = send(queue, &subject, headers.clone(), part.to_vec()).await {
            tokio::time::sleep(PAUSE).await;
        }
    }
}

enum Sent {
    Stored,
    /// The server has had it before.
    Duplicate,
    /// The server has another message of its subject.
    Refused,
    Unconfirmed,
}

async fn send(queue: &Context, subject: &str, headers: HeaderMap, body: Vec<u8>) -> Sent {
    let sent = queue.publish_with_headers(subject.to_owned(), headers, body.into()).await;
    let stored = match sent {
        Ok(stored) => stored.await,
        Err(error) => Err(error),
    };
    match stored {
        Ok(stored) if stored.duplicate => Sent::Duplicate,
        Ok(_) => Sent::Stored,
        Err(error) if error.to_string().contains("maximum messages per subject") => Sent::Refused,
        Err(error) => {
            tracing::warn!(%subject, %error, "not published yet");
            Sent::Unconfirmed
        }
    }
}

/// This very offer is at its subject.
async fn holds(queue: &Context, subject: &str, body: &str) -> bool {
    let Ok(stream) = queue.get_stream_no_info(OFFERS).await else { return false };
    let found = stream.get_last_raw_message_by_subject(subject).await;
    found.is_ok_and(|found| found.payload == body.as_bytes())
}

async fn purge(queue: &Context, subject: &str) {
    loop {
        let stream = queue.get_stream_no_info(OFFERS).await;
        match stream {
            Ok(stream) if stream.purge().filter(subject).await.is_ok() => break,
            Ok(_) | Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}
