//! Seats without a persona: models by their names, people, and personas that leave their tools behind.

use serde_json::json;

use crate::program::Desk;
use crate::server::{Answer, Server};

pub fn any_service() -> Server {
    Server::start(|request| match request.path() {
        path if path.ends_with("/messages") => Answer::message("vote: in-process"),
        path if path.ends_with("/models") => Answer::json(200, &json!({"data": [{"id": "llama3.2"}]})),
        _ => Answer::chat("vote: in-process"),
    })
}

pub fn three_services(definition: &str, server: &Server) -> Desk {
    let url = format!("{}/v1", server.url());
    let desk = Desk::with(definition).set("OPENAI_API_KEY", "sk-1").set("ANTHROPIC_API_KEY", "sk-2");
    let desk = desk.set("OPENAI_BASE_URL", &url).set("ANTHROPIC_BASE_URL", &url);
    // Seats that name no model have this one.
    desk.write("../home/config/config.yaml", "model: ollama/llama3.2\n");
    desk.set("OLLAMA_BASE_URL", &url)
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
    desk.write("answers.yaml", "decide: {human: {vote: redis}, ana: {vote: redis}}\n");
    let ran = desk.run(["--batch", "decide.yaml", "--json", "--answers", "answers.yaml", "--save", "s.s2s"]);
    let lines = ran.code(0).lines();
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
    desk.run(["verify", "s.s2s"]).code(0);
}

#[test]
fn the_command_line_seats_models_as_a_definition_does() {
    const CHOICE: &str = "question: x\nparticipants: [qa-lead, ollama/llama3.2]\n\
                          ballot: {kind: choice, options: [in-process, redis]}\n";
    let server = any_service();
    let desk = three_services(CHOICE, &server);
    let chosen = "ollama/llama3.2,openai/llama3.2,ollama/llama3.2,skeptic";
    let ran = desk.run(["--batch", "decide.yaml", "--participants", chosen, "--save", "s.s2s"]).code(0);
    for seat in ["llama3.2", "llama3.2-2", "llama3.2-3", "skeptic"] {
        ran.shows(&format!("- **{seat}** · "));
    }
    desk.run(["verify", "s.s2s"]).code(0);
}

#[test]
fn a_persona_with_tools_sits_without_them_where_the_definition_says() {
    let desk = Desk::rehearsing("question: x\nparticipants: [coder, qa-lead]\n");
    desk.write(
        ".s2s/personas/coder.md",
        "---\nname: coder\ndescription: x\ntools: [Bash, Read]\n---\n\nText.\n",
    );
    let ran = desk.run(["--batch", "decide.yaml"]).code(2);
    ran.tells("persona `coder` declares tool `Bash`; blind rounds allow no tools");
    ran.tells("hint: seat it without them: `{persona: coder, tools: none}`");
    desk.write("decide.yaml", "question: x\nparticipants: [{persona: coder, tools: none}, qa-lead]\n");
    let ran = desk.run(["--batch", "decide.yaml", "--json", "--save", "s.s2s"]).code(0);
    ran.tells("`coder` sits without the tools of `coder`: Bash, Read");
    let seats = ran.lines()[0]["participants"].clone();
    assert_eq!(seats[0]["without_tools"], true);
    assert_eq!(seats[1]["without_tools"], serde_json::Value::Null);
    desk.run(["verify", "s.s2s"]).code(0);
    assert_eq!(desk.report("s.s2s").to_string().matches("\"without_tools\":true").count(), 1);
    // The command line takes the same forms, and what it chose verifies.
    desk.write("decide.yaml", "question: x\n");
    let chosen = "{persona: coder, tools: none},qa-lead,{name: ana, model: rehearsal},{model: rehearsal}";
    let run = ["--batch", "decide.yaml", "--json", "--save", "t.s2s", "--participants", chosen];
    let seats = desk.run(run).code(0).lines()[0]["participants"].clone();
    let names: Vec<_> = seats.as_array().expect("seats").iter().map(|seat| seat["name"].clone()).collect();
    assert_eq!(names, ["coder", "qa-lead", "ana", "rehearsal"]);
    assert_eq!(seats[0]["without_tools"], true);
    desk.run(["verify", "t.s2s"]).code(0);
    let wrong = desk.run(["--batch", "decide.yaml", "--participants", "{persona: coder, weight: 2}"]).code(2);
    wrong.tells("needs a definition");
}

#[test]
fn a_name_that_is_nearly_a_persona_is_told() {
    let desk = Desk::rehearsing(
        "question: x\nparticipants: [{name: qa-laed, model: rehearsal}, {name: ana, model: rehearsal}]\n",
    );
    let ran = desk.run(["--batch", "decide.yaml"]).code(0);
    ran.tells("`qa-laed` sits without a persona");
    ran.tells("did you mean `persona: qa-lead`?");
    assert!(!ran.err.contains("`ana`"), "{}", ran.err);
}
