//! The forger's hand: events read from a file, changed, and written under a chain that fits.

use roundtable::history::{LogEntry, Session, TimedEvent};
use roundtable::journal::{Chain, read_log};
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
