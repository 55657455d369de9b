//! When a failed request is sent again, and after how long.
//!
//! Pure. The jitter is derived from the seat and the try, so that the same run waits the same times and 2,000
//! seats do not come back at once.

use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};

/// Requests in all, the first included.
pub const TRIES: u32 = 4;
/// The wait after the first failure; it doubles with each further one, up to 8 s.
pub const FIRST_WAIT: Duration = Duration::from_millis(500);

/// The wait after `made` failed requests, the first of which had `first`, shortened by up to a quarter.
/// `jitter` is in `0..1`.
pub fn backoff(first: Duration, made: u32, jitter: f64) -> Duration {
    let doubled = first.saturating_mul(1 << made.saturating_sub(1).min(4));
    doubled.mul_f64(1.0 - 0.25 * jitter.clamp(0.0, 1.0))
}

pub fn is_retryable(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..=599)
}

/// The wait a response asks for: `retry-after-ms`, else `retry-after` in seconds or as an HTTP
/// date. A negative or unreadable value counts as not given; one too large to count is as long as
/// can be said.
pub fn retry_after(after_ms: Option<&str>, after: Option<&str>, now: SystemTime) -> Option<Duration> {
    let date = |text: &str| {
        let at = httpdate::parse_http_date(text.trim()).ok()?;
        Some(at.duration_since(now).unwrap_or_default())
    };
    after_ms
        .and_then(|text| number(text, 1e-3))
        .or_else(|| after.and_then(|text| number(text, 1.0).or_else(|| date(text))))
}

fn number(text: &str, unit: f64) -> Option<Duration> {
    let text = text.trim();
    let plain = text.chars().all(|c| c.is_ascii_digit() || c == '.');
    let seconds = text.parse::<f64>().ok().filter(|_| plain)? * unit;
    Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

/// A fraction in `0..1` that depends on the seat and the number of requests made.
pub fn jitter(seat: &str, made: u32) -> f64 {
    let digest = Sha256::new().chain_update(seat.as_bytes()).chain_update(made.to_le_bytes()).finalize();
    let top = digest.iter().take(4).fold(0u32, |sum, byte| sum << 8 | u32::from(*byte));
    f64::from(top) / (f64::from(u32::MAX) + 1.0)
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
            (None, Some("1e3"), None),
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
    fn tries_again_only_what_may_pass() {
        for status in [408, 409, 429, 500, 502, 503, 504, 529] {
            assert!(is_retryable(status), "{status}");
        }
        for status in [200, 301, 400, 401, 403, 404, 413, 422] {
            assert!(!is_retryable(status), "{status}");
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
