//! What the head of a response says: of limits, of waits, of the body's form.

use std::time::Duration;

use super::concurrency::{ConcurrencyLimit, Permit};
use super::rate_limit::limits;
use super::retry::retry_after;
use super::{HeaderValue, RequestError, Response};

/// What a response says of the service's limits.
pub(super) fn learn(response: &Response, gate: &ConcurrencyLimit, pass: &Permit) {
    let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
    if matches!(response.status().as_u16(), 429 | 529) {
        gate.halve();
    }
    let asked = if response.status() == 200 { None } else { asked(response) };
    match asked {
        // A word on how long to wait goes before limits it could be computed from.
        Some(wait) => gate.pause_for(wait),
        None => pass.learn(limits(header, crate::clock::system_time())),
    }
}

/// The wait a response asks for.
pub(super) fn asked(response: &Response) -> Option<Duration> {
    let header = |name| response.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    retry_after(header("retry-after-ms"), header("retry-after"), crate::clock::system_time())
}

/// Whether the service says itself that the request may be sent again, or may not.
pub(super) fn should_retry(response: &Response) -> Option<bool> {
    match response.headers().get("x-should-retry")?.as_bytes() {
        b"true" => Some(true),
        b"false" => Some(false),
        _ => None,
    }
}

/// Whether the response comes by events.
pub(super) fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.trim_start().starts_with("text/event-stream"))
}

/// A body that is compressed was not asked for, and is not read.
pub(super) fn refuse_compressed(response: &Response) -> Result<(), RequestError> {
    let Some(coding) = response.headers().get("content-encoding").filter(|c| *c != "identity") else {
        return Ok(());
    };
    let coding = String::from_utf8_lossy(coding.as_bytes()).into_owned();
    let name = if matches!(&*coding, "gzip" | "br" | "deflate" | "zstd") { &coding } else { "unknown" };
    Err(RequestError::permanent(format!("the reply is compressed ({name}), which was not asked for")))
}
