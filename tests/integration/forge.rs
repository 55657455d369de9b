//! The forger's hand: events read from a file, changed, and written under a chain that fits.

use roundtable::history::{Event, TimedEvent};
use roundtable::journal::{NO_HASH, read_log, write_document};
use serde_json::Value;

pub fn events(bytes: &[u8]) -> Vec<TimedEvent> {
    read_log(bytes).expect("whole").lines.into_iter().map(|line| line.stamped).collect()
}

/// The events as a file whose chain is whole.
pub fn chained(events: &[TimedEvent]) -> Vec<u8> {
    let (mut out, mut prev, mut id) = (String::new(), NO_HASH.to_owned(), String::new());
    for (seq, stamped) in events.iter().enumerate() {
        match &stamped.event {
            Event::SessionOpened(opened) if seq == 0 => id.clone_from(&opened.session),
            Event::SessionForked(forked) => id.clone_from(&forked.session),
            _ => {}
        }
        prev = write_document(seq as u64, &prev, &id, stamped, &mut out).expect("an event");
    }
    out.into_bytes()
}

/// Where each single value of an event stands.
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

/// The key that a value has wherever it stands in lists.
pub fn without_places(pointer: &str) -> String {
    let is_key = |part: &&str| part.parse::<usize>().is_err();
    pointer.split('/').filter(is_key).collect::<Vec<_>>().join("/")
}
