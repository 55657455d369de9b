//! The end of a session: when it may close, its status and its reason.

use serde_json::json;

use crate::core::command::{DecideResult, refuse};
use crate::core::exit_code::exit_code;
use crate::history::{Event, Session, SessionClosed, Status, StepFinished, Timestamp};
use crate::workflow::{Definition, Step, StepKind};

pub(crate) fn time_is_up(session: &Session, definition: &Definition, now: Timestamp) -> Option<Event> {
    let limit = definition.max_duration_ms.filter(|limit| session.ran_ms(now) >= *limit)?;
    let reason = format!("the session's time is up: `max_duration` is {limit} ms");
    Some(close(session, Status::Stopped, Some(reason)))
}

pub(crate) fn close_session(session: &Session, definition: &Definition, now: Timestamp) -> DecideResult {
    if let Some(run) = &session.step {
        return refuse(format!("step `{}` still runs", run.id));
    }
    if session.due_synthesis().is_some() {
        return refuse("the note that a step wrote is not on record");
    }
    if let Some(step) = &session.stopped_at {
        let reason =
            format!("stopped by the facilitator: step `{step}` had run as often as `max_runs` allows");
        return Ok(vec![close(session, Status::Failed, Some(reason))]);
    }
    if session.next_step().is_some() {
        if session.iterations < definition.max_iterations {
            return refuse("a step is left to run");
        }
        let reason = format!("stopped after {} steps: `max_iterations`", definition.max_iterations);
        return Ok(vec![close(session, Status::Failed, Some(reason))]);
    }
    if let Some(stop) = time_is_up(session, definition, now) {
        return Ok(vec![stop]);
    }
    let last =
        session.finished_step.as_ref().and_then(|id| Some((definition.step(id)?, session.results.get(id)?)));
    let unheard = unheard_no(session, definition);
    let is_refused = |step: &Step, result: &StepFinished| {
        matches!(step.kind, StepKind::Approval(_)) && result.success && result.data["approved"] != json!(true)
    };
    let (status, reason) = match last {
        _ if unheard.is_some() => (Status::Rejected, unheard),
        _ if session.taken => (Status::Finished, None),
        Some((step, result)) if is_refused(step, result) => (Status::Rejected, None),
        Some((step, result)) if step.round().is_none() && !result.success => {
            (Status::Failed, result.error.clone())
        }
        Some(_) | None => (Status::Finished, None),
    };
    Ok(vec![close(session, status, reason)])
}

/// A no of the facilitator inside another step that failed by it, where nothing in the definition asks
/// how that ended.
fn unheard_no(session: &Session, definition: &Definition) -> Option<String> {
    let is_asked = |around: &Step| {
        around.on_error.is_some()
            || definition.steps.iter().any(|step| {
                if let StepKind::Condition(branch) = &step.kind {
                    branch.condition.steps().any(|key| key == around.key())
                } else {
                    false
                }
            })
    };
    definition.steps.iter().find_map(|step| {
        session.results.get(&step.id).filter(|result| !result.success)?;
        let mut approvals =
            step.all().into_iter().filter(|inner| matches!(inner.kind, StepKind::Approval(_)));
        let is_no = |inner: &&Step| {
            let last = session.approvals.iter().rev().find(|asked| asked.given.step == inner.id);
            last.is_some_and(|asked| !asked.given.approved)
        };
        let no = approvals.find(is_no).filter(|_| !is_asked(step))?;
        Some(format!("`{}` was rejected", no.id))
    })
}

pub(crate) fn close(session: &Session, status: Status, reason: Option<String>) -> Event {
    Event::SessionClosed(SessionClosed { status, reason, exit_code: exit_code(session, status) as u8 })
}
