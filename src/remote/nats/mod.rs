//! Queue between a session and its workers: a NATS server.
//!
//! It transports offers, sealed ballots and snapshots, and decides nothing.

mod connect;
mod door;
pub mod names;
mod receive;
pub mod send;
pub mod streams;

use std::sync::Mutex;

use crate::participants::lock;

pub use connect::{Address, connect};
pub use door::QueueDoor;

/// Name of a session on the server, as in `_INBOX_facilitator`; no worker may have it.
pub const SESSION: &str = "facilitator";

/// Callback for messages to the user.
pub type Tell = std::sync::Arc<dyn Fn(&str) + Send + Sync>;

/// Reporter of temporary problems; suppresses repetitions of a message.
pub struct Trouble {
    tell: Tell,
    said: Mutex<String>,
}

impl Trouble {
    /// Creates a reporter; `said` counts as already reported.
    pub fn new(tell: &Tell, said: &str) -> Self {
        Self { tell: Tell::clone(tell), said: Mutex::new(said.to_owned()) }
    }

    pub fn say(&self, line: &str) {
        let mut said = lock(&self.said);
        if *said != line {
            (self.tell)(line);
            line.clone_into(&mut said);
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueueError {
    /// Not reached within the time limit of a start.
    #[error("the NATS server {0} cannot be reached: {1}")]
    Unreachable(String, String),
    /// Refused by the server or the settings.
    #[error("{0}")]
    Refused(String),
}

/// Returns a duration; in debug builds, an environment variable can replace it, in milliseconds.
fn debug_duration(variable: &str, usual: std::time::Duration) -> std::time::Duration {
    let given = std::env::var(variable).ok().filter(|_| cfg!(debug_assertions));
    let given = given.and_then(|text| text.parse().ok()).map(std::time::Duration::from_millis);
    given.unwrap_or(usual)
}

/// Aborts a debug build at a point that a test names, like a power cut. `taken:3` means the third time.
pub fn stop_at(point: &str) {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static PASSED: AtomicUsize = AtomicUsize::new(0);
    if !cfg!(debug_assertions) {
        return;
    }
    let Ok(wanted) = std::env::var("ROUNDTABLE_STOP_AT") else { return };
    let (name, time) = wanted.split_once(':').unwrap_or((&wanted, "1"));
    if name == point && PASSED.fetch_add(1, Ordering::Relaxed) + 1 == time.parse().unwrap_or(1) {
        std::process::abort();
    }
}
