//! Structured outputs and stop reasons, per API style.

use serde_json::{Value, json};

use crate::program::{Desk, arg};
use crate::pty::Screen;
use crate::server::{Answer, Request, Server};

const ROUND: &str = "question: Which?\nballot: {kind: choice, options: [in-process, redis]}\n\
                     rule: majority\nparticipants: [qa-lead, skeptic, security-champion]\n";
const HELD: &str = r#"{"vote":"redis","rationale":["one truth"],"trade_offs":{"optimizing_for":"","accepting_as_cost":"","risks":[]},"concerns":[],"suggestions":[],"confidence":null,"references":[]}"#;

fn desk(definition: &str, server: &Server, dialect: &str, more: &str) -> Desk {
    let base = if dialect == "anthropic" { server.url() } else { server.url() + "/v1" };
    let config = format!("providers:\n  lab: {{api: {dialect}, base_url: \"{base}\"{more}}}\n");
    Desk::with(definition).configured(config)
}

fn schema_of(request: &Request) -> Option<Value> {
    let body = request.json();
    let places =
        ["/response_format/json_schema/schema", "/text/format/schema", "/output_config/format/schema"];
    places.iter().find_map(|place| body.pointer(place).cloned())
}

fn says(dialect: &str, text: &str) -> Answer {
    let message = json!([{"type": "message", "content": [{"type": "output_text", "text": text}]}]);
    match dialect {
        "anthropic" => Answer::message(text),
        "openai-responses" => Answer::json(200, &json!({"status": "completed", "output": message})),
        _ => Answer::chat(text),
    }
}

#[test]
fn the_form_goes_with_the_request_where_it_is_wanted_and_changes_nothing_else() {
    for dialect in ["openai", "openai-responses", "anthropic"] {
        let mut prompts = Vec::new();
        for (more, is_sent) in [(", structured: true", true), ("", false), (", structured: false", false)] {
            let server = Server::start(move |_| says(dialect, HELD));
            let desk = desk(ROUND, &server, dialect, more);
            desk.run(["--batch", "decide.yaml", "--model", "lab/m"]).code(0);
            let requests = server.requests();
            assert_eq!(requests.len(), 3);
            for request in &requests {
                let schema = schema_of(request);
                assert_eq!(schema.is_some(), is_sent, "{dialect}: {more}");
                let votes = schema.map(|schema| schema["properties"]["vote"]["enum"].clone());
                assert!(votes.is_none_or(|votes| votes == json!(["in-process", "redis", "abstain"])));
                assert!(request.json().get("tools").is_none());
            }
            let answers = desk.events("answer_revealed");
            assert!(answers.iter().all(|line| line["outcome"] == "answered"), "{answers:?}");
            let offered = desk.events("work_item_offered");
            prompts.push(offered.iter().map(|line| line["prompt"].clone()).collect::<Vec<_>>());
            desk.verify();
        }
        assert!(prompts.windows(2).all(|two| two[0] == two[1]), "the schema is no part of a prompt");
    }
}

#[test]
fn a_service_that_declines_the_form_is_asked_without_it_and_no_seat_is_lost() {
    for status in [400, 422] {
        let declines = move |request: &Request| match schema_of(request) {
            Some(_) => Answer::json(status, &json!({"error": {"message": "no json_schema here"}})),
            None => says("openai", "```yaml\nvote: redis\n```\n"),
        };
        let server = Server::start(declines);
        let two = "steps:\n  - {id: a, type: round, question: Which?, ballot: {kind: choice, options: [in-process, redis]}, rule: majority}\n  - {id: b, type: round, question: Again?, ballot: {kind: choice, options: [in-process, redis]}, rule: majority}\nparticipants: [qa-lead, skeptic]\n";
        let desk = desk(two, &server, "openai", ", structured: true");
        desk.run(["--batch", "decide.yaml", "--model", "lab/m"]).code(0);
        let with_schema = server.requests().iter().filter(|request| schema_of(request).is_some()).count();
        // Of the first round's two, one may be sent after the other was declined.
        assert!(with_schema == 1 || with_schema == 2, "the second round goes without at once: {with_schema}");
        assert_eq!(server.requests().len(), 4 + with_schema);
        let answers = desk.events("answer_revealed");
        let outcomes: Vec<_> = answers.iter().map(|line| line["outcome"].clone()).collect();
        assert_eq!(outcomes, ["answered"; 4]);
        let tries: Vec<u64> = answers.iter().filter_map(|line| line["tries"].as_u64()).collect();
        assert_eq!((tries[0] + tries[1], tries[2], tries[3]), (2 + with_schema as u64, 1, 1));
    }
}

#[test]
fn a_server_of_ones_own_gets_bounds_and_little_room_until_its_model_is_seen_thinking() {
    let server = Server::start(|request: &Request| match request.json()["max_tokens"].as_u64() {
        Some(2048) => {
            let thought = json!({"content": "", "reasoning_content": "hm"});
            Answer::json(200, &json!({"choices": [{"message": thought, "finish_reason": "length"}]}))
        }
        _ => says("openai", r#"{"rationale": ["one truth"], "vote": "redis", "confidence": 7}"#),
    });
    let two = "steps:\n  - {id: a, type: round, question: Which?, ballot: {kind: choice, options: [in-process, redis]}, rule: majority}\n  - {id: b, type: agent, agent: skeptic, prompt: Sum up, output_schema: {type: object, required: [vote]}}\nparticipants: [qa-lead]\n";
    let desk = Desk::with(two).set("LLAMACPP_BASE_URL", &(server.url() + "/v1"));
    let ran = desk.run(["--batch", "decide.yaml", "--model", "llamacpp/m"]).code(0);
    let rooms: Vec<_> = server.requests().iter().map(|of| of.json()["max_tokens"].as_u64()).collect();
    assert_eq!(rooms, [Some(2048), Some(16_384), Some(16_384)], "{}", ran.err);
    let schemas: Vec<Value> = server.requests().iter().filter_map(schema_of).collect();
    let keys: Vec<&String> = schemas[0]["properties"].as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["rationale", "vote", "confidence"]);
    assert_eq!(schemas[2], json!({"type": "object", "required": ["vote"]}));
    let flags = desk.events("answer_revealed")[0]["flags"].clone();
    assert!(flags.to_string().contains("confidence `7` is not a number from 0 to 1"), "{flags}");
    desk.verify();
}

#[test]
fn a_prompt_larger_than_the_window_of_its_server_is_not_sent() {
    let server = Server::start(|request: &Request| match request.path() {
        "/props" => Answer::json(200, &json!({"default_generation_settings": {"n_ctx": 2048}})),
        "/v1/models" => Answer::json(200, &json!({"data": [{"id": "m"}]})),
        _ => says("openai", "vote: redis"),
    });
    let desk = |words: &str| {
        let text = format!("project_summary: \"{}\"\n{ROUND}", words.repeat(700));
        Desk::with(&text).set("LLAMACPP_BASE_URL", &(server.url() + "/v1"))
    };
    let run = ["--batch", "decide.yaml", "--model", "llamacpp/m"];
    let told = "tokens, and this server's window is 2,048: raise it (its option `-c`), or send less";
    desk("a long story ").run(run).code(5).tells(told);
    assert_eq!(server.requests().len(), 1, "it was asked once, and nothing was sent");
    desk("story ").run(run).code(0);
    let long = desk("a long story ").set("ROUNDTABLE_MODEL", "llamacpp/m");
    long.run(["check", "decide.yaml", "--probe"]).code(0).says(told);
    let mut screen = Screen::open(&long, (200, 40), &["decide.yaml"]);
    screen.wait_for(&["this server's window is 2,048"]);
    screen.quits();
    assert!(desk("").run(["doctor", "llamacpp/m"]).out.contains("`m` reads 2,048 tokens here"));
}

#[test]
fn headers_are_sent_with_each_request_and_an_expired_key_is_read_again() {
    const GATE: &str = "gate-0123456789abcdef";
    let server = Server::start(|request: &Request| match request.header("authorization") {
        Some("Bearer key-2") => {
            says("openai", &HELD.replace("one truth", request.header("x-gate").expect("a header")))
        }
        _ => Answer::json(401, &json!({"error": {"message": "expired"}})),
    });
    let desk = Desk::with(ROUND).set("GATE", GATE);
    let count = arg(&desk.path("count"));
    let command = format!("echo x >> '{count}'; echo key-$(wc -l < '{count}' | tr -d ' ')");
    let more =
        format!("key_command: [sh, -c, \"{command}\"], headers: {{x-tenant: shop, x-gate: {{env: GATE}}}}");
    let config = format!("providers:\n  lab: {{base_url: \"{}/v1\", {more}}}\n", server.url());
    let out = desk.configured(config).run(["--batch", "decide.yaml", "--model", "lab/m"]).code(0).out;
    assert!(out.contains("(masked API key)") && !out.contains(GATE), "{out}");
    let sent = |request: &Request| ["x-tenant", "x-gate"].map(|name| request.header(name).map(str::to_owned));
    assert!(server.requests().iter().all(|of| sent(of) == [Some("shop".to_owned()), Some(GATE.to_owned())]));
}

/// Recorded replies test how each API style reports it.
#[test]
fn every_way_to_stop_is_recorded_as_what_it_is() {
    let text = json!({"role": "assistant", "content": "vote: redis"});
    let calls = json!({"content": null, "tool_calls": [{"id": "1", "type": "function"}]});
    for (message, finish, outcome, reason) in [
        (text, "length", "invalid", "cut off at its length limit"),
        (calls, "tool_calls", "invalid", "tried to call a tool"),
        (json!({"content": null, "refusal": "I will not"}), "stop", "refused", "declined to answer"),
        (json!({"content": ""}), "content_filter", "refused", "declined to answer"),
    ] {
        let reply = json!({"choices": [{"index": 0, "message": message, "finish_reason": finish}]});
        let server = Server::start(move |_| Answer::json(200, &reply));
        let desk = desk(ROUND, &server, "openai", ", structured: true");
        desk.run(["--batch", "decide.yaml", "--model", "lab/m"]).code(3);
        let answers = desk.events("answer_revealed");
        assert_eq!(answers.len(), 3, "{finish}");
        for answer in answers {
            assert_eq!(answer["outcome"], outcome, "{finish}");
            let told = answer["reason"].as_str().expect("a reason");
            assert!(told.contains(reason), "{finish}: {told}");
        }
    }
}
