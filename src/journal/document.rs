//! One event as one YAML document, and its parser.
//!
//! A document has `---`, `seq`, `prev`, `at`, `event`, `session` and the event's own keys. Its last line is the
//! SHA-256 of all bytes of the document before it.

use std::fmt::Write as _;

use serde_json::Value;

use crate::history::{Event, LogEntry, TimedEvent, Timestamp};
use crate::round::snapshot::sha256_hex;
use crate::yaml::{read_own, write_struct};

/// File format that this program writes and reads; every header contains it.
pub const FORMAT: u32 = 3;
/// `prev` of a file's first document.
pub const NO_HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// End of the hash chain, which the next document continues.
#[derive(Debug, Clone)]
pub struct Chain {
    pub(super) session: String,
    pub seq: u64,
    pub head: String,
}

impl Default for Chain {
    fn default() -> Self {
        Self { session: String::new(), seq: 0, head: NO_HASH.to_owned() }
    }
}

impl Chain {
    pub fn after(lines: &[LogEntry]) -> Self {
        let Some(last) = lines.last() else { return Self::default() };
        let session = lines.iter().rev().find_map(|line| named_session(&line.stamped.event));
        Self { session: session.unwrap_or_default().to_owned(), seq: last.seq + 1, head: last.hash.clone() }
    }

    /// Appends the document of the next event to `out`.
    pub fn write(&mut self, stamped: TimedEvent, out: &mut String) -> LogEntry {
        let session = named_session(&stamped.event).unwrap_or(&self.session).to_owned();
        let hash = write_document(self.seq, &self.head, &session, &stamped, out);
        let prev = std::mem::replace(&mut self.head, hash.clone());
        let line = LogEntry { seq: self.seq, prev, hash, stamped };
        (self.session, self.seq) = (session, self.seq + 1);
        line
    }
}

pub fn named_session(event: &Event) -> Option<&str> {
    if let Event::SessionOpened(opened) = event {
        return Some(&opened.session);
    }
    if let Event::SessionForked { session, .. } = event { Some(session) } else { None }
}

/// Appends one document to `out` and returns its hash.
fn write_document(seq: u64, prev: &str, session: &str, stamped: &TimedEvent, out: &mut String) -> String {
    let start = out.len();
    let _ = writeln!(out, "---\nseq: {seq}\nprev: \"{prev}\"\nat: \"{}\"", stamped.at);
    write_struct(&stamped.event, ("session", session), out);
    let hash = sha256_hex(&out[start..]);
    let _ = writeln!(out, "hash: {hash}");
    hash
}

/// Parses a document without its hash line; also returns the session that it names. Subtracts the memory of its
/// values from `room`.
pub fn read_document(text: &str, hash: String, room: &mut usize) -> Result<(LogEntry, String), String> {
    let value = read_own(text, room).map_err(|problem| problem.message)?;
    let Value::Object(mut map) = value else { return Err("a document must be a map".into()) };
    let seq = map.get("seq").and_then(Value::as_u64).ok_or("no `seq`")?;
    let mut text = |key: &str| match map.shift_remove(key) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(format!("no `{key}`")),
    };
    let prev = text("prev")?;
    let at: Timestamp =
        serde_json::from_value(text("at")?.into()).map_err(|_| "`at` is no time".to_owned())?;
    let session = text("session")?;
    map.shift_remove("seq");
    let names_session = |name: &str| matches!(name, "session_opened" | "session_forked");
    if map.get("event").and_then(Value::as_str).is_some_and(names_session) {
        map.insert("session".into(), session.as_str().into());
    }
    let event: Event = serde_json::from_value(Value::Object(map)).map_err(|error| error.to_string())?;
    Ok((LogEntry { seq, prev, hash, stamped: TimedEvent { at, event } }, session))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_reads_back_equal_and_its_hash_is_sha256sum_of_the_rest() {
        let message = "tricky:\r\n \u{1b}[31m\u{2028}--- \nhash: x\n".to_owned();
        let event = Event::Warning { message, step: Some("no".into()), round: None, participant: None };
        let stamped = TimedEvent { at: Timestamp(1_795_302_307_120), event };
        let mut text = String::new();
        let hash = write_document(7, NO_HASH, "s-1", &stamped, &mut text);
        let (body, last) = text.split_at(text.len() - 71);
        assert_eq!(last, format!("hash: {hash}\n"));
        assert_eq!(sha256_hex(body), hash);
        assert!(!text.contains('\r'));
        let line = LogEntry { seq: 7, prev: NO_HASH.into(), hash: hash.clone(), stamped };
        assert_eq!(read_document(body, hash, &mut { usize::MAX }).unwrap(), (line, "s-1".into()));
    }
}
