//! Remote seats: cost of a ballot, time to a receipt, memory.
//!
//! Posts a thousand ballots within a second, and measures the memory of `serve`. With the feature `nats`, also
//! runs a round with four workers. The program runs as usual; this process acts as the browsers, on the same
//! cores. `tests/nats/run.sh` installs the NATS server. Run with `cargo bench --bench remote`; a number after
//! `--` sets the number of seats.

#[cfg(feature = "nats")]
#[path = "../tests/integration/nats_server.rs"]
#[expect(dead_code, reason = "tests use more of it")]
mod nats_server;
#[path = "../tests/integration/patience.rs"]
#[expect(dead_code, reason = "tests use more of it")]
mod patience;
#[path = "../tests/integration/program.rs"]
#[expect(dead_code, reason = "tests use more of it")]
mod program;
#[path = "../tests/integration/served.rs"]
#[expect(dead_code, reason = "tests use more of it")]
mod served;
#[path = "../tests/integration/server.rs"]
#[expect(dead_code, reason = "tests use more of it")]
mod server;

use std::net::TcpListener;
#[cfg(feature = "nats")]
use std::process::{Command, Stdio};
use std::sync::Barrier;
use std::time::{Duration, Instant};

use patience::wait_for;
use program::Desk;
use roundtable::round::seal::sign::{SigningKey, ballot_message, is_signed};
use roundtable::round::seal::{Binding, Nonces, RoundKey, Sealer, unseal};
use serde_json::Value;
use served::{Browser, Server, served_as};

const WITHIN: Duration = Duration::from_secs(1);
const FEW: &str = "\
participants: [{name: dana, model: remote/link}, {name: ann, model: SLOW}]
steps: [{id: vote, type: round, question: Which store?, rule: plurality, ballot: {kind: choice, options: [redis, sqlite]}}]
";

fn main() {
    let (flags, args): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|arg| arg.starts_with("--"));
    let is_bench = flags.iter().any(|flag| flag == "--bench");
    let seats = args.first().map(|seats| seats.parse().expect("a number"));
    let seats = seats.unwrap_or(if is_bench { 1_000 } else { 5 });
    println!("| what | |\n|---|---:|");
    ballots(if is_bench { 2_000 } else { 2 });
    let [served, headless] = [serve_at_rest(), batch_at_rest()];
    println!("| memory of `--batch` with a round open | {headless:.1} MB |");
    println!("| memory of `serve` with the same round open | {served:.1} MB |");
    posted(seats);
    #[cfg(feature = "nats")]
    over_nats(if is_bench { 10_000 } else { 20 });
}

fn micros(times: usize, mut work: impl FnMut(usize)) -> f64 {
    let started = Instant::now();
    (0..times).for_each(&mut work);
    started.elapsed().as_secs_f64() * 1e6 / times as f64
}

/// Measures sealing and signing, verifying and opening a ballot of 400 characters.
fn ballots(times: usize) {
    let key = RoundKey::new([7; 32]);
    let public = key.seal_to().public_key;
    let sealer = Sealer::new(&key);
    let owner = SigningKey::new([8; 32]);
    let [session, round, participant] = ["s", "vote", "dana"].map(str::to_owned);
    let [snapshot_sha256, opened_sha256] = ["ab", "ab"].map(|byte| byte.repeat(32));
    let binding = Binding { session, round, participant, snapshot_sha256, opened_sha256 };
    let record = "x".repeat(400);
    let nonces = Nonces { ephemeral: [1; 32], commitment: [2; 32] };
    let mut made = Vec::new();
    let sealing = micros(times, |_| {
        let ballot = sealer.seal(&nonces, &binding, &record).expect("sealed");
        let message = ballot_message(&binding, &public, &ballot).expect("a message");
        let signature = owner.sign(&message);
        made.push((ballot, signature));
    });
    let own = owner.public();
    let checking = micros(times, |at| {
        let (ballot, signature) = &made[at];
        let message = ballot_message(&binding, &public, ballot).expect("a message");
        assert!(is_signed(&own, &message, signature));
    });
    let opening = micros(times, |at| {
        unseal(&key, &binding, &made[at].0).expect("opens");
    });
    for (what, took) in [("seal and sign", sealing), ("check the signature of", checking), ("open", opening)]
    {
        println!("| {what} one ballot | {:.2} ms |", took / 1e3);
    }
}

/// Returns a memory figure of a process in MB, or `None` after its end.
fn memory(id: u32, figure: &str) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(figure)?.trim().strip_suffix(" kB"))?;
    line.parse::<f64>().ok().map(|size| size / 1e3)
}

fn resident(id: u32) -> f64 {
    memory(id, "VmRSS:").expect("runs")
}

/// Returns a service that accepts requests and never answers.
fn silent() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").expect("a port")
}

fn serve_at_rest() -> f64 {
    let server = served_as(&FEW.replace("SLOW", "remote/link"));
    let dana = server.browser("dana", 1);
    dana.join(&dana.key);
    dana.offer();
    resident(server.child.id())
}

fn batch_at_rest() -> f64 {
    let service = silent();
    let address = service.local_addr().expect("an address");
    let config = format!("providers:\n  lab: {{api: openai, base_url: \"http://{address}/v1\"}}\n");
    let desk = Desk::with(&FEW.replace("SLOW", "lab/m").replace("remote/link", "lab/m"));
    desk.write("../home/config/config.yaml", config);
    let mut batch = desk.start(["--batch", "decide.yaml", "--model", "lab/m"]);
    // Two connections show that both seats are asked.
    let asked = [service.accept().expect("asked"), service.accept().expect("asked")];
    let resident = resident(batch.id());
    let _ = batch.kill();
    let _ = batch.wait();
    drop(asked);
    resident
}

/// Joins the seats and seals their ballots.
fn sealed(server: &Server, seats: usize) -> Vec<(Browser, Value)> {
    let seat = |number: usize| {
        let browser = server.browser(&format!("s{number}"), 1 + (number % 250) as u8);
        let key = format!("{{\"public_key\":\"{}\"}}", browser.key.public());
        let joined = browser.send("POST", "/v1/seat/key", key.as_bytes());
        assert_eq!(joined.status, 204, "{}", String::from_utf8_lossy(&joined.body));
        let offer = wait_for("an offer", || {
            Some(browser.send("GET", "/v1/seat", b""))
                .filter(|answer| answer.header("rt-signature").is_some())
        });
        let ballot = browser.seal(&offer.json(), "redis", 1);
        (browser, ballot)
    };
    (0..seats).map(seat).collect()
}

/// Returns a definition of one vote by `seats` seats of a model.
fn vote_of(seats: usize, model: &str) -> String {
    let seats: Vec<String> =
        (0..seats).map(|seat| format!("  - {{name: s{seat}, model: {model}}}\n")).collect();
    let seats = seats.concat();
    format!(
        "participants:\n{seats}steps: [{{id: vote, type: round, question: Which store?, rule: plurality, \
         ballot: {{kind: choice, options: [redis, sqlite]}}}}]\n"
    )
}

/// Posts all ballots within a second, each over its own connection.
fn posted(seats: usize) {
    let server = served_as(&vote_of(seats, "remote/link"));
    let ballots = sealed(&server, seats);
    println!("| the same with {seats} seats, all joined and asked | {:.1} MB |", resident(server.child.id()));
    let all = Barrier::new(seats);
    let mut receipts: Vec<f64> = std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (number, (browser, ballot)) in ballots.iter().enumerate() {
            let (body, all) = (ballot.to_string(), &all);
            let at = WITHIN.mul_f64(number as f64 / seats as f64);
            let post = move || {
                all.wait();
                std::thread::park_timeout(at);
                let started = Instant::now();
                let answer = browser.send("POST", "/v1/seat/sealed", body.as_bytes());
                assert_eq!(answer.status, 201, "{}", String::from_utf8_lossy(&answer.body));
                started.elapsed().as_secs_f64() * 1e3
            };
            let thread = std::thread::Builder::new().stack_size(256 * 1024);
            threads.push(thread.spawn_scoped(scope, post).expect("a thread"));
        }
        threads.into_iter().map(|thread| thread.join().expect("posted")).collect()
    });
    let last = Instant::now();
    receipts.sort_by(f64::total_cmp);
    let at = |part: f64| receipts[((receipts.len() - 1) as f64 * part) as usize];
    println!("| {seats} ballots posted within a second: receipt, median | {:.1} ms |", at(0.5));
    println!("| 99 of 100 | {:.1} ms |", at(0.99));
    println!("| slowest | {:.1} ms |", at(1.0));
    println!("| memory with all sealed | {:.1} MB |", resident(server.child.id()));
    server.ended();
    println!(
        "| from the last receipt until all is revealed and counted | {:.1} s |",
        last.elapsed().as_secs_f64()
    );
}

/// Measures a round with four workers, from the session's start to its end.
#[cfg(feature = "nats")]
fn over_nats(seats: usize) {
    use std::{fs, path::Path, process::Child};

    struct Worker(Child);
    impl Drop for Worker {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
    // On disk, where a sync takes real time.
    let Some(queue) = nats_server::NatsServer::start(Path::new(env!("CARGO_TARGET_TMPDIR")), "") else {
        return;
    };
    let folder = queue.folder.path();
    let homes = [folder.join("table"), folder.join("worker")];
    let run = |home: &Path, words: &[&str]| {
        let mut run = Command::new(env!("CARGO_BIN_EXE_roundtable"));
        run.args(words).env("ROUNDTABLE_HOME", home).current_dir(folder);
        run.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        run
    };
    let key = |home: &Path, verb: &str| {
        let printed = run(home, &["worker", verb]).stdout(Stdio::piped()).output().expect("runs");
        String::from_utf8(printed.stdout).expect("text").trim().to_owned()
    };
    let configure = |home: &Path, text: String| {
        fs::create_dir_all(home.join("config")).expect("a folder");
        fs::write(home.join("config/config.yaml"), text).expect("written");
    };
    let nats = format!("nats: {{url: \"{}\"}}", queue.url());
    let fleet = format!("fleet: {{key: \"{}\"}}", key(&homes[1], "keygen"));
    configure(&homes[0], format!("remote: {{{nats}, workers: {{{fleet}}}}}\n"));
    let table = key(&homes[0], "table-key");
    configure(&homes[1], format!("worker: {{{nats}, table_keys: [\"{table}\"], models: [rehearsal]}}\n"));
    fs::write(folder.join("vote.yaml"), vote_of(seats, "remote/nats/fleet")).expect("written");
    let started = Instant::now();
    let words = ["--batch", "vote.yaml", "--save", "vote.s2s"];
    let mut session = Worker(run(&homes[0], &words).spawn().expect("starts"));
    let worker = || Worker(run(&homes[1], &["worker", "--name", "fleet"]).spawn().expect("starts"));
    let _workers = [worker(), worker(), worker(), worker()];
    let mut peak: f64 = 0.0;
    let ended = loop {
        peak = peak.max(memory(session.0.id(), "VmHWM:").unwrap_or_default());
        if let Some(ended) = session.0.try_wait().expect("runs") {
            break ended;
        }
        std::thread::park_timeout(Duration::from_millis(20));
    };
    let took = started.elapsed().as_secs_f64();
    // Rehearsal votes may tie.
    assert!(matches!(ended.code(), Some(0 | 3)), "{ended}");
    let log = fs::read_to_string(folder.join("vote.s2s")).expect("a file");
    assert_eq!(log.matches("\nevent: answer_revealed\n").count(), seats, "not all are sealed");
    println!("| a round of {seats} seats over NATS | {took:.1} s |\n| its peak memory | {peak:.0} MB |");
}
