//! Work items of agents: claims and returns, artifacts and reviews, the tracker's tasks.
//!
//! One state machine for every worker: of two claims one wins, a lease that ran out is offered
//! again, and every refusal says which one it is. Times are arguments.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::core::command::{DecideResult, Refusal, refuse};
use crate::history::{
    ArtifactRecorded, Event, ItemStatus, LEASE_MS, Link, LinkRecorded, RefusalWord, ReviewRecorded, Session,
    StepArtifact, StepRun, TaskWritten, Timestamp, UnwrittenTask, WorkItem, WorkItemClaimed,
    WorkItemReturned,
};
use crate::round::answer::Origin;
use crate::workflow::{TRACKER, is_feedback, state_file};

fn refuse_because<T>(word: RefusalWord, detail: String) -> Result<T, Refusal> {
    Err(Refusal::Because(word, detail))
}

fn own_item<'a>(session: &'a Session, item: &str, participant: &str) -> Result<&'a WorkItem, Refusal> {
    if session.seat_info(participant).is_none() {
        return refuse_because(RefusalWord::NotAParticipant, format!("`{participant}`"));
    }
    match session.items.get(item).filter(|found| found.offered.participant == participant) {
        Some(found) if found.outcome().is_none() => Ok(found),
        _ => refuse_because(RefusalWord::NotOffered, format!("work item `{item}` to `{participant}`")),
    }
}

/// A claim: the first wins, and asking again changes nothing for its holder.
pub fn claim(
    session: &Session,
    item: &str,
    participant: &str,
    holder: Option<String>,
    now: Timestamp,
) -> DecideResult {
    let found = own_item(session, item, participant)?;
    if let Some(claim) = found.claim.as_ref().filter(|_| found.is_held(now)) {
        if claim.holder == holder {
            return Ok(Vec::new());
        }
        return refuse_because(
            RefusalWord::AlreadyClaimed,
            format!("work item `{item}` until {}", claim.until),
        );
    }
    let wait = found.wait_ms(now);
    if wait > 0 {
        return refuse_because(RefusalWord::NotOffered, format!("work item `{item}` for another {wait} ms"));
    }
    Ok(vec![claimed(found, holder, now)])
}

fn claimed(item: &WorkItem, holder: Option<String>, now: Timestamp) -> Event {
    Event::WorkItemClaimed(WorkItemClaimed {
        step: item.offered.step.clone(),
        participant: item.offered.participant.clone(),
        item: item.offered.item.clone(),
        attempt: item.attempt(),
        holder,
        until: Timestamp(now.0.saturating_add(LEASE_MS)),
    })
}

fn held<'a>(
    session: &'a Session,
    item: &str,
    participant: &str,
    holder: Option<&str>,
    now: Timestamp,
) -> Result<&'a WorkItem, Refusal> {
    let found = own_item(session, item, participant)?;
    match &found.claim {
        Some(claim) if claim.holder.as_deref() != holder => {
            refuse_because(RefusalWord::NotLeaseHolder, format!("of work item `{item}`"))
        }
        None => refuse_because(
            RefusalWord::NotLeaseHolder,
            format!("of work item `{item}`, which nobody has claimed"),
        ),
        Some(claim) if !found.is_held(now) => {
            refuse_because(RefusalWord::LeaseExpired, format!("of work item `{item}` at {}", claim.until))
        }
        Some(_) => Ok(found),
    }
}

pub fn renew(
    session: &Session,
    item: &str,
    participant: &str,
    holder: Option<String>,
    now: Timestamp,
) -> DecideResult {
    let found = held(session, item, participant, holder.as_deref(), now)?;
    Ok(vec![claimed(found, holder, now)])
}

pub fn record_return(
    session: &Session,
    back: WorkItemReturned,
    holder: Option<&str>,
    now: Timestamp,
) -> DecideResult {
    let found = held(session, &back.item, &back.participant, holder, now)?;
    let is_review = is_review(found);
    if is_review && back.status == ItemStatus::Completed && !is_feedback(&back.data) {
        return refuse_because(
            RefusalWord::NoFeedback,
            format!("review `{}` cannot be completed without it", back.item),
        );
    }
    let mut back = WorkItemReturned { step: found.offered.step.clone(), attempt: found.attempt(), ..back };
    back.record.model.clone_from(&found.offered.model);
    if back.record.replies.is_empty() {
        back.record.origin = Origin::of_model(&found.offered.model);
    }
    let mut events = Vec::new();
    if is_review && back.status == ItemStatus::Completed {
        events = feedback(session, found, &back.data, now)?;
    }
    events.insert(0, Event::WorkItemReturned(Arc::new(back)));
    Ok(events)
}

impl Session {
    fn content(&self, made: &StepArtifact) -> Value {
        let back = self.items.get(made.item()).and_then(WorkItem::outcome);
        back.map(|back| back.data.clone()).unwrap_or_default()
    }

    fn completed<'a>(&'a self, run: &StepRun) -> impl Iterator<Item = &'a WorkItem> {
        let items = run.items.iter().filter_map(|id| self.items.get(id));
        items.filter(|item| item.completed().is_some())
    }

    pub(crate) fn unrecorded<'a>(&'a self, run: &StepRun) -> Option<&'a WorkItem> {
        let is_made = |item: &WorkItem| self.made.values().any(|made| made.item() == item.offered.item);
        self.completed(run).find(|item| !is_review(item) && !is_made(item))
    }

    pub(crate) fn unreviewed<'a>(&'a self, run: &StepRun) -> Option<&'a WorkItem> {
        let is_linked =
            |item: &WorkItem| self.links.iter().any(|link| link.link.from_id == item.offered.item);
        self.completed(run).find(|item| is_review(item) && !is_linked(item))
    }
}

pub fn is_review(item: &WorkItem) -> bool {
    item.offered.task.as_ref().is_some_and(|task| task.review_context.is_some())
}

pub fn record_result(session: &Session, id: &str) -> DecideResult {
    let running = session.running(id).zip(session.definition().step(id));
    let (run, step) = running.ok_or_else(|| format!("step `{id}` does not run"))?;
    let item = session.unrecorded(run).ok_or_else(|| format!("step `{id}` has nothing to record"))?;
    let summary = item.stage_description();
    let artifact = [("id".to_owned(), step.made_id().into()), ("summary".to_owned(), summary.into())];
    let before = session.made.get(step.made_id()).and_then(|made| made.recorded.version);
    Ok(vec![Event::ArtifactRecorded(ArtifactRecorded {
        artifact: Map::from_iter(artifact),
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
    let back = found.and_then(|found| Some((found, found.completed()?)));
    let (found, back) = back.ok_or_else(|| format!("`{item}` is no completed review"))?;
    feedback(session, found, &back.data, now)
}

/// The events of a feedback that are not on record yet.
pub fn feedback(session: &Session, item: &WorkItem, data: &Value, now: Timestamp) -> DecideResult {
    let id = &item.offered.item;
    let context = item.offered.task.as_ref().and_then(|task| task.review_context.as_ref());
    let context = context.ok_or_else(|| format!("`{id}` is no review"))?;
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

/// The tasks of which the work items that were looked at have asked for evidence.
#[derive(Default)]
pub struct RequestedEvidence {
    pub tasks: Arc<HashSet<String>>,
    looked_at: usize,
}

impl RequestedEvidence {
    /// Looks at the work items that were offered since the last look.
    pub fn look(&mut self, session: &Session) {
        let Some(definition) = &session.definition else { return };
        let offered = session.items.values().skip(self.looked_at).map(|item| &item.offered);
        for offered in offered.filter(|offered| offered.model != TRACKER) {
            let rules = offered.task.as_ref().and_then(|task| task.rules.as_deref());
            let asked = session.agent_prompt(offered).1 + rules.unwrap_or_default();
            if asked.to_lowercase().contains("evidence") {
                let named = definition.tasks.iter().filter(|task| names_whole(&asked, &task.id));
                Arc::make_mut(&mut self.tasks).extend(named.map(|task| task.id.clone()));
            }
        }
        self.looked_at = session.items.len();
    }
}

fn names_whole(text: &str, id: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    text.match_indices(id)
        .any(|(at, _)| !text[..at].ends_with(is_word) && !text[at + id.len()..].starts_with(is_word))
}

pub fn record_task(session: &Session, item: &str, error: Option<String>) -> DecideResult {
    let unwritten = session.unwritten_tasks().into_iter().find(|unwritten| unwritten.item == item);
    let (Some(UnwrittenTask { step, item, mark }), Some(file)) = (unwritten, session.tasks_file()) else {
        return refuse(format!("`{item}` left nothing to write of the tasks' state"));
    };
    let (task, status, file) = (mark.task, mark.status, state_file(file));
    Ok(vec![Event::TaskWritten(TaskWritten { step, item, task, status, file, error })])
}

#[cfg(test)]
mod tests {
    use super::names_whole;

    #[test]
    fn an_id_is_named_whole_or_not_at_all() {
        for (text, is_named) in [
            ("Give evidence that APP-1 works.", true),
            ("(APP-1), then", true),
            ("Give evidence that APP-15 works.", false),
            ("MYAPP-1 and APP-1-b and APP-1_c", false),
        ] {
            assert_eq!(names_whole(text, "APP-1"), is_named, "{text}");
        }
    }
}
