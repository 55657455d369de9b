//! The door of links: the ballot page and what it asks, over HTTP.
//!
//! Every refusal is JSON with the word in `refused`. The token of a link is sent as a bearer token, in no
//! cookie, so that another page cannot make a browser send it.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Path, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::stream::{Stream, unfold};
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tokio::sync::{mpsc, oneshot};

use super::board::Board;
use super::entrance::Peer;
use super::limits::Limits;
use crate::core::refusal;
use crate::engine::{Accepted, Arrival, Message};
use crate::history::{Receipt, SeatJoined};
use crate::round::envelope::{Envelope, MAX_ENVELOPE};
use crate::round::snapshot::sha256_hex;

const PAGE: &str = include_str!("page.html");
/// What a browser must seal byte for byte before it seals anything.
const VECTOR: &str = include_str!("vector.json");
/// How long a request may take, its body included.
const PATIENCE: Duration = Duration::from_secs(30);

/// What the routes share.
pub struct Door {
    pub board: Arc<Board>,
    pub arrivals: mpsc::Sender<Arrival>,
    limits: Limits,
}

impl Door {
    pub fn new(board: Arc<Board>, arrivals: mpsc::Sender<Arrival>) -> Self {
        Self { board, arrivals, limits: Limits::default() }
    }
}

type Shared = State<Arc<Door>>;

/// The routes of a door.
pub fn router(door: Arc<Door>) -> Router {
    Router::new()
        .route("/b", get(page))
        .route("/v1/seat/key", post(join))
        .route("/v1/seat", get(seat))
        .route("/v1/seat/sealed", post(sealed))
        .route("/v1/seat/result", get(result))
        .route("/v1/context/{sha256}", get(context))
        .route("/v1/status", get(status))
        .route("/v1/events", get(events))
        .fallback(|| async { (StatusCode::NOT_FOUND, Json(json!({ "refused": "no such page" }))) })
        .layer(DefaultBodyLimit::max(MAX_ENVELOPE))
        .layer(from_fn(in_time))
        .with_state(door)
}

async fn in_time(request: Request, next: Next) -> Response {
    match tokio::time::timeout(PATIENCE, next.run(request)).await {
        Ok(response) => response,
        Err(_) => (StatusCode::REQUEST_TIMEOUT, Json(json!({ "refused": "too slow" }))).into_response(),
    }
}

/// A refusal with its word and status.
fn refused(word: &str) -> Response {
    let status = match word {
        refusal::NO_SUCH_INVITATION => StatusCode::UNAUTHORIZED,
        refusal::NOT_A_PARTICIPANT => StatusCode::FORBIDDEN,
        "no such snapshot" => StatusCode::NOT_FOUND,
        refusal::ROUND_CLOSED | refusal::SEAT_EXCUSED => StatusCode::GONE,
        refusal::TOO_LONG => StatusCode::PAYLOAD_TOO_LARGE,
        refusal::MALFORMED | refusal::BAD_SIGNATURE | refusal::BAD_LENGTH => StatusCode::UNPROCESSABLE_ENTITY,
        TOO_MANY => StatusCode::TOO_MANY_REQUESTS,
        GONE => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::CONFLICT,
    };
    (status, Json(json!({ "refused": word }))).into_response()
}

const TOO_MANY: &str = "too many tries";
/// The session rests, or could not write to its file.
const GONE: &str = "the session is not running";

/// The seat and the invitation that a request's token is for.
fn invited(door: &Door, headers: &HeaderMap, peer: &Peer) -> Result<(String, String), &'static str> {
    const MOST_OF_A_TOKEN: u32 = 10;
    const MOST_WRONG: u32 = 5;
    let token = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = token.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    let invitation = sha256_hex(token);
    let now = crate::clock::now();
    let second = now.0 / 1000;
    let Some(seat) = door.board.seat_of(&invitation, now) else {
        let address = peer.0.ip().to_string();
        let is_few = door.limits.allows(&address, MOST_WRONG, second);
        return Err(if is_few { refusal::NO_SUCH_INVITATION } else { TOO_MANY });
    };
    if door.limits.allows(&invitation, MOST_OF_A_TOKEN, second) {
        Ok((seat, invitation))
    } else {
        Err(TOO_MANY)
    }
}

/// Hands something to the engine, and waits until what became of it is on disk.
async fn hand_in(door: &Door, message: Message) -> Result<Accepted, String> {
    let (answer, answered) = oneshot::channel();
    let gone = || if door.board.is_over() { refusal::ROUND_CLOSED } else { GONE }.to_owned();
    door.arrivals.send(Arrival { message, answer }).await.map_err(|_| gone())?;
    match answered.await {
        Ok(accepted) => accepted,
        Err(_) => Err(gone()),
    }
}

async fn page() -> impl IntoResponse {
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
    let headers = [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::CACHE_CONTROL, "no-store".to_owned()),
        (header::REFERRER_POLICY, "no-referrer".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
    ];
    (headers, Html(page))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Key {
    public_key: String,
}

type Body = Result<Bytes, BytesRejection>;

async fn join(
    State(door): Shared,
    ConnectInfo(peer): ConnectInfo<Peer>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let (participant, invitation) = match invited(&door, &headers, &peer) {
        Ok(invited) => invited,
        Err(word) => return refused(word),
    };
    let key = body.ok().and_then(|body| serde_json::from_slice::<Key>(&body).ok());
    let Some(Key { public_key: key }) = key else { return refused(refusal::MALFORMED) };
    match hand_in(&door, Message::Join(SeatJoined { participant, invitation, key })).await {
        Ok(_) => StatusCode::NO_CONTENT.into_response(),
        Err(word) => refused(&word),
    }
}

async fn seat(State(door): Shared, ConnectInfo(peer): ConnectInfo<Peer>, headers: HeaderMap) -> Response {
    match invited(&door, &headers, &peer) {
        Err(word) => refused(word),
        Ok((seat, _)) => match door.board.offer(&seat, crate::clock::now()) {
            Ok((json, signature)) => {
                let of = [("content-type", "application/json"), ("rt-signature", signature.as_str())];
                (of, json).into_response()
            }
            Err(state) => Json(state).into_response(),
        },
    }
}

async fn sealed(
    State(door): Shared,
    ConnectInfo(peer): ConnectInfo<Peer>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let participant = match invited(&door, &headers, &peer) {
        Ok((participant, _)) => participant,
        Err(word) => return refused(word),
    };
    let Ok(body) = body else { return refused(refusal::TOO_LONG) };
    let Some(envelope) = Envelope::read(&body) else { return refused(refusal::MALFORMED) };
    if envelope.participant != participant {
        return refused(refusal::NOT_A_PARTICIPANT);
    }
    // The reply to it may have been lost.
    let is_same = |known: &Receipt| known.commitment == envelope.commitment && known.round == envelope.round;
    if let Some(known) = door.board.receipt(&participant).filter(is_same) {
        return Json(known).into_response();
    }
    match hand_in(&door, Message::Ballot(Box::new(envelope))).await {
        Ok(Accepted::Sealed(receipt, true)) => (StatusCode::CREATED, Json(receipt)).into_response(),
        Ok(Accepted::Sealed(receipt, false)) => Json(receipt).into_response(),
        Ok(Accepted::Joined) => StatusCode::NO_CONTENT.into_response(),
        Err(word) => refused(&word),
    }
}

async fn result(State(door): Shared, ConnectInfo(peer): ConnectInfo<Peer>, headers: HeaderMap) -> Response {
    match invited(&door, &headers, &peer) {
        Err(word) => refused(word),
        Ok((seat, _)) => match door.board.result(&seat) {
            Some(result) => Json(result).into_response(),
            None => refused("not before the close"),
        },
    }
}

async fn context(
    State(door): Shared,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Path(sha256): Path<String>,
    headers: HeaderMap,
) -> Response {
    match invited(&door, &headers, &peer) {
        Err(word) => refused(word),
        Ok(_) => match door.board.snapshot(&sha256) {
            Some(text) => text.to_string().into_response(),
            None => refused("no such snapshot"),
        },
    }
}

async fn status(State(door): Shared, ConnectInfo(peer): ConnectInfo<Peer>, headers: HeaderMap) -> Response {
    match invited(&door, &headers, &peer) {
        Err(word) => refused(word),
        Ok(_) => Json(door.board.status(crate::clock::now())).into_response(),
    }
}

async fn events(State(door): Shared, ConnectInfo(peer): ConnectInfo<Peer>, headers: HeaderMap) -> Response {
    match invited(&door, &headers, &peer) {
        Err(word) => refused(word),
        Ok(_) => Sse::new(states(door)).keep_alive(KeepAlive::default()).into_response(),
    }
}

/// How the round stands, now and after each change.
fn states(door: Arc<Door>) -> impl Stream<Item = Result<Event, Infallible>> {
    let mut changes = door.board.changes();
    changes.mark_changed();
    unfold((door, changes), |(door, mut changes)| async move {
        changes.changed().await.ok()?;
        let state = door.board.status(crate::clock::now()).to_string();
        Some((Ok(Event::default().event("status").data(state)), (door, changes)))
    })
}
