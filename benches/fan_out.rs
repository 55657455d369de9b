//! How long a round's requests take, and how much memory, beside a bare driver.
//!
//! A server in a process of its own answers each request after 200 ms. For 50, 500 and 2,000 seats
//! each driver runs in a process of its own, two rounds over the same connections, and reports the
//! wall time of both and the peak of its memory. Run with `cargo bench --bench fan_out`; a number
//! behind `--` sets how often each is measured.

mod bare_driver;
#[path = "../tests/integration/server.rs"]
#[expect(dead_code, reason = "the benchmark has no use for its faults")]
mod server;

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use roundtable::participants::dialect::Dialect;
use roundtable::participants::http::{HttpParticipant, Service};
use roundtable::participants::{Ask, Participant as _, Prompt};
use roundtable::persona::Persona;
use tokio::task::JoinSet;

const SEATS: [usize; 3] = [50, 500, 2000];
const DRIVERS: [&str; 2] = ["bare", "roundtable"];
const DELAY: Duration = Duration::from_millis(200);

fn main() {
    bare_driver::raise_descriptor_limit();
    let (flags, args): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|arg| arg.starts_with("--"));
    match &args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve"] => serve(),
        ["drive", driver, seats, url] => drive(driver, seats.parse().expect("a number"), url),
        [times] => table(&SEATS, times.parse().expect("a number")),
        _ if flags.iter().any(|flag| flag == "--bench") => table(&SEATS, 5),
        // Run as a test: only whether it works.
        _ => table(&SEATS[..1], 1),
    }
}

/// Answers until its standard input is closed.
fn serve() {
    let server = server::Server::start(|_| server::Answer::chat("position: yes").after(DELAY));
    println!("{}", server.url());
    let _ = std::io::stdin().read_line(&mut String::new());
}

/// Two rounds of one driver, then a line of figures: first ms, second ms, peak KiB.
#[tokio::main]
async fn drive(driver: &str, seats: usize, url: &str) {
    let url = format!("{url}/v1");
    let rounds = match driver {
        "bare" => bare(seats, &url).await,
        _ => ours(seats, &url).await,
    };
    println!("{} {} {}", rounds[0].as_micros(), rounds[1].as_micros(), peak_kib());
}

async fn bare(seats: usize, url: &str) -> [Duration; 2] {
    let url = format!("{url}/chat/completions");
    let (client, asks) = (bare_driver::client(), asks(seats));
    let bodies: Vec<Vec<u8>> = asks.iter().map(|ask| plain_body(ask)).collect();
    let mut rounds = [Duration::ZERO; 2];
    for round in &mut rounds {
        let started = Instant::now();
        let statuses = bare_driver::run(&client, &url, &bodies).await;
        *round = started.elapsed();
        assert!(statuses.iter().all(|status| *status == 200), "a request failed");
    }
    rounds
}

async fn ours(seats: usize, url: &str) -> [Duration; 2] {
    let participant = HttpParticipant::new(Service::new(Dialect::OpenAi, url), None).expect("a service");
    let (participant, asks) = (Arc::new(participant), asks(seats));
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

/// One round's asks: a shared snapshot of 8 KiB, a seat's own lines behind it.
fn asks(seats: usize) -> Vec<Arc<Ask>> {
    let persona = Arc::new(Persona::parse("---\nname: seat\n---\nText.\n", "seat.md").expect("a persona"));
    let (rules, snapshot): (Arc<str>, Arc<str>) =
        ("The rules.\n".repeat(100).into(), line().repeat(128).into());
    let ask = |n| Ask {
        step: "decide".to_owned(),
        round: "decide".to_owned(),
        seat: format!("seat-{n}"),
        persona: persona.clone(),
        model: "model".to_owned(),
        prompt: Prompt {
            rules: rules.clone(),
            snapshot: snapshot.clone(),
            tail: format!("  your_role: \"seat-{n}\"\n\nYou look for what may break.\n"),
        },
        again: None,
        seed: None,
        time_left: None,
    };
    (0..seats).map(|n| Arc::new(ask(n))).collect()
}

/// 64 bytes.
fn line() -> &'static str {
    "    - \"a line of context that is as long as lines usually are\"\n "
}

fn plain_body(ask: &Ask) -> Vec<u8> {
    let user = format!("{}{}", ask.prompt.snapshot, ask.prompt.tail);
    let body = serde_json::json!({
        "model": ask.model,
        "max_tokens": 4096,
        "messages": [
            {"role": "system", "content": &*ask.prompt.rules},
            {"role": "user", "content": user},
        ],
    });
    body.to_string().into_bytes()
}

/// The most memory this process has held, or 0 where the system does not tell.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Measures all drivers in turn, `times` over, and prints the medians.
fn table(all: &[usize], times: usize) {
    let me = std::env::current_exe().expect("this program");
    println!("{:>6} {:>11} {:>11} {:>11} {:>9}", "seats", "driver", "first ms", "second ms", "peak MiB");
    for &seats in all {
        let mut server = Command::new(&me);
        let mut server =
            server.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the server");
        let mut url = String::new();
        BufReader::new(server.stdout.take().expect("its output")).read_line(&mut url).expect("its address");
        let mut figures = DRIVERS.map(|_| Vec::new());
        for _ in 0..times {
            for (driver, figures) in DRIVERS.iter().zip(&mut figures) {
                let mut run = Command::new(&me);
                let output =
                    run.args(["drive", driver, &seats.to_string(), url.trim()]).output().expect("a run");
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                figures.push(numbers(&String::from_utf8_lossy(&output.stdout)));
            }
        }
        for (driver, figures) in DRIVERS.iter().zip(figures) {
            let [first, second, peak] = [0, 1, 2].map(|n| median(figures.iter().map(|row| row[n]).collect()));
            println!(
                "{seats:>6} {driver:>11} {:>11.1} {:>11.1} {:>9.1}",
                first / 1e3,
                second / 1e3,
                peak / 1024.0
            );
        }
        drop(server.stdin.take());
        let _ = server.wait();
    }
}

fn numbers(line: &str) -> Vec<f64> {
    line.split_whitespace().map(|word| word.parse().expect("a number")).collect()
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
