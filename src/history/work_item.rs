//! State of agents' work items: offered, claimed under a lease, returned.

use std::sync::Arc;

use super::event::{ItemStatus, WorkItemClaimed, WorkItemOffered, WorkItemReturned};
use super::timestamp::Timestamp;

pub const LEASE_MS: i64 = 300_000;

#[derive(Debug, Clone, PartialEq)]
pub struct WorkItem {
    pub offered: Arc<WorkItemOffered>,
    pub at: Timestamp,
    pub claim: Option<WorkItemClaimed>,
    /// Start of the claim; renewing does not change it.
    pub claimed_at: Option<Timestamp>,
    pub returned: Vec<(Arc<WorkItemReturned>, Timestamp)>,
    pub tries: u32,
    pub retry_delay_ms: u64,
}

impl WorkItem {
    /// Returns the final return; `None` while another attempt is possible.
    pub fn outcome(&self) -> Option<&Arc<WorkItemReturned>> {
        let (last, _) = self.returned.last()?;
        let is_last = last.status == ItemStatus::Completed || self.returned.len() >= self.tries as usize;
        is_last.then_some(last)
    }

    pub fn completed(&self) -> Option<&WorkItemReturned> {
        self.outcome().map(|back| &**back).filter(|back| back.status == ItemStatus::Completed)
    }

    /// Returns the error message of the final attempt.
    pub fn failure(&self) -> &str {
        self.outcome().and_then(|back| back.error.as_deref()).unwrap_or("no reason given")
    }

    pub fn attempt(&self) -> u32 {
        self.returned.len() as u32 + 1
    }

    /// Checks if the claim is valid. A claim that ends later than any lease predates a clock change.
    pub fn is_held(&self, now: Timestamp) -> bool {
        let lasts = |claim: &WorkItemClaimed| (1..=LEASE_MS as u64).contains(&claim.until.since(now));
        self.claim.as_ref().is_some_and(lasts)
    }

    pub(super) fn note_claim(&mut self, claim: &WorkItemClaimed, at: Timestamp) {
        let is_renewed = self.claim.as_ref().is_some_and(|held| held.holder == claim.holder);
        if !is_renewed || !self.is_held(at) {
            self.claimed_at = Some(at);
        }
        self.claim = Some(claim.clone());
    }

    pub fn claimed_for(&self, now: Timestamp) -> u64 {
        self.claimed_at.map_or(0, |at| now.since(at))
    }

    /// Returns the milliseconds until the next attempt; 0 if the clock was set back.
    pub fn wait_ms(&self, now: Timestamp) -> u64 {
        let last = self.returned.last().filter(|(_, at)| *at <= now);
        last.map_or(0, |(_, at)| self.retry_delay_ms.saturating_sub(now.since(*at)))
    }

    pub fn is_free(&self, now: Timestamp) -> bool {
        !self.is_held(now) && self.wait_ms(now) == 0
    }

    pub fn stage_description(&self) -> &str {
        self.offered.task.as_ref().map_or("", |task| &task.stage_context.stage_description)
    }

    pub fn state(&self, now: Timestamp) -> &'static str {
        match self.outcome() {
            Some(returned) if returned.status == ItemStatus::Completed => "completed",
            Some(_) => "failed",
            None if self.is_held(now) => "claimed",
            None => "offered",
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn retries_do_not_wait_for_a_clock_that_was_set_back() {
        let offered = json!({
            "step": "a", "participant": "ann", "item": "a/1", "model": "m", "available_skills": [], "address": "",
            "persona": "", "prompt_sha256": "", "context_sha256": "",
        });
        let back = json!({
            "step": "a", "participant": "ann", "item": "a/1", "attempt": 1, "status": "failed", "data": null,
            "error": "tired", "origin": "model", "model": "", "tries": 1, "latency_ms": 0,
        });
        let claim = json!({
            "step": "a", "participant": "ann", "item": "a/1", "attempt": 1,
            "until": Timestamp(LEASE_MS + 1_000_000),
        });
        let mut item = WorkItem {
            offered: serde_json::from_value(offered).unwrap(),
            at: Timestamp(1_000_000),
            claim: Some(serde_json::from_value(claim).unwrap()),
            claimed_at: None,
            returned: Vec::new(),
            tries: 2,
            retry_delay_ms: 500,
        };
        let is_free = |item: &WorkItem, at: i64| item.is_free(Timestamp(at));
        assert!(!is_free(&item, 1_000_000) && !is_free(&item, 1_000_000 + LEASE_MS - 1));
        assert!(is_free(&item, 1_000_000 + LEASE_MS) && is_free(&item, 999_999) && is_free(&item, 5));
        item.claim = None;
        item.returned.push((serde_json::from_value(back).unwrap(), Timestamp(1_000_000)));
        assert!(!is_free(&item, 1_000_499) && is_free(&item, 1_000_500) && is_free(&item, 999_999));
    }
}
