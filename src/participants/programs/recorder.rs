//! A recorder on loopback: it answers as a service would, and keeps what it was asked.
//!
//! It speaks Anthropic Messages, `OpenAI` Chat Completions and Responses, and Gemini's own API, whole or
//! streamed, and takes note of other hosts where it is the proxy. It keeps no header, so that no key and no cookie is kept.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

pub(super) const ANSWER: &str = "recorded";
/// A longer line of a request's head is cut, in bytes.
const MOST_LINE: u64 = 64 * 1024;
/// A larger body is not read, in bytes.
const MOST_BODY: usize = 64 * 1024 * 1024;

#[derive(Debug, Clone, Default)]
pub(super) struct Recording {
    /// The bodies of requests to a model, in order; null for one that is no JSON.
    pub(super) requests: Vec<Value>,
    /// Other hosts that it was asked to connect to.
    pub(super) hosts: Vec<String>,
}

/// A recorder at work until it is dropped.
pub(super) struct Recorder {
    address: SocketAddr,
    recording: Arc<Mutex<Recording>>,
    serving: JoinHandle<()>,
}

struct Head {
    method: String,
    target: String,
    length: usize,
    is_chunked: bool,
}

impl Recorder {
    pub(super) async fn start() -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let (address, recording) = (listener.local_addr()?, Arc::new(Mutex::new(Recording::default())));
        let kept = Arc::clone(&recording);
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let kept = Arc::clone(&kept);
                // A connection that breaks off has no more to tell.
                tokio::spawn(async move { drop(serve(stream, address, &kept).await) });
            }
        });
        Ok(Self { address, recording, serving })
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns what it was asked so far.
    pub(super) fn recording(&self) -> Recording {
        self.recording.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(stream: TcpStream, own: SocketAddr, kept: &Mutex<Recording>) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    while let Some(head) = head(&mut stream).await? {
        let body = body(&mut stream, &head).await?;
        let is_other =
            head.target.strip_prefix("http://").is_some_and(|rest| !rest.starts_with(&own.to_string()));
        let answer = if head.method == "CONNECT" || is_other {
            let host = head.target.trim_start_matches("http://").split('/').next().unwrap_or_default();
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            if !kept.hosts.iter().any(|known| known == host) {
                kept.hosts.push(host.to_owned());
            }
            framed("403 Forbidden", "text/plain", "")
        } else {
            answer(&head, &body, kept)
        };
        stream.get_mut().write_all(answer.as_bytes()).await?;
    }
    Ok(())
}

async fn line(stream: &mut BufReader<TcpStream>) -> std::io::Result<String> {
    let mut line = Vec::new();
    stream.take(MOST_LINE).read_until(b'\n', &mut line).await?;
    Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
}

/// Reads the head of a request; none where no more comes.
async fn head(stream: &mut BufReader<TcpStream>) -> std::io::Result<Option<Head>> {
    let first = line(stream).await?;
    let mut words = first.split(' ').map(str::to_owned);
    let (Some(method), Some(target)) = (words.next(), words.next()) else { return Ok(None) };
    let mut head = Head { method, target, length: 0, is_chunked: false };
    loop {
        let line = line(stream).await?;
        let Some((name, value)) = line.split_once(':') else { return Ok(Some(head)) };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => head.length = value.trim().parse().unwrap_or(0),
            "transfer-encoding" => head.is_chunked = value.to_ascii_lowercase().contains("chunked"),
            _ => {}
        }
    }
}

async fn body(stream: &mut BufReader<TcpStream>, head: &Head) -> std::io::Result<Vec<u8>> {
    let mut body = Vec::new();
    let mut length = head.length;
    loop {
        if head.is_chunked {
            let size = line(stream).await?;
            length = usize::from_str_radix(size.split(';').next().unwrap_or_default(), 16).unwrap_or(0);
        }
        if body.len().saturating_add(length) > MOST_BODY {
            return Err(std::io::Error::other("the request is too large"));
        }
        let start = body.len();
        body.resize(start + length, 0);
        stream.read_exact(&mut body[start..]).await?;
        if head.is_chunked {
            line(stream).await?;
        }
        if !head.is_chunked || length == 0 {
            return Ok(body);
        }
    }
}

fn answer(head: &Head, body: &[u8], kept: &Mutex<Recording>) -> String {
    let path = head.target.split('?').next().unwrap_or_default();
    let make: fn(&Value) -> (Value, Vec<Value>) = match path.rsplit('/').next() {
        Some("messages") => messages,
        Some("completions") => completions,
        Some("responses") => responses,
        Some(call) if call.ends_with("enerateContent") => contents,
        _ => {
            let none = json!({"error": {"type": "not_found_error", "message": "nothing is here"}});
            return framed("404 Not Found", "application/json", &none.to_string());
        }
    };
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    let (whole, events) = make(&request);
    let is_stream = request["stream"] == true || path.ends_with(":streamGenerateContent");
    kept.lock().unwrap_or_else(PoisonError::into_inner).requests.push(request);
    if !is_stream {
        return framed("200 OK", "application/json", &whole.to_string());
    }
    let event = |event: &Value| match event["type"].as_str() {
        Some(name) => format!("event: {name}\ndata: {event}\n\n"),
        None if event.is_null() => "data: [DONE]\n\n".to_owned(),
        None => format!("data: {event}\n\n"),
    };
    framed("200 OK", "text/event-stream", &events.iter().map(event).collect::<String>())
}

fn framed(status: &str, kind: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// The answer of Anthropic Messages, whole and as events.
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

/// The answer of Chat Completions, whole and as events.
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

/// The answer of Gemini's own API, whole and as its only event. Where JSON is asked for it is JSON: Gemini
/// CLI asks so which model fits, and asks again for minutes until that can be read.
fn contents(request: &Value) -> (Value, Vec<Value>) {
    let schema = &request["generationConfig"]["responseJsonSchema"];
    let text = if schema.is_object() { filled(schema).to_string() } else { ANSWER.to_owned() };
    let candidate =
        json!({"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP", "index": 0});
    let usage = json!({"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2});
    let whole = json!({"candidates": [candidate], "usageMetadata": usage});
    (whole.clone(), vec![whole])
}

/// Returns a value that fits a JSON Schema of objects, texts and numbers.
fn filled(schema: &Value) -> Value {
    match schema["type"].as_str().unwrap_or_default().to_ascii_lowercase().as_str() {
        "object" => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            properties.map(|(name, schema)| (name.clone(), filled(schema))).collect()
        }
        "integer" | "number" => json!(1),
        "boolean" => json!(false),
        "array" => json!([]),
        _ => schema["enum"].get(0).cloned().unwrap_or_else(|| json!(ANSWER)),
    }
}

/// The answer of Responses, whole and as events.
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
