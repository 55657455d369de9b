//! Steps, merges and agenda of a session as data. Texts are raw.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::record::leaks;
use crate::core::artifact_view;
use crate::history::{IdeasMerged, MergedOption, Point, RoundRun, Session, StepFinished, WorkItem};
use crate::round::answer::Origin;
use crate::round::material::Artifact;
use crate::workflow::{Step, StepKind};

#[derive(Debug, Serialize)]
pub struct StepRecord<'a> {
    #[serde(flatten)]
    result: &'a StepFinished,
    kind: &'a str,
    agent: Option<&'a str>,
    /// Model that answered, or "scripted".
    model: Option<String>,
    runs: u32,
    /// Set if the data are the results of nested steps.
    envelope: bool,
    /// Set if another section shows the result: that of a round, an approval or a route.
    told_elsewhere: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    leaks: Vec<Value>,
}

/// Returns the last result of every step, in the order of completion.
pub fn steps(session: &Session) -> Vec<StepRecord<'_>> {
    session.results.values().map(|result| step(session, result)).collect()
}

fn step<'a>(session: &'a Session, result: &'a StepFinished) -> StepRecord<'a> {
    let step = session.definition().step(&result.step);
    let agent = step.and_then(|step| step.agent());
    let items = session.items.values().filter(|item| item.offered.step == result.step);
    let leaks = |item: &WorkItem| {
        let leaks = leaks(session, session.leaks_of(&item.offered.item)?);
        Some(json!({ "participant": item.offered.participant, "leaks": leaks }))
    };
    let answered = items.clone().filter_map(|item| item.returned.last()).next_back();
    let who = match answered.map(|(back, _)| &back.record) {
        Some(record) if record.origin != Origin::Script => Some(record.who()),
        Some(_) => Some("scripted".to_owned()),
        None => agent.and_then(|of| Some(session.seat_info(&of.agent)?.label(&result.step).to_owned())),
    };
    let told_elsewhere = match step.map(|step| &step.kind) {
        _ if !result.success => session.rounds.iter().any(|round| round.opened.step == result.step),
        Some(StepKind::Round(_) | StepKind::Approval(_) | StepKind::Condition(_)) | None => true,
        Some(_) => false,
    };
    StepRecord {
        result,
        kind: step.map_or("", |step| step.kind_name()),
        agent: agent.map(|agent| agent.agent.as_str()),
        model: agent.and(who),
        runs: session.runs.get(&result.step).copied().unwrap_or(1),
        envelope: step.is_some_and(Step::is_envelope),
        told_elsewhere,
        leaks: items.filter_map(leaks).collect(),
    }
}

/// Returns the merged ideas and findings, by round.
pub fn merges(session: &Session) -> Vec<Value> {
    session.rounds.iter().filter_map(|round| merge(session, round)).collect()
}

fn merge(session: &Session, round: &RoundRun) -> Option<Value> {
    let IdeasMerged { step, round: id, by, merge, .. } = session.merge_of(&round.opened.round)?;
    let titles: HashMap<String, String> =
        round.ideas().into_iter().map(|idea| (idea.id, idea.title)).collect();
    let idea = |id: &String, reason: Option<&String>| {
        let participant = id.rsplit_once('#').map_or(&**id, |(seat, _)| seat);
        let title = titles.get(id).unwrap_or(id);
        json!({ "idea": id, "title": title, "participant": participant, "reason": reason })
    };
    let option = |option: &MergedOption| {
        let from: Value = option.from.iter().map(|id| idea(id, None)).collect();
        json!({ "id": option.id, "title": option.title, "from": from })
    };
    let options: Value = merge.options.iter().map(option).collect();
    let set_aside: Value =
        merge.set_aside.iter().map(|aside| idea(&aside.idea, Some(&aside.reason))).collect();
    let ballot = round.opened.ballot.kind.name();
    Some(json!({
        "step": step, "round": id, "ballot": ballot, "by": by, "options": options, "set_aside": set_aside,
    }))
}

/// Converts a conflict or question. `settled` is null while it is open, and empty if its blocks are gone.
pub fn point(point: &Point) -> Value {
    let mut record = json!(point);
    record["settled"] = json!(point.settled);
    record
}

/// Returns artifacts of the definition, then those of the session.
pub fn artifacts(session: &Session) -> Vec<Value> {
    let written = session.definition().artifacts.iter().map(artifact);
    written.chain(session.made_in_order().map(|made| artifact_view(session, made))).collect()
}

fn artifact(artifact: &Artifact) -> Value {
    let mut record = json!({ "id": artifact.id, "summary": artifact.summary });
    for (key, value) in &artifact.details {
        record[*key] = value.clone();
    }
    record
}
