//! Streams and consumers: created, or checked if they exist.

use std::collections::BTreeSet;
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::stream::{
    Config, ConsumerError, ConsumerErrorKind, DiscardPolicy, RetentionPolicy, StorageType,
};
use async_nats::jetstream::{Context, ErrorCode};

use super::{QueueError, debug_duration, names};

/// Limit of deliveries of an offer to workers.
pub const MAX_DELIVERIES: i64 = 4;
/// Size limit of an offer with its headers, in bytes.
pub const MAX_OFFER: usize = 256 * 1024;
/// Retention of unused messages and consumers; a worker remembers its answers equally long. Later losses need a
/// `resume`, which retries the seats.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// Returns the silence after which a message is delivered to another process.
pub fn ack_wait() -> Duration {
    debug_duration("ROUNDTABLE_ACK_WAIT_MS", Duration::from_secs(30))
}

/// Creates the streams of these workers and the consumers of their offers, unless they exist.
pub async fn make(context: &Context, workers: &BTreeSet<String>) -> Result<(), QueueError> {
    for stream in [offers(), contexts()].into_iter().chain(workers.iter().map(|worker| sealed(worker))) {
        // The server rejects an existing stream with another configuration.
        let what = format!("the stream `{}`", stream.name);
        context.create_stream(stream).await.map_err(|error| refused(&what, &error))?;
    }
    for worker in workers {
        make_consumer(context, names::OFFERS, offer_consumer(worker)).await?;
    }
    Ok(())
}

/// Creates the consumer by which a session receives a worker's replies.
pub async fn session_consumer(
    context: &Context,
    worker: &str,
    session: &str,
) -> Result<PullConsumer, QueueError> {
    let consumer = pull::Config {
        max_deliver: -1,
        max_ack_pending: 8192,
        inactive_threshold: KEPT,
        ..consumer(names::facilitator(session), names::sealed(worker, &[session]))
    };
    make_consumer(context, &names::sealed_stream(worker), consumer).await
}

/// Configures a stream on disk that rejects messages when full and detects duplicates for two minutes.
fn stream(name: &str, subjects: &str) -> Config {
    Config {
        name: name.to_owned(),
        subjects: vec![subjects.to_owned()],
        storage: StorageType::File,
        discard: DiscardPolicy::New,
        max_age: KEPT,
        duplicate_window: Duration::from_secs(120),
        ..Config::default()
    }
}

fn offers() -> Config {
    Config {
        retention: RetentionPolicy::WorkQueue,
        max_messages_per_subject: 1,
        discard_new_per_subject: true,
        max_message_size: i32::try_from(MAX_OFFER).unwrap_or(i32::MAX),
        ..stream(names::OFFERS, "rt.offer.>")
    }
}

fn sealed(worker: &str) -> Config {
    Config {
        retention: RetentionPolicy::WorkQueue,
        max_message_size: 512 * 1024,
        max_bytes: 256 * 1024 * 1024,
        ..stream(&names::sealed_stream(worker), &names::sealed(worker, &[]))
    }
}

fn contexts() -> Config {
    Config {
        max_messages_per_subject: 1,
        discard_new_per_subject: true,
        max_age: Duration::from_secs(7 * 24 * 3600),
        allow_direct: true,
        ..stream(names::CONTEXTS, "rt.context.>")
    }
}

/// Returns the configuration of a consumer with redelivery of unacknowledged messages.
fn consumer(name: String, subjects: String) -> pull::Config {
    pull::Config {
        durable_name: Some(name),
        filter_subject: subjects,
        ack_policy: AckPolicy::Explicit,
        ack_wait: ack_wait(),
        ..pull::Config::default()
    }
}

fn offer_consumer(worker: &str) -> pull::Config {
    pull::Config {
        max_deliver: MAX_DELIVERIES,
        max_ack_pending: 4096,
        ..consumer(worker.to_owned(), names::offer(worker, &[]))
    }
}

async fn make_consumer(
    context: &Context,
    stream: &str,
    wanted: pull::Config,
) -> Result<PullConsumer, QueueError> {
    let what = format!("the consumer `{}` of `{stream}`", wanted.durable_name.clone().unwrap_or_default());
    let made = context.create_consumer_on_stream(wanted, stream).await;
    made.map_err(|error| refused(&what, &error))
}

/// Returns the consumer of a worker's offers; `None` if no session has created it yet.
pub async fn worker_consumer(context: &Context, worker: &str) -> Result<Option<PullConsumer>, QueueError> {
    match context.get_consumer_from_stream(worker, names::OFFERS).await {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_missing(&error) => Ok(None),
        Err(error) => Err(refused(&format!("the consumer `{worker}` of `{}`", names::OFFERS), &error)),
    }
}

/// Returns true if the stream or the consumer does not exist.
fn is_missing(error: &ConsumerError) -> bool {
    let missing = [ErrorCode::CONSUMER_NOT_FOUND, ErrorCode::STREAM_NOT_FOUND];
    matches!(error.kind(), ConsumerErrorKind::JetStream(error) if missing.contains(&error.error_code()))
}

fn refused(what: &str, error: &dyn std::fmt::Display) -> QueueError {
    QueueError::Refused(format!("{what} cannot be used: {error}"))
}
