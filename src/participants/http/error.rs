//! Errors of requests without a reply.
//!
//! Pure. `reason` may be shown while the round is open: it contains the status and the service's error name, if
//! well known. It quotes the service's message only for statuses that exclude generated text. It never contains
//! a key or answer text.

use std::fmt::Write as _;
use std::time::Duration;

use crate::participants::api::{DecodeError, ServiceError, first_line};
use crate::sanitize::{LEAST_KEY, MASKED_KEY};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct RequestError {
    /// Message that may be shown while the round is open.
    pub reason: String,
    /// Full message, if it may quote generated text.
    pub in_full: Option<String>,
    /// The next request may succeed.
    pub again: bool,
    /// The service may have processed the request, and may charge for it.
    pub may_cost: bool,
    pub asked: Option<Duration>,
    pub status: Option<u16>,
    /// The service reports that its model is still loading.
    pub is_loading: bool,
    /// The service rejected this request, but may accept a changed one.
    pub declined: Option<Box<ServiceError>>,
    pub is_filtered: bool,
}

impl RequestError {
    pub fn permanent(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), ..Self::default() }
    }

    pub fn transient(reason: impl Into<String>) -> Self {
        Self { again: true, ..Self::permanent(reason) }
    }

    /// Creates the error of a status other than 200. Secrets in `error` are masked; `key_name` is the key's
    /// variable.
    pub fn status(status: u16, error: &ServiceError, has_key: bool, key_name: Option<&str>) -> Self {
        let mut reason = format!("HTTP {status}");
        let mut in_full = reason.clone();
        if let Some(kind) = &error.kind {
            in_full.push(' ');
            in_full.push_str(kind);
        }
        if let Some(message) = &error.message {
            in_full.push_str(": ");
            in_full.push_str(&first_line(message));
        }
        // Nothing can have been generated before these statuses.
        if matches!(status, 401 | 402 | 403 | 404 | 407 | 413 | 429 | 503) {
            reason.clone_from(&in_full);
        } else if let Some(kind) = error.known_kind() {
            reason.push(' ');
            reason.push_str(kind);
        }
        let in_full = (in_full != reason).then_some(in_full);
        if error.is_page {
            reason.push_str(": a web page came in place of the service's answer; is the address right, is a firewall on the way?");
        } else if let (401 | 403, Some(name)) = (status, key_name) {
            let advice = if has_key { "; check" } else { "; no key was sent: set" };
            reason.truncate(reason.trim_end_matches('.').len());
            let _ = write!(reason, "{advice} `{name}`");
        }
        // A prompt that is too long is rejected every time.
        let is_hopeless = error.says(&["context size", "context length", "request too large"]);
        let again = is_retryable(status) && !error.quota && !is_hopeless;
        let is_loading = status == 503 && error.says(&["loading"]);
        // The service, or one behind it, may have generated an answer before these.
        let may_cost = matches!(status, 408 | 500..=599) && !matches!(status, 503 | 529);
        Self { in_full, again, may_cost, status: Some(status), is_loading, ..Self::permanent(reason) }
    }

    /// Masks secrets in both messages.
    pub fn masked(self, secrets: &[String]) -> Self {
        let in_full = self.in_full.map(|text| masked(text, secrets));
        Self { reason: masked(self.reason, secrets), in_full, ..self }
    }

    /// Creates the error of a body with status 200 that is not a reply. Masks before it truncates: a cut could
    /// leave part of a secret.
    pub fn unreadable(unreadable: DecodeError, secrets: &[String]) -> Self {
        let DecodeError { reason, said, status } = unreadable;
        let in_full = said.map(|said| format!("{reason}: {}", first_line(&masked(said, secrets))));
        Self { in_full, again: status.is_some_and(is_retryable), may_cost: true, ..Self::permanent(reason) }
    }
}

fn is_retryable(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..=599)
}

pub(super) fn masked(text: String, secrets: &[String]) -> String {
    secrets.iter().fold(text, |text, secret| text.replace(secret, "***"))
}

/// Masks secrets in an answer, but not short ones: a key such as `none` may be a word of the answer.
pub(super) fn masked_answer(text: String, secrets: &[String]) -> String {
    let long = secrets.iter().filter(|secret| secret.chars().count() >= LEAST_KEY);
    long.fold(text, |text, secret| text.replace(secret, MASKED_KEY))
}

/// Formats a duration: `90 s`, `250 ms`, or `forever` for `Duration::MAX`.
pub(super) fn format_duration(duration: Duration) -> String {
    match duration {
        Duration::MAX => "forever".to_owned(),
        short if short < Duration::from_secs(1) => format!("{} ms", short.as_millis()),
        long => format!("{} s", long.as_secs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_temporary_errors_are_retried() {
        for status in [408, 409, 429, 500, 502, 503, 504, 529] {
            assert!(is_retryable(status), "{status}");
        }
        for status in [200, 301, 400, 401, 403, 404, 413, 422] {
            assert!(!is_retryable(status), "{status}");
        }
    }

    fn error(kind: &str, message: &str) -> ServiceError {
        let (kind, message) = (Some(kind.to_owned()), Some(message.to_owned()));
        ServiceError { kind, message, ..ServiceError::default() }
    }

    #[test]
    fn reason_is_status_name_and_one_safe_line() {
        let told = RequestError::status(429, &error("rate_limit", "slow\ndown\u{1b}[2J"), false, None);
        assert_eq!((told.reason.as_str(), told.again), ("HTTP 429 rate_limit: slow⏎down\\u{1b}[2J", true));
        let bare = RequestError::status(503, &ServiceError::default(), false, None);
        assert_eq!((bare.reason.as_str(), bare.again), ("HTTP 503", true));
        let long = RequestError::status(404, &error("x", &"é".repeat(500)), false, None);
        assert_eq!((long.reason, long.again), (format!("HTTP 404 x: {}…", "é".repeat(200)), false));
        // Statuses whose message or error name may quote an answer.
        for (status, kind, shown) in [
            (400, "no", "HTTP 400"),
            (422, "invalid_request_error", "HTTP 422 invalid_request_error"),
            (500, "yes", "HTTP 500"),
            (529, "overloaded_error", "HTTP 529 overloaded_error"),
        ] {
            let told = RequestError::status(status, &error(kind, "vote: no"), false, None);
            assert_eq!(told.reason, shown);
            assert_eq!(told.in_full, Some(format!("HTTP {status} {kind}: vote: no")));
        }
    }

    #[test]
    fn exhausted_quota_is_not_retried() {
        let quota = ServiceError { quota: true, ..error("insufficient_quota", "pay") };
        assert!(!RequestError::status(429, &quota, false, None).again);
    }

    #[test]
    fn names_the_variable_and_never_the_key() {
        let wrong = RequestError::status(401, &error("sk-1", "bad key sk-1."), true, Some("X_KEY"));
        let wrong = wrong.masked(&["sk-1".to_owned()]);
        assert_eq!(wrong.reason, "HTTP 401 ***: bad key ***; check `X_KEY`");
        let none = RequestError::status(401, &error("auth", "who?"), false, Some("X_KEY"));
        assert_eq!(none.reason, "HTTP 401 auth: who?; no key was sent: set `X_KEY`");
    }
}
