//! Work items of agents: offered, claimed for a while, returned.

use std::sync::Arc;

use super::event::{ItemStatus, WorkItemClaimed, WorkItemOffered, WorkItemReturned};
use super::timestamp::Timestamp;

#[derive(Debug, Clone, PartialEq)]
pub struct WorkItem {
    pub offered: Arc<WorkItemOffered>,
    pub at: Timestamp,
    pub claim: Option<WorkItemClaimed>,
    /// When its holder has claimed it; renewing changes nothing of that.
    pub claimed_at: Option<Timestamp>,
    /// What came back so far, one entry a try, and when.
    pub returned: Vec<(Arc<WorkItemReturned>, Timestamp)>,
    pub tries: u32,
    pub retry_delay_ms: u64,
}

impl WorkItem {
    /// What it came to, once no further try is made.
    pub fn outcome(&self) -> Option<&Arc<WorkItemReturned>> {
        let (last, _) = self.returned.last()?;
        let is_last = last.status == ItemStatus::Completed || self.returned.len() >= self.tries as usize;
        is_last.then_some(last)
    }

    /// The number of the try that is made now or next, from 1.
    pub fn attempt(&self) -> u32 {
        self.returned.len() as u32 + 1
    }

    pub fn is_held(&self, now: Timestamp) -> bool {
        self.claim.as_ref().is_some_and(|claim| now < claim.until)
    }

    pub(super) fn note_claim(&mut self, claim: &WorkItemClaimed, at: Timestamp) {
        let is_renewed =
            self.claim.as_ref().is_some_and(|held| held.holder == claim.holder && at < held.until);
        if !is_renewed {
            self.claimed_at = Some(at);
        }
        self.claim = Some(claim.clone());
    }

    /// How long its holder has had it at `now`, in milliseconds.
    pub fn claimed_for(&self, now: Timestamp) -> u64 {
        self.claimed_at.map_or(0, |at| now.since(at))
    }

    pub fn ready_at(&self) -> Timestamp {
        let delay = i64::try_from(self.retry_delay_ms).unwrap_or(i64::MAX);
        self.returned.last().map_or(self.at, |(_, at)| Timestamp(at.0.saturating_add(delay)))
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
