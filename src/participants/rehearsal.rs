//! Built-in placeholder: valid random answers, labeled as such.
//!
//! Answers are drawn by a hash of snapshot, seat and seed, so that they are reproducible. The prompt's content
//! has no other influence.

use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::{Number, Value, json};
use sha2::{Digest as _, Sha256};

use super::{Failure, Origin, Participant, Reply, SeatRequest, TokenUsage, WorkItemView};
use crate::ballot::{BallotForm, RehearsalInput};
use crate::round::snapshot::sha256_hex;

/// Only text of a placeholder's ballot.
pub const LABEL: &str = "Placeholder: picked at random, no model was asked";
const UNDONE: &str = "Placeholder: nothing was done, no model was asked";

#[derive(Debug, Clone, Copy)]
pub struct Rehearsal {
    /// Delays each seat by 1 to 3 seconds, so that a person can see the sealed round.
    pub is_watched: bool,
}

impl Participant for Rehearsal {
    fn ask<'a>(&'a self, ask: &'a SeatRequest) -> BoxFuture<'a, Result<Reply, Failure>> {
        async {
            let answer = match &ask.task {
                Some(task) => work(task)?,
                None => answer(ask),
            };
            if self.is_watched && ask.task.is_none() {
                ask.watch.asked(1);
                tokio::time::sleep(Duration::from_millis(1000 + lots(ask)("time") % 2000)).await;
            }
            let text = format!("```json\n{answer:#}\n```\n");
            Ok(Reply { usage: Some(TokenUsage::default()), ..Reply::own(Origin::Placeholder, text) })
        }
        .boxed()
    }
}

/// Returns a seat's answer: a ballot and the label.
fn answer(ask: &SeatRequest) -> Value {
    let open = BallotForm::default();
    let form = ask.ballot.as_deref().unwrap_or(&open);
    let number = lots(ask);
    let mut options: Vec<&str> = form.options.iter().map(String::as_str).collect();
    options.sort_by_cached_key(|option| number(option));
    let input = RehearsalInput {
        options,
        scale: (form.min.as_ref().and_then(Number::as_f64), form.max.as_ref().and_then(Number::as_f64)),
        cards: &form.cards,
        label: LABEL,
        lot: &|of, count| (number(of) % count.max(1) as u64) as usize,
    };
    let mut answer: serde_json::Map<String, Value> =
        form.kind.spec().rehearse(&input).into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    if answer.is_empty() {
        answer.insert("position".to_owned(), LABEL.into());
    } else {
        answer.insert("rationale".to_owned(), json!([LABEL]));
    }
    Value::Object(answer)
}

/// Returns a function that draws a number by a hash of snapshot, seat, seed and purpose.
fn lots(ask: &SeatRequest) -> impl Fn(&str) -> u64 {
    let seat = Sha256::new()
        .chain_update(sha256_hex(&*ask.prompt.snapshot))
        .chain_update(&ask.seat)
        .chain_update(ask.seed.unwrap_or_default().to_be_bytes());
    move |of| {
        let hash = seat.clone().chain_update(of).finalize();
        hash.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte))
    }
}

/// Returns the step's placeholder, else the smallest value of its schema, else a note that nothing was done.
///
/// # Errors
/// No value could be made for the schema.
fn work(task: &WorkItemView) -> Result<Value, String> {
    match (&task.placeholder, &task.schema) {
        (Some(placeholder), _) => Ok(placeholder.clone()),
        (None, Some(schema)) => schema.sample(),
        (None, None) => Ok(json!({"result": UNDONE})),
    }
}

#[cfg(test)]
mod tests;
