//! Written YAML reads back equal, here and in `PyYAML` (`.ci/run`).
//!
//! The texts are a list of difficult ones and up to 10,000 generated from a seed. Each is used in every place
//! of a snapshot with foreign text, and in an event of the log.

use std::fmt::Write as _;

use roundtable::ballot::{BallotForm, BallotKind};
use roundtable::history::{Event, TimedEvent, Timestamp};
use roundtable::journal::read_log;
use roundtable::round::material::{AgendaItem, Artifact, SnapshotContent};
use roundtable::round::snapshot::{AddressLines, Snapshot, address};
use roundtable::yaml::{Out, read, read_own};
use serde_json::{Value, json};

use crate::cases;
use crate::forge::chained;
use crate::oracle::{Dice, oracle_file};

const PER_SNAPSHOT: usize = 10;

fn texts() -> Vec<String> {
    let long_key = "k".repeat(1_500);
    let long = ["lorem ipsum: dolor # sit ", "é\u{1f600}"].map(|part| part.repeat(3_000));
    let nasty = nasty().map(str::to_owned).chain(long).chain([long_key]);
    nasty.chain(generated(20_261_121, cases(1_000, 10_000))).collect()
}

fn snapshot(texts: &[String]) -> (String, Value) {
    let text = |n: usize| texts[n % texts.len()].as_str();
    let owned = |n: usize| text(n).to_owned();
    let artifact = Artifact {
        id: owned(3),
        summary: owned(4),
        details: vec![("title", text(5).into()), ("acceptance", json!([text(6), [text(7)]]))],
        relevant: true,
        source: None,
    };
    let form = BallotForm::over(BallotKind::Choice, vec![owned(2), owned(3)]);
    let past = [json!({ "round": 1, "question": text(0), "synthesis": text(1), "outcome": text(0) })];
    let agenda = [AgendaItem { id: owned(8), title: owned(9), status: owned(0), reason: None }];
    let list = json!([text(0), [], {}, [text(1), { text(2): null }]]);
    let context = json!({ text(7): { text(8): text(9), "list": list } });
    let conflicts = [json!({ "between": [text(5)], text(6): text(7) })];
    let reasons = [json!({ "option": text(2), "for": [text(3)], "against": [text(4)] })];
    let counts = json!({ text(5): 1 });
    let material = SnapshotContent {
        project_summary: Some(text(0)),
        goal: Some(text(1)),
        constraints: &[owned(2), owned(3)],
        current_round: 2,
        question: text(4),
        exploration: Some(text(5)),
        ballot: Some(&form),
        agenda: &agenda,
        artifacts: vec![&artifact],
        open_conflicts: conflicts.to_vec(),
        open_questions: vec![text(6).into()],
        recent_rounds: past.to_vec(),
        earlier_reasons: reasons.to_vec(),
        earlier_counts: Some(counts.clone()),
        context: context.as_object().cloned().expect("a map"),
        linked_tasks: owned(8),
    };
    let mut wanted = json!({
        "project_summary": text(0), "goal": text(1), "constraints": [text(2), text(3)], "current_round": 2,
        "question": text(4), "exploration": text(5),
        "ballot": { "kind": "choice", "options": form.options },
        "agenda": [{ "id": text(8), "title": text(9), "status": text(0) }],
        "artifacts_snapshot": [{
            "id": text(3), "summary": text(4), "title": text(5), "acceptance": [text(6), [text(7)]],
        }],
        "open_conflicts": conflicts, "open_questions": [text(6)],
        "recent_rounds": past, "earlier_reasons": reasons, "earlier_counts": counts,
        "context": context, "linked_tasks": text(8),
    });
    let map = wanted.as_object_mut().expect("a map");
    map.retain(|_, value| value != "");
    let (lines, told) = address_lines([text(9), text(1), text(2), text(8), text(6), text(7)]);
    map.extend(told);
    (format!("{}{lines}", Snapshot::freeze(&material).text), json!({ "participant_context": wanted }))
}

/// Returns the addressed lines with the texts in every place, and their expected value.
fn address_lines(texts: [&str; 6]) -> (String, serde_json::Map<String, Value>) {
    let [role, directive, own_directive, vote, first, second] = texts;
    let order = [first.to_owned(), second.to_owned()];
    let own = json!({ "vote": vote });
    let lines = AddressLines {
        role,
        directive: Some(directive),
        own_directive: Some(own_directive),
        earlier_ballot: own.as_object(),
        option_order: Some(&order),
    };
    let told = json!({
        "your_role": role, "facilitator_directive": directive, "your_directive": own_directive,
        "your_earlier_ballot": own, "your_option_order": order,
    });
    (address(lines), told.as_object().cloned().unwrap_or_default())
}

fn written(value: &Value, words: bool) -> String {
    let Out::Map(entries) = Out::json(value, words) else { panic!("a map") };
    let mut yaml = String::new();
    Out::write_entries(&entries, 0, &mut yaml);
    yaml
}

/// Returns snapshots over all texts, and each text alone as a key, a value and an item.
fn texts_in_every_place() -> Vec<(String, Value)> {
    let texts = texts();
    let mut cases: Vec<_> = texts.chunks(PER_SNAPSHOT).map(snapshot).collect();
    for text in &texts[..nasty().count() + 3] {
        let value = json!({ text.as_str(): text, "items": [text, { text.as_str(): [text] }, [[text]]] });
        for words in [true, false] {
            cases.push((written(&value, words), value.clone()));
        }
    }
    cases
}

#[test]
fn written_yaml_is_read_by_our_reader() {
    let all = texts_in_every_place();
    save_for_pyyaml(&all, "texts");
    for (yaml, wanted) in all {
        let found = read_own(&yaml, &mut { usize::MAX });
        assert_eq!(found.as_ref(), Ok(&wanted), "in {yaml:?}");
        assert!(!yaml.contains('\r'), "a raw CR in {yaml:?}");
        assert_eq!(read(&yaml, "f").map(|node| node.to_json()), Ok(wanted));
    }
}

#[test]
fn every_character_survives() {
    let mut all = (0..=0x0010_ffff).filter_map(char::from_u32);
    while let Some(alone) = all.next() {
        let chunk: String = std::iter::once(alone).chain(all.by_ref().take(4_095)).collect();
        let value = json!({ "quoted": chunk, "lines": format!("a\n{chunk}b"), "alone": alone });
        assert_eq!(read_own(&written(&value, true), &mut { usize::MAX }), Ok(value));
    }
}

#[test]
fn numbers_come_back() {
    let whole = json!([0, -1, 1, i64::MIN, i64::MAX, u64::MAX, 0.0, -0.0, 0.1, 1.0, 1e16, 1e21, 1e300]);
    let small = json!([-1e-7, 5e-324, f64::MAX, f64::MIN_POSITIVE, 123_456_789.123_456_79]);
    let value = json!({ "whole": whole, "small": small });
    let yaml = written(&value, true);
    let found = read_own(&yaml, &mut { usize::MAX }).expect("readable");
    assert_eq!(found.to_string(), value.to_string());
    save_for_pyyaml(&[(yaml, value)], "numbers");
}

#[test]
fn the_log_is_read_back_whatever_a_text_holds() {
    let mut events = Vec::new();
    let definition = "question: q\n";
    let header = json!({
        "event": "session_opened", "session": "s-1", "format": 3, "program": "p", "definition_file": "d.yaml",
        "texts": "", "definition_sha256": "", "definition": definition, "input": { "<<": "x" }, "participants": [],
        "personas": [],
    });
    let at = Timestamp(1_795_302_307_120);
    let opened: Event = serde_json::from_value(header).expect("a header");
    let warning = |message: String| {
        let step = Some(message.chars().rev().collect());
        Event::Warning { message, step, round: None, participant: None }
    };
    for event in std::iter::once(opened).chain(texts().into_iter().map(warning)) {
        events.push(TimedEvent { at, event });
    }
    let log = read_log(&chained(&events)).expect("what was written can be read");
    assert_eq!(log.torn, 0);
    assert!(log.lines.iter().map(|line| &line.stamped).eq(&events));
}

#[test]
fn a_document_of_many_values_is_read_back() {
    let answer = json!({ "position": "p", "rationale": vec!["r"; 40], "confidence": 0.5 });
    let data: Value = (0..7_000).map(|_| answer.clone()).collect();
    let value = json!({ "data": data });
    let yaml = written(&value, true);
    assert!(read(&yaml, "f").is_err(), "more values than a hand-written file may hold");
    assert!(read_own(&yaml, &mut { usize::MAX }).expect("readable") == value);
}

/// Saves the cases for `.ci/run`, which compares them with `PyYAML`.
fn save_for_pyyaml(cases: &[(String, Value)], name: &str) {
    let mut lines = String::new();
    for (yaml, value) in cases {
        writeln!(lines, "{}", json!({ "yaml": yaml, "value": value })).expect("a string takes it");
    }
    std::fs::write(oracle_file(&format!("pyyaml-{name}.jsonl")), lines).expect("writable");
}

const NASTY: &str = "§ §\n§\t§\r§\r\n§\u{0}§\u{7f}§\u{85}§\u{a0}§\u{2028}§\u{2029}§\u{feff}§no§NO§yes§on§off§y§n§true§True\
    §null§Null§~§NaN§.nan§.inf§-.inf§0§017§0o17§0x1F§0b1§1e3§1E3§1.0e+3§1_000§1.10§.5§+1§-§--§12:30:45\
    §2026-11-21§2026-11-21T23:05:07Z§=§<<§- a§? a§: a§a: b§a:§a #b§# a§#§a#b§---§--- a§...§---\n§...\n\
    §a\n---\nb§a\n...\nb§%YAML 1.2§%TAG ! x§&a§*a§!a§!!str a§|§>§|-§>+§@a§`a§'§''§\"§\\§\\n§\\u0000\
    §\"a\": 'b'§{a: b}§[a, b]§{§}§[§]§,§a, b§a\n§a\n\n§a\n\n\n§\na§\n\na§ a§a §  a\n b§a\n b§a\n\tb§\ta§a\t\
    §a\t\nb§a \nb§a\n §a\n \nb§a\n\n b\n§a\rb§a\r\nb\r\n§a\u{85}b\nc§a\u{2028}b\nc§\u{feff}a§a\n\u{feff}b\
    §a\u{0}b§a\u{1b}[31mb§a\u{9b}31mb§\u{202e}a\u{202c}§e\u{301}§\u{d7ff}\u{e000}§\u{fffd}\u{fffe}\u{ffff}\
    §\u{fdd0}\u{fdef}§\u{1fffe}§\u{10ffff}§\u{10000}§\u{f0000}§\u{e0041}\u{e007f}§\u{1f469}\u{200d}\u{1f469}\
    §#a\nb§# a\n# b§- a\n- b\n§a: b\nc: d\n§a: |\n  b\n§\"a\nb\"§'a\nb'§a\\\nb§  your_role: \"x\"\n\
    §hash: 0000000000000000000000000000000000000000000000000000000000000000\
    §a\nhash: 00000000000000000000000000000000000000000000000000000000000000ff\n\
    §a\nhash: 00000000000000000000000000000000000000000000000000000000000000ff\n---\nseq: 1\n\
    §```yaml\nvote: a\n```\n§a  b§a\u{3000}§\u{3000}a\nb§\u{a0}\nb§a\u{b}b\nc§a\u{c}b";

/// Fragments of generated texts, mixed with single characters.
const PARTS: &str = ": § #§\n§\n\n§\n  §\n\t§\r\n§\r§\t§---§\n---\n§\n...\n§- §? §\"§'§\\§no§0x1F§1e3§|§>§{§}§[§]§, §&§*§!§%\
    §@§<<§  §word§long enough to be folded by a writer that folds§\u{85}§\u{2028}§\u{2029}§\u{feff}§\u{a0}\
    §\nhash: 3f786850e387550fdab836ed7e6dc881de23001b3f786850e387550fdab836ed\n";

/// Character ranges with equal probability.
const RANGES: &str = "0-1f 20-7e 7f-9f a0-24f 300-36f 5d0-6ff 2000-206f 3000-9fff d7f0-d7ff e000-f8ff fdd0-fdef \
    fe00-fe0f fff0-ffff 10000-100ff 1f300-1faff 1fffe-1ffff e0000-e007f f0000-10ffff";

fn nasty() -> impl Iterator<Item = &'static str> {
    NASTY.split('§')
}

/// Returns `count` texts that depend only on the seed.
fn generated(seed: u64, count: usize) -> impl Iterator<Item = String> {
    let mut dice = Dice(seed);
    let parts: Vec<&str> = PARTS.split('§').collect();
    let number = |hex: &str| u32::from_str_radix(hex, 16).expect("hex");
    let range = |range: &str| range.split_once('-').map(|(first, last)| (number(first), number(last)));
    let ranges: Vec<(u32, u32)> = RANGES.split(' ').filter_map(range).collect();
    (0..count).map(move |_| {
        let most = match dice.below(20) {
            0 => 400,
            1..=4 => 40,
            _ => 6,
        };
        let mut text = String::new();
        for _ in 0..=dice.below(most) {
            match dice.below(3) {
                0 => text.push_str(parts[dice.below(parts.len())]),
                1 => text.push(char::from(b' ' + dice.below(95) as u8)),
                _ => {
                    let (first, last) = ranges[dice.below(ranges.len())];
                    text.extend(char::from_u32(first + dice.below((last - first + 1) as usize) as u32));
                }
            }
        }
        text
    })
}
