//! Shared parts of all routes: tokens, bodies, refusals, messages to the engine.
//!
//! Every refusal is JSON with a word in `refused`. Tokens are bearer tokens, not cookies, so that other pages
//! cannot make a browser send one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Json;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::board::Board;
use super::entrance::Guest;
use crate::core::Refusal;
use crate::engine::{Accepted, Arrival, Message, hand_in};
use crate::history::RefusalWord;
use crate::participants::lock;
use crate::round::snapshot::sha256_hex;

/// Time limit of a request, its body included.
const PATIENCE: Duration = Duration::from_secs(30);
/// Limit of event streams per seat.
const STREAMS: usize = 4;

pub struct HttpDoor {
    pub board: Arc<Board>,
    arrivals: mpsc::Sender<Arrival>,
    /// Event streams by invitation.
    streams: Mutex<HashMap<String, Arc<Semaphore>>>,
    limits: Limits,
}

impl HttpDoor {
    pub fn new(board: Arc<Board>, arrivals: mpsc::Sender<Arrival>) -> Self {
        Self { board, arrivals, streams: Mutex::default(), limits: Limits::default() }
    }

    /// Passes a message to the engine; returns the result once it is on disk.
    pub async fn hand_in(&self, message: Message) -> Result<Accepted, Refusal> {
        let word =
            if self.board.is_over() { RefusalWord::RoundClosed } else { RefusalWord::TheSessionIsNotRunning };
        hand_in(&self.arrivals, message).await.unwrap_or_else(|| Err(word.into()))
    }

    /// Returns a permit for an event stream; `None` if the seat has too many.
    pub fn stream(&self, invitation: String) -> Option<OwnedSemaphorePermit> {
        let mut streams = lock(&self.streams);
        let places = streams.entry(invitation).or_insert_with(|| Arc::new(Semaphore::new(STREAMS)));
        Arc::clone(places).try_acquire_owned().ok()
    }
}

pub type Shared = State<Arc<HttpDoor>>;

/// Body of a request, or the reason why it was not read.
pub type Body = Result<Bytes, BytesRejection>;

/// Reads JSON; an empty body means an empty object.
pub fn read<T: DeserializeOwned>(body: Body) -> Result<T, Refusal> {
    let body = body.map_err(|_| Refusal::from(RefusalWord::TooLong))?;
    let json: &[u8] = if body.is_empty() { b"{}" } else { &body };
    serde_json::from_slice(json).map_err(|error| malformed(&error.to_string()))
}

pub fn malformed(why: &str) -> Refusal {
    Refusal::Because(RefusalWord::Malformed, why.to_owned())
}

/// Forbids caching and content sniffing.
pub async fn with_headers(mut answer: Response) -> Response {
    let headers = answer.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    answer
}

pub async fn in_time(request: Request, next: Next) -> Response {
    match tokio::time::timeout(PATIENCE, next.run(request)).await {
        Ok(response) => response,
        Err(_) => (StatusCode::REQUEST_TIMEOUT, Json(json!({ "refused": "too slow" }))).into_response(),
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (word, body) = match self {
            Self::Said(said) => {
                return (StatusCode::CONFLICT, Json(json!({ "refused": said }))).into_response();
            }
            Self::Word(word) => (word, json!({ "refused": word.to_string() })),
            Self::Because(word, reason) => (word, json!({ "refused": word.to_string(), "reason": reason })),
        };
        (status(word), Json(body)).into_response()
    }
}

fn status(word: RefusalWord) -> StatusCode {
    match word {
        RefusalWord::NoSuchInvitation | RefusalWord::NoSuchAgent => StatusCode::UNAUTHORIZED,
        RefusalWord::NotAParticipant => StatusCode::FORBIDDEN,
        RefusalWord::NoSuchPage | RefusalWord::NoSuchSnapshot | RefusalWord::NotOffered => {
            StatusCode::NOT_FOUND
        }
        RefusalWord::RoundClosed | RefusalWord::SeatExcused => StatusCode::GONE,
        RefusalWord::TooLong => StatusCode::PAYLOAD_TOO_LARGE,
        RefusalWord::Malformed
        | RefusalWord::BadSignature
        | RefusalWord::BadLength
        | RefusalWord::NoFeedback
        | RefusalWord::DoesNotFit => StatusCode::UNPROCESSABLE_ENTITY,
        RefusalWord::TooManyTries => StatusCode::TOO_MANY_REQUESTS,
        RefusalWord::TheSessionIsNotRunning => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::CONFLICT,
    }
}

pub struct Invited {
    pub seat: String,
    pub invitation: String,
}

impl FromRequestParts<Arc<HttpDoor>> for Invited {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, door: &Arc<HttpDoor>) -> Result<Self, Refusal> {
        const MOST_OF_A_TOKEN: u32 = 10;
        const MOST_WRONG: u32 = 5;
        let token = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = token.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
        // The second part of a link stays in the browser; a client that sends it anyway is accepted.
        let invitation = sha256_hex(token.split_once('.').map_or(token, |(token, _)| token));
        let now = crate::clock::now();
        let second = now.0 / 1000;
        let guest = parts.extensions.get::<Arc<Guest>>();
        let Some(seat) = door.board.seat_of(&invitation, now) else {
            let address = guest.map_or_else(String::new, |guest| guest.address.to_string());
            let is_few = door.limits.allows(&address, MOST_WRONG, second);
            let word = if is_few { RefusalWord::NoSuchInvitation } else { RefusalWord::TooManyTries };
            return Err(word.into());
        };
        let has_place = guest.is_none_or(|guest| guest.mark_as_seat(&invitation));
        if has_place && door.limits.allows(&invitation, MOST_OF_A_TOKEN, second) {
            Ok(Self { seat, invitation })
        } else {
            Err(RefusalWord::TooManyTries.into())
        }
    }
}

/// Counts of requests in the current second.
#[derive(Default)]
struct Limits(Mutex<(i64, HashMap<String, u32>)>);

impl Limits {
    /// Returns true for the first `most` requests of `who` in a second.
    fn allows(&self, who: &str, most: u32, second: i64) -> bool {
        let mut counts = lock(&self.0);
        if counts.0 != second {
            *counts = (second, HashMap::new());
        }
        let count = counts.1.entry(who.to_owned()).or_insert(0);
        *count += 1;
        *count <= most
    }
}

#[cfg(test)]
mod tests {
    use super::Limits;

    #[test]
    fn counts_restart_every_second() {
        let limits = Limits::default();
        let seen = [7, 7, 7, 8].map(|second| limits.allows("ann", 2, second));
        assert_eq!(seen, [true, true, false, true]);
        assert!(limits.allows("bob", 1, 8));
    }
}
