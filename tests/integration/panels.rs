//! Panels: many seats of one persona; what is recorded of each seat and what a service is sent of it.

use serde_json::{Value, json};

use crate::program::{Desk, arg, named};
use crate::server::{Answer, Request, Server};

const FORM: &str = "question: Which?\nballot: {kind: choice, options: [in-process, redis]}\nrule: majority\n";

#[test]
fn each_seat_of_a_panel_is_recorded_and_sent_what_its_service_takes() {
    let server = Server::start(|request| match request.path() {
        "/v1/messages" => Answer::message("vote: redis\n"),
        _ => Answer::chat("vote: redis\n"),
    });
    let desk = Desk::with(&format!(
        "{FORM}participants:\n  - {{persona: qa-lead, model: lab/m, count: 2, seed: 7, temperature: 0.2, weight: 2}}\n  \
         - {{persona: qa-lead, model: other/n, count: 2, seed: 9, temperature: 0.4, weight: 2}}\n  \
         - devops-engineer\n"
    ));
    let url = server.url();
    let text = format!(
        "model: rehearsal\nproviders:\n  lab: {{api: openai, base_url: \"{url}/v1\"}}\n  \
             other: {{api: anthropic, base_url: \"{url}\"}}\n"
    );
    desk.write("../home/config/config.yaml", text);
    let ran = desk.run(["--batch", "decide.yaml"]).code(3);
    ran.tells("`other` takes no seed: those of its seats are recorded, not sent");

    let replayed = desk.log(&arg(&desk.session()));
    let seats = replayed[0]["participants"].as_array().expect("seats").clone();
    let told = |seat: &Value| {
        json!([seat["name"], seat["model"], seat["seed"], seat["temperature"], seat["weight"]])
    };
    let told: Vec<_> = seats.iter().map(told).collect();
    let expected = [
        json!(["qa-lead-1", "lab/m", 7, 0.2, 2.0]),
        json!(["qa-lead-2", "lab/m", 8, 0.2, 2.0]),
        json!(["qa-lead-3", "other/n", 9, 0.4, 2.0]),
        json!(["qa-lead-4", "other/n", 10, 0.4, 2.0]),
        json!(["devops-engineer", "rehearsal", null, null, 1.0]),
    ];
    assert_eq!(told, expected);

    let sent = sent(&server);
    let chat = [7, 8].map(|seed| json!(["m", seed, 0.2]));
    let messages = [json!(["n", null, 0.4]), json!(["n", null, 0.4])];
    let (one, other): (Vec<_>, Vec<_>) =
        sent.into_iter().partition(|(path, _)| path.ends_with("completions"));
    assert!(one.into_iter().map(|(_, body)| body).eq(chat));
    assert!(other.into_iter().map(|(_, body)| body).eq(messages));
    // The prompts of two seats that differ in their model alone differ in their numbers alone.
    let offered = named(&replayed, "work_item_offered");
    let [first, third] = [0, 2].map(|nth| offered[nth]["prompt"].as_str().expect("a prompt"));
    assert_eq!(first, third.replace("qa-lead-3", "qa-lead-1"));
    desk.run(["verify", &arg(&desk.session())]).code(0);
}

fn sent(server: &Server) -> Vec<(String, Value)> {
    let of = |request: &Request| {
        let body = request.json();
        let warmth = body["temperature"].as_f64();
        (request.path().to_owned(), json!([body["model"], body["seed"], warmth]))
    };
    let mut sent: Vec<_> = server.requests().iter().map(of).collect();
    sent.sort_by_key(|(path, body)| (path.clone(), body.to_string()));
    sent
}
