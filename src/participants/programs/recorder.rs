//! Loopback server that imitates a model service and records requests.
//!
//! Supports Anthropic Messages, `OpenAI` Chat Completions and Responses, complete or streamed. As a proxy it
//! refuses other hosts. It keeps no headers, so no key and no cookie.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::participants::lock;

pub(super) const ANSWER: &str = "recorded";
/// Limit of a request body, in bytes.
const MOST_BODY: usize = 64 * 1024 * 1024;

/// Bodies of requests to a model, in order; null for one that is not JSON.
type SharedRecording = Arc<Mutex<Vec<Value>>>;

/// Running recorder; stops when it is dropped.
pub(super) struct Recorder {
    address: SocketAddr,
    recording: SharedRecording,
    serving: JoinHandle<()>,
}

impl Recorder {
    pub(super) async fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let (address, recording) = (listener.local_addr()?, SharedRecording::default());
        let service = Router::new().fallback(answer).with_state((address, Arc::clone(&recording)));
        let serving = tokio::spawn(async move { drop(axum::serve(listener, service).await) });
        Ok(Self { address, recording, serving })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn requests(&self) -> Vec<Value> {
        lock(&self.recording).clone()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn answer(State((own, kept)): State<(SocketAddr, SharedRecording)>, request: Request) -> Response {
    let (head, body) = request.into_parts();
    // Requests to other hosts arrive here because the recorder is also the proxy.
    if head.uri.authority().is_some_and(|host| host.as_str() != own.to_string()) {
        return StatusCode::FORBIDDEN.into_response();
    }
    let Ok(body) = to_bytes(body, MOST_BODY).await else { return StatusCode::BAD_REQUEST.into_response() };
    let path = head.uri.path();
    let make: fn(&Value) -> (Value, Vec<Value>) = match path.rsplit('/').next() {
        Some("messages") => messages,
        Some("completions") => completions,
        Some("responses") => responses,
        _ => {
            let none = json!({"error": {"type": "not_found_error", "message": "nothing is here"}});
            return (StatusCode::NOT_FOUND, axum::Json(none)).into_response();
        }
    };
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (whole, events) = make(&request);
    let is_stream = request["stream"] == true;
    lock(&kept).push(request);
    if !is_stream {
        return axum::Json(whole).into_response();
    }
    let event = |event: &Value| match event["type"].as_str() {
        Some(name) => format!("event: {name}\ndata: {event}\n\n"),
        None if event.is_null() => "data: [DONE]\n\n".to_owned(),
        None => format!("data: {event}\n\n"),
    };
    let events = events.iter().map(event).collect::<String>();
    ([(CONTENT_TYPE, "text/event-stream")], events).into_response()
}

fn messages(request: &Value) -> (Value, Vec<Value>) {
    let message = |content: Value, stop: Value| {
        json!({"id": "msg_1", "type": "message", "role": "assistant", "model": request["model"], "content": content,
               "stop_reason": stop, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": 1}})
    };
    let events = vec![
        json!({"type": "message_start", "message": message(json!([]), Value::Null)}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": ANSWER}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null},
               "usage": {"output_tokens": 1}}),
        json!({"type": "message_stop"}),
    ];
    (message(json!([{"type": "text", "text": ANSWER}]), json!("end_turn")), events)
}

fn completions(request: &Value) -> (Value, Vec<Value>) {
    let chunk = |name: &str, part: Value, finish: Value| {
        let choice = json!({"index": 0, name: part, "finish_reason": finish});
        json!({"id": "c_1", "object": "chat.completion.chunk", "created": 0, "model": request["model"],
               "choices": [choice], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}})
    };
    let said = json!({"role": "assistant", "content": ANSWER});
    let events = vec![
        chunk("delta", said.clone(), Value::Null),
        chunk("delta", json!({}), json!("stop")),
        Value::Null,
    ];
    let mut whole = chunk("message", said, json!("stop"));
    whole["object"] = json!("chat.completion");
    (whole, events)
}

fn responses(request: &Value) -> (Value, Vec<Value>) {
    let item = json!({"type": "message", "id": "i_1", "status": "completed", "role": "assistant",
                      "content": [{"type": "output_text", "text": ANSWER, "annotations": []}]});
    let whole = json!({"id": "r_1", "object": "response", "created_at": 0, "status": "completed",
                       "model": request["model"], "output": [item], "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}});
    let mut begun = item.clone();
    (begun["status"], begun["content"]) = (json!("in_progress"), json!([]));
    let part = |name: &str, key: &str, value: Value| json!({"type": name, "item_id": "i_1", "output_index": 0, "content_index": 0, key: value});
    let created = json!({"id": "r_1", "object": "response", "created_at": 0, "status": "in_progress",
                         "model": request["model"], "output": []});
    let events = vec![
        json!({"type": "response.created", "response": created}),
        json!({"type": "response.output_item.added", "output_index": 0, "item": begun}),
        part(
            "response.content_part.added",
            "part",
            json!({"type": "output_text", "text": "", "annotations": []}),
        ),
        part("response.output_text.delta", "delta", json!(ANSWER)),
        part("response.output_text.done", "text", json!(ANSWER)),
        part("response.content_part.done", "part", item["content"][0].clone()),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": whole}),
    ];
    (whole, events)
}
