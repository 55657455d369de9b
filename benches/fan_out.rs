//! Time and memory of a round, compared with a bare driver.
//!
//! A server in its own process answers each request after 200 ms. For 50, 500 and 2,000 seats, each driver runs
//! in its own process. It reports the wall time of two rounds, the second over the first one's connections, and
//! its peak memory.
//!
//! - `bare` sends the same bodies and discards the replies ([`bare_driver`]).
//! - `requests` only asks through [`HttpParticipant`].
//! - `whole` is a complete round ([`whole_round`]): snapshot, prompts, fan-out, parsing, sealing, log and key
//!   synced to disk, close, reveal, tally. Each reply arrives in one piece.
//! - `streamed` is the same with streamed replies: five writes, the last after the same 200 ms.
//!
//! The two rounds of `whole` are two sessions in one process, with one service. In one session, the second
//! snapshot would contain the first round's answers. Its size would then depend on the number of seats. So both
//! rounds of all drivers send the same bodies: rules, 8 KiB of snapshot, the seat's lines.
//!
//! Run with `cargo bench --bench fan_out`; a number after `--` sets the repetitions. Each repetition measures
//! all drivers in turn, each with a new server. The table shows medians and ratios of medians.

mod bare_driver;
#[path = "../tests/integration/patience.rs"]
#[expect(dead_code, reason = "the benchmark starts its own processes")]
mod patience;
#[path = "../tests/integration/server.rs"]
#[expect(dead_code, reason = "the benchmark has no use for its faults")]
mod server;
mod whole_round;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use roundtable::participants::api::{ApiStream, ApiStyle};
use roundtable::participants::http::{HttpParticipant, Service};
use roundtable::participants::{Participant as _, SeatRequest};
use tokio::task::JoinSet;

const SEATS: [usize; 3] = [50, 500, 2000];
const DRIVERS: [&str; 4] = ["bare", "requests", "whole", "streamed"];
const DELAY: Duration = Duration::from_millis(200);
/// Number of writes of a streamed reply.
const WRITES: u32 = 5;

fn main() {
    bare_driver::raise_descriptor_limit();
    let (flags, args): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|arg| arg.starts_with("--"));
    match &args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve"] => serve(),
        ["drive", driver, seats, url] => drive(driver, seats.parse().expect("a number"), url),
        [times] => table(&SEATS, times.parse().expect("a number")),
        _ if flags.iter().any(|flag| flag == "--bench") => table(&SEATS, 7),
        // As a test, checks only that the benchmark works.
        _ => table(&SEATS[..1], 1),
    }
}

/// Serves until standard input is closed.
fn serve() {
    let words: Vec<&str> = whole_round::ANSWER.split_inclusive([' ', '\n']).collect();
    let (streamed, whole) = (
        server::Answer::chat_events(&words).trickled(WRITES as usize, DELAY / WRITES),
        server::Answer::chat(whole_round::ANSWER).after(DELAY),
    );
    let server = server::Server::start(move |request| {
        // The program writes this field last.
        let wanted = request.body.ends_with(br#""stream_options":{"include_usage":true}}"#);
        if wanted { streamed.clone() } else { whole.clone() }
    });
    println!("{}", server.url());
    let _ = std::io::stdin().read_line(&mut String::new());
}

/// Runs two rounds of one driver; prints first µs, second µs and peak KiB.
#[tokio::main]
async fn drive(driver: &str, seats: usize, url: &str) {
    let url = format!("{url}/v1");
    let rounds = match driver {
        "bare" => bare(seats, &url).await,
        "requests" => requests(seats, &url).await,
        "streamed" => whole(seats, &url, ApiStream::WithUsage).await,
        _ => whole(seats, &url, ApiStream::Off).await,
    };
    println!("{} {} {}", rounds[0].as_micros(), rounds[1].as_micros(), peak_kib());
}

async fn bare(seats: usize, url: &str) -> [Duration; 2] {
    let url = format!("{url}/chat/completions");
    let client = bare_driver::client();
    let bodies: Vec<Vec<u8>> = whole_round::asks(seats).iter().map(whole_round::plain_body).collect();
    let mut rounds = [Duration::ZERO; 2];
    for round in &mut rounds {
        let started = Instant::now();
        let statuses = bare_driver::run(&client, &url, &bodies).await;
        *round = started.elapsed();
        assert!(statuses.iter().all(|status| *status == 200), "a request failed");
    }
    rounds
}

async fn requests(seats: usize, url: &str) -> [Duration; 2] {
    let participant = service(url, ApiStream::Off);
    let asks: Vec<Arc<SeatRequest>> = whole_round::asks(seats).into_iter().map(Arc::new).collect();
    let mut rounds = [Duration::ZERO; 2];
    for round in &mut rounds {
        let started = Instant::now();
        let mut set = JoinSet::new();
        for ask in &asks {
            let (participant, ask) = (participant.clone(), ask.clone());
            set.spawn(async move { participant.ask(&ask).await });
        }
        let replies = set.join_all().await;
        *round = started.elapsed();
        let tries: u32 = replies.into_iter().map(|reply| reply.expect("a reply").tries).sum();
        assert_eq!(tries as usize, seats, "a request was sent twice");
    }
    rounds
}

async fn whole(seats: usize, url: &str, stream: ApiStream) -> [Duration; 2] {
    let participant = service(url, stream);
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder on disk");
    let first = whole_round::run("first", seats, participant.clone(), dir.path()).await;
    let second = whole_round::run("second", seats, participant, dir.path()).await;
    [first, second]
}

fn service(url: &str, stream: ApiStream) -> Arc<HttpParticipant> {
    let mut service = Service::new(ApiStyle::OpenAi, url);
    service.limits.stream = stream;
    Arc::new(HttpParticipant::new(service, None).expect("a service"))
}

/// Returns the peak memory of this process, or 0 if the system does not report it.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Measures all drivers in turn, `times` times. Prints medians and their ratios to the first driver's.
fn table(all: &[usize], times: usize) {
    println!("|  seats | driver   | first ms | second ms | peak MiB | first × | second × | peak × |");
    println!("|-------:|----------|---------:|----------:|---------:|--------:|---------:|-------:|");
    for &seats in all {
        let mut figures = DRIVERS.map(|_| Vec::new());
        for _ in 0..times {
            for (driver, figures) in DRIVERS.iter().zip(&mut figures) {
                figures.push(measure(driver, seats));
            }
        }
        let medians = figures.map(|rows| [0, 1, 2].map(|n| median(rows.iter().map(|row| row[n]).collect())));
        for (driver, [first, second, peak]) in DRIVERS.iter().zip(medians) {
            let [a, b, c] = medians[0];
            println!(
                "| {seats:>6} | {driver:<8} | {:>8.1} | {:>9.1} | {:>8.1} | {:>7.2} | {:>8.2} | {:>6.2} |",
                first / 1e3,
                second / 1e3,
                peak / 1024.0,
                first / a,
                second / b,
                peak / c
            );
        }
    }
}

/// Measures one driver in its own process, with its own server.
fn measure(driver: &str, seats: usize) -> Vec<f64> {
    let me = || Command::new(std::env::current_exe().expect("this program"));
    let mut server: Child =
        me().arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the server");
    let mut url = String::new();
    BufReader::new(server.stdout.take().expect("its output")).read_line(&mut url).expect("its address");
    let output = me().args(["drive", driver, &seats.to_string(), url.trim()]).output().expect("a run");
    drop(server.stdin.take());
    let _ = server.wait();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    numbers(&String::from_utf8_lossy(&output.stdout))
}

fn numbers(line: &str) -> Vec<f64> {
    line.split_whitespace().map(|word| word.parse().expect("a number")).collect()
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
