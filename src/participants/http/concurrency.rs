//! Limit of concurrent requests to one model, learned from the service.
//!
//! There is none until a service reports overload: then it is half of the requests on their way, and one more
//! with each reply. A service that asks for a wait gets no request until then. Waiting requests go in the
//! order they came; models do not hold each other back.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep};

#[derive(Default)]
pub(super) struct ConcurrencyLimits(Mutex<HashMap<String, Arc<ConcurrencyLimit>>>);

impl ConcurrencyLimits {
    pub fn limit_for(&self, model: &str) -> Arc<ConcurrencyLimit> {
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(gate) = gates.get(model) {
            return Arc::clone(gate);
        }
        Arc::clone(gates.entry(model.to_owned()).or_default())
    }
}

pub(super) struct ConcurrencyLimit {
    slots: Arc<Semaphore>,
    state: Mutex<LimitState>,
}

struct LimitState {
    width: usize,
    inside: usize,
    /// Slots to be taken away as they come back.
    debt: usize,
    closed_until: Option<Instant>,
}

impl Default for ConcurrencyLimit {
    fn default() -> Self {
        let width = Semaphore::MAX_PERMITS;
        let state = LimitState { width, inside: 0, debt: 0, closed_until: None };
        Self { slots: Arc::new(Semaphore::new(width)), state: Mutex::new(state) }
    }
}

pub(super) struct Permit {
    gate: Arc<ConcurrencyLimit>,
    slot: Option<OwnedSemaphorePermit>,
}

impl Drop for Permit {
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

impl ConcurrencyLimit {
    fn state(&self) -> MutexGuard<'_, LimitState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the rest of the wait that the service asked for.
    pub fn closed_for(&self) -> Option<Duration> {
        let now = Instant::now();
        let until = self.state().closed_until.filter(|until| *until > now)?;
        Some(until.saturating_duration_since(now))
    }

    pub async fn acquire(self: &Arc<Self>) -> Permit {
        // The semaphore is never closed, so that this never fails.
        let slot = Arc::clone(&self.slots).acquire_owned().await.ok();
        while let Some(wait) = self.closed_for() {
            sleep(wait).await;
        }
        self.state().inside += 1;
        Permit { gate: Arc::clone(self), slot }
    }

    /// The service is to be left alone for so long.
    pub fn pause_for(&self, wait: Duration) {
        let until = Instant::now().checked_add(wait);
        let mut state = self.state();
        state.closed_until = state.closed_until.max(until);
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
            inside.push(gate.acquire().await);
        }
        gate.halve();
        gate.halve();
        assert_eq!(gate.state().width, 4);
        inside.truncate(5);
        let late = tokio::time::timeout(ms(10), gate.acquire()).await;
        assert!(late.is_err(), "five are inside, four may be");
        inside.truncate(3);
        inside.push(tokio::time::timeout(ms(10), gate.acquire()).await.expect("a slot"));
        assert!(tokio::time::timeout(ms(10), gate.acquire()).await.is_err());
        gate.raise();
        inside.push(tokio::time::timeout(ms(10), gate.acquire()).await.expect("a slot more"));
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
        let first = gate.acquire().await;
        gate.halve();
        assert_eq!(gate.state().width, 1);
        let order = Arc::new(Mutex::new(Vec::new()));
        let waiting: Vec<_> = (0..5)
            .map(|n| {
                let (gate, order) = (Arc::clone(&gate), Arc::clone(&order));
                tokio::spawn(async move {
                    let _pass = gate.acquire().await;
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
        assert!(gates.limit_for("busy").closed_for() > Some(Duration::from_secs(86_000)));
        drop(tokio::time::timeout(ms(1), gates.limit_for("other").acquire()).await.expect("at once"));
        gates.limit_for("soon").pause_for(ms(50));
        assert!(tokio::time::timeout(ms(49), gates.limit_for("soon").acquire()).await.is_err());
        drop(tokio::time::timeout(ms(2), gates.limit_for("soon").acquire()).await.expect("open again"));
        assert_eq!(gates.limit_for("soon").closed_for(), None);
    }
}
