//! No promise hangs on a sentence: what a file says in words may be worded otherwise, data may not.
//!
//! `tests/fixtures/format-2/older-words.s2s` was written by a version with other words for nearly all.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use roundtable::history::{Event, Session, TimedEvent};
use roundtable::journal::{PresentWords, read_log, verify};
use roundtable::report;
use serde_json::Value;

use crate::cases;
use crate::forge::{chained, events, leaves, without_places};
use crate::program::Desk;
use crate::pty::Screen;
use crate::scenarios;

/// Every sentence that follows from data, and data beside it.
const SENTENCES: [(&str, &str); 9] = [
    ("tally_made/steps", "/asked"),
    ("tally_made/reason", "/quorum_met"),
    ("tally_made/tier_because", "/tier"),
    ("tally_made/order_by", "/order/0/0"),
    ("step_finished/error", "/success"),
    ("approval_requested/message", "/choices/0"),
    ("session_closed/reason", "/exit_code"),
    ("answer_revealed/reason", "/outcome"),
    ("answer_revealed/replies/reason", "/latency_ms"),
];

fn fixture(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name);
    fs::read(path).expect("readable")
}

/// Files of each format, and one of this version with answers that do not count.
fn files() -> Vec<Vec<u8>> {
    let name = |format: &str, line: &str| format!("{format}/{}.s2s", line.split(':').next().expect("a name"));
    let of = |format: &'static str| {
        let results = String::from_utf8(fixture(&format!("{format}/results.txt"))).expect("UTF-8");
        results.lines().rev().map(|line| fixture(&name(format, line))).collect::<Vec<_>>()
    };
    let home = tempfile::tempdir().expect("a folder");
    let scenario = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios/abstained-and-invalid");
    let (new, _) = scenarios::recorded(&scenario, home.path());
    [vec![fs::read(new).expect("readable")], of("format-2"), of("format-1")].concat()
}

fn as_json(event: &Event) -> Value {
    serde_json::to_value(event).expect("JSON")
}

/// All that a file shows: its reports, and its events in words.
fn shown(file: &[u8]) -> Vec<String> {
    let (lines, session) = PresentWords::of_log(read_log(file).expect("whole").lines);
    let mut texts = vec![
        report::markdown(&session),
        report::madr(&session),
        report::csv(&session),
        report::json(&session).to_string(),
    ];
    let mut session = Session::default();
    for line in &lines {
        session.apply(&line.stamped);
        texts.extend(report::event_line(&line.stamped.event, line.stamped.at, &session));
    }
    texts
}

/// Where the sentences of a file stand: event, kind and pointer.
fn sentences(file: &[TimedEvent]) -> Vec<(usize, usize, String)> {
    let Event::SessionOpened(opened) = &file[0].event else { panic!("no header") };
    let texts = |name: &str| {
        let of_kind =
            file.iter().map(|stamped| as_json(&stamped.event)).filter(|value| value["event"] == name);
        of_kind.map(|value| value.to_string()).collect::<String>()
    };
    // What came back for a work item and what the definition asks are facts.
    let facts = texts("work_item_returned") + &opened.definition;
    let mut found = Vec::new();
    for (at, stamped) in file.iter().enumerate() {
        let value = as_json(&stamped.event);
        for pointer in leaves(&value) {
            let kind = format!("{}{}", value["event"].as_str().expect("a name"), without_places(&pointer));
            let Some(kind) = SENTENCES.iter().position(|(known, _)| *known == kind) else { continue };
            // Older files hold them in the sealed record.
            let is_sealed = SENTENCES[kind].0.starts_with("answer_revealed") && opened.reply_rules.is_none();
            let text = value.pointer(&pointer).and_then(Value::as_str);
            if text.is_some_and(|text| !is_sealed && !facts.contains(text)) {
                found.push((at, kind, pointer));
            }
        }
    }
    found
}

fn with(file: &[TimedEvent], at: usize, change: impl Fn(&mut Value)) -> Vec<TimedEvent> {
    let mut value = as_json(&file[at].event);
    change(&mut value);
    let mut file = file.to_vec();
    file[at].event = serde_json::from_value(value).expect("an event");
    file
}

/// The file as a version would have written it that has other words: with what repeats the sentence.
fn repeated(file: &[TimedEvent], before: &str, after: &str) -> Vec<TimedEvent> {
    let escaped = |text: &str| serde_json::to_string(text).expect("JSON").trim_matches('"').to_owned();
    let reword = |stamped: &TimedEvent| {
        let text = as_json(&stamped.event).to_string().replace(&escaped(before), after);
        TimedEvent { at: stamped.at, event: serde_json::from_str(&text).expect("an event") }
    };
    // A snapshot is covered by its hash, and not made again.
    let is_frozen = |event: &Event| matches!(event, Event::RoundOpened(_));
    file.iter()
        .map(|stamped| if is_frozen(&stamped.event) { stamped.clone() } else { reword(stamped) })
        .collect()
}

fn changed_data(value: &Value) -> Value {
    match value {
        Value::Bool(is) => (!is).into(),
        Value::Number(number) => (number.as_u64().expect("a whole number") + 1).into(),
        Value::String(text) if text == "invalid" => "refused".into(),
        Value::String(text) if text == "weak" => "strong".into(),
        Value::String(text) if matches!(text.as_str(), "strong" | "unanimous") => "weak".into(),
        other => format!("{}x", other.as_str().unwrap_or_default()).into(),
    }
}

#[test]
fn sentences_may_be_worded_otherwise_and_data_beside_them_not() {
    const OTHER: &str = "in other words";
    let (mut verified, mut compared) = (BTreeSet::new(), BTreeSet::new());
    let (sample, mut counts) = (cases(1, usize::MAX), [0; SENTENCES.len()]);
    for bytes in files() {
        if counts.iter().all(|count| *count >= sample) {
            break;
        }
        let (file, as_it_was) = (events(&bytes), LazyCell::new(|| shown(&bytes)));
        let hides_names =
            matches!(&file[0].event, Event::SessionOpened(opened) if opened.pseudonyms.is_some());
        let mut tried = counts;
        for (at, kind, pointer) in sentences(&file) {
            if tried[kind] >= sample {
                continue;
            }
            tried[kind] += 1;
            let (name, beside) = SENTENCES[kind];
            let what = format!("{name} of document {at}");
            let old = as_json(&file[at].event)
                .pointer(&pointer)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned();
            let reword = |value: &mut Value| *value.pointer_mut(&pointer).expect("there") = OTHER.into();
            let edited = with(&file, at, reword);
            assert_eq!(shown(&chained(&edited)), *as_it_was, "{what}");
            // What was sent has its hash, and may name seats by their pseudonyms.
            let is_sent = |stamped: &TimedEvent| {
                matches!(&stamped.event, Event::WorkItemOffered(item) if item.task.is_some())
                    && (hides_names || as_json(&stamped.event).to_string().contains(&old))
            };
            if !file[at..].iter().any(is_sent) {
                let reworded = repeated(&edited, &old, OTHER);
                assert_eq!(verify(&chained(&reworded), None).findings, [], "{what}: {old}");
                verified.insert(name);
                counts[kind] += 1;
            }
            if as_json(&file[at].event).pointer(beside).is_some() {
                let other = with(&edited, at, |value| {
                    let place = value.pointer_mut(beside).expect("there");
                    *place = changed_data(place);
                });
                assert_ne!(verify(&chained(&other), None).findings, [], "{beside} beside {what}");
                compared.insert(name);
            }
        }
    }
    let all: BTreeSet<&str> = SENTENCES.iter().map(|(name, _)| *name).collect();
    assert_eq!((verified, compared), (all.clone(), all));
}

#[test]
fn older_words_are_shown_as_present_ones_and_stay_in_what_was_sent() {
    let bytes = fixture("format-2/older-words.s2s");
    let recorded = String::from_utf8(bytes.clone()).expect("UTF-8");
    let shown = shown(&bytes).join("\n");
    for (before, now) in [
        ("a majority is 3", "majority: 3"),
        ("are level for last", "tie for last"),
        ("it would close a cycle", "would create a cycle"),
        ("medians are taken away", "remove one median grade"),
        ("one ballot alone is no unanimity", "a single ballot is not unanimity"),
        ("bob blocks until: keep", "bob blocks; required change: keep"),
    ] {
        assert!(recorded.contains(before) && shown.contains(now), "{now}");
        assert!(!shown.lines().any(|line| line.contains(before) && !line.contains("\"data\"")), "{before}");
    }
    let log = read_log(&bytes).expect("whole");
    let mut items = log.lines.iter().filter_map(|line| match &line.stamped.event {
        Event::WorkItemOffered(item) => item.task.as_ref()?.prompt.clone(),
        _ => None,
    });
    assert!(items.any(|prompt| prompt.contains("withheld: it says who its author is, or names somebody")));
}

/// A session in older words that stops before a step, and what answers the rest of it.
fn stopped_before(next: &str) -> Desk {
    let file = events(&fixture("format-2/older-words.s2s"));
    let is_next =
        |stamped: &TimedEvent| matches!(&stamped.event, Event::StepStarted { step, .. } if step == next);
    let cut = file.iter().position(is_next).expect("a step");
    let desk = Desk::with("question: Q\n");
    fs::write(desk.path("old.s2s"), chained(&file[..cut])).expect("writable");
    let seats =
        |vote: &str| ["ann", "bob", "cleo", "dan"].map(|seat| format!("{seat}: {{vote: {vote}}}")).join(", ");
    let (left, red) = (seats("left"), seats("red"));
    let answers =
        format!("few: {{{left}}}\nsaid: Painted.\nsum: Done.\nagain: {{{red}}}\nagain-exhausted: stop\n");
    desk.write("answers.yaml", answers);
    desk
}

/// What is sent next is made of what was recorded, whoever reads it in other words beside.
#[test]
fn a_session_in_older_words_goes_on() {
    let desk = stopped_before("both");
    let ran = desk.run(["resume", "old.s2s", "--answers", "answers.yaml"]).code(3);
    assert!(ran.out.contains("1 of 4 took part, 4 are needed."), "{}", ran.out);
    desk.run(["verify", "old.s2s"]).code(0);
    assert_eq!(desk.run(["report", "old.s2s"]).code(0).out, ran.out);
}

#[test]
fn the_screen_shows_present_words_and_opens_the_round_with_the_recorded_ones() {
    let desk = stopped_before("few");
    let mut screen = Screen::open(&desk, (130, 45), &["--answers", "answers.yaml", "old.s2s"]);
    screen.wait_for(&["Unfinished session", "required change: keep the old door"]);
    screen.press("\r", &["DRAFT", "one ballot alone is no unanimity"]);
    screen.press("o", &["Decision: left"]);
    screen.kill();
    desk.run(["verify", "old.s2s"]).code(0);
}
