//! Work items of polling agents: claimed, renewed and returned by their workers, never asked here.

use serde_json::Value;

use super::arrival::{Accepted, Work, WorkMessage};
use super::state::Engine;
use super::work_item_attempt::{judge, returned};
use crate::core::{Command, ItemHolder, Refusal};
use crate::history::{Door, ItemStatus, RefusalWord, Timestamp, WorkItem, WorkItemReturned};
use crate::participants::Reply;
use crate::round::answer::{AnswerRecord, Origin, ReplyAttempt};

impl Engine<'_> {
    pub(super) fn is_polling_agent(&self, agent: &str) -> bool {
        self.session.remote(agent).is_some_and(|remote| remote.door == Door::Inbox)
    }

    pub(super) fn take_work(&mut self, message: WorkMessage) -> Result<Accepted, Refusal> {
        let WorkMessage { participant, holder, item, work } = message;
        if !self.is_polling_agent(&participant) {
            return Err(RefusalWord::NoSuchAgent.into());
        }
        let who = ItemHolder { item, participant, holder: Some(holder) };
        match work {
            Work::Claim => self.stage(Command::Claim(who)).map(|()| Accepted::Done),
            Work::Renew => self.stage(Command::Renew(who)).map(|()| Accepted::Done),
            Work::Return(text) => self.return_work(who, text),
            Work::Fail(reason) if self.session.items.contains_key(&who.item) => {
                self.give_back(who, Err(reason), Vec::new())
            }
            Work::Fail(reason) => self.give_up_ballot(who, reason),
            Work::Answer { text, again } => self.take_plain_answer(&who.participant, &who.item, text, again),
        }
    }

    fn return_work(&mut self, who: ItemHolder, text: String) -> Result<Accepted, Refusal> {
        let known = self.session.items.get(&who.item);
        let known = known.filter(|known| known.offered.participant == who.participant);
        let is_same = |back: &WorkItemReturned| {
            back.status == ItemStatus::Completed
                && back.record.replies.last().is_some_and(|reply| reply.text == text)
        };
        // The agent may have lost the reply to an earlier return.
        if known.and_then(WorkItem::outcome).is_some_and(|back| is_same(back)) {
            return Ok(Accepted::Returned("completed"));
        }
        let terms = self.attempt_limits(known.map_or("", |known| &known.offered.step));
        // Checks the claim first, so that a worker without it learns nothing about its answer.
        self.decide(returned_by(who.clone(), Err(String::new()), AnswerRecord::default()))?;
        let reply = Reply { text, ..Reply::default() };
        let is_empty = reply.text.trim().is_empty();
        let data = if is_empty { Err("it is empty".to_owned()) } else { judge(&reply, &terms, false) };
        let data = data.map_err(|why| Refusal::Because(RefusalWord::DoesNotFit, why))?;
        self.give_back(who, Ok(data), vec![ReplyAttempt { text: reply.text, ..ReplyAttempt::default() }])
    }

    fn give_back(
        &mut self,
        who: ItemHolder,
        result: Result<Value, String>,
        replies: Vec<ReplyAttempt>,
    ) -> Result<Accepted, Refusal> {
        let (item, now) = (who.item.clone(), (self.now)());
        let latency_ms = self.session.items.get(&item).map_or(0, |known| known.claimed_for(now));
        let origin = Origin::Program;
        let record = AnswerRecord { origin, replies, tries: 1, latency_ms, ..AnswerRecord::default() };
        self.stage(returned_by(who, result, record))?;
        Ok(Accepted::Returned(self.session.items.get(&item).map_or("failed", |item| item.state(now))))
    }

    /// Returns the end of the step's time for a work item with a claim that is valid `now`.
    pub(super) fn time_is_up_at(&self, item: &WorkItem, now: Timestamp) -> Option<Timestamp> {
        if !item.is_held(now) {
            return None;
        }
        let limit = i64::try_from(self.step_timeout(&item.offered.step)?.as_millis()).ok()?;
        Some(Timestamp(item.claimed_at?.0.saturating_add(limit)))
    }

    /// Fails claimed work whose step's time is up. An expired lease has already released its item.
    pub(super) fn end_late_work(&mut self, now: Timestamp) -> Result<(), Refusal> {
        let is_late = |item: &&WorkItem| {
            self.is_polling_agent(&item.offered.participant)
                && self.time_is_up_at(item, now).is_some_and(|end| end <= now)
        };
        let late: Vec<WorkItem> = self.session.open_items().filter(is_late).cloned().collect();
        for item in late {
            let limit = self.step_timeout(&item.offered.step).unwrap_or_default().as_millis();
            let why = format!("Step '{}' timed out after {limit}ms", item.offered.step);
            let holder = item.claim.and_then(|claim| claim.holder);
            let (item, participant) = (item.offered.item.clone(), item.offered.participant.clone());
            self.give_back(ItemHolder { item, participant, holder }, Err(why), Vec::new())?;
        }
        Ok(())
    }
}

fn returned_by(who: ItemHolder, result: Result<Value, String>, record: AnswerRecord) -> Command {
    let ItemHolder { item, participant, holder } = who;
    let back = returned(participant, item, result, record);
    Command::Return(Box::new(WorkItemReturned { holder, ..back }))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::atomic::{AtomicI64, Ordering};

    use serde_json::json;

    use super::super::testing::with_engine;
    use super::*;
    use crate::core::{LEASE_MS, NextAction, next};

    static TIME: AtomicI64 = AtomicI64::new(1_800_000_000_000);

    fn now() -> Timestamp {
        Timestamp(TIME.load(Ordering::SeqCst))
    }

    fn pass(milliseconds: i64) {
        TIME.fetch_add(milliseconds, Ordering::SeqCst);
    }

    /// Claims an item and returns the reason of a refusal.
    fn claim(engine: &mut Engine<'_>, item: &str, holder: &str) -> Option<RefusalWord> {
        let (participant, item, holder) = ("ann".to_owned(), item.to_owned(), holder.to_owned());
        match engine.take_work(WorkMessage { participant, holder, item, work: Work::Claim }) {
            Err(Refusal::Word(word) | Refusal::Because(word, _)) => Some(word),
            other => other.map(|_| None).expect("a word"),
        }
    }

    #[test]
    fn work_is_held_for_a_lease_and_then_offered_again() {
        let timeout = LEASE_MS + 1000;
        let definition = format!(
            "steps:\n- id: all\n  type: parallel\n  steps:\n  - {{id: a, type: agent, agent: ann, timeout: {timeout}ms}}\n  \
             - {{id: b, type: agent, agent: ann}}\n"
        );
        let ann = json!({
            "name": "ann", "persona": "ann", "model": "remote/inbox", "weight": 1.0, "agent_only": true,
            "remote": {"door": "inbox"},
        });
        with_engine((&definition, &[ann], HashMap::new()), now, |engine| {
            while let NextAction::Decide(command) = next(&engine.session) {
                engine.stage(command).unwrap();
            }
            let is_claimed = Some(RefusalWord::AlreadyClaimed);
            assert_eq!(claim(engine, "a/1", "one"), None);
            assert_eq!(claim(engine, "a/1", "two"), is_claimed, "one claim wins");
            let claims = engine.staged.len();
            // The reply to a claim may be lost, so the holder can claim the same work again.
            assert_eq!(claim(engine, "a/1", "one"), None);
            assert_eq!(engine.staged.len(), claims, "which is claimed already");
            assert!(engine.wake().is_some(), "the step ends in time");
            // A worker that died returns nothing.
            pass(LEASE_MS - 1);
            assert_eq!(claim(engine, "a/1", "three"), is_claimed);
            pass(1);
            assert_eq!(engine.wake(), None, "nothing is to be done while nobody holds it");
            pass(2000);
            engine.end_late_work(now()).unwrap();
            assert_eq!(engine.wake(), None, "also when the step's time would be up");
            assert_eq!(claim(engine, "a/1", "three"), None);
            assert!(engine.wake().is_some());
            pass(LEASE_MS - 1);
            let (participant, holder) = ("ann".to_owned(), "three".to_owned());
            let renew = WorkMessage { participant, holder, item: "a/1".to_owned(), work: Work::Renew };
            engine.take_work(renew).unwrap();
            pass(1);
            assert_eq!(claim(engine, "a/1", "two"), is_claimed, "a renewed claim lasts longer");
        });
    }
}
