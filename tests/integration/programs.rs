//! External programs as participants: what they are handed, and everything that can go wrong with one.

use serde_json::Value;

use crate::program::Desk;
use crate::pty::Screen;

#[test]
fn a_program_takes_no_blind_seat_unless_it_has_no_tools() {
    let desk = Desk::with("question: q\nparticipants: [{name: reader, command: [cat]}]\n");
    desk.run(["--batch", "decide.yaml"]).code(2).tells("`reader` is an external program");
    let tool_less = "question: q\nparticipants: [{name: reader, command: [sh, -c, \"grep -q . && echo 'position: a {prompt} {model}'; exit 1\"], ok_exit: [0, 1], tool_less: true}]\n";
    let ran = Desk::with(tool_less).run(["--batch", "--json", "--trust", "decide.yaml"]).code(0);
    let says = |line: &&Value| line["answer"]["position"] == "a {prompt} {model}";
    let answered = |line: &&Value| line["event"] == "answer_revealed" && says(line);
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
