//! Receipts of remote seats: held against the file afterwards, refused in words when they were given for
//! something else.

use serde_json::{Value, json};

use crate::program::{Ran, run, sha256};
use crate::served::{Server, program, served_as};

const TABLE: &str = "\
participants: [{name: dana, model: remote/link}, {name: bob, model: remote/link}, {name: ann, model: rehearsal}]
steps:
  - {id: first, type: round, question: Which cache first?, ballot: {kind: choice, options: [alpha, beta]}, next: second}
  - {id: second, type: round, question: And then?, ballot: {kind: choice, options: [alpha, beta]}}
";

/// A session that has ended, and what its seats were given, round by round.
fn held() -> (Server, Vec<Value>) {
    let server = served_as(TABLE);
    let seats = [("dana", 1), ("bob", 2)].map(|(name, seed)| server.joined(name, seed));
    let mut receipts = Vec::new();
    for nonce in [3, 4] {
        receipts.extend(seats.iter().map(|seat| seat.votes("alpha", nonce).json()));
    }
    server.ended();
    (server, receipts)
}

fn verified(server: &Server, receipt: &str) -> Ran {
    run(program(server.home.path()).args(["verify", "s.s2s", "--receipt", receipt]))
}

#[test]
fn a_receipt_is_held_against_the_file_after_the_reveal() {
    let (server, receipts) = held();
    std::fs::write(server.home.path().join("receipt.json"), receipts[3].to_string()).expect("written");
    for (given, seat, round) in
        [(receipts[0].to_string(), "dana", "first"), ("receipt.json".to_owned(), "bob", "second")]
    {
        verified(&server, &given).code(0).shows(&format!(
            "ok      receipt of `{seat}` in round `{round}`: the file holds the answer that was sealed then; it is \
             the one that is revealed"
        ));
    }
    let keys: Vec<&String> = receipts[0].as_object().expect("a map").keys().collect();
    assert_eq!(keys, ["session", "round", "participant", "snapshot_sha256", "commitment"]);
}

#[test]
fn a_receipt_for_something_else_is_refused_in_words() {
    let (server, receipts) = held();
    let with = |key: &str, value: Value| {
        let mut receipt = receipts[1].clone();
        receipt[key] = value;
        receipt
    };
    let cases = [
        (with("commitment", json!(sha256("another answer"))), "is not the one that was sealed then"),
        (with("participant", json!("dana")), "its answer is that of `bob` in round `first`"),
        (with("participant", json!("ann")), "`ann` is no remote seat, and only those have receipts"),
        (with("round", json!("second")), "was handed another snapshot in round `second`"),
        (with("commitment", receipts[2]["commitment"].clone()), "that of `dana` in round `second`"),
        (with("round", json!("third")), "the session has no round `third`"),
        (with("participant", json!("nobody")), "`nobody` had no seat in round `first`"),
        (with("snapshot_sha256", json!("0".repeat(64))), "was handed another snapshot"),
        (with("session", json!("another")), "is of session `another`; this one is `"),
    ];
    for (receipt, says) in cases {
        let ran = verified(&server, &receipt.to_string()).code(6);
        ran.shows("FAILED").shows(says).shows("verification failed: ");
    }
    for text in ["{\"commitment\": 1}", "{", "{\"event\": \"warning\"}"] {
        verified(&server, text).code(2).tells("this is no receipt").tells("hint: ");
    }
}
