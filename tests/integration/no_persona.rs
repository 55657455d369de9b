//! Seats without a persona, and personas without their tools.

use serde_json::{Value, json};

use crate::program::{Desk, arg, named};
use crate::server::{Answer, Request, Server};

pub fn any_service() -> Server {
    Server::start(|request| match request.path() {
        path if path.ends_with("/messages") => Answer::message("vote: in-process"),
        path if path.ends_with("/models") => Answer::json(200, &json!({"data": [{"id": "llama3.2"}]})),
        _ => Answer::chat("vote: in-process"),
    })
}

pub fn three_services(definition: &str, server: &Server) -> Desk {
    let url = format!("{}/v1", server.url());
    let desk = Desk::with(definition).configured("model: ollama/llama3.2\n").set("OLLAMA_BASE_URL", &url);
    let desk = desk.set("OPENAI_API_KEY", "sk-1").set("ANTHROPIC_API_KEY", "sk-2");
    desk.set("OPENAI_BASE_URL", &url).set("ANTHROPIC_BASE_URL", &url)
}

#[test]
fn models_and_people_are_a_roster() {
    let server = any_service();
    let models = "[openai/gpt-5-mini, openai/gpt-5-mini, anthropic/claude-sonnet-5, ollama/llama3.2, human, \
                  {name: ana, model: human}, {model: ollama/llama3.2, role: critic}]";
    let definition = format!(
        "question: \"Which?\"\nparticipants: {models}\nballot: {{kind: choice, options: [in-process, redis]}}\n"
    );
    let desk = three_services(&definition, &server);
    let answers = "decide: {human: {vote: redis}, ana: {vote: redis}}\n";
    let lines = desk.answered(answers, &["--json"]).code(0).lines();
    let header = lines.iter().find(|line| line["event"] == "session_opened").expect("a header");
    let seats = header["participants"].as_array().expect("seats");
    let told: Vec<_> = seats.iter().map(|seat| (&seat["name"], &seat["persona"], &seat["role"])).collect();
    let name = |nth: usize| seats[nth]["name"].as_str().expect("a name");
    let names: Vec<&str> = (0..seats.len()).map(name).collect();
    let expected = "gpt-5-mini gpt-5-mini-2 claude-sonnet-5 llama3.2 human ana llama3.2-2";
    assert_eq!(names.join(" "), expected, "{told:?}");
    let roles: Vec<_> = seats.iter().filter_map(|seat| seat["role"].as_str()).collect();
    assert_eq!(roles, [&["participant"; 6][..], &["critic"]].concat());
    assert_eq!(server.requests().len(), 5);
    for request in server.requests() {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        let has_role = |role| body.contains(&format!(r#"your_role: \"{role}\"\n"#));
        assert!(["participant", "critic"].iter().any(has_role) && !body.contains("-2\\\""), "{body}");
    }
}

#[test]
fn the_command_line_seats_models_as_a_definition_does() {
    const CHOICE: &str = "question: x\nparticipants: [qa-lead, ollama/llama3.2]\n\
                          ballot: {kind: choice, options: [in-process, redis]}\n";
    let server = any_service();
    let desk = three_services(CHOICE, &server);
    let chosen = "ollama/llama3.2,openai/llama3.2,ollama/llama3.2,skeptic";
    let ran = desk.saves(&["--participants", chosen]).code(0);
    for seat in ["llama3.2", "llama3.2-2", "llama3.2-3", "skeptic"] {
        ran.shows(&format!("- **{seat}** · "));
    }
}

#[test]
fn a_persona_with_tools_sits_without_them_where_the_definition_says() {
    let desk = Desk::rehearsing("question: x\nparticipants: [coder, qa-lead]\n");
    let coder = "---\nname: coder\ndescription: x\ntools: [Bash, Read]\n---\n\nText.\n";
    desk.write(".s2s/personas/coder.md", coder);
    let ran = desk.run(["--batch", "decide.yaml"]).code(2);
    ran.tells("persona `coder` declares tool `Bash`; blind rounds allow no tools");
    ran.tells("hint: seat it without them: `{persona: coder, tools: none}`");
    desk.write("decide.yaml", "question: x\nparticipants: [{persona: coder, tools: none}, qa-lead]\n");
    let ran = desk.saves(&["--json"]).code(0);
    ran.tells("`coder` sits without the tools of `coder`: Bash, Read");
    let seats = ran.lines()[0]["participants"].clone();
    assert_eq!(seats[0]["without_tools"], true);
    assert_eq!(seats[1]["without_tools"], Value::Null);
    assert_eq!(desk.report("s.s2s").to_string().matches("\"without_tools\":true").count(), 1);
    // The command line accepts the same forms, and the session verifies.
    desk.write("decide.yaml", "question: x\n");
    let chosen = "{persona: coder, tools: none},qa-lead,{name: ana, model: rehearsal},{model: rehearsal}";
    let seats = desk.saves(&["--json", "--participants", chosen]).code(0).lines()[0]["participants"].clone();
    let names: Vec<_> = seats.as_array().expect("seats").iter().map(|seat| seat["name"].clone()).collect();
    assert_eq!(names, ["coder", "qa-lead", "ana", "rehearsal"]);
    assert_eq!(seats[0]["without_tools"], true);
    let wrong = desk.run(["--batch", "decide.yaml", "--participants", "{persona: coder, weight: 2}"]).code(2);
    wrong.tells("needs a definition");
}

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
    desk.configure(&format!(
        "providers:\n  lab: {{api: openai, base_url: \"{url}/v1\"}}\n  other: {{api: anthropic, base_url: \"{url}\"}}\n"
    ));
    desk.run(["--batch", "decide.yaml"]).code(3);

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
    // The prompts of two seats that differ only in their model differ only in their numbers.
    let offered = named(&replayed, "work_item_offered");
    let [first, third] = [0, 2].map(|nth| offered[nth]["prompt"].as_str().expect("a prompt"));
    assert_eq!(first, third.replace("qa-lead-3", "qa-lead-1"));
    desk.verify();
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
