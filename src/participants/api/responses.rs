//! The Responses dialect: `OpenAI`'s form for models that reason.
//!
//! Pure. A request never has a `tools` field and asks that nothing be stored; a reply is taken only
//! when it says how it ended. What a model reasoned is no part of the text.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{ApiStream, DecodeError, PLACE, RequestOptions, end_without_reason, named_schema, parse, put};
use crate::participants::{Finish, Reply, SeatRequest, TokenUsage};

pub(super) fn body(ask: &SeatRequest, options: RequestOptions) -> Value {
    let mut body = json!({});
    put(&mut body, "instructions", Some(&*ask.prompt.rules).filter(|rules| !rules.is_empty()));
    put(&mut body, "input", Some(PLACE));
    put(&mut body, "model", Some(&*ask.model));
    put(&mut body, "store", Some(false));
    put(&mut body, "max_output_tokens", options.max_output_tokens);
    put(&mut body, "temperature", options.temperature);
    put(&mut body, "reasoning", options.effort.map(|effort| json!({"effort": effort.name()})));
    if let Some(mut form) = named_schema(ask, options) {
        form["type"] = "json_schema".into();
        body["text"] = json!({"format": form});
    }
    put(&mut body, "stream", (options.stream != ApiStream::Off).then_some(true));
    body
}

#[derive(Deserialize)]
struct Response {
    status: Option<String>,
    incomplete_details: Option<Details>,
    #[serde(default)]
    output: Vec<OutputItem>,
    usage: Option<Value>,
    model: Option<String>,
}

#[derive(Deserialize)]
struct Details {
    reason: Option<String>,
}

#[derive(Deserialize)]
struct OutputItem {
    r#type: String,
    phase: Option<String>,
    content: Option<Vec<OutputContent>>,
}

#[derive(Deserialize)]
struct OutputContent {
    text: Option<String>,
    refusal: Option<String>,
}

pub(in crate::participants) fn decode(body: &[u8]) -> Result<Reply, DecodeError> {
    whole(parse(body)?)
}

fn whole(response: Response) -> Result<Reply, DecodeError> {
    let called = response.output.iter().any(|item| item.r#type.ends_with("_call"));
    let (mut text, mut refusal) = (String::new(), String::new());
    let messages = || response.output.iter().filter(|item| item.r#type == "message");
    // Commentary of a model is no part of its answer.
    let is_final = |item: &&OutputItem| item.phase.as_deref() == Some("final_answer");
    let has_final = messages().any(|item| is_final(&item));
    let is_answer =
        |item: &&OutputItem| is_final(item) || !has_final && item.phase.as_deref() != Some("commentary");
    for part in messages().filter(is_answer).flat_map(|item| item.content.iter().flatten()) {
        text.push_str(part.text.as_deref().unwrap_or_default());
        refusal.push_str(part.refusal.as_deref().unwrap_or_default());
    }
    let why = response.incomplete_details.and_then(|details| details.reason);
    let reason = if response.status.as_deref() == Some("incomplete") { why } else { response.status };
    let finish = match super::finish(reason.as_deref())? {
        Finish::Complete if called => Finish::ToolCall,
        Finish::Complete if text.is_empty() && !refusal.is_empty() => Finish::Refusal,
        finish => finish,
    };
    let text = if text.is_empty() { refusal } else { text };
    Ok(Reply {
        text,
        finish,
        usage: response.usage.as_ref().and_then(usage),
        served: response.model,
        ..Reply::default()
    })
}

fn usage(usage: &Value) -> Option<TokenUsage> {
    let count = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
    Some(TokenUsage {
        input: count("/input_tokens")?,
        output: count("/output_tokens")?,
        cached: count("/input_tokens_details/cached_tokens").unwrap_or(0),
        thinking: count("/output_tokens_details/reasoning_tokens").unwrap_or(0),
        ..TokenUsage::default()
    })
}

#[derive(Deserialize)]
struct ResponsesEvent {
    r#type: String,
    delta: Option<Value>,
    response: Option<Value>,
}

/// A reply that comes by events; the last one holds it whole.
#[derive(Default)]
pub(in crate::participants) struct ResponsesStream {
    /// The text that has come.
    pub text: String,
    is_marked: bool,
    last: Option<Vec<u8>>,
}

impl ResponsesStream {
    pub fn event(&mut self, data: &[u8]) -> Result<(), DecodeError> {
        if data.trim_ascii() == b"[DONE]" {
            self.is_marked = true;
            return Ok(());
        }
        let event: ResponsesEvent = parse(data)?;
        match (event.r#type.as_str(), event.response) {
            ("response.output_text.delta", _) => {
                self.text.push_str(event.delta.as_ref().and_then(Value::as_str).unwrap_or_default());
            }
            ("response.completed" | "response.incomplete" | "response.failed", Some(response)) => {
                self.last = Some(response.to_string().into_bytes());
            }
            // A failure outside a reply names its error in the event itself.
            ("error", _) => {
                let whole = [br#"{"error":"#, data, b"}"].concat();
                return Err(parse::<Value>(&whole).err().unwrap_or_else(DecodeError::broken_off));
            }
            _ => {}
        }
        Ok(())
    }

    pub fn is_done(&self) -> bool {
        self.last.is_some()
    }

    pub fn end(self) -> Result<Reply, DecodeError> {
        if let Some(last) = self.last {
            return decode(&last);
        }
        let finish = end_without_reason(&self.text, self.is_marked)?;
        Ok(Reply { text: self.text, finish, ..Reply::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ApiStyle, SchemaMode};
    use super::*;
    use crate::ballot::ReplySchema;
    use crate::participants::testing::ask;
    use crate::workflow::Effort;

    #[test]
    fn two_parts_are_the_request_a_plain_encoder_writes() {
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
        ask.schema = Some(ReplySchema::strict(&json!({"type": "object"})).into());
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
            assert_eq!(decode(body.as_bytes()), Ok(reply.clone()), "{body}");
            let mut streamed = ResponsesStream::default();
            streamed.event(br#"{"type":"response.created","response":{}}"#).expect("an event");
            streamed.event(br#"{"type":"response.output_text.delta","delta":"hi"}"#).expect("an event");
            assert!(!streamed.is_done() && streamed.text == "hi");
            let last = format!(r#"{{"type":"response.completed","response":{body}}}"#);
            streamed.event(last.as_bytes()).expect("an event");
            assert!(streamed.is_done());
            assert_eq!(streamed.end(), Ok(reply));
        }
        let failed = r#"{"status":"failed","error":{"code":"server_error","message":"secret"},"output":[]}"#;
        assert_eq!(decode(failed.as_bytes()).expect_err("failed").status, Some(500));
        assert_eq!(ResponsesStream::default().end(), Err(DecodeError::broken_off()));
        let error = br#"{"type":"error","code":"rate_limit_exceeded","message":"secret","param":null}"#;
        let told = ResponsesStream::default().event(error).expect_err("an error");
        assert_eq!(told.status, Some(429));
        assert!(!told.reason.contains("secret"), "{}", told.reason);
    }
}
