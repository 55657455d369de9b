//! The open work items of agents that poll, as they are shown.

use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::{Value, json};

use crate::core::LEASE_MS;
use crate::handoff::whole_prompt;
use crate::history::{
    Door, RoundRun, Seat, SeatStatus, Session, Timestamp, WorkItem, WorkItemClaimed, WorkItemOffered,
};

/// Open work, by item, oldest first.
#[derive(Default)]
pub struct OpenWork {
    items: IndexMap<String, Shown>,
    /// Prompts of the open round by item, each with its agent.
    ballots: IndexMap<String, (String, Arc<Value>)>,
}

struct Shown {
    item: WorkItem,
    /// The part that stays the same while the item is open.
    offer: Arc<Value>,
}

impl OpenWork {
    /// Returns the open work; offers that were shown before are not made again.
    pub fn of(session: &Session, before: &Self) -> Self {
        let is_polled = |item: &&WorkItem| {
            let remote = session.remote(&item.offered.participant);
            remote.is_some_and(|remote| remote.door == Door::Inbox)
        };
        let shown = |item: &WorkItem| {
            let known = before.items.get(&item.offered.item).map(|known| Arc::clone(&known.offer));
            let shown = Shown {
                item: item.clone(),
                offer: known.unwrap_or_else(|| Arc::new(offer(session, &item.offered, item.at))),
            };
            (item.offered.item.clone(), shown)
        };
        let round = session.open_round();
        let asked = round.iter().flat_map(|round| round.seats.values().map(move |seat| (*round, seat)));
        let ballot = |(round, seat): (&RoundRun, &Seat)| {
            session.remote(&seat.name).filter(|remote| remote.door == Door::Inbox)?;
            let item = seat.item.as_ref().filter(|_| seat.status == SeatStatus::Asking)?;
            let attempt = Value::from(seat.retried + 1);
            let known = before.ballots.get(&item.item).map(|(_, offer)| Arc::clone(offer));
            let known = known.filter(|known| known["attempt"] == attempt);
            let offer = known.unwrap_or_else(|| Arc::new(ballot(session, round, item, &attempt)));
            Some((item.item.clone(), (seat.name.clone(), offer)))
        };
        Self {
            items: session.open_items().filter(is_polled).map(shown).collect(),
            ballots: asked.filter_map(ballot).collect(),
        }
    }

    /// Returns the work that an agent may claim at `now`, and its prompt in the open round.
    pub fn open(&self, agent: &str, now: Timestamp, most: usize) -> Vec<Value> {
        let is_free = |shown: &&Shown| shown.item.offered.participant == agent && shown.item.is_free(now);
        let ballots = self.ballots.values().filter(|(of, _)| of == agent).map(|(_, offer)| (**offer).clone());
        let items = self.items.values().filter(is_free).map(|shown| shown.json(None));
        ballots.chain(items).take(most).collect()
    }

    pub fn item(&self, agent: &str, item: &str) -> Option<Value> {
        let shown = self.items.get(item).filter(|shown| shown.item.offered.participant == agent)?;
        Some(shown.json(shown.item.claim.as_ref()))
    }
}

impl Shown {
    fn json(&self, claim: Option<&WorkItemClaimed>) -> Value {
        let mut json = (*self.offer).clone();
        json["attempt"] = self.item.attempt().into();
        json["state"] = if claim.is_some() { "claimed" } else { "offered" }.into();
        if let Some(claim) = claim {
            json["holder"] = claim.holder.as_deref().into();
            json["until"] = json!(claim.until);
        }
        json
    }
}

fn offer(session: &Session, offered: &WorkItemOffered, at: Timestamp) -> Value {
    let (system, text) = session.agent_prompt(offered);
    let whole = session.work_item_json(offered);
    let whole: Value = whole.and_then(|whole| serde_json::from_str(&whole).ok()).unwrap_or_default();
    json!({
        "kind": "work",
        "item": offered.item,
        "session": session.id,
        "step": offered.step,
        "participant": offered.participant,
        "offered_at": at,
        "lease_seconds": LEASE_MS / 1000,
        "available_skills": offered.available_skills,
        "prompt": whole_prompt(&system, &text),
        "work_item": whole,
    })
}

/// Returns the prompt of an agent's seat in a round.
fn ballot(session: &Session, round: &RoundRun, item: &WorkItemOffered, attempt: &Value) -> Value {
    json!({
        "kind": "ballot",
        "item": item.item,
        "session": session.id,
        "step": round.opened.step,
        "round": round.opened.round,
        "participant": item.participant,
        "offered_at": round.opened_at,
        "attempt": attempt,
        "question": round.opened.question,
        "prompt": session.prompt(round, item).text(),
    })
}
