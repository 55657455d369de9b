//! The API styles by name: which file writes a request, and which reads its reply.

use super::{ApiStyle, BOM, DecodeError, RequestOptions, chat_completions, messages, responses};
use crate::participants::{Prompt, Reply, SeatRequest};

/// A reply that comes piece by piece, as far as it has come.
pub(in crate::participants) enum ReplyStream {
    OpenAi(Box<chat_completions::ChatStream>),
    Anthropic(messages::MessagesStream),
    Responses(responses::ResponsesStream),
}

impl ReplyStream {
    pub fn event(&mut self, data: &[u8]) -> Result<(), DecodeError> {
        match self {
            Self::OpenAi(streamed) => streamed.event(data),
            Self::Anthropic(streamed) => streamed.event(data),
            Self::Responses(streamed) => streamed.event(data),
        }
    }

    pub fn is_done(&self) -> bool {
        match self {
            Self::OpenAi(streamed) => streamed.is_done,
            Self::Anthropic(streamed) => streamed.is_done,
            Self::Responses(streamed) => streamed.is_done(),
        }
    }

    /// How many bytes of text have come.
    pub fn len(&self) -> usize {
        match self {
            Self::OpenAi(streamed) => streamed.text.len(),
            Self::Anthropic(streamed) => streamed.text.len(),
            Self::Responses(streamed) => streamed.length,
        }
    }

    /// The whole reply; one that does not say why it ended broke off on the way.
    pub fn end(self) -> Result<Reply, DecodeError> {
        match self {
            Self::OpenAi(streamed) => streamed.end(),
            Self::Anthropic(streamed) => streamed.end(),
            Self::Responses(streamed) => streamed.end(),
        }
    }
}

impl ApiStyle {
    /// The part of the request's JSON all seats of a round share, cut inside the user text.
    pub(in crate::participants) fn head(self, prompt: &Prompt) -> Vec<u8> {
        match self {
            Self::OpenAi => chat_completions::head(&prompt.rules, &prompt.snapshot),
            Self::Anthropic => messages::head(prompt),
            Self::Responses => responses::head(&prompt.rules, &prompt.snapshot),
        }
    }

    /// The rest of the request's JSON, from within the user text to its end.
    pub(in crate::participants) fn tail(self, ask: &SeatRequest, limits: RequestOptions) -> Vec<u8> {
        match self {
            Self::OpenAi => chat_completions::tail(ask, limits),
            Self::Anthropic => messages::tail(ask, limits),
            Self::Responses => responses::tail(ask, limits),
        }
    }

    /// A reply of which nothing has come yet.
    pub(in crate::participants) fn streamed(self) -> ReplyStream {
        match self {
            Self::OpenAi => ReplyStream::OpenAi(Box::default()),
            Self::Anthropic => ReplyStream::Anthropic(messages::MessagesStream::default()),
            Self::Responses => ReplyStream::Responses(responses::ResponsesStream::default()),
        }
    }

    /// Reads the body of a 200. The reply's `tries` is 0 and for the caller to fill in.
    pub(in crate::participants) fn decode(self, body: &[u8]) -> Result<Reply, DecodeError> {
        let body = body.strip_prefix(BOM).unwrap_or(body);
        match self {
            Self::OpenAi => chat_completions::decode(body),
            Self::Anthropic => messages::decode(body),
            Self::Responses => responses::decode(body),
        }
    }
}
