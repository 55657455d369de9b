//! No room left, and nowhere to write: a clear word, nothing half-done that is believed, and it goes on.

use std::process::Command;
use std::time::Duration;

use roundtable::journal::read_log;

use crate::home::is_sound;
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
fn a_full_disk_stops_a_session_that_goes_on_when_there_is_room() {
    // In units of 512 bytes: from before the header's end to the middle of the reveals.
    let (mut stopped_in_round, mut nothing_recorded) = (0, 0);
    for limit in [1, 4, 12, 20, 24, 30, 40, 60, 80, 90] {
        let (desk, server) = (Desk::with(DEFINITION), service());
        let script = format!("ulimit -f {limit}; exec \"$0\" \"$@\"");
        let plain = desk.batch(&server, &["decide.yaml", "--save", "s.s2s"]);
        let ran = run(in_shell(&plain).args(["-c", &script]).arg(plain.get_program()).args(plain.get_args()));
        if ran.code == 0 {
            assert!(limit > 60, "{limit}: the whole session fits");
            continue;
        }
        let ran = ran.code(1);
        ran.tells("s.s2s").tells("File too large");
        assert_eq!(ran.out, "", "{limit}");
        let Ok(bytes) = std::fs::read(desk.path("s.s2s")) else {
            // Not even the header fitted: nothing is left to stand in the way of a new session.
            ran.tells("nothing was recorded");
            nothing_recorded += 1;
            continue;
        };
        let log = read_log(&bytes).unwrap_or_else(|damage| panic!("{limit}: {damage}"));
        assert!(!log.lines.is_empty(), "{limit}: an empty file is left");
        stopped_in_round += usize::from(roundtable::journal::fold(&log).open_round().is_some());
        desk.hold(&server, &["s.s2s"]).code(0);
        let tally = desk.state("s.s2s").rounds[0].tally.clone().expect("counted");
        assert_eq!((tally.answered, tally.verdict.winners), (5, vec!["alpha".to_owned()]), "{limit}");
        is_sound(&desk.bytes("s.s2s"));
        assert!(desk.keys().is_empty(), "{limit}");
    }
    assert!(nothing_recorded >= 1, "{nothing_recorded}");
    assert!(stopped_in_round >= 3, "{stopped_in_round}");
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

#[test]
fn without_a_place_for_keys_no_round_is_sent() {
    let (desk, server) = (Desk::with(DEFINITION), service());
    desk.write("../home/state/keys", "in the way");
    desk.hold(&server, &["decide.yaml", "--save", "s.s2s"]).code(2).tells("home/state/keys");
    assert_eq!(server.requests().len(), 0, "nothing is sent without a key on disk");
    std::fs::remove_file(desk.home().join("state/keys")).expect("removed");
    desk.hold(&server, &["decide.yaml", "--save", "s.s2s"]).code(0);
}

fn in_shell(plain: &Command) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.current_dir(plain.get_current_dir().expect("a folder")).env_clear();
    shell.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell
}

/// What a shell says on a file system of its own, so small; none where none may be mounted.
fn on_a_small_disk(size: &str, script: &str) -> Option<String> {
    let (desk, server) = (Desk::with(DEFINITION), service());
    let mount = format!("mkdir saved && mount -t tmpfs -o size={size} tmpfs saved || exit 77\n");
    let mut shell = in_shell(&desk.batch(&server, &[]));
    shell.args(["-c", "exec unshare --map-root-user --mount /bin/sh -c \"$0\"", &(mount + script)]);
    let ran = run(shell.env("PROGRAM", env!("CARGO_BIN_EXE_roundtable")));
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
