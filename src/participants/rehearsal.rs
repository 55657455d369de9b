//! The embedded, offline, deterministic participant.
//!
//! It reads the snapshot sentence by sentence, finds what each is about and whether it speaks for or
//! against it, weighs that by the persona's stated priorities and quotes what its answer rests on. The
//! same snapshot, persona and seed always give the same answer; a change of either shows in it. It is
//! no language model and claims no understanding: it is there to rehearse a session with.

mod choose;
mod consent;
mod draft;
mod estimate;
mod lexicon;
mod mention;
mod open;
mod scene;
mod text;
mod voice;
mod weigh;
mod words;

use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt as _;
use futures::future::{self, BoxFuture};
use serde_json::{Map, Value, json};

use super::{Ask, Failure, Finish, Participant, Reply, Task, Usage};
use crate::persona::Persona;
use crate::round::ballot::BallotKind;
use crate::round::material::Material;
use crate::round::snapshot::Snapshot;
use mention::Mentions;
use scene::Scene;

/// Answers at once, from nothing but the snapshot and the persona.
#[derive(Debug, Default)]
pub struct Rehearsal {
    /// The snapshot that was read last: all seats of a round share it, and it is read once for them.
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
    fn ask<'a>(&'a self, ask: &'a Ask) -> BoxFuture<'a, Result<Reply, Failure>> {
        future::lazy(|_| {
            let snapshot = &ask.prompt.snapshot;
            let answer = match &ask.task {
                Some(task) => rehearse_task(task, snapshot, &ask.persona, ask.seed),
                None => answer(&self.scene(snapshot), snapshot, &ask.persona, ask.seed),
            };
            let text = format!("```json\n{answer:#}\n```\n");
            Ok(Reply { text, finish: Finish::Complete, usage: Some(Usage::default()), tries: 1 })
        })
        .boxed()
    }
}

/// The answer of a persona to a snapshot, as a map with the ballot's key first.
///
/// `seed` orders options that weigh the same and nothing else. Any text is taken: what is missing or
/// cannot be read counts as no evidence, and without evidence the answer is an abstention.
#[must_use]
pub fn rehearse(snapshot: &str, persona: &Persona, seed: Option<u64>) -> Value {
    answer(&Scene::read(snapshot), snapshot, persona, seed)
}

/// The same, of a snapshot that is read already.
fn answer(scene: &Scene, snapshot: &str, persona: &Persona, seed: Option<u64>) -> Value {
    let mentions = Mentions::new(&scene.options);
    let weighed = weigh::weigh(scene, persona, |stem| mentions.names(stem));
    let draft = match scene.kind.unwrap_or(BallotKind::Position) {
        BallotKind::Position => open::answer(scene, &weighed, persona),
        BallotKind::Consent => consent::answer(scene, &weighed, persona),
        BallotKind::Estimate => estimate::answer(scene, &weighed, persona),
        kind => choose::answer(scene, &weighed, persona, seed, kind),
    };
    draft.into_json(snapshot, persona)
}

/// The answer of a persona to a work item: a value that fits the schema it is bound to, else an open
/// answer to what the item holds.
fn rehearse_task(task: &Task, prompt: &str, persona: &Persona, seed: Option<u64>) -> Value {
    if let Some(schema) = &task.schema {
        return schema.sample(task.input.get("input").unwrap_or(&Value::Null));
    }
    let context = task.input.get("context").and_then(Value::as_object).cloned().unwrap_or_default();
    let goal = task.input.get("input").map(|input| match input {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    });
    // Without a prompt of its own the whole input stands there as JSON: what is asked is its goal, and
    // what is reviewed is material like what came before.
    let asked = if prompt.starts_with('{') { goal.as_deref().unwrap_or_default() } else { prompt };
    let reviewed = task.input.get("artifact").and_then(|artifact| artifact.get("content"));
    let mut known = context.clone();
    known.extend(reviewed.map(|content| ("artifact".to_owned(), content.clone())));
    let material =
        Material { goal: goal.as_deref(), question: asked, context: Some(&known), ..Material::default() };
    let answer = rehearse(&Snapshot::freeze(&material).text, persona, seed);
    if answer["vote"] == "abstain" { echo(asked, &context, persona) } else { answer }
}

/// What is said of work that holds nothing to weigh: that it was rehearsed, and on what.
fn echo(prompt: &str, context: &Map<String, Value>, persona: &Persona) -> Value {
    let asked = prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let asked: String = asked.chars().take(120).collect();
    json!({
        "result": format!("Rehearsed by {}, nothing was done: {asked}", persona.name),
        "based_on": context.keys().collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests;
