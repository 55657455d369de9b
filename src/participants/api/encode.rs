//! Writing requests: the parts that all API styles share.

use std::borrow::Cow;

use serde_json::Value;

use super::{RequestOptions, SchemaMode};
use crate::participants::SeatRequest;

/// Writes `text` as JSON without the closing quote, so that more text can follow.
pub(super) fn open_string(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(Value::from(text).to_string().as_bytes());
    out.pop();
}

/// The schema that goes with a request, as JSON, if one does.
pub(super) fn schema(ask: &SeatRequest, limits: RequestOptions) -> Option<&str> {
    ask.schema.as_deref().filter(|_| limits.form == SchemaMode::BySchema)
}

/// What follows the snapshot within the user text, as JSON from inside a string to its end.
pub(super) fn close_string(ask: &SeatRequest) -> Vec<u8> {
    let text = match &ask.again {
        Some(again) => Cow::Owned(format!("{}\n{again}", ask.prompt.tail)),
        None => Cow::Borrowed(ask.prompt.tail.as_str()),
    };
    // What follows the text is short; a text in memory can always be written.
    let mut out = Vec::with_capacity(text.len() + text.len() / 16 + 512);
    let _ = serde_json::to_writer(&mut out, &*text);
    out.remove(0);
    out
}

pub(super) fn put(out: &mut Vec<u8>, key: &str, value: Option<impl std::fmt::Display>) {
    if let Some(value) = value {
        out.extend_from_slice(format!(r#","{key}":{value}"#).as_bytes());
    }
}
