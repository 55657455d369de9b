//! Inputs and stored outputs of agents.
//!
//! Checked at the receiving end: in captured requests, on a program's standard input, in its files.

use std::time::Duration;

use serde_json::{Value, json};

use crate::program::{Desk, arg, has, named};
use crate::pty::Screen;
use crate::server::{Answer, Server};

fn warnings(lines: &[Value]) -> Vec<String> {
    let said = |line: &Value| line["message"].as_str().unwrap_or_default().to_owned();
    named(lines, "warning").iter().map(said).collect()
}

fn data(lines: &[Value], step: &str) -> Value {
    let finished = named(lines, "step_finished").into_iter().rev().find(|line| line["step"] == step);
    finished.expect("it finished")["data"].clone()
}

#[test]
fn a_step_has_the_time_it_gives_itself_whatever_the_configured_timeout() {
    let server = Server::start(|_| Answer::chat("position: served").after(Duration::from_millis(700)));
    let desk = Desk::with(
        r#"
goal: g
participants:
  - {name: slow, command: [sh, -c, "sleep 0.7; echo done"]}
  - {name: served, persona: qa-lead, model: lab/m}
steps:
  - {id: program, type: agent, agent: slow, prompt: p, timeout: 20s}
  - {id: service, type: agent, agent: served, prompt: p, timeout: 20s}
  - {id: seat, type: round, question: q, participants: [served], timeout: 20s}
  - {id: short, type: agent, agent: slow, prompt: p}
"#,
    )
    .served_by(&server);
    desk.configure("timeout: 300ms\n");
    let lines = desk.run(["--batch", "--json", "--trust", "decide.yaml"]).lines();
    assert_eq!(data(&lines, "program"), json!({"result": "done"}));
    assert_eq!(data(&lines, "service"), json!({"result": "position: served"}));
    assert_eq!(data(&lines, "seat")[0]["status"], "fulfilled");
    let short = named(&lines, "step_finished").into_iter().find(|line| line["step"] == "short");
    assert_eq!(short.expect("it finished")["error"], "timed out after 300 ms");
}

#[test]
fn tasks_and_linked_sessions_that_cannot_be_read_are_warnings_and_stop_nothing() {
    let definition = "question: q\ntask: APP-1\nlinks: [{id: l, fromId: gone.s2s, toId: APP-1, type: basic, createdAt: 2026-01-01}, {id: t, fromId: torn.s2s, toId: APP-1, type: basic, createdAt: 2026-01-01}]\n";
    let run = |tasks: &str| {
        let desk = Desk::rehearsing(definition);
        desk.write(".s2s/tasks.yaml", tasks);
        desk.write("torn.s2s", "---\nseq: 0\nprev: \"00");
        let ran = desk.run(["--batch", "--json", "decide.yaml"]).code(0);
        assert!(ran.err.matches("`soon`").count() < 2, "{}", ran.err);
        (ran.lines(), desk.run(["check", "decide.yaml"]).code(0).out)
    };
    let of_links = |lines: &[Value]| {
        let warnings = warnings(lines);
        has(&warnings.concat(), &["`gone.s2s` cannot be read", "`torn.s2s` cannot be read"]);
        assert!(!lines.iter().any(|line| line.to_string().contains("1970-01-01")), "{lines:?}");
        warnings
    };
    let (lines, checked) =
        run("tasks: [{id: APP-1, title: t, priority: P2}, {id: APP-2, title: t, priority: soon}]\n");
    let said = of_links(&lines);
    assert_eq!(said.len(), 3, "{said:?}");
    has(&said.concat(), &["`priority` of task `APP-2` is read as 0: `soon`"]);
    has(&checked, &["`soon`", "`gone.s2s`"]);
    assert!(!checked.contains("names no task"), "{checked}");

    for (broken, part) in [
        ("tasks: [\n", "tasks.yaml"),
        ("- a list\n", "the tasks file must be a map"),
        ("tasks: [{title: nameless}]\n", "a task has no `id`"),
        ("tasks: 7\n", "`tasks` of the tasks file must be a list"),
    ] {
        let (lines, checked) = run(broken);
        has(&of_links(&lines).concat(), &[part]);
        has(&checked, &["names no task: `APP-1`"]);
    }
    let desk = Desk::rehearsing("question: q\ntasks: [{id: A, title: t, priority: whenever}]\n");
    let lines = desk.run(["--batch", "--json", "decide.yaml"]).code(0).lines();
    let wanted = "decide.yaml:2:37: `priority` of task `A` is read as 0: `whenever` is none";
    assert_eq!(warnings(&lines), [wanted]);
}

const BRIEFED: &str = r#"
goal: "Choose a cache"
constraints: ["no new server"]
project_summary: "A shop."
artifacts: [{id: REQ-1, summary: "Fast", description: "Under 50 ms"}]
agenda: [{id: caching, title: "Caching"}]
tasks: [{id: T-1, title: "Cache", createdAt: 2026-01-01}, {id: T-2, title: "Old", createdAt: 2026-01-02}]
links: [{id: l, fromId: T-2, toId: T-1, type: basic, createdAt: 2026-01-03}]
participants: PARTICIPANTS
steps:
  - {id: look, type: agent, agent: looker, prompt: "Look.", completeness: off}
  - id: build
    type: agent
    agent: builder
    input: look
    completeness: off
    prompt: "Build {{look.result}}; {{artifacts.[0].description}}; {{project_summary}}; {{agenda.[0].title}}."
    output_schema: {type: object, required: [files], properties: {files: {type: array, items: {type: string}}}}
  - {id: bare, type: agent, agent: builder, brief: none, prompt: "Bare.", completeness: off, facilitator_directive: "Be brief."}
  - {id: whole, type: agent, agent: builder}
"#;

const BUILD: &str = "Build found it; Under 50 ms; A shop.; Caching.";

fn check_whole(text: &str, from: &str) {
    let whole: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{from}: {error}: {text}"));
    let keys: Vec<&String> = whole.as_object().expect("a map").keys().collect();
    let wanted =
        ["input", "context", "goal", "constraints", "stage_context", "available_skills", "linked_tasks"];
    assert_eq!(keys, wanted, "{from}");
    assert_eq!(whole["goal"], "Choose a cache");
    assert_eq!(whole["constraints"], json!(["no new server"]));
    assert_eq!(whole["stage_context"]["stage_description"], "whole");
    assert_eq!(whole["stage_context"]["previous_artifacts"][0]["artifact_id"], "look");
    assert_eq!(whole["context"]["build"], json!({"files": ["a"]}));
}

#[test]
fn a_work_item_is_what_an_agent_of_a_service_is_given() {
    let server = Server::start(|request| {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        let text = match () {
            () if body.contains("Look.") && !body.contains("Build found") => "found it",
            () if body.contains("Build found") => "{\"files\": [\"a\"]}",
            () => "done",
        };
        Answer::chat(text)
    });
    let participants = "[{name: looker, model: lab/m, prompt: \"You look.\"}, {name: builder, model: lab/m, prompt: \"You build.\"}]";
    let desk = Desk::with(&BRIEFED.replace("PARTICIPANTS", participants)).served_by(&server);
    let lines = desk.run(["--batch", "--json", "decide.yaml"]).code(0).lines();
    let requests = server.requests();
    let parts = requests.iter().map(|request| {
        let messages = request.json()["messages"].clone();
        assert_eq!((&messages[0]["role"], &messages[1]["role"]), (&json!("system"), &json!("user")));
        [0, 1].map(|nth| messages[nth]["content"].as_str().expect("text").to_owned())
    });
    let parts: Vec<[String; 2]> = parts.collect();
    assert_eq!(parts.len(), 4);
    let told = ["You build.\n\nGoal: Choose a cache\n", "found it", "It must fit this JSON Schema:\n{"];
    has(&parts[1][0], &told);
    assert_eq!(parts[1][1], BUILD);
    assert_eq!(parts[2], ["You build.\n\nThe facilitator adds: Be brief.\n", "Bare."]);
    check_whole(&parts[3][1], "service");
    for (offered, [system, text]) in named(&lines, "work_item_offered").iter().zip(&parts) {
        assert_eq!((&offered["system"], &offered["prompt"]), (&json!(system), &json!(text)));
    }
    desk.verify();
    desk.run(["trace", &arg(&desk.session())]).code(0).shows(&format!("{}\n---\n\n{BUILD}", parts[1][0]));
}

#[test]
fn a_program_is_given_the_same_on_standard_input_and_the_object_in_a_file() {
    let participants =
        "[{name: looker, command: [sh, -c, \"echo found it\"]}, {name: builder, command: [sh, build.sh]}]";
    let desk = Desk::with(&BRIEFED.replace("PARTICIPANTS", participants));
    let text = "n=$(ls given.* 2>/dev/null | wc -l); cat > given.$n; cp \"$ROUNDTABLE_WORK_ITEM\" item.$n\nls -l \"$ROUNDTABLE_WORK_ITEM\" > mode.$n; echo \"$ROUNDTABLE_WORK_ITEM\" > path.$n\necho '{\"files\": [\"a\"]}'\n";
    desk.write("build.sh", text);
    let lines = desk.run(["--batch", "--json", "--trust", "decide.yaml"]).code(0).lines();
    let offered = named(&lines, "work_item_offered");
    let given = desk.read("given.0");
    let (system, prompt) = given.split_once("\n---\n\n").expect("two parts");
    assert_eq!((prompt, offered[1]["system"].as_str()), (BUILD, Some(system)));
    assert_eq!(desk.read("given.1"), "The facilitator adds: Be brief.\n\n---\n\nBare.");
    check_whole(&desk.read("given.2"), "program");
    assert_eq!(desk.read("given.2"), desk.read("item.2"));
    let item: Value = serde_json::from_str(&desk.read("item.0")).expect("JSON");
    assert_eq!((&item["look"], &item["goal"]), (&json!({"result": "found it"}), &json!("Choose a cache")));
    assert!(desk.read("mode.0").starts_with("-rw-------"), "{}", desk.read("mode.0"));
    assert!(!std::path::Path::new(desk.read("path.0").trim()).exists(), "the file is gone");
}

#[test]
fn output_of_a_failed_program_is_kept_and_passed_on() {
    let desk = Desk::with(
        r#"
goal: g
participants:
  - {name: tests, command: [sh, -c, "echo compiling; echo 'test a failed'; echo oh no $MY_TOKEN $MY_KEY >&2; exit 3"], env: [MY_TOKEN, MY_KEY]}
  - {name: hangs, command: [sh, -c, "echo begun; sleep 100"]}
  - {name: floods, command: [sh, -c, "head -c 200000 /dev/zero | tr '\\0' x; echo; echo END $MY_KEY; exit 1"], env: [MY_KEY]}
  - {name: lint, command: [sh, -c, "echo '3 findings'; echo hm >&2; exit 1"], ok_exit: [0, 1]}
  - {name: show, command: [cat]}
steps:
  - {id: test, type: agent, agent: tests, prompt: p, on_error: mend}
  - {id: mend, type: agent, agent: show, brief: none, prompt: "It printed: {{error.output}}", next: hang}
  - {id: hang, type: agent, agent: hangs, prompt: p, timeout: 500ms, on_error: flood}
  - {id: flood, type: agent, agent: floods, prompt: p, on_error: lint}
  - {id: lint, type: agent, agent: lint, prompt: p, output_schema: {type: object, required: [other]}, next: is-one}
  - {id: is-one, type: condition, condition: "context.lint.exit === 1", then: end}
  - {id: end, type: agent, agent: show, brief: none, prompt: "{{context.lint.stdout}}"}
"#,
    )
    .set("MY_TOKEN", "tok-0123456789abcdef")
    .set("MY_KEY", "pin7");
    let lines = desk.run(["--batch", "--json", "--trust", "decide.yaml"]).code(0).lines();
    let printed = "It printed: compiling\ntest a failed\noh no (masked API key) (masked API key)";
    assert_eq!(data(&lines, "mend"), json!({ "result": printed }));
    assert_eq!(data(&lines, "lint"), json!({"exit": 1, "stdout": "3 findings\n", "stderr": "hm\n"}));
    assert_eq!(data(&lines, "end"), json!({"result": "3 findings"}));
    let returned = named(&lines, "work_item_returned");
    let of = |step: &str| returned.iter().find(|line| line["step"] == step).expect("it came back").clone();
    assert_eq!(of("test")["stdout"], "compiling\ntest a failed\n");
    assert_eq!(of("test")["stderr"], "oh no (masked API key) (masked API key)\n");
    assert_eq!(of("flood")["error"], "`sh` ended with exit status: 1: END (masked API key)");
    assert_eq!(of("hang")["stdout"], "begun\n");
    assert_eq!(of("hang")["error"], "Step 'hang' timed out after 500ms");
    let flood = of("flood")["stdout"].as_str().expect("text").to_owned();
    assert!(flood.len() == 64 * 1024 && flood.ends_with("x\nEND pin7\n"), "{}", flood.len());
    assert_eq!(of("mend")["stdout"], Value::Null);
    desk.verify();
}

const REVIEWED: &str = r#"
goal: g
artifacts: [{id: REQ-1, summary: "Fast", description: "Under 50 ms"}]
participants: [{persona: documentation-specialist, name: writer, tags: [zeal, art, third]}, {persona: qa-lead, name: ann}, {persona: skeptic, name: bob}, {persona: qa-lead, name: cy}]
steps:
  - {id: write, type: agent, agent: writer, prompt: "Write.", next: check}
  - {id: check, type: review, of: write, reviewers: [ann, bob, cy], criteria: [clarity], reject_when: WHEN, on_reject: no, next: yes}
  - {id: yes, type: transform, transform: context.write, next: end}
  - {id: no, type: transform, transform: context.write, next: end}
  - {id: end, type: transform, transform: context.write}
"#;

#[test]
fn a_review_gives_a_verdict_and_a_verdict_against_it_leads_back() {
    let verdict = |approved| format!("{{approved: {approved}, feedback: \"because\"}}");
    for (when, verdicts, to) in [
        ("any", [true, true, true], "yes"),
        ("any", [true, false, true], "no"),
        ("majority", [true, false, true], "yes"),
        ("majority", [false, false, true], "no"),
        ("all", [false, false, true], "yes"),
        ("all", [false, false, false], "no"),
    ] {
        let desk = Desk::with(&REVIEWED.replace("WHEN", when));
        let [ann, bob, cy] = verdicts.map(verdict);
        desk.write("a.yaml", format!("write: text\ncheck: {{ann: {ann}, bob: {bob}, cy: {cy}}}\n"));
        let lines = desk.run(["--batch", "--json", "--answers", "a.yaml", "decide.yaml"]).code(0).lines();
        assert!(named(&lines, "step_started").iter().any(|line| line["step"] == to), "{when} {verdicts:?}");
        desk.verify();
    }
}

#[test]
fn a_review_may_be_of_a_round_or_an_artifact() {
    let desk = Desk::rehearsing(
        r#"
goal: g
artifacts: [{id: REQ-1, summary: "Fast", description: "Under 50 ms"}]
participants: [{persona: skeptic, name: bob}, {persona: qa-lead, name: ann}, {persona: coder, name: cyd}]
steps:
  - {id: pick, type: round, question: "Which?", participants: [cyd, bob], ballot: {kind: choice, options: [a, b]}, rule: plurality, quorum: 1}
  - {id: of-round, type: review, of: pick, reviewers: all, criteria: [risk]}
  - {id: of-artifact, type: review, of: REQ-1, reviewers: [bob], criteria: [risk]}
"#,
    );
    desk.run(["check", "decide.yaml"]).code(0);
    let lines = desk.run(["--batch", "--json", "decide.yaml"]).code(0).lines();
    let offered = named(&lines, "work_item_offered");
    // Cyd and Bob were seats of the round, so only Ann reviews it.
    let [_, _, round, artifact] = &offered[..] else { panic!("{offered:?}") };
    assert_eq!((&round["step"], &round["participant"]), (&json!("of-round"), &json!("ann")));
    assert_eq!(round["input"]["artifact"]["kind"], "round");
    assert!(round["input"]["artifact"]["content"]["tally"]["winners"].is_array());
    assert_eq!(artifact["input"]["artifact"]["content"]["description"], "Under 50 ms");
    let linked = named(&lines, "link_recorded");
    let to: Vec<_> = linked.iter().map(|line| line["link"]["toId"].clone()).collect();
    assert_eq!(to, ["pick", "REQ-1"]);
    desk.verify();
}

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
    // The last eight lines; none of a program that succeeded.
    screen.wait_for(&["✗ test", "│ 14", "│ 20", "│ test a"]);
    screen.wait_without(&["│ 13", "│ all is well", "\u{1b}"]);
    screen.send("\u{3}\u{3}");
    screen.end();
}

#[test]
fn a_person_answers_a_step_on_the_screen_in_the_form_it_asks_for() {
    let text = "goal: Cache it\nparticipants: [{name: ann, model: human}]\nsteps:\n  - {id: plan, type: agent, \
                agent: ann, prompt: \"Plan: {{goal}}.\", output_schema: {type: object, required: [files]}}\n";
    let desk = Desk::with(text);
    let mut screen = Screen::open(&desk, (100, 40), &["decide.yaml", "--save", "s.s2s"]);
    screen.wait_for(&["o starts the session"]);
    screen.press("o", &["ann: your turn. Enter opens the work of step plan", "Plan: Cache it."]);
    screen.press("\r", &["Plan: Cache it.", "JSON Schema"]);
    screen.press("files: a\u{13}", &["This would not count", "files"]);
    screen.send("\u{18}");
    screen.press("{\"files\": [\"a\"]}\u{13}", &["Session finished"]);
    screen.send("q");
    screen.end();
    let back = &desk.events("work_item_returned")[0];
    assert_eq!((&back["data"], &back["origin"]), (&json!({"files": ["a"]}), &json!("person")));
}
