//! External programs as participants: what they are handed, and everything that can go wrong with one.

use serde_json::{Value, json};

use crate::program::{Desk, has};
use crate::pty::Screen;

const DEFINITION: &str = r#"
goal: "Count"
participants:
  - {name: good, command: [sh, -c, 'printf "{\"said\": \"%s\", \"named\": \"%s\", \"secret\": \"%s\"}" "$(cat)" "$NAMED" "$SECRET"'], env: [NAMED]}
  - {name: bad, command: [sh, -c, "echo first >&2; echo oh no >&2; exit 3"]}
  - {name: hang, command: [sh, -c, "sleep 321 & sleep 321"]}
  - {name: flood, command: [sh, -c, "while :; do echo yes; done"]}
  - {name: missing, command: [no-such-program-here]}
  - {name: binary, command: [sh, -c, "printf '\\377\\376'"]}
steps:
  - id: all
    type: parallel
    steps:
      - {id: good, type: agent, agent: good, brief: none, prompt: "Say {{input}}, $HOME."}
      - {id: bad, type: agent, agent: bad}
      - {id: hang, type: agent, agent: hang, timeout: 200ms}
      - {id: flood, type: agent, agent: flood}
      - {id: missing, type: agent, agent: missing}
      - {id: binary, type: agent, agent: binary}
"#;

fn returned(lines: &[Value], step: &str) -> Value {
    let of_step = |line: &&Value| line["event"] == "work_item_returned" && line["step"] == step;
    lines.iter().find(of_step).cloned().expect("it came back")
}

#[test]
fn a_program_answers_or_fails_by_itself() {
    let desk = Desk::with(DEFINITION).set("NAMED", "seen").set("SECRET", "hidden");
    let ran = desk.run(["--batch", "--json", "--trust", "decide.yaml"]);
    let lines = ran.lines();
    let good = json!({"said": "Say Count, $HOME.", "named": "seen", "secret": ""});
    assert_eq!(returned(&lines, "good")["data"], good);
    let bad = returned(&lines, "bad");
    assert_eq!(bad["error"], "`sh` ended with exit status: 3: oh no");
    assert_eq!((&bad["exit_status"], &bad["stderr"]), (&json!("exit status: 3"), &json!("first\noh no\n")));
    assert_eq!(returned(&lines, "hang")["error"], "Step 'hang' timed out after 200ms");
    assert_eq!(returned(&lines, "flood")["error"], "`sh` answered with more than 4194304 bytes");
    let error = |step: &str| returned(&lines, step)["error"].to_string();
    has(&error("missing"), &["`no-such-program-here` cannot be started"]);
    has(&error("binary"), &["no UTF-8"]);
    ran.code(3);
}

#[test]
fn a_program_takes_no_blind_seat_unless_it_has_no_tools() {
    let desk = Desk::with("question: q\nparticipants: [{name: reader, command: [cat]}]\n");
    desk.run(["--batch", "decide.yaml"]).code(2).tells("`reader` is an external program");
    let tool_less = "question: q\nparticipants: [{name: reader, command: [sh, -c, \"cat >/dev/null; echo 'position: fine'\"], tool_less: true}]\n";
    let ran = Desk::with(tool_less).run(["--batch", "--json", "--trust", "decide.yaml"]).code(0);
    let answered = |line: &&Value| line["event"] == "answer_revealed" && line["answer"]["position"] == "fine";
    assert!(ran.lines().iter().any(|line| answered(&line)), "{}", ran.out);
}

#[test]
fn the_screen_shows_the_last_lines_that_a_failing_program_printed() {
    let desk = Desk::with(
        r#"
goal: g
participants:
  - {name: tests, command: [sh, -c, "seq 1 20; printf 'test a \\033[31mfailed\\n'; exit 3"]}
  - {name: fine, command: [sh, -c, "echo all is well"]}
steps:
  - {id: good, type: agent, agent: fine, prompt: p}
  - {id: test, type: agent, agent: tests, prompt: p}
"#,
    );
    desk.run(["--batch", "--trust", "decide.yaml", "--save", "s.s2s"]).code(3);
    let mut screen = Screen::open(&desk, (120, 40), &["s.s2s"]);
    // Eight lines, the last ones, and none of a program that did its work.
    screen.wait_for(&["✗ test", "│ 14", "│ 20", "│ test a"]);
    screen.wait_without(&["│ 13", "│ all is well", "\u{1b}"]);
    screen.send("\u{3}\u{3}");
    screen.end();
}
