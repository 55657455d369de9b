//! The shipped examples: every definition loads clean and ends as it should with the rehearsal; every
//! saved session of every released version verifies, replays and says what it said.

use std::fs;
use std::path::{Path, PathBuf};

use roundtable::history::Session;
use roundtable::journal::{fold, read_log, verify};
use roundtable::report;
use roundtable::workflow::{Source, load};

use crate::patience::Patient as _;

fn examples(extension: &str) -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions");
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
fn every_example_definition_loads_without_a_warning() {
    let examples = examples("yaml");
    assert!(examples.len() >= 3);
    for path in examples {
        let text = fs::read_to_string(&path).expect("readable");
        let file = name(&path);
        let loaded = load(Source { text: &text, file: &file, id: &file }).expect("loads");
        assert_eq!(loaded.warnings, [], "{file}");
    }
}

#[test]
fn every_example_ends_as_its_table_says() {
    let expected = [("code-findings", 0), ("context-passing", 0), ("release-consent", 3), ("risk-review", 4)];
    for (example, exit) in expected {
        let home = tempfile::tempdir().expect("a folder");
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_roundtable"))
            .args(["--batch", &format!("sessions/{example}.yaml")])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env("ROUNDTABLE_HOME", home.path())
            .output_soon()
            .expect("runs");
        assert_eq!(output.status.code(), Some(exit), "{example}");
        let report = String::from_utf8(output.stdout).expect("UTF-8");
        assert!(report.contains("Rehearsal: these answers were generated offline"), "{example}");
    }
}

#[test]
fn saved_sessions_verify_and_say_what_they_said() {
    let expected = [
        ("context-passing", "**Decision: inline** – 3 of 5 seats chose it"),
        ("release-consent", "**Blocked by security-champion**"),
    ];
    let saved = examples("s2s");
    assert_eq!(saved.iter().map(|path| name(path)).collect::<Vec<_>>(), expected.map(|(name, _)| name));
    for (path, (_, says)) in saved.iter().zip(expected) {
        let bytes = fs::read(path).expect("readable");
        let found = verify(&bytes, None);
        assert_eq!(found.findings, [], "{}", path.display());
        let log = read_log(&bytes).expect("whole");
        assert_eq!(log.torn, 0);
        let session = fold(&log);
        assert!(session.closed.is_some(), "{}", path.display());
        assert!(report::markdown(&session).contains(says), "{}", path.display());
    }
}

/// What a session came to, as data: its end, and every count.
fn results(session: &Session) -> String {
    let end = session
        .closed
        .as_ref()
        .map_or("paused".to_owned(), |closed| format!("{:?} {}", closed.status, closed.exit_code));
    let counts = session.rounds.iter().filter_map(|round| {
        let tally = round.tally.as_ref()?;
        Some(format!("; {} decided={} {:?}", round.opened.round, tally.decided, tally.verdict.winners))
    });
    end + &counts.collect::<String>()
}

/// Files of each format, one of each kind, and in `results.txt` what each came to when it was written.
#[test]
fn sessions_of_every_format_verify_and_keep_their_results() {
    keep_their_results(1);
    keep_their_results(2);
}

fn keep_their_results(format: u32) {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/format-{format}"));
    let mut found = String::new();
    let entries = fs::read_dir(&dir).expect("readable").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "s2s")).collect();
    files.sort();
    for path in files {
        let bytes = fs::read(&path).expect("readable");
        assert_eq!(verify(&bytes, None).findings, [], "{}", path.display());
        let session = fold(&read_log(&bytes).expect("whole"));
        let is_labelled = report::markdown(&session).contains("**Format 1: in round ");
        assert_eq!(is_labelled, name(&path) == "bare-block", "{}", path.display());
        assert_eq!(session.header.as_ref().map(|header| header.format), Some(format), "{}", path.display());
        found += &format!("{}: {}\n", name(&path), results(&session));
    }
    assert_eq!(found, fs::read_to_string(dir.join("results.txt")).expect("readable"));
}
