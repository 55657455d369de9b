//! Remote seats: people behind links, polling agents and workers.
//!
//! A door carries offers to a seat and returns its answers. Links and agents use HTTP (this folder); workers use
//! a queue (`nats`), whose other end is `worker`. A door decides nothing: it passes messages to the engine, and
//! responds once the result is on disk.

mod board;
mod entrance;
mod http;
mod inbox;
mod links;
#[cfg(feature = "nats")]
pub mod nats;
mod tls;
#[cfg(feature = "nats")]
pub mod worker;

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::{from_fn, map_response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::json;

pub use board::{Board, ShownResults};
pub use entrance::{Connections, MOST_OF_AN_ADDRESS, MOST_OPEN};
pub use http::HttpDoor;
use http::{in_time, with_headers};
pub use inbox::{LONGEST_REASON, LONGEST_WAIT};
pub use tls::{Identity, VALID_FOR, accept_tls, fingerprint, make_identity};

use crate::core::Refusal;
use crate::history::RefusalWord;
use crate::round::envelope::MAX_ENVELOPE;

pub fn router(door: Arc<HttpDoor>) -> Router {
    Router::new()
        .route("/b", get(links::page))
        .route("/v1/seat/key", post(links::join))
        .route("/v1/seat", get(links::seat))
        .route("/v1/seat/sealed", post(links::sealed))
        .route("/v1/seat/result", get(links::result))
        .route("/v1/context/{sha256}", get(links::context))
        .route("/v1/status", get(links::status))
        .route("/v1/events", get(links::events))
        .route("/v1/items/{*rest}", post(inbox::item))
        .layer(from_fn(in_time))
        // A poll may wait as long as the time limit of a request.
        .route("/v1/inbox", get(inbox::poll))
        .fallback(|| async { Refusal::from(RefusalWord::NoSuchPage) })
        .method_not_allowed_fallback(|| async {
            (StatusCode::METHOD_NOT_ALLOWED, Json(json!({ "refused": "no such method" })))
        })
        .layer(DefaultBodyLimit::max(MAX_ENVELOPE))
        .layer(map_response(with_headers))
        .with_state(door)
}
