//! Queue messages of sessions and workers.

use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::Context;

use serde::Serialize;

use super::names::MESSAGE_ID;
use crate::round::envelope::{DeliveryIds, Envelope, FailedDelivery};

/// Pause before a retry.
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

/// Publishes a message; returns once the server has it on disk, or knows its id.
///
/// # Errors
/// The server does not confirm the message; with the reason.
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

/// Removes a stream's messages with these subjects.
pub async fn purge(queue: &Context, stream: &str, subjects: &str) -> Result<(), String> {
    let stream = queue.get_stream_no_info(stream).await.map_err(|error| error.to_string())?;
    stream.purge().filter(subjects).await.map(drop).map_err(|error| error.to_string())
}

/// Returns a stream's message with this subject.
pub async fn find_message(queue: &Context, stream: &str, subject: &str) -> Option<Vec<u8>> {
    let stream = queue.get_stream_no_info(stream).await.ok()?;
    let found = stream.get_last_raw_message_by_subject(subject).await.ok()?;
    Some(found.payload.to_vec())
}
