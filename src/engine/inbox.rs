//! Work items of agents that poll: claimed, renewed and returned by their holders, never asked here.

use super::arrival::{Accepted, Work, WorkMessage};
use super::state::Engine;
use super::work_item_attempt::{failed_item, read_text, returned};
use crate::core::{Command, Refusal, refusal};
use crate::history::{Door, ItemStatus, Timestamp, WorkItem, WorkItemReturned};
use crate::workflow::{is_feedback, read_answer};

impl Engine<'_> {
    /// Whether an agent polls for its work, instead of being asked here.
    pub(super) fn polls(&self, agent: &str) -> bool {
        self.session.remote(agent).is_some_and(|remote| remote.door == Door::Inbox)
    }

    /// Takes in what the holder of a claim, or whoever wants one, has sent. A refusal is its word, and after
    /// a colon the reason.
    pub(super) fn take_work(&mut self, message: WorkMessage) -> Result<Accepted, String> {
        let WorkMessage { participant, holder, work } = message;
        if !self.polls(&participant) {
            return Err(refusal::NO_SUCH_AGENT.to_owned());
        }
        let of = (participant, Some(holder));
        let done = match work {
            Work::Claim(item) => self.claim(item, of),
            Work::Take(most) => Ok(self.claim_oldest(most, &of)),
            Work::Renew(item) => self.renew(item, of),
            Work::Return(item, text) => return self.return_work(&item, &text, of),
            Work::Fail(item, reason) => self.fail_work(&item, reason, of),
        };
        done.map_err(|refused| refused.0)
    }

    fn claim(
        &mut self,
        item: String,
        (participant, holder): (String, Option<String>),
    ) -> Result<Accepted, Refusal> {
        self.stage(Command::Claim { item: item.clone(), participant, holder })?;
        Ok(Accepted::Claimed(vec![item]))
    }

    /// Claims what is open of an agent, oldest first.
    fn claim_oldest(&mut self, most: usize, (agent, holder): &(String, Option<String>)) -> Accepted {
        let now = (self.now)();
        let is_free = |item: &&WorkItem| {
            item.offered.participant == *agent && !item.is_held(now) && item.ready_at() <= now
        };
        let free = self.session.open_items().filter(is_free).take(most);
        let mut free: Vec<String> = free.map(|item| item.offered.item.clone()).collect();
        free.retain(|item| {
            let (participant, holder) = (agent.clone(), holder.clone());
            self.stage(Command::Claim { item: item.clone(), participant, holder }).is_ok()
        });
        Accepted::Claimed(free)
    }

    fn renew(
        &mut self,
        item: String,
        (participant, holder): (String, Option<String>),
    ) -> Result<Accepted, Refusal> {
        self.stage(Command::Renew { item: item.clone(), participant, holder })?;
        Ok(Accepted::Claimed(vec![item]))
    }

    fn return_work(
        &mut self,
        item: &str,
        text: &str,
        (participant, holder): (String, Option<String>),
    ) -> Result<Accepted, String> {
        let known = self.session.items.get(item).filter(|known| known.offered.participant == participant);
        let is_same = |back: &WorkItemReturned| {
            back.status == ItemStatus::Completed
                && back.replies.last().is_some_and(|reply| reply.text == text)
        };
        // The reply to it may have been lost.
        if known.and_then(WorkItem::outcome).is_some_and(|back| is_same(back)) {
            return Ok(Accepted::Returned("completed"));
        }
        let now = (self.now)();
        let step = known.map(|known| known.offered.step.clone()).unwrap_or_default();
        let latency_ms = known.map_or(0, |known| known.claimed_for(now));
        let terms = self.attempt_limits(&step);
        let read = read_answer(text, terms.format);
        let data = if terms.needs_words && read.is_ok_and(|data| says_nothing(&data, terms.format)) {
            Err(format!("{}: a review says what is good and what should change", refusal::NO_FEEDBACK))
        } else if text.trim().is_empty() {
            Err(format!("{}: it is empty", refusal::DOES_NOT_FIT))
        } else {
            read_text(text, &terms).map_err(|why| format!("{}: {why}", refusal::DOES_NOT_FIT))
        };
        // Whoever does not hold the item is told that, and nothing of what was sent.
        let unread = failed_item(step.clone(), participant.clone(), item.to_owned(), None);
        let check = Command::Return { back: Box::new(unread), holder: holder.clone() };
        self.decide(check).map_err(|refused| refused.0)?;
        let back = returned((step, participant, item.to_owned()), data?, text, latency_ms);
        self.stage(Command::Return { back: Box::new(back), holder }).map_err(|refused| refused.0)?;
        self.note_marks();
        Ok(self.returned_state(item, now))
    }

    fn fail_work(
        &mut self,
        item: &str,
        reason: String,
        (participant, holder): (String, Option<String>),
    ) -> Result<Accepted, Refusal> {
        let now = (self.now)();
        let known = self.session.items.get(item);
        let step = known.map(|known| known.offered.step.clone()).unwrap_or_default();
        let latency_ms = known.map_or(0, |known| known.claimed_for(now));
        let failed = failed_item(step, participant, item.to_owned(), Some(reason));
        let back = Box::new(WorkItemReturned { latency_ms, ..failed });
        self.stage(Command::Return { back, holder })?;
        Ok(self.returned_state(item, now))
    }

    fn returned_state(&self, item: &str, now: Timestamp) -> Accepted {
        Accepted::Returned(self.session.items.get(item).map_or("failed", |item| item.state(now)))
    }

    /// When the step's time for a claimed work item is up.
    pub(super) fn time_is_up_at(&self, item: &WorkItem) -> Option<Timestamp> {
        let limit = i64::try_from(self.step_timeout(&item.offered.step)?.as_millis()).ok()?;
        item.claim.as_ref()?;
        Some(Timestamp(item.claimed_at?.0.saturating_add(limit)))
    }

    /// Gives up claimed work whose step's time is up. One whose lease has run out is open again already.
    pub(super) fn end_late_work(&mut self, now: Timestamp) -> Result<(), Refusal> {
        let is_late = |item: &&WorkItem| {
            self.polls(&item.offered.participant)
                && item.is_held(now)
                && self.time_is_up_at(item).is_some_and(|end| end <= now)
        };
        let late: Vec<WorkItem> = self.session.open_items().filter(is_late).cloned().collect();
        for item in late {
            let limit = self.step_timeout(&item.offered.step).unwrap_or_default().as_millis();
            let of = (
                item.offered.participant.clone(),
                item.claim.as_ref().and_then(|claim| claim.holder.clone()),
            );
            let why = format!("Step '{}' timed out after {limit}ms", item.offered.step);
            self.fail_work(&item.offered.item, why, of)?;
        }
        Ok(())
    }
}

/// Whether a review lacks its feedback, whatever else it says.
fn says_nothing(data: &serde_json::Value, format: u32) -> bool {
    let mut approved = data.clone();
    if approved.is_object() {
        approved["approved"] = true.into();
    }
    !is_feedback(&approved, format)
}
