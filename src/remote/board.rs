//! Session state for doors: offers, receipts, open work and progress.
//!
//! Shows the state that was last written to disk. While a round is open, it reveals no answer, and to a seat
//! nothing about the others.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use clap::ValueEnum;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::core::LEASE_MS;
use crate::handoff::whole_prompt;
use crate::history::{Door, Receipt, RoundRun, Seat, SeatStatus, Session, Timestamp, WorkItem};
use crate::insight::{SeatView, dissents, seats, winners};
use crate::participants::lock;
use crate::round::envelope::VERSION;
use crate::round::seal::sign::{SigningKey, offer_message};

/// Limit of work items shown to an agent at once.
const MOST_ITEMS: usize = 100;
/// Limit of other seats' answers shown to a voter.
const MOST_ANSWERS: usize = 200;

/// Part of a round's result that remote voters see.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ShownResults {
    /// Nothing
    None,
    /// Counts and their own answer
    Tally,
    /// The answers of others, too, without names
    #[default]
    All,
}

pub struct Board {
    session: watch::Sender<Arc<Session>>,
    key: SigningKey,
    results: ShownResults,
    /// Seats that have asked for the result since the session paused or ended.
    informed: Mutex<HashSet<String>>,
}

impl Board {
    /// Creates a board; the session may have no events yet.
    pub fn new(key: SigningKey, session: Session, results: ShownResults) -> Self {
        Self { session: watch::Sender::new(Arc::new(session)), key, results, informed: Mutex::default() }
    }

    /// Publishes the state after a write to disk.
    pub fn see(&self, session: &Session) {
        self.session.send_replace(Arc::new(session.clone()));
    }

    pub fn changes(&self) -> watch::Receiver<Arc<Session>> {
        self.session.subscribe()
    }

    fn session(&self) -> Arc<Session> {
        Arc::clone(&self.session.borrow())
    }

    pub fn is_over(&self) -> bool {
        self.session().closed.is_some()
    }

    /// Records that a seat knows how the session ended or paused.
    pub fn mark_informed(&self, seat: &str) {
        let session = self.session();
        if session.closed.is_some() || session.paused.is_some() {
            lock(&self.informed).insert(seat.to_owned());
        }
    }

    /// Returns true if every agent and everyone who opened a link knows how the session ended.
    pub fn has_informed_all(&self) -> bool {
        let (session, informed) = (self.session(), lock(&self.informed));
        let is_guest = |seat: &String| {
            let known = session.invitations.get(seat);
            known.is_some_and(|known| known.key.is_some()) || !session.seals_itself(seat)
        };
        let mut guests = session.invitations.keys().filter(|seat| is_guest(seat)).peekable();
        guests.peek().is_some() && guests.all(|seat| informed.contains(seat))
    }

    /// Returns the seat of an invitation, if it is valid.
    pub fn seat_of(&self, invitation: &str, now: Timestamp) -> Option<String> {
        let session = self.session();
        let mut known = session.invitations.iter();
        let (seat, _) = known.find(|(_, known)| known.invitation == invitation && now <= known.expires)?;
        Some(seat.clone())
    }

    /// Returns the agent's prompt in the open round, then the work items that it may claim, oldest first.
    pub fn open_work(&self, agent: &str, now: Timestamp) -> Vec<Value> {
        let session = self.session();
        let round = session.open_round();
        let ballot = round.and_then(|round| ballot(&session, round, round.seat(agent)?));
        let is_free = |item: &&WorkItem| item.offered.participant == agent && item.is_free(now);
        let work = session.open_items().filter(is_free).map(|item| work(&session, item));
        ballot.into_iter().chain(work).take(MOST_ITEMS).collect()
    }

    pub fn claimed(&self, agent: &str, item: &str) -> Option<Value> {
        let session = self.session();
        let item = session.open_items().find(|known| known.offered.item == item)?;
        let claim = item.claim.as_ref().filter(|_| item.offered.participant == agent)?;
        let mut json = work(&session, item);
        json["state"] = "claimed".into();
        json["holder"] = claim.holder.as_deref().into();
        json["until"] = json!(claim.until);
        Some(json)
    }

    pub fn status(&self, now: Timestamp) -> Value {
        let session = self.session();
        let is_over = session.closed.is_some();
        let Some(round) = session.rounds.last() else {
            return json!({ "state": if is_over { "over" } else { "waiting" } });
        };
        let is_open = round.closed.is_none();
        let has_answered =
            |seat: &&Seat| matches!(seat.status, SeatStatus::Sealed(_) | SeatStatus::Revealed(..));
        json!({
            "round": round.opened.round,
            "seats": round.seats.len(),
            "sealed": round.seats.values().filter(has_answered).count(),
            "state": if is_open { "open" } else if is_over { "over" } else { "closed" },
            "seconds_left": if is_open { seconds_left(&session, round, now) } else { None },
        })
    }

    pub fn snapshot(&self, sha256: &str) -> Option<Arc<str>> {
        let session = self.session();
        let opened = &session.rounds.last()?.opened;
        (opened.snapshot_sha256 == sha256).then(|| Arc::clone(&opened.snapshot))
    }

    /// Returns the seat's offer as signed JSON, or else its state.
    pub fn offer(&self, seat: &str, now: Timestamp) -> Result<(String, String), Value> {
        let session = self.session();
        let state = |state: &str| json!({ "v": VERSION, "kind": "state", "state": state });
        let Some((round, at)) = own_round(&session, seat) else {
            return Err(state(if session.closed.is_some() { "over" } else { "waiting" }));
        };
        match &at.status {
            SeatStatus::Waiting | SeatStatus::Lost(_) => Err(state("waiting")),
            SeatStatus::Asking => {
                let mut json = offer_json(&session, round, at).unwrap_or_default();
                json["seconds_left"] = json!(seconds_left(&session, round, now));
                let json = json.to_string();
                let signature = self.key.sign(&offer_message(json.as_bytes()));
                Ok((json, signature))
            }
            SeatStatus::Sealed(_) => {
                let mut state = state("sealed");
                state["receipt"] = json!(Receipt::for_seat(round, seat));
                Err(state)
            }
            SeatStatus::Excused(_) if round.closed.is_none() => Err(state("excused")),
            SeatStatus::Revealed(..)
            | SeatStatus::Missing
            | SeatStatus::Failed(_)
            | SeatStatus::Excused(_) => Err(state("closed")),
        }
    }

    /// Returns the receipt of a seat's last answer, also after the reveal.
    pub fn receipt(&self, seat: &str) -> Option<Receipt> {
        Receipt::for_seat(own_round(&self.session(), seat)?.0, seat)
    }

    /// Returns the receipt if the agent has answered `item` with this text, also after the reveal.
    pub fn receipt_of_text(&self, agent: &str, item: &str, text: &str) -> Option<Receipt> {
        let session = self.session();
        let round = session.rounds.last()?;
        let asked = round.seat(agent)?.item.as_ref().filter(|asked| asked.item == item);
        Receipt::for_text(round, &asked?.participant, text)
    }

    /// Returns the result for a seat, with others' answers but no names; `None` before the close or a revision.
    /// While others answer a later round, it is that of the seat's own.
    pub fn result(&self, seat: &str) -> Option<Value> {
        let session = self.session();
        let last = session.rounds.last()?;
        let is_of_others = last.tally.is_none() && last.seat(seat).is_none();
        let round = if is_of_others { own_round(&session, seat)?.0 } else { last };
        let is_shown = session.closed.is_some() || !is_revised(&session, &round.opened.step);
        let tally = round.tally.as_ref().filter(|_| is_shown && self.results != ShownResults::None)?;
        let mut result = json!({
            "round": round.opened.round, "question": round.opened.question, "decided": tally.decided,
            "winners": tally.verdict.winners, "tie": tally.verdict.tie, "asked": tally.asked,
            "answered": tally.answered, "abstained": tally.abstained, "reason": tally.verdict.why(),
            "counts": tally.verdict.scores, "ruled": tally.rule.is_some(),
        });
        let winners = winners(&session, round);
        let is_other = |other: &SeatView<'_>| {
            self.results == ShownResults::All && other.name != seat && other.ballot().is_some()
        };
        let others = seats(&session, round).filter(is_other);
        let said = |other: SeatView<'_>| {
            Some(json!({ "dissents": dissents(&other, &winners), "answer": other.answer?.answer }))
        };
        result["others"] = others.filter_map(said).take(MOST_ANSWERS).collect();
        if let Some(SeatStatus::Revealed(answer, held)) = round.seat(seat).map(|seat| &seat.status) {
            result["own"] = json!({
                "outcome": answer.outcome, "reason": answer.reason, "commitment": held.commitment,
                "text": answer.record.replies.first().map(|reply| &reply.text),
            });
        }
        Some(result)
    }
}

/// Returns the last round in which a seat is asked.
fn own_round<'a>(session: &'a Session, seat: &str) -> Option<(&'a RoundRun, &'a Seat)> {
    session.rounds.iter().rev().find_map(|round| Some((round, round.seat(seat)?)))
}

fn is_revised(session: &Session, step: &str) -> bool {
    session.definition().revisions().any(|(before, _)| before.id == step)
}

/// Returns the seconds until the round's deadline.
fn seconds_left(session: &Session, round: &RoundRun, now: Timestamp) -> Option<i64> {
    session.deadline_at(round).map(|end| (end.0 - now.0).max(0) / 1000)
}

/// Returns a seat's offer without the time left.
pub fn offer_json(session: &Session, round: &RoundRun, seat: &Seat) -> Option<Value> {
    let (header, item) = (session.header.as_ref()?, seat.item.as_ref()?);
    let persona = header.personas.iter().find(|persona| persona.name == item.persona);
    let (opened, mut ballot) = (&round.opened, round.opened.ballot.clone());
    if let Some(order) = session.option_order(opened, &seat.name) {
        ballot.options = order;
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

fn work(session: &Session, item: &WorkItem) -> Value {
    let offered = &item.offered;
    let (system, text) = session.agent_prompt(offered);
    let whole = session.work_item_json(offered);
    let whole: Value = whole.and_then(|whole| serde_json::from_str(&whole).ok()).unwrap_or_default();
    json!({
        "kind": "work",
        "item": offered.item,
        "session": session.id,
        "step": offered.step,
        "participant": offered.participant,
        "attempt": item.attempt(),
        "state": "offered",
        "offered_at": item.at,
        "lease_seconds": LEASE_MS / 1000,
        "available_skills": offered.available_skills,
        "prompt": whole_prompt(&system, &text),
        "work_item": whole,
    })
}

fn ballot(session: &Session, round: &RoundRun, seat: &Seat) -> Option<Value> {
    session.remote(&seat.name).filter(|remote| remote.door == Door::Inbox)?;
    let item = seat.item.as_ref().filter(|_| seat.status == SeatStatus::Asking)?;
    Some(json!({
        "kind": "ballot",
        "item": item.item,
        "session": session.id,
        "step": round.opened.step,
        "round": round.opened.round,
        "participant": item.participant,
        "offered_at": round.opened_at,
        "attempt": seat.retried + 1,
        "question": round.opened.question,
        "prompt": session.prompt(round, item).text(),
    }))
}
