//! A reply while it comes: pieces of a response's body go in, one reply or the reason why there is
//! none comes out. A body is known by its bytes, not by its label.
//!
//! Pure; how the body is cut changes nothing. What has come is never shown. Of events each line of data is one:
//! services send no others. Comments, names and ids are passed over.

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
    /// The document so far, or the line of an event that has no end yet.
    unread: Vec<u8>,
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
        self.unread.extend_from_slice(piece);
        self.has_events = self.has_events.or_else(|| has_events(&self.unread));
        // Earlier pieces are not searched again: an event may come in thousands of them.
        let after = piece.iter().rev().position(|byte| *byte == b'\n');
        if let (Some(true), Some(after)) = (self.has_events, after) {
            let rest = self.unread.split_off(self.unread.len() - after);
            for line in std::mem::replace(&mut self.unread, rest).split(|byte| *byte == b'\n') {
                self.read_line(line)?;
            }
        }
        let is_text_large = self.reply.text.len() > MAX_REPLY || self.unread.len() > MAX_REPLY;
        self.is_large |= is_text_large || self.taken > MAX_STREAM;
        Ok(self.is_large || self.repeats || self.reply.is_done)
    }

    fn read_line(&mut self, line: &[u8]) -> Result<(), DecodeError> {
        // The end that the service announces must not depend on the pieces of the body.
        let is_over = self.is_large || self.repeats || self.reply.is_done;
        let data = line.strip_prefix(BOM).unwrap_or(line).strip_prefix(b"data:");
        let Some(data) = data.filter(|_| !is_over) else { return Ok(()) };
        self.is_large = data.len() > MAX_REPLY;
        self.reply.event(data)?;
        self.count += 1;
        if self.reply.text.len() >= self.searched + SEARCH_EVERY {
            self.searched = self.reply.text.len();
            self.repeats = repeats(self.reply.text.as_bytes());
        }
        Ok(())
    }

    /// The whole reply, when nothing more is wanted or nothing more comes.
    pub fn end(mut self) -> Result<Reply, DecodeError> {
        if self.has_events == Some(true) {
            let last = std::mem::take(&mut self.unread);
            self.read_line(&last)?;
        }
        match self.has_events {
            _ if self.is_large => Ok(without_text(Finish::TooLong)),
            _ if self.repeats => Ok(Reply { text: self.reply.text, ..without_text(Finish::Repeats) }),
            Some(true) => self.reply.end(),
            _ => self.style.decode(&self.unread),
        }
    }
}

pub(super) fn without_text(finish: Finish) -> Reply {
    Reply { text: String::new(), finish, ..Reply::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cut_gives_the_same_reply() {
        let chunk = |text| format!(r#"data: {{"choices":[{{"delta":{{"content":"{text}"}}}}]}}"#);
        let stream = format!(
            "\u{feff}: OPENROUTER PROCESSING\r\n\r\nevent: x\n{}\r\ndatax: no\ndata\n\n:ping\nid: 7\n{}\n\ndata: [DONE]",
            chunk("é, "),
            chunk("two")
        );
        let read = |pieces: &[&[u8]]| {
            let mut body = StreamedBody::new(ApiStyle::OpenAi);
            for piece in pieces {
                assert_eq!(body.push(piece), Ok(false));
            }
            body.end().expect("a reply").text
        };
        let bytes = stream.as_bytes();
        for at in 0..=bytes.len() {
            assert_eq!(read(&[&bytes[..at], &[], &bytes[at..]]), "é, two", "cut at {at}");
        }
        assert_eq!(read(&bytes.chunks(1).collect::<Vec<_>>()), "é, two");
    }

    #[test]
    fn an_event_has_a_largest_size() {
        let mut body = StreamedBody::new(ApiStyle::OpenAi);
        assert_eq!(body.push(b"data: "), Ok(false));
        let piece = vec![b'x'; 65_536];
        assert!((0..100).any(|_| body.push(&piece) == Ok(true)));
        assert_eq!(body.end().map(|reply| reply.finish), Ok(Finish::TooLong));
    }
}
