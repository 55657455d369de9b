//! Evidence from the project: files, lines, diffs and pipes in the snapshot, and the references to them.

use std::fs;

use serde_json::Value;

use crate::program::{Desk, has, named};
use crate::pty::Screen;

const REVIEW: &str = r#"
id: review
question: "What is wrong here?"
participants: [skeptic, qa-lead, technical-lead]
artifacts:
  - {id: SRC-1, file: src/cache.rs, lines: 2-3}
"#;
const SOURCE: &str = "fn get() {\n    stale(\n        60)\n}\n";

fn desk(definition: &str) -> Desk {
    let desk = Desk::rehearsing(definition);
    desk.write("src/cache.rs", SOURCE);
    desk
}

fn snapshot(lines: &[Value]) -> String {
    named(lines, "round_opened")[0]["snapshot"].as_str().expect("text").to_owned()
}

fn seats(desk: &Desk) -> Vec<Value> {
    let report = desk.report("s.s2s");
    report["rounds"][0]["seats"].as_array().expect("seats").clone()
}

#[test]
fn lines_of_a_file_stand_in_the_snapshot_and_references_to_them_are_checked() {
    let desk = desk(REVIEW);
    let content = "review:\n  \
         skeptic: {position: Stale., references: [\"SRC-1:2-3\", \"stale( 60)\"]}\n  \
         qa-lead: {position: Stale., references: [REQ-999, \"SRC-1:4\"]}\n  \
         technical-lead: {position: Stale., references: []}\n";
    let text = snapshot(&desk.answered(content, &["--json"]).code(0).lines());
    let lines = ["lines: \"2-3\"", "   2|     stale(\n", "   3|         60)\n"];
    has(&text, &[&lines[..], &["source: \"src/cache.rs\"", "bytes: 36"]].concat());
    assert!(!text.contains("fn get"), "{text}");
    let seats = seats(&desk);
    let unresolved = |name: &str| {
        let seat = seats.iter().find(|seat| seat["participant"] == name).expect("a seat");
        seat["unresolved_references"].clone()
    };
    assert_eq!(unresolved("skeptic"), serde_json::json!([]));
    assert_eq!(unresolved("qa-lead"), serde_json::json!(["REQ-999", "SRC-1:4"]));
    let report = desk.run(["report", "s.s2s", "--format", "md"]).code(0).out;
    let told = "Unresolved references, which lead nowhere in the snapshot: REQ-999; SRC-1:4";
    assert!(report.contains(told), "{report}");
    desk.run(["report", "s.s2s", "--format", "csv"]).code(0).shows("\"REQ-999⏎SRC-1:4\"");
}

/// The first draft holds the evidence, so that the round opens as it is shown.
#[test]
fn the_screen_opens_a_round_with_evidence_at_once() {
    let desk = desk(REVIEW);
    let run = ["decide.yaml", "--model", "rehearsal", "--evidence", "src/cache.rs:4"];
    let mut screen = Screen::open(&desk, (160, 60), &run);
    screen.wait_for(&["quit"]);
    screen.press("s", &["2|     stale(", "EV-1"]);
    screen.press("o", &["accept"]);
    screen.kill();
    desk.write("src/cache.rs", SOURCE.replace("60", "61"));
    let mut screen = Screen::open(&desk, (160, 60), &run);
    screen.wait_for(&["quit"]);
    desk.write("src/cache.rs", SOURCE.replace("60", "62"));
    // It shows what changed, and opens once that was seen.
    let changed = ["evidence changed on disk; review the snapshot again", "-", "61)", "62)"];
    screen.press("o", &changed);
    screen.press("o", &["accept"]);
    screen.kill();
}

#[test]
fn what_is_not_as_named_stops_before_anything_is_asked() {
    for (artifact, said) in [
        ("file: src/none.rs", "src/none.rs"),
        ("file: src/cache.rs, lines: 3-9", "ends at line 4"),
        ("file: src/binary", "UTF-8"),
        ("file: ../outside.rs", "outside the project"),
        ("file: src/key.txt", "line 2: this looks like an AWS access key"),
        ("file: src/linked", "line 1: this looks like a file of keys and passwords"),
        ("diff: main...HEAD", "git"),
        ("diff: main", "no range of commits"),
        ("file: \"src/cache.rs:3-1\"", "`3-1` is no range of lines"),
    ] {
        let definition = REVIEW.replace("file: src/cache.rs, lines: 2-3", artifact);
        let desk = desk(&definition);
        fs::write(desk.path("src/binary"), [0xff, 0xfe]).expect("written");
        desk.write(".env", "A=1\n");
        std::os::unix::fs::symlink(desk.path(".env"), desk.path("src/linked")).expect("a link");
        desk.write("src/key.txt", format!("key\nAKIA{}\n", "A".repeat(16)));
        fs::write(desk.path("../outside.rs"), "x").expect("written");
        for verb in ["--batch decide.yaml", "check decide.yaml", "--batch --dry-run decide.yaml"] {
            desk.run(verb.split(' ')).code(2).says("SRC-1").says(said);
        }
    }
}

#[test]
fn the_command_line_adds_evidence_of_its_own() {
    let desk = desk("question: \"What is wrong here?\"\nparticipants: [skeptic, qa-lead]\n");
    desk.write("notes.txt", "first\nsecond\n");
    let flags = ["--evidence", "notes.txt:2", "--evidence", "-", "--save", "s.s2s", "--json"];
    let run = ["--batch", "decide.yaml"].into_iter().chain(flags);
    let ran = desk.pipe(run, "error[E0308]: mismatched types\n");
    let text = snapshot(&ran.code(0).lines());
    has(&text, &["id: EV-1", "   2| second", "id: EV-2", "source: \"standard input\"", "   1| error[E0308]"]);
    desk.run(["verify", "s.s2s"]).code(0);
    desk.write("key.txt", format!("hf_{}\n", "a".repeat(34)));
    let refused = desk.run(["--batch", "decide.yaml", "--evidence", "key.txt"]).code(2);
    refused.tells("looks like a Hugging Face token");
    desk.run(["--batch", "decide.yaml", "--evidence", "key.txt", "--secrets", "allow"]).code(0);
}

#[test]
fn a_definition_that_sends_secrets_is_agreed_to_first() {
    let desk = desk(&REVIEW.replace("id: review", "id: review\nsecrets: allow").replace(", lines: 2-3", ""));
    let write = |letter: &str| desk.write("src/cache.rs", format!("x = 1;\nhf_{}\n", letter.repeat(34)));
    write("a");
    let question =
        "sends `src/cache.rs`, whose line 2 looks like a Hugging Face token (named by decide.yaml)";
    for run in [&["check", "decide.yaml"][..], &["--batch", "--dry-run", "decide.yaml"]] {
        desk.run(run).code(0).says(question).says("not agreed to yet");
    }
    let refused = desk.run(["--batch", "decide.yaml"]).code(2).err;
    assert!(refused.contains("nobody has agreed to this yet") && desk.sessions().is_empty(), "{refused}");
    desk.run(["--batch", "decide.yaml", "--trust"]).code(0);
    desk.run(["--batch", "decide.yaml", "--secrets", "allow"]).code(0);
    // The screen asks, and the answer counts for this content alone.
    let mut screen = Screen::open(&desk, (120, 40), &["decide.yaml"]);
    screen.wait_for(&["asks you first", "Hugging Face token"]);
    screen.press("o", &["Allow this?", "looks like a Hugging Face token"]);
    screen.press("y", &["3 of 3 answered"]);
    screen.send("\u{3}\u{3}");
    screen.end();
    let newest = desk.sessions().into_iter().max().expect("a session");
    assert!(std::fs::read_to_string(newest).expect("text").contains("hf_aaa"));
    desk.run(["--batch", "decide.yaml"]).code(0);
    write("b");
    desk.run(["--batch", "decide.yaml"]).code(2);
    // The user's own definition, and one that holds none, ask nothing.
    desk.write("src/cache.rs", "x = 1;\n");
    desk.run(["--batch", "decide.yaml"]).code(0);
}

#[test]
fn a_snapshot_over_its_limit_is_not_sent() {
    let desk = desk(&REVIEW.replace("id: review", "id: review\nmax_snapshot_bytes: 1000"));
    desk.write("src/cache.rs", "x = 1;\n".repeat(1000));
    desk.write("decide.yaml", desk.read("decide.yaml").replace(", lines: 2-3", ""));
    let ran = desk.run(["--batch", "decide.yaml", "--save", "s.s2s"]).code(2);
    ran.tells("`max_snapshot_bytes` is 1000").tells("artifact SRC-1 (");
    // Nothing is lost: with the file smaller the session goes on.
    desk.write("src/cache.rs", "x = 1;\n");
    desk.run(["resume", "s.s2s"]).code(0);
}

#[test]
fn only_ballots_that_cite_something_are_counted_when_asked() {
    let desk = desk(
        "id: review\nquestion: \"Which?\"\nparticipants: [skeptic, qa-lead, technical-lead]\n\
         ballot: {kind: choice, options: [a, b]}\nrule: majority\n\
         artifacts: [{id: SRC-1, file: src/cache.rs}]\n",
    );
    let text = "review:\n  skeptic: {vote: a, references: [\"SRC-1:1\"]}\n  \
         qa-lead: {vote: b, references: [REQ-999]}\n  technical-lead: {vote: b}\n";
    desk.answered(text, &[]).code(0);
    desk.run(["tally", "s.s2s", "--supported"]).code(0).shows("cite the snapshot: 1 of 3");
    let json = desk.run(["tally", "s.s2s", "--supported", "--json"]).code(0).lines();
    assert_eq!(json[0]["winners"], serde_json::json!(["a"]));
    assert_eq!(json[0]["recorded"]["winners"], serde_json::json!(["b"]));
}
