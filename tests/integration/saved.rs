//! Shipped examples: definitions can be rehearsed, saved sessions match them.

use std::fs;
use std::path::{Path, PathBuf};

use roundtable::core::Command;
use roundtable::history::{CloseReason, Event, Timestamp};
use roundtable::journal::{fold, read_log, verify};
use roundtable::report;
use roundtable::round::seal::RoundKey;
use roundtable::workflow::{Source, load};
use serde_json::{Value, json};

use crate::forge::{chained, events};
use crate::patience::Patient as _;
use crate::program::{Desk, arg};
use crate::sitting::Sitting;

fn examples(folder: &str, extension: &str) -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = fs::read_dir(dir).expect("sessions/ is there");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("sessions/ can be listed").path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    paths.sort();
    paths
}

fn name(path: &Path) -> String {
    path.file_stem().expect("a name").to_string_lossy().into_owned()
}

#[test]
fn every_example_can_be_rehearsed_to_its_end() {
    let of_strategies = examples("sessions/strategies", "yaml");
    let listed = Desk::new().run(["strategies"]).code(0).out;
    assert_eq!(listed.lines().filter(|line| !line.starts_with(' ')).count(), of_strategies.len(), "{listed}");
    for path in examples("sessions", "yaml").into_iter().chain(of_strategies) {
        let desk = Desk::new();
        let run = |more: &[&str], save: &str| {
            let mut command = desk.command(["--batch", &arg(&path), "--save", &arg(&desk.path(save))]);
            let output =
                command.args(more).current_dir(env!("CARGO_MANIFEST_DIR")).output_soon().expect("runs");
            let ran = crate::program::ran(output).code(0);
            desk.is_sound(save);
            ran
        };
        let rehearsed = run(&["--rehearse"], "s.s2s");
        assert!(rehearsed.out.starts_with("# REHEARSAL: "), "{}: {}", path.display(), rehearsed.out);
        if fs::read_to_string(&path).expect("readable").contains("\nanswers:") {
            let shown = run(&[], "own.s2s");
            shown.shows("scripted for this example; no model was asked");
            assert!(!shown.out.contains("REHEARSAL") && !shown.err.contains("warning:"), "{shown:?}");
        }
    }
}

/// Returns the session of an example's definition with its answers file. Keys, nonces and times are fixed.
/// Its id and the order of the seals are in `tests/fixtures/sessions.json`.
fn made(name: &str) -> Vec<u8> {
    let desk = Desk::new();
    let definition =
        examples("sessions", "yaml").into_iter().find(|path| self::name(path) == name).expect("an example");
    let given: Value = serde_json::from_str(include_str!("../fixtures/sessions.json")).expect("JSON");
    let given = &given[name];
    let text = fs::read_to_string(&definition).expect("readable");
    let loaded = load(Source { text: &text, file: name, id: name }).expect("loads");
    let answers = loaded.answers.expect("its own answers").to_json();
    desk.run(["--batch", "--seed", "7", "--save", "out.s2s", &arg(&definition)]).code(0);
    let ran = events(&fs::read(desk.path("out.s2s")).expect("a session"));
    let Event::SessionOpened(mut header) = ran[0].event.clone() else { panic!("no header") };
    given["session"].as_str().expect("an id").clone_into(&mut header.session);
    let now: Timestamp = serde_json::from_value(given["at"].clone()).expect("a time");
    let mut sitting = Sitting::at(now.0, 0);
    let does = |sitting: &mut Sitting, command: Command| {
        let events = i64::try_from(sitting.does(command)).expect("few");
        sitting.now += 5 * events;
    };
    let at_work = |sitting: &Sitting| sitting.session.step.clone().expect("at work").id;
    does(&mut sitting, Command::Open(header));
    for (number, sealed) in (1..).zip(given["sealed"].as_array().expect("rounds")) {
        does(&mut sitting, Command::StartStep);
        let mut step = at_work(&sitting);
        while !answers[&step].is_object() {
            does(&mut sitting, Command::FinishStep { step });
            does(&mut sitting, Command::StartStep);
            step = at_work(&sitting);
        }
        let key = RoundKey::new([0x5e + number; 32]);
        does(&mut sitting, Command::OpenRound { project_summary: None, seal: Some(key.seal_to()) });
        for (reply, nonce) in sealed.as_array().expect("seats").iter().zip(1..) {
            let participant = reply[0].as_str().expect("a seat").to_owned();
            let raw = json!({
                "origin": "script", "model": "scripted",
                "replies": [{ "text": answers[&step][&participant].to_string() }], "tries": 1, "latency_ms": reply[1],
                "tokens": { "input": 0, "output": 0, "cached": 0 },
            });
            let seal = sitting.sealed(&participant, &raw.to_string(), &key, nonce);
            let round = sitting.session.open_round().expect("open").opened.round.clone();
            does(&mut sitting, Command::Seal { round, participant, seal });
        }
        for command in [
            Command::CloseRound { reason: CloseReason::All, key },
            Command::Tally,
            Command::FinishStep { step },
        ] {
            does(&mut sitting, command);
        }
    }
    does(&mut sitting, Command::Close);
    chained(&sitting.events)
}

/// `UPDATE_SESSIONS=1` rewrites the files.
#[test]
fn saved_sessions_are_those_of_their_definitions_and_say_what_they_said() {
    let expected = [
        ("context-passing", "**Decision: inline** – 3 of 5 seats chose it"),
        ("release-consent", "The block of security-champion in an earlier round was lifted"),
    ];
    let saved = examples("sessions", "s2s");
    assert_eq!(saved.iter().map(|path| name(path)).collect::<Vec<_>>(), expected.map(|(name, _)| name));
    for (path, (name, says)) in saved.iter().zip(expected) {
        let made = made(name);
        if std::env::var_os("UPDATE_SESSIONS").is_some() {
            fs::write(path, &made).expect("writable");
        }
        let bytes = fs::read(path).expect("readable");
        assert!(bytes == made, "{}: UPDATE_SESSIONS=1", path.display());
        let found = verify(&bytes, None);
        assert_eq!(found.findings, [], "{}", path.display());
        let log = read_log(&bytes).expect("whole");
        assert_eq!(log.torn, 0);
        let session = fold(&log);
        assert!(session.closed.is_some(), "{}", path.display());
        let text = report::markdown(&report::Document::new(&session, report::Source::default()));
        assert!(text.contains(says), "{}", path.display());
    }
}

#[test]
fn a_file_of_another_format_is_refused_with_one_sentence() {
    let shipped = events(&fs::read(&examples("sessions", "s2s")[0]).expect("readable"));
    let desk = Desk::new();
    for (format, says) in [
        (1, "another version wrote it in format 1; this one reads format 3"),
        (2, "another version wrote it in format 2; this one reads format 3"),
        (4, "another version wrote it in format 4; this one reads format 3"),
    ] {
        let mut events = shipped.clone();
        if let Event::SessionOpened(opened) = &mut events[0].event {
            opened.format = format;
        }
        desk.write("other.s2s", chained(&events));
        for verb in [
            &["verify"][..],
            &["replay"],
            &["trace"],
            &["report"],
            &["resume"],
            &["tally", "--all"],
            &["--batch"],
        ] {
            let refused = desk.run(verb.iter().copied().chain(["other.s2s"])).code(2);
            assert_eq!(refused.err, format!("error: other.s2s:1:1: {says}\n"), "{verb:?}");
            assert_eq!(refused.out, "", "{verb:?}");
        }
    }
}
