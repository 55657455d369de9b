//! Chat Completions: `OpenAI` and compatible services.
//!
//! Pure. A request never has a `tools` field. A reply is accepted only with a single choice and a known finish
//! reason. The text is not interpreted.

use serde_json::{Value, json};

use super::{
    ApiStream, DecodeError, PLACE, ReplyStream, RequestOptions, items, named_schema, parse, usage,
    without_nulls,
};
use crate::participants::{SeatRequest, TokenUsage};
use crate::workflow::Effort;

pub(super) fn body(ask: &SeatRequest, options: RequestOptions) -> Value {
    let system =
        (!ask.prompt.rules.is_empty()).then(|| json!({"role": "system", "content": &*ask.prompt.rules}));
    let messages: Vec<Value> =
        system.into_iter().chain([json!({"role": "user", "content": PLACE})]).collect();
    let limit = if options.completion_tokens { "max_completion_tokens" } else { "max_tokens" };
    let is_counted = options.stream == ApiStream::WithUsage;
    let form = named_schema(ask, options);
    without_nulls(json!({
        "messages": messages,
        "model": ask.model,
        (limit): options.max_output_tokens,
        "seed": options.seed,
        "temperature": options.temperature,
        "reasoning_effort": options.effort.map(Effort::word),
        "response_format": form.map(|form| json!({"type": "json_schema", "json_schema": form})),
        "stream": options.is_streamed(),
        "stream_options": is_counted.then(|| json!({"include_usage": true})),
    }))
}

/// Adds a complete reply, or one chunk of a stream.
pub(super) fn event(reply: &mut ReplyStream, data: &[u8]) -> Result<(), DecodeError> {
    let chunk = parse(data)?;
    reply.usage = with_cost(&chunk["usage"]).or(reply.usage);
    reply.served_by(&chunk["model"]);
    for (at, choice) in items(&chunk["choices"]).enumerate() {
        if at > 0 || choice["index"].as_u64().unwrap_or(0) > 0 {
            return Err(DecodeError::new("the reply has more than one choice"));
        }
        let said = choice.get("delta").unwrap_or(&choice["message"]);
        reply.text.push_str(&content(&said["content"])?);
        let thoughts = ["reasoning_content", "reasoning"].map(|key| said[key].as_str());
        reply.thought |= thoughts.into_iter().flatten().any(|thought| !thought.is_empty());
        reply.refusal.push_str(said["refusal"].as_str().unwrap_or_default());
        reply.called |= items(&said["tool_calls"]).next().is_some() || !said["function_call"].is_null();
        reply.ended_by(&choice["finish_reason"]);
    }
    Ok(())
}

fn content(content: &Value) -> Result<String, DecodeError> {
    match content {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text.clone()),
        Value::Array(parts) => Ok(parts.iter().filter_map(|part| part.get("text")?.as_str()).collect()),
        _ => Err(DecodeError::new("the reply's content is no text")),
    }
}

/// Reads the `usage` of a reply, with the cost that a gateway reports.
fn with_cost(told: &Value) -> Option<TokenUsage> {
    let cached = "/prompt_tokens_details/cached_tokens";
    let thinking = "/completion_tokens_details/reasoning_tokens";
    let usage = usage(told, ["/prompt_tokens", "/completion_tokens", cached, thinking])?;
    // Some services count thinking only in the total.
    let output = usage.output.max(told["total_tokens"].as_u64().unwrap_or(0).saturating_sub(usage.input));
    let is_told = told.pointer(thinking).is_some_and(Value::is_u64);
    let thinking = if is_told { usage.thinking } else { output - usage.output };
    let dollars = |pointer: &str| told.pointer(pointer).and_then(Value::as_f64).filter(|sum| *sum >= 0.0);
    // With the user's own vendor key, `cost` is only the gateway's fee.
    let is_own_key = told["is_byok"] == true;
    let beside = dollars("/cost_details/upstream_inference_cost").filter(|_| is_own_key).unwrap_or(0.0);
    let cost_nano_usd = dollars("/cost").map(|cost| ((cost + beside) * 1e9).round() as u64);
    Some(TokenUsage { output, thinking, cost_nano_usd, ..usage })
}

#[cfg(test)]
mod tests {
    use super::super::{ApiStyle, SchemaMode};
    use super::*;
    use crate::ballot::ReplySchema;
    use crate::participants::testing::ask;
    use crate::participants::{Finish, Reply};

    const LIMITS: RequestOptions = RequestOptions {
        max_output_tokens: Some(1024),
        completion_tokens: false,
        stream: ApiStream::Off,
        form: SchemaMode::InWords,
        seed: None,
        temperature: None,
        effort: None,
    };

    fn body(ask: &SeatRequest, limits: RequestOptions) -> Value {
        let mut body = ApiStyle::OpenAi.head(ask);
        body.extend(ApiStyle::OpenAi.tail(ask, limits));
        serde_json::from_slice(&body).expect("JSON")
    }

    #[test]
    fn head_and_tail_form_the_plain_request() {
        let mut ask = ask("rules \"q\" \\ é\n", "snap\u{1}shot 👩\u{2028}\n  ", "your_role: \"x\"\n");
        let request = json!({
            "messages": [
                {"role": "system", "content": &*ask.prompt.rules},
                {"role": "user", "content": format!("{}{}", ask.prompt.snapshot, ask.prompt.tail)},
            ],
            "model": "a \"model\"",
            "max_tokens": 1024,
        });
        assert_eq!(body(&ask, LIMITS), request);
        assert!(request.get("tools").is_none());

        ask.again = Some("why \"so\"".to_owned());
        let seed = Some(u64::MAX);
        let again = body(&ask, RequestOptions { completion_tokens: true, seed, ..LIMITS });
        let user = format!("{}{}\nwhy \"so\"", ask.prompt.snapshot, ask.prompt.tail);
        assert_eq!(again["messages"][1]["content"], user);
        assert_eq!(again["max_completion_tokens"], 1024);
        assert_eq!(again["seed"], u64::MAX);
        assert!(again.get("max_tokens").is_none());

        ask.schema = Some(
            ReplySchema { is_strict: true, ..ReplySchema::from_schema(&json!({"type": "object"})) }.into(),
        );
        assert!(body(&ask, LIMITS).get("response_format").is_none(), "only where the service takes it");
        let held = RequestOptions { form: SchemaMode::BySchema, stream: ApiStream::WithUsage, ..LIMITS };
        let held = body(
            &ask,
            RequestOptions {
                temperature: Some(0.7),
                effort: Some(Effort::Low),
                max_output_tokens: None,
                ..held
            },
        );
        assert_eq!((&held["temperature"], &held["reasoning_effort"]), (&json!(0.7), &json!("low")));
        assert!(held.get("max_tokens").is_none() && held.get("max_completion_tokens").is_none());
        assert_eq!(
            held["response_format"],
            json!({"type": "json_schema", "json_schema": {
                "name": "answer", "strict": true, "schema": {"type": "object"},
            }})
        );
        assert_eq!(held["messages"], again["messages"], "the prompt is the same");
    }

    fn chat(message: &str, finish: &str) -> String {
        format!(
            r#"{{"id":"c","object":"chat.completion","choices":[{{"index":0,"message":{message},"logprobs":null,"finish_reason":{finish}}}],"usage":{{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15,"prompt_tokens_details":{{"cached_tokens":8}}}}}}"#
        )
    }

    #[test]
    fn recorded_replies() {
        let said = r#"{"role":"assistant","content":"hi","refusal":null}"#;
        let calls = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function"}]}"#;
        let cases = [
            (said, r#""stop""#, "hi", Finish::Complete),
            (said, r#""eos_token""#, "hi", Finish::Complete),
            (said, r#""EOS""#, "hi", Finish::Complete),
            (said, r#""stop_sequence""#, "hi", Finish::Complete),
            (said, r#""length""#, "hi", Finish::Length),
            (
                r#"{"content":"hi","reasoning":"hm","reasoning_content":"h"}"#,
                r#""stop""#,
                "hi",
                Finish::Complete,
            ),
            (said, r#""content_filter""#, "hi", Finish::Refusal),
            (r#"{"content":null,"refusal":"I will not"}"#, r#""stop""#, "I will not", Finish::Refusal),
            (calls, r#""tool_calls""#, "", Finish::ToolCall),
            (calls, r#""stop""#, "", Finish::ToolCall),
            (r#"{"content":"hi","tool_calls":[]}"#, r#""stop""#, "hi", Finish::Complete),
            (
                r#"{"content":"hi","tool_calls":null,"function_call":null}"#,
                r#""stop""#,
                "hi",
                Finish::Complete,
            ),
            (r#"{"content":"","function_call":{"name":"f"}}"#, r#""stop""#, "", Finish::ToolCall),
            (r#"{"content":null}"#, r#""stop""#, "", Finish::Complete),
            (r#"{"role":"assistant"}"#, r#""stop""#, "", Finish::Complete),
            (r#"{"content":""}"#, r#""stop""#, "", Finish::Complete),
            (r#"{"content":"","reasoning":"hm"}"#, r#""stop""#, "", Finish::Thinking),
            (r#"{"content":"","reasoning":""}"#, r#""stop""#, "", Finish::Complete),
            (
                r#"{"content":[{"type":"text","text":"a"},{"type":"x"},{"type":"text","text":"b"}]}"#,
                r#""stop""#,
                "ab",
                Finish::Complete,
            ),
            (r#"{"content":"hi","reasoning_content":"hm"}"#, r#""stop""#, "hi", Finish::Complete),
        ];
        let usage = Some(TokenUsage { input: 12, output: 3, cached: 8, ..TokenUsage::default() });
        for (message, reason, text, finish) in cases {
            let reply = Reply { text: text.to_owned(), finish, usage, ..Reply::default() };
            assert_eq!(
                ApiStyle::OpenAi.decode(chat(message, reason).as_bytes()),
                Ok(reply),
                "{message} {reason}"
            );
        }
    }

    fn streamed(events: &[&str]) -> Result<Reply, DecodeError> {
        let mut streamed = ApiStyle::OpenAi.streamed();
        for event in events {
            streamed.event(event.as_bytes())?;
        }
        streamed.end()
    }

    #[test]
    fn recorded_streams() {
        let start = r#"{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"finish_reason":null}],"usage":null}"#;
        let hel = r#"{"choices":[{"index":0,"delta":{"content":"hel"},"finish_reason":null}]}"#;
        let lo = r#"{"choices":[{"index":0,"delta":{"content":"lo"}}]}"#;
        let stop = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
        let length = r#"{"choices":[{"delta":null,"finish_reason":"length"}]}"#;
        let refuses = r#"{"choices":[{"delta":{"refusal":"no"},"finish_reason":null}]}"#;
        let calls =
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":""}}]}}]}"#;
        let counted = r#"{"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":8}}}"#;
        let usage = Some(TokenUsage { input: 12, output: 3, cached: 8, ..TokenUsage::default() });
        let reply = |text: &str, finish, usage| {
            Ok(Reply { text: text.to_owned(), finish, usage, ..Reply::default() })
        };
        assert_eq!(
            streamed(&[start, hel, lo, stop, counted, "[DONE]"]),
            reply("hello", Finish::Complete, usage)
        );
        assert_eq!(streamed(&[start, hel, lo, stop]), reply("hello", Finish::Complete, None));
        assert_eq!(streamed(&[hel, length, counted]), reply("hel", Finish::Length, usage));
        assert_eq!(streamed(&[refuses, stop, " [DONE] "]), reply("no", Finish::Refusal, None));
        assert_eq!(streamed(&[calls, stop]), reply("", Finish::ToolCall, None));
        let whole = r#"{"choices":[{"index":0,"delta":{"content":"{\"vote\": \"a\"}"}}]}"#;
        let fenced = r#"{"choices":[{"delta":{"content":"```yaml\nvote: a\n```"}}]}"#;
        for (text, events) in [
            ("hel", &[start, hel, "null", "", r#"{"choices":null,"usage":null}"#, "[DONE]"][..]),
            ("{\"vote\": \"a\"}", &[whole]),
            ("```yaml\nvote: a\n```", &[fenced]),
        ] {
            assert_eq!(streamed(events), reply(text, Finish::Complete, None));
        }
        for broken in [&[start, hel, lo][..], &[], &[counted, "[DONE]"], &[counted]] {
            let told = streamed(broken).expect_err("no end");
            assert_eq!(
                (told.reason.as_str(), told.status),
                ("the reply broke off before its end", Some(502))
            );
        }
        let error = r#"{"error":{"message":"secret","type":"server_error"}}"#;
        assert_eq!(streamed(&[hel, error]).expect_err("an error").status, Some(500));
        let second = r#"{"choices":[{"index":1,"delta":{"content":"secret"}}]}"#;
        for odd in [second, "secret", "{"] {
            let told = streamed(&[hel, odd]).expect_err(odd);
            assert!(!told.reason.contains("secret") && !told.reason.contains("hel"), "{}", told.reason);
        }
    }

    #[test]
    fn recorded_nonsense_is_described_and_never_quoted() {
        let said = r#"{"content":"secret"}"#;
        let unknown = chat(said, r#""secret""#);
        let none = chat(said, "null");
        let surrogate = chat(r#"{"content":"secret \ud800"}"#, r#""stop""#);
        let number = chat(r#"{"content":7}"#, r#""stop""#);
        let two = r#"{"choices":[{"message":{"content":"secret"},"finish_reason":"stop"},{"message":{"content":"secret"},"finish_reason":"stop"}]}"#;
        let cases = [
            (unknown.as_str(), "ended for a reason unknown here"),
            (none.as_str(), "does not say why it ended"),
            (surrogate.as_str(), "is not JSON (line 1"),
            (number.as_str(), "content is no text"),
            (two, "more than one choice"),
            (r#"{"choices":[]}"#, "does not say why it ended"),
            (r#"{"secret":1}"#, "does not say why it ended"),
            (r#"{"choices":"secret"}"#, "does not say why it ended"),
            (r#"["secret"]"#, "does not say why it ended"),
            (
                r#"{"error":{"message":"secret","type":"server_error"}}"#,
                "an error `server_error` under status 200",
            ),
        ];
        for (body, expected) in cases {
            let reason = ApiStyle::OpenAi.decode(body.as_bytes()).expect_err(body).reason;
            assert!(reason.contains(expected) && !reason.contains("secret"), "{body}: {reason}");
        }
    }

    #[test]
    fn usage_needs_input_and_output_tokens() {
        assert_eq!(
            with_cost(&json!({"prompt_tokens": 1, "completion_tokens": 2})).map(|u| u.cached),
            Some(0)
        );
        let thought = with_cost(&json!({"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 309}));
        assert_eq!(thought.map(|u| (u.output, u.thinking)), Some((304, 297)), "counted in the total alone");
        for odd in [json!(null), json!({}), json!({"prompt_tokens": 1}), json!({"prompt_tokens": -1})] {
            assert_eq!(with_cost(&odd), None, "{odd}");
        }
    }

    fn cost(more: &str) -> Option<u64> {
        let told = format!(r#"{{"prompt_tokens":8,"completion_tokens":11,"total_tokens":19{more}}}"#);
        with_cost(&serde_json::from_str(&told).expect("JSON")).expect("tokens").cost_nano_usd
    }

    #[test]
    fn reported_gateway_cost_is_used() {
        let fee = r#","is_byok":true,"cost_details":{"upstream_inference_cost":0.5}"#;
        assert_eq!(cost(r#","cost":0.00078"#), Some(780_000));
        assert_eq!(cost(&format!(r#","cost":0.025{fee}"#)), Some(525_000_000), "the user's own key pays too");
        assert_eq!(cost(&format!(r#","cost":0.5{}"#, fee.replace("true", "false"))), Some(500_000_000));
        assert_eq!([cost(""), cost(r#","cost":null"#), cost(r#","cost":-1"#)], [None; 3]);
        assert_eq!(cost(r#","cost":{"total_cost":1}"#), None);
    }
}
