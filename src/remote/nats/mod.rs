//! The queue between a session and its workers: a NATS server, its streams, and what things are called
//! there. It carries offers, sealed ballots and snapshots, and decides nothing.

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

/// The name of a session on the server, as in `_INBOX_facilitator`; no worker has it.
pub const SESSION: &str = "facilitator";

/// Says one line to whoever runs the program.
pub type Tell = std::sync::Arc<dyn Fn(&str) + Send + Sync>;

/// Trouble that may pass: each line is said once, until another one is.
pub struct Trouble {
    tell: Tell,
    said: Mutex<String>,
}

impl Trouble {
    /// With the line that counts as said.
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
    /// The server has not been reached in the time that a start may take.
    #[error("the NATS server {0} cannot be reached: {1}")]
    Unreachable(String, String),
    /// The server or the settings do not allow it.
    #[error("{0}")]
    Refused(String),
}

/// A time that tests of debug builds may shorten, by an environment variable in milliseconds.
fn debug_duration(variable: &str, usual: std::time::Duration) -> std::time::Duration {
    let given = std::env::var(variable).ok().filter(|_| cfg!(debug_assertions));
    let given = given.and_then(|text| text.parse().ok()).map(std::time::Duration::from_millis);
    given.unwrap_or(usual)
}

/// Ends a program of a debug build at once, as a power cut would, where a test names this point: the
/// first time, or the one that it gives, as in `taken:3`.
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
