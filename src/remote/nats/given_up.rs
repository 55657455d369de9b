//! Offers that a worker has been given as often as may be: the server tells of them, and since that can
//! be missed, what is left of the offers is also looked at.

use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::Context;
use async_nats::jetstream::message::StreamMessage;
use futures::StreamExt as _;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::engine::{Arrival, GivenUp, Message};
use crate::remote::nats::{names, streams};

const PERIOD: Duration = Duration::from_secs(2);

/// Tells the engine of seats whose offers a worker has given up.
pub async fn watch(
    client: Client,
    queue: Context,
    worker: String,
    session: String,
    arrive: mpsc::Sender<Arrival>,
) {
    // Without what the server tells there is still the look.
    let mut told = match client.subscribe(names::given_up(&worker)).await {
        Ok(told) => told.boxed(),
        Err(_) => futures::stream::pending().boxed(),
    };
    let mut period = tokio::time::interval(PERIOD);
    loop {
        tokio::select! {
            Some(told) = told.next() => {
                if let Some(found) = advised(&queue, &told.payload).await {
                    tell(&queue, &arrive, &found).await;
                }
            }
            _ = period.tick() => {
                for found in left(&queue, &worker, &session).await.unwrap_or_default() {
                    tell(&queue, &arrive, &found).await;
                }
            }
        }
    }
}

/// The offer that the server tells of.
async fn advised(queue: &Context, json: &[u8]) -> Option<StreamMessage> {
    let sequence = serde_json::from_slice::<Value>(json).ok()?["stream_seq"].as_u64()?;
    queue.get_stream_no_info(names::OFFERS).await.ok()?.get_raw_message(sequence).await.ok()
}

/// Offers of the session that lie there though its worker has been given all there were, and holds none.
async fn left(queue: &Context, worker: &str, session: &str) -> Option<Vec<StreamMessage>> {
    let consumer = streams::worker_consumer(queue, worker).await.ok()??;
    let info = consumer.get_info().await.ok()?;
    if info.num_pending > 0 || info.num_ack_pending > 0 {
        return Some(Vec::new());
    }
    // Later offers are not given up.
    let last = info.delivered.stream_sequence;
    let stream = queue.get_stream_no_info(names::OFFERS).await.ok()?;
    let mut listed = stream.info_with_subjects(names::offers(worker, session)).await.ok()?;
    let mut subjects = Vec::new();
    while let Some(found) = listed.next().await {
        subjects.push(found.ok()?.0);
    }
    let mut left = Vec::new();
    for subject in subjects {
        let found = stream.get_last_raw_message_by_subject(&subject).await.ok();
        left.extend(found.filter(|found| found.sequence <= last));
    }
    Some(left)
}

/// Why a seat fails whose worker has been given its offer as often as may be.
const GAVE_UP: &str = "the worker gave up";

/// Hands an offer that was given up to the engine, and takes it out of the queue once that is on disk.
async fn tell(queue: &Context, arrive: &mpsc::Sender<Arrival>, found: &StreamMessage) {
    let Ok(offer) = serde_json::from_slice::<Value>(&found.payload) else { return };
    let text = |key: &str| offer[key].as_str().unwrap_or_default().to_owned();
    let given_up = GivenUp {
        why: GAVE_UP,
        session: text("session"),
        round: text("round"),
        participant: text("participant"),
        delivery: text("delivery"),
    };
    let (answer, answered) = oneshot::channel();
    if arrive.send(Arrival { message: Message::GivenUp(given_up), answer }).await.is_ok()
        && matches!(answered.await, Ok(Ok(_)))
        && let Ok(stream) = queue.get_stream_no_info(names::OFFERS).await
    {
        let _ = stream.delete_message(found.sequence).await;
    }
}
