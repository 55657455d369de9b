//! How many requests a second go through the program's HTTP participant, beside `oha`.
//!
//! A server in a process of its own answers at once and looks at nothing but where a body ends.
//! Both sides send it the same body, as often, over as many kept connections, in turn; every reply is
//! read whole. What the program does beyond that (encoding the seat's part, retries, limits, reading
//! the reply) is in its figure. A whole round of 2,000 seats stands beside it, from the moment the
//! snapshot is asked for until the tally is on disk.
//!
//! Run with `cargo bench --bench throughput`; `oha` is looked for in `$OHA`, in `target/tools/bin` and on
//! the path (`cargo install oha --no-default-features --features rustls --root target/tools`). A number
//! behind `--` sets how often each is measured.

#[expect(dead_code, reason = "its round of bodies is another benchmark's")]
mod bare_driver;
mod whole_round;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use roundtable::participants::api::{ApiStream, ApiStyle};
use roundtable::participants::http::{HttpParticipant, Service};
use roundtable::participants::{Participant as _, SeatRequest};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

const CONNECTIONS: usize = 64;
const REQUESTS: usize = 20_000;
const SEATS: usize = 2_000;

fn main() {
    let (flags, args): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|arg| arg.starts_with("--"));
    match &args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve"] => serve(),
        ["ask", url, requests] => println!("{}", ask_all(url, requests.parse().expect("a number"))),
        ["bare", url, requests] => println!("{}", bare(url, requests.parse().expect("a number"))),
        ["round", url, _] => println!("{}", whole(url)),
        [times] => table(times.parse().expect("a number"), REQUESTS),
        _ if flags.iter().any(|flag| flag == "--bench") => table(5, REQUESTS),
        // Run as a test: only whether it works.
        _ => table(1, 200),
    }
}

/// Answers at once until its standard input is closed.
#[tokio::main]
async fn serve() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    println!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            tokio::spawn(answer(stream));
        }
    });
    let closed = tokio::task::spawn_blocking(|| std::io::stdin().read_line(&mut String::new()));
    let _ = closed.await;
}

async fn answer(mut stream: TcpStream) {
    let body = format!(
        r#"{{"choices":[{{"index":0,"message":{{"content":{}}},"finish_reason":"stop"}}],"usage":{{"prompt_tokens":7,"completion_tokens":2}}}}"#,
        Value::from(whole_round::ANSWER)
    );
    let length = body.len();
    let reply = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    let mut buffer = Vec::with_capacity(64 * 1024);
    loop {
        let end = loop {
            if let Some(at) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            if !more(&mut stream, &mut buffer).await {
                return;
            }
        };
        let head = String::from_utf8_lossy(&buffer[..end]).to_ascii_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
        let length: usize = length.and_then(|length| length.trim().parse().ok()).unwrap_or(0);
        while buffer.len() < end + length {
            if !more(&mut stream, &mut buffer).await {
                return;
            }
        }
        buffer.drain(..end + length);
        if stream.write_all(reply.as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn more(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> bool {
    stream.read_buf(buffer).await.is_ok_and(|read| read > 0)
}

fn participant(url: &str) -> Arc<HttpParticipant> {
    let service = Service { stream: ApiStream::Off, ..Service::new(ApiStyle::OpenAi, format!("{url}/v1")) };
    Arc::new(HttpParticipant::new(service, Some(CONNECTIONS)).expect("a service"))
}

/// The same requests by reqwest alone, each connection asking one after the other; requests a second.
#[tokio::main]
async fn bare(url: &str, requests: usize) -> f64 {
    let client = bare_driver::client();
    let url = format!("{url}/v1/chat/completions");
    let body = bytes::Bytes::from(whole_round::plain_body(&whole_round::asks(1)[0]));
    let started = Instant::now();
    let mut set = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (client, url, body) = (client.clone(), url.clone(), body.clone());
        set.spawn(async move {
            for _ in 0..requests / CONNECTIONS {
                let request = client.post(&url).header("content-type", "application/json");
                let reply = request.body(body.clone()).send().await.expect("a reply");
                reply.bytes().await.expect("a body");
            }
        });
    }
    set.join_all().await;
    (requests / CONNECTIONS * CONNECTIONS) as f64 / started.elapsed().as_secs_f64()
}

/// One whole round; seats a second.
#[tokio::main]
async fn whole(url: &str) -> f64 {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder on disk");
    let took = whole_round::run("round", SEATS, participant(url), dir.path()).await;
    SEATS as f64 / took.as_secs_f64()
}

/// Asks through the program's participant; requests a second.
#[tokio::main]
async fn ask_all(url: &str, requests: usize) -> f64 {
    let participant = participant(url);
    let asks: Arc<[SeatRequest]> = whole_round::asks(1000).into();
    let started = Instant::now();
    let mut set = JoinSet::new();
    for first in 0..CONNECTIONS {
        let (participant, asks) = (participant.clone(), asks.clone());
        set.spawn(async move {
            for nth in 0..requests / CONNECTIONS {
                let ask = &asks[(first + nth * CONNECTIONS) % asks.len()];
                assert_eq!(participant.ask(ask).await.expect("a reply").tries, 1);
            }
        });
    }
    set.join_all().await;
    (requests / CONNECTIONS * CONNECTIONS) as f64 / started.elapsed().as_secs_f64()
}

fn table(times: usize, requests: usize) {
    let mut server: Child =
        me().arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the server");
    let mut url = String::new();
    BufReader::new(server.stdout.take().expect("its output")).read_line(&mut url).expect("its address");
    let url = url.trim();
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let body = dir.path().join("body.json");
    std::fs::write(&body, whole_round::plain_body(&whole_round::asks(1)[0])).expect("a file");
    let mut figures = [Vec::new(), Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..times {
        figures[0].push(oha(url, &body, requests));
        for (nth, what) in [(1, "bare"), (2, "ask"), (3, "round")] {
            let ran = me().args([what, url, &requests.to_string()]).output().expect("a run");
            assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
            figures[nth].push(String::from_utf8_lossy(&ran.stdout).trim().parse().ok());
        }
    }
    drop(server.stdin.take());
    let _ = server.wait();
    let [oha, bare, own, round] = figures.map(|figures| {
        let mut all: Vec<f64> = figures.into_iter().flatten().collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied()
    });
    let size = std::fs::metadata(&body).map_or(0, |file| file.len());
    println!("{requests} requests of {size} bytes over {CONNECTIONS} connections, medians of {times}:\n");
    println!("| driver | requests a second | share |\n|---|---:|---:|");
    for (name, rate) in [("oha", oha), ("reqwest", bare), ("requests", own), ("whole round", round)] {
        let Some(rate) = rate else {
            println!("| {name} | is not there | |");
            continue;
        };
        let share = oha.map_or(String::new(), |oha| format!("{:.0} %", rate / oha * 100.0));
        println!("| {name} | {rate:.0} | {share} |");
    }
}

fn me() -> Command {
    Command::new(std::env::current_exe().expect("this program"))
}

/// Requests a second by `oha`, if it is there.
fn oha(url: &str, body: &std::path::Path, requests: usize) -> Option<f64> {
    let installed = concat!(env!("CARGO_MANIFEST_DIR"), "/target/tools/bin/oha");
    let program = std::env::var("OHA")
        .ok()
        .or_else(|| std::path::Path::new(installed).exists().then(|| installed.to_owned()));
    let ran = Command::new(program.unwrap_or_else(|| "oha".to_owned()))
        .args(["-n", &requests.to_string(), "-c", &CONNECTIONS.to_string(), "-m", "POST"])
        .args(["-T", "application/json", "--no-tui", "--output-format", "json", "-D"])
        .arg(body)
        .arg(format!("{url}/v1/chat/completions"))
        .output()
        .ok()?;
    let told: Value = serde_json::from_slice(&ran.stdout).ok()?;
    assert_eq!(told["summary"]["successRate"], 1.0, "a request of oha's failed");
    told["summary"]["requestsPerSec"].as_f64()
}
