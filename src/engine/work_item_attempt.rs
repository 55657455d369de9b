//! One attempt at a work item: ask, parse, re-ask once if invalid, return.
//!
//! The result is data or the reason of a failure, with every reply unchanged.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, timeout};

use crate::handoff::FormFacts;
use crate::history::{ItemStatus, WorkItemReturned};
use crate::participants::{Finish, Participant, Reply, SeatRequest, lock};
use crate::round::answer::{AnswerRecord, ReplyAttempt};
use crate::workflow::{OutputSchema, is_feedback, read_answer};

pub struct AttemptLimits {
    pub step: String,
    pub schema: Option<OutputSchema>,
    pub facts: Option<FormFacts>,
    /// Set for a review, in which an answer without feedback is invalid.
    pub needs_feedback: bool,
    pub timeout: Option<Duration>,
}

pub async fn run_attempt(
    participant: Arc<dyn Participant>,
    ask: SeatRequest,
    item: String,
    terms: AttemptLimits,
) -> WorkItemReturned {
    let started = Instant::now();
    let mut transcript = AnswerRecord::default();
    let limit = terms.timeout.unwrap_or(Duration::MAX);
    let agent = ask.seat.clone();
    let task = ask.task.clone();
    let late = |_| Err(format!("Step '{}' timed out after {}ms", terms.step, limit.as_millis()));
    let result =
        timeout(limit, converse(&*participant, ask, &terms, &mut transcript)).await.unwrap_or_else(late);
    transcript.tries = transcript.tries.max(1);
    transcript.latency_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let ended = task.map(|task| std::mem::take(&mut *lock(&task.ended))).unwrap_or_default();
    let text =
        |bytes: &[u8]| Some(String::from_utf8_lossy(bytes).into_owned()).filter(|text| !text.is_empty());
    let stdout = text(&ended.stdout).filter(|_| result.is_err());
    WorkItemReturned {
        exit_status: ended.status,
        stderr: text(&ended.stderr),
        stdout,
        ..returned(agent, item, result, transcript)
    }
}

/// Returns the result of an attempt that failed by an internal error.
pub fn internal_error(agent: String, item: String) -> WorkItemReturned {
    let why = "internal error while asking this agent".to_owned();
    returned(agent, item, Err(why), AnswerRecord { tries: 1, ..AnswerRecord::default() })
}

pub fn returned(
    participant: String,
    item: String,
    result: Result<Value, String>,
    record: AnswerRecord,
) -> WorkItemReturned {
    let (status, data, error) = match result {
        Ok(data) => (ItemStatus::Completed, data, None),
        Err(error) => (ItemStatus::Failed, Value::Null, Some(error)),
    };
    WorkItemReturned { participant, item, status, data, error, record, ..WorkItemReturned::default() }
}

/// Asks, and re-asks once with the reason if the first answer is invalid.
async fn converse(
    participant: &dyn Participant,
    mut ask: SeatRequest,
    terms: &AttemptLimits,
    transcript: &mut AnswerRecord,
) -> Result<Value, String> {
    loop {
        let reply = participant.ask(&ask).await.map_err(|failure| {
            transcript.add_failure(&failure);
            let before = transcript.replies.last().and_then(|reply| reply.reason.as_ref());
            let before = before.map(|before| format!("{before}; asked again: ")).unwrap_or_default();
            before + failure.full_reason()
        })?;
        transcript.add(&reply);
        let is_exit = ask.task.as_ref().is_some_and(|task| lock(&task.ended).is_exit_data);
        let without_answer = transcript.replies.last().and_then(ReplyAttempt::without_answer);
        let reason = match without_answer.map_or_else(|| judge(&reply, terms, is_exit), Err) {
            Ok(data) => return Ok(data),
            Err(reason) => reason,
        };
        if let Some(last) = transcript.replies.last_mut() {
            last.reason = Some(reason.clone());
        }
        if reply.finish == Finish::Refusal || !transcript.ask_again(&mut ask, &reason) {
            return Err(reason);
        }
    }
}

/// Parses a reply and checks it. An exit status is accepted unchecked, except in a review.
pub fn judge(reply: &Reply, terms: &AttemptLimits, is_exit: bool) -> Result<Value, String> {
    if let Some(fault) = reply.finish.problem() {
        return Err(fault.to_owned());
    }
    let data = read_answer(&reply.text)?;
    if is_exit && !terms.needs_feedback {
        return Ok(data);
    }
    if let Some(schema) = &terms.schema {
        let what = if terms.needs_feedback { "the verdict of a review" } else { "`output_schema`" };
        schema.check(&data).map_err(|why| format!("the answer does not fit {what}: {why}"))?;
    }
    if let Some(facts) = &terms.facts {
        facts.check(&data).map_err(|why| format!("the answer does not fit its form: {why}"))?;
    }
    if terms.needs_feedback && !is_feedback(&data) {
        return Err("a review needs feedback, and there is none".to_owned());
    }
    Ok(data)
}
