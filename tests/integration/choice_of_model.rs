//! Selection of a seat's model, and labels of seats without one.

use serde_json::{Value, json};

use crate::program::{Desk, Ran, named as events};
use crate::pty::Screen;
use crate::server::{Answer, Server};

const PERSONA: &str = "---\nname: qa-lead\ndescription: x\nmodel: ollama/persona\n---\n\nText.\n";

fn models(ran: &Ran) -> Vec<String> {
    let heads = ran.out.lines().filter(|line| line.starts_with("=== "));
    heads.map(|line| line.split(['(', ')']).nth(1).expect("a model").to_owned()).collect()
}

/// Configures every source of a model except those in `without`.
fn named(without: &[&str]) -> Vec<String> {
    let has = |what: &str| !without.contains(&what);
    let mut desk = Desk::new();
    let model = if has("definition") { "ollama/definition" } else { "inherit" };
    desk.write("decide.yaml", format!("question: x\nparticipants: [{{persona: qa-lead, model: {model}}}]\n"));
    let own = if has("persona") { "ollama/persona" } else { "inherit" };
    desk.write(".s2s/personas/qa-lead.md", PERSONA.replace("ollama/persona", own));
    let configured = if has("configuration") { "model: ollama/configured\n" } else { "" };
    desk.write("../home/config/config.yaml", configured);
    if has("variable") {
        desk = desk.set("QA_LEAD_MODEL", "ollama/variable");
    }
    let mut args = vec!["--batch", "decide.yaml", "--dry-run"];
    if has("named flag") {
        args.extend(["--model", "qa-lead=ollama/named"]);
    }
    if has("flag") {
        args.extend(["--model", "ollama/flag"]);
    }
    models(&desk.run(args).code(0))
}

#[test]
fn the_first_given_model_counts() {
    let order = [
        ("named flag", "ollama/named"),
        ("variable", "ollama/variable"),
        ("definition", "ollama/definition"),
        ("flag", "ollama/flag"),
        ("persona", "ollama/persona"),
        ("configuration", "ollama/configured"),
        ("", "no model yet"),
    ];
    for (i, (_, expected)) in order.iter().enumerate() {
        let gone: Vec<&str> = order[..i].iter().map(|(what, _)| *what).collect();
        assert_eq!(named(&gone), [*expected], "without {gone:?}");
    }
}

#[test]
fn a_personas_model_without_a_provider_is_noticed_and_not_used() {
    let desk = Desk::with("question: x\nparticipants: [qa-lead]\n");
    desk.write(".claude/agents/qa-lead.md", PERSONA.replace("ollama/persona", "sonnet"));
    let ran = desk.run(["--batch", "decide.yaml", "--dry-run"]).code(0);
    assert_eq!(models(&ran), ["rehearsal"]);
    ran.tells("the model `sonnet` of persona `qa-lead` is not `provider/model`: not used");
    let wrong = Desk::with("question: x\nparticipants: [{persona: qa-lead, model: sonnet}]\n");
    wrong.run(["--batch", "decide.yaml"]).code(2).tells("decide.yaml:2:16: `sonnet` is not a model's name");
    let wrong = wrong.set("QA_LEAD_MODEL", "nosuch/x");
    wrong.run(["run", "decide.yaml"]).code(2).tells("error: QA_LEAD_MODEL: unknown provider `nosuch`");
    let (wrong, given) = (wrong.set("QA_LEAD_MODEL", "ollama/x"), ["decide.yaml", "--model", "ollama/y"]);
    let ran = wrong.run(["run", "--dry-run"].iter().chain(&given));
    ran.tells("`qa-lead`: ollama/x, from QA_LEAD_MODEL").tells("`--model ollama/y` seats nobody");
    let mut screen = Screen::open(&wrong, (80, 24), &given);
    screen.wait_for(&["DRAFT", "qa-lead", "ollama/x", "o open"]);
    assert!(!screen.drawn().contains("seats nobody"), "{}", screen.drawn());
    screen.kill();
}

#[test]
fn a_recording_answers_as_it_did_without_the_network() {
    let server = Server::start(|request| {
        Answer::chat(if request.seat() == "skeptic" { "vote: b" } else { "vote: a" })
    });
    let desk = Desk::with(
        "question: x\nparticipants: [qa-lead, skeptic, technical-lead]\nballot: {kind: choice, options: [a, b]}\nrule: majority\n",
    );
    let desk = desk.served_by(&server);
    desk.run(["--batch", "decide.yaml", "--model", "lab/m", "--save", "first.s2s"]).code(0);
    drop(server);
    let run = ["--batch", "decide.yaml", "--model", "recorded/first.s2s", "--save", "again.s2s"];
    let ran = desk.run(run).code(0);
    ran.shows("recorded/first.s2s").shows("Recorded: 3 of 3 answers were replayed from a saved session");
    let tally = |file: &str| desk.report(file)["rounds"][0]["tally"].clone();
    assert_eq!(tally("first.s2s"), tally("again.s2s"));
    desk.write("decide.yaml", desk.read("decide.yaml").replace("question: x", "question: y"));
    let other = desk.run(["--batch", "decide.yaml", "--model", "recorded/first.s2s"]).code(5);
    other.shows("the prompt has changed since the recording");
    let ran = desk.run(["--batch", "decide.yaml", "--model", "recorded/none.s2s"]).code(2);
    ran.tells("none.s2s: there is no such file");
}

#[test]
fn a_seat_with_a_list_is_answered_by_the_first_model_that_does_not_fail() {
    let server = Server::start(|request| match request.json()["model"].as_str() {
        Some("poor") => {
            Answer::new(429, &[], r#"{"error": {"message": "pay", "code": "insufficient_quota"}}"#)
        }
        Some("gone") => Answer::new(404, &[], r#"{"error": {"message": "no such model"}}"#),
        _ => Answer::chat("vote: beta"),
    });
    let seat = |list: &str| {
        format!(
            "question: Which?\nballot: {{kind: choice, options: [alpha, beta]}}\nrule: majority\n\
             participants: [{{name: ann, persona: qa-lead, model: {list}}}]\n"
        )
    };
    let run = |list: &str, args: &[&str]| {
        let desk = Desk::with(&seat(list)).served_by(&server);
        let ran = desk.run([&["--batch", "decide.yaml", "--json", "--save", "s.s2s"], args].concat());
        (desk, ran)
    };
    let (desk, ran) = run("[nosuch/x, lab/poor, lab/m]", &[]);
    let lines = ran.code(0).lines();
    let reasons: Vec<Value> =
        events(&lines, "seat_failed").iter().map(|line| line["reason"].clone()).collect();
    let last = reasons[1].as_str().expect("a reason");
    assert!(last.starts_with("nosuch/x: ") && last.contains("; then lab/poor: HTTP 429"), "{reasons:?}");
    assert_eq!((reasons.len(), events(&lines, "seat_retried")[1]["model"].as_str()), (2, Some("lab/m")));
    desk.verify();
    desk.run(["report", "s.s2s"]).code(0).shows("lab/m").shows("beta");
    let asked: Vec<_> = server.requests().iter().map(|request| request.json()["messages"].clone()).collect();
    assert_eq!(asked[0], asked[1], "the same bytes");
    run("[lab/poor, lab/gone]", &[]).1.code(5).tells("; then lab/gone: HTTP 404");
    run("[lab/poor, lab/m]", &["--model", "ann=lab/gone"]).1.code(5).tells("failed: ann: HTTP 404");
    run("[lab/poor, openai/nobody]", &["--max-usd", "1"])
        .1
        .code(2)
        .tells("the price of `openai/nobody` is not known");
    run("[lab/poor, lab/m]", &["--max-usd", "1", "--rehearse"]).1.code(0);
    let check = |list: &str| Desk::with(&seat(list)).served_by(&server).run(["check", "decide.yaml"]);
    check("[nosuch/x, lab/m]").code(0).shows("unknown provider `nosuch`");
    check("[nosuch/x, neither/y]").code(2).shows("`nosuch`").shows("`neither`");
    check("[lab/m, remote/link]").code(2).shows("`remote/link` cannot stand in a list of models");
}

const PAIR: &str =
    "participants: [{persona: qa-lead, model: lab/gpt-5}, {persona: skeptic, model: lab/opus}]\n";

fn desk(definition: &str) -> (Server, Desk) {
    let server = Server::start(|_| Answer::chat("vote: wait"));
    let desk = Desk::with(&format!("{PAIR}{definition}")).served_by(&server);
    (server, desk)
}

fn origins(desk: &Desk) -> Vec<String> {
    desk.is_sound("s.s2s");
    let report = desk.report("s.s2s");
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
    let first = "f.1.vote: {qa-lead: {vote: ready}, skeptic: {vote: ready}}\n";
    desk.answered(first, &[]).code(0);
    assert_eq!(origins(&desk), ["script", "script", "model", "model"]);
    assert_eq!(server.requests().len(), 2);
    let report = |args: &[&str]| desk.run(["report", "s.s2s"].iter().chain(args)).out;
    assert!(report(&[]).contains("Scripted: 2 of 4 answers were given by a script, not by a model"));
    assert!(report(&["--round", "f.1.vote"]).contains("Scripted: 2 of 2"));
    assert!(!report(&["--round", "f.2.vote"]).contains("Scripted"), "each decision is told by its own");
    // Scripts answer for all seats, so nothing is rehearsed.
    let both = first.to_owned() + &first.replace("f.1", "f.2");
    desk.answered(both, &["--rehearse"]).code(0).tells("outcome: 2 decisions");
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
    desk.run(["report", "s.s2s", "--format", "csv"]).shows("\"small\"\r\n");
}
