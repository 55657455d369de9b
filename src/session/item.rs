//! The inbox: work items of agents, offered, claimed for a while, returned.
//!
//! One state machine for every worker: of two claims one wins, a lease that ran out is offered
//! again, and every refusal says which one it is. Times are arguments.

use std::sync::Arc;

use super::command::Refusal;
use super::event::{Event, ItemStatus, WorkItemClaimed, WorkItemOffered, WorkItemReturned};
use super::moment::Timestamp;
use super::review::{feedback, is_review};
use super::state::Session;
use crate::workflow::is_feedback;

/// How long a claim holds, in milliseconds.
pub const LEASE_MS: i64 = 300_000;

/// A work item of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkItem {
    /// What was handed out.
    pub offered: Arc<WorkItemOffered>,
    /// When.
    pub at: Timestamp,
    /// Who works on it now, if anyone.
    pub claim: Option<WorkItemClaimed>,
    /// What came back so far, one entry a try, and when.
    pub returned: Vec<(Arc<WorkItemReturned>, Timestamp)>,
    /// How many tries it has in all.
    pub tries: u32,
    /// How long to wait before another try, in milliseconds.
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

    /// Whether someone holds it at `now`.
    pub fn is_held(&self, now: Timestamp) -> bool {
        self.claim.as_ref().is_some_and(|claim| now < claim.until)
    }

    /// From when on it may be claimed.
    pub fn ready_at(&self) -> Timestamp {
        let delay = i64::try_from(self.retry_delay_ms).unwrap_or(i64::MAX);
        self.returned.last().map_or(self.at, |(_, at)| Timestamp(at.0.saturating_add(delay)))
    }

    /// What its stage is about.
    pub fn stage_description(&self) -> &str {
        self.offered.task.as_ref().map_or("", |task| &task.stage_context.stage_description)
    }

    /// Where it stands: `offered`, `claimed`, `completed` or `failed`.
    pub fn state(&self, now: Timestamp) -> &'static str {
        match self.outcome() {
            Some(returned) if returned.status == ItemStatus::Completed => "completed",
            Some(_) => "failed",
            None if self.is_held(now) => "claimed",
            None => "offered",
        }
    }
}

impl Session {
    /// What `agent` may claim at `now`, oldest first: its own offers only.
    pub fn inbox(&self, agent: &str, now: Timestamp) -> Vec<&WorkItem> {
        let open = |item: &&WorkItem| {
            item.offered.participant == agent && item.outcome().is_none() && !item.is_held(now)
        };
        self.items.values().filter(open).collect()
    }

    /// Work items that are not settled, oldest first.
    pub fn open_items(&self) -> impl Iterator<Item = &WorkItem> {
        self.items.values().filter(|item| item.outcome().is_none())
    }
}

fn refuse<T>(why: &str, detail: impl std::fmt::Display) -> Result<T, Refusal> {
    Err(Refusal(format!("{why}: {detail}")))
}

/// The item, if it is `participant`'s and still open.
fn own_item<'a>(session: &'a Session, item: &str, participant: &str) -> Result<&'a WorkItem, Refusal> {
    if session.seat_info(participant).is_none() {
        return refuse("not a participant", format!("`{participant}`"));
    }
    match session.items.get(item).filter(|found| found.offered.participant == participant) {
        Some(found) if found.outcome().is_none() => Ok(found),
        _ => refuse("not offered", format!("work item `{item}` to `{participant}`")),
    }
}

/// A claim: the first wins, and asking again changes nothing for its holder.
pub fn claim(
    session: &Session,
    item: &str,
    participant: &str,
    holder: Option<String>,
    now: Timestamp,
) -> Result<Vec<Event>, Refusal> {
    let found = own_item(session, item, participant)?;
    match &found.claim {
        Some(claim) if now < claim.until && claim.holder == holder => return Ok(Vec::new()),
        Some(claim) if now < claim.until => {
            return refuse("already claimed", format!("work item `{item}` until {}", claim.until));
        }
        _ => {}
    }
    if now < found.ready_at() {
        return refuse("not offered", format!("work item `{item}` before {}", found.ready_at()));
    }
    Ok(vec![claimed(found, holder, now)])
}

fn claimed(item: &WorkItem, holder: Option<String>, now: Timestamp) -> Event {
    Event::WorkItemClaimed(WorkItemClaimed {
        step: item.offered.step.clone(),
        participant: item.offered.participant.clone(),
        item: item.offered.item.clone(),
        attempt: item.attempt(),
        holder,
        until: Timestamp(now.0.saturating_add(LEASE_MS)),
    })
}

/// The item, if `holder` holds it at `now`.
fn held<'a>(
    session: &'a Session,
    item: &str,
    participant: &str,
    holder: Option<&str>,
    now: Timestamp,
) -> Result<&'a WorkItem, Refusal> {
    let found = own_item(session, item, participant)?;
    match &found.claim {
        Some(claim) if claim.holder.as_deref() != holder => {
            refuse("not lease holder", format!("of work item `{item}`"))
        }
        None => refuse("not lease holder", format!("of work item `{item}`, which nobody has claimed")),
        Some(claim) if now >= claim.until => {
            refuse("lease expired", format!("of work item `{item}` at {}", claim.until))
        }
        Some(_) => Ok(found),
    }
}

/// A claim made longer by its holder.
pub fn renew(
    session: &Session,
    item: &str,
    participant: &str,
    holder: Option<String>,
    now: Timestamp,
) -> Result<Vec<Event>, Refusal> {
    let found = held(session, item, participant, holder.as_deref(), now)?;
    Ok(vec![claimed(found, holder, now)])
}

/// What came back, from the holder of the claim alone.
pub fn record_return(
    session: &Session,
    back: WorkItemReturned,
    holder: Option<&str>,
    now: Timestamp,
) -> Result<Vec<Event>, Refusal> {
    let found = held(session, &back.item, &back.participant, holder, now)?;
    let is_review = is_review(found);
    if is_review && back.status == ItemStatus::Completed && !is_feedback(&back.data, session.format()) {
        return refuse("no feedback", format!("review `{}` cannot be completed without it", back.item));
    }
    let back = WorkItemReturned { step: found.offered.step.clone(), attempt: found.attempt(), ..back };
    let mut events = Vec::new();
    if is_review && back.status == ItemStatus::Completed {
        events = feedback(session, found, &back.data, now)?;
    }
    events.insert(0, Event::WorkItemReturned(Arc::new(back)));
    Ok(events)
}
