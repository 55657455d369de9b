//! Forging of session files: changed events with a matching hash chain.

use roundtable::history::{LogEntry, Session, TimedEvent};
use roundtable::journal::{Chain, Verifier, VerifyFinding, read_log, verify};
use serde_json::Value;

pub fn events(bytes: &[u8]) -> Vec<TimedEvent> {
    read_log(bytes).expect("whole").lines.into_iter().map(|line| line.stamped).collect()
}

pub fn chained(events: &[TimedEvent]) -> Vec<u8> {
    let (mut out, mut chain) = (String::new(), Chain::default());
    for stamped in events {
        chain.write(stamped.clone(), &mut out);
    }
    out.into_bytes()
}

pub fn entries(events: &[TimedEvent]) -> Vec<LogEntry> {
    let mut chain = Chain::default();
    let entry = |stamped: &TimedEvent| chain.write(stamped.clone(), &mut String::new());
    events.iter().map(entry).collect()
}

pub fn folded(events: &[TimedEvent]) -> Session {
    let mut session = Session::default();
    for line in entries(events) {
        session.apply_entry(&line);
    }
    session
}

/// A session verified up to each document, so that a change is checked only from its place on.
pub struct Checked<'a> {
    events: &'a [TimedEvent],
    up_to: Vec<(Chain, Verifier)>,
}

impl<'a> Checked<'a> {
    pub fn new(events: &'a [TimedEvent]) -> Self {
        let mut up_to = vec![<(Chain, Verifier)>::default()];
        for stamped in events {
            let (mut chain, mut verifier) = up_to[up_to.len() - 1].clone();
            check(&mut chain, &mut verifier, stamped);
            up_to.push((chain, verifier));
        }
        Self { events, up_to }
    }

    /// Returns the first errors of a session that has these events after the first `at`, and its last hash.
    pub fn findings<'e>(
        &self,
        at: usize,
        rest: impl Iterator<Item = &'e TimedEvent>,
    ) -> (Vec<VerifyFinding>, String) {
        let (mut chain, mut verifier) = self.up_to[at].clone();
        for stamped in rest {
            check(&mut chain, &mut verifier, stamped);
            if !verifier.result.findings.is_empty() {
                break;
            }
        }
        (verifier.result.findings, chain.head)
    }

    /// Returns whether `verify` finds an error if `others` replace the events from `at` to `end`.
    pub fn is_found(&self, at: usize, others: &[&TimedEvent], end: usize) -> bool {
        let rest = others.iter().copied().chain(&self.events[end..]);
        // Some errors are found only when the bytes are read.
        let whole = || chained(&self.events[..at].iter().chain(rest.clone()).cloned().collect::<Vec<_>>());
        !self.findings(at, rest.clone()).0.is_empty() || !verify(&whole(), None).findings.is_empty()
    }
}

fn check(chain: &mut Chain, verifier: &mut Verifier, stamped: &TimedEvent) {
    let mut text = String::new();
    let line = chain.write(stamped.clone(), &mut text);
    verifier.check_document(&line, text.as_bytes());
}

pub fn leaves(value: &Value) -> Vec<String> {
    let (mut out, mut todo) = (Vec::new(), vec![(String::new(), value)]);
    while let Some((at, value)) = todo.pop() {
        match value {
            Value::Object(map) => {
                let under = |key: &str| format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
                todo.extend(map.iter().rev().map(|(key, value)| (under(key), value)));
            }
            Value::Array(items) => {
                todo.extend(items.iter().enumerate().rev().map(|(i, value)| (format!("{at}/{i}"), value)));
            }
            _ => out.push(at),
        }
    }
    out
}

pub fn without_places(pointer: &str) -> String {
    let is_key = |part: &&str| part.parse::<usize>().is_err();
    pointer.split('/').filter(is_key).collect::<Vec<_>>().join("/")
}
