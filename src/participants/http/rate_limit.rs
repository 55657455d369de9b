//! How much a model may still be asked before its service refuses more: requests, or tokens.
//!
//! Pure: moments are arguments. What a service tells of its limits is taken as told when a reply
//! comes back: how much is left, and when the limit is *full* again, so that it fills at a constant
//! rate until then. What goes out is taken off. A service that tells nothing sets no limit. Where it
//! is not sure whether the service has counted a request yet, an answer is waited for as well.

use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use super::retry::span;

/// What a service tells of one limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LimitReport {
    /// What is left of it.
    pub left: u64,
    /// The whole of it, once it is full again.
    pub limit: Option<u64>,
    /// When it is full again, from now on.
    pub reset: Duration,
}

/// Until when a request has to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Until enough has come back.
    Until(Instant),
    /// Until one that is on its way has been answered, or enough has come back.
    Answer(Option<Instant>),
}

/// What is left of one limit.
#[derive(Debug, Default)]
pub(super) struct RateLimit {
    level: Option<Level>,
    /// What is on its way.
    away: u64,
}

/// How full a limit is.
#[derive(Debug)]
struct Level {
    /// What is left of it, when it was last computed; below zero when more went out than there was.
    left: f64,
    limit: Option<u64>,
    reckoned: Instant,
    refill: Refill,
}

/// How a limit fills again.
#[derive(Debug, Clone, Copy)]
enum Refill {
    /// By so much a second.
    EachSecond(f64),
    /// At once, at this moment: the whole of the limit or how much of it is left is not known.
    AllAt(Instant),
}

impl RateLimit {
    /// How long a request that takes `need` has to wait, if it has to.
    pub fn wait(&mut self, need: u64, now: Instant) -> Option<Wait> {
        self.reckon(now);
        let level = self.level.as_ref()?;
        let lack = need as f64 - level.left;
        // One larger than the limit would never fit: the service is to say so itself.
        if lack <= 0.0 || level.limit.is_some_and(|limit| need > limit) {
            return None;
        }
        let at = match level.refill {
            Refill::EachSecond(rate) => {
                Duration::try_from_secs_f64(lack / rate).ok().and_then(|wait| now.checked_add(wait))
            }
            Refill::AllAt(at) => Some(at).filter(|at| *at > now),
        };
        match at {
            Some(at) if lack > self.away as f64 => Some(Wait::Until(at)),
            at => (self.away > 0).then_some(Wait::Answer(at)),
        }
    }

    fn reckon(&mut self, now: Instant) {
        let Some(level) = &mut self.level else { return };
        let since = now.saturating_duration_since(level.reckoned).as_secs_f64();
        level.reckoned = level.reckoned.max(now);
        match (level.refill, level.limit) {
            (Refill::EachSecond(rate), Some(limit)) => {
                level.left = (level.left + rate * since).min(limit as f64);
            }
            (Refill::AllAt(at), Some(limit)) if at <= now => level.left = limit as f64 - self.away as f64,
            (Refill::AllAt(at), None) if at <= now => self.level = None,
            _ => {}
        }
    }

    /// A request that takes `need` goes out.
    pub fn reserve(&mut self, need: u64) {
        self.away = self.away.saturating_add(need);
        if let Some(level) = &mut self.level {
            level.left -= need as f64;
        }
    }

    /// It has come back, or was given up.
    pub fn release(&mut self, need: u64) {
        self.away = self.away.saturating_sub(need);
    }

    /// A reply tells of the limit, to a request that took `need` and is still counted as away.
    pub fn update(&mut self, told: LimitReport, need: u64, now: Instant) {
        let limit = told.limit.or(self.level.as_ref().and_then(|level| level.limit));
        let lacks = limit.and_then(|limit| limit.checked_sub(told.left)).unwrap_or(0);
        let rate = lacks as f64 / told.reset.as_secs_f64();
        let refill = if rate > 0.0 && rate.is_finite() {
            Refill::EachSecond(rate)
        } else {
            Refill::AllAt(now.checked_add(told.reset).unwrap_or(now))
        };
        let left = told.left as f64 - self.away.saturating_sub(need) as f64;
        self.level = Some(Level { left, limit, reckoned: now, refill });
    }

    /// Forgets what was told: the service has said otherwise since.
    pub fn forget(&mut self) {
        self.level = None;
    }
}

/// What a service's headers tell of its limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RateLimitHeaders {
    pub requests: Option<LimitReport>,
    /// Of tokens, the tightest of those told.
    pub tokens: Option<LimitReport>,
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
pub(super) fn limits<'a>(header: impl Fn(&str) -> Option<&'a str>, now: SystemTime) -> RateLimitHeaders {
    let told = |[left, limit, reset]: &[&str; 3]| {
        let number = |name| header(name)?.trim().parse::<u64>().ok();
        let left = number(left)?;
        let reset = header(reset)?.trim();
        let reset = span(reset).or_else(|| until(reset, now))?;
        Some(LimitReport { left, limit: number(limit), reset })
    };
    let tightest = |forms: &[[&str; 3]]| forms.iter().filter_map(told).min_by_key(|told| told.left);
    RateLimitHeaders { requests: tightest(&OF_REQUESTS), tokens: tightest(&OF_TOKENS) }
}

fn until(text: &str, now: SystemTime) -> Option<Duration> {
    let at: jiff::Timestamp = text.parse().ok()?;
    SystemTime::from(at).duration_since(now).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(left: u64, seconds: u64) -> LimitReport {
        LimitReport { left, limit: Some(100), reset: Duration::from_secs(seconds) }
    }

    #[tokio::test(start_paused = true)]
    async fn waits_until_enough_has_come_back_at_the_rate_that_was_told() {
        let now = Instant::now();
        let later = |seconds| now + Duration::from_secs(seconds);
        let mut tokens = RateLimit::default();
        assert_eq!(tokens.wait(1_000_000, now), None, "nothing was told");
        tokens.reserve(40);
        tokens.update(report(60, 20), 40, now);
        tokens.release(40);
        assert_eq!(tokens.wait(60, now), None);
        // 40 come back in 20 s, so that one takes half a second.
        assert_eq!(tokens.wait(70, now), Some(Wait::Until(later(5))));
        assert_eq!(tokens.wait(70, later(2)), Some(Wait::Until(later(5))), "no more, no less");
        assert_eq!(tokens.wait(70, later(5)), None);
        assert_eq!(tokens.wait(101, later(5)), None, "more than the limit is the service's to refuse");
        tokens.reserve(70);
        let answer = Some(Wait::Answer(Some(later(10))));
        assert_eq!(tokens.wait(10, later(5)), answer, "those away may have been counted, or not");
        tokens.release(70);
        assert_eq!(tokens.wait(10, later(5)), Some(Wait::Until(later(10))), "they came back without a word");
        assert_eq!(tokens.wait(100, later(55)), None, "full again, and no more than full");
        tokens.reserve(100);
        tokens.forget();
        assert_eq!(tokens.wait(100, later(55)), None, "nothing is known any more");
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_away_is_taken_off_what_is_told() {
        let now = Instant::now();
        let mut requests = RateLimit::default();
        for _ in 0..4 {
            requests.reserve(1);
        }
        requests.update(report(5, 95), 1, now);
        requests.release(1);
        assert_eq!(requests.wait(2, now), None);
        let enough = now + Duration::from_secs(1);
        assert_eq!(requests.wait(3, now), Some(Wait::Answer(Some(enough))));
        assert_eq!(requests.wait(3, enough), None, "enough came back before they did");
        let mut unlimited = RateLimit::default();
        unlimited.update(LimitReport { left: 0, limit: None, reset: Duration::from_secs(1) }, 0, now);
        assert_eq!(unlimited.wait(1, now), Some(Wait::Until(enough)));
        assert_eq!(unlimited.wait(1, enough), None, "the limit is not known");
        let mut full = RateLimit::default();
        full.update(report(100, 0), 0, now);
        full.reserve(60);
        assert_eq!(full.wait(50, enough), Some(Wait::Answer(None)), "only an answer can tell");
        full.release(60);
        assert_eq!(full.wait(50, enough), None);
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
        let known = |left, limit, reset| Some(LimitReport { left, limit, reset });
        let of_requests = |requests| RateLimitHeaders { requests, tokens: None };
        let all = read(&[(left, "0"), (limit, "500"), (reset, "1m30.5s")]);
        assert_eq!(all, of_requests(known(0, Some(500), ms(90_500))));
        assert_eq!(read(&[(left, " 9 "), (reset, "20ms")]), of_requests(known(9, None, ms(20))));
        for odd in [&[(left, "0")][..], &[(left, "0"), (reset, "soon")], &[(left, "-1"), (reset, "1s")], &[]]
        {
            assert_eq!(read(odd), RateLimitHeaders::default());
        }
        let tokens = read(&[
            ("anthropic-ratelimit-tokens-remaining", "5000"),
            ("anthropic-ratelimit-tokens-reset", "2023-11-14T22:13:30Z"),
            ("anthropic-ratelimit-input-tokens-remaining", "400"),
            ("anthropic-ratelimit-input-tokens-limit", "50000"),
            ("anthropic-ratelimit-input-tokens-reset", "2023-11-14T22:13:25Z"),
        ]);
        assert_eq!(tokens, RateLimitHeaders { requests: None, tokens: known(400, Some(50_000), ms(5_000)) });
        let past = read(&[(left, "0"), (reset, "2020-11-14T22:13:30Z")]);
        assert_eq!(past, RateLimitHeaders::default(), "over already");
    }
}
