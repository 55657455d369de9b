//! Imitated real services: unsupported parameters are dropped and recorded.
//!
//! The second round is right at once. Thinking is separated from the answer.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::program::{Desk, KEY, arg};
use crate::server::{Answer, Request, Server};

const FORM: &str = "ballot: {kind: choice, options: [in-process, redis]}, rule: majority";
const TEXT: &str = "```yaml\nvote: redis\nrationale: [one truth]\n```\n";
const HELD: &str = r#"{"vote":"redis","rationale":["one truth"],"trade_offs":{"optimizing_for":"","accepting_as_cost":"","risks":[]},"concerns":[],"suggestions":[],"confidence":null,"references":[]}"#;

/// Provider, model, whether temperatures are dropped, and whether the effort is.
const SERVICES: [(&str, &str, bool, bool); 8] = [
    ("gateway", "gpt-5", true, false),
    ("azure", "gpt-5-mini", true, false),
    ("openai-responses", "gpt-5", true, false),
    ("anthropic", "claude-sonnet-5", true, false),
    ("anthropic", "claude-opus-4-8", true, false),
    ("gemini", "gemini-3-pro", false, false),
    ("local", "qwq-think", false, true),
    ("local", "qwq-small", false, true),
];

fn desk(server: &Server, definition: &str, more: &str) -> Desk {
    let url = server.url();
    let azure = format!("{url}/openai/deployments/gpt-5?api-version=2024-10-21");
    let mut config = "providers:\n".to_owned();
    for (name, dialect, url) in [
        ("gateway", "openai", &format!("{url}/v1")),
        ("azure", "openai", &azure),
        ("openai-responses", "openai-responses", &format!("{url}/v1")),
        ("anthropic", "anthropic", &url),
        ("gemini", "openai", &format!("{url}/v1beta/openai")),
        ("local", "openai", &format!("{url}/v1")),
    ] {
        config.push_str(&format!("  {name}: {{api: {dialect}, base_url: \"{url}\"{more}}}\n"));
    }
    let desk = Desk::with(definition).configured(config).set("OPENAI_API_KEY", "k");
    desk.set("ANTHROPIC_API_KEY", "k").set("GEMINI_API_KEY", "k")
}

/// Starts the services; for a request with a schema, the answer matches it.
fn serve() -> Server {
    Server::start(|request| {
        let is_held = String::from_utf8_lossy(&request.body).contains("json_schema");
        answer(request, if is_held { HELD } else { TEXT })
    })
}

/// Returns the parts of a request's body that belong to the prompt.
fn prompt_of(request: &Request) -> Value {
    let body = request.json();
    json!([body["messages"], body["system"], body["instructions"], body["input"]])
}

fn panel() -> String {
    let seats = SERVICES.iter().enumerate().flat_map(|(nth, (provider, model, ..))| {
        [(1, "0"), (2, "0.7"), (3, "1")].map(|(place, warmth)| {
            format!(
                "  - {{persona: qa-lead, name: s{nth}-{place}, model: {provider}/{model}, temperature: {warmth}, effort: low}}\n"
            )
        })
    });
    let rounds = ["a", "b"].map(|id| format!("  - {{id: {id}, type: round, question: Which?, {FORM}}}\n"));
    format!("participants:\n{}steps:\n{}", seats.collect::<String>(), rounds.concat())
}

#[test]
fn every_seat_answers_and_what_its_service_does_not_take_is_on_record() {
    for structured in [true, false] {
        let server = serve();
        let desk = desk(&server, &panel(), &format!(", structured: {structured}"));
        let ran = desk.run(["--batch", "decide.yaml"]).code(0);
        let answers = desk.events("answer_revealed");
        assert_eq!(answers.len(), 2 * 3 * SERVICES.len());
        for answer in &answers {
            assert_eq!(answer["outcome"], "answered", "{answer}");
            assert_eq!(answer["ballot"]["choice"], "redis", "{answer}");
            let (seat, round) = (answer["participant"].as_str().unwrap(), &answer["round"]);
            let (nth, place) = seat[1..].split_once('-').unwrap();
            let (_, model, no_temperature, no_effort) = SERVICES[nth.parse::<usize>().unwrap()];
            // A temperature of 1 is sent until the model is known to accept none.
            let is_left_out = no_temperature && (place != "3" || *round == "b");
            let mut dropped: Vec<&str> = Vec::new();
            dropped.extend(is_left_out.then_some("temperature"));
            dropped.extend(no_effort.then_some("effort"));
            let told = answer.get("dropped").cloned().unwrap_or(json!([]));
            let is_early = no_temperature && place == "3" && told == json!(["temperature"]);
            assert!(told == json!(dropped) || is_early, "{seat} {round} {model}: {told}");
            let tries = answer["tries"].as_u64().unwrap();
            assert!(tries <= 3 && (*round == "a" || tries == 1), "{seat} {round}: {tries} tries");
            assert_eq!(tries - 1, answer.get("declined").and_then(Value::as_u64).unwrap_or(0));
            let tokens = &answer["tokens"];
            assert_eq!(tokens["output"], THINKING + ANSWER, "{model}: all of it is paid for");
            let thinking = if model.starts_with("claude") { None } else { Some(THINKING) };
            assert_eq!(tokens["thinking"].as_u64(), thinking, "{model}");
        }
        for declined in ["max_tokens", "temperature", "reasoning_effort"] {
            assert!(!ran.err.contains(&format!("failed: HTTP 400: {declined}")), "{}", ran.err);
        }
        ran.tells("round 2: the same seat: s0-1, s0-2, s0-3: they differ by temperature alone");
        let prompts: BTreeSet<_> = server.requests().iter().map(|sent| prompt_of(sent).to_string()).collect();
        for answer in &answers {
            let role = format!("your_role: \\\"{}\\\"", answer["participant"].as_str().unwrap());
            let own = prompts.iter().filter(|prompt| prompt.contains(&role));
            assert_eq!(own.count(), 2, "one prompt a round, whatever else is sent: {role}");
        }
        desk.verify();
        let ran = desk.run(["report", &arg(&desk.session()), "--format", "md"]).code(0);
        ran.shows("without temperature").shows("since its service takes no other temperature: s0-1, s0-2");
    }
}

fn one_round(seats: &str) -> String {
    format!("question: Which?\n{}\nparticipants: [{seats}]\n", FORM.replace(", rule", "\nrule"))
}

/// Returns one seat of each of these models, with this token limit.
fn seats(room: u64) -> String {
    let models =
        "gateway/gpt-5 openai-responses/gpt-5 anthropic/claude-sonnet-5 gemini/gemini-3-pro local/qwq-think";
    let seats = models.split(' ').enumerate().map(|(nth, model)| {
        format!("{{persona: qa-lead, name: s{nth}, model: {model}, max_output_tokens: {room}}}, ")
    });
    one_round(&seats.collect::<String>())
}

#[test]
fn a_reply_that_was_all_thinking_is_asked_for_once_more_with_twice_the_room() {
    for (room, wide, outcome) in [(1000, "1,000", "answered"), (500, "500", "invalid")] {
        let server = serve();
        let desk = desk(&server, &seats(room), "");
        let ran = desk.run(["--batch", "decide.yaml"]);
        let answers = desk.events("answer_revealed");
        assert_eq!(answers.len(), 5, "{}", ran.err);
        for answer in answers {
            assert_eq!(answer["outcome"], outcome, "{answer}");
            let replies = answer["replies"].as_array().unwrap();
            assert_eq!((replies.len(), &replies[0]["limit"]), (2, &json!(room)), "{answer}");
            assert_eq!(replies[0]["reason"], format!("all {wide} tokens went into thinking"));
            let second = if outcome == "answered" { THINKING + ANSWER } else { 2 * room };
            assert_eq!(answer["tokens"]["output"], room + second, "both are counted");
            if outcome == "invalid" {
                assert_eq!(answer["reason"], "all 1,000 tokens went into thinking");
                ran.tells("raise its `max_output_tokens`, or give it a lower `effort`");
            }
            let role = format!("your_role: \\\"{}\\\"", answer["participant"].as_str().unwrap());
            let asked = |sent: &Request| {
                let body = sent.json();
                let names = ["max_completion_tokens", "max_tokens", "max_output_tokens"];
                (prompt_of(sent), names.iter().find_map(|name| body[*name].as_u64()))
            };
            let mut sent: Vec<_> = server.requests().iter().map(asked).collect();
            sent.retain(|(prompt, _)| prompt.to_string().contains(&role));
            assert!(sent.windows(2).all(|two| two[0].0 == two[1].0), "the prompt is the same: {role}");
            assert_eq!(sent.last().unwrap().1, Some(2 * room));
        }
        desk.verify();
    }
    // Without a limit that cut it.
    let message = json!({"content": "", "reasoning": THOUGHT});
    let thinks = json!({"choices": [{"message": message, "finish_reason": "stop"}]});
    let server = Server::start(move |_| Answer::json(200, &thinks));
    let desk = Desk::with(&one_round("llamacpp/m")).set("LLAMACPP_BASE_URL", &server.url());
    desk.run(["--batch", "decide.yaml"]).tells("no answer after it").tells("give it a lower `effort`");
}

#[test]
fn doctor_says_which_parameters_a_model_took() {
    let server = Server::start(|request| match request.path() {
        path if path.ends_with("/models") => Answer::json(200, &json!({"data": [{"id": "gpt-5"}]})),
        _ => answer(request, TEXT),
    });
    let one = one_round("{persona: qa-lead, model: gateway/gpt-5, temperature: 0.2}");
    let desk = desk(&server, &one, "");
    let probed = desk.run(["doctor", "gateway/gpt-5", "--probe"]).code(0);
    probed.shows("took max_output_tokens, seed, effort; declined temperature");
    desk.run(["--batch", "decide.yaml"]).code(0);
    assert_eq!(desk.events("answer_revealed")[0]["dropped"], json!(["temperature"]));
}

fn listed(request: &Request) -> Answer {
    if request.path().ends_with("/models") {
        Answer::json(200, &json!({"data": [{"id": "small"}, {"id": "large\u{1b}[2J"}]}))
    } else {
        Answer::chat_events(&["ready"])
    }
}

#[test]
fn doctor_reports_models_and_key_source_but_never_the_key() {
    let server = Server::start(listed);
    let desk = Desk::new().served_by(&server);
    let ran = desk.run(["doctor", "lab", "--probe"]).code(0);
    assert!(ran.out.starts_with("lab  ok: 2 models (small, large"), "{}", ran.out);
    ran.shows("`small` answers; took ").shows("key from LAB_KEY");
    assert!(!ran.out.contains(KEY) && !ran.err.contains(KEY) && !ran.out.contains('\u{1b}'));
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests[0].head.starts_with("GET /v1/models "), "{}", requests[0].head);
    assert_eq!(requests[0].header("authorization"), Some(&*format!("Bearer {KEY}")));
    assert_eq!(requests[1].json()["model"], "small");

    desk.run(["doctor", "lab/other", "--probe"]).code(0).shows("`other` answers; took ");
}

#[test]
fn doctor_says_what_to_do_about_each_failure() {
    let told = json!({"error": {"message": format!("bad key {KEY}"), "type": "auth"}});
    let refusing = Server::start(move |_| Answer::json(401, &told));
    let ran = Desk::new().served_by(&refusing).run(["doctor", "lab"]).code(5);
    ran.shows("unreachable: HTTP 401 auth: bad key ***").shows("hint: check the key in LAB_KEY");
    assert!(!ran.out.contains(KEY), "{}", ran.out);

    let ran = Desk::new().served_by(&refusing).set("LAB_BASE_URL", "127.0.0.1:9/v1").run(["doctor", "lab"]);
    ran.code(5).shows("address cannot be read").shows("`lab` has it from LAB_BASE_URL");
    let page = Server::start(|_| Answer::new(200, &[], "<html>"));
    let ran = Desk::new().served_by(&page).run(["doctor", "lab"]).code(5);
    ran.shows("its list of models cannot be read").shows("hint: check the address");

    for (status, told) in [(500, "HTTP 500"), (400, "HTTP 400"), (200, "an error under status 200")] {
        let failing = Server::start(move |request| {
            if request.path().ends_with("/models") {
                return listed(request);
            }
            Answer::json(status, &json!({"error": {"message": "no model is loaded"}}))
        });
        let ran = Desk::new().served_by(&failing).run(["doctor", "lab", "--probe"]).code(5);
        ran.shows("`small` unreachable: ").shows(&format!("{told}: no model is loaded"));
        assert_eq!(failing.requests().len(), 2, "no second try");
    }
}

#[test]
fn without_keys_every_provider_is_listed_and_nothing_fails() {
    let desk = Desk::new().set("GEMINI_API_KEY", "g").set("GOOGLE_API_KEY", "h");
    let desk =
        desk.set("GEMINI_BASE_URL", "http://127.0.0.1:9").set("OLLAMA_BASE_URL", "http://127.0.0.1:9/v1");
    let ran = desk.run(["doctor"]).code(0);
    let line = |name: &str| ran.out.lines().position(|line| line.starts_with(name)).expect("a line");
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(lines[line("openai ")].ends_with("no key"), "{}", ran.out);
    assert!(lines[line("openai ") + 1].ends_with("hint: set OPENAI_API_KEY"), "{}", ran.out);
    assert!(lines[line("ollama ") + 1].contains("`ollama serve`"), "{}", ran.out);
    assert!(lines[line("rehearsal")].contains("built-in placeholder"));
    ran.tells("no model answers yet: set a key");
    desk.run(["doctor", "ollma"]).code(2).tells("did you mean `ollama`?");
}

/// Imitates llama.cpp: reports `told` tokens of the prompts in turn, and its window after the first answer.
fn cutting(told: [u64; 3], window: Option<u64>) -> Server {
    let asked = AtomicUsize::new(0);
    Server::start(move |request| {
        if request.path().ends_with("/props") {
            let window = window.filter(|_| asked.load(Ordering::SeqCst) > 0);
            return Answer::json(200, &json!({"default_generation_settings": {"n_ctx": window}}));
        }
        let turn = asked.fetch_add(1, Ordering::SeqCst);
        let usage = json!({"prompt_tokens": told[turn % told.len()], "completion_tokens": 9});
        let said = json!({"message": {"content": TEXT}, "finish_reason": "stop"});
        Answer::json(200, &json!({"choices": [said], "usage": usage}))
    })
}

#[test]
fn a_ballot_over_a_prompt_that_its_server_cut_does_not_count() {
    let (same, other) = ([300, 300, 300], [300, 301, 302]);
    let (one, three) = ("llamacpp/m, llamacpp/m, llamacpp/m", "llamacpp/a, llamacpp/b, llamacpp/c");
    for (told, window, models, key, outcome, word) in [
        (same, None, one, "", "invalid", "prompt cut ("),
        (same, None, one, "cut_prompts: count\n", "answered", "prompt cut ("),
        (other, None, one, "", "answered", "prompt may be cut ("),
        (same, None, three, "", "answered", "prompt may be cut ("),
        (other, Some(512), "llamacpp/a", "", "invalid", "prompt cut ("),
        (other, Some(90_000), "llamacpp/a", "", "answered", "prompt may be cut ("),
    ] {
        let server = cutting(told, window);
        let background = "We sell tea and count the leaves of each cup. ".repeat(400);
        let desk = Desk::with(&format!("{}exploration: {background}\n{key}", one_round(models)))
            .set("LLAMACPP_BASE_URL", &format!("{}/v1", server.url()));
        let counts = outcome == "answered";
        let ran = desk.run(["--batch", "decide.yaml"]).code(if counts { 0 } else { 3 });
        ran.tells(word).tells("the server reads too little of the prompt: raise its option `-c`");
        for answer in desk.events("answer_revealed") {
            assert_eq!(answer["outcome"], outcome, "{models} {told:?}");
            let said = if counts { &answer["flags"][0] } else { &answer["reason"] };
            assert!(said.as_str().unwrap().starts_with(&format!("{word}30")), "{answer}");
        }
        if counts {
            assert!(ran.out.contains("weak"), "{}", ran.out);
        }
        desk.verify();
    }
}

const THINKING: u64 = 1_200;
const ANSWER: u64 = 120;
const THOUGHT: &str = "vote: in-process would be simpler, but";
const EFFORTS: [&str; 6] = ["none", "minimal", "low", "medium", "high", "xhigh"];

/// Answers like the service of the request's model, with `text` if the limit suffices. `docs/PROVIDERS.md` lists
/// the facts. A thinking model uses [`THINKING`] tokens of its limit before its answer of [`ANSWER`].
fn answer(request: &Request, text: &str) -> Answer {
    let body = request.json();
    assert!(body.get("tools").is_none(), "a request never has tools");
    let model = body["model"].as_str().expect("a model");
    let limits = ["max_completion_tokens", "max_tokens", "max_output_tokens"];
    let limit = limits.iter().find_map(|name| body[*name].as_u64()).unwrap_or(u64::MAX);
    let refused = match model {
        _ if model.starts_with("gpt-5") => openai(&body),
        _ if model.starts_with("claude") => anthropic(&body),
        _ if model.starts_with("qwq") => vllm(&body, limit),
        _ => None,
    };
    if let Some((status, error)) = refused {
        return Answer::json(status, &error);
    }
    let said = if limit < THINKING + ANSWER { None } else { Some(text) };
    let spent = THINKING + if said.is_some() { ANSWER } else { 0 };
    // Never streamed: recorded streams are tested elsewhere.
    match request.path() {
        path if path.ends_with("/messages") => messages(said, spent.min(limit)),
        path if path.ends_with("/responses") => responses(said, spent.min(limit)),
        _ => chat(model, said, spent.min(limit)),
    }
}

fn error(message: &str, param: &str, code: &str) -> (u16, Value) {
    let error = json!({"message": message, "type": "invalid_request_error", "param": param, "code": code});
    (400, json!({ "error": error }))
}

fn openai(body: &Value) -> Option<(u16, Value)> {
    if body.get("max_tokens").is_some() {
        let message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
        return Some(error(message, "max_tokens", "unsupported_parameter"));
    }
    if let Some(warmth) = body["temperature"].as_f64().filter(|warmth| (warmth - 1.0).abs() > 1e-9) {
        let message = format!(
            "Unsupported value: 'temperature' does not support {warmth} with this model. Only the default (1) value is supported."
        );
        return Some(error(&message, "temperature", "unsupported_value"));
    }
    let effort = body["reasoning_effort"].as_str().or_else(|| body["reasoning"]["effort"].as_str());
    if let Some(effort) = effort.filter(|effort| !EFFORTS.contains(effort)) {
        let param = if body.get("reasoning").is_some() { "reasoning.effort" } else { "reasoning_effort" };
        let message = format!("Unsupported value: '{param}' does not support '{effort}'.");
        return Some(error(&message, param, "unsupported_value"));
    }
    None
}

fn anthropic(body: &Value) -> Option<(u16, Value)> {
    let error = |message: &str| {
        let error = json!({"type": "invalid_request_error", "message": message});
        Some((400, json!({"type": "error", "error": error})))
    };
    if body["max_tokens"].as_u64().is_none() {
        return error("max_tokens: Field required");
    }
    if body["temperature"].as_f64().is_some_and(|warmth| (warmth - 1.0).abs() > 1e-9) {
        return error("`temperature` may only be set to its default value with this model.");
    }
    if body.get("seed").is_some() || body.get("thinking").is_some() {
        return error("seed: Extra inputs are not permitted");
    }
    let effort = body["output_config"]["effort"].as_str();
    if effort.is_some_and(|effort| !["low", "medium", "high", "xhigh", "max"].contains(&effort)) {
        return error("output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'");
    }
    None
}

fn vllm(body: &Value, limit: u64) -> Option<(u16, Value)> {
    if body.get("reasoning_effort").is_some() {
        let message = "[{'type': 'extra_forbidden', 'loc': ('body', 'reasoning_effort'), 'msg': 'Extra inputs are not permitted', 'input': 'low'}]";
        return Some((400, json!({"object": "error", "message": message, "param": null, "code": 400})));
    }
    if limit < u64::MAX && limit > 16_000 && body["model"] == "qwq-small" {
        let message = format!(
            "This model's maximum context length is 16000 tokens. However, you requested {} tokens (900 in the messages, {limit} in the completion).",
            limit + 900
        );
        return Some((400, json!({"object": "error", "message": message, "param": null, "code": 400})));
    }
    None
}

fn chat(model: &str, said: Option<&str>, spent: u64) -> Answer {
    let finish = if said.is_some() { "stop" } else { "length" };
    let text = said.unwrap_or_default();
    let answered = if said.is_some() { ANSWER } else { 0 };
    // Gemini reports thinking only in the total; the others in the reply, most of them separately.
    let is_apart = !model.starts_with("gemini");
    let counted = if is_apart { spent } else { answered };
    let mut usage = json!({"prompt_tokens": 900, "completion_tokens": counted, "total_tokens": 900 + spent});
    if is_apart {
        usage["completion_tokens_details"] = json!({"reasoning_tokens": spent - answered});
    }
    let message = match model {
        "qwq-think" if said.is_none() => json!({"content": format!("<think>\n{THOUGHT}")}),
        "qwq-think" => json!({"content": format!("<think>\n{THOUGHT}\n</think>\n{text}")}),
        _ if model.starts_with("qwq") => json!({"content": text, "reasoning_content": THOUGHT}),
        _ => json!({"content": text}),
    };
    let choice = json!({"index": 0, "message": message, "finish_reason": finish});
    Answer::json(200, &json!({"choices": [choice], "usage": usage}))
}

fn messages(said: Option<&str>, spent: u64) -> Answer {
    let stop = if said.is_some() { "end_turn" } else { "max_tokens" };
    let mut blocks = vec![json!({"type": "thinking", "thinking": THOUGHT, "signature": "s"})];
    blocks.extend(said.map(|text| json!({"type": "text", "text": text})));
    let usage = json!({"input_tokens": 900, "output_tokens": spent});
    Answer::json(200, &json!({"type": "message", "content": blocks, "stop_reason": stop, "usage": usage}))
}

fn responses(said: Option<&str>, spent: u64) -> Answer {
    let thought = json!({"type": "summary_text", "text": THOUGHT});
    let mut output = vec![json!({"type": "reasoning", "summary": [thought]})];
    let message = |text| json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]});
    output.extend(said.map(message));
    let (status, why) = match said {
        Some(_) => ("completed", Value::Null),
        None => ("incomplete", json!({"reason": "max_output_tokens"})),
    };
    let thinking = spent.min(THINKING);
    let usage = json!({"input_tokens": 900, "output_tokens": spent, "output_tokens_details": {"reasoning_tokens": thinking}});
    Answer::json(
        200,
        &json!({"object": "response", "status": status, "incomplete_details": why, "output": output, "usage": usage}),
    )
}
