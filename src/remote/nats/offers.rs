//! Offers that follow from a session's state: each once, in the order in which seats were asked.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::json;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::names;
use crate::history::{Door, RoundRun, Seat, SeatStatus, Session, Timestamp};
use crate::remote::board::offer_json;
use crate::round::envelope::DeliveryIds;

/// The orders that follow from a change of the session.
#[derive(Default)]
pub struct Orders {
    /// Subjects of offers that nobody is to answer any more.
    pub withdraw: Vec<String>,
    /// Lay down a snapshot, by its hash.
    pub context: Option<(String, Arc<str>)>,
    pub offers: Vec<QueuedOffer>,
    /// Cancelled with the round.
    pub ends: CancellationToken,
}

pub struct QueuedOffer {
    pub ids: DeliveryIds,
    pub subject: String,
    /// The server recognizes duplicates by this id: another deadline makes another message.
    pub message_id: String,
    pub body: String,
    /// Cancelled once the seat does not wait for it any more.
    pub ends: CancellationToken,
}

/// Offers of the open round that were published.
#[derive(Default)]
pub struct Offers {
    /// The round's name and public key.
    round: (String, String),
    asked: HashMap<String, LastAsking>,
    ends: CancellationToken,
}

/// The last asking of a seat. The offer is out of date once one of these changes.
struct LastAsking {
    /// Number of earlier retries of the seat.
    attempt: u32,
    deadline: Option<Timestamp>,
    _ends: DropGuard,
}

impl Offers {
    pub fn orders(&mut self, session: &Session) -> Orders {
        let mut orders = Orders::default();
        let Some(round) = session.rounds.last() else { return orders };
        let key = round.seal_to.as_ref().map(|seal| seal.public_key.clone());
        let name = (round.opened.round.clone(), key.unwrap_or_default());
        if self.round != name {
            self.ends.cancel();
            *self = Self { round: name, ..Self::default() };
        }
        if round.closed.is_some() {
            self.ends.cancel();
            let seats = self.asked.drain();
            let workers: BTreeSet<&str> =
                seats.filter_map(|(seat, _)| session.remote(&seat)?.worker.as_deref()).collect();
            let subject = |worker| names::offer(worker, &[&round.session, &round.opened.round]);
            orders.withdraw.extend(workers.into_iter().map(subject));
            return orders;
        }
        let is_first = self.asked.is_empty();
        let deadline = session.deadline_at(round);
        for seat in round.seats.values().filter(|seat| seat.door.is_some()) {
            match &seat.status {
                SeatStatus::Asking if self.is_due(session, seat, deadline) => {
                    orders.offers.extend(self.offer(session, round, seat, deadline));
                }
                SeatStatus::Asking => {}
                status => {
                    let was_asked = self.asked.remove(&seat.name).is_some();
                    if was_asked && matches!(status, SeatStatus::Excused(_)) {
                        orders.withdraw.extend(subject(session, round, &seat.name));
                    }
                }
            }
        }
        if is_first && !orders.offers.is_empty() {
            let opened = &round.opened;
            orders.ends = self.ends.clone();
            orders.context = Some((opened.snapshot_sha256.clone(), Arc::clone(&opened.snapshot)));
        }
        orders
    }

    /// The seat waits for an offer that has not been published.
    fn is_due(&self, session: &Session, seat: &Seat, deadline: Option<Timestamp>) -> bool {
        let asked = self.asked.get(&seat.name);
        !asked.is_some_and(|asked| asked.attempt == seat.retried && asked.deadline == deadline)
            && session.remote(&seat.name).is_some_and(|remote| remote.door == Door::Nats)
    }

    fn offer(
        &mut self,
        session: &Session,
        round: &RoundRun,
        seat: &Seat,
        deadline: Option<Timestamp>,
    ) -> Option<QueuedOffer> {
        let delivery = round.delivery(&seat.name)?;
        let mut json = offer_json(session, round, seat)?;
        // The model behind `remote/nats/WORKER/`.
        json["model"] = json!(session.seat_info(&seat.name)?.model.splitn(4, '/').nth(3));
        json["deadline"] = json!(deadline.map(|end| end.0));
        let ends = CancellationToken::new();
        let asked = LastAsking { attempt: seat.retried, deadline, _ends: ends.clone().drop_guard() };
        self.asked.insert(seat.name.clone(), asked);
        Some(QueuedOffer {
            subject: subject(session, round, &seat.name)?,
            message_id: deadline.map_or_else(|| delivery.clone(), |end| format!("{delivery}.{}", end.0)),
            body: json.to_string(),
            ids: DeliveryIds::new(delivery, round.binding(&seat.name)),
            ends,
        })
    }
}

fn subject(session: &Session, round: &RoundRun, seat: &str) -> Option<String> {
    let worker = session.remote(seat)?.worker.as_deref()?;
    Some(names::offer(worker, &[&round.session, &round.opened.round, seat]))
}
