//! `seat` where the network fails: what is sealed is sent again, with the same bytes, and counted once.
#![cfg(feature = "serve")]

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};

use roundtable::journal::verify;
use serde_json::Value;

use crate::patience::{PATIENCE, Patient as _};
use crate::served::{Agent, CANARY, Server, program, served, served_as};

/// What a network does to a ballot on its way.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    /// It never arrives.
    Lost,
    /// It arrives, and the reply to it is lost.
    NoReply,
    /// What everybody was given is changed on its way to the seat.
    Altered,
    /// The first request of each kind is one too many, and the second one is lost.
    Busy,
    None,
}

/// A network between a seat and its session: the address to use, and the ballots that were sent. The first
/// ones meet these faults.
fn network(server: &Server, faults: &'static [Fault]) -> (String, Receiver<Vec<u8>>) {
    network_to(server.browser("dana", 1).address, faults)
}

fn network_to(to: String, faults: &'static [Fault]) -> (String, Receiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let (tell, told) = channel();
    std::thread::spawn(move || {
        let (mut faults, mut kinds) = (faults.iter(), HashMap::new());
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let request = request(&mut stream);
            if faults.as_slice() == [Fault::Busy] {
                let line = request.split(|byte| *byte == b'\r').next().expect("a line").to_vec();
                let count = kinds.entry(line).or_insert(0);
                *count += 1;
                if *count == 1 {
                    let head =
                        "HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\nContent-Length: 28\r\n\r\n";
                    stream
                        .write_all(format!("{head}{{\"refused\":\"too many tries\"}}").as_bytes())
                        .expect("sent");
                }
                if *count < 3 {
                    continue;
                }
            }
            let is_ballot = request.starts_with(b"POST /v1/seat/sealed");
            let mut fault = Fault::None;
            if is_ballot {
                fault = faults.next().copied().unwrap_or(Fault::None);
                let body = request.windows(4).position(|four| four == b"\r\n\r\n").expect("a head") + 4;
                drop(tell.send(request[body..].to_vec()));
            }
            if fault == Fault::Lost {
                continue;
            }
            let mut reply = Vec::new();
            if let Ok(mut on) = TcpStream::connect(&to) {
                on.write_all(&request).expect("sent on");
                drop(on.read_to_end(&mut reply));
            }
            if request.starts_with(b"GET /v1/context") && faults.as_slice() == [Fault::Altered] {
                *reply.last_mut().expect("a reply") ^= 1;
            }
            if fault == Fault::None {
                drop(stream.write_all(&reply));
            }
        }
    });
    (address, told)
}

/// A whole request, whose reply ends the connection.
fn request(stream: &mut TcpStream) -> Vec<u8> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
        head.push(byte[0]);
    }
    let text = String::from_utf8_lossy(&head).to_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    drop(stream.read_exact(&mut body));
    let text = String::from_utf8(head).expect("a head");
    [text.replacen("\r\n", "\r\nConnection: close\r\n", 1).into_bytes(), body].concat()
}

fn link(server: &Server, seat: &str) -> String {
    server.links.iter().find(|(name, _)| name == seat).expect("a link").1.clone()
}

/// The same link by another address.
fn by(link: &str, address: &str) -> String {
    let (base, secret) = link.split_once("/b#").expect("a link");
    let (scheme, _) = base.split_once("//").expect("a scheme");
    format!("{scheme}//{address}/b#{secret}")
}

fn seat(home: &Path, link: &str, words: &[&str]) -> Child {
    let mut seat = program(home);
    seat.args(["seat", link]).args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    seat.start().expect("runs")
}

/// What it said, once it has ended well.
fn done(seat: Child) -> (String, String) {
    let run = seat.wait_with_output().expect("ends");
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(0), "{said}");
    (String::from_utf8_lossy(&run.stdout).into_owned(), said)
}

fn with_ballot(home: &Path) -> [&str; 2] {
    let text = format!("vote: redis\nrationale: [{CANARY}]\n");
    std::fs::write(home.join("ballot.yaml"), text).expect("written");
    ["--answer", "ballot.yaml"]
}

#[test]
fn a_ballot_or_receipt_that_is_lost_is_sent_again_with_the_same_bytes() {
    let server = served();
    let (address, sent) = network(&server, &[Fault::Lost, Fault::NoReply]);
    let desks = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let [dana, bob] = desks.each_ref().map(tempfile::TempDir::path);
    let first = seat(dana, &by(&link(&server, "dana"), &address), &with_ballot(dana));
    let [one, two, three] = [(); 3].map(|()| sent.recv_timeout(PATIENCE).expect("a ballot"));
    assert!(one == two && two == three, "other bytes");
    let mut second = seat(bob, "-", &with_ballot(bob));
    let mut typed = second.stdin.take().expect("a pipe");
    typed.write_all(format!("{}\n", link(&server, "bob")).as_bytes()).expect("typed");
    let (receipt, said) = done(first);
    assert!(said.contains("Sealed here, not delivered yet"), "{said}");
    assert!(said.contains("Your receipt fits"), "{said}");
    let ballot: Value = serde_json::from_slice(&one).expect("JSON");
    assert_eq!(serde_json::from_str::<Value>(&receipt).expect("one")["commitment"], ballot["commitment"]);
    done(second);
    let bytes = server.ended();
    assert_eq!(verify(&bytes, None).findings, []);
    assert_eq!(String::from_utf8_lossy(&bytes).matches("event: envelope_refused").count(), 0);
}

#[test]
fn a_seat_that_is_given_something_else_than_its_hash_sends_nothing() {
    let server = served();
    let (address, sent) = network(&server, &[Fault::Altered]);
    let desk = tempfile::tempdir().expect("a folder");
    let run = seat(desk.path(), &by(&link(&server, "dana"), &address), &with_ballot(desk.path()));
    let run = run.wait_with_output().expect("ends");
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert_eq!(run.status.code(), Some(6), "{said}");
    assert!(said.contains("does not have its hash; nothing was sent"), "{said}");
    assert!(sent.try_recv().is_err(), "a ballot was sent");
}

#[test]
fn a_seat_that_is_killed_before_its_ballot_arrives_delivers_the_same_one() {
    let server = served();
    let (address, sent) = network(&server, &[Fault::Lost]);
    let desk = tempfile::tempdir().expect("a folder");
    let words = with_ballot(desk.path());
    let mut killed = seat(desk.path(), &by(&link(&server, "dana"), &address), &words);
    let lost = sent.recv_timeout(PATIENCE).expect("a ballot");
    killed.kill().expect("killed");
    killed.wait().expect("ended");
    let bob = tempfile::tempdir().expect("a folder");
    let other = seat(bob.path(), &link(&server, "bob"), &with_ballot(bob.path()));
    // Another answer comes too late: the first is sealed.
    std::fs::write(desk.path().join("ballot.yaml"), "vote: sqlite\n").expect("written");
    let (receipt, said) = done(seat(desk.path(), &link(&server, "dana"), &words));
    let lost: Value = serde_json::from_slice(&lost).expect("JSON");
    assert_eq!(serde_json::from_str::<Value>(&receipt).expect("one")["commitment"], lost["commitment"]);
    assert!(said.contains("Decided: redis"), "{said}");
    done(other);
}

const TWICE: &str = "\
participants: [{name: dana, model: remote/link}]
steps:
  - {id: first, type: round, question: Which store?, rule: plurality, ballot: {kind: choice, options: [redis, sqlite]}}
  - {id: second, type: round, question: Which host?, rule: plurality, ballot: {kind: choice, options: [mars, venus]}}
";

#[test]
fn one_program_answers_round_after_round() {
    let server = served_as(TWICE);
    let desk = tempfile::tempdir().expect("a folder");
    let mut dana = seat(desk.path(), &link(&server, "dana"), &[]);
    let mut typed = dana.stdin.take().expect("a pipe");
    typed.write_all(b"vote: redis\n\nvote: venus\n\n").expect("typed");
    let (receipts, said) = done(dana);
    for words in ["Which store?", "Which host?", "Decided: venus", "Your receipt fits"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let rounds = receipts.lines().map(|line| serde_json::from_str::<Value>(line).expect("a receipt"));
    let rounds: Vec<_> =
        rounds.map(|receipt| receipt["round"].as_str().expect("a round").to_owned()).collect();
    assert_eq!(rounds, ["first", "second"]);
    assert_eq!(verify(&server.ended(), None).findings, []);
}

#[test]
fn an_agents_ballot_gets_through_a_busy_network() {
    let seat = "participants: [{name: coder, model: remote/inbox}]\nsteps: [{id: vote, type: round, question: \"Which?\", \
        rule: plurality, ballot: {kind: choice, options: [redis, sqlite]}}]\n";
    let server = served_as(seat);
    let coder = server.agent("coder");
    let (address, _sent) = network_to(coder.http.address.clone(), &[Fault::Busy]);
    let coder = Agent { url: format!("http://{address}"), ..coder };
    let mut run = coder.inbox(server.home.path(), &["run", "--", "echo", "vote: redis"]);
    let (receipt, said) = done(run.stdout(Stdio::piped()).stderr(Stdio::piped()).start().expect("runs"));
    assert_eq!(serde_json::from_str::<Value>(&receipt).expect("one")["participant"], "coder", "{said}");
    assert!(said.contains("vote/1: sealed"), "{said}");
}
