//! Routes for links: the ballot page and its requests.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::stream::{Stream, unfold};
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tokio::sync::OwnedSemaphorePermit;

use super::http::{Body, HttpDoor, Invited, Shared, read};
use crate::core::Refusal;
use crate::engine::{Accepted, Message};
use crate::history::{Receipt, RefusalWord, SeatJoined};
use crate::round::envelope::Envelope;

const PAGE: &str = include_str!("page.html");
/// Test ballot; a browser must seal it to the expected bytes before it seals anything else.
const VECTOR: &str = include_str!("vector.json");

pub async fn page() -> impl IntoResponse {
    let page = PAGE.replace("/*VECTOR*/null", VECTOR.trim_end());
    let hash_of = |tag: &str| {
        let inner = page.split(&format!("<{tag}>")).nth(1).and_then(|rest| rest.split("</").next());
        STANDARD.encode(Sha256::digest(inner.unwrap_or_default()))
    };
    let policy = format!(
        "default-src 'none'; connect-src 'self'; script-src 'sha256-{}'; style-src 'sha256-{}'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
        hash_of("script"),
        hash_of("style")
    );
    let headers =
        [(header::CONTENT_SECURITY_POLICY, policy), (header::REFERRER_POLICY, "no-referrer".to_owned())];
    (headers, Html(page))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LinkKey {
    public_key: String,
}

pub async fn join(invited: Invited, State(door): Shared, body: Body) -> Result<StatusCode, Refusal> {
    let LinkKey { public_key: key } = read(body)?;
    let Invited { seat: participant, invitation } = invited;
    door.hand_in(Message::Join(SeatJoined { participant, invitation, key })).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub async fn seat(Invited { seat, .. }: Invited, State(door): Shared) -> Response {
    match door.board.offer(&seat, crate::clock::now()) {
        Ok((json, signature)) => {
            let of = [("content-type", "application/json"), ("rt-signature", signature.as_str())];
            (of, json).into_response()
        }
        Err(state) => Json(state).into_response(),
    }
}

pub async fn sealed(
    Invited { seat, .. }: Invited,
    State(door): Shared,
    body: Body,
) -> Result<Response, Refusal> {
    let body = body.map_err(|_| RefusalWord::TooLong)?;
    let envelope = Envelope::read(&body).ok_or(RefusalWord::Malformed)?;
    if envelope.binding.participant != seat {
        return Err(RefusalWord::NotAParticipant.into());
    }
    // The earlier response may have been lost.
    let is_same = |known: &Receipt| {
        known.commitment == envelope.seal.commitment && known.round == envelope.binding.round
    };
    if let Some(known) = door.board.receipt(&seat).filter(is_same) {
        return Ok(Json(known).into_response());
    }
    door.hand_in(Message::Ballot(Box::new(envelope))).await.map(sealed_as)
}

/// Responds with a receipt: status 201 if it is new, else 200.
pub fn sealed_as(accepted: Accepted) -> Response {
    match accepted {
        Accepted::Sealed(receipt, true) => (StatusCode::CREATED, Json(receipt)).into_response(),
        Accepted::Sealed(receipt, false) => Json(receipt).into_response(),
        Accepted::Done | Accepted::Returned(_) => StatusCode::NO_CONTENT.into_response(),
    }
}

pub async fn result(Invited { seat, .. }: Invited, State(door): Shared) -> Result<Json<Value>, Refusal> {
    door.board.mark_informed(&seat);
    door.board.result(&seat).map(Json).ok_or(RefusalWord::NotBeforeTheClose.into())
}

pub async fn context(
    _: Invited,
    State(door): Shared,
    sha256: Result<Path<String>, PathRejection>,
) -> Result<String, Refusal> {
    let found = sha256.ok().and_then(|Path(sha256)| door.board.snapshot(&sha256));
    found.map(|text| text.to_string()).ok_or(RefusalWord::NoSuchSnapshot.into())
}

pub async fn status(_: Invited, State(door): Shared) -> Response {
    Json(door.board.status(crate::clock::now())).into_response()
}

pub async fn events(
    Invited { invitation, .. }: Invited,
    State(door): Shared,
) -> Result<impl IntoResponse, Refusal> {
    let place = door.stream(invitation).ok_or(RefusalWord::TooManyTries)?;
    Ok(Sse::new(states(door, place)).keep_alive(KeepAlive::default()))
}

/// Streams the status of the round, now and after each change.
fn states(door: Arc<HttpDoor>, place: OwnedSemaphorePermit) -> impl Stream<Item = Result<Event, Infallible>> {
    let mut changes = door.board.changes();
    changes.mark_changed();
    unfold((door, changes, place), |(door, mut changes, place)| async move {
        changes.changed().await.ok()?;
        let state = door.board.status(crate::clock::now()).to_string();
        Some((Ok(Event::default().event("status").data(state)), (door, changes, place)))
    })
}
