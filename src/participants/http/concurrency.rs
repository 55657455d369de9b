//! How many requests of one model are on their way at once, learned from what the service says.
//!
//! As many as come, until a service says it is too much: then half of what was on its way, and one
//! more with each reply that comes back. A service that asks for a wait is left alone for so long,
//! and one that tells how many requests and tokens are left is sent no more than those, as they come
//! back.
//! Those who wait go in the order they came; what is learned of one model holds nobody else back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Mutex as Turn, Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};

use super::rate_limit::{RateLimit, RateLimitHeaders, Wait};

/// Nobody waits longer than this for what was only computed from limits: the next request tells.
const LONGEST: Duration = Duration::from_secs(60);

/// The gates of one service's models.
#[derive(Default)]
pub(super) struct ConcurrencyLimits(Mutex<HashMap<String, Arc<ConcurrencyLimit>>>);

impl ConcurrencyLimits {
    /// The gate of a model.
    pub fn limit_for(&self, model: &str) -> Arc<ConcurrencyLimit> {
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(gate) = gates.get(model) {
            return Arc::clone(gate);
        }
        Arc::clone(gates.entry(model.to_owned()).or_default())
    }
}

/// Where the requests of one model pass.
pub(super) struct ConcurrencyLimit {
    slots: Arc<Semaphore>,
    state: Mutex<LimitState>,
    /// Held by the one who is next.
    turn: Turn<()>,
    /// Tells the one who is next that something has changed.
    changed: Notify,
}

struct LimitState {
    /// How many may be on their way.
    width: usize,
    /// How many are.
    inside: usize,
    /// Slots to be taken away as they come back.
    debt: usize,
    closed_until: Option<Instant>,
    requests: RateLimit,
    tokens: RateLimit,
}

impl LimitState {
    /// Until when the service asked to be left alone.
    fn closed(&self, now: Instant) -> Option<Instant> {
        self.closed_until.filter(|until| *until > now)
    }

    /// Until when a request of so many tokens finds too little left.
    fn short(&mut self, tokens: u64, now: Instant) -> Option<Wait> {
        let waits = [self.requests.wait(1, now), self.tokens.wait(tokens, now)];
        let until = waits.iter().flatten().filter_map(|wait| match wait {
            Wait::Until(at) => Some(*at),
            Wait::Answer(_) => None,
        });
        until.max().map(Wait::Until).or_else(|| waits.into_iter().flatten().next())
    }
}

impl Default for ConcurrencyLimit {
    fn default() -> Self {
        let width = Semaphore::MAX_PERMITS;
        let (requests, tokens) = (RateLimit::default(), RateLimit::default());
        let state = LimitState { width, inside: 0, debt: 0, closed_until: None, requests, tokens };
        Self {
            slots: Arc::new(Semaphore::new(width)),
            state: Mutex::new(state),
            turn: Turn::new(()),
            changed: Notify::new(),
        }
    }
}

/// Why a request has to wait, and how long from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closed {
    /// The service asked for it.
    Asked(Duration),
    /// By the limits it told, there is not enough left.
    Short(Duration),
}

/// A request on its way.
pub(super) struct Permit {
    gate: Arc<ConcurrencyLimit>,
    slot: Option<OwnedSemaphorePermit>,
    tokens: u64,
}

impl Permit {
    /// Takes in what a response's headers say of limits.
    pub fn learn(&self, limits: RateLimitHeaders) {
        let now = Instant::now();
        let mut state = self.gate.state();
        if let Some(told) = limits.requests {
            state.requests.update(told, 1, now);
        }
        if let Some(told) = limits.tokens {
            state.tokens.update(told, self.tokens, now);
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.gate.state();
        state.inside -= 1;
        state.requests.release(1);
        state.tokens.release(self.tokens);
        self.gate.changed.notify_one();
        if state.debt > 0 {
            state.debt -= 1;
            if let Some(slot) = self.slot.take() {
                slot.forget();
            }
        }
    }
}

impl ConcurrencyLimit {
    fn state(&self) -> MutexGuard<'_, LimitState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long a request of so many tokens has to wait from now on, as far as the service has said.
    pub fn closed_for(&self, tokens: u64) -> Option<Closed> {
        let now = Instant::now();
        let mut state = self.state();
        if let Some(at) = state.closed(now) {
            return Some(Closed::Asked(at.saturating_duration_since(now)));
        }
        match state.short(tokens, now)? {
            Wait::Until(at) => Some(Closed::Short(at.saturating_duration_since(now).min(LONGEST))),
            Wait::Answer(_) => None,
        }
    }

    /// Waits for its turn: one at a time looks at what is left, in the order they came.
    pub async fn acquire(self: &Arc<Self>, tokens: u64) -> Permit {
        let _turn = self.turn.lock().await;
        // The semaphore is never closed, so that this never fails.
        let slot = Arc::clone(&self.slots).acquire_owned().await.ok();
        let mut last = None;
        loop {
            let until = {
                let now = Instant::now();
                let mut state = self.state();
                let closed = state.closed(now);
                let short = state.short(tokens, now).filter(|_| last.is_none_or(|last| now < last));
                match (closed, short) {
                    (None, None) => {
                        state.inside += 1;
                        state.requests.reserve(1);
                        state.tokens.reserve(tokens);
                        return Permit { gate: Arc::clone(self), slot, tokens };
                    }
                    (Some(at), _) => at,
                    (None, Some(Wait::Until(at) | Wait::Answer(Some(at)))) => {
                        at.min(*last.get_or_insert(now + LONGEST))
                    }
                    (None, Some(Wait::Answer(None))) => *last.get_or_insert(now + LONGEST),
                }
            };
            tokio::select! {
                () = self.changed.notified() => {}
                () = sleep_until(until) => {}
            }
        }
    }

    /// The service is to be left alone for so long. What it told of its limits is older than that word.
    pub fn pause_for(&self, wait: Duration) {
        let until = Instant::now().checked_add(wait);
        let mut state = self.state();
        state.closed_until = state.closed_until.max(until);
        state.requests.forget();
        state.tokens.forget();
        self.changed.notify_one();
    }

    /// The service says it was too much at once.
    pub fn halve(&self) {
        let mut state = self.state();
        let width = state.inside.div_ceil(2).max(1);
        if width < state.width {
            let surplus = state.width - width;
            state.debt += surplus - self.slots.forget_permits(surplus);
            state.width = width;
        }
    }

    /// A reply came back: there is room for one more.
    pub fn raise(&self) {
        let mut state = self.state();
        if state.width < Semaphore::MAX_PERMITS {
            state.width += 1;
            if state.debt > 0 {
                state.debt -= 1;
            } else {
                self.slots.add_permits(1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[tokio::test(start_paused = true)]
    async fn narrows_to_half_and_widens_by_one() {
        let gate = ConcurrencyLimits::default().limit_for("m");
        let mut inside = Vec::new();
        for _ in 0..8 {
            inside.push(gate.acquire(1).await);
        }
        gate.halve();
        gate.halve();
        assert_eq!(gate.state().width, 4);
        inside.truncate(5);
        let late = tokio::time::timeout(ms(10), gate.acquire(1)).await;
        assert!(late.is_err(), "five are inside, four may be");
        inside.truncate(3);
        inside.push(tokio::time::timeout(ms(10), gate.acquire(1)).await.expect("a slot"));
        assert!(tokio::time::timeout(ms(10), gate.acquire(1)).await.is_err());
        gate.raise();
        inside.push(tokio::time::timeout(ms(10), gate.acquire(1)).await.expect("a slot more"));
        drop(inside);
        let inside = gate.state().inside;
        let debt = gate.state().debt;
        assert_eq!((inside, debt), (0, 0));
        assert_eq!(gate.slots.available_permits(), 5);
    }

    #[tokio::test(start_paused = true)]
    async fn one_is_always_let_through_and_those_who_wait_keep_their_order() {
        let gate = ConcurrencyLimits::default().limit_for("m");
        gate.halve();
        let first = gate.acquire(1).await;
        gate.halve();
        assert_eq!(gate.state().width, 1);
        let order = Arc::new(Mutex::new(Vec::new()));
        let waiting: Vec<_> = (0..5)
            .map(|n| {
                let (gate, order) = (Arc::clone(&gate), Arc::clone(&order));
                tokio::spawn(async move {
                    let _pass = gate.acquire(1).await;
                    order.lock().expect("a lock").push(n);
                })
            })
            .collect();
        tokio::task::yield_now().await;
        drop(first);
        for task in waiting {
            task.await.expect("a task");
        }
        assert_eq!(*order.lock().expect("a lock"), [0, 1, 2, 3, 4]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_closed_gate_opens_in_time_and_closes_no_other() {
        let gates = ConcurrencyLimits::default();
        gates.limit_for("busy").pause_for(Duration::from_secs(86_400));
        gates.limit_for("busy").pause_for(ms(5));
        let Some(Closed::Asked(wait)) = gates.limit_for("busy").closed_for(1) else { panic!("it is closed") };
        assert!(wait > Duration::from_secs(86_000));
        drop(tokio::time::timeout(ms(1), gates.limit_for("other").acquire(1)).await.expect("at once"));
        gates.limit_for("soon").pause_for(ms(50));
        assert!(tokio::time::timeout(ms(49), gates.limit_for("soon").acquire(1)).await.is_err());
        drop(tokio::time::timeout(ms(2), gates.limit_for("soon").acquire(1)).await.expect("open again"));
        assert_eq!(gates.limit_for("soon").closed_for(1), None);
    }

    #[tokio::test(start_paused = true)]
    async fn those_who_wait_for_tokens_go_in_their_order_and_no_more_than_fit() {
        let gate = ConcurrencyLimits::default().limit_for("m");
        let first = gate.acquire(10).await;
        first.learn(told(100, 60));
        drop(first);
        let passed = Arc::new(Mutex::new(Vec::new()));
        let seats: Vec<_> = (0..6)
            .map(|n| {
                let (gate, passed) = (Arc::clone(&gate), Arc::clone(&passed));
                // The third is small and would fit at once: it does not go before the second.
                let tokens = if n == 2 { 1 } else { 40 };
                tokio::spawn(async move {
                    let pass = gate.acquire(tokens).await;
                    let started = Instant::now();
                    passed.lock().expect("a lock").push((n, started));
                    sleep_until(started + ms(10)).await;
                    drop(pass);
                })
            })
            .collect();
        let start = Instant::now();
        for seat in seats {
            seat.await.expect("a seat");
        }
        let passed = passed.lock().expect("a lock");
        let order: Vec<_> = passed.iter().map(|(n, _)| *n).collect();
        assert_eq!(order, [0, 1, 2, 3, 4, 5]);
        let in_time = |(_, at): &&(i32, Instant)| at.duration_since(start) < Duration::from_secs(59);
        assert_eq!(
            passed.iter().filter(in_time).count(),
            3,
            "40, 40 and 1 of 100; the rest in the next minute"
        );
        assert!(gate.closed_for(10).is_none(), "nothing is known of that one");
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_reckoned_is_tried_after_a_minute_and_what_was_asked_for_is_waited_out() {
        let gate = ConcurrencyLimits::default().limit_for("m");
        let start = Instant::now();
        let first = gate.acquire(10).await;
        first.learn(told(0, 86_400));
        drop(first);
        assert_eq!(gate.closed_for(10), Some(Closed::Short(LONGEST)));
        drop(gate.acquire(10).await);
        assert_eq!(start.elapsed(), LONGEST);
        // The service's own word goes before what was computed, whether it is shorter or longer.
        gate.pause_for(ms(1000));
        drop(gate.acquire(10).await);
        assert_eq!(start.elapsed(), LONGEST + ms(1000));
        gate.pause_for(Duration::from_secs(300));
        drop(gate.acquire(10).await);
        assert_eq!(start.elapsed(), LONGEST + ms(301_000));
    }

    fn told(left: u64, seconds: u64) -> RateLimitHeaders {
        let reset = Duration::from_secs(seconds);
        RateLimitHeaders {
            requests: None,
            tokens: Some(super::super::rate_limit::LimitReport { left, limit: None, reset }),
        }
    }
}
