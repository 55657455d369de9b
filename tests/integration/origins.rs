//! Who answered stands in the answer's own record, and every label comes from there.

use serde_json::{Value, json};

use crate::program::Desk;
use crate::server::{Answer, Server};

const PAIR: &str =
    "participants: [{persona: qa-lead, model: lab/gpt-5}, {persona: skeptic, model: lab/opus}]\n";

fn desk(definition: &str) -> (Server, Desk) {
    let server = Server::start(|_| Answer::chat("vote: wait"));
    let desk = Desk::with(&format!("{PAIR}{definition}")).served_by(&server);
    (server, desk)
}

fn origins(desk: &Desk) -> Vec<String> {
    desk.run(["verify", "s.s2s"]).code(0);
    let report: Value =
        serde_json::from_str(&desk.run(["report", "s.s2s", "--format", "json"]).out).expect("JSON");
    let rounds = report["rounds"].as_array().expect("rounds").iter();
    let seats = rounds.flat_map(|round| round["seats"].as_array().expect("seats"));
    seats.map(|seat| seat["origin"].as_str().expect("an origin").to_owned()).collect()
}

#[test]
fn answers_scripted_when_a_session_is_resumed_are_no_models() {
    let (server, desk) = desk(
        "steps:\n  - {id: ok, type: approval, message: \"Go?\"}\n  - {id: vote, type: round, question: \"Ready?\", \
         ballot: {kind: choice, options: [ready, wait]}, rule: majority}\n  \
         - {id: sum, type: agent, agent: qa-lead, prompt: \"Sum up.\"}\n",
    );
    desk.run(["--batch", "decide.yaml", "--save", "s.s2s"]).code(4);
    let script = "ok: true\nvote: {qa-lead: {vote: ready}, skeptic: {vote: ready}}\nsum: {text: done}\n";
    desk.write("answers.yaml", script);
    let ran = desk.run(["resume", "s.s2s", "--answers", "answers.yaml"]).code(0);
    assert_eq!(server.requests().len(), 0, "no model was asked");
    assert_eq!(origins(&desk), ["script", "script"]);
    for text in [&ran.out, &desk.run(["report", "s.s2s"]).out] {
        assert!(text.contains("Scripted: 3 of 3 answers were given by a script, not by a model"), "{text}");
        assert!(text.contains("2 scripted answers") && !text.contains("unanimous"), "{text}");
        assert!(text.contains("agent by qa-lead (scripted"), "{text}");
    }
    let trace = desk.run(["trace", "s.s2s"]).out;
    assert_eq!(trace.matches("(scripted, not a model)").count(), 3, "{trace}");
}

#[test]
fn answers_scripted_for_copies_of_each_are_no_models() {
    let (server, desk) = desk(
        "input: {files: [a.rs, b.rs]}\nanswers: {ok: true}\nsteps:\n  \
         - {id: ok, type: approval, message: \"Go?\"}\n  - id: f\n    type: each\n    of: input.files\n    as: file\n    \
         steps:\n      - {id: vote, type: round, question: \"Is {{file}} ready?\", \
         ballot: {kind: choice, options: [ready, wait]}, rule: majority}\n",
    );
    desk.write("answers.yaml", "f.1.vote: {qa-lead: {vote: ready}, skeptic: {vote: ready}}\n");
    desk.run(["--batch", "decide.yaml", "--answers", "answers.yaml", "--save", "s.s2s"]).code(0);
    assert_eq!(origins(&desk), ["script", "script", "model", "model"]);
    assert_eq!(server.requests().len(), 2);
    let report = |args: &[&str]| desk.run(["report", "s.s2s"].iter().chain(args)).out;
    assert!(report(&[]).contains("Scripted: 2 of 4 answers were given by a script, not by a model"));
    assert!(report(&["--round", "f.1.vote"]).contains("Scripted: 2 of 2"));
    assert!(!report(&["--round", "f.2.vote"]).contains("Scripted"), "each decision is told by its own");
}

#[test]
fn the_model_that_answered_is_told_where_it_is_another() {
    let server = Server::start(|request| {
        let asked = request.json()["model"].as_str().expect("a model").to_owned();
        let served = if asked == "opus" { "small".to_owned() } else { format!("{asked}-2026-01-31") };
        let choice = json!({"index": 0, "message": {"content": "vote: wait"}, "finish_reason": "stop"});
        Answer::json(200, &json!({"model": served, "choices": [choice]}))
    });
    let definition = format!(
        "{PAIR}question: \"Ready?\"\nballot: {{kind: choice, options: [ready, wait]}}\nrule: majority\n"
    );
    let desk = Desk::with(&definition).served_by(&server);
    let out = desk.run(["--batch", "decide.yaml", "--save", "s.s2s"]).code(0).out;
    assert!(out.contains("lab/opus, answered by small") && !out.contains("answered by gpt-5"), "{out}");
    assert!(out.contains("2 models"), "{out}");
}
