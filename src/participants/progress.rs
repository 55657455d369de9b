//! Progress of requests, for display while seats are being asked.
//!
//! Contains no reply text. Of a reply's length it shows full hundreds of tokens, as a sign of life.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// A reply without new data for this long is stalled.
const STALLS: Duration = Duration::from_secs(5);

/// Locks a mutex, even if a thread panicked while it held the lock. Every update leaves the value valid.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Progress of one request, updated by its participant.
#[derive(Debug, Clone, Default)]
pub struct ProgressHandle(Arc<Mutex<ProgressState>>);

#[derive(Debug)]
struct ProgressState {
    /// Current progress, without its times and tokens.
    progress: Progress,
    since: Instant,
    /// End of a wait, if known.
    until: Option<Instant>,
    heard: Instant,
    /// Requests sent before a re-ask. Hidden, because a re-ask reveals that the reply was invalid.
    before: Option<u32>,
    /// Pieces of the reply received so far, about one token each.
    pieces: usize,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RequestPhase {
    /// Not sent yet: waits for a permit or for its turn.
    #[default]
    Queued,
    Asked,
    Answering,
    /// The reply began, but no data has arrived for a while.
    Stalled,
    /// Pauses before the next request: an attempt failed, or the service asked for a pause.
    Waiting,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    pub phase: RequestPhase,
    /// Time in this phase, in milliseconds.
    pub for_ms: u64,
    /// Rest of the wait in milliseconds, if known.
    pub left_ms: Option<u64>,
    pub tries: u32,
    /// Reason of the current or last wait; may be shown while the round is open.
    pub trouble: Option<String>,
    /// Last line that an agent's program printed.
    pub said: Option<String>,
    /// Approximate number of tokens received, in full hundreds.
    pub tokens: usize,
}

impl RequestPhase {
    pub fn word(self) -> &'static str {
        match self {
            Self::Queued => "waits for its turn",
            Self::Asked => "asked",
            Self::Answering => "answering",
            Self::Stalled => "stalled",
            Self::Waiting => "waiting",
        }
    }
}

impl ProgressHandle {
    /// Records that request number `tries` is sent. Ignores the first request of a re-ask.
    pub fn asked(&self, tries: u32) {
        let mut noted = lock(&self.0);
        if noted.before.is_none() || tries > 1 {
            noted.enter(RequestPhase::Asked, None);
            // A re-ask continues the count of the requests before it.
            noted.progress.tries = noted.before.map_or(tries, |before| before + tries - 1);
        }
    }

    /// Records a re-ask. It stays hidden, because an invalid reply is sealed content: the reply still seems to
    /// arrive until a request of the re-ask fails.
    pub fn again(&self) {
        let mut noted = lock(&self.0);
        noted.before = Some(noted.progress.tries.max(1));
    }

    pub fn on_data(&self, pieces: usize) {
        let mut noted = lock(&self.0);
        noted.pieces += pieces;
        if noted.progress.phase != RequestPhase::Answering {
            noted.enter(RequestPhase::Answering, None);
        }
        noted.heard = Instant::now();
    }

    /// Records the last line of a program's output.
    pub fn said(&self, text: &str) {
        const LONGEST: usize = 200;
        let last = text.lines().rev().find(|line| !line.trim().is_empty());
        if let Some(last) = last {
            lock(&self.0).progress.said = Some(last.chars().take(LONGEST).collect());
        }
    }

    /// Records a wait before the next request, and its reason.
    pub fn waits(&self, trouble: &str, wait: Duration) {
        let mut noted = lock(&self.0);
        noted.enter(RequestPhase::Waiting, Instant::now().checked_add(wait));
        noted.progress.trouble = Some(trouble.to_owned());
    }

    pub fn queues(&self) {
        lock(&self.0).enter(RequestPhase::Queued, None);
    }

    fn progress(&self) -> Progress {
        let noted = lock(&self.0);
        let silent = noted.heard.elapsed();
        let is_stalled =
            noted.progress.phase == RequestPhase::Answering && silent >= STALLS && noted.before.is_none();
        let (phase, since) = if is_stalled {
            (RequestPhase::Stalled, silent)
        } else {
            (noted.progress.phase, noted.since.elapsed())
        };
        let ms = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        Progress {
            phase,
            for_ms: ms(since),
            left_ms: noted.until.map(|until| ms(until.saturating_duration_since(Instant::now()))),
            tokens: noted.pieces / 100 * 100,
            ..noted.progress.clone()
        }
    }
}

impl Default for ProgressState {
    fn default() -> Self {
        let (now, progress) = (Instant::now(), Progress::default());
        Self { progress, since: now, until: None, heard: now, before: None, pieces: 0 }
    }
}

impl ProgressState {
    fn enter(&mut self, phase: RequestPhase, until: Option<Instant>) {
        (self.progress.phase, self.since, self.until) = (phase, Instant::now(), until);
    }
}

/// Progress of an open round's seats by name; shared by the engine and the front end.
#[derive(Debug, Clone, Default)]
pub struct ProgressBoard(Arc<Mutex<HashMap<String, ProgressHandle>>>);

impl ProgressBoard {
    /// Starts the progress of a seat; replaces an earlier one.
    pub fn begin(&self, seat: &str) -> ProgressHandle {
        let watch = ProgressHandle::default();
        lock(&self.0).insert(seat.to_owned(), watch.clone());
        watch
    }

    pub fn end(&self, seat: &str) {
        lock(&self.0).remove(seat);
    }

    pub fn clear(&self) {
        lock(&self.0).clear();
    }

    pub fn progress(&self) -> HashMap<String, Progress> {
        let watches = lock(&self.0);
        watches.iter().map(|(seat, watch)| (seat.clone(), watch.progress())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn progress_shows_asking_answering_stalling_and_retries() {
        let watches = ProgressBoard::default();
        let watch = watches.begin("ann");
        let now = || watches.progress().remove("ann").expect("a seat");
        assert_eq!((now().phase, now().tries), (RequestPhase::Queued, 0));
        watch.asked(1);
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!((now().phase, now().for_ms, now().tries), (RequestPhase::Asked, 60_000, 1));
        watch.on_data(1);
        tokio::time::advance(Duration::from_millis(4999)).await;
        assert_eq!(now().phase, RequestPhase::Answering);
        watch.on_data(1);
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!((now().phase, now().for_ms), (RequestPhase::Stalled, 5000));
        watch.on_data(1);
        assert_eq!((now().phase, now().for_ms), (RequestPhase::Answering, 9999));
        watch.waits("the reply stopped for 30 s", Duration::from_secs(8));
        tokio::time::advance(Duration::from_secs(3)).await;
        assert_eq!((now().phase, now().left_ms), (RequestPhase::Waiting, Some(5000)));
        watch.asked(2);
        let trouble = now().trouble;
        assert_eq!((now().tries, trouble.as_deref()), (2, Some("the reply stopped for 30 s")));
        assert_eq!(watches.begin("ann").progress().tries, 0);
        watch.said("one\ntwo\n\n");
        watches.clear();
        assert!(watches.progress().is_empty());
        let program = watches.begin("build/1");
        program.said("compiling\nlinking\n\n");
        let said = watches.progress().remove("build/1").and_then(|progress| progress.said);
        assert_eq!(said.as_deref(), Some("linking"));
    }
}
