//! What a session's state orders of the queue: each offer once, in the order in which seats were asked.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::{Value, json};

use crate::doors::offer::offer_json;
use crate::history::{
    Door, ItemStatus, RoundRun, Seat, SeatStatus, Session, Timestamp, WorkItem, WorkItemOffered,
};
use crate::queue::names;
use crate::round::envelope::VERSION;

/// What is to be done in the queue.
pub enum Order {
    /// Lay down a snapshot, by its hash.
    Context(String, Arc<str>),
    /// Ask a seat.
    Offer(Box<Offer>),
    /// Take back what lies at subjects like this one.
    Withdraw(String),
}

/// A seat or an agent that is to be asked.
pub struct Offer {
    pub seat: String,
    pub terms: Terms,
    pub session: String,
    /// The round's name and public key; the id of a work item, and nothing.
    pub round: (String, String),
    pub subject: String,
    pub delivery: String,
    /// What it is asked, as JSON.
    pub body: String,
}

impl Offer {
    /// What the server knows a duplicate by: another deadline makes another message.
    pub fn message_id(&self) -> String {
        match self.terms.deadline {
            Some(end) => format!("{}.{}", self.delivery, end.0),
            None => self.delivery.clone(),
        }
    }
}

/// What makes an offer out of date once it is another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// How often the seat was asked again before.
    attempt: u32,
    deadline: Option<Timestamp>,
}

/// What has been ordered of the open round.
#[derive(Default)]
pub struct Offers {
    /// The round's name and public key.
    round: (String, String),
    /// On what terms each seat was asked last.
    asked: HashMap<String, Terms>,
    /// The same of open work items.
    items: HashMap<String, Terms>,
}

impl Offers {
    /// What follows from the state.
    pub fn orders(&mut self, session: &Session) -> Vec<Order> {
        let mut orders = self.item_orders(session);
        let Some((header, round)) = session.header.as_ref().zip(session.rounds.last()) else { return orders };
        let name = name_of(round);
        if self.round != name {
            (self.round, self.asked) = (name, HashMap::new());
        }
        if round.closed.is_some() {
            let asked = self.asked.drain();
            let workers: BTreeSet<&str> =
                asked.filter_map(|(seat, _)| session.remote(&seat)?.worker.as_deref()).collect();
            let subject = |worker| names::round_offers(worker, &round.session, &round.opened.round);
            orders.extend(workers.into_iter().map(subject).map(Order::Withdraw));
            return orders;
        }
        let deadline = session.deadline_at(round);
        let mut due = Vec::new();
        for seat in round.seats.values().filter(|seat| seat.is_remote) {
            match &seat.status {
                SeatStatus::Asking if self.is_due(session, seat, deadline) => due.push(seat),
                SeatStatus::Asking => {}
                status => {
                    let was_asked = self.asked.remove(&seat.name).is_some();
                    if was_asked && matches!(status, SeatStatus::Excused(_)) {
                        orders.extend(subject(session, round, &seat.name).map(Order::Withdraw));
                    }
                }
            }
        }
        if due.is_empty() {
            return orders;
        }
        if self.asked.is_empty() {
            let opened = &round.opened;
            orders.push(Order::Context(opened.snapshot_sha256.clone(), Arc::clone(&opened.snapshot)));
        }
        for seat in due {
            let order = session.option_order(&round.opened, &seat.name);
            let json = offer_json(header, round, seat, order.as_ref());
            let parts = (subject(session, round, &seat.name), round.delivery(&seat.name), json);
            let (Some(subject), Some(delivery), Some(mut json)) = parts else { continue };
            json["model"] = json!(model(session, &seat.name));
            json["deadline"] = json!(deadline.map(|end| end.0));
            let terms = Terms { attempt: seat.retried, deadline };
            self.asked.insert(seat.name.clone(), terms);
            orders.push(Order::Offer(Box::new(Offer {
                seat: seat.name.clone(),
                terms,
                session: round.session.clone(),
                round: self.round.clone(),
                subject,
                delivery,
                body: json.to_string(),
            })));
        }
        orders
    }

    /// What follows for work items: an offer of each that is claimed for a worker.
    fn item_orders(&mut self, session: &Session) -> Vec<Order> {
        let mut orders = Vec::new();
        self.items.retain(|id, _| {
            let item = session.items.get(id);
            let subject = item.and_then(|item| work_subject(session, item));
            let Some(last) = item.and_then(WorkItem::outcome) else { return true };
            // One that was completed is out of the queue by that.
            orders.extend(subject.filter(|_| last.status == ItemStatus::Failed).map(Order::Withdraw));
            false
        });
        for item in session.open_items().filter(|item| item.claim.is_some()) {
            let terms = Terms { attempt: item.attempt(), deadline: None };
            let id = &item.offered.item;
            if self.items.get(id) == Some(&terms) {
                continue;
            }
            let of = (work_subject(session, item), session.work_delivery(item));
            let (Some(subject), Some(delivery)) = of else { continue };
            let json = work_json(session, item, &delivery);
            self.items.insert(id.clone(), terms);
            orders.push(Order::Offer(Box::new(Offer {
                seat: item.offered.participant.clone(),
                terms,
                session: session.id.clone(),
                round: (id.clone(), String::new()),
                subject,
                delivery,
                body: json.to_string(),
            })));
        }
        orders
    }

    /// Whether the seat or the agent of an offer still waits for this one.
    pub fn is_asked(&self, offer: &Offer) -> bool {
        self.items.get(&offer.round.0) == Some(&offer.terms)
            || self.round == offer.round && self.asked.get(&offer.seat) == Some(&offer.terms)
    }

    /// Whether a seat behind the queue waits for an offer that has not been ordered.
    fn is_due(&self, session: &Session, seat: &Seat, deadline: Option<Timestamp>) -> bool {
        self.asked.get(&seat.name) != Some(&Terms { attempt: seat.retried, deadline })
            && session.remote(&seat.name).is_some_and(|remote| remote.door == Door::Nats)
    }
}

/// The name of a round and its public key.
fn name_of(round: &RoundRun) -> (String, String) {
    let key = round.seal_to.as_ref().map(|seal| seal.public_key.clone());
    (round.opened.round.clone(), key.unwrap_or_default())
}

fn subject(session: &Session, round: &RoundRun, seat: &str) -> Option<String> {
    let worker = session.remote(seat)?.worker.as_deref()?;
    Some(names::offer(worker, &round.session, &round.opened.round, seat))
}

/// Where the agent of a work item is asked; none of agents that no worker answers for.
fn work_subject(session: &Session, item: &WorkItem) -> Option<String> {
    let WorkItemOffered { item: id, participant, .. } = &*item.offered;
    let remote = session.remote(participant).filter(|remote| remote.door == Door::Nats)?;
    Some(names::offer(remote.worker.as_deref()?, &session.id, id, participant))
}

/// What the agent of a work item is asked, as JSON.
fn work_json(session: &Session, item: &WorkItem, delivery: &str) -> Value {
    let WorkItemOffered { item: id, participant, .. } = &*item.offered;
    let (rules, prompt) = session.agent_prompt(&item.offered);
    let whole = session.work_item_json(&item.offered);
    let whole: Value = whole.and_then(|whole| serde_json::from_str(&whole).ok()).unwrap_or_default();
    json!({
        "v": VERSION, "kind": "work", "delivery": delivery, "session": session.id, "round": id,
        "participant": participant, "try": item.attempt(), "model": model(session, participant),
        "rules": rules, "prompt": prompt, "work_item": whole,
        "table_key": session.header.as_ref().and_then(|header| header.table_key.as_deref()),
    })
}

/// What comes after `remote/nats/WORKER/`.
fn model(session: &Session, seat: &str) -> Option<String> {
    session.seat_info(seat)?.model.splitn(4, '/').nth(3).map(str::to_owned)
}
