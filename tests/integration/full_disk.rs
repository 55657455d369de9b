//! No room left, and nowhere to write: a clear word, nothing half-done that is believed, and it goes on.

use std::time::Duration;

use crate::program::{Desk, run};
use crate::server::{Answer, Server};

const DEFINITION: &str = "\
goal: \"Pick one\"
participants: [{persona: qa-lead, model: openai/test, count: 5}]
steps:
  - {id: pick, type: round, question: \"Which?\", ballot: {kind: choice, options: [alpha, beta]}, rule: plurality}
";

fn service() -> Server {
    Server::start(|_| Answer::chat("vote: alpha").after(Duration::from_millis(5)))
}

#[test]
fn a_place_that_cannot_be_written_to_is_named_before_anything_is_sent() {
    let (desk, server) = (Desk::with(DEFINITION), service());
    desk.write("file", "");
    for place in ["file/s.s2s", "file/deeper/s.s2s", "/proc/s.s2s", "/dev/null/s.s2s", "decide.yaml"] {
        desk.hold(&server, &["decide.yaml", "--save", place]).code(2).tells("hint: ");
    }
    assert_eq!(desk.read("decide.yaml"), DEFINITION);
    assert_eq!(server.requests().len(), 0);
}

/// What a shell says on a file system of its own, so small; none where none may be mounted.
fn on_a_small_disk(size: &str, script: &str) -> Option<String> {
    let (desk, server) = (Desk::with(DEFINITION), service());
    let mount = format!("mkdir saved && mount -t tmpfs -o size={size} tmpfs saved || exit 77\n");
    let inner = "exec unshare --map-root-user --mount /bin/sh -c \"$1\"";
    let mut shell = desk.shell(inner, &[&(mount + script)]);
    shell.env("OPENAI_BASE_URL", server.url() + "/v1").env("PROGRAM", env!("CARGO_BIN_EXE_roundtable"));
    let ran = run(&mut shell);
    if ran.code == 0 {
        return Some(ran.out + &ran.err);
    }
    // Not through a macro, whose words the test runner keeps to itself.
    let why = format!("NOT TESTED: no file system of {size} can be mounted here ({})\n", ran.code);
    std::io::Write::write_all(&mut std::io::stderr(), why.as_bytes()).expect("said");
    assert!(std::env::var_os("CI").is_none(), "{why}{ran:?}");
    None
}

#[cfg(target_os = "linux")]
#[test]
fn a_real_file_system_that_is_full_or_read_only_loses_nothing() {
    let script = "\
        \"$PROGRAM\" --batch decide.yaml --save saved/s.s2s 2>&1; echo first $?
        mount -o remount,size=8m saved
        test -e saved/s.s2s || \"$PROGRAM\" --batch decide.yaml --save saved/s.s2s --quiet > /dev/null
        \"$PROGRAM\" resume saved/s.s2s > /dev/null 2>&1; echo second $?
        \"$PROGRAM\" verify saved/s.s2s; echo third $?
        mount -o remount,ro saved
        \"$PROGRAM\" --batch decide.yaml --save saved/t.s2s 2>&1; echo fourth $?
        \"$PROGRAM\" verify saved/s.s2s > /dev/null; echo fifth $?\n";
    for size in ["4k", "16k", "28k"] {
        let Some(said) = on_a_small_disk(size, script) else { return };
        let (first, _) = said.split_once("first ").expect("run");
        assert!(first.contains("No space left") && first.contains("hint: "), "{size}: {said}");
        for word in ["first 1", "second 0", "third 0", "fourth 2", "fifth 0"] {
            assert!(said.contains(word), "{size}: {word}: {said}");
        }
        assert!(said.contains("Read-only file system"), "{size}: {said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn every_file_that_does_not_fit_is_named_and_nothing_half_written_is_left() {
    let script = "\
        \"$PROGRAM\" --batch decide.yaml --save done.s2s > report.md 2> /dev/null
        head -c 1m /dev/zero > saved/filler 2> /dev/null; ls saved > before
        \"$PROGRAM\" report done.s2s > saved/stdout 2>&1; echo printed $?
        \"$PROGRAM\" report done.s2s 2>&1 > saved/filler2; echo plain $?
        rm -f saved/stdout saved/filler2
        \"$PROGRAM\" report done.s2s -o saved/report.md 2>&1; echo out $?
        ls saved | diff before - && echo nothing left
        head -c 1m /dev/zero >> saved/filler 2> /dev/null
        (cd saved && \"$PROGRAM\" init 2>&1); echo init $?
        find saved -name '*.new'\n";
    let Some(said) = on_a_small_disk("16k", script) else { return };
    for word in ["printed 1", "plain 1", "out 1", "nothing left", "init 1"] {
        assert!(said.contains(word), "{word}: {said}");
    }
    for path in ["saved/filler2)", "saved/report.md", ".s2s"] {
        assert!(said.contains(path), "{path}: {said}");
    }
    assert!(!said.contains(".new"), "{said}");
}
