//! Reader of session files: finds documents by their bytes and verifies each.
//!
//! Bytes after the last complete hash line are a torn write. Any other mismatch is damage, and a damaged file
//! is rejected as a whole. Never panics, whatever the bytes.

use super::document::{Chain, FORMAT, read_document};
use crate::history::{Event, LogEntry, Session};
use crate::round::snapshot::sha256_hex;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventLog {
    pub lines: Vec<LogEntry>,
    /// Length of the complete documents in bytes.
    pub good: usize,
    pub torn: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct Damage {
    pub what: String,
    /// Expected `seq` of the damaged document; `None` if the file is no session.
    pub seq: Option<u64>,
    /// First line of the damaged document, counted from 1.
    pub line: u64,
    pub offset: usize,
    /// The file is intact, but this program does not read its format.
    pub other_format: bool,
}

/// Length of a document's last line: `hash: `, 64 hex digits, a line feed.
const HASH_LINE: usize = 6 + 64 + 1;

pub fn read_log(bytes: &[u8]) -> Result<EventLog, Damage> {
    LogReader::new(bytes)?.log()
}

/// Iterator over the documents of a log; each is verified before it is returned.
#[derive(Debug)]
pub struct LogReader<'a> {
    bytes: &'a [u8],
    good: usize,
    chain: Chain,
    /// Memory left for the values of further documents, in bytes.
    room: usize,
}

impl<'a> LogReader<'a> {
    pub fn new(bytes: &'a [u8]) -> Result<Self, Damage> {
        if !bytes.is_empty() && !b"---\nseq: 0\n".starts_with(&bytes[..bytes.len().min(11)]) {
            // Git on Windows converts line ends like this.
            let other_format = bytes.starts_with(b"---\r\n");
            let what = if other_format {
                "its line ends were changed: write `*.s2s -text` into .gitattributes and check it out again"
            } else {
                "this is not a roundtable session"
            };
            return Err(Damage { other_format, ..damage(bytes, 0, None, what.to_owned()) });
        }
        Ok(Self { bytes, good: 0, chain: Chain::default(), room: room(bytes.len()) })
    }

    pub fn log(&mut self) -> Result<EventLog, Damage> {
        let lines = self.collect::<Result<Vec<LogEntry>, Damage>>()?;
        Ok(EventLog { lines, good: self.good, torn: self.torn_bytes() })
    }

    pub fn offset(&self) -> usize {
        self.good
    }

    /// Returns the bytes of a torn write after the last document, once all documents are read.
    pub fn torn_bytes(&self) -> usize {
        self.bytes.len() - self.good
    }

    /// Parses the document that ends at `end` and checks its hash and the chain.
    fn document(&mut self, end: usize) -> Result<LogEntry, Damage> {
        let (bytes, start, seq) = (self.bytes, self.good, self.chain.seq);
        let fail = |what: String| damage(bytes, start, Some(seq), what);
        let (body, hash_line) = bytes[start..end].split_at(end - start - HASH_LINE);
        let hash = String::from_utf8_lossy(&hash_line[6..HASH_LINE - 1]).into_owned();
        if sha256_hex(body) != hash {
            return Err(fail("hash mismatch".to_owned()));
        }
        let text = std::str::from_utf8(body).map_err(|_| fail("it is not UTF-8".to_owned()))?;
        if !text.starts_with("---\n") {
            return Err(fail("it does not start with `---`".to_owned()));
        }
        // Recognizes another format before its fields are parsed.
        let format = if seq == 0 { written_format(text) } else { None };
        if let Some(format) = format.filter(|format| *format != FORMAT) {
            let what = format!("another version wrote it in format {format}; this one reads format {FORMAT}");
            return Err(Damage { other_format: true, ..fail(what) });
        }
        let (line, session) = read_document(text, hash, &mut self.room).map_err(fail)?;
        if line.seq != seq {
            return Err(fail(format!("its `seq` is {}, and {seq} is next", line.seq)));
        }
        if line.prev != self.chain.head {
            return Err(fail("its `prev` is not the hash of the document before it".to_owned()));
        }
        if seq == 0 {
            check_header(&line, &session).map_err(fail)?;
        } else if let Event::SessionForked { from, .. } = &line.stamped.event {
            if *from != self.chain.session || !is_session_id(&session) {
                return Err(fail("it forks a session that is not this one".to_owned()));
            }
        } else if session != self.chain.session {
            return Err(fail(format!("the document belongs to session `{session}`")));
        }
        self.chain = Chain { session, seq: seq + 1, head: line.hash.clone() };
        self.good = end;
        Ok(line)
    }
}

impl Iterator for LogReader<'_> {
    type Item = Result<LogEntry, Damage>;

    fn next(&mut self) -> Option<Self::Item> {
        let end = document_end(self.bytes, self.good)?;
        let line = self.document(end);
        if line.is_err() {
            // Ends the iteration after damage.
            self.bytes = &self.bytes[..self.good];
        }
        Some(line)
    }
}

pub fn fold(log: &EventLog) -> Session {
    let mut session = Session::default();
    for line in &log.lines {
        session.apply_entry(line);
    }
    session
}

/// Returns the end of the document at `start`: after its first line of `hash: `, 64 hex digits and a line
/// feed.
fn document_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        let is_hash = bytes.get(at..at + HASH_LINE).is_some_and(|line| {
            line.starts_with(b"hash: ")
                && line.ends_with(b"\n")
                && line[6..HASH_LINE - 1].iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        });
        if is_hash {
            return Some(at + HASH_LINE);
        }
        at += bytes[at..].iter().position(|byte| *byte == b'\n')? + 1;
    }
}

/// Returns the memory for a file's values, so that reading takes at most 64 MiB and 16 times its size. The
/// values exist in the events and in the state, and temporarily a third time.
fn room(size: usize) -> usize {
    12 * 1024 * 1024 + 4 * size
}

fn written_format(text: &str) -> Option<u32> {
    text.lines().find_map(|line| line.strip_prefix("format: "))?.parse().ok()
}

fn is_session_id(id: &str) -> bool {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !id.is_empty() && id.len() <= 200 && !id.starts_with('.') && id.chars().all(is_safe)
}

fn check_header(line: &LogEntry, session: &str) -> Result<(), String> {
    let Event::SessionOpened(opened) = &line.stamped.event else {
        return Err("the first event is not `session_opened`".to_owned());
    };
    if !is_session_id(session) {
        return Err("the session's id is not one this program makes".to_owned());
    }
    let load = Session::load_definition(opened).map(drop);
    load.map_err(|problem| format!("the header's definition does not load: {}", problem.message))
}

fn damage(bytes: &[u8], offset: usize, seq: Option<u64>, what: String) -> Damage {
    let line = 1 + bytes[..offset].iter().filter(|byte| **byte == b'\n').count() as u64;
    Damage { what, seq, line, offset, other_format: false }
}
