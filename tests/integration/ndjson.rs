//! `--json`: what scripts may rely on, line by line.

use std::io::{BufRead as _, BufReader};

use serde_json::Value;

use crate::program::Desk;

const TABLE: &str = "\
goal: \"Choose a cache\"
constraints: [\"no new server\"]
participants: [qa-lead, skeptic]
artifacts: [{id: REQ-1, summary: \"Fast\"}]
steps:
  - {id: pick, type: round, description: \"The choice\", question: \"Which?\", ballot: {kind: choice, options: [a, b]}, rule: majority}
  - {id: ok, type: approval, message: \"Accept?\"}
";
const ANSWERS: &str = "\
pick: {qa-lead: {vote: a, rationale: [fast]}, skeptic: {vote: a}}
ok: {approved: true, comment: \"good\"}
";
const RUN: [&str; 7] = ["--batch", "decide.yaml", "--json", "--answers", "answers.yaml", "--save", "s.s2s"];

fn keys(line: &Value) -> Vec<&str> {
    line.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn a_line_appears_once_its_event_is_in_the_file() {
    let desk = Desk::with(TABLE);
    desk.write("answers.yaml", ANSWERS);
    let mut child = desk.start(RUN);
    let out = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut events = Vec::new();
    for (number, line) in out.lines().enumerate() {
        let line: Value = serde_json::from_str(&line.expect("UTF-8")).expect("JSON");
        let hash = line["hash"].as_str().expect("a hash");
        let kept = desk.read("s.s2s");
        assert!(kept.contains(&format!("\nhash: {hash}\n")), "{line} is on disk");
        assert_eq!(line["seq"], number);
        assert!(line["at"].as_str().is_some_and(|at| at.ends_with('Z')));
        assert!(line["session"].as_str().is_some_and(|id| id.contains("decide")));
        events.push(line);
    }
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    let names: Vec<&str> = events.iter().map(|line| line["event"].as_str().expect("a name")).collect();
    let expected = "session_opened step_started round_opened work_item_offered work_item_offered ballot_sealed \
                    ballot_sealed round_closed answer_revealed answer_revealed tally_made step_finished \
                    step_started approval_requested approval_given step_finished session_closed";
    assert_eq!(names.join(" "), expected);
    assert_eq!(events[0]["prev"], "0".repeat(64));
    for pair in events.windows(2) {
        assert_eq!(pair[1]["prev"], pair[0]["hash"]);
    }
    assert_eq!(events[16]["status"], "finished");
    assert_eq!((&events[14]["approved"], &events[14]["by"]), (&Value::Bool(true), &Value::from("scripted")));
    assert_eq!(events[8]["participant"], "qa-lead", "revealed in the order of the roster");
    let result = &events[11];
    for key in ["stepId", "success", "data", "startTime", "endTime", "duration"] {
        assert!(result.get(key).is_some(), "{key}");
    }

    let again = desk.log("s.s2s");
    assert_eq!(again, events, "a replay prints the same lines");
    let up_to = desk.run(["replay", "s.s2s", "--json", "--at", "4"]).code(0).lines();
    assert_eq!(up_to, events[..5]);
}

#[test]
fn errors_are_lines_without_a_number_and_stand_on_standard_error_too() {
    let desk = Desk::with("goal: x\nqestion: y\n");
    let runs = "--batch decide.yaml --json; replay none.s2s --json; trace none.s2s --json; resume none.s2s --json; \
                --batch --json --bogus; --json";
    for args in runs.split("; ") {
        let ran = desk.run(args.split(' ')).code(2);
        let lines = ran.lines();
        assert!(!lines.is_empty(), "{args:?}");
        for line in lines {
            assert_eq!(line["event"], "error", "{args:?}");
            assert!(line.get("seq").is_none());
            assert_eq!(keys(&line), ["event", "message", "hint", "file", "line", "column"]);
            let message = line["message"].as_str().expect("text");
            ran.tells(message.split('\n').next().expect("a line"));
        }
    }
    let line = &desk.run(["--batch", "decide.yaml", "--json"]).lines()[0];
    assert_eq!((&line["file"], line["line"].is_u64()), (&"decide.yaml".into(), true));
}

#[test]
fn without_json_the_result_alone_is_on_standard_output() {
    let desk = Desk::with(TABLE);
    desk.write("answers.yaml", ANSWERS);
    let ran = desk.run(["--batch", "decide.yaml", "--answers", "answers.yaml"]).code(0);
    let report = desk.run(["report".to_owned(), crate::program::arg(&desk.session())]).code(0).out;
    assert_eq!(ran.out, report);
    ran.tells("saved: ").tells("last hash: ");
    let quiet = desk.run(["--batch", "decide.yaml", "--answers", "answers.yaml", "--quiet"]).code(0);
    assert_eq!(quiet.err, "");
    desk.run(["--batch", "decide.yaml", "--json", "--dry-run"]).code(2).tells("--json needs a run");
    assert_eq!(desk.sessions().len(), 2);
}
