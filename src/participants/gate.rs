//! How many requests of one model are on their way at once, learned from what the service says.
//!
//! As many as come, until a service says it is too much: then half of what was on its way, and one
//! more with each reply that comes back. A service that asks for a wait is left alone for so long.
//! Those who wait go in the order they came; what is learned of one model holds nobody else back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};

use super::retry::span;

/// The gates of one service's models.
#[derive(Default)]
pub(super) struct Gates(Mutex<HashMap<String, Arc<Gate>>>);

impl Gates {
    /// The gate of a model.
    pub fn of(&self, model: &str) -> Arc<Gate> {
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(gates.entry(model.to_owned()).or_default())
    }
}

/// Where the requests of one model pass.
pub(super) struct Gate {
    slots: Arc<Semaphore>,
    state: Mutex<State>,
}

struct State {
    /// How many may be on their way.
    width: usize,
    /// How many are.
    inside: usize,
    /// Slots to be taken away as they come back.
    debt: usize,
    closed_until: Option<Instant>,
}

impl Default for Gate {
    fn default() -> Self {
        let width = Semaphore::MAX_PERMITS;
        let state = State { width, inside: 0, debt: 0, closed_until: None };
        Self { slots: Arc::new(Semaphore::new(width)), state: Mutex::new(state) }
    }
}

/// A request on its way.
pub(super) struct Pass {
    gate: Arc<Gate>,
    slot: Option<OwnedSemaphorePermit>,
}

impl Drop for Pass {
    fn drop(&mut self) {
        let mut state = self.gate.state();
        state.inside -= 1;
        if state.debt > 0 {
            state.debt -= 1;
            if let Some(slot) = self.slot.take() {
                slot.forget();
            }
        }
    }
}

impl Gate {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long the service has asked to be left alone from now on.
    pub fn closed_for(&self) -> Option<Duration> {
        let until = self.state().closed_until?;
        Some(until.saturating_duration_since(Instant::now())).filter(|wait| !wait.is_zero())
    }

    /// Waits for its turn.
    pub async fn enter(self: &Arc<Self>) -> Pass {
        loop {
            let until = self.state().closed_until;
            if let Some(until) = until.filter(|until| *until > Instant::now()) {
                sleep_until(until).await;
            }
            // The semaphore is never closed, so that this never fails.
            let slot = Arc::clone(&self.slots).acquire_owned().await.ok();
            let mut state = self.state();
            if state.closed_until.is_none_or(|until| until <= Instant::now()) {
                state.inside += 1;
                return Pass { gate: Arc::clone(self), slot };
            }
        }
    }

    /// The service is to be left alone for so long.
    pub fn close_for(&self, wait: Duration) {
        let until = Instant::now().checked_add(wait);
        let mut state = self.state();
        state.closed_until = state.closed_until.max(until);
    }

    /// The service says it was too much at once.
    pub fn narrow(&self) {
        let mut state = self.state();
        let width = state.inside.div_ceil(2).max(1);
        if width < state.width {
            let surplus = state.width - width;
            state.debt += surplus - self.slots.forget_permits(surplus);
            state.width = width;
        }
    }

    /// A reply came back: there is room for one more.
    pub fn widen(&self) {
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

/// How long a service's headers ask to be left alone, when they say that nothing more is allowed:
/// those of `OpenAI` and the many that copy it, and those of Anthropic. `header` gives one by name.
pub(super) fn spent<'a>(header: impl Fn(&str) -> Option<&'a str>, now: SystemTime) -> Option<Duration> {
    let forms = [
        ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
        ("x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
        ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
        ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
    ];
    let is_spent = |name| header(name).is_some_and(|left| left.trim().parse::<f64>() == Ok(0.0));
    let waits = forms.into_iter().filter(|(left, _)| is_spent(left)).filter_map(|(_, reset)| {
        let reset = header(reset)?.trim();
        span(reset).or_else(|| until(reset, now))
    });
    waits.max()
}

fn until(text: &str, now: SystemTime) -> Option<Duration> {
    let at: jiff::Timestamp = text.parse().ok()?;
    SystemTime::from(at).duration_since(now).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[tokio::test(start_paused = true)]
    async fn narrows_to_half_and_widens_by_one() {
        let gate = Gates::default().of("m");
        let mut inside = Vec::new();
        for _ in 0..8 {
            inside.push(gate.enter().await);
        }
        gate.narrow();
        gate.narrow();
        assert_eq!(gate.state().width, 4);
        inside.truncate(5);
        let late = tokio::time::timeout(ms(10), gate.enter()).await;
        assert!(late.is_err(), "five are inside, four may be");
        inside.truncate(3);
        inside.push(tokio::time::timeout(ms(10), gate.enter()).await.expect("a slot"));
        assert!(tokio::time::timeout(ms(10), gate.enter()).await.is_err());
        gate.widen();
        inside.push(tokio::time::timeout(ms(10), gate.enter()).await.expect("a slot more"));
        drop(inside);
        let inside = gate.state().inside;
        let debt = gate.state().debt;
        assert_eq!((inside, debt), (0, 0));
        assert_eq!(gate.slots.available_permits(), 5);
    }

    #[tokio::test(start_paused = true)]
    async fn one_is_always_let_through_and_those_who_wait_keep_their_order() {
        let gate = Gates::default().of("m");
        gate.narrow();
        let first = gate.enter().await;
        gate.narrow();
        assert_eq!(gate.state().width, 1);
        let order = Arc::new(Mutex::new(Vec::new()));
        let waiting: Vec<_> = (0..5)
            .map(|n| {
                let (gate, order) = (Arc::clone(&gate), Arc::clone(&order));
                tokio::spawn(async move {
                    let _pass = gate.enter().await;
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
        let gates = Gates::default();
        gates.of("busy").close_for(Duration::from_secs(86_400));
        gates.of("busy").close_for(ms(5));
        assert!(gates.of("busy").closed_for() > Some(Duration::from_secs(86_000)));
        drop(tokio::time::timeout(ms(1), gates.of("other").enter()).await.expect("at once"));
        gates.of("soon").close_for(ms(50));
        assert!(tokio::time::timeout(ms(49), gates.of("soon").enter()).await.is_err());
        drop(tokio::time::timeout(ms(2), gates.of("soon").enter()).await.expect("open again"));
        assert_eq!(gates.of("soon").closed_for(), None);
    }

    #[test]
    fn reads_what_headers_say_of_limits() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        let read = |headers: &[(&str, &'static str)]| {
            spent(|name| headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value), now)
        };
        let (left, reset) = ("x-ratelimit-remaining-requests", "x-ratelimit-reset-requests");
        assert_eq!(read(&[(left, "0"), (reset, "1m30.5s")]), Some(ms(90_500)));
        assert_eq!(read(&[(left, "0"), (reset, "20ms")]), Some(ms(20)));
        assert_eq!(read(&[(left, "1"), (reset, "1s")]), None);
        assert_eq!(read(&[(left, "0")]), None);
        assert_eq!(read(&[(left, "0"), (reset, "soon")]), None);
        let (left, reset) = ("anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset");
        assert_eq!(read(&[(left, "0"), (reset, "2023-11-14T22:13:30Z")]), Some(ms(10_000)));
        assert_eq!(read(&[(left, "0"), (reset, "2020-11-14T22:13:30Z")]), None);
    }
}
