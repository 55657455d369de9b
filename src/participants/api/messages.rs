//! Messages: the API style of Anthropic.
//!
//! Pure. A request never has a `tools` field, nor a seed, which this style does not support. A reply is accepted
//! only with a known stop reason. Thinking blocks are not part of the text.

use serde_json::{Value, json};

use super::{DecodeError, PLACE, ReplyStream, RequestOptions, items, parse, schema, usage, without_nulls};
use crate::participants::{Prompt, SeatRequest, TokenUsage};
use crate::tokens::estimated_tokens;
use crate::workflow::Effort;

/// Returns the request body. If the shared part is long enough to be cached, the snapshot is a separate block
/// with a cache mark. The service then caches everything up to the mark for all seats.
pub(super) fn body(ask: &SeatRequest, options: RequestOptions) -> Value {
    let marked = json!({"type": "text", "text": PLACE, "cache_control": {"type": "ephemeral"}});
    let rest = json!({"type": "text", "text": PLACE});
    let content = if is_marked(&ask.prompt) { json!([marked, rest]) } else { PLACE.into() };
    let config = without_nulls(json!({
        "effort": options.effort.map(Effort::word),
        "format": schema(ask, options).map(|schema| json!({"type": "json_schema", "schema": schema})),
    }));
    without_nulls(json!({
        "system": Some(&*ask.prompt.rules).filter(|rules| !rules.is_empty()),
        "messages": [{"role": "user", "content": content}],
        "model": ask.model,
        "max_tokens": options.max_output_tokens,
        "temperature": options.temperature,
        "output_config": Some(config).filter(|config| *config != json!({})),
        "stream": options.is_streamed(),
    }))
}

/// Returns true if the shared part gets a cache mark. The service caches nothing below 1,024 tokens, and rejects
/// the empty block of a prompt without a tail.
pub(super) fn is_marked(prompt: &Prompt) -> bool {
    !prompt.tail.is_empty() && estimated_tokens(&prompt.rules) + estimated_tokens(&prompt.snapshot) >= 1024
}

/// Adds a complete reply, or one event of a stream.
pub(super) fn event(reply: &mut ReplyStream, data: &[u8]) -> Result<(), DecodeError> {
    let event = parse(data)?;
    let (message, delta) = (event.get("message").unwrap_or(&event), &event["delta"]);
    reply.is_done |= event["type"] == "message_stop";
    if !(message["content"].is_null() || message["content"].is_array()) {
        return Err(DecodeError::new("the reply's content is no list"));
    }
    for block in items(&message["content"]).chain(event.get("content_block")) {
        reply.called |= block["type"].as_str().is_some_and(|kind| kind.ends_with("tool_use"));
        reply.thought |= block["type"].as_str().is_some_and(|kind| kind.ends_with("thinking"));
        if block["type"] == "text" {
            reply.text.push_str(block["text"].as_str().unwrap_or_default());
        }
    }
    if delta["type"] == "text_delta" {
        reply.text.push_str(delta["text"].as_str().unwrap_or_default());
    }
    for (name, count) in message["usage"].as_object().into_iter().flatten() {
        if !count.is_null() {
            reply.counts.insert(name.clone(), count.clone());
        }
    }
    reply.usage = with_cache(&Value::Object(reply.counts.clone()));
    reply.served_by(&message["model"]);
    reply.ended_by(&message["stop_reason"]);
    reply.ended_by(&delta["stop_reason"]);
    Ok(())
}

/// Reads the usage. The service counts cache reads and writes apart from other input tokens.
fn with_cache(told: &Value) -> Option<TokenUsage> {
    let thinking = "/output_tokens_details/thinking_tokens";
    let usage = usage(told, ["/input_tokens", "/output_tokens", "/cache_read_input_tokens", thinking])?;
    let written = told["cache_creation_input_tokens"].as_u64().unwrap_or(0);
    Some(TokenUsage { input: usage.input.saturating_add(usage.cached).saturating_add(written), ..usage })
}

#[cfg(test)]
mod tests {
    use super::super::{ApiStream, ApiStyle, SchemaMode};
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

    #[test]
    fn head_and_tail_form_the_plain_request() {
        let mut ask = ask("rules \"q\" \\ é\n", "snap\u{1}shot 👩\u{2028}\n  ", "your_role: \"x\"\n");
        ask.again = Some("why \"so\"".to_owned());
        let body = |ask: &SeatRequest, limits| {
            let mut body = ApiStyle::Anthropic.head(ask);
            body.extend(ApiStyle::Anthropic.tail(ask, limits));
            serde_json::from_slice::<Value>(&body).expect("JSON")
        };
        let request = json!({
            "system": &*ask.prompt.rules,
            "messages": [{
                "role": "user",
                "content": format!("{}{}\nwhy \"so\"", ask.prompt.snapshot, ask.prompt.tail),
            }],
            "model": "a \"model\"",
            "max_tokens": 1024,
        });
        assert_eq!(body(&ask, LIMITS), request);
        ask.schema = Some(
            ReplySchema { is_strict: true, ..ReplySchema::from_schema(&json!({"type": "object"})) }.into(),
        );
        let warm = RequestOptions { temperature: Some(1.0), effort: Some(Effort::Max), ..LIMITS };
        let warm = body(&ask, warm);
        assert_eq!((&warm["temperature"], &warm["output_config"]), (&json!(1.0), &json!({"effort": "max"})));
        assert!(body(&ask, LIMITS).get("output_config").is_none(), "only where the service takes it");
        let held = body(&ask, RequestOptions { form: SchemaMode::BySchema, ..LIMITS });
        let format = json!({"type": "json_schema", "schema": {"type": "object"}});
        assert_eq!(held["output_config"], json!({"format": format}));
        assert_eq!(held["messages"], request["messages"], "the prompt is the same");
    }

    #[test]
    fn a_long_shared_part_is_marked_for_the_cache() {
        let snapshot = "word ".repeat(1100);
        let mut marked = ask("rules", &snapshot, "tail");
        let mut body = ApiStyle::Anthropic.head(&marked);
        body.extend(ApiStyle::Anthropic.tail(&marked, LIMITS));
        let body: Value = serde_json::from_slice(&body).expect("JSON");
        let content = json!([
            {"type": "text", "text": snapshot, "cache_control": {"type": "ephemeral"}},
            {"type": "text", "text": "tail"},
        ]);
        assert_eq!(body["messages"][0]["content"], content);
        marked.prompt.tail.clear();
        let mut body = ApiStyle::Anthropic.head(&marked);
        body.extend(ApiStyle::Anthropic.tail(&marked, LIMITS));
        let body: Value = serde_json::from_slice(&body).expect("JSON");
        assert_eq!(body["messages"][0]["content"], snapshot);
    }

    #[test]
    fn recorded_streams() {
        let streamed = |events: &[&str]| {
            let mut streamed = ApiStyle::Anthropic.streamed();
            events.iter().try_for_each(|event| streamed.event(event.as_bytes()))?;
            streamed.end()
        };
        let start = r#"{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"stop_reason":null,"usage":{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":100,"output_tokens":1}}}"#;
        let thinks =
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}"#;
        let thought =
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#;
        let says = r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}"#;
        let hel = r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"hel"}}"#;
        let lo = r#"{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"lo"}}"#;
        let ends = r#"{"type":"content_block_stop","index":1}"#;
        let stops = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":4}}"#;
        let calls = r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}"#;
        let (ping, stop) = (r#"{"type":"ping"}"#, r#"{"type":"message_stop"}"#);
        let usage = Some(TokenUsage { input: 115, output: 4, cached: 100, ..TokenUsage::default() });
        let reply =
            |text: &str, finish| Ok(Reply { text: text.to_owned(), finish, usage, ..Reply::default() });
        let whole = [start, thinks, thought, ping, says, hel, lo, ends, stops, stop];
        assert_eq!(streamed(&whole), reply("hello", Finish::Complete));
        assert_eq!(streamed(&[start, says, hel, calls, stops]), reply("hel", Finish::ToolCall));
        let broken = streamed(&whole[..8]).expect_err("no end");
        assert_eq!(broken, DecodeError::broken_off());
        let error = r#"{"type":"error","error":{"type":"overloaded_error","message":"secret"}}"#;
        let told = streamed(&[start, hel, error]).expect_err("an error");
        assert_eq!(told.status, Some(529));
        assert!(!told.reason.contains("secret"), "{}", told.reason);
    }

    fn message(content: &str, stop: &str) -> String {
        format!(
            r#"{{"id":"m","type":"message","role":"assistant","model":"x","content":{content},"stop_reason":{stop},"stop_sequence":null,"usage":{{"input_tokens":10,"cache_creation_input_tokens":5,"cache_read_input_tokens":100,"output_tokens":4}}}}"#
        )
    }

    #[test]
    fn recorded_replies() {
        let said = r#"[{"type":"text","text":"hi"}]"#;
        let cases = [
            (said, r#""end_turn""#, "hi", Finish::Complete),
            (said, r#""stop_sequence""#, "hi", Finish::Complete),
            (said, r#""max_tokens""#, "hi", Finish::Length),
            (said, r#""model_context_window_exceeded""#, "hi", Finish::Length),
            (said, r#""refusal""#, "hi", Finish::Refusal),
            (said, r#""tool_use""#, "hi", Finish::ToolCall),
            (said, r#""pause_turn""#, "hi", Finish::ToolCall),
            (
                r#"[{"type":"tool_use","id":"1","name":"f","input":{}}]"#,
                r#""end_turn""#,
                "",
                Finish::ToolCall,
            ),
            (
                r#"[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"a"},{"type":"redacted_thinking","data":"d"},{"type":"text","text":"b"}]"#,
                r#""end_turn""#,
                "ab",
                Finish::Complete,
            ),
            (r#"[{"type":"redacted_thinking","data":"d"}]"#, r#""end_turn""#, "", Finish::Thinking),
            ("[]", r#""end_turn""#, "", Finish::Complete),
            ("null", r#""end_turn""#, "", Finish::Complete),
            (r#"[{"type":"text","text":""}]"#, r#""end_turn""#, "", Finish::Complete),
        ];
        let usage = Some(TokenUsage { input: 115, output: 4, cached: 100, ..TokenUsage::default() });
        for (content, stop, text, finish) in cases {
            let served = Some("x".to_owned());
            let reply = Reply { text: text.to_owned(), served, finish, usage, ..Reply::default() };
            assert_eq!(
                ApiStyle::Anthropic.decode(message(content, stop).as_bytes()),
                Ok(reply),
                "{content} {stop}"
            );
        }
    }

    #[test]
    fn recorded_nonsense_is_described_and_never_quoted() {
        let said = r#"[{"type":"text","text":"secret"}]"#;
        let unknown = message(said, r#""secret""#);
        let none = message(said, "null");
        let surrogate = message(r#"[{"type":"text","text":"secret \udc00"}]"#, r#""end_turn""#);
        let plain = message(r#""secret""#, r#""end_turn""#);
        let cases = [
            (unknown.as_str(), "ended for a reason unknown here"),
            (none.as_str(), "does not say why it ended"),
            (surrogate.as_str(), "is not JSON (line 1"),
            (plain.as_str(), "content is no list"),
            (r#"{"secret":1}"#, "does not say why it ended"),
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"secret"}}"#,
                "an error `overloaded_error` under status 200",
            ),
        ];
        for (body, expected) in cases {
            let reason = ApiStyle::Anthropic.decode(body.as_bytes()).expect_err(body).reason;
            assert!(reason.contains(expected) && !reason.contains("secret"), "{body}: {reason}");
        }
    }
}
