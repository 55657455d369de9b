//! Dispatch by API style: encoding requests and decoding replies.

use serde_json::Value;

use super::{
    ApiStyle, BOM, DecodeError, PLACE, ReplyStream, RequestOptions, chat_completions, finish, messages,
    responses,
};
use crate::participants::{Reply, SeatRequest};

/// Escapes a text for JSON, without the quotes.
fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

impl ReplyStream {
    pub fn event(&mut self, data: &[u8]) -> Result<(), DecodeError> {
        match (data.trim_ascii(), self.style) {
            // Some services send empty events to keep the connection alive.
            (b"" | b"null", _) => Ok(()),
            (b"[DONE]", ApiStyle::OpenAi | ApiStyle::Responses) => {
                self.is_done = true;
                Ok(())
            }
            _ => self.take(data),
        }
    }

    /// Adds an event or a complete reply.
    fn take(&mut self, data: &[u8]) -> Result<(), DecodeError> {
        match self.style {
            ApiStyle::OpenAi => chat_completions::event(self, data),
            ApiStyle::Anthropic => messages::event(self, data),
            ApiStyle::Responses => responses::event(self, data),
        }
    }
}

impl ApiStyle {
    /// Returns the start of the request's JSON, which all seats of a round share. It ends inside the user text.
    pub(in crate::participants) fn head(self, ask: &SeatRequest) -> Vec<u8> {
        let pieces = self.pieces(ask, RequestOptions::default());
        let snapshot = escaped(&ask.prompt.snapshot);
        match pieces.as_slice() {
            [before, between, _] => format!("{before}\"{snapshot}\"{between}\"").into_bytes(),
            pieces => format!("{}\"{snapshot}", pieces[0]).into_bytes(),
        }
    }

    /// Returns the rest of the request's JSON: the seat's own text and the parameters.
    pub(in crate::participants) fn tail(self, ask: &SeatRequest, options: RequestOptions) -> Vec<u8> {
        let end = self.pieces(ask, options).pop().unwrap_or_default();
        let again = ask.again.as_ref().map(|again| format!("\n{again}")).unwrap_or_default();
        format!("{}\"{end}", escaped(&(ask.prompt.tail.clone() + &again))).into_bytes()
    }

    /// Returns the JSON around the user text, or around its two blocks.
    fn pieces(self, ask: &SeatRequest, options: RequestOptions) -> Vec<String> {
        let (body, blocks) = match self {
            Self::OpenAi => (chat_completions::body(ask, options), 1),
            Self::Anthropic => {
                (messages::body(ask, options), if messages::is_marked(&ask.prompt) { 2 } else { 1 })
            }
            Self::Responses => (responses::body(ask, options), 1),
        };
        body.to_string().splitn(blocks + 1, &Value::from(PLACE).to_string()).map(str::to_owned).collect()
    }

    pub(in crate::participants) fn streamed(self) -> ReplyStream {
        ReplyStream { style: self, ..ReplyStream::default() }
    }

    /// Reads the body of a 200. The caller sets `tries` of the reply.
    pub(in crate::participants) fn decode(self, body: &[u8]) -> Result<Reply, DecodeError> {
        let body = body.strip_prefix(BOM).unwrap_or(body);
        let mut reply = self.streamed();
        reply.take(body)?;
        finish(reply.reason.as_deref())?;
        reply.end()
    }
}
