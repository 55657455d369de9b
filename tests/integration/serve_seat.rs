//! `seat`, end to end: two programs vote by their links in a session that a third one serves.
#![cfg(feature = "serve")]

use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

use roundtable::journal::verify;
use serde_json::Value;

use crate::patience::{Patient as _, wait_for};
use crate::served::{CANARY, Server, program, served};

fn link<'a>(server: &'a Server, seat: &str) -> &'a str {
    &server.links.iter().find(|(name, _)| name == seat).expect("a link").1
}

fn seat(home: &Path, arguments: &[&str]) -> Output {
    program(home).arg("seat").args(arguments).output_soon().expect("runs")
}

fn said(run: &Output) -> String {
    String::from_utf8_lossy(&run.stderr).into_owned()
}

/// Waits until the rehearsed seat has sealed: then the invitations are on disk too.
fn is_open(server: &Server) {
    let written = || std::fs::read_to_string(server.file()).ok();
    wait_for("ann's ballot", || written().filter(|text| text.contains("event: ballot_sealed")));
}

#[test]
fn two_programs_vote_by_their_links() {
    let server = served();
    is_open(&server);
    let desks = [(); 3].map(|()| tempfile::tempdir().expect("a folder"));
    let [dana, bob, stranger] = desks.each_ref().map(tempfile::TempDir::path);
    let ballot = |text: &str| std::fs::write(dana.join("ballot.yaml"), text).expect("written");

    ballot("vote: mysql\n");
    let with_file = [link(&server, "dana"), "--answer", "ballot.yaml"];
    let unfit = seat(dana, &with_file);
    assert_eq!(unfit.status.code(), Some(2), "{}", said(&unfit));
    assert!(said(&unfit).contains("the answer does not fit"), "{}", said(&unfit));
    let left = seat(dana, &with_file[..1]);
    assert_eq!(left.status.code(), Some(4), "{}", said(&left));
    // A person reads the question, the options and how to answer; what models are told is left out.
    for words in ["You answer as dana.", "\n- redis", "vote: <one option"] {
        assert!(said(&left).contains(words), "{words}: {}", said(&left));
    }
    assert!(!said(&left).contains("You have no tools"), "{}", said(&left));
    // The key of the first run is bound to the link.
    let other = seat(stranger, &with_file[..1]);
    assert_eq!(other.status.code(), Some(2), "{}", said(&other));
    assert!(said(&other).contains("opened elsewhere"), "{}", said(&other));
    let (before, _) = link(&server, "dana").rsplit_once('.').expect("a fingerprint");
    let false_table = seat(dana, &[&format!("{before}.AAAAAAAAAAAAAAAAAAAAAA")]);
    assert_eq!(false_table.status.code(), Some(6), "{}", said(&false_table));

    ballot(&format!("vote: redis\nrationale: [{CANARY}]\n"));
    let mut first = program(dana);
    first.arg("seat").args(with_file).stdout(Stdio::piped()).stderr(Stdio::piped());
    let first = first.start().expect("runs");
    let written = || std::fs::read_to_string(server.file()).ok();
    wait_for("dana's ballot", || written().filter(|text| text.matches("event: ballot_sealed").count() == 2));
    assert!(!written().expect("a file").contains(CANARY));

    // The other one types: at first what fits nothing.
    let mut second = program(bob);
    second.args(["seat", link(&server, "bob")]).stdin(Stdio::piped());
    let mut second = second.stdout(Stdio::piped()).stderr(Stdio::piped()).start().expect("runs");
    let mut typed = second.stdin.take().expect("a pipe");
    typed.write_all(b"vote: mysql\n\nvote: redis\n\n").expect("typed");
    drop(typed);
    let receipts = [first, second].map(|seat| {
        let run = seat.wait_with_output().expect("ends");
        assert_eq!(run.status.code(), Some(0), "{}", said(&run));
        assert!(said(&run).contains("Decided: redis"), "{}", said(&run));
        assert!(said(&run).contains("Your receipt fits"), "{}", said(&run));
        let printed = String::from_utf8_lossy(&run.stdout).into_owned();
        let receipt: Value = serde_json::from_str(printed.trim()).expect("one receipt");
        (receipt["participant"].as_str().expect("a name").to_owned(), printed)
    });
    assert_eq!(receipts.each_ref().map(|(name, _)| name.as_str()), ["dana", "bob"]);

    let again = seat(dana, &with_file);
    assert_eq!(again.status.code(), Some(0), "{}", said(&again));
    let bytes = server.ended();
    assert_eq!(verify(&bytes, None).findings, []);
    for (name, receipt) in &receipts {
        let check = ["verify", "s.s2s", "--receipt", receipt.trim()];
        let run = program(server.home.path()).args(check).output_soon().expect("runs");
        assert_eq!(run.status.code(), Some(0), "{name}: {}", said(&run));
    }
}

#[test]
fn what_is_no_link_is_refused() {
    let home = tempfile::tempdir().expect("a folder");
    let cases = [
        ("https://votes.example", 2, "no link of a ballot"),
        ("http://votes.example/b#token.print", 2, "over plain http"),
        ("ftp://votes.example/b#token.print", 2, "no http or https address"),
        ("http://127.0.0.1:1/b#token.print", 5, "cannot be reached"),
    ];
    for (link, exit, what) in cases {
        let run = seat(home.path(), &[link]);
        assert_eq!(run.status.code(), Some(exit), "{link}: {}", said(&run));
        assert!(said(&run).contains(what), "{link}: {}", said(&run));
    }
}
