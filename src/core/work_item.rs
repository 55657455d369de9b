//! Claims on work items: taken, renewed, returned. And what the tracker's items make of the tasks.
//!
//! One state machine for every worker: of two claims one wins, a lease that ran out is offered
//! again, and every refusal says which one it is. Times are arguments.

use std::collections::HashSet;
use std::sync::Arc;

use super::command::{DecideResult, Refusal, refuse as refuse_command};
use super::decide::review::{feedback, is_review};
use crate::history::{
    Event, ItemStatus, LEASE_MS, RefusalWord, Session, TaskWritten, Timestamp, UnwrittenTask, WorkItem,
    WorkItemClaimed, WorkItemReturned,
};
use crate::round::answer::Origin;
use crate::workflow::{TRACKER, is_feedback, state_file};

fn refuse<T>(word: RefusalWord, detail: String) -> Result<T, Refusal> {
    Err(Refusal::Because(word, detail))
}

/// The item, if it is `participant`'s and still open.
fn own_item<'a>(session: &'a Session, item: &str, participant: &str) -> Result<&'a WorkItem, Refusal> {
    if session.seat_info(participant).is_none() {
        return refuse(RefusalWord::NotAParticipant, format!("`{participant}`"));
    }
    match session.items.get(item).filter(|found| found.offered.participant == participant) {
        Some(found) if found.outcome().is_none() => Ok(found),
        _ => refuse(RefusalWord::NotOffered, format!("work item `{item}` to `{participant}`")),
    }
}

/// A claim: the first wins, and asking again changes nothing for its holder.
pub fn claim(
    session: &Session,
    item: &str,
    participant: &str,
    holder: Option<String>,
    now: Timestamp,
) -> Result<Vec<Event>, Refusal> {
    let found = own_item(session, item, participant)?;
    if let Some(claim) = found.claim.as_ref().filter(|_| found.is_held(now)) {
        if claim.holder == holder {
            return Ok(Vec::new());
        }
        return refuse(RefusalWord::AlreadyClaimed, format!("work item `{item}` until {}", claim.until));
    }
    let wait = found.wait_ms(now);
    if wait > 0 {
        return refuse(RefusalWord::NotOffered, format!("work item `{item}` for another {wait} ms"));
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

/// The item, if `holder` holds it at `now`.
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
            refuse(RefusalWord::NotLeaseHolder, format!("of work item `{item}`"))
        }
        None => {
            refuse(RefusalWord::NotLeaseHolder, format!("of work item `{item}`, which nobody has claimed"))
        }
        Some(claim) if !found.is_held(now) => {
            refuse(RefusalWord::LeaseExpired, format!("of work item `{item}` at {}", claim.until))
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
) -> Result<Vec<Event>, Refusal> {
    let found = held(session, item, participant, holder.as_deref(), now)?;
    Ok(vec![claimed(found, holder, now)])
}

/// What came back, from the holder of the claim alone.
pub fn record_return(
    session: &Session,
    back: WorkItemReturned,
    holder: Option<&str>,
    now: Timestamp,
) -> Result<Vec<Event>, Refusal> {
    let found = held(session, &back.item, &back.participant, holder, now)?;
    let is_review = is_review(found);
    if is_review && back.status == ItemStatus::Completed && !is_feedback(&back.data) {
        return refuse(
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

/// Whether a text names an id, and not one that it is a part of.
fn names_whole(text: &str, id: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    text.match_indices(id)
        .any(|(at, _)| !text[..at].ends_with(is_word) && !text[at + id.len()..].starts_with(is_word))
}

/// That a task's state is written as the tracker left it, or why not.
pub fn record_task(session: &Session, item: &str, error: Option<String>) -> DecideResult {
    let unwritten = session.unwritten_tasks().into_iter().find(|unwritten| unwritten.item == item);
    let (Some(UnwrittenTask { step, item, mark }), Some(file)) = (unwritten, session.tasks_file()) else {
        return refuse_command(format!("`{item}` left nothing to write of the tasks' state"));
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
