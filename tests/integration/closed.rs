//! Process of an open round: no core file, no answers in memory.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Child;

use roundtable::round::snapshot::unhex;
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};

use crate::patience::{NEVER, Patient as _, wait_for};
use crate::program::Desk;
use crate::server::{Answer, Request, Server};

const TABLE: &str = "\
goal: \"walrus-context\"
participants: [{name: ann, persona: qa-lead, model: lab/m}, {name: bob, persona: skeptic, model: lab/m}]
steps:
  - {id: first, type: round, question: \"Which first?\", ballot: {kind: choice, options: [alpha, beta]}, rule: plurality}
  - {id: then, type: round, question: \"Which then?\", ballot: {kind: choice, options: [alpha, beta]}, rule: plurality}
";

fn secret() -> String {
    "ssorc-arbez".chars().rev().collect()
}

/// Answers on a separate connection, so that no buffer of a kept connection contains the answer.
fn votes(request: &Request) -> Answer {
    let text = format!("vote: alpha\nrationale: [\"{}, as {} says\"]\n", secret(), request.seat());
    let body = serde_json::json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]});
    let head = "HTTP/1.1 200 x\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ";
    let body = body.to_string();
    Answer::raw(format!("{head}{}\r\n\r\n{body}", body.len()))
}

/// Runs a session whose second seat never answers in this round, until `sealed` answers are sealed.
fn open_in(round: &'static str, sealed: usize) -> (Desk, Server, Child) {
    let server = Server::start(move |request| {
        let is_slow = request.seat() == "bob" && request.user_text().contains(round);
        if is_slow { votes(request).after(NEVER) } else { votes(request) }
    });
    let desk = Desk::with(TABLE).served_by(&server);
    let args = ["--batch", "decide.yaml", "--save", "s.s2s"];
    let child = desk.shell("ulimit -c unlimited; exec \"$0\" \"$@\"", &args).start().expect("it starts");
    let seals = |file: &str| file.matches("\nevent: ballot_sealed\n").count() == sealed;
    let is_open = || fs::read_to_string(desk.path("s.s2s")).is_ok_and(|file| seals(&file));
    wait_for("the sealed answers", || is_open().then_some(()));
    (desk, server, child)
}

#[test]
fn no_core_file_is_made_of_an_open_round() {
    // A limit raised from outside does not help.
    for raised in [false, true] {
        let (desk, _server, mut child) = open_in("Which first?", 1);
        let limits = fs::read_to_string(format!("/proc/{}/limits", child.id())).expect("limits");
        let core = limits.lines().find(|line| line.starts_with("Max core file size")).expect("a limit");
        assert_eq!(core.split_whitespace().nth(4), Some("0"), "{core}");
        if raised {
            let none = Rlimit { current: None, maximum: None };
            prlimit(Some(Pid::from_child(&child)), Resource::Core, none).expect("raised");
        }
        kill_process(Pid::from_child(&child), Signal::ABORT).expect("sent");
        let status = wait_for("the end of the program", || child.try_wait().expect("it can be asked"));
        let ended = (status.signal(), status.core_dumped());
        assert_eq!(ended, (Some(Signal::ABORT.as_raw()), false), "{status}");
        let left = desk.files();
        assert!(!left.iter().any(|path| path.to_string_lossy().contains("core")), "{left:?}");
    }
}

/// Counts these byte strings in the writable memory of the process; `None` if it cannot be read.
fn found<const N: usize>(child: &Child, wanted: [&[u8]; N]) -> Option<[usize; N]> {
    let maps = fs::read_to_string(format!("/proc/{}/maps", child.id())).ok()?;
    let memory = File::open(format!("/proc/{}/mem", child.id())).ok()?;
    let mut counts = [0; N];
    let is_writable = |line: &&str| line.split(' ').nth(1).is_some_and(|mode| mode.starts_with("rw"));
    for line in maps.lines().filter(is_writable) {
        let range = line.split(' ').next().and_then(|range| range.split_once('-')).expect("a range");
        let [from, to] = [range.0, range.1].map(|hex| u64::from_str_radix(hex, 16).expect("an address"));
        let mut bytes = vec![0; usize::try_from(to - from).expect("a length")];
        if memory.read_exact_at(&mut bytes, from).is_err() {
            continue;
        }
        for (count, wanted) in counts.iter_mut().zip(wanted) {
            *count += bytes.windows(wanted.len()).filter(|window| *window == wanted).count();
        }
    }
    Some(counts)
}

#[test]
fn what_was_sealed_is_not_in_memory() {
    let secret = secret();
    let (desk, _server, mut child) = open_in("Which first?", 1);
    let key = fs::read_to_string(&desk.keys()[0]).expect("a key");
    let key: [u8; 32] = unhex(key.trim()).expect("a key");
    let Some(counts) = found(&child, [b"walrus-context", &key, secret.as_bytes()]) else {
        println!("closed to its user: there is nothing to look into");
        kill_process(Pid::from_child(&child), Signal::KILL).expect("sent");
        return;
    };
    assert!(counts[0] > 0, "what it works with is found");
    assert_eq!(counts[1..], [0, 0], "the private key and what was sealed are nowhere");
    child.kill().expect("killed");
}
