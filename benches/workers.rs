//! Seats behind a NATS server: whole rounds over four worker processes, and beside them what a plain work
//! queue does with as many messages.
//!
//! All of it runs on one machine: the server, which syncs each message, the session and its workers. Needs the
//! server that `tests/nats/run.sh` installs. Run with `cargo bench --features nats --bench workers`; a number
//! behind `--` sets how many seats the larger round has.

#[path = "../tests/integration/nats_server.rs"]
#[expect(dead_code, reason = "tests use more of it")]
mod nats_server;
#[path = "../tests/integration/patience.rs"]
#[expect(dead_code, reason = "tests use more of it")]
mod patience;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use async_nats::jetstream::consumer::{PullConsumer, pull};
use async_nats::jetstream::{self, Context, stream};
use futures::StreamExt as _;
use nats_server::NatsServer;

const WORKERS: usize = 4;
/// How many messages are on their way at once, as the session has it.
const IN_FLIGHT: usize = 256;
/// The sizes of an offer and of a sealed answer.
const OFFER: usize = 3 * 1024;
const ANSWER: usize = 12 * 1024;

fn main() {
    let (flags, args): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|arg| arg.starts_with("--"));
    let is_bench = flags.iter().any(|flag| flag == "--bench");
    let seats = args.first().map(|seats| seats.parse().expect("a number"));
    let most = seats.unwrap_or(if is_bench { 10_000 } else { 20 });
    // On disk, where a sync takes its time.
    let start = || NatsServer::start(Path::new(env!("CARGO_TARGET_TMPDIR")), "").map(Queue);
    let Some(plain) = start() else { return };
    println!("| what | s | a second | peak of the session | of a worker | of the server |");
    println!("|---|---:|---:|---:|---:|---:|");
    for seats in [most / 10, most] {
        start().expect("installed").round(seats);
    }
    plain.plain(most);
}

/// A process that is ended with the benchmark.
struct Helper(Child);

impl Drop for Helper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server with the settings of a session and of a worker.
struct Queue(NatsServer);

/// The most memory that a process has had, in MB.
fn peak(id: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    line.and_then(|size| size.parse::<f64>().ok()).unwrap_or_default() / 1e3
}

impl Queue {
    fn program(&self, home: &str, words: &[&str]) -> Command {
        let mut program = Command::new(env!("CARGO_BIN_EXE_roundtable"));
        program.args(words).env("ROUNDTABLE_HOME", self.home(home)).current_dir(self.0.folder.path());
        program.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        program
    }

    fn home(&self, home: &str) -> PathBuf {
        self.0.folder.path().join(home)
    }

    fn configure(&self, home: &str, text: &str) {
        fs::create_dir_all(self.home(home).join("config")).expect("a folder");
        fs::write(self.home(home).join("config/config.yaml"), text).expect("written");
    }

    fn key(&self, home: &str, verb: &str) -> String {
        let printed = self.program(home, &["worker", verb]).stdout(Stdio::piped()).output().expect("runs");
        String::from_utf8(printed.stdout).expect("text").trim().to_owned()
    }

    /// A round of so many seats, from the start of the session to its end: all sealed, revealed and counted.
    fn round(&self, seats: usize) {
        let nats = format!("nats: {{url: \"{}\"}}", self.0.url());
        let key = self.key("worker", "keygen");
        self.configure("table", &format!("remote: {{{nats}, workers: {{fleet: {{key: \"{key}\"}}}}}}\n"));
        let table = self.key("table", "table-key");
        let worker = format!("worker: {{{nats}, table_keys: [\"{table}\"], models: [rehearsal]}}\n");
        self.configure("worker", &worker);
        let mut definition = "participants:\n".to_owned();
        for number in 0..seats {
            let _ = writeln!(definition, "  - {{name: s{number}, model: remote/nats/fleet}}");
        }
        definition.push_str(
            "steps: [{id: vote, type: round, question: Which store?, rule: plurality, \
             ballot: {kind: choice, options: [redis, sqlite]}}]\n",
        );
        fs::write(self.0.folder.path().join("vote.yaml"), definition).expect("written");
        let started = Instant::now();
        let run = ["--batch", "vote.yaml", "--save", "vote.s2s"];
        let mut session = Helper(self.program("table", &run).spawn().expect("starts"));
        let worker =
            || Helper(self.program("worker", &["worker", "--name", "fleet"]).spawn().expect("starts"));
        let workers: Vec<Helper> = (0..WORKERS).map(|_| worker()).collect();
        let mut most = 0.0;
        let ended = loop {
            most = peak(session.0.id()).max(most);
            if let Some(ended) = session.0.try_wait().expect("runs") {
                break ended;
            }
            std::thread::park_timeout(Duration::from_millis(20));
        };
        let took = started.elapsed().as_secs_f64();
        // Rehearsed seats may end in a tie.
        assert!(matches!(ended.code(), Some(0 | 3)), "{ended}");
        let log = fs::read_to_string(self.0.folder.path().join("vote.s2s")).expect("a file");
        assert_eq!(log.matches("\nevent: answer_revealed\n").count(), seats, "not all are sealed");
        let of_worker = workers.iter().map(|worker| peak(worker.0.id())).fold(0.0, f64::max);
        let of_server = peak(self.0.process.id());
        println!(
            "| a round of {seats} seats, sealed, revealed and counted | {took:.1} | {:.0} | {most:.0} MB | \
             {of_worker:.0} MB | {of_server:.0} MB |",
            seats as f64 / took
        );
    }

    /// As many messages and replies through a work queue, with nothing sealed, logged or checked.
    fn plain(&self, items: usize) {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        let started = Instant::now();
        runtime.block_on(async {
            let asked = self.stream("ASKED").await;
            let answered = self.stream("ANSWERED").await;
            let workers = async {
                let mut work = tokio::task::JoinSet::new();
                for _ in 0..WORKERS {
                    let (context, asked) = (asked.0.clone(), asked.1.clone());
                    work.spawn(async move {
                        let messages = asked.messages().await.expect("opened");
                        let answer = |message: Result<jetstream::Message, _>| {
                            let context = context.clone();
                            async move {
                                let message = message.expect("a message");
                                send(&context, "ANSWERED", ANSWER).await;
                                message.double_ack().await.expect("acknowledged");
                            }
                        };
                        messages.for_each_concurrent(16, answer).await;
                    });
                }
                work.join_all().await;
            };
            let send_all = async {
                let offers = futures::stream::iter(0..items);
                offers.for_each_concurrent(IN_FLIGHT, |_| send(&asked.0, "ASKED", OFFER)).await;
            };
            let read_all = async {
                let messages = answered.1.messages().await.expect("opened").take(items);
                let read = |message: Result<jetstream::Message, _>| async move {
                    message.expect("a message").double_ack().await.expect("acknowledged");
                };
                messages.for_each_concurrent(IN_FLIGHT, read).await;
            };
            tokio::select! {
                () = workers => {}
                _ = async { tokio::join!(send_all, read_all) } => {}
            }
        });
        let took = started.elapsed().as_secs_f64();
        println!(
            "| {items} messages and replies through a plain work queue | {took:.1} | {:.0} | | | |",
            items as f64 / took
        );
    }

    async fn stream(&self, name: &str) -> (Context, PullConsumer) {
        let client = async_nats::connect(self.0.url()).await.expect("connected");
        let context = jetstream::new(client);
        let config = stream::Config {
            name: name.to_owned(),
            subjects: vec![name.to_owned()],
            retention: stream::RetentionPolicy::WorkQueue,
            ..Default::default()
        };
        let stream = context.create_stream(config).await.expect("a stream");
        let consumer = pull::Config { durable_name: Some("all".to_owned()), ..Default::default() };
        (context, stream.create_consumer(consumer).await.expect("a consumer"))
    }
}

async fn send(context: &Context, subject: &'static str, bytes: usize) {
    let sent = context.publish(subject, vec![b'x'; bytes].into()).await.expect("sent");
    sent.await.expect("stored");
}
