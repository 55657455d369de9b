//! The chat-completions dialect: `OpenAI` and all that are compatible with it.
//!
//! Pure. A request never has a `tools` field; a reply is taken only with one choice and a known end. What the text says is not looked at here.

use serde::Deserialize;
use serde_json::{Value, json};

use super::chat_usage::usage;
use super::{ApiStream, DecodeError, PLACE, RequestOptions, end_without_reason, named_schema, parse, put};
use crate::participants::{Finish, Reply, SeatRequest, TokenUsage};
use crate::workflow::Effort;

pub(super) fn body(ask: &SeatRequest, options: RequestOptions) -> Value {
    let system =
        (!ask.prompt.rules.is_empty()).then(|| json!({"role": "system", "content": &*ask.prompt.rules}));
    let messages: Vec<Value> =
        system.into_iter().chain([json!({"role": "user", "content": PLACE})]).collect();
    let mut body = json!({"messages": messages, "model": ask.model});
    let name = if options.completion_tokens { "max_completion_tokens" } else { "max_tokens" };
    put(&mut body, name, options.max_output_tokens);
    put(&mut body, "seed", options.seed);
    put(&mut body, "temperature", options.temperature);
    put(&mut body, "reasoning_effort", options.effort.map(Effort::name));
    let form = named_schema(ask, options);
    put(&mut body, "response_format", form.map(|form| json!({"type": "json_schema", "json_schema": form})));
    put(&mut body, "stream", (options.stream != ApiStream::Off).then_some(true));
    let is_counted = options.stream == ApiStream::WithUsage;
    put(&mut body, "stream_options", is_counted.then(|| json!({"include_usage": true})));
    body
}

/// A whole reply, or a piece of one.
#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<ChatChoice>>,
    usage: Option<Value>,
    model: Option<String>,
}

#[derive(Deserialize)]
struct ChatChoice {
    #[serde(default)]
    index: u64,
    #[serde(alias = "message")]
    delta: Option<ChatMessage>,
    finish_reason: Option<String>,
}

#[derive(Default, Deserialize)]
struct ChatMessage {
    content: Option<Value>,
    refusal: Option<Value>,
    tool_calls: Option<Value>,
    function_call: Option<Value>,
}

pub(in crate::participants) fn decode(body: &[u8]) -> Result<Reply, DecodeError> {
    let mut whole = ChatStream::default();
    whole.event(body)?;
    match whole.finish_reason {
        // It did not break off.
        None => super::finish(None).map(|_| Reply::default()),
        Some(_) => whole.end(),
    }
}

#[derive(Default)]
pub(in crate::participants) struct ChatStream {
    pub text: String,
    pub is_done: bool,
    calls: bool,
    refusal: String,
    finish_reason: Option<String>,
    usage: Option<TokenUsage>,
    served: Option<String>,
}

impl ChatStream {
    pub fn event(&mut self, data: &[u8]) -> Result<(), DecodeError> {
        if data.trim_ascii() == b"[DONE]" {
            self.is_done = true;
            return Ok(());
        }
        let chunk: Chunk = parse(data)?;
        self.usage = chunk.usage.as_ref().and_then(usage).or(self.usage);
        self.served = chunk.model.or(self.served.take());
        for (at, choice) in chunk.choices.into_iter().flatten().enumerate() {
            if at > 0 || choice.index > 0 {
                return Err(DecodeError::new("the reply has more than one choice"));
            }
            let delta = choice.delta.unwrap_or_default();
            self.text.push_str(&content(delta.content.unwrap_or_default())?);
            if let Some(Value::String(refusal)) = delta.refusal {
                self.refusal.push_str(&refusal);
            }
            let called =
                delta.tool_calls.is_some_and(|calls| calls.as_array().is_some_and(|calls| !calls.is_empty()));
            self.calls |= called || delta.function_call.is_some_and(|call| !call.is_null());
            self.finish_reason =
                choice.finish_reason.filter(|reason| !reason.is_empty()).or(self.finish_reason.take());
        }
        Ok(())
    }

    pub fn end(self) -> Result<Reply, DecodeError> {
        let finish = match self.finish_reason.as_deref() {
            None => end_without_reason(&self.text, self.is_done)?,
            reason => super::finish(reason)?,
        };
        let finish = match finish {
            Finish::Complete if self.calls => Finish::ToolCall,
            Finish::Complete if !self.refusal.is_empty() => Finish::Refusal,
            finish => finish,
        };
        let text = if self.text.is_empty() { self.refusal } else { self.text };
        Ok(Reply { text, served: self.served, finish, usage: self.usage, ..Reply::default() })
    }
}

fn content(content: Value) -> Result<String, DecodeError> {
    match content {
        Value::Null => Ok(String::new()),
        Value::String(text) => Ok(text),
        Value::Array(parts) => Ok(parts.iter().filter_map(|part| part.get("text")?.as_str()).collect()),
        _ => Err(DecodeError::new("the reply's content is no text")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ApiStyle, SchemaMode};
    use super::*;
    use crate::ballot::ReplySchema;
    use crate::participants::testing::ask;

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
    fn two_parts_are_the_request_a_plain_encoder_writes() {
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

        ask.schema = Some(ReplySchema::strict(&json!({"type": "object"})).into());
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
            assert_eq!(decode(chat(message, reason).as_bytes()), Ok(reply), "{message} {reason}");
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
        for odd in [second, "secret", "{", r#"{"choices":"secret"}"#] {
            let told = streamed(&[hel, odd]).expect_err(odd);
            assert!(!told.reason.contains("secret") && !told.reason.contains("hel"), "{}", told.reason);
        }
    }

    #[test]
    fn recorded_nonsense_is_named_and_never_quoted() {
        let said = r#"{"content":"secret"}"#;
        let unknown = chat(said, r#""secret""#);
        let none = chat(said, "null");
        let surrogate = chat(r#"{"content":"secret \ud800"}"#, r#""stop""#);
        let twice = chat(r#"{"content":"secret","content":"other"}"#, r#""stop""#);
        let number = chat(r#"{"content":7}"#, r#""stop""#);
        let two = r#"{"choices":[{"message":{"content":"secret"},"finish_reason":"stop"},{"message":{"content":"secret"},"finish_reason":"stop"}]}"#;
        let cases = [
            (unknown.as_str(), "ended for a reason unknown here"),
            (none.as_str(), "does not say why it ended"),
            (surrogate.as_str(), "is not JSON (line 1"),
            (twice.as_str(), "has not the form of this dialect"),
            (number.as_str(), "content is no text"),
            (two, "more than one choice"),
            (r#"{"choices":[]}"#, "does not say why it ended"),
            (r#"{"secret":1}"#, "does not say why it ended"),
            (r#"{"choices":"secret"}"#, "has not the form of this dialect"),
            (r#"["secret"]"#, "has not the form of this dialect"),
            (
                r#"{"error":{"message":"secret","type":"server_error"}}"#,
                "an error `server_error` under status 200",
            ),
        ];
        for (body, expected) in cases {
            let reason = decode(body.as_bytes()).expect_err(body).reason;
            assert!(reason.contains(expected) && !reason.contains("secret"), "{body}: {reason}");
        }
    }

    #[test]
    fn usage_is_told_whole_or_not_at_all() {
        assert_eq!(usage(&json!({"prompt_tokens": 1, "completion_tokens": 2})).map(|u| u.cached), Some(0));
        let thought = usage(&json!({"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 309}));
        assert_eq!(thought.map(|u| (u.output, u.thinking)), Some((304, 297)), "counted in the total alone");
        for odd in [json!(null), json!({}), json!({"prompt_tokens": 1}), json!({"prompt_tokens": -1})] {
            assert_eq!(usage(&odd), None, "{odd}");
        }
    }
}
