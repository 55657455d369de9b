//! Incremental reader of a reply: an event stream or one JSON document.
//!
//! Pure. The bytes decide the format, not the content type. The result does not depend on how the body is split.
//! Partial text is never shown. Each `data:` line is one event, since services send no events of several lines.
//! Comments, event names and ids are skipped.

use crate::participants::api::{ApiStyle, BOM, DecodeError, ReplyStream};
use crate::participants::{Finish, Reply};

/// Limit of a reply's text, in bytes.
pub(super) const MAX_REPLY: usize = 4 * 1024 * 1024;
/// Limit of a stream in bytes; each word arrives in its own frame.
const MAX_STREAM: usize = 64 * 1024 * 1024;

/// Bytes of new text between two searches for repetition.
const SEARCH_EVERY: usize = 512;
/// Length in bytes of a repetitive end that stops the reply; the repeated piece is at most a sixth of it.
const REPEATED: usize = 1500;

/// Returns true for an event stream, false for a document, and `None` while undecided.
fn has_events(start: &[u8]) -> Option<bool> {
    let start = start.strip_prefix(BOM).unwrap_or(start).trim_ascii_start();
    let is_field =
        ["data:", "event:", "id:", "retry:", ":"].iter().any(|field| start.starts_with(field.as_bytes()));
    (is_field || start.len() > "event:".len()).then_some(is_field)
}

/// Returns true if the text ends with many copies of one piece.
fn repeats(text: &[u8]) -> bool {
    let Some(end) = text.len().checked_sub(REPEATED).map(|start| &text[start..]) else { return false };
    (1..=REPEATED / 6).any(|period| end[period..] == end[..REPEATED - period])
}

#[derive(Default)]
pub struct StreamedBody {
    style: ApiStyle,
    has_events: Option<bool>,
    /// Document so far, or the incomplete last line of an event stream.
    unread: Vec<u8>,
    reply: ReplyStream,
    taken: usize,
    is_large: bool,
    pub count: usize,
    /// Length of the text already searched for repetition.
    searched: usize,
    repeats: bool,
}

impl StreamedBody {
    pub fn new(dialect: ApiStyle) -> Self {
        Self { style: dialect, reply: dialect.streamed(), ..Self::default() }
    }

    /// Adds the next piece. Returns true if no more is needed.
    pub fn push(&mut self, piece: &[u8]) -> Result<bool, DecodeError> {
        self.taken += piece.len();
        self.unread.extend_from_slice(piece);
        self.has_events = self.has_events.or_else(|| has_events(&self.unread));
        // Only the new piece is searched: an event may arrive in thousands of pieces.
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
        // The split of the body must not decide whether lines after the announced end count.
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

    /// Returns the reply, once no more is needed or the body has ended.
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
    fn split_of_the_body_does_not_change_the_reply() {
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
    fn events_have_a_size_limit() {
        let mut body = StreamedBody::new(ApiStyle::OpenAi);
        assert_eq!(body.push(b"data: "), Ok(false));
        let piece = vec![b'x'; 65_536];
        assert!((0..100).any(|_| body.push(&piece) == Ok(true)));
        assert_eq!(body.end().map(|reply| reply.finish), Ok(Finish::TooLong));
    }
}
