//! State that a door shows: offers, receipts and numbers of the round that was opened last.
//!
//! It is filled from events that are on disk. While a round is open it holds no answer, and tells a seat
//! nothing of another one.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;
use serde_json::{Value, json};
use tokio::sync::watch;

use super::work::OpenWork;
use crate::history::{
    Door, Invitation, Receipt, RoundRun, Seat, SeatStatus, Session, SessionOpened, Timestamp,
};
use crate::round::envelope::VERSION;
use crate::round::seal::sign::{SigningKey, offer_message};

pub struct Board {
    state: Mutex<State>,
    changes: watch::Sender<u64>,
    key: SigningKey,
}

#[derive(Default)]
struct State {
    header: Option<Arc<SessionOpened>>,
    invitations: IndexMap<String, Invitation>,
    work: OpenWork,
    round: Option<RoundRun>,
    /// The options as each remote seat is shown them, where that is not the form's order.
    orders: IndexMap<String, Vec<String>>,
    /// When its time is up, in milliseconds.
    deadline: Option<Timestamp>,
    /// The round is revised later, so its count stays hidden until the end.
    is_revised: bool,
    is_over: bool,
}

impl Board {
    /// A board with the invitations that the session has already: links work before its first event.
    pub fn new(key: SigningKey, invitations: IndexMap<String, Invitation>) -> Self {
        let state = Mutex::new(State { invitations, ..State::default() });
        Self { state, changes: watch::Sender::new(0), key }
    }

    /// Takes in the state after a write to disk.
    pub fn see(&self, session: &Session) {
        let round = session.rounds.last();
        let order = |round: &RoundRun, seat: &String| {
            Some((seat.clone(), session.option_order(&round.opened, seat)?))
        };
        let orders = round
            .iter()
            .flat_map(|round| session.invitations.keys().filter_map(move |seat| order(round, seat)));
        let orders = orders.collect();
        let mut state = self.state();
        let work = OpenWork::of(session, &state.work);
        *state = State {
            orders,
            work,
            header: session.header.clone(),
            invitations: session.invitations.clone(),
            round: round.cloned(),
            deadline: round.and_then(|round| session.deadline_at(round)),
            is_revised: round.is_some_and(|round| is_revised(session, &round.opened.step)),
            is_over: session.closed.is_some(),
        };
        drop(state);
        self.changes.send_modify(|number| *number += 1);
    }

    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_over(&self) -> bool {
        self.state().is_over
    }

    /// The seat that an invitation is for, while it is valid.
    pub fn seat_of(&self, invitation: &str, now: Timestamp) -> Option<String> {
        let state = self.state();
        let mut known = state.invitations.iter();
        let is_valid = |known: &Invitation| known.invitation == invitation && now <= known.expires;
        known.find(|(_, known)| is_valid(known)).map(|(seat, _)| seat.clone())
    }

    pub fn is_agent(&self, participant: &str) -> bool {
        let state = self.state();
        // Before the first event is written nothing is offered.
        let seats = state.header.iter().flat_map(|header| &header.participants);
        let seat = seats.filter_map(|seat| Some((&seat.name, seat.remote.as_ref()?.door)));
        state.header.is_none() || seat.into_iter().any(|seat| seat == (&participant.to_owned(), Door::Inbox))
    }

    /// The work items that an agent may claim now, oldest first.
    pub fn open_work(&self, agent: &str, now: Timestamp, most: usize) -> Vec<Value> {
        self.state().work.open(agent, now, most)
    }

    pub fn work(&self, agent: &str, item: &str) -> Option<Value> {
        self.state().work.item(agent, item)
    }

    pub fn status(&self, now: Timestamp) -> Value {
        let state = self.state();
        let Some(round) = &state.round else {
            return json!({ "state": if state.is_over { "over" } else { "waiting" } });
        };
        let is_open = round.closed.is_none();
        let has_answered =
            |seat: &&Seat| matches!(seat.status, SeatStatus::Sealed(_) | SeatStatus::Revealed(..));
        json!({
            "round": round.opened.round,
            "seats": round.seats.len(),
            "sealed": round.seats.values().filter(has_answered).count(),
            "state": if is_open { "open" } else if state.is_over { "over" } else { "closed" },
            "seconds_left": state.deadline.filter(|_| is_open).map(|end| (end.0 - now.0).max(0) / 1000),
        })
    }

    pub fn snapshot(&self, sha256: &str) -> Option<Arc<str>> {
        let state = self.state();
        let opened = &state.round.as_ref()?.opened;
        (opened.snapshot_sha256 == sha256).then(|| Arc::clone(&opened.snapshot))
    }

    /// Returns the seat's offer as signed JSON, else its state.
    pub fn offer(&self, seat: &str, now: Timestamp) -> Result<(String, String), Value> {
        let state = self.state();
        let found = state.round.as_ref().and_then(|round| Some((round, round.seat(seat)?)));
        match found {
            None => Err(stands(if state.is_over { "over" } else { "waiting" })),
            Some((round, at)) => match &at.status {
                SeatStatus::Waiting | SeatStatus::Lost(_) => Err(stands("waiting")),
                SeatStatus::Asking => {
                    let order = state.orders.get(seat);
                    let header = state.header.as_ref();
                    let mut json =
                        header.and_then(|header| offer_json(header, round, at, order)).unwrap_or_default();
                    json["seconds_left"] = json!(state.deadline.map(|end| (end.0 - now.0).max(0) / 1000));
                    let json = json.to_string();
                    let signature = self.key.sign(&offer_message(json.as_bytes()));
                    Ok((json, signature))
                }
                SeatStatus::Sealed(_) => {
                    let mut state = stands("sealed");
                    state["receipt"] =
                        serde_json::to_value(Receipt::of_seat(round, seat)).unwrap_or_default();
                    Err(state)
                }
                SeatStatus::Revealed(..) | SeatStatus::Missing | SeatStatus::Failed(_) => {
                    Err(stands("closed"))
                }
                SeatStatus::Excused(_) => Err(stands("excused")),
            },
        }
    }

    /// The receipt of what a seat has sealed in the round, also after the reveal.
    pub fn receipt(&self, seat: &str) -> Option<Receipt> {
        Receipt::of_seat(self.state().round.as_ref()?, seat)
    }

    /// The receipt of what an agent was asked as `item` and has answered with this text, after the reveal.
    pub fn receipt_of_text(&self, agent: &str, item: &str, text: &str) -> Option<Receipt> {
        let state = self.state();
        let round = state.round.as_ref()?;
        let asked = round.seat(agent)?.item.as_ref().filter(|asked| asked.item == item);
        Receipt::of_text(round, &asked?.participant, text)
    }

    /// The result of the round for a seat; none while it is open, or still to be revised.
    pub fn result(&self, seat: &str) -> Option<Value> {
        let state = self.state();
        let round = state.round.as_ref()?;
        let tally = round.tally.as_ref().filter(|_| !state.is_revised || state.is_over)?;
        let mut result = json!({
            "round": round.opened.round, "question": round.opened.question, "decided": tally.decided,
            "winners": tally.verdict.winners, "tie": tally.verdict.tie, "asked": tally.asked,
            "answered": tally.answered, "abstained": tally.abstained, "reason": tally.verdict.why(),
            "counts": tally.verdict.scores,
        });
        if let Some(SeatStatus::Revealed(answer, held)) = round.seat(seat).map(|seat| &seat.status) {
            result["own"] = json!({
                "outcome": answer.outcome, "reason": answer.reason, "commitment": held.commitment,
                "text": answer.record.replies.first().map(|reply| &reply.text),
            });
        }
        Some(result)
    }
}

fn is_revised(session: &Session, step: &str) -> bool {
    let definition = session.definition.as_ref();
    definition.is_some_and(|definition| definition.revisions().any(|(before, _)| before.id == step))
}

fn stands(state: &str) -> Value {
    json!({ "v": VERSION, "kind": "state", "state": state })
}

/// An offer without its time; `order` is that of the options, where it is not the form's.
pub fn offer_json(
    header: &SessionOpened,
    round: &RoundRun,
    seat: &Seat,
    order: Option<&Vec<String>>,
) -> Option<Value> {
    let item = seat.item.as_ref()?;
    let persona = header.personas.iter().find(|persona| persona.name == item.persona);
    let (opened, mut ballot) = (&round.opened, round.opened.ballot.clone());
    if let Some(order) = order {
        ballot.options.clone_from(order);
    }
    Some(json!({
        "v": VERSION, "kind": "ballot", "delivery": round.delivery(&seat.name)?,
        "session": round.session, "round": opened.round, "participant": seat.name,
        "try": seat.retried + 1, "question": opened.question, "ballot": ballot,
        "rules": opened.rules, "address": item.address,
        "persona": persona.map(|persona| persona.text.as_str()),
        "snapshot_sha256": opened.snapshot_sha256, "opened_sha256": round.opened_sha256,
        "public_key": round.seal_to.as_ref()?.public_key,
        "table_key": header.table_key,
    }))
}
