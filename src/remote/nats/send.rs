//! Messages to the queue and out of it, by session and worker alike.

use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::Context;

use serde::Serialize;

use super::names::MESSAGE_ID;
use crate::round::envelope::{DeliveryIds, Envelope, FailedDelivery};

/// The pause before something is tried once more.
pub const PAUSE: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum SeatReply {
    Sealed(Box<Envelope>),
    Failed(Box<FailedDelivery>),
}

impl SeatReply {
    pub fn read(json: &[u8]) -> Option<Self> {
        let failed = || FailedDelivery::read(json).map(|failed| Self::Failed(Box::new(failed)));
        Envelope::read(json).map(|envelope| Self::Sealed(Box::new(envelope))).or_else(failed)
    }

    pub fn ids(&self) -> DeliveryIds {
        match self {
            Self::Sealed(of) => DeliveryIds::new(of.delivery.clone(), of.binding.clone()),
            Self::Failed(of) => of.ids.clone(),
        }
    }
}

/// Publishes a message, until the server has it on disk, or has had its id before.
///
/// # Errors
/// Why the server does not confirm it.
pub async fn publish(
    queue: &Context,
    subject: &str,
    id: Option<&str>,
    mut headers: HeaderMap,
    body: &[u8],
) -> Result<(), String> {
    if let Some(id) = id {
        headers.insert(MESSAGE_ID, id);
    }
    let body = body.to_vec().into();
    let stored = async { queue.publish_with_headers(subject.to_owned(), headers, body).await?.await };
    stored.await.map(drop).map_err(|error| error.to_string())
}

/// Takes away the messages of a stream at these subjects.
pub async fn purge(queue: &Context, stream: &str, subjects: &str) -> Result<(), String> {
    let stream = queue.get_stream_no_info(stream).await.map_err(|error| error.to_string())?;
    stream.purge().filter(subjects).await.map(drop).map_err(|error| error.to_string())
}

/// The message that lies in a stream at a subject.
pub async fn lying(queue: &Context, stream: &str, subject: &str) -> Option<Vec<u8>> {
    let stream = queue.get_stream_no_info(stream).await.ok()?;
    let found = stream.get_last_raw_message_by_subject(subject).await.ok()?;
    Some(found.payload.to_vec())
}
