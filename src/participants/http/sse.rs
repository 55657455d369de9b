//! Server-sent events: bytes in any pieces go in, the data of each event comes out.
//!
//! Pure. Lines end with LF, CR or both; comments, names and ids are passed over; a last event that
//! no blank line ends counts when the stream does. One event has a largest size.

/// One event may hold this many bytes.
const LARGEST: usize = 4 * 1024 * 1024;

/// A stream of events, as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Events {
    line: Vec<u8>,
    data: Option<Vec<u8>>,
    after_cr: bool,
}

/// An event that is larger than any reply.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

impl Events {
    /// Takes the next bytes; gives the data of the events they end.
    pub fn push(&mut self, mut bytes: &[u8]) -> Result<Vec<Vec<u8>>, TooLarge> {
        let mut ended = Vec::new();
        // An empty piece says nothing of what follows a CR.
        if !bytes.is_empty() && std::mem::take(&mut self.after_cr) {
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(at) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.line.extend_from_slice(&bytes[..at]);
            self.end_line(&mut ended)?;
            let crlf = bytes[at..].starts_with(b"\r\n");
            self.after_cr = bytes[at..] == *b"\r";
            bytes = &bytes[at + 1 + usize::from(crlf)..];
        }
        self.line.extend_from_slice(bytes);
        if self.line.len() > LARGEST { Err(TooLarge) } else { Ok(ended) }
    }

    /// The data of an event that the end of the stream ends.
    pub fn end(mut self) -> Option<Vec<u8>> {
        let mut ended = Vec::new();
        self.end_line(&mut ended).ok()?;
        self.data.take()
    }

    fn end_line(&mut self, ended: &mut Vec<Vec<u8>>) -> Result<(), TooLarge> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            ended.extend(self.data.take());
            return Ok(());
        }
        let Some(value) = line.strip_prefix(b"data") else { return Ok(()) };
        let value = match value.strip_prefix(b":") {
            Some(value) => value.strip_prefix(b" ").unwrap_or(value),
            None if value.is_empty() => value,
            None => return Ok(()),
        };
        match &mut self.data {
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
            None => self.data = Some(value.to_vec()),
        }
        if self.data.as_ref().is_some_and(|data| data.len() > LARGEST) { Err(TooLarge) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, proptest};

    fn read(pieces: &[&[u8]]) -> Vec<String> {
        let mut events = Events::default();
        let mut found = Vec::new();
        for piece in pieces {
            found.extend(events.push(piece).expect("small"));
        }
        found.extend(events.end());
        found.into_iter().map(|data| String::from_utf8(data).expect("text")).collect()
    }

    const STREAM: &str = "\u{feff}: OPENROUTER PROCESSING\r\n\r\nevent: x\rdata: one\rdata:two\r\r\ndata: {\"é\": 1}\nid: 7\n\n\n\ndatax: no\ndata\n\n:ping\n\ndata: [DONE]";

    #[test]
    fn every_cut_gives_the_same_events() {
        let whole = ["one\ntwo", "{\"é\": 1}", "", "[DONE]"];
        let bytes = STREAM.as_bytes();
        assert_eq!(read(&[bytes]), whole);
        for at in 0..bytes.len() {
            assert_eq!(read(&[&bytes[..at], &[], &bytes[at..]]), whole, "cut at {at}");
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(read(&single), whole);
    }

    #[test]
    fn an_event_has_a_largest_size() {
        let piece = vec![b'x'; 65_536];
        let mut events = Events::default();
        assert_eq!(events.push(b"data: "), Ok(Vec::new()));
        let mut pushed = (0..100).map(|_| events.push(&piece));
        assert!(pushed.any(|pushed| pushed == Err(TooLarge)));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in any::<Vec<u8>>()) {
            let mut events = Events::default();
            let _ = events.push(&bytes);
            let _ = events.end();
        }
    }
}
