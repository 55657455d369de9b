//! Imitated services: unsupported parameters and response formats, by model and API style.
//!
//! `docs/PROVIDERS.md` lists the facts. A thinking model uses [`THINKING`] tokens of its limit before its
//! answer of [`ANSWER`]; with less room its reply ends without an answer.

use serde_json::{Value, json};

use crate::server::{Answer, Request};

pub const THINKING: u64 = 1_200;
pub const ANSWER: u64 = 120;
const THOUGHT: &str = "vote: in-process would be simpler, but";
const EFFORTS: [&str; 6] = ["none", "minimal", "low", "medium", "high", "xhigh"];

/// Answers like the service of the request's model, with `text` if the limit suffices.
pub fn answer(request: &Request, text: &str) -> Answer {
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
