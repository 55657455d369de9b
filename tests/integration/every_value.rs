//! Every value of the scenarios' sessions, changed one at a time.
//!
//! The hash chain matches, as a forger would write it.
//!
//! Changes that `verify` does not find must be listed as unchecked. One value of each kind by default;
//! `ROUNDTABLE_CASES=full` changes up to four of each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use roundtable::history::{Event, TimedEvent, Timestamp};
use roundtable::journal::UNCHECKED;
use serde_json::Value;

use crate::cases;
use crate::forge::{Checked, events, leaves, without_places};
use crate::remote;
use crate::scenarios::{Recorded, recorded};

/// Valid values that do not occur in the scenarios.
const MORE: [(&str, &str); 3] = [
    ("round_closed/reason", "facilitator"),
    ("round_closed/reason", "deadline"),
    ("approval_given/by", "facilitator"),
];
pub struct Base {
    pub name: String,
    pub events: Vec<TimedEvent>,
    pub values: Vec<Value>,
}

struct Place {
    base: usize,
    event: usize,
    /// The event and the key, as in the table.
    kind: String,
    pointer: String,
    nth: usize,
}

#[test]
fn what_verify_does_not_find_is_what_it_says() {
    let sample = cases(1, 4);
    let bases = bases();
    let places = places(&bases);
    let pool = pool(&bases, &places);
    let checked: Vec<Checked<'_>> = bases.iter().map(|base| Checked::new(&base.events)).collect();
    let places: Vec<&Place> = places.iter().filter(|place| place.nth < sample).collect();
    let (next, unfound) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let work = || {
        while let Some(place) = places.get(next.fetch_add(1, Ordering::Relaxed)) {
            let base = &bases[place.base];
            let Some((changed, to)) = changed(base, place, &pool) else { continue };
            if !checked[place.base].is_found(place.event, &[&changed], place.event + 1) {
                let at = format!("{}, document {}, {} to {to}", base.name, place.event, place.pointer);
                unfound.lock().expect("no panic").entry(place.kind.clone()).or_insert(at);
            }
        }
    };
    std::thread::scope(|scope| (0..2).for_each(|_| drop(scope.spawn(work))));
    let (unfound, unchecked) = (unfound.into_inner().expect("no panic"), unchecked_keys());
    let is_unchecked = |kind: &str| {
        let key = |listed: &String| kind == *listed || kind.starts_with(&format!("{listed}/"));
        unchecked.iter().any(key) || kind.ends_with("/at")
    };
    let silent: Vec<_> = unfound.iter().filter(|(kind, _)| !is_unchecked(kind)).collect();
    assert!(silent.is_empty(), "not found, and not said to be so: {silent:#?}");
}

pub fn bases() -> Vec<Base> {
    let base = |name: &str, events: Vec<TimedEvent>| {
        let value = |stamped: &TimedEvent| serde_json::to_value(&stamped.event).expect("JSON");
        Base { name: name.to_owned(), values: events.iter().map(value).collect(), events }
    };
    let of_scenario = |recorded: &Recorded| {
        let name = recorded.folder.file_name().expect("a name");
        base(&name.to_string_lossy(), events(&recorded.session))
    };
    let mut bases: Vec<Base> = recorded().iter().map(of_scenario).collect();
    bases.push(base("remote", remote::recorded()));
    // A kind is tested in the shortest session that has it.
    bases.sort_by_key(|base| base.events.len());
    bases
}

/// Returns every value of every session; the names in a price table are one kind.
fn places(bases: &[Base]) -> Vec<Place> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut places = Vec::new();
    for (base, of) in bases.iter().enumerate() {
        for (event, value) in of.values.iter().enumerate() {
            let name = value["event"].as_str().expect("a name");
            let mut pointers = leaves(value);
            // These two are not keys of the event; the time is not either, but counts as a value.
            pointers.retain(|pointer| pointer != "/session" && pointer != "/event");
            pointers.push("/at".to_owned());
            for pointer in pointers {
                let mut kind = format!("{name}{}", without_places(&pointer));
                if kind.starts_with("session_opened/prices") {
                    "session_opened/prices".clone_into(&mut kind);
                }
                let count = counts.entry(kind.clone()).or_default();
                places.push(Place { base, event, kind, pointer, nth: *count });
                *count += 1;
            }
        }
    }
    places
}

/// Returns some values of each kind.
fn pool<'a>(bases: &'a [Base], places: &'a [Place]) -> BTreeMap<&'a str, Vec<Value>> {
    let mut pool: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for (kind, value) in MORE {
        pool.entry(kind).or_default().push(value.into());
    }
    for place in places {
        let values = pool.entry(&place.kind).or_default();
        if let Some(value) = bases[place.base].values[place.event].pointer(&place.pointer)
            && values.len() < 8
            && !values.contains(value)
        {
            values.push(value.clone());
        }
    }
    pool
}

/// Returns the event with another valid value, or `None` if no other value is possible.
fn changed(base: &Base, place: &Place, pool: &BTreeMap<&str, Vec<Value>>) -> Option<(TimedEvent, Value)> {
    let of = &base.events[place.event];
    if place.pointer == "/at" {
        let later = TimedEvent { at: Timestamp(of.at.0 + 1), event: of.event.clone() };
        return Some((later, "a millisecond later".into()));
    }
    let now = base.values[place.event].pointer(&place.pointer)?;
    let mut others: Vec<Value> =
        pool[place.kind.as_str()].iter().filter(|other| *other != now).cloned().collect();
    others.push(another(now));
    // A different value for each place, and each valid value once.
    let first = place.nth % others.len();
    others.rotate_left(first);
    others.into_iter().find_map(|other| {
        let mut value = base.values[place.event].clone();
        *value.pointer_mut(&place.pointer)? = other.clone();
        let event: Event = serde_json::from_value(value).ok()?;
        (event != of.event).then_some((TimedEvent { at: of.at, event }, other))
    })
}

fn another(value: &Value) -> Value {
    match value {
        Value::Bool(is) => (!is).into(),
        Value::Number(number) => match number.as_u64() {
            Some(number) => (number + 1).into(),
            None => (number.as_f64().unwrap_or_default() + 0.5).into(),
        },
        Value::String(text) => {
            let mut letters: Vec<char> = text.chars().collect();
            let middle = letters.len() / 2;
            match letters.get_mut(middle) {
                Some(letter) => *letter = if *letter == '0' { '1' } else { '0' },
                None => letters.push('0'),
            }
            letters.into_iter().collect::<String>().into()
        }
        _ => "0".into(),
    }
}

/// Returns the keys that the table lists as unchecked, as `event/key`.
fn unchecked_keys() -> BTreeSet<String> {
    let keys = |line: &'static str| {
        let (event, keys) = line.split_once(": ").expect("an event");
        let (keys, _) = keys.split_once(" (").expect("a reason");
        keys.split(", ").map(move |key| format!("{event}/{key}"))
    };
    UNCHECKED.lines().flat_map(keys).collect()
}
