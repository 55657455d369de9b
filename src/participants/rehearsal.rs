//! The built-in offline participant: placeholder answers to try a definition with.
//!
//! Every answer is valid for its form, says in its first sentence that it is a placeholder and
//! quotes sentences of the snapshot. A seat leans to the option whose text shares words with its
//! persona's priorities; everything else falls by lot, from a hash of snapshot, persona, seat and
//! seed. Words are compared letter by letter: nothing here understands language.

mod ballot;
mod lots;
mod scene;

use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt as _;
use futures::future::{self, BoxFuture};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{Failure, Participant, Reply, SeatRequest, TokenUsage, WorkItemView};
use lots::{LABEL, Lots, first_bytes, persona_sha256};
use scene::{QuotedSentence, Scene};

/// One seat in so many abstains, by lot.
const ABSTAINS: usize = 10;
/// In a round of fewer seats nobody abstains.
const FEW: usize = 5;

/// The rehearsal as a participant. All seats may share one.
#[derive(Debug, Default)]
pub struct Rehearsal {
    /// The snapshot read last; the seats of a round share it.
    last: Mutex<Option<(Arc<str>, Arc<Scene>)>>,
}

impl Rehearsal {
    fn scene(&self, snapshot: &Arc<str>) -> Arc<Scene> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, scene)) = last.as_ref().filter(|(read, _)| Arc::ptr_eq(read, snapshot)) {
            return Arc::clone(scene);
        }
        let scene = Arc::new(Scene::read(snapshot));
        *last = Some((Arc::clone(snapshot), Arc::clone(&scene)));
        scene
    }
}

impl Participant for Rehearsal {
    fn ask<'a>(&'a self, ask: &'a SeatRequest) -> BoxFuture<'a, Result<Reply, Failure>> {
        future::lazy(|_| {
            let answer = match &ask.task {
                Some(task) => work(task, ask).map_err(|reason| Failure {
                    reason,
                    timed_out: false,
                    tries: 1,
                    usage: None,
                })?,
                None => answer(&self.scene(&ask.prompt.snapshot), ask),
            };
            let text = format!("```json\n{answer:#}\n```\n");
            Ok(Reply { text, usage: Some(TokenUsage::default()), tries: 1, ..Reply::default() })
        })
        .boxed()
    }
}

/// Whether the seat abstains: at most one of ten seats in a row, and none where fewer than five sit.
fn abstains(scene: &Scene, ask: &SeatRequest) -> bool {
    let (place, seats) = ask.place;
    let lot = first_bytes(&Sha256::digest(format!("abstains\n{}\n{:?}", scene.sha256, ask.seed)));
    seats >= FEW && place % ABSTAINS == (lot % ABSTAINS as u64) as usize
}

/// The answer of a seat, the ballot's key first.
fn answer(scene: &Scene, ask: &SeatRequest) -> Value {
    let lots = Lots::new(&scene.sha256, ask);
    let sentences = scene.quotes(&lots, 3);
    let quotes: Vec<String> = sentences.iter().map(|one| one.quote()).collect();
    let drawn = if abstains(scene, ask) {
        ballot::abstention(scene)
    } else {
        ballot::draw(scene, &ask.persona, &lots, &quotes)
    };
    let mut answer = drawn.keys;
    let beside = quotes.first().map_or_else(String::new, |quote| format!(" It quotes, by lot: {quote}."));
    let first = format!("{LABEL} {}", drawn.why);
    let mut rationale = Vec::new();
    if drawn.has_position {
        answer.insert("position".to_owned(), format!("{first}{beside}").into());
    } else {
        rationale.push(first);
    }
    rationale.extend(quotes.get(1).map(|quote| format!("A sentence drawn by lot: {quote}.")));
    rationale.push(format!(
        "The lot falls by the snapshot (sha256 {:.16}) and the persona (sha256 {:.16}).",
        scene.sha256,
        persona_sha256(&ask.persona)
    ));
    answer.insert("rationale".to_owned(), rationale.into());
    let nothing = "nothing: a placeholder";
    let trade_offs = json!({"optimizing_for": nothing, "accepting_as_cost": nothing, "risks": []});
    answer.insert("trade_offs".to_owned(), trade_offs);
    let concern =
        quotes.get(2).into_iter().map(|quote| format!("No concern, a sentence drawn by lot: {quote}."));
    answer.insert("concerns".to_owned(), concern.collect());
    answer.insert("suggestions".to_owned(), json!([]));
    if !drawn.is_abstention {
        answer.insert("confidence".to_owned(), json!(0.5));
    }
    answer.insert("references".to_owned(), references(&sentences));
    Value::Object(answer)
}

/// The artifacts quoted.
fn references(quotes: &[&QuotedSentence]) -> Value {
    let mut found: Vec<String> = Vec::new();
    for sentence in quotes.iter().filter(|sentence| sentence.is_artifact) {
        if !found.contains(&sentence.place) {
            found.push(sentence.place.clone());
        }
    }
    found.into()
}

/// The answer to a work item: a value that fits its schema, else a note that nothing was done.
///
/// # Errors
/// A schema this cannot make a value for.
fn work(task: &WorkItemView, ask: &SeatRequest) -> Result<Value, String> {
    if let Some(placeholder) = &task.placeholder {
        return Ok(placeholder.clone());
    }
    if let Some(schema) = &task.schema {
        return schema.sample(task.input.get("input").unwrap_or(&Value::Null));
    }
    let scene = Scene::of_text(&ask.prompt.snapshot);
    let sentences = scene.quotes(&Lots::new(&scene.sha256, ask), 1);
    let quote =
        sentences.first().map_or_else(String::new, |one| format!(" The input says: {}.", one.quote()));
    let context = task.input.get("context").and_then(Value::as_object);
    Ok(json!({
        "result": format!("{LABEL} Nothing was done.{quote}"),
        "based_on": context.map(|map| map.keys().collect::<Vec<_>>()).unwrap_or_default(),
    }))
}

#[cfg(test)]
mod tests;
