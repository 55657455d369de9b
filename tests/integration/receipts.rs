//! Receipts of remote seats: checked against the file.

use serde_json::{Value, json};

use crate::program::sha256;
use crate::served::served_as;

const TABLE: &str = "\
participants: [{name: dana, model: remote/link}, {name: bob, model: remote/link}, {name: ann, model: rehearsal}]
steps:
  - {id: first, type: round, question: Which cache first?, ballot: {kind: choice, options: [alpha, beta]}, next: second}
  - {id: second, type: round, question: And then?, ballot: {kind: choice, options: [alpha, beta]}}
";

#[test]
fn a_receipt_is_held_against_the_file_after_the_reveal() {
    let server = served_as(TABLE);
    let seats = [("dana", 1), ("bob", 2)].map(|(name, seed)| server.joined(name, seed));
    let mut receipts = Vec::new();
    for nonce in [3, 4] {
        receipts.extend(seats.iter().map(|seat| seat.votes("alpha", nonce).json()));
    }
    server.ended();
    let verified = |receipt: &str| server.desk.run(["verify", "s.s2s", "--receipt", receipt]);
    server.desk.write("receipt.json", receipts[3].to_string());
    for (given, seat, round) in
        [(receipts[0].to_string(), "dana", "first"), ("receipt.json".to_owned(), "bob", "second")]
    {
        verified(&given).code(0).shows(&format!(
            "ok      the receipt of `{seat}` in round `{round}`: the file contains the answer that was sealed then; it is \
             the one that is revealed"
        ));
    }
    let keys: Vec<&String> = receipts[0].as_object().expect("a map").keys().collect();
    assert_eq!(
        keys,
        ["session", "round", "participant", "door", "key", "opened_sha256", "commitment", "sealed_sha256"]
    );
    // A receipt for something else is refused in words.
    let with = |key: &str, value: Value| {
        let mut receipt = receipts[1].clone();
        receipt[key] = value;
        receipt
    };
    let cases = [
        (
            with("commitment", json!(sha256("another answer"))),
            "differ in what was sealed: it is another answer",
        ),
        (with("sealed_sha256", json!(sha256("other bytes"))), "differ in what was sealed"),
        (with("commitment", receipts[2]["commitment"].clone()), "differ in what was sealed"),
        (
            with("participant", json!("dana")),
            "`dana` in round `first` and the file differ in the door or the key",
        ),
        (with("key", receipts[0]["key"].clone()), "differ in the door or the key"),
        (with("door", json!("inbox")), "differ in the door or the key"),
        (with("participant", json!("ann")), "there is no remote seat of that name"),
        (with("round", json!("second")), "differ in how the round was opened"),
        (with("opened_sha256", json!("0".repeat(64))), "differ in how the round was opened"),
        (with("round", json!("third")), "the file has no such round"),
        (with("participant", json!("nobody")), "there is no remote seat of that name"),
        (with("session", json!("another")), "no such round of session `another`"),
    ];
    for (receipt, says) in cases {
        let ran = verified(&receipt.to_string()).code(6);
        ran.shows("FAILED").shows(says).shows("verification failed: ");
    }
    for text in ["{\"commitment\": 1}", "{", "{\"event\": \"warning\"}"] {
        verified(text).code(2).tells("this is no receipt").tells("hint: ");
    }
}
