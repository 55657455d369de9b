//! Artifacts that steps make and the feedback of their reviews, on record.

use serde_json::{Map, Value, json};

use crate::core::command::{DecideResult, Refusal, refuse};
use crate::history::{
    ArtifactRecorded, Event, ItemStatus, Link, LinkRecorded, ReviewRecorded, Session, StepArtifact, StepRun,
    Timestamp, WorkItem,
};
use crate::workflow::Definition;

impl Session {
    fn content(&self, made: &StepArtifact) -> Value {
        let back = self.items.get(made.item()).and_then(WorkItem::outcome);
        back.map(|back| back.data.clone()).unwrap_or_default()
    }

    /// The item of a run whose artifact is not on record yet.
    pub(crate) fn unrecorded<'a>(&'a self, run: &StepRun) -> Option<&'a WorkItem> {
        let done = |item: &&WorkItem| {
            item.outcome().is_some_and(|back| back.status == ItemStatus::Completed) && !is_review(item)
        };
        let items = run.items.iter().filter_map(|id| self.items.get(id)).filter(done);
        let mut items = items.filter(|item| !self.made.values().any(|made| made.item() == item.offered.item));
        items.next()
    }

    /// The completed review of a run whose feedback is not wholly on record yet.
    pub(crate) fn unreviewed<'a>(&'a self, run: &StepRun) -> Option<&'a WorkItem> {
        let mut items = run.items.iter().filter_map(|id| self.items.get(id));
        items.find(|item| {
            is_review(item)
                && item.outcome().is_some_and(|back| back.status == ItemStatus::Completed)
                && !self.links.iter().any(|link| link.link.from_id == item.offered.item)
        })
    }
}

pub fn is_review(item: &WorkItem) -> bool {
    item.offered.task.as_ref().is_some_and(|task| task.review_context.is_some())
}

pub fn record_result(session: &Session, definition: &Definition, id: &str) -> DecideResult {
    let (Some(run), Some(step)) = (session.running(id), definition.step(id)) else {
        return refuse(format!("step `{id}` does not run"));
    };
    let Some(item) = session.unrecorded(run) else {
        return refuse(format!("step `{id}` has nothing to record"));
    };
    let mut artifact = Map::new();
    artifact.insert("id".to_owned(), step.made_id().into());
    artifact.insert("summary".to_owned(), item.stage_description().into());
    let before = session.made.get(step.made_id()).and_then(|made| made.recorded.version);
    Ok(vec![Event::ArtifactRecorded(ArtifactRecorded {
        artifact,
        by: item.offered.participant.clone(),
        step: Some(id.to_owned()),
        stage: Some(step.label.as_deref().unwrap_or(id).to_owned()),
        kind: Some("result".to_owned()),
        version: Some(before.unwrap_or(0) + 1),
        item: Some(item.offered.item.clone()),
        record_of: None,
    })])
}

/// The feedback of a completed review, on record and linked to its artifact.
pub fn record_review(session: &Session, item: &str, now: Timestamp) -> DecideResult {
    let found = session.items.get(item).filter(|found| is_review(found));
    let back = found.and_then(WorkItem::outcome).filter(|back| back.status == ItemStatus::Completed);
    let (Some(found), Some(back)) = (found, back) else {
        return refuse(format!("`{item}` is no completed review"));
    };
    feedback(session, found, &back.data, now)
}

/// The events of a feedback that are not on record yet.
pub fn feedback(
    session: &Session,
    item: &WorkItem,
    data: &Value,
    now: Timestamp,
) -> Result<Vec<Event>, Refusal> {
    let Some(context) = item.offered.task.as_ref().and_then(|task| task.review_context.as_ref()) else {
        return refuse(format!("`{}` is no review", item.offered.item));
    };
    let id = &item.offered.item;
    let mut events = Vec::new();
    if !session.reviews.iter().any(|review| review.item == *id) {
        events.push(Event::ReviewRecorded(ReviewRecorded {
            step: item.offered.step.clone(),
            participant: item.offered.participant.clone(),
            item: id.clone(),
            artifact: context.target_artifact_id.clone(),
            criteria: context.review_criteria.clone(),
            feedback: data.clone(),
        }));
    }
    if !session.links.iter().any(|link| link.link.from_id == *id) {
        events.push(Event::LinkRecorded(LinkRecorded {
            step: item.offered.step.clone(),
            link: Link {
                id: format!("{id}/review"),
                from_id: id.clone(),
                to_id: context.target_artifact_id.clone(),
                kind: "review".to_owned(),
                created_at: now,
            },
        }));
    }
    if events.is_empty() { refuse(format!("the feedback of `{id}` is on record")) } else { Ok(events) }
}

pub fn artifact_view(session: &Session, made: &StepArtifact) -> Value {
    let id = made.id();
    let reviews = session.reviews_in_order().filter(|review| review.artifact == id);
    let links = session.links.iter().map(|link| &link.link).filter(|link| link.to_id == id);
    json!({
        "id": id,
        "summary": made.recorded.artifact.get("summary"),
        "version": made.recorded.version,
        "kind": made.recorded.kind,
        "stage": made.recorded.stage,
        "author": made.recorded.by,
        "created_at": made.at,
        "content": session.content(made),
        "reviews": reviews.map(|review| json!({
            "by": review.participant,
            "criteria": review.criteria,
            "feedback": review.feedback,
        })).collect::<Value>(),
        "links": links.map(|link| serde_json::to_value(link).unwrap_or_default()).collect::<Value>(),
    })
}
