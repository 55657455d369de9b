//! Commands on agents' work items: claims, returns, artifacts, reviews and requested evidence.
//!
//! Of two claims the first wins; an item whose lease expired can be claimed again. Times are arguments.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::core::command::{DecideResult, ItemHolder, Refusal};
use crate::history::{
    ArtifactRecorded, Event, ItemStatus, LEASE_MS, Link, RefusalWord, ReviewContext, ReviewRecorded,
    SCRIPTED, Session, StepArtifact, Timestamp, WorkItem, WorkItemClaimed, WorkItemReturned,
};
use crate::round::answer::Origin;
use crate::workflow::{TRACKER, is_feedback};

fn refuse_because<T>(word: RefusalWord, detail: String) -> Result<T, Refusal> {
    Err(Refusal::Because(word, detail))
}

fn own_item<'a>(session: &'a Session, who: &ItemHolder) -> Result<&'a WorkItem, Refusal> {
    let ItemHolder { item, participant, .. } = who;
    if session.seat_info(participant).is_none() {
        return refuse_because(RefusalWord::NotAParticipant, format!("`{participant}`"));
    }
    match session.items.get(item).filter(|found| found.offered.participant == *participant) {
        Some(found) if found.outcome().is_none() => Ok(found),
        _ => refuse_because(RefusalWord::NotOffered, format!("work item `{item}` to `{participant}`")),
    }
}

/// Claims an item: the first claim wins; repeating it changes nothing for the holder.
pub fn claim(session: &Session, who: ItemHolder, now: Timestamp) -> DecideResult {
    let (found, item) = (own_item(session, &who)?, &who.item);
    if let Some(claim) = found.claim.as_ref().filter(|_| found.is_held(now)) {
        if claim.holder == who.holder {
            return Ok(Vec::new());
        }
        let what = format!("work item `{item}` until {}", claim.until);
        return refuse_because(RefusalWord::AlreadyClaimed, what);
    }
    let wait = found.wait_ms(now);
    if wait > 0 {
        return refuse_because(RefusalWord::NotOffered, format!("work item `{item}` for another {wait} ms"));
    }
    Ok(vec![claimed(found, who, now)])
}

fn claimed(found: &WorkItem, who: ItemHolder, now: Timestamp) -> Event {
    let ItemHolder { item, participant, holder } = who;
    let (step, attempt) = (found.offered.step.clone(), found.attempt());
    let until = Timestamp(now.0.saturating_add(LEASE_MS));
    Event::WorkItemClaimed(WorkItemClaimed { step, participant, item, attempt, holder, until })
}

fn leased_item<'a>(session: &'a Session, who: &ItemHolder, now: Timestamp) -> Result<&'a WorkItem, Refusal> {
    let (found, item) = (own_item(session, who)?, &who.item);
    match &found.claim {
        Some(claim) if claim.holder != who.holder => {
            refuse_because(RefusalWord::NotLeaseHolder, format!("of work item `{item}`"))
        }
        None => {
            let what = format!("of work item `{item}`, which nobody has claimed");
            refuse_because(RefusalWord::NotLeaseHolder, what)
        }
        Some(claim) if !found.is_held(now) => {
            refuse_because(RefusalWord::LeaseExpired, format!("of work item `{item}` at {}", claim.until))
        }
        Some(_) => Ok(found),
    }
}

pub fn renew(session: &Session, who: ItemHolder, now: Timestamp) -> DecideResult {
    let found = leased_item(session, &who, now)?;
    Ok(vec![claimed(found, who, now)])
}

pub fn record_return(session: &Session, mut back: WorkItemReturned, now: Timestamp) -> DecideResult {
    let (item, participant) = (back.item.clone(), back.participant.clone());
    let found = leased_item(session, &ItemHolder { item, participant, holder: back.holder.take() }, now)?;
    let review = found.offered.task.as_ref().and_then(|task| task.review_context.as_ref());
    let is_completed = back.status == ItemStatus::Completed;
    if review.is_some() && is_completed && !is_feedback(&back.data) {
        let what = format!("review `{}` cannot be completed without it", back.item);
        return refuse_because(RefusalWord::NoFeedback, what);
    }
    let mut back = WorkItemReturned { step: found.offered.step.clone(), attempt: found.attempt(), ..back };
    back.record.model.clone_from(&found.offered.model);
    if back.record.replies.is_empty() {
        let model = found.offered.model.as_str();
        back.record.origin = if model == SCRIPTED { Origin::Script } else { Origin::from_model(model) };
    }
    let data = back.data.clone();
    let mut events = vec![Event::WorkItemReturned(Arc::new(back))];
    match review {
        _ if !is_completed => {}
        Some(context) => events.extend(feedback(found, context, data, now)),
        None => events.extend(result(session, found)),
    }
    Ok(events)
}

fn result(session: &Session, item: &WorkItem) -> Option<Event> {
    let step = session.definition().step(&item.offered.step)?;
    let summary = item.stage_description();
    let artifact = [("id".to_owned(), step.made_id().into()), ("summary".to_owned(), summary.into())];
    let before = session.made.get(step.made_id()).and_then(|made| made.recorded.version);
    Some(Event::ArtifactRecorded(ArtifactRecorded {
        artifact: Map::from_iter(artifact),
        by: item.offered.participant.clone(),
        step: Some(step.id.clone()),
        stage: Some(step.label.as_deref().unwrap_or(&step.id).to_owned()),
        kind: Some("result".to_owned()),
        version: Some(before.unwrap_or(0) + 1),
        item: Some(item.offered.item.clone()),
        record_of: None,
    }))
}

fn feedback(item: &WorkItem, context: &ReviewContext, data: Value, now: Timestamp) -> [Event; 2] {
    let (id, step) = (&item.offered.item, &item.offered.step);
    let reviewed = Event::ReviewRecorded(ReviewRecorded {
        step: step.clone(),
        participant: item.offered.participant.clone(),
        item: id.clone(),
        artifact: context.target_artifact_id.clone(),
        criteria: context.review_criteria.clone(),
        feedback: data,
    });
    let link = Link {
        id: format!("{id}/review"),
        from_id: id.clone(),
        to_id: context.target_artifact_id.clone(),
        kind: "review".to_owned(),
        created_at: now,
    };
    [reviewed, Event::LinkRecorded { step: step.clone(), link }]
}

pub fn artifact_view(session: &Session, made: &StepArtifact) -> Value {
    let id = made.id();
    let reviews = session.reviews_in_order().filter(|review| review.artifact == id);
    let links = session.links.iter().filter(|link| link.to_id == id);
    let back = session.items.get(made.item()).and_then(WorkItem::outcome);
    json!({
        "id": id,
        "summary": made.recorded.artifact.get("summary"),
        "version": made.recorded.version,
        "kind": made.recorded.kind,
        "stage": made.recorded.stage,
        "author": made.recorded.by,
        "created_at": made.at,
        "content": back.map(|back| back.data.clone()).unwrap_or_default(),
        "reviews": reviews.map(|review| json!({
            "by": review.participant,
            "criteria": review.criteria,
            "feedback": review.feedback,
        })).collect::<Value>(),
        "links": links.map(|link| serde_json::to_value(link).unwrap_or_default()).collect::<Value>(),
    })
}

/// Tasks for which offered work items have requested evidence.
#[derive(Default)]
pub struct RequestedEvidence {
    pub tasks: Arc<HashSet<String>>,
    scanned: usize,
}

impl RequestedEvidence {
    /// Searches the work items offered since the last call.
    pub fn update(&mut self, session: &Session) {
        let definition = session.definition();
        let offered = session.items.values().skip(self.scanned).map(|item| &item.offered);
        for offered in offered.filter(|offered| offered.model != TRACKER) {
            let rules = offered.task.as_ref().and_then(|task| task.rules.as_deref());
            let asked = session.agent_prompt(offered).1 + rules.unwrap_or_default();
            if asked.to_lowercase().contains("evidence") {
                let named = definition.tasks.iter().filter(|task| names_whole(&asked, &task.id));
                Arc::make_mut(&mut self.tasks).extend(named.map(|task| task.id.clone()));
            }
        }
        self.scanned = session.items.len();
    }
}

fn names_whole(text: &str, id: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    text.match_indices(id)
        .any(|(at, _)| !text[..at].ends_with(is_word) && !text[at + id.len()..].starts_with(is_word))
}
