//! An answer's findings, and the copy that is handed on: every text of a JSON value, keys too.

use serde_json::{Map, Value};

use super::leak::{Hit, Leak, LeakScanner};

/// Everything found in a value, in its order. `mask` says what stands for a hit, if anything does.
pub fn leaks_in(
    scan: &LeakScanner,
    value: &Value,
    of: (&str, &str),
    mask: &dyn Fn(&Hit) -> Option<String>,
) -> Vec<Leak> {
    let mut found = Vec::new();
    let mut note = |text: &str, at: &str, key: bool| {
        found.extend(scan.hits(text).into_iter().map(|hit| Leak {
            participant: of.0.to_owned(),
            item: of.1.to_owned(),
            kind: hit.kind,
            place: at.to_owned(),
            key,
            start: hit.start,
            end: hit.end,
            text: text.get(hit.start..hit.end).unwrap_or_default().to_owned(),
            mask: mask(&hit),
        }));
    };
    each(value, &mut String::new(), &mut note);
    found
}

/// Sees every text of a value, with its pointer; a key before what is under it.
fn each(value: &Value, at: &mut String, see: &mut dyn FnMut(&str, &str, bool)) {
    let length = at.len();
    match value {
        Value::String(text) => see(text, at, false),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                at.push('/');
                at.push_str(&index.to_string());
                each(item, at, see);
                at.truncate(length);
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                step_into(at, key);
                // The keys of `{result, error}` itself are nobody's words.
                if length > 0 {
                    see(key, at, true);
                }
                each(item, at, see);
                at.truncate(length);
            }
        }
        _ => {}
    }
}

/// The pointer to what stands under a key (RFC 6901).
fn step_into(at: &mut String, key: &str) {
    at.push('/');
    at.push_str(&key.replace('~', "~0").replace('/', "~1"));
}

/// The copy of a value with everything masked that has a mask. A finding that does not fit the value
/// changes nothing.
pub fn masked(value: &Value, leaks: &[Leak]) -> Value {
    if leaks.iter().all(|leak| leak.mask.is_none()) {
        return value.clone();
    }
    copy(value, &mut String::new(), leaks)
}

fn copy(value: &Value, at: &mut String, leaks: &[Leak]) -> Value {
    let length = at.len();
    match value {
        Value::String(text) => replaced(text, at, leaks, false).into(),
        Value::Array(items) => {
            let mut copies = Vec::with_capacity(items.len());
            for (index, item) in items.iter().enumerate() {
                at.push('/');
                at.push_str(&index.to_string());
                copies.push(copy(item, at, leaks));
                at.truncate(length);
            }
            Value::Array(copies)
        }
        Value::Object(map) => {
            let mut copies = Map::with_capacity(map.len());
            for (key, item) in map {
                step_into(at, key);
                let mut name = replaced(key, at, leaks, true);
                // Two keys that are masked alike both stay.
                while name != *key && (copies.contains_key(&name) || map.contains_key(&name)) {
                    name.push('\'');
                }
                copies.insert(name, copy(item, at, leaks));
                at.truncate(length);
            }
            Value::Object(copies)
        }
        other => other.clone(),
    }
}

fn replaced(text: &str, at: &str, leaks: &[Leak], key: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for leak in leaks.iter().filter(|leak| leak.place == at && leak.key == key) {
        let Some(mask) = &leak.mask else { continue };
        let before = text.get(done..leak.start);
        if let (Some(before), true) = (before, text.get(leak.start..leak.end) == Some(leak.text.as_str())) {
            out.push_str(before);
            out.push_str(mask);
            done = leak.end;
        }
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}
