//! What agents are given and what of them is kept, seen where it arrives: in captured requests, on a
//! program's standard input and in its files.

use std::time::Duration;

use serde_json::{Value, json};

use crate::program::{Desk, arg};
use crate::server::{Answer, Server};

/// The events of this name.
fn events(lines: &[Value], name: &str) -> Vec<Value> {
    lines.iter().filter(|line| line["event"] == name).cloned().collect()
}

fn warnings(lines: &[Value]) -> Vec<String> {
    events(lines, "warning")
        .iter()
        .map(|line| line["message"].as_str().unwrap_or_default().to_owned())
        .collect()
}

/// The data of a step's last result.
fn data(lines: &[Value], step: &str) -> Value {
    let finished = events(lines, "step_finished").into_iter().rev().find(|line| line["step"] == step);
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
  - {id: program, type: agent, agent: slow, prompt: p, timeout_ms: 20000}
  - {id: service, type: agent, agent: served, prompt: p, timeout_ms: 20000}
  - {id: seat, type: round, question: q, participants: [served], timeout_ms: 20000}
  - {id: short, type: agent, agent: slow, prompt: p}
"#,
    )
    .served_by(&server);
    let config = std::fs::read_to_string(desk.home().join("config/config.yaml")).expect("a config");
    desk.write("../home/config/config.yaml", format!("{config}timeout: 300ms\n"));
    let lines = desk.run(["--batch", "--json", "decide.yaml"]).lines();
    assert_eq!(data(&lines, "program"), json!({"result": "done"}));
    assert_eq!(data(&lines, "service"), json!({"result": "position: served"}));
    assert_eq!(data(&lines, "seat")[0]["status"], "fulfilled");
    let short = events(&lines, "step_finished").into_iter().find(|line| line["step"] == "short");
    assert_eq!(short.expect("it finished")["error"], "timed out after 300 ms");
}

#[test]
fn a_round_looked_at_alone_has_the_number_it_will_have() {
    let desk = Desk::with(
        "goal: g\nsteps:\n  - {id: r1, type: round, question: a}\n  - {id: both, type: parallel, steps: [{id: r2, type: round, question: b}, {id: r3, type: round, question: c}]}\n  - {id: r4, type: round, question: d}\n",
    );
    for (step, number) in [("r1", 1), ("r2", 2), ("r3", 3), ("r4", 4)] {
        let shown = desk.run(["snapshot", "decide.yaml", "--step", step]).code(0).out;
        assert!(shown.contains(&format!("\n  current_round: {number}\n")), "{step}: {shown}");
    }
    let routed = "goal: g\nsteps:\n  - {id: a, type: round, question: a, next: c}\n  - {id: b, type: round, question: b, next: a}\n  - {id: c, type: round, question: c}\n";
    let shown = Desk::with(routed).run(["snapshot", "decide.yaml", "--step", "c"]).code(0).out;
    assert!(shown.contains("\n  current_round: 2\n"), "{shown}");
}

#[test]
fn an_issue_under_its_other_names_is_read_and_required_by_the_written_ones() {
    let desk = Desk::with(
        r#"
goal: g
steps:
  - {id: issue, type: agent, agent: finder, prompt: "Give the issue."}
  - {id: build, type: agent, agent: coder, input: issue, requires: [issue.issue_id, issue.test_steps], prompt: "Build {{issue.issue_id}} ({{issue.priority}}).", completeness: off}
"#,
    );
    desk.write(
        "answers.yaml",
        "issue: {id: APP-15, title: Page, description: A page, steps: [look], priority: high}\nbuild: done\n",
    );
    let lines = desk.run(["--batch", "--json", "--answers", "answers.yaml", "decide.yaml"]).code(0).lines();
    let offered = events(&lines, "work_item_offered");
    assert_eq!(offered[1]["prompt"], "Build APP-15 (2).");
    let file = arg(&desk.session());
    desk.run(["verify", &file]).code(0);

    let alone = "goal: g\ninput: {id: APP-1, title: t, description: d, steps: [s]}\nsteps: [{id: build, type: agent, agent: coder, requires: [issue_id], completeness: off, prompt: \"{{input.issue_id}}\"}]\n";
    let lines = Desk::with(alone).run(["--batch", "--json", "decide.yaml"]).code(0).lines();
    assert_eq!(events(&lines, "work_item_offered")[0]["prompt"], "APP-1");
}

#[test]
fn tasks_and_linked_sessions_that_cannot_be_read_are_warnings_and_stop_nothing() {
    let definition = "question: q\ntask: APP-1\nlinks: [{id: l, fromId: gone.s2s, toId: APP-1, type: basic, createdAt: 2026-01-01}, {id: t, fromId: torn.s2s, toId: APP-1, type: basic, createdAt: 2026-01-01}]\n";
    let run = |tasks: &str| {
        let desk = Desk::with(definition);
        desk.write(".s2s/tasks.yaml", tasks);
        desk.write("torn.s2s", "---\nseq: 0\nprev: \"00");
        let lines = desk.run(["--batch", "--json", "decide.yaml"]).code(0).lines();
        let checked = desk.run(["check", "decide.yaml"]).code(0);
        (lines, checked.out)
    };
    let of_links = |lines: &[Value]| {
        let warnings = warnings(lines);
        assert!(warnings.iter().any(|said| said.contains("`gone.s2s` cannot be read")), "{warnings:?}");
        assert!(warnings.iter().any(|said| said.contains("`torn.s2s` cannot be read")), "{warnings:?}");
        assert!(!lines.iter().any(|line| line.to_string().contains("1970-01-01")), "{lines:?}");
        warnings
    };
    let (lines, checked) =
        run("tasks: [{id: APP-1, title: t, priority: P2}, {id: APP-2, title: t, priority: soon}]\n");
    let said = of_links(&lines);
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(
        said.iter().any(|said| said.contains("`priority` of task `APP-2` is read as 0: `soon`")),
        "{said:?}"
    );
    assert!(checked.contains("`soon`") && checked.contains("`gone.s2s`"), "{checked}");
    assert!(!checked.contains("names no task"), "{checked}");

    for (broken, part) in [
        ("tasks: [\n", "tasks.yaml"),
        ("- a list\n", "the tasks file must be a map"),
        ("tasks: [{title: nameless}]\n", "a task needs an `id`"),
        ("tasks: 7\n", "`tasks` of the tasks file must be a list"),
    ] {
        let (lines, checked) = run(broken);
        let said = of_links(&lines);
        assert!(said.iter().any(|said| said.contains(part)), "{broken}: {said:?}");
        assert!(checked.contains("names no task: `APP-1`"), "{broken}: {checked}");
    }
    let desk = Desk::with("question: q\ntasks: [{id: A, title: t, priority: whenever}]\n");
    let lines = desk.run(["--batch", "--json", "decide.yaml"]).code(0).lines();
    assert_eq!(
        warnings(&lines),
        ["decide.yaml:2:37: `priority` of task `A` is read as 0: `whenever` is none"]
    );
}
