//! What a round leaves behind for later steps: `{data, success, outcome, decision, tally}`.
//!
//! One shape, whatever became of the round: every key is always there.

use serde_json::{Map, Value, json};

use crate::history::{RoundRun, Seat, Session, StepFinished};
use crate::workflow::{Step, TALLY_KEYS};

impl Session {
    /// A round as later steps see it.
    pub(crate) fn round_envelope(&self, step: &Step, result: &StepFinished) -> Value {
        let round = self.last_round_of(&step.id);
        let round = round.filter(|_| !self.not_held.contains_key(&step.id));
        let tally = round.and_then(|round| round.tally.as_ref());
        let mut counted = match tally {
            Some(tally) => serde_json::to_value(tally).unwrap_or_default(),
            None => json!({ "rule": step.round().and_then(|round| round.rule), "reason": result.error }),
        };
        if let Value::String(reason) = &mut counted["reason"] {
            *reason = self.shown_reason(round, reason);
        }
        let value = |key: &str| match (key, counted.get(key)) {
            (_, Some(value)) => value.clone(),
            ("winners" | "order", None) => json!([]),
            ("scores", None) => json!({}),
            ("decided" | "tie" | "quorum_met", None) => false.into(),
            ("rule" | "tier" | "reason", None) => Value::Null,
            _ => 0.into(),
        };
        let tally: Map<String, Value> =
            TALLY_KEYS.iter().map(|key| ((*key).to_owned(), value(key))).collect();
        let chosen = self.chosen.get(&step.id);
        json!({
            "data": round.map_or_else(|| json!([]), |round| self.round_entries(round)),
            "success": result.success || chosen.is_some(),
            "outcome": self.round_outcome(step),
            "decision": chosen,
            "tally": tally,
        })
    }

    fn round_entries(&self, round: &RoundRun) -> Value {
        let mut seats: Vec<&Seat> = round.seats.values().collect();
        if self.pseudonyms().is_some() {
            seats.sort_by_key(|seat| self.shown_at(&seat.name));
        }
        seats.into_iter().map(|seat| self.disclosed_answer(seat)).collect()
    }
}
