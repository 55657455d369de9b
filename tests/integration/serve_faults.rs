//! A served session that loses its disk, its keys, its tokens or a seat.

use std::io::Read as _;
use std::process::Stdio;

use roundtable::history::Event;
use roundtable::journal::read_log;
use rustix::process::{Pid, Resource, Rlimit, prlimit};

use crate::home::is_sound;
use crate::patience::wait_for;
use crate::program::run;
use crate::served::{Browser, DEFINITION, Server, home, program, served};

/// The file of the session's keys that ends so.
fn key_file(home: &std::path::Path, ending: &str) -> std::path::PathBuf {
    let files = std::fs::read_dir(home.join("home/state/keys")).expect("a folder");
    let mut files = files.map(|file| file.expect("a file").path());
    files.find(|file| file.to_string_lossy().ends_with(ending)).expect("the file")
}

#[test]
fn a_ballot_for_which_there_is_no_room_is_not_confirmed_and_counts_later() {
    let home = home(DEFINITION);
    let mut command = std::process::Command::new("/bin/sh");
    command.env("ROUNDTABLE_HOME", home.path().join("home")).current_dir(home.path());
    command.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_roundtable")]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut server = Server::run(command, "d.yaml", home, &["--bind", "127.0.0.1:0"]);
    let [dana, bob] = [server.joined("dana", 1), server.joined("bob", 2)];
    let file = server.file();
    let written = || std::fs::read_to_string(&file).expect("a file");
    wait_for("ann's ballot", || written().contains("event: ballot_sealed").then_some(()));
    let ballot = dana.seal(&dana.offer(), "redis", 3);
    // From now on the file may grow by no more than a few lines.
    let full = written().len() as u64 + 500;
    let pid = Pid::from_child(&server.child);
    prlimit(Some(pid), Resource::Fsize, Rlimit { current: Some(full), maximum: None }).expect("set");
    let mut reply = String::new();
    let _ = dana.open("POST", "/v1/seat/sealed", ballot.to_string().as_bytes()).read_to_string(&mut reply);
    // The program may have ended before it was sent.
    assert!(reply.is_empty() || reply.starts_with("HTTP/1.1 503 "), "{reply}");
    assert_eq!(server.child.wait().expect("ends").code(), Some(1));
    let log = read_log(written().as_bytes()).expect("a log");
    assert!(log.torn > 0, "what was half written does not count");
    let sealed = log.lines.iter().filter(|line| matches!(line.stamped.event, Event::BallotSealed(_)));
    assert_eq!(sealed.count(), 1, "ann's");

    let again = server.again();
    let [dana, bob] = [("dana", &dana), ("bob", &bob)].map(|(seat, before)| {
        let again = again.browser(seat, 1);
        Browser { key: before.key.clone(), ..again }
    });
    assert_eq!(dana.post("/v1/seat/sealed", &ballot).status, 201, "the same envelope");
    bob.votes("redis", 5);
    is_sound(&again.ended());
}

#[test]
fn lost_tokens_are_replaced_and_a_lost_table_key_is_named() {
    let server = served();
    let dana = server.joined("dana", 1);
    dana.votes("redis", 5);
    let home = server.killed();
    std::fs::remove_file(key_file(home.path(), ".links")).expect("removed");
    let server = Server::start("s.s2s", home);
    // Who has sealed is not invited again while the round is open.
    let names: Vec<&str> = server.links.iter().map(|(seat, _)| seat.as_str()).collect();
    assert_eq!(names, ["bob"]);
    let bob = server.joined("bob", 2);
    let home = server.killed();
    let table = key_file(home.path(), ".table");
    let kept = std::fs::read(&table).expect("a key");
    std::fs::remove_file(&table).expect("removed");
    let refused = run(program(home.path()).args(["serve", "s.s2s", "--bind", "127.0.0.1:0"])).code(2);
    refused.tells("the key that signs this session's offers is not on this machine");
    std::fs::write(&table, kept).expect("written");
    std::fs::remove_file(key_file(home.path(), ".links")).expect("removed");
    let server = Server::start("s.s2s", home);
    let stranger = Browser { address: server.browser("bob", 2).address, ..bob };
    stranger.get("/v1/seat").refuses(401, "no such invitation");
    server.joined("bob", 9).votes("redis", 5);
    is_sound(&server.ended());
}
