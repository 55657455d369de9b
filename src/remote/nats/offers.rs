//! Offers that follow from a session's state: each once, in the order in which seats were asked.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::json;

use crate::history::{Door, RoundRun, Seat, SeatStatus, Session, Timestamp};
use crate::remote::board::offer_json;
use crate::remote::nats::names;

pub enum Order {
    /// Lay down a snapshot, by its hash.
    Context(String, Arc<str>),
    Offer(Box<Offer>),
    /// Take back what lies at subjects like this one.
    Withdraw(String),
}

pub struct Offer {
    pub seat: String,
    pub terms: Terms,
    pub session: String,
    /// The round's name and public key.
    pub round: (String, String),
    pub subject: String,
    pub delivery: String,
    pub body: String,
}

impl Offer {
    /// The server recognizes duplicates by this id: another deadline makes another message.
    pub fn message_id(&self) -> String {
        match self.terms.deadline {
            Some(end) => format!("{}.{}", self.delivery, end.0),
            None => self.delivery.clone(),
        }
    }
}

/// An offer is out of date once one of these changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// Number of earlier retries of the seat.
    attempt: u32,
    deadline: Option<Timestamp>,
}

/// Offers of the open round that were published.
#[derive(Default)]
pub struct Offers {
    /// The round's name and public key.
    round: (String, String),
    /// On what terms each seat was asked last.
    asked: HashMap<String, Terms>,
}

impl Offers {
    pub fn orders(&mut self, session: &Session) -> Vec<Order> {
        let mut orders = Vec::new();
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
        for seat in round.seats.values().filter(|seat| seat.door.is_some()) {
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

    /// The seat still waits for this offer.
    pub fn is_asked(&self, offer: &Offer) -> bool {
        self.round == offer.round && self.asked.get(&offer.seat) == Some(&offer.terms)
    }

    /// The seat waits for an offer that has not been published.
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

/// The model behind `remote/nats/WORKER/`.
fn model(session: &Session, seat: &str) -> Option<String> {
    session.seat_info(seat)?.model.splitn(4, '/').nth(3).map(str::to_owned)
}
