//! The routes of agents that poll: their own offers, claims, and what comes back.
//!
//! An agent sees its own open work alone. The id of a work item holds slashes; in a path they may stand as
//! they are, or as `%2F`.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};

use super::http::{Agent, Body, Door, Shared, hand_in, refused};
use crate::core::Refusal;
use crate::engine::{Accepted, Message, PlainAnswer, Work, WorkMessage};
use crate::history::RefusalWord;

/// The longest wait of a poll, in seconds.
const LONGEST_WAIT: u64 = 30;
const MOST_ITEMS: usize = 100;
const LONGEST_HOLDER: usize = 100;
/// The most characters of the reason why work failed.
const LONGEST_REASON: usize = 4000;
/// A poll checks expired leases so often; everything else wakes it.
const LOOK: Duration = Duration::from_secs(1);

fn read<T: DeserializeOwned>(body: Body) -> Result<T, Refusal> {
    let body = body.map_err(|_| Refusal::from(RefusalWord::TooLong))?;
    // No body says as much as an empty object.
    let json: &[u8] = if body.is_empty() { b"{}" } else { &body };
    serde_json::from_slice(json).map_err(|error| malformed(&error.to_string()))
}

fn malformed(why: &str) -> Refusal {
    Refusal::Because(RefusalWord::Malformed, why.to_owned())
}

/// Returns the holder of a claim: the agent, unless it has several workers.
fn holder(named: Option<String>, agent: &str) -> Result<String, Refusal> {
    let holder = named.unwrap_or_else(|| agent.to_owned());
    let is_name = !holder.trim().is_empty()
        && holder.chars().count() <= LONGEST_HOLDER
        && !holder.contains(char::is_control);
    if is_name { Ok(holder) } else { Err(malformed("`holder` is a name of up to 100 characters")) }
}

/// `wait` and `max` of a poll.
fn of_query(query: Option<&str>) -> Result<(u64, usize), Refusal> {
    let (mut wait, mut max) = (0, MOST_ITEMS);
    for (key, value) in query.unwrap_or_default().split('&').filter_map(|pair| pair.split_once('=')) {
        let number = value.parse().map_err(|_| malformed(&format!("`{key}` is a number")))?;
        match key {
            "wait" => wait = number,
            "max" => max = usize::try_from(number).unwrap_or(usize::MAX),
            _ => return Err(malformed(&format!("unknown key `{key}`"))),
        }
    }
    Ok((wait.min(LONGEST_WAIT), max.min(MOST_ITEMS)))
}

pub async fn poll(Agent(agent): Agent, State(door): Shared, RawQuery(query): RawQuery) -> Response {
    let (wait, max) = match of_query(query.as_deref()) {
        Ok(asked) => asked,
        Err(word) => return refused(word),
    };
    let end = Instant::now() + Duration::from_secs(wait);
    let mut changes = door.board.changes();
    loop {
        changes.mark_unchanged();
        let items = door.board.open_work(&agent, crate::clock::now(), max);
        let is_over = door.board.is_over();
        if !items.is_empty() || is_over || Instant::now() >= end {
            return Json(json!({ "items": items, "over": is_over })).into_response();
        }
        let _ = timeout_at(end.min(Instant::now() + LOOK), changes.changed()).await;
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Take {
    holder: Option<String>,
    max: Option<usize>,
}

pub async fn take(Agent(participant): Agent, State(door): Shared, body: Body) -> Response {
    let taken = async {
        let asked: Take = read(body)?;
        let max = asked.max.unwrap_or(1).min(MOST_ITEMS);
        let holder = holder(asked.holder, &participant)?;
        let accepted = match send(&door, &participant, holder, Work::Take(max)).await {
            Err(_) if door.board.is_over() => Accepted::Claimed(Vec::new()),
            sent => sent?,
        };
        let Accepted::Claimed(items) = accepted else { return Err(malformed("nothing was claimed")) };
        let items: Vec<Value> = items.iter().filter_map(|item| door.board.work(&participant, item)).collect();
        Ok(Json(json!({ "items": items, "over": door.board.is_over() })).into_response())
    };
    taken.await.unwrap_or_else(refused)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    holder: Option<String>,
    /// A text, or data.
    result: Option<Value>,
    reason: Option<String>,
    /// The answer to a round: a text, or data.
    answer: Option<Value>,
    /// The answer corrects an earlier one.
    again: Option<bool>,
}

/// Claims, renews, completes or gives up one work item.
pub async fn item(
    Agent(participant): Agent,
    State(door): Shared,
    rest: Result<Path<String>, PathRejection>,
    body: Body,
) -> Response {
    let about = rest.as_ref().ok().and_then(|Path(rest)| rest.rsplit_once('/'));
    let Some((item, verb)) = about else { return refused(RefusalWord::NoSuchPage) };
    of_item(&door, participant, item, verb, body).await.unwrap_or_else(refused)
}

async fn of_item(
    door: &Arc<Door>,
    participant: String,
    item: &str,
    verb: &str,
    body: Body,
) -> Result<Response, Refusal> {
    let About { holder: named, result, reason, answer, again } = read(body)?;
    let item = item.to_owned();
    let holder = holder(named, &participant)?;
    if let ("answer", Some(answer), None, None) = (verb, answer, &result, &reason) {
        let text = text_of(answer);
        // The reply to it may have been lost.
        if let Some(known) = door.board.receipt_of_text(&participant, &item, &text) {
            return Ok(Json(known).into_response());
        }
        let answer = PlainAnswer { participant, holder, item, text, again: again == Some(true) };
        let Accepted::Sealed(receipt, is_new) = hand_in(door, Message::Answer(answer)).await? else {
            return Err(malformed("it was not sealed"));
        };
        let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
        return Ok((status, Json(receipt)).into_response());
    }
    let work = match (verb, result, reason) {
        ("claim", None, None) => Work::Claim(item.clone()),
        ("renew", None, None) => Work::Renew(item.clone()),
        ("result", Some(result), None) => Work::Return(item.clone(), text_of(result)),
        ("result", ..) => return Err(malformed("`result` holds a text or data")),
        ("fail", None, Some(reason)) if (1..=LONGEST_REASON).contains(&reason.trim().chars().count()) => {
            Work::Fail(item.clone(), reason)
        }
        ("fail", ..) => return Err(malformed("`reason` says why, in up to 4000 characters")),
        ("answer", ..) => return Err(malformed("`answer` holds a text or data")),
        ("claim" | "renew", ..) => return Err(malformed("only `holder` can be given")),
        _ => return Err(RefusalWord::NoSuchPage.into()),
    };
    match send(door, &participant, holder, work).await? {
        Accepted::Claimed(_) => {
            let work = door.board.work(&participant, &item).ok_or(RefusalWord::NotOffered)?;
            Ok(Json(work).into_response())
        }
        Accepted::Returned(state) => Ok(Json(json!({ "item": item, "state": state })).into_response()),
        Accepted::Joined | Accepted::Failed | Accepted::Sealed(..) => {
            Ok(StatusCode::NO_CONTENT.into_response())
        }
    }
}

/// A result as the text that is read: data as JSON.
fn text_of(result: Value) -> String {
    match result {
        Value::String(text) => text,
        data => data.to_string(),
    }
}

async fn send(door: &Door, participant: &str, holder: String, work: Work) -> Result<Accepted, Refusal> {
    let message = WorkMessage { participant: participant.to_owned(), holder, work };
    let sent = hand_in(door, Message::Work(message)).await;
    // Nothing is offered once the session is over.
    let is_over = |refusal: &Refusal| *refusal == RefusalWord::RoundClosed.into();
    sent.map_err(|refusal| if is_over(&refusal) { RefusalWord::NotOffered.into() } else { refusal })
}
