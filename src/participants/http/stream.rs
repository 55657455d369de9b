//! A reply while it comes: pieces of a response's body go in, one reply or the reason why there is
//! none comes out.
//!
//! Pure; how the body is cut changes nothing. What has come is never shown, nor how much. `http.rs`
//! reads its replies through this, [`read_body`] and [`read_pieces`] do so without a network.

use super::sse::Events;
use crate::participants::api::{ApiStyle, DecodeError, ReplyStream};
use crate::participants::{Finish, Reply};

/// No more of a reply is read, in bytes.
pub(super) const MAX_REPLY: usize = 4 * 1024 * 1024;
/// No more of a stream is read, in bytes: each word of it comes in a frame of its own.
const MAX_STREAM: usize = 64 * 1024 * 1024;

/// A reply that comes by events, as far as it has come.
pub(super) struct StreamedBody {
    events: Events,
    reply: ReplyStream,
    taken: usize,
    is_large: bool,
}

impl StreamedBody {
    pub fn new(dialect: ApiStyle) -> Self {
        Self { events: Events::default(), reply: dialect.streamed(), taken: 0, is_large: false }
    }

    /// Takes the next piece; says whether nothing more is wanted.
    pub fn push(&mut self, piece: &[u8]) -> Result<bool, DecodeError> {
        self.taken += piece.len();
        let Ok(ended) = self.events.push(piece) else {
            self.is_large = true;
            return Ok(true);
        };
        for data in ended {
            // Where the service says that nothing follows does not depend on how the body was cut.
            if self.reply.is_done() {
                break;
            }
            self.reply.event(&data)?;
        }
        self.is_large = self.taken > MAX_STREAM || self.reply.len() > MAX_REPLY;
        Ok(self.is_large || self.reply.is_done())
    }

    pub fn is_complete(&self) -> bool {
        !self.is_large && self.reply.is_done()
    }

    /// The whole reply, when nothing more is wanted or nothing more comes.
    pub fn end(mut self) -> Result<Reply, DecodeError> {
        if self.is_large {
            return Ok(without_text(Finish::TooLong));
        }
        let rest = if self.reply.is_done() { None } else { self.events.end() };
        if let Some(data) = rest {
            self.reply.event(&data)?;
        }
        self.reply.end()
    }
}

/// A reply of which only the end is known.
pub(super) fn without_text(finish: Finish) -> Reply {
    Reply { text: String::new(), finish, ..Reply::default() }
}

/// Reads the body of a 200 that comes whole; the error says why it is no reply, and quotes nothing of it.
pub fn read_body(dialect: ApiStyle, body: &[u8]) -> Result<Reply, String> {
    dialect.decode(body).map_err(|unreadable| unreadable.reason)
}

/// Reads the body of a 200 that comes by events, in these pieces; as [`read_body`].
pub fn read_pieces<'a>(
    dialect: ApiStyle,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Result<Reply, String> {
    let mut arriving = StreamedBody::new(dialect);
    for piece in pieces {
        if arriving.push(piece).map_err(|unreadable| unreadable.reason)? {
            break;
        }
    }
    arriving.end().map_err(|unreadable| unreadable.reason)
}
