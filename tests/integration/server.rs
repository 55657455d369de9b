//! Model service on loopback, for tests and benchmarks, that can also misbehave.
//!
//! Speaks HTTP/1.1 with kept connections on its own thread, and records every request. A handler chooses the
//! response: a reply, raw bytes, silence, a trickle. It knows nothing of the program under test.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

#[derive(Debug, Clone)]
pub struct Request {
    pub at: Instant,
    pub head: String,
    pub body: Vec<u8>,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        let named = |line: &&str| line.split_once(':').is_some_and(|(key, _)| key.eq_ignore_ascii_case(name));
        self.head.lines().skip(1).find(named)?.split_once(':').map(|(_, value)| value.trim())
    }

    pub fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    /// Returns the asked seat, from the addressed lines of the prompt.
    pub fn seat(&self) -> String {
        let prompt = self.user_text();
        let role = prompt.split("\n  your_role: \"").nth(1).unwrap_or_default();
        role.split('"').next().unwrap_or_default().to_owned()
    }

    pub fn user_text(&self) -> String {
        let body = self.json();
        let messages = body["messages"].as_array().expect("messages").clone();
        let user = messages.iter().find(|message| message["role"] == "user").expect("a user's message");
        user["content"].as_str().expect("text").to_owned()
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).expect("a JSON body")
    }
}

#[derive(Debug, Clone)]
pub struct Answer {
    pub delay: Duration,
    bytes: Vec<u8>,
    after: After,
    is_held: bool,
}

#[derive(Debug, Clone)]
enum After {
    Keep,
    Close,
    Hang,
    Repeat(Vec<u8>, Duration),
    Pieces(Vec<Vec<u8>>, Duration),
}

impl Answer {
    /// Returns a whole response with these headers (`name: value` lines).
    pub fn new(status: u16, headers: &[&str], body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        let headers: String = headers.iter().flat_map(|header| [header, "\r\n"]).collect();
        let head = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
        let bytes = [head.into_bytes(), body].concat();
        Self { delay: Duration::ZERO, bytes, after: After::Keep, is_held: false }
    }

    pub fn json(status: u16, body: &serde_json::Value) -> Self {
        Self::new(status, &["content-type: application/json"], body.to_string())
    }

    pub fn chat(text: &str) -> Self {
        let message = serde_json::json!({"role": "assistant", "content": text});
        let usage = serde_json::json!({"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9});
        let choice = serde_json::json!({"index": 0, "message": message, "finish_reason": "stop"});
        let body =
            serde_json::json!({"id": "c", "object": "chat.completion", "choices": [choice], "usage": usage});
        Self::json(200, &body)
    }

    pub fn events(data: &[&str]) -> Self {
        Self::new(200, &["content-type: text/event-stream; charset=utf-8"], Self::frames(data))
    }

    pub fn frames(data: &[&str]) -> String {
        data.iter().fold(String::new(), |text, data| text + "data: " + data + "\n\n")
    }

    /// Returns a chat completion as events, one per piece of text.
    pub fn chat_events(pieces: &[&str]) -> Self {
        let mut data: Vec<String> = pieces.iter().map(|piece| Self::chunk(piece, None)).collect();
        data.push(Self::chunk("", Some("stop")));
        data.push(r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2}}"#.to_owned());
        data.push("[DONE]".to_owned());
        Self::events(&data.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Sends the events in this many writes, one per interval, like a real model.
    #[must_use]
    pub fn trickled(self, writes: usize, every: Duration) -> Self {
        let text = String::from_utf8(self.bytes).expect("UTF-8");
        let (head, body) = text.split_once("\r\n\r\n").expect("a head");
        let events: Vec<&str> = body.split_inclusive("\n\n").collect();
        let at = |write: usize| write * events.len() / writes;
        let pieces = (0..writes).map(|write| events[at(write)..at(write + 1)].concat().into_bytes());
        Self {
            bytes: format!("{head}\r\n\r\n").into(),
            after: After::Pieces(pieces.collect(), every),
            ..self
        }
    }

    pub fn chunk(text: &str, finish: Option<&str>) -> String {
        serde_json::json!({
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": finish}],
        })
        .to_string()
    }

    pub fn message(text: &str) -> Self {
        Self::json(
            200,
            &serde_json::json!({
                "id": "m", "type": "message", "role": "assistant",
                "content": [{"type": "text", "text": text}],
                "stop_reason": "end_turn",
                "usage": {"input_tokens": 7, "output_tokens": 2},
            }),
        )
    }

    /// Sends these bytes, then closes the connection.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self { delay: Duration::ZERO, bytes: bytes.into(), after: After::Close, is_held: false }
    }

    /// Sends these bytes, then nothing on an open connection.
    pub fn hang(bytes: impl Into<Vec<u8>>) -> Self {
        Self { after: After::Hang, ..Self::raw(bytes) }
    }

    /// Sends the start of a chunked 200, then `piece` as a chunk again and again.
    pub fn endless(piece: &[u8], every: Duration) -> Self {
        let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
        chunk.extend_from_slice(piece);
        chunk.extend_from_slice(b"\r\n");
        let head = "HTTP/1.1 200 x\r\ntransfer-encoding: chunked\r\n\r\n";
        Self { after: After::Repeat(chunk, every), ..Self::raw(head) }
    }

    #[must_use]
    pub fn after(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    /// Delays the response until [`Server::release`].
    #[must_use]
    pub fn held(self) -> Self {
        Self { is_held: true, ..self }
    }
}

type Handler = Arc<dyn Fn(&Request) -> Answer + Send + Sync>;

#[derive(Default)]
struct Seen {
    requests: Mutex<Vec<Request>>,
    open: AtomicUsize,
    made: AtomicUsize,
    is_released: AtomicBool,
}

pub struct Server {
    address: SocketAddr,
    seen: Arc<Seen>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
}

impl Server {
    /// Starts a server with these answers in turn; the last one is repeated.
    pub fn turns(answers: Vec<Answer>) -> Self {
        let turn = AtomicUsize::new(0);
        Self::start(move |_| answers[turn.fetch_add(1, Ordering::SeqCst).min(answers.len() - 1)].clone())
    }

    pub fn start(handler: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        let handler: Handler = Arc::new(handler);
        let seen = Arc::<Seen>::default();
        let kept = seen.clone();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let (told, address) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let listener = listen();
                told.send(listener.local_addr().expect("an address")).expect("someone waits");
                tokio::select! {
                    () = accept(listener, handler, kept) => {}
                    _ = stopped => {}
                }
            });
        });
        Self {
            address: address.recv_timeout(crate::patience::PATIENCE).expect("the server starts"),
            seen,
            stop: Some(stop),
        }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn release(&self) {
        self.seen.is_released.store(true, Ordering::SeqCst);
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    pub fn requests(&self) -> Vec<Request> {
        self.seen.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn connections(&self) -> usize {
        self.seen.made.load(Ordering::SeqCst)
    }

    pub fn open(&self) -> usize {
        self.seen.open.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
    }
}

/// Listens with a long queue, so that 2,000 simultaneous connections lose no packet.
fn listen() -> TcpListener {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a free port");
    socket.listen(4096).expect("a listener")
}

async fn accept(listener: TcpListener, handler: Handler, seen: Arc<Seen>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let _ = stream.set_nodelay(true);
        let (handler, seen) = (handler.clone(), seen.clone());
        tokio::spawn(async move {
            seen.open.fetch_add(1, Ordering::SeqCst);
            seen.made.fetch_add(1, Ordering::SeqCst);
            serve(stream, handler, &seen).await;
            seen.open.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

async fn serve(mut stream: TcpStream, handler: Handler, seen: &Seen) {
    let mut buffer = Vec::with_capacity(16 * 1024);
    while let Some(request) = receive(&mut stream, &mut buffer).await {
        let answer = handler(&request);
        seen.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        if !answer.delay.is_zero() {
            tokio::time::sleep(answer.delay).await;
        }
        while answer.is_held && !seen.is_released.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        if stream.write_all(&answer.bytes).await.is_err() {
            return;
        }
        match answer.after {
            After::Keep => {}
            After::Close => return,
            After::Pieces(pieces, every) => {
                for piece in pieces {
                    tokio::time::sleep(every).await;
                    if stream.write_all(&piece).await.is_err() {
                        return;
                    }
                }
            }
            After::Hang => {
                while more(&mut stream, &mut buffer).await.is_some() {}
                return;
            }
            After::Repeat(bytes, every) => {
                while stream.write_all(&bytes).await.is_ok() {
                    tokio::time::sleep(every).await;
                }
                return;
            }
        }
    }
}

async fn receive(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<Request> {
    let end = loop {
        if let Some(at) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        more(stream, buffer).await?;
    };
    let head = String::from_utf8_lossy(&buffer[..end]).into_owned();
    let mut request = Request { at: Instant::now(), head, body: Vec::new() };
    let length: usize = request.header("content-length").and_then(|n| n.parse().ok()).unwrap_or(0);
    while buffer.len() < end + length {
        more(stream, buffer).await?;
    }
    request.body = buffer[end..end + length].to_vec();
    buffer.drain(..end + length);
    Some(request)
}

async fn more(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<()> {
    stream.read_buf(buffer).await.ok().filter(|&n| n > 0).map(|_| ())
}
