//! Receipts: given when an answer is sealed, held against the file afterwards, refused in words when
//! they were given for something else. (That they say nothing of an answer: `blind.rs`.)

use serde_json::{Value, json};

use crate::program::{Desk, sha256};

const TABLE: &str = "\
goal: \"Choose a cache\"
participants: [qa-lead, skeptic]
steps:
  - {id: first, type: round, question: \"Which cache first?\", ballot: {kind: choice, options: [alpha, beta]}, next: second}
  - {id: second, type: round, question: \"And then?\", ballot: {kind: choice, options: [alpha, beta]}}
";

fn held() -> (Desk, Vec<Value>) {
    let desk = Desk::with(TABLE);
    let args = ["--batch", "decide.yaml", "--save", "s.s2s", "--receipts", "r.ndjson", "--json"];
    let ran = desk.run(args).code(0);
    let receipts: Vec<Value> =
        desk.read("r.ndjson").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(receipts.len(), 4, "one for each answer");
    // The lines of `--json` serve as well.
    desk.write("events.ndjson", &ran.out);
    desk.run(["verify", "s.s2s", "--receipt", "events.ndjson"]).code(0);
    (desk, receipts)
}

#[test]
fn a_receipt_is_held_against_the_file_after_the_reveal() {
    let (desk, receipts) = held();
    let ran = desk.run(["verify", "s.s2s", "--receipt", "r.ndjson"]).code(0);
    for (seat, round) in [("qa-lead", "first"), ("skeptic", "second")] {
        let says =
            format!("ok      receipt of `{seat}` in round `{round}`: the file holds the answer that was");
        assert!(ran.out.contains(&says), "{}", ran.out);
    }
    assert_eq!(ran.out.matches("it is the one that is revealed").count(), 4, "{}", ran.out);
    let one = receipts[0].to_string();
    assert!(desk.run(["verify", "s.s2s", "--receipt", &one, "--json"]).code(0).out.contains("\"ok\":true"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(desk.path("r.ndjson")).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let keys: Vec<&String> = receipts[0].as_object().expect("a map").keys().collect();
    assert_eq!(keys, ["session", "round", "participant", "snapshot_sha256", "commitment"]);
}

#[test]
fn a_receipt_for_something_else_is_refused_in_words() {
    let (desk, receipts) = held();
    let find = |seat: &str, round: &str| {
        let is = |receipt: &&Value| receipt["participant"] == seat && receipt["round"] == round;
        receipts.iter().find(is).expect("given").clone()
    };
    let with = |key: &str, value: Value| {
        let mut receipt = find("skeptic", "first");
        receipt[key] = value;
        receipt
    };
    let cases = [
        (with("commitment", json!(sha256("another answer"))), "is not the one that was sealed then"),
        (with("participant", json!("qa-lead")), "its answer is that of `skeptic` in round `first`"),
        (with("round", json!("second")), "was handed another snapshot in round `second`"),
        (
            with("commitment", find("qa-lead", "second")["commitment"].clone()),
            "that of `qa-lead` in round `second`",
        ),
        (with("round", json!("third")), "the session has no round `third`"),
        (with("participant", json!("nobody")), "`nobody` had no seat in round `first`"),
        (with("snapshot_sha256", json!("0".repeat(64))), "was handed another snapshot"),
        (with("session", json!("another")), "is of session `another`; this one is `"),
    ];
    for (receipt, says) in cases {
        let ran = desk.run(["verify", "s.s2s", "--receipt", &receipt.to_string()]).code(6);
        assert!(ran.out.contains("FAILED") && ran.out.contains(says), "{says}: {}", ran.out);
        assert!(ran.out.contains("verification failed: "), "{}", ran.out);
    }
    // Beside receipts of its own session, those of others are noted.
    let both = format!("{}\n\n{}\n", find("skeptic", "first"), with("session", json!("another")));
    desk.write("both.ndjson", both);
    let ran = desk.run(["verify", "s.s2s", "--receipt", "both.ndjson"]).code(0);
    assert!(ran.out.contains("1 of the receipts are of other sessions"), "{}", ran.out);
    for (text, says) in [
        ("{\"commitment\": 1}", "no receipt"),
        ("{", "no line of JSON"),
        ("{\"event\": \"warning\"}", "no receipts found"),
    ] {
        let ran = desk.run(["verify", "s.s2s", "--receipt", text]).code(2);
        assert!(ran.err.contains(says) && ran.err.contains("hint: "), "{}", ran.err);
    }
}

#[test]
fn receipts_overwrite_nothing_and_need_a_headless_run() {
    let desk = Desk::with(TABLE);
    desk.write("r.ndjson", "kept");
    let ran = desk.run(["--batch", "decide.yaml", "--receipts", "r.ndjson"]).code(2);
    assert!(ran.err.contains("never overwrites"), "{}", ran.err);
    assert_eq!(desk.read("r.ndjson"), "kept");
    assert!(desk.sessions().is_empty(), "nothing was begun");
    let ran = desk.run(["decide.yaml", "--receipts", "x.ndjson"]).code(2);
    assert!(ran.err.contains("--receipts needs --batch"), "{}", ran.err);
    let ran = desk.run(["--batch", "decide.yaml", "--receipts", "-", "--quiet"]).code(0);
    assert_eq!(ran.err.matches("\"commitment\":").count(), 4, "{}", ran.err);
}
