//! Responses: `OpenAI`'s API style for reasoning models.
//!
//! Pure. A request never has a `tools` field and asks that nothing be stored. A reply is accepted only with a
//! known status. Reasoning is not part of the text.

use serde_json::{Value, json};

use super::{
    DecodeError, PLACE, ReplyStream, RequestOptions, finish, items, named_schema, parse, refuse_error, usage,
    without_nulls,
};
use crate::participants::SeatRequest;

pub(super) fn body(ask: &SeatRequest, options: RequestOptions) -> Value {
    let form = named_schema(ask, options).map(|mut form| {
        form["type"] = "json_schema".into();
        json!({"format": form})
    });
    without_nulls(json!({
        "instructions": Some(&*ask.prompt.rules).filter(|rules| !rules.is_empty()),
        "input": PLACE,
        "model": ask.model,
        "store": false,
        "max_output_tokens": options.max_output_tokens,
        "temperature": options.temperature,
        "reasoning": options.effort.map(|effort| json!({"effort": effort.word()})),
        "text": form,
        "stream": options.is_streamed(),
    }))
}

/// Adds a complete reply, or one event of a stream; the last event contains the complete reply.
pub(super) fn event(reply: &mut ReplyStream, data: &[u8]) -> Result<(), DecodeError> {
    let event = parse(data)?;
    match event["type"].as_str() {
        None => whole(reply, &event),
        Some("response.completed" | "response.incomplete" | "response.failed") => {
            refuse_error(&event["response"])?;
            whole(reply, &event["response"])
        }
        Some("response.output_text.delta") => {
            reply.text.push_str(event["delta"].as_str().unwrap_or_default());
            Ok(())
        }
        // An error outside a reply is the event itself.
        Some("error") => refuse_error(&json!({ "error": event })),
        Some(_) => Ok(()),
    }
}

fn whole(reply: &mut ReplyStream, response: &Value) -> Result<(), DecodeError> {
    let messages = || items(&response["output"]).filter(|item| item["type"] == "message");
    reply.thought |= items(&response["output"]).any(|item| item["type"] == "reasoning");
    // Commentary is not part of the answer.
    let has_final = messages().any(|item| item["phase"] == "final_answer");
    let is_answer = |item: &&Value| {
        if has_final { item["phase"] == "final_answer" } else { item["phase"] != "commentary" }
    };
    let texts = |key: &str| -> String {
        let parts = messages().filter(is_answer).flat_map(|item| items(&item["content"]));
        parts.filter_map(|part| part[key].as_str()).collect()
    };
    reply.text = texts("text");
    reply.refusal = if reply.text.is_empty() { texts("refusal") } else { String::new() };
    let is_call = |item: &Value| item["type"].as_str().is_some_and(|kind| kind.ends_with("_call"));
    reply.called = items(&response["output"]).any(is_call);
    let is_cut = response["status"] == "incomplete";
    reply.ended_by(if is_cut { &response["incomplete_details"]["reason"] } else { &response["status"] });
    reply.usage = usage(
        &response["usage"],
        [
            "/input_tokens",
            "/output_tokens",
            "/input_tokens_details/cached_tokens",
            "/output_tokens_details/reasoning_tokens",
        ],
    );
    reply.served_by(&response["model"]);
    reply.is_done = true;
    finish(reply.reason.as_deref()).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::super::{ApiStream, ApiStyle, SchemaMode};
    use super::*;
    use crate::ballot::ReplySchema;
    use crate::participants::testing::ask;
    use crate::participants::{Finish, Reply, TokenUsage};
    use crate::workflow::Effort;

    #[test]
    fn head_and_tail_form_the_plain_request() {
        let mut ask = ask("rules \"q\"\n", "snap\u{1}shot é\n  ", "your_role: \"x\"\n");
        let limits = RequestOptions {
            max_output_tokens: Some(1024),
            completion_tokens: false,
            stream: ApiStream::WithUsage,
            form: SchemaMode::InWords,
            seed: None,
            temperature: None,
            effort: None,
        };
        let body = |ask: &SeatRequest, limits| {
            let mut body = ApiStyle::Responses.head(ask);
            body.extend(ApiStyle::Responses.tail(ask, limits));
            serde_json::from_slice::<Value>(&body).expect("JSON")
        };
        let mut request = json!({
            "instructions": &*ask.prompt.rules,
            "input": format!("{}{}", ask.prompt.snapshot, ask.prompt.tail),
            "model": "a \"model\"",
            "max_output_tokens": 1024,
            "store": false,
            "stream": true,
        });
        assert_eq!(body(&ask, limits), request);
        ask.schema = Some(
            ReplySchema { is_strict: true, ..ReplySchema::from_schema(&json!({"type": "object"})) }.into(),
        );
        let limits = RequestOptions { temperature: Some(0.5), effort: Some(Effort::High), ..limits };
        request["temperature"] = 0.5.into();
        request["reasoning"] = json!({"effort": "high"});
        assert_eq!(body(&ask, limits), request, "no schema unless the service takes one");
        request["text"] = json!({"format": {
            "type": "json_schema", "name": "answer", "strict": true, "schema": {"type": "object"},
        }});
        assert_eq!(body(&ask, RequestOptions { form: SchemaMode::BySchema, ..limits }), request);
    }

    fn response(status: &str, output: &str, why: &str) -> String {
        format!(
            r#"{{"id":"r","object":"response","status":"{status}","error":null,"incomplete_details":{why},"output":{output},"usage":{{"input_tokens":12,"input_tokens_details":{{"cached_tokens":8}},"output_tokens":3,"output_tokens_details":{{"reasoning_tokens":1}}}}}}"#
        )
    }

    #[test]
    fn recorded_replies() {
        let said = r#"[{"type":"reasoning","summary":[]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi","annotations":[]}]}]"#;
        let aloud = r#"[{"type":"message","phase":"commentary","content":[{"text":"hm"}]},{"type":"message","phase":"final_answer","content":[{"text":"hi"}]}]"#;
        let refused = r#"[{"type":"message","content":[{"type":"refusal","refusal":"no"}]}]"#;
        let called = r#"[{"type":"function_call","name":"f","arguments":"{}"}]"#;
        let usage =
            Some(TokenUsage { input: 12, output: 3, cached: 8, thinking: 1, ..TokenUsage::default() });
        for (body, text, finish) in [
            (response("completed", said, "null"), "hi", Finish::Complete),
            (response("completed", aloud, "null"), "hi", Finish::Complete),
            (response("completed", refused, "null"), "no", Finish::Refusal),
            (response("completed", called, "null"), "", Finish::ToolCall),
            (response("incomplete", said, r#"{"reason":"max_output_tokens"}"#), "hi", Finish::Length),
            (response("incomplete", "[]", r#"{"reason":"content_filter"}"#), "", Finish::Refusal),
        ] {
            let reply = Reply { text: text.to_owned(), finish, usage, ..Reply::default() };
            assert_eq!(ApiStyle::Responses.decode(body.as_bytes()), Ok(reply.clone()), "{body}");
            let mut streamed = ApiStyle::Responses.streamed();
            streamed.event(br#"{"type":"response.created","response":{}}"#).expect("an event");
            streamed.event(br#"{"type":"response.output_text.delta","delta":"hi"}"#).expect("an event");
            assert!(!streamed.is_done && streamed.text == "hi");
            let last = format!(r#"{{"type":"response.completed","response":{body}}}"#);
            streamed.event(last.as_bytes()).expect("an event");
            assert!(streamed.is_done);
            assert_eq!(streamed.end(), Ok(reply));
        }
        let failed = r#"{"status":"failed","error":{"code":"server_error","message":"secret"},"output":[]}"#;
        assert_eq!(ApiStyle::Responses.decode(failed.as_bytes()).expect_err("failed").status, Some(500));
        assert_eq!(ApiStyle::Responses.streamed().end(), Err(DecodeError::broken_off()));
        let error = br#"{"type":"error","code":"rate_limit_exceeded","message":"secret","param":null}"#;
        let told = ApiStyle::Responses.streamed().event(error).expect_err("an error");
        assert_eq!(told.status, Some(429));
        assert!(!told.reason.contains("secret"), "{}", told.reason);
    }
}
