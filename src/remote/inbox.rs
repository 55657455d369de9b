//! Routes for polling agents: offers, claims and results.
//!
//! An agent sees only its own open work. In a path, the slashes of a work item's id may be written as `/` or
//! `%2F`.

use std::time::Duration;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::http::{Body, HttpDoor, Invited, Shared, malformed, read};
use super::links::sealed_as;
use crate::core::Refusal;
use crate::engine::{Accepted, Message, Work, WorkMessage};
use crate::history::RefusalWord;

/// Longest wait of a poll, in seconds.
pub const LONGEST_WAIT: u64 = 30;
const LONGEST_HOLDER: usize = 100;
/// Longest reason for failed work, in characters.
pub const LONGEST_REASON: usize = 4000;
/// Interval at which a poll checks for expired leases; other changes wake it.
const LOOK: Duration = Duration::from_secs(1);

pub async fn poll(
    Invited { seat: agent, .. }: Invited,
    State(door): Shared,
    RawQuery(query): RawQuery,
) -> Result<Json<Value>, Refusal> {
    let wait = query.as_deref().map_or(Some("0"), |query| query.strip_prefix("wait="));
    let Some(wait) = wait.and_then(|wait| wait.parse::<u64>().ok()) else {
        return Err(malformed("expected `wait`, a number of seconds"));
    };
    let end = Instant::now() + Duration::from_secs(wait.min(LONGEST_WAIT));
    let mut changes = door.board.changes();
    loop {
        changes.mark_unchanged();
        let items = door.board.open_work(&agent, crate::clock::now());
        let is_over = door.board.is_over();
        if is_over {
            door.board.mark_informed(&agent);
        }
        if !items.is_empty() || is_over || Instant::now() >= end {
            return Ok(Json(json!({ "items": items, "over": is_over })));
        }
        let _ = timeout_at(end.min(Instant::now() + LOOK), changes.changed()).await;
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    holder: Option<String>,
    /// Text or data.
    result: Option<Value>,
    reason: Option<String>,
    answer: Option<Value>,
    /// Corrects an earlier answer.
    again: Option<bool>,
}

/// Claims, renews, completes, fails or answers a work item.
pub async fn item(
    Invited { seat: agent, .. }: Invited,
    State(door): Shared,
    rest: Result<Path<String>, PathRejection>,
    body: Body,
) -> Result<Response, Refusal> {
    let about = rest.as_ref().ok().and_then(|Path(rest)| rest.rsplit_once('/'));
    let (item, verb) = about.ok_or(RefusalWord::NoSuchPage)?;
    hand_in(&door, read_work(agent, item, verb, body)?).await
}

fn read_work(agent: String, item: &str, verb: &str, body: Body) -> Result<WorkMessage, Refusal> {
    let About { holder, result, reason, answer, again } = read(body)?;
    let holder = holder.unwrap_or_else(|| agent.clone());
    let is_short = |text: &str, most: usize| (1..=most).contains(&text.trim().chars().count());
    if !is_short(&holder, LONGEST_HOLDER) || holder.contains(char::is_control) {
        return Err(malformed("`holder` is a name of up to 100 characters"));
    }
    let work = match (verb, result, reason, answer) {
        ("claim", None, None, None) => Work::Claim,
        ("renew", None, None, None) => Work::Renew,
        ("result", Some(result), None, None) => Work::Return(text_of(result)),
        ("answer", None, None, Some(answer)) => {
            Work::Answer { text: text_of(answer), again: again == Some(true) }
        }
        ("fail", None, Some(reason), None) if is_short(&reason, LONGEST_REASON) => Work::Fail(reason),
        ("fail", ..) => return Err(malformed("`reason` says why, in up to 4000 characters")),
        ("result" | "answer", ..) => return Err(malformed(&format!("`{verb}` needs a text or data"))),
        ("claim" | "renew", ..) => return Err(malformed("only `holder` can be given")),
        _ => return Err(RefusalWord::NoSuchPage.into()),
    };
    Ok(WorkMessage { participant: agent, holder, item: item.to_owned(), work })
}

/// Returns a result as text; data becomes JSON.
fn text_of(result: Value) -> String {
    match result {
        Value::String(text) => text,
        data => data.to_string(),
    }
}

async fn hand_in(door: &HttpDoor, message: WorkMessage) -> Result<Response, Refusal> {
    let (agent, item) = (message.participant.clone(), message.item.clone());
    if let Work::Answer { text, .. } = &message.work {
        // The earlier response may have been lost.
        if let Some(known) = door.board.receipt_of_text(&agent, &item, text) {
            return Ok(Json(known).into_response());
        }
        return door.hand_in(Message::Work(message)).await.map(sealed_as);
    }
    let accepted = door.hand_in(Message::Work(message)).await;
    // After the session's end, nothing is offered.
    let is_over = accepted == Err(RefusalWord::RoundClosed.into());
    let accepted = if is_over { Err(RefusalWord::NotOffered.into()) } else { accepted };
    if let Accepted::Returned(state) = accepted? {
        return Ok(Json(json!({ "item": item, "state": state })).into_response());
    }
    let claimed = door.board.claimed(&agent, &item).ok_or(RefusalWord::NotOffered)?;
    Ok(Json(claimed).into_response())
}
