//! Panels: many seats of one persona, grids of personas and models; what is recorded of each seat
//! and what a service is sent of it.

use serde_json::{Value, json};

use crate::program::{Desk, arg};
use crate::server::{Answer, Request, Server};

const FORM: &str = "question: Which?\nballot: {kind: choice, options: [in-process, redis]}\nrule: majority\n";

#[test]
fn each_seat_of_a_grid_is_recorded_and_sent_what_its_service_takes() {
    let server = Server::start(|request| match request.path() {
        "/v1/messages" => Answer::message("vote: redis\n"),
        _ => Answer::chat("vote: redis\n"),
    });
    let desk = Desk::with(&format!(
        "{FORM}participants:\n  - {{grid: {{personas: [qa-lead, skeptic], models: [lab/m, other/n]}}, count: 2, \
         seed: 7, temperature: {{from: 0, to: 0.7}}, weight: 2}}\n  - devops-engineer\n"
    ));
    let url = server.url();
    desk.write(
        "../home/config/config.yaml",
        format!(
            "providers:\n  lab: {{api: openai, base_url: \"{url}/v1\"}}\n  \
             other: {{api: anthropic, base_url: \"{url}\"}}\n"
        ),
    );
    let ran = desk.run(["--batch", "decide.yaml"]).code(0);
    assert!(
        ran.err.contains("`other` takes no seed: those of its seats are recorded, not sent"),
        "{}",
        ran.err
    );

    let replayed = desk.run(["replay", &arg(&desk.session()), "--json"]).code(0).lines();
    let seats = replayed[0]["participants"].as_array().expect("seats").clone();
    let told: Vec<_> = seats
        .iter()
        .map(|seat| json!([seat["name"], seat["model"], seat["seed"], seat["temperature"], seat["weight"]]))
        .collect();
    let expected = [
        json!(["qa-lead-1", "lab/m", 7, 0.0, 2.0]),
        json!(["qa-lead-2", "lab/m", 8, 0.1, 2.0]),
        json!(["qa-lead-3", "other/n", 9, 0.2, 2.0]),
        json!(["qa-lead-4", "other/n", 10, 0.3, 2.0]),
        json!(["skeptic-1", "lab/m", 11, 0.4, 2.0]),
        json!(["skeptic-2", "lab/m", 12, 0.5, 2.0]),
        json!(["skeptic-3", "other/n", 13, 0.6, 2.0]),
        json!(["skeptic-4", "other/n", 14, 0.7, 2.0]),
        json!(["devops-engineer", "rehearsal", null, null, 1.0]),
    ];
    assert_eq!(told, expected);

    let sent = sent(&server);
    let chat = [(7, 0.0), (8, 0.1), (11, 0.4), (12, 0.5)].map(|(seed, warmth)| json!(["m", seed, warmth]));
    let messages = [0.2, 0.3, 0.6, 0.7].map(|warmth| json!(["n", null, warmth]));
    let (one, other): (Vec<_>, Vec<_>) =
        sent.into_iter().partition(|(path, _)| path.ends_with("completions"));
    assert_eq!(one.into_iter().map(|(_, body)| body).collect::<Vec<_>>(), chat);
    assert_eq!(other.into_iter().map(|(_, body)| body).collect::<Vec<_>>(), messages);
    // The prompts of two seats that differ in their model alone differ in their numbers alone.
    let prompts: Vec<String> = replayed
        .iter()
        .filter(|line| line["event"] == "work_item_offered")
        .map(|line| line["prompt"].as_str().expect("a prompt").to_owned())
        .collect();
    assert_eq!(prompts[0], prompts[2].replace("qa-lead-3", "qa-lead-1"));
    desk.run(["verify", &arg(&desk.session())]).code(0);
}

/// Path, and model, seed and temperature, of every request, the coolest first.
fn sent(server: &Server) -> Vec<(String, Value)> {
    let of = |request: &Request| {
        let body = request.json();
        let warmth = body["temperature"].as_f64();
        (request.path().to_owned(), json!([body["model"], body["seed"], warmth]))
    };
    let mut sent: Vec<_> = server.requests().iter().map(of).collect();
    sent.sort_by_key(|(path, body)| (path.clone(), body[2].to_string()));
    sent
}

#[test]
fn a_grid_that_names_no_persona_or_model_there_is_is_refused_with_its_place() {
    let desk = Desk::with(&format!(
        "{FORM}participants:\n  - grid: {{personas: [qa-laed], models: [nowhere/x]}}\n    count: 40\n"
    ));
    let ran = desk.run(["--batch", "decide.yaml"]).code(2);
    assert_eq!(ran.err.matches("no persona `qa-laed`").count(), 1, "{}", ran.err);
    assert!(ran.err.contains("decide.yaml:5:11"), "{}", ran.err);
    let desk = Desk::with(&format!(
        "{FORM}participants:\n  - grid: {{personas: [qa-lead], models: [nowhere/x]}}\n    count: 40\n"
    ));
    let ran = desk.run(["--batch", "decide.yaml"]).code(2);
    assert_eq!(ran.err.matches("unknown provider `nowhere`").count(), 1, "{}", ran.err);
    let hot = "{persona: qa-lead, model: anthropic/m, count: 3, temperature: {from: 0, to: 2}}";
    let desk = Desk::with(&format!("{FORM}participants: [{hot}]\n")).set("ANTHROPIC_API_KEY", "x");
    let ran = desk.run(["--batch", "decide.yaml"]).code(2);
    assert_eq!(ran.err.matches("`anthropic` takes a `temperature` from 0 to 1").count(), 1, "{}", ran.err);
    assert!(ran.err.contains("decide.yaml:4:16"), "{}", ran.err);
}
