//! How much a model may still be asked before its service's minute is over: requests, or tokens.
//!
//! Pure: moments are arguments. What a service tells of its limits is taken as told when a reply
//! comes back; what went out since, and what is still on its way, is taken off. A service that tells
//! nothing sets no limit. Where it is not sure whether the service has counted a request yet, an
//! answer is waited for, not the end of the minute.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use super::retry::span;

/// What a service tells of one limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Told {
    /// What is left of it.
    pub left: u64,
    /// The whole of it, once it is filled again.
    pub limit: Option<u64>,
    /// When it is filled again, from now on.
    pub reset: Duration,
}

/// Until when a request has to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Until the limit is filled again.
    Until(Instant),
    /// Until one that is on its way has come back, or the limit is filled again.
    Answer(Option<Instant>),
}

/// What is left of one limit.
#[derive(Debug, Default)]
pub(super) struct Allowance {
    left: Option<u64>,
    limit: Option<u64>,
    resets: Option<Instant>,
    /// What went out since it was told, that it may not have counted.
    since: u64,
    /// What is on its way.
    away: u64,
}

impl Allowance {
    /// How long a request that takes `need` has to wait, if it has to.
    pub fn wait(&mut self, need: u64, now: Instant) -> Option<Wait> {
        if self.resets.is_some_and(|at| at <= now) {
            (self.left, self.resets, self.since) = (self.limit, None, self.away);
        }
        let left = self.left?;
        if need <= left.saturating_sub(self.since) {
            return None;
        }
        match self.resets {
            _ if need <= left && self.away > 0 => Some(Wait::Answer(self.resets)),
            // It would never fit: the service is to say so itself.
            Some(_) if self.limit.is_some_and(|limit| need > limit) => None,
            Some(at) => Some(Wait::Until(at)),
            None => (self.away > 0).then_some(Wait::Answer(None)),
        }
    }

    /// A request that takes `need` goes out.
    pub fn goes(&mut self, need: u64) {
        self.since = self.since.saturating_add(need);
        self.away = self.away.saturating_add(need);
    }

    /// It has come back, or was given up.
    pub fn is_back(&mut self, need: u64) {
        self.away = self.away.saturating_sub(need);
    }

    /// A reply tells of the limit, to a request that took `need` and is still counted as away.
    pub fn told(&mut self, told: Told, need: u64, now: Instant) {
        (self.left, self.limit) = (Some(told.left), told.limit.or(self.limit));
        self.resets = now.checked_add(told.reset);
        self.since = self.away.saturating_sub(need);
    }
}

/// What a service's headers tell of its limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Limits {
    /// Of requests.
    pub requests: Option<Told>,
    /// Of tokens, the tightest of those told.
    pub tokens: Option<Told>,
}

/// What is left of a limit, the whole of it, and when it is filled again, by the names of headers.
const OF_REQUESTS: [[&str; 3]; 2] = [
    ["x-ratelimit-remaining-requests", "x-ratelimit-limit-requests", "x-ratelimit-reset-requests"],
    [
        "anthropic-ratelimit-requests-remaining",
        "anthropic-ratelimit-requests-limit",
        "anthropic-ratelimit-requests-reset",
    ],
];
/// The same of tokens.
const OF_TOKENS: [[&str; 3]; 3] = [
    ["x-ratelimit-remaining-tokens", "x-ratelimit-limit-tokens", "x-ratelimit-reset-tokens"],
    [
        "anthropic-ratelimit-tokens-remaining",
        "anthropic-ratelimit-tokens-limit",
        "anthropic-ratelimit-tokens-reset",
    ],
    [
        "anthropic-ratelimit-input-tokens-remaining",
        "anthropic-ratelimit-input-tokens-limit",
        "anthropic-ratelimit-input-tokens-reset",
    ],
];

/// What the headers of a response tell of limits: those of `OpenAI` and the many that copy it, and
/// those of Anthropic. `header` gives one by name.
pub(super) fn limits<'a>(header: impl Fn(&str) -> Option<&'a str>, now: SystemTime) -> Limits {
    let told = |[left, limit, reset]: &[&str; 3]| {
        let number = |name| header(name)?.trim().parse::<u64>().ok();
        let left = number(left)?;
        let reset = header(reset)?.trim();
        let reset = span(reset).or_else(|| until(reset, now))?;
        Some(Told { left, limit: number(limit), reset })
    };
    let tightest = |forms: &[[&str; 3]]| forms.iter().filter_map(told).min_by_key(|told| told.left);
    Limits { requests: tightest(&OF_REQUESTS), tokens: tightest(&OF_TOKENS) }
}

fn until(text: &str, now: SystemTime) -> Option<Duration> {
    let at: jiff::Timestamp = text.parse().ok()?;
    SystemTime::from(at).duration_since(now).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(left: u64, seconds: u64) -> Told {
        Told { left, limit: Some(100), reset: Duration::from_secs(seconds) }
    }

    #[tokio::test(start_paused = true)]
    async fn waits_for_the_minute_to_end_once_what_is_left_is_too_little() {
        let now = Instant::now();
        let later = |seconds| now + Duration::from_secs(seconds);
        let mut tokens = Allowance::default();
        assert_eq!(tokens.wait(1_000_000, now), None, "nothing was told");
        tokens.goes(40);
        tokens.told(told(60, 30), 40, now);
        tokens.is_back(40);
        assert_eq!(tokens.wait(60, now), None);
        assert_eq!(tokens.wait(61, now), Some(Wait::Until(later(30))));
        assert_eq!(tokens.wait(101, now), None, "more than the limit is the service's to refuse");
        tokens.goes(50);
        let answer = Some(Wait::Answer(Some(later(30))));
        assert_eq!(tokens.wait(11, now), answer, "those away may have been counted, or not");
        tokens.is_back(50);
        assert_eq!(tokens.wait(11, now), Some(Wait::Until(later(30))), "they came back without a word");
        assert_eq!(tokens.wait(11, later(30)), None, "filled again");
        tokens.goes(95);
        assert_eq!(tokens.wait(11, later(31)), Some(Wait::Answer(None)), "of the new minute");
        tokens.told(told(5, 20), 95, later(32));
        tokens.is_back(95);
        assert_eq!(tokens.wait(11, later(33)), Some(Wait::Until(later(52))));
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_away_is_taken_off_what_is_told() {
        let now = Instant::now();
        let mut requests = Allowance::default();
        for _ in 0..4 {
            requests.goes(1);
        }
        requests.told(told(5, 60), 1, now);
        requests.is_back(1);
        assert_eq!(requests.wait(2, now), None);
        let reset = now + Duration::from_secs(60);
        assert_eq!(requests.wait(3, now), Some(Wait::Answer(Some(reset))));
        assert_eq!(requests.wait(3, reset), None, "the minute is over before they are back");
        let mut unlimited = Allowance::default();
        unlimited.told(Told { left: 0, limit: None, reset: Duration::from_secs(1) }, 0, now);
        assert!(unlimited.wait(1, now).is_some());
        assert_eq!(unlimited.wait(1, now + Duration::from_secs(1)), None, "the limit is not known");
    }

    #[test]
    fn reads_what_headers_say_of_limits() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let read = |headers: &[(&str, &'static str)]| {
            limits(|name| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value), now)
        };
        let (left, limit, reset) =
            ("x-ratelimit-remaining-requests", "x-ratelimit-limit-requests", "x-ratelimit-reset-requests");
        let ms = Duration::from_millis;
        let known = |left, limit, reset| Some(Told { left, limit, reset });
        let of_requests = |requests| Limits { requests, tokens: None };
        let all = read(&[(left, "0"), (limit, "500"), (reset, "1m30.5s")]);
        assert_eq!(all, of_requests(known(0, Some(500), ms(90_500))));
        assert_eq!(read(&[(left, " 9 "), (reset, "20ms")]), of_requests(known(9, None, ms(20))));
        for odd in [&[(left, "0")][..], &[(left, "0"), (reset, "soon")], &[(left, "-1"), (reset, "1s")], &[]]
        {
            assert_eq!(read(odd), Limits::default());
        }
        let tokens = read(&[
            ("anthropic-ratelimit-tokens-remaining", "5000"),
            ("anthropic-ratelimit-tokens-reset", "2023-11-14T22:13:30Z"),
            ("anthropic-ratelimit-input-tokens-remaining", "400"),
            ("anthropic-ratelimit-input-tokens-limit", "50000"),
            ("anthropic-ratelimit-input-tokens-reset", "2023-11-14T22:13:25Z"),
        ]);
        assert_eq!(tokens, Limits { requests: None, tokens: known(400, Some(50_000), ms(5_000)) });
        let past = read(&[(left, "0"), (reset, "2020-11-14T22:13:30Z")]);
        assert_eq!(past, Limits::default(), "over already");
    }
}
