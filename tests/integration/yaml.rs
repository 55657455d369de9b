//! What is written as YAML comes back equal: from our reader, and from `PyYAML`.
//!
//! Texts are a committed list of nasty ones and 10,000 made from a seed; each stands in every place
//! of a snapshot that holds foreign text, and in an event of the log.

pub mod texts;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use roundtable::ballot::{BallotForm, BallotKind};
use roundtable::history::{Event, TimedEvent, Timestamp};
use roundtable::journal::{NO_HASH, read_log, write_document};
use roundtable::round::material::{AgendaItem, Artifact, RoundSummary, SnapshotContent};
use roundtable::round::snapshot::{Snapshot, address};
use roundtable::yaml::{Out, read, read_own};
use serde_json::{Value, json};

use texts::{NASTY, generated};

use crate::patience::Patient as _;

/// How many texts are generated, and how many go into one snapshot.
const TEXTS: usize = 10_000;
const PER_SNAPSHOT: usize = 10;

fn texts() -> Vec<String> {
    let long_key = "k".repeat(1_500);
    let long = ["lorem ipsum: dolor # sit ", "é\u{1f600}"].map(|part| part.repeat(3_000));
    let nasty = NASTY.iter().map(|text| (*text).to_owned()).chain(long).chain([long_key]);
    nasty.chain(generated(20_261_121, TEXTS)).collect()
}

/// A snapshot that holds the texts in every place foreign text can stand, and what it should hold.
fn snapshot(texts: &[String]) -> (String, Value) {
    let text = |n: usize| texts[n % texts.len()].as_str();
    let owned = |n: usize| text(n).to_owned();
    let artifact = Artifact {
        id: owned(3),
        summary: owned(4),
        details: vec![("title", text(5).into()), ("acceptance", json!([text(6), [text(7)]]))],
        relevant: true,
    };
    let form = BallotForm::over(BallotKind::Choice, vec![owned(2), owned(3)]);
    let past =
        [RoundSummary { round: 1, question: owned(0), synthesis: Some(owned(1)), outcome: Some(owned(0)) }];
    let agenda = [AgendaItem { id: owned(8), title: owned(9), status: owned(0) }];
    let context =
        json!({ text(7): { text(8): text(9), "list": [text(0), [], {}, [text(1), { text(2): null }]] } });
    let conflicts = [json!({ "between": [text(5)], text(6): text(7) })];
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
        open_conflicts: &conflicts,
        open_questions: &[text(6).into()],
        recent_rounds: &past,
        context: context.as_object(),
        linked_tasks: Some(text(8)),
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
        "recent_rounds": [{ "round": 1, "question": text(0), "synthesis": text(1), "outcome": text(0) }],
        "context": context, "linked_tasks": text(8),
    });
    let map = wanted.as_object_mut().expect("a map");
    map.retain(|_, value| value != "");
    map.insert("your_role".to_owned(), text(9).into());
    map.insert("facilitator_directive".to_owned(), text(1).into());
    let mut whole = Snapshot::freeze(&material).text.to_string();
    whole.push_str(&address(text(9), Some(text(1))));
    (whole, json!({ "participant_context": wanted }))
}

/// Snapshots over all texts, and each text alone as a key, a value and an item.
fn cases() -> Vec<(String, Value)> {
    let texts = texts();
    let mut cases: Vec<_> = texts.chunks(PER_SNAPSHOT).map(snapshot).collect();
    for text in &texts[..NASTY.len() + 3] {
        let value = json!({ text.as_str(): text, "items": [text, { text.as_str(): [text] }, [[text]]] });
        for words in [true, false] {
            let Out::Map(entries) = Out::json(&value, words) else { panic!("a map") };
            let mut yaml = String::new();
            Out::write_entries(&entries, 0, &mut yaml);
            cases.push((yaml, value.clone()));
        }
    }
    cases
}

#[test]
fn what_is_written_is_read_by_our_reader() {
    for (yaml, wanted) in cases() {
        let found = read_own(&yaml, &mut { usize::MAX });
        assert_eq!(found.as_ref(), Ok(&wanted), "in {yaml:?}");
        assert!(!yaml.contains('\r'), "a raw CR in {yaml:?}");
        assert_eq!(read(&yaml, "f").map(|node| node.to_json()), Ok(wanted));
    }
}

#[test]
fn every_character_comes_back() {
    let mut all = (0..=0x0010_ffff).filter_map(char::from_u32);
    loop {
        let chunk: String = all.by_ref().take(4_096).collect();
        if chunk.is_empty() {
            break;
        }
        let value =
            json!({ "quoted": chunk, "lines": format!("a\n{chunk}b"), "alone": chunk.chars().last() });
        let Out::Map(entries) = Out::json(&value, true) else { panic!("a map") };
        let mut yaml = String::new();
        Out::write_entries(&entries, 0, &mut yaml);
        assert_eq!(read_own(&yaml, &mut { usize::MAX }), Ok(value));
    }
}

#[test]
fn numbers_come_back() {
    let numbers = json!([
        0,
        -1,
        1,
        i64::MIN,
        i64::MAX,
        u64::MAX,
        0.0,
        -0.0,
        0.1,
        1.0,
        1e16,
        1e21,
        -1e-7,
        5e-324,
        f64::MAX,
        f64::MIN_POSITIVE,
        123_456_789.123_456_79,
        1e300,
    ]);
    let value = json!({ "n": numbers });
    let Out::Map(entries) = Out::json(&value, true) else { panic!("a map") };
    let mut yaml = String::new();
    Out::write_entries(&entries, 0, &mut yaml);
    let found = read_own(&yaml, &mut { usize::MAX }).expect("readable");
    assert_eq!(found.to_string(), value.to_string());
    check_with_pyyaml(&[(yaml, value)], "numbers");
}

#[test]
fn the_log_is_read_back_whatever_a_text_holds() {
    let (mut text, mut prev, mut events) = (String::new(), NO_HASH.to_owned(), Vec::new());
    let definition = "question: q\n";
    let header = json!({
        "event": "session_opened", "session": "s-1", "format": 1, "program": "p", "definition_file": "d.yaml",
        "definition_sha256": "", "definition": definition, "input": { "<<": "x" }, "participants": [],
        "personas": [],
    });
    let at = Timestamp(1_795_302_307_120);
    let opened: Event = serde_json::from_value(header).expect("a header");
    for (seq, event) in std::iter::once(opened).chain(texts().into_iter().map(warning)).enumerate() {
        let stamped = TimedEvent { at, event };
        prev = write_document(seq as u64, &prev, "s-1", &stamped, &mut text).expect("an event");
        events.push(stamped);
    }
    let log = read_log(text.as_bytes()).expect("what was written can be read");
    assert_eq!(log.torn, 0);
    assert!(log.lines.iter().map(|line| &line.stamped).eq(&events));
}

fn warning(message: String) -> Event {
    let step = Some(message.chars().rev().collect());
    Event::Warning { message, step, round: None, participant: None }
}

#[test]
fn a_document_of_many_values_is_read_back() {
    let answer = json!({ "position": "p", "rationale": vec!["r"; 40], "confidence": 0.5 });
    let data: Value = (0..7_000).map(|_| answer.clone()).collect();
    let value = json!({ "data": data });
    let Out::Map(entries) = Out::json(&value, true) else { panic!("a map") };
    let mut yaml = String::new();
    Out::write_entries(&entries, 0, &mut yaml);
    assert!(read(&yaml, "f").is_err(), "more values than a hand-written file may hold");
    assert!(read_own(&yaml, &mut { usize::MAX }).expect("readable") == value);
}

#[test]
fn pyyaml_reads_the_same() {
    check_with_pyyaml(&cases(), "texts");
}

/// Runs `tests/pyyaml_check.py` over the cases.
fn check_with_pyyaml(cases: &[(String, Value)], name: &str) {
    let mut lines = String::new();
    for (yaml, value) in cases {
        writeln!(lines, "{}", json!({ "yaml": yaml, "value": value })).expect("a string takes it");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let input = folder.path().join(format!("{name}.jsonl"));
    std::fs::write(&input, lines).expect("writable");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let done = Command::new(python()).arg(root.join("tests/pyyaml_check.py")).arg(&input).output_soon();
    let done = done.expect("python runs");
    let said = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "PyYAML reads something else:\n{said}");
    assert!(said.contains("wrong=0") && !said.contains("pure=0"), "nothing was compared:\n{said}");
}

/// The Python of `target/pyyaml-venv`, made on first use. Without it the test fails: a writer that
/// only its own reader understands is not tested at all.
fn python() -> &'static Path {
    static PYTHON: OnceLock<PathBuf> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("inside target").to_owned();
        let venv = target.join("pyyaml-venv");
        let python = venv.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
        if !has_pyyaml(&python) {
            run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv));
            let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
            run(Command::new(&python).args(install).args(["--only-binary", ":all:", "PyYAML==6.0.3"]));
            assert!(has_pyyaml(&python), "PyYAML 6.0.3 was installed and cannot be imported");
        }
        python
    })
}

fn has_pyyaml(python: &Path) -> bool {
    let code = "import sys, yaml; sys.exit(yaml.__version__ != '6.0.3')";
    Command::new(python).args(["-c", code]).output_soon().is_ok_and(|done| done.status.success())
}

fn run(command: &mut Command) {
    let what = format!("{command:?}");
    let done = command.output_soon();
    let done = done.unwrap_or_else(|error| panic!("this test needs python3 and PyYAML; {what}: {error}"));
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(
        done.status.success(),
        "this test needs python3 with venv, and PyYAML from PyPI; {what}:\n{said}"
    );
}
