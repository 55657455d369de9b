//! Requests that are sent until the session answers.

use std::time::Duration;

use super::words::unreachable;
use crate::launch::error::RunError;
use crate::participants::http::link::LinkReply;

/// How often a session that does not answer is asked, and how long after.
pub const TRIES: u32 = 40;
pub const PAUSE: Duration = Duration::from_secs(1);

/// Sends a request until the reply says something of it.
///
/// # Errors
/// A session that cannot be reached.
pub async fn answered<F>(send: impl Fn() -> F) -> Result<LinkReply, RunError>
where
    F: Future<Output = Result<LinkReply, String>>,
{
    let mut why = String::new();
    for _ in 0..TRIES {
        match send().await {
            Ok(reply) if !reply.is_passing() => return Ok(reply),
            Ok(reply) => why = reply.word(),
            Err(cause) => why = cause,
        }
        tokio::time::sleep(PAUSE).await;
    }
    Err(unreachable(&why))
}
