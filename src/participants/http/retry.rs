//! Backoff, waits that services ask for, and time limits of a call.
//!
//! Jitter is derived from seat and attempt: a repeated run waits equally long, and 2,000 seats do not retry at
//! the same moment. The round's deadline bounds the whole call. The service timeout bounds requests and the
//! pauses between them, but not the waits that the service asks for.

use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};
use tokio::time::{Instant, timeout};

use super::super::purse::Paid;
use super::{Failure, SeatRequest, format_duration};
use crate::participants::api::duration;

/// Maximum number of requests, the first included.
pub const TRIES: u32 = 4;
/// Wait after the first failure; it doubles with each further one, up to 8 s.
pub const FIRST_WAIT: Duration = Duration::from_millis(500);

/// Returns the wait after `made` failed requests. `first` is the wait after one; `jitter` in `0..1` shortens it
/// by up to a quarter.
pub fn backoff(first: Duration, made: u32, jitter: f64) -> Duration {
    let doubled = first.saturating_mul(1 << made.saturating_sub(1).min(4));
    doubled.mul_f64(1.0 - 0.25 * jitter.clamp(0.0, 1.0))
}

/// Reads the wait that a response asks for: `retry-after-ms`, else `retry-after` in seconds or as an HTTP date.
/// Negative and unreadable values are ignored.
pub fn retry_after(after_ms: Option<&str>, after: Option<&str>, now: SystemTime) -> Option<Duration> {
    let date = |text: &str| {
        let at = httpdate::parse_http_date(text.trim()).ok()?;
        Some(at.duration_since(now).unwrap_or_default())
    };
    // Dates in other forms begin with a number too.
    let seconds = |text: &str| duration(text).filter(|_| !text.contains(['-', ':']));
    let in_ms = after_ms.and_then(|text| duration(&format!("{text} ms")));
    in_ms.or_else(|| after.and_then(|text| seconds(text).or_else(|| date(text))))
}

/// Returns a fraction in `0..1` that depends on the seat and the number of requests made.
pub fn jitter(seat: &str, made: u32) -> f64 {
    let digest = Sha256::new().chain_update(seat.as_bytes()).chain_update(made.to_le_bytes()).finalize();
    let top = digest.iter().take(4).fold(0u32, |sum, byte| sum << 8 | u32::from(*byte));
    f64::from(top) / (f64::from(u32::MAX) + 1.0)
}

/// Longest wait that a service may ask for without a deadline.
const LONGEST: Duration = Duration::from_secs(600);

pub(super) struct Patience {
    deadline: Option<Instant>,
    /// Rest of the service timeout, for requests and pauses.
    left: Duration,
    /// Shorter of both limits, for messages.
    limit: Duration,
}

impl Patience {
    pub fn new(time_left: Option<Duration>, total: Duration) -> Self {
        let deadline = time_left.and_then(|left| Instant::now().checked_add(left));
        Self { deadline, left: total, limit: time_left.map_or(total, |left| left.min(total)) }
    }

    fn to_deadline(&self) -> Option<Duration> {
        self.deadline.map(|at| at.saturating_duration_since(Instant::now()))
    }

    /// Returns the longest wait that a service may ask for now.
    pub fn longest_wait(&self) -> Duration {
        self.to_deadline().unwrap_or(LONGEST)
    }

    pub fn left(&self) -> Duration {
        self.to_deadline().map_or(self.left, |left| left.min(self.left))
    }

    /// Describes why a wait is too long.
    pub fn exceeded(&self) -> String {
        match self.to_deadline() {
            Some(left) => format!("with {} left", format_duration(left)),
            None => format!("longer than {}, the most without a deadline", format_duration(LONGEST)),
        }
    }

    /// Waits for other seats or for the service; only the deadline bounds this.
    pub async fn wait<T>(&self, others: impl Future<Output = T>) -> Result<T, Failure> {
        match self.to_deadline() {
            Some(left) => timeout(left, others).await.map_err(|_| self.late()),
            None => Ok(others.await),
        }
    }

    /// Performs the call's own work, which uses up the service timeout.
    pub async fn spend<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Failure> {
        let started = Instant::now();
        let done = timeout(self.left(), work).await.map_err(|_| self.late());
        self.left = self.left.saturating_sub(started.elapsed());
        done
    }

    /// Waits before the next attempt. A wait that the service asked for does not use up its timeout.
    pub async fn pause(&mut self, wait: Duration, is_asked_for: bool) -> Result<(), Failure> {
        let pause = tokio::time::sleep(wait);
        if is_asked_for { self.wait(pause).await } else { self.spend(pause).await }
    }

    pub fn late(&self) -> Failure {
        no_reply(self.limit)
    }
}

pub(super) fn no_reply(limit: Duration) -> Failure {
    let reason = format!("no reply within {}", format_duration(limit));
    Failure { timed_out: true, ..reason.into() }
}

/// Charges one more request; `last` is the error of the previous one.
pub(super) fn pay(ask: &SeatRequest, last: Option<&str>) -> Result<Paid, Failure> {
    let rooms = if ask.has_twice_the_room { 2 } else { 1 };
    ask.purse.pay(rooms).map_err(|why| last.map_or(why.clone(), |last| format!("{last}; {why}")).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(86_400);

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn doubles_up_to_the_cap() {
        let waits: Vec<_> = (1..=7).map(|made| backoff(FIRST_WAIT, made, 0.0).as_millis()).collect();
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 8000, 8000]);
        assert_eq!(backoff(FIRST_WAIT, u32::MAX, 0.0), ms(8000));
        assert_eq!(backoff(FIRST_WAIT, 1, 1.0), ms(375));
    }

    #[test]
    fn reads_every_form_of_an_asked_wait() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        let read = |after_ms, after| retry_after(after_ms, after, now);
        let cases = [
            (Some("250"), Some("9"), Some(ms(250))),
            (Some("nonsense"), Some("9"), Some(ms(9000))),
            (None, Some(" 2 "), Some(ms(2000))),
            (None, Some("1.5"), Some(ms(1500))),
            (None, Some("0"), Some(ms(0))),
            (None, Some("86400"), Some(DAY)),
            (None, Some("Sun, 06 Nov 1994 08:49:47 GMT"), Some(ms(10_000))),
            (None, Some("Sun, 06 Nov 1994 08:00:00 GMT"), Some(ms(0))),
            (None, Some("99999999999999999999999999"), Some(Duration::MAX)),
            (Some("99999999999999999999999999"), None, Some(Duration::MAX)),
            (Some("-1"), Some("-1"), None),
            (None, Some("soon"), None),
            (None, Some("2026-11-27T21:00:00Z"), None),
            (None, Some("inf"), None),
            (None, Some(""), None),
            (None, Some("1.2.3"), None),
            (None, None, None),
        ];
        for (after_ms, after, expected) in cases {
            assert_eq!(read(after_ms, after), expected, "{after_ms:?} {after:?}");
        }
    }

    #[test]
    fn spreads_seats_and_repeats_itself() {
        assert_eq!(jitter("qa-lead", 1).to_bits(), jitter("qa-lead", 1).to_bits());
        let mut drawn: Vec<_> = (0..100).map(|n| jitter(&format!("seat-{n}"), 1)).collect();
        assert!(drawn.iter().all(|j| (0.0..1.0).contains(j)));
        drawn.sort_by(f64::total_cmp);
        assert!(drawn[10] < 0.3 && drawn[90] > 0.7, "{drawn:?}");
    }
}
