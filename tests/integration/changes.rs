//! 10,000 random changes of session files, each found: by the file alone, or by the closing hash
//! where the change is one that a careful forger could have lived through.
//!
//! `CHANGES_SEED` draws other changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use roundtable::core::{Command, ExitCode, NextAction, decide, next};
use roundtable::history::{Event, SeatStatus, TimedEvent};
use roundtable::journal::{Disk, Verification, read_log, verify};
use roundtable::round::seal::{Nonces, RoundKey, Sealer, unseal};
use serde_json::Value;

use crate::cases;
use crate::forge::{chained, folded, leaves, without_places};
use crate::seats::{ONE_ROUND, Place, TWO_ROUNDS};

/// Random numbers from a seed.
struct Random(u64);

impl Random {
    fn below(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below
    }
}

/// A finished session: its bytes, its documents' places, its events, its closing hash.
struct Base {
    bytes: Vec<u8>,
    documents: Vec<std::ops::Range<usize>>,
    events: Vec<TimedEvent>,
    head: String,
}

impl Base {
    fn of(definition: &str) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let place = Place::new(Disk::default(), dir.path());
        assert_eq!(place.start(definition).done, Ok(ExitCode::Finished));
        let bytes = std::fs::read(place.file()).expect("a file");
        let lines = read_log(&bytes).expect("whole").lines;
        let head = lines.last().expect("documents").hash.clone();
        let is_start = |at: &usize| {
            [&b"---\nseq: "[..], b"--- # parts\nseq: "].iter().any(|mark| bytes[*at..].starts_with(mark))
        };
        let mut starts: Vec<usize> = (0..bytes.len()).filter(is_start).collect();
        assert_eq!(starts.len(), lines.len());
        starts.push(bytes.len());
        let documents = starts.windows(2).map(|two| two[0]..two[1]).collect();
        Self { bytes, documents, events: lines.into_iter().map(|line| line.stamped).collect(), head }
    }

    fn document_at(&self, byte: usize) -> u64 {
        self.documents.iter().position(|range| range.contains(&byte)).expect("inside") as u64
    }

    fn texts(&self) -> Vec<&[u8]> {
        self.documents.iter().map(|range| &self.bytes[range.clone()]).collect()
    }
}

/// A changed file.
struct Changed {
    bytes: Vec<u8>,
    /// What was done to it, for the count.
    kind: String,
    /// The document in which it must be found, where that is known.
    place: Option<u64>,
    /// Whether the file alone shows it.
    alone: bool,
}

impl Changed {
    fn raw(kind: &str, bytes: Vec<u8>) -> Self {
        Self { bytes, kind: kind.to_owned(), place: None, alone: true }
    }

    /// Under a chain that fits.
    fn forged(kind: &str, events: &[TimedEvent]) -> Self {
        Self::raw(kind, chained(events))
    }
}

fn change(base: &Base, random: &mut Random) -> Changed {
    match random.below(20) {
        0..=5 => bytes_flipped(base, random),
        6 | 7 => bytes_moved(base, random),
        8 | 9 => documents_moved(base, random),
        10 | 11 => events_moved(base, random),
        12 => answers_swapped(base, random),
        13 => seals_swapped(base, random),
        14 => key_changed(base, random),
        15 => sealed_anew(base, random),
        16 => cut_back(base, random),
        _ => value_changed(base, random),
    }
}

fn bytes_flipped(base: &Base, random: &mut Random) -> Changed {
    let at = random.below(base.bytes.len());
    let mut bytes = base.bytes.clone();
    bytes[at] ^= 1 << random.below(8);
    Changed { place: Some(base.document_at(at)), ..Changed::raw("a bit flipped", bytes) }
}

fn bytes_moved(base: &Base, random: &mut Random) -> Changed {
    let at = random.below(base.bytes.len() - 1);
    let to = (at + 1 + random.below(60)).min(base.bytes.len() - 1);
    let mut bytes = base.bytes.clone();
    let kind = match random.below(3) {
        0 => {
            bytes.drain(at..to);
            "bytes taken out"
        }
        1 => {
            let piece: Vec<u8> = (0..=random.below(40)).map(|_| random.below(256) as u8).collect();
            bytes.splice(at..at, piece);
            "bytes put in"
        }
        _ => {
            let from = random.below(base.bytes.len() - (to - at));
            bytes.copy_within(from..from + (to - at), at);
            if bytes == base.bytes {
                bytes[at] ^= 1;
            }
            "bytes written over"
        }
    };
    Changed::raw(kind, bytes)
}

fn documents_moved(base: &Base, random: &mut Random) -> Changed {
    let mut texts = base.texts();
    // Without its last documents a file is a shorter one: `cut_back`.
    let at = random.below(texts.len() - 1);
    let kind = match random.below(3) {
        0 => {
            texts.remove(at);
            "a document taken out"
        }
        1 => {
            texts.insert(random.below(texts.len()), texts[at]);
            "a document doubled"
        }
        _ => {
            let other = (at + 1 + random.below(texts.len() - 1)) % texts.len();
            texts.swap(at, other);
            "two documents swapped"
        }
    };
    Changed::raw(kind, texts.concat())
}

fn events_moved(base: &Base, random: &mut Random) -> Changed {
    let mut events = base.events.clone();
    let at = random.below(events.len() - 1);
    let (kind, alone) = match random.below(3) {
        0 => {
            events.remove(at);
            ("a document taken out under a chain that fits", true)
        }
        1 => {
            events.insert(random.below(events.len() + 1), events[at].clone());
            ("a document doubled under a chain that fits", true)
        }
        _ => {
            let other = (at + 1 + random.below(events.len() - 1)) % events.len();
            let (from, to) = (at.min(other), at.max(other));
            // In which order the seals of a round came cannot be told from another order.
            let is_free = events[from..=to].iter().all(|s| matches!(s.event, Event::BallotSealed(_)));
            events.swap(at, other);
            ("two documents swapped under a chain that fits", !is_free)
        }
    };
    Changed { alone, ..Changed::forged(kind, &events) }
}

/// Two different places at which `is` holds.
fn two(events: &[TimedEvent], random: &mut Random, is: impl Fn(&Event) -> bool) -> (usize, usize) {
    let all: Vec<usize> = (0..events.len()).filter(|at| is(&events[*at].event)).collect();
    let one = random.below(all.len());
    (all[one], all[(one + 1 + random.below(all.len() - 1)) % all.len()])
}

fn answers_swapped(base: &Base, random: &mut Random) -> Changed {
    let mut events = base.events.clone();
    let (one, other) = two(&events, random, |event| matches!(event, Event::AnswerRevealed(_)));
    let (Event::AnswerRevealed(a), Event::AnswerRevealed(b)) =
        (events[one].event.clone(), events[other].event.clone())
    else {
        unreachable!()
    };
    let place = |of: &roundtable::history::AnswerRevealed, at: &roundtable::history::AnswerRevealed| {
        let mut moved = of.clone();
        moved.step.clone_from(&at.step);
        moved.round.clone_from(&at.round);
        moved.participant.clone_from(&at.participant);
        Event::AnswerRevealed(Arc::new(moved))
    };
    events[one].event = place(&b, &a);
    events[other].event = place(&a, &b);
    let kind =
        if a.round == b.round { "answers swapped between seats" } else { "answers swapped between rounds" };
    Changed { place: Some(one.min(other) as u64), ..Changed::forged(kind, &events) }
}

fn seals_swapped(base: &Base, random: &mut Random) -> Changed {
    let mut events = base.events.clone();
    let (one, other) = two(&events, random, |event| matches!(event, Event::BallotSealed(_)));
    let of = |event: &Event| match event {
        Event::BallotSealed(sealed) => sealed.seal.clone(),
        _ => unreachable!(),
    };
    let (first, second) = (of(&events[one].event), of(&events[other].event));
    for (at, seal) in [(one, second), (other, first)] {
        if let Event::BallotSealed(sealed) = &mut events[at].event {
            sealed.seal = seal;
        }
    }
    Changed::forged("sealed answers swapped", &events)
}

fn key_changed(base: &Base, random: &mut Random) -> Changed {
    let mut events = base.events.clone();
    let places: Vec<usize> =
        (0..events.len()).filter(|at| matches!(events[*at].event, Event::RoundClosed(_))).collect();
    let at = places[random.below(places.len())];
    let Event::RoundClosed(closed) = &mut events[at].event else { unreachable!() };
    match random.below(3) {
        0 => closed.key = RoundKey::new([random.below(256) as u8; 32]).publish(),
        1 => closed.key.truncate(random.below(64)),
        _ => {
            let digit = random.below(64);
            let other = if closed.key.as_bytes()[digit] == b'0' { "1" } else { "0" };
            closed.key.replace_range(digit..=digit, other);
        }
    }
    Changed::forged("a key changed", &events)
}

/// Everything right but the vote: the record, its seal and commitment, the reveal, the tally and all
/// hashes are made anew, as only somebody can who has the key. Nothing in the file speaks against it.
fn sealed_anew(base: &Base, random: &mut Random) -> Changed {
    let is_close = |stamped: &TimedEvent| matches!(stamped.event, Event::RoundClosed(_));
    let close = base.events.iter().rposition(is_close).expect("closed");
    let Event::RoundClosed(closed) = &base.events[close].event else { unreachable!() };
    let key = RoundKey::from_hex(&closed.key).expect("a key");
    let mut events = base.events[..close].to_vec();
    let session = folded(&events);
    let round = session.rounds.last().expect("a round");
    let sealed: Vec<(&String, _)> = round
        .seats
        .iter()
        .filter_map(|(name, seat)| match &seat.status {
            SeatStatus::Sealed(sealed) => Some((name, sealed)),
            _ => None,
        })
        .collect();
    let (name, before) = sealed[random.below(sealed.len())];
    let binding = round.binding(name);
    let record = unseal(&key, binding, before).expect("opens").record;
    let other = if record.contains("alpha") { ("alpha", "beta") } else { ("beta", "alpha") };
    let nonces = Nonces { cipher: [random.below(256) as u8; 32], commitment: [7; 32] };
    let after = Sealer::new(&key).seal(&nonces, binding, &record.replace(other.0, other.1)).expect("short");
    for stamped in &mut events {
        if let Event::BallotSealed(sealed) = &mut stamped.event
            && sealed.round == round.opened.round
            && sealed.participant == *name
        {
            sealed.seal = after.clone().into();
        }
    }
    follow(&mut events, &key, base.events[close].at);
    Changed { alone: false, ..Changed::forged("an answer sealed anew, everything after it too", &events) }
}

/// What the core makes of the rest.
fn follow(events: &mut Vec<TimedEvent>, key: &RoundKey, at: roundtable::history::Timestamp) {
    let mut session = folded(events);
    loop {
        let command = match next(&session) {
            NextAction::Decide(command) => command,
            NextAction::CloseRound(reason) => Command::CloseRound { reason, key: key.clone() },
            _ => return,
        };
        for event in decide(&session, command, at).expect("decided") {
            let stamped = TimedEvent { at, event };
            session.apply(&stamped);
            events.push(stamped);
        }
    }
}

fn cut_back(base: &Base, random: &mut Random) -> Changed {
    if random.below(2) == 0 {
        let count = 1 + random.below(base.documents.len() - 1);
        let bytes = base.bytes[..base.documents[count].start].to_vec();
        return Changed { alone: false, ..Changed::raw("cut back at a document's end", bytes) };
    }
    let mut at = 1 + random.below(base.bytes.len() - 1);
    if base.documents.iter().any(|range| range.start == at) {
        at -= 1;
    }
    Changed::raw("cut off within a document", base.bytes[..at].to_vec())
}

/// What is on record and follows from nothing else in the file: how long things took, what the header
/// says of itself, sentences.
const ONLY_TOLD: [&str; 6] = [
    "session_opened/definition_file",
    "session_opened/input",
    "session_opened/participants/model",
    "session_opened/personas/description",
    "session_opened/program",
    "work_item_returned/latency_ms",
];

fn value_changed(base: &Base, random: &mut Random) -> Changed {
    loop {
        let at = random.below(base.events.len());
        let mut value = serde_json::to_value(&base.events[at].event).expect("JSON");
        let mut leaves = leaves(&value);
        // These two stand outside the event's own keys.
        leaves.retain(|leaf| leaf != "/session" && leaf != "/event");
        let pointer = leaves[random.below(leaves.len())].clone();
        let leaf = value.pointer_mut(&pointer).expect("a leaf");
        *leaf = other_value(leaf, random);
        let Ok(event) = serde_json::from_value::<Event>(value) else { continue };
        if event == base.events[at].event {
            continue;
        }
        let mut events = base.events.clone();
        let name = serde_json::to_value(&event).expect("JSON")["event"].as_str().expect("a name").to_owned();
        events[at].event = event;
        let kind = format!("{name}{}", without_places(&pointer));
        let alone = !ONLY_TOLD.contains(&kind.as_str());
        return Changed { alone, ..Changed::forged(&kind, &events) };
    }
}

fn other_value(value: &Value, random: &mut Random) -> Value {
    match value {
        Value::Bool(is) => (!is).into(),
        Value::Number(number) => match number.as_u64() {
            Some(number) => (number + 1 + random.below(9) as u64).into(),
            None => (number.as_f64().unwrap_or_default() + 0.5).into(),
        },
        Value::String(text) if text.is_empty() => "x".into(),
        Value::String(text) => {
            let at = text.char_indices().nth(random.below(text.chars().count())).map_or(0, |(at, _)| at);
            let (before, after) = text.split_at(at);
            let first = after.chars().next().unwrap_or('x');
            let other = if first == '0' { '1' } else { '0' };
            format!("{before}{other}{}", &after[first.len_utf8()..]).into()
        }
        _ => "x".into(),
    }
}

/// What was found of a change, and by what.
fn judge(base: &Base, changed: &Changed, count: usize) -> bool {
    let Changed { bytes, kind, place, alone } = changed;
    assert_ne!(*bytes, base.bytes, "{kind} is no change");
    let found = verify(bytes, None);
    in_words(&found, *place, kind);
    if found.findings.is_empty() {
        assert!(!alone, "change {count}: {kind} is not found by the file alone");
        let by_hash = verify(bytes, Some(&base.head));
        assert!(!by_hash.findings.is_empty(), "change {count}: {kind} is not found");
    }
    !found.findings.is_empty()
}

/// Where a finding's place is known, it is the document that was changed, or the one before it when
/// the change joins the two.
fn in_words(found: &Verification, place: Option<u64>, kind: &str) {
    assert!(found.findings.iter().all(|finding| !finding.what.is_empty()), "{kind}");
    let (Some(place), Some(first)) = (place, found.findings.first()) else { return };
    let Some(at) = first.place else { return };
    assert!(at.seq == place || at.seq + 1 == place, "{kind} in document {place}: {first}");
    assert!(
        first
            .to_string()
            .starts_with(&format!("document {} (line {}, byte {}): ", at.seq, at.line, at.offset))
    );
}

#[test]
fn every_random_change_is_found() {
    let wanted = cases(400, 10_000);
    let seed = std::env::var("CHANGES_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1_u64);
    let bases = [Base::of(ONE_ROUND), Base::of(TWO_ROUNDS)];
    for base in &bases {
        assert_eq!(verify(&base.bytes, Some(&base.head)).findings, []);
        assert_eq!(chained(&base.events), base.bytes, "the forger's hand is the writer's");
    }
    let threads = std::thread::available_parallelism().map_or(2, std::num::NonZero::get).min(8);
    let work = |thread: usize| {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(thread as u64) | 1);
        let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for count in (thread..wanted).step_by(threads) {
            let base = &bases[usize::from(random.below(4) == 0)];
            let changed = change(base, &mut random);
            let alone = judge(base, &changed, count);
            let entry = counts.entry(changed.kind).or_default();
            entry.0 += 1;
            entry.1 += usize::from(alone);
        }
        counts
    };
    let counts = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|thread| scope.spawn(move || work(thread))).collect();
        running.into_iter().map(|thread| thread.join().expect("all found")).collect::<Vec<_>>()
    });
    let mut all: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (kind, (tried, alone)) in counts.into_iter().flatten() {
        let entry = all.entry(kind).or_default();
        *entry = (entry.0 + tried, entry.1 + alone);
    }
    let tried: usize = all.values().map(|(tried, _)| tried).sum();
    let alone: usize = all.values().map(|(_, alone)| alone).sum();
    assert_eq!(tried, wanted);
    println!("{tried} changes, all found: {alone} by the file alone, the rest by its closing hash");
    for (kind, (tried, alone)) in &all {
        println!("{tried:6} {alone:6}  {kind}");
    }
}
