//! A reply while it comes: pieces of a response's body go in, one reply or the reason why there is
//! none comes out. A body is known by its bytes, not by its label.
//!
//! Pure; how the body is cut changes nothing. What has come is never shown.

use super::sse::Events;
use crate::participants::api::{ApiStyle, BOM, DecodeError, ReplyStream};
use crate::participants::{Finish, Reply};

/// No more of a reply is read, in bytes.
pub(super) const MAX_REPLY: usize = 4 * 1024 * 1024;
/// No more of a stream is read, in bytes: each word of it comes in a frame of its own.
const MAX_STREAM: usize = 64 * 1024 * 1024;

/// So often is the end of a text searched for repetition, in bytes.
const SEARCH_EVERY: usize = 512;
/// So much of it says the same again and again, in bytes, in pieces of at most a sixth.
const REPEATED: usize = 1500;

/// The body is a stream of events; none while that is not known.
fn has_events(start: &[u8]) -> Option<bool> {
    let start = start.strip_prefix(BOM).unwrap_or(start).trim_ascii_start();
    let is_field =
        ["data:", "event:", "id:", "retry:", ":"].iter().any(|field| start.starts_with(field.as_bytes()));
    (is_field || start.len() > "event:".len()).then_some(is_field)
}

/// The end of the text is one piece again and again.
fn repeats(text: &[u8]) -> bool {
    let Some(end) = text.len().checked_sub(REPEATED).map(|start| &text[start..]) else { return false };
    (1..=REPEATED / 6).any(|period| end[period..] == end[..REPEATED - period])
}

/// A reply as far as it has come: by events, or as one JSON document. Its bytes say which, whatever the label.
#[derive(Default)]
pub struct StreamedBody {
    style: ApiStyle,
    has_events: Option<bool>,
    /// The document so far, or the bytes before its kind is known.
    whole: Vec<u8>,
    events: Events,
    reply: ReplyStream,
    taken: usize,
    is_large: bool,
    pub count: usize,
    /// Length of the text that was searched for repetition.
    searched: usize,
    repeats: bool,
}

impl StreamedBody {
    pub fn new(dialect: ApiStyle) -> Self {
        Self { style: dialect, reply: dialect.streamed(), ..Self::default() }
    }

    /// Takes the next piece; says whether nothing more is wanted.
    pub fn push(&mut self, piece: &[u8]) -> Result<bool, DecodeError> {
        self.taken += piece.len();
        let mut begun = Vec::new();
        if self.has_events != Some(true) {
            self.whole.extend_from_slice(piece);
            self.has_events = self.has_events.or_else(|| has_events(&self.whole));
            self.is_large = self.whole.len() > MAX_REPLY;
            if self.has_events != Some(true) {
                return Ok(self.is_large);
            }
            begun = std::mem::take(&mut self.whole);
        }
        let piece = if begun.is_empty() { piece } else { begun.strip_prefix(BOM).unwrap_or(&begun) };
        let Ok(ended) = self.events.push(piece) else {
            self.is_large = true;
            return Ok(true);
        };
        for data in ended {
            // The end that the service announces must not depend on the pieces of the body.
            if self.reply.is_done {
                break;
            }
            self.reply.event(&data)?;
            self.count += 1;
            if self.reply.text.len() >= self.searched + SEARCH_EVERY {
                self.searched = self.reply.text.len();
                self.repeats = repeats(self.reply.text.as_bytes());
                if self.repeats {
                    return Ok(true);
                }
            }
        }
        self.is_large = self.taken > MAX_STREAM || self.reply.text.len() > MAX_REPLY;
        Ok(self.is_large || self.reply.is_done)
    }

    /// The whole reply, when nothing more is wanted or nothing more comes.
    pub fn end(mut self) -> Result<Reply, DecodeError> {
        if self.is_large {
            return Ok(without_text(Finish::TooLong));
        }
        if self.has_events != Some(true) {
            return self.style.decode(&self.whole);
        }
        if self.repeats {
            return Ok(Reply { text: self.reply.text.clone(), ..without_text(Finish::Repeats) });
        }
        let rest = if self.reply.is_done { None } else { self.events.end() };
        if let Some(data) = rest {
            self.reply.event(&data)?;
        }
        self.reply.end()
    }
}

pub(super) fn without_text(finish: Finish) -> Reply {
    Reply { text: String::new(), finish, ..Reply::default() }
}
