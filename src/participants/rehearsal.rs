//! The built-in placeholder: valid answers to try a definition with, drawn by lot and labelled as such.
//!
//! The lot falls by a hash of snapshot, seat and seed. Nothing else of the snapshot but the form is read.

use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt as _;
use futures::future::{self, BoxFuture};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{Failure, Origin, Participant, Reply, SeatRequest, TokenUsage, WorkItemView};
use crate::ballot::{BallotKind, Stage};
use crate::round::snapshot::sha256_hex;

/// All that a placeholder says of its ballot.
pub const LABEL: &str = "Placeholder: picked at random, no model was asked";
const UNDONE: &str = "Placeholder: nothing was done, no model was asked";

/// The placeholder as a participant. All seats may share one.
#[derive(Debug, Default)]
pub struct Rehearsal {
    /// The snapshot read last; the seats of a round share it.
    last: Mutex<Option<(Arc<str>, Arc<PlaceholderForm>)>>,
}

impl Rehearsal {
    fn form(&self, snapshot: &Arc<str>) -> Arc<PlaceholderForm> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, form)) = last.as_ref().filter(|(read, _)| Arc::ptr_eq(read, snapshot)) {
            return Arc::clone(form);
        }
        let form = Arc::new(PlaceholderForm::read(snapshot));
        *last = Some((Arc::clone(snapshot), Arc::clone(&form)));
        form
    }
}

impl Participant for Rehearsal {
    fn ask<'a>(&'a self, ask: &'a SeatRequest) -> BoxFuture<'a, Result<Reply, Failure>> {
        future::lazy(|_| {
            let answer = match &ask.task {
                Some(task) => work(task)?,
                None => answer(&self.form(&ask.prompt.snapshot), ask),
            };
            let text = format!("```json\n{answer:#}\n```\n");
            Ok(Reply { usage: Some(TokenUsage::default()), ..Reply::own(Origin::Placeholder, text) })
        })
        .boxed()
    }
}

/// The form of a round, as its snapshot holds it.
#[derive(Debug, Default)]
struct PlaceholderForm {
    snapshot_sha256: String,
    kind: BallotKind,
    options: Vec<String>,
    /// The lowest and the highest score or estimate.
    scale: (Option<f64>, Option<f64>),
    cards: Vec<String>,
}

impl PlaceholderForm {
    /// Reads a snapshot's form; what is missing or of another type is left out.
    fn read(snapshot: &str) -> Self {
        let value = crate::yaml::read(snapshot, "snapshot").map(|node| node.to_json()).unwrap_or_default();
        let form = &value["participant_context"]["ballot"];
        let texts = |key: &str| -> Vec<String> {
            let name = |item: &Value| item.as_str().or_else(|| item["id"].as_str()).map(str::to_owned);
            form[key].as_array().into_iter().flatten().filter_map(name).collect()
        };
        let scale = match (form["scale"]["min"].as_f64(), form["scale"]["max"].as_f64()) {
            (Some(low), Some(high)) if low > high => (None, None),
            ends => ends,
        };
        Self {
            snapshot_sha256: sha256_hex(snapshot),
            kind: form["kind"].as_str().and_then(BallotKind::from_name).unwrap_or_default(),
            options: texts("options"),
            scale,
            cards: texts("cards"),
        }
    }
}

/// The answer of a seat: its ballot, and one line that says how it came about.
fn answer(form: &PlaceholderForm, ask: &SeatRequest) -> Value {
    let seat = Sha256::new()
        .chain_update(&form.snapshot_sha256)
        .chain_update(&ask.seat)
        .chain_update(ask.seed.unwrap_or_default().to_be_bytes());
    let number = |of: &str| {
        let hash = seat.clone().chain_update(of).finalize();
        hash.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    };
    let mut options: Vec<&str> = form.options.iter().map(String::as_str).collect();
    options.sort_by_cached_key(|option| number(option));
    let stage = Stage {
        options,
        scale: form.scale,
        cards: &form.cards,
        label: LABEL,
        lot: &|of, count| (number(of) % count.max(1) as u64) as usize,
    };
    let mut answer: serde_json::Map<String, Value> =
        form.kind.spec().rehearse(&stage).into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    if answer.is_empty() {
        answer.insert("position".to_owned(), LABEL.into());
    } else {
        answer.insert("rationale".to_owned(), json!([LABEL]));
    }
    Value::Object(answer)
}

/// The answer to a work item: the smallest value that fits its schema, else a note that nothing was done.
///
/// # Errors
/// A schema this cannot make a value for.
fn work(task: &WorkItemView) -> Result<Value, String> {
    match (&task.placeholder, &task.schema) {
        (Some(placeholder), _) => Ok(placeholder.clone()),
        (None, Some(schema)) => schema.sample(),
        (None, None) => Ok(json!({"result": UNDONE})),
    }
}

#[cfg(test)]
mod tests;
