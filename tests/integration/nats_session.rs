//! Whole sessions with workers: the built program on both sides of a real NATS server, each of which is killed
//! at named points. Without a server at `target/tools/nats` these are skipped with a word.
#![cfg(feature = "nats")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::stream::Config;
use async_nats::jetstream::{self, AckKind, Context};
use futures::StreamExt as _;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::nats_server::NatsServer;
use crate::patience::Patient as _;
use crate::program::{Desk, arg};
use crate::pty::Screen;

/// How long a message that is not acknowledged is kept from others, in milliseconds.
const ACK_WAIT: &str = "1500";

fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(45);
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < end, "{what} did not come");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// A server, a machine with a session, and one with a worker.
struct Queue(NatsServer);

impl Queue {
    fn start() -> Option<Self> {
        let server = NatsServer::start(&std::env::temp_dir(), "")?;
        let (url, queue) = (server.url(), Self(server));
        let key = queue.key("worker-home", "keygen");
        let nats = format!("nats: {{url: \"{url}\"}}");
        let other = queue.key("other-home", "keygen");
        let workers = format!("workers: {{fleet: {{key: \"{key}\"}}, other: {{key: \"{other}\"}}}}");
        queue.configure("table-home", &format!("remote: {{{nats}, {workers}}}\n"));
        let table = queue.key("table-home", "table-key");
        let worker = format!("worker: {{{nats}, table_keys: [\"{table}\"], models: [rehearsal]}}\n");
        queue.configure("worker-home", &worker);
        queue.configure("other-home", &worker);
        Some(queue)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.folder.path().join(name)
    }

    fn configure(&self, home: &str, text: &str) {
        fs::create_dir_all(self.path(home).join("config")).expect("a folder");
        fs::write(self.path(home).join("config/config.yaml"), text).expect("written");
    }

    fn key(&self, home: &str, verb: &str) -> String {
        let printed = self.program(home).args(["worker", verb]).output_soon().expect("runs");
        String::from_utf8(printed.stdout).expect("text").trim().to_owned()
    }

    fn program(&self, home: &str) -> Command {
        let mut program = Command::new(env!("CARGO_BIN_EXE_roundtable"));
        program.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        program.env("ROUNDTABLE_HOME", self.path(home)).env("ROUNDTABLE_ACK_WAIT_MS", ACK_WAIT);
        program.env("ROUNDTABLE_CONNECT_MS", "300");
        program
            .current_dir(self.0.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        program
    }

    /// Gives a seat of the definition another model.
    fn seat(&self, seat: &str, model: &str) {
        let text = fs::read_to_string(self.path("vote.yaml")).expect("there");
        let (from, to) = (
            format!("{{name: {seat}, model: remote/nats/fleet}}"),
            format!("{{name: {seat}, model: {model}}}"),
        );
        assert!(text.contains(&from), "{text}");
        fs::write(self.path("vote.yaml"), text.replace(&from, &to)).expect("written");
    }

    /// Writes a definition with so many seats of the worker, and one that answers here.
    fn define(&self, seats: usize, more: &str) {
        let seat = |number| format!("  - {{name: s{number}, model: remote/nats/fleet}}\n");
        let definition = format!(
            "participants:\n{}  - {{name: here, model: rehearsal}}\n\
             steps: [{{id: vote, type: round, question: Which store?, rule: plurality, quorum: 1{more},\n  \
             ballot: {{kind: choice, options: [redis, sqlite]}}}}]\n",
            (0..seats).map(seat).collect::<String>()
        );
        fs::write(self.path("vote.yaml"), definition).expect("written");
    }

    fn table(&self) -> Command {
        let mut program = self.program("table-home");
        program.args(["--batch", "vote.yaml", "--save", "vote.s2s"]);
        program
    }

    fn resume(&self) -> Command {
        let mut program = self.program("table-home");
        program.args(["resume", "vote.s2s"]);
        program
    }

    fn worker(&self, home: &str) -> Helper {
        let mut program = self.program(home);
        program.args(["worker", "--name", "fleet"]);
        Helper::start(program)
    }

    fn other(&self) -> Helper {
        let mut program = self.program("other-home");
        program.args(["worker", "--name", "other"]);
        Helper::start(program)
    }

    /// Looks for what a placeholder says in an answer, in files and folders.
    fn check_said_nowhere(&self, names: &[&str]) {
        let mut left: Vec<PathBuf> = names.iter().map(|name| self.path(name)).collect();
        while let Some(path) = left.pop() {
            if path.is_dir() {
                left.extend(fs::read_dir(path).expect("a folder").flatten().map(|entry| entry.path()));
            } else {
                let bytes = fs::read(&path).unwrap_or_default();
                assert!(!bytes.windows(CANARY.len()).any(|part| part == CANARY), "{}", path.display());
            }
        }
    }

    fn events(&self) -> Vec<Value> {
        let mut replay = self.program("table-home");
        let printed = replay.args(["replay", "vote.s2s", "--json"]).output_soon().expect("runs");
        let lines = String::from_utf8(printed.stdout).expect("text");
        lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    fn number(&self, event: &str) -> usize {
        self.events().iter().filter(|line| line["event"] == event).count()
    }

    /// Checks that every seat is sealed once and the file verifies, also in the other verifier.
    fn check_sealed(&self, seats: usize) {
        let mut times = BTreeMap::new();
        for line in self.events().iter().filter(|line| line["event"] == "ballot_sealed") {
            *times.entry(line["participant"].as_str().expect("a seat").to_owned()).or_insert(0) += 1;
        }
        assert_eq!(times.len(), seats + 1, "{times:?}");
        assert!(times.values().all(|times| *times == 1), "{times:?}");
        self.check_file();
    }

    fn check_file(&self) {
        let verified = self.program("table-home").args(["verify", "vote.s2s"]).output_soon().expect("runs");
        let said = String::from_utf8_lossy(&verified.stderr).into_owned();
        assert!(verified.status.success(), "{}{said}", String::from_utf8_lossy(&verified.stdout));
        // The Python verifier reads these: see `tests/nats/run.sh`.
        if let Some(folder) = std::env::var_os("ROUNDTABLE_KEEP_SESSIONS") {
            let name = std::thread::current().name().unwrap_or("a test").replace("::", "-");
            fs::copy(self.path("vote.s2s"), Path::new(&folder).join(format!("{name}.s2s"))).expect("kept");
        }
    }

    fn context(&self) -> (tokio::runtime::Runtime, Context) {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        let context = runtime.block_on(async {
            let client = async_nats::connect(self.0.url()).await;
            jetstream::new(client.expect("connected"))
        });
        (runtime, context)
    }

    /// How many messages there are in a stream; none before there is one.
    fn left_or_none(&self, stream: &str) -> Option<u64> {
        let (runtime, context) = self.context();
        runtime.block_on(async { Some(context.get_stream(stream).await.ok()?.cached_info().state.messages) })
    }

    /// How many messages there are in a stream, and whether a session takes in there.
    fn left(&self, stream: &str) -> (u64, usize) {
        let (runtime, context) = self.context();
        runtime.block_on(async {
            let mut stream = context.get_stream(stream).await.expect("a stream");
            let state = &stream.info().await.expect("told").state;
            (state.messages, state.consumer_count)
        })
    }
}

/// A process that is ended with its test.
struct Helper(Child);

impl Helper {
    fn start(mut program: Command) -> Self {
        Self(program.start().expect("starts"))
    }

    fn code(&mut self) -> Option<i32> {
        self.0.wait().expect("ended").code()
    }

    /// Rests a session as Ctrl-C does.
    fn interrupt(&mut self) {
        let pid = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw).expect("an id");
        kill_process(pid, Signal::INT).expect("signalled");
        assert_eq!(self.code(), Some(130));
    }

    /// Waits for a session that comes to its end, decided or not.
    fn ends(&mut self) {
        let code = self.code();
        assert!(matches!(code, Some(0 | 3)), "{code:?}");
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs the session until it dies at this point, then resumes it; each seat counts once. One seat is answered
/// only then, so that the round is open at its death.
fn dies_and_resumes(point: &str) {
    const SEATS: usize = 12;
    let Some(queue) = Queue::start() else { return };
    queue.define(SEATS, "");
    queue.seat("s11", "remote/nats/other");
    let mut table = queue.table();
    table.env("ROUNDTABLE_STOP_AT", point);
    let mut table = Helper::start(table);
    let _worker = queue.worker("worker-home");
    assert_eq!(table.code(), None, "it dies by a signal at {point}");
    assert!(queue.number("ballot_sealed") < SEATS + 1, "{point}");
    let _other = queue.other();
    Helper::start(queue.resume()).ends();
    queue.check_sealed(SEATS);
    assert_eq!(queue.left("RT_OFFER").0, 0);
    assert_eq!(queue.left("RT_SEALED_fleet"), (0, 0));
}

#[test]
fn a_session_that_dies_while_it_asks_asks_the_rest() {
    dies_and_resumes("offered:5");
}

#[test]
fn a_session_that_dies_before_a_ballot_is_on_disk_takes_it_again() {
    dies_and_resumes("taken:5");
}

#[test]
fn a_session_that_dies_before_it_acknowledges_counts_once() {
    dies_and_resumes("synced:5");
}

#[test]
fn what_a_session_that_is_over_left_is_taken_away_by_resume() {
    let Some(queue) = Queue::start() else { return };
    queue.define(3, "");
    let mut table = queue.table();
    table.env("ROUNDTABLE_STOP_AT", "closed");
    let mut table = Helper::start(table);
    let _worker = queue.worker("worker-home");
    assert_eq!(table.code(), None);
    assert_eq!(queue.number("session_closed"), 1);
    assert_eq!(queue.left("RT_SEALED_fleet").1, 1, "its consumer is there");
    Helper::start(queue.resume()).ends();
    queue.check_sealed(3);
    assert_eq!(queue.left("RT_SEALED_fleet"), (0, 0));
}

#[test]
fn a_worker_that_dies_is_followed_by_another() {
    for point in ["before-spool", "before-publish", "before-ack"] {
        let Some(queue) = Queue::start() else { return };
        queue.define(6, "");
        let mut table = Helper::start(queue.table());
        wait_for("the round", || (queue.number("work_item_offered") == 7).then_some(()));
        let mut first = queue.program("worker-home");
        first.args(["worker", "--name", "fleet"]).env("ROUNDTABLE_STOP_AT", point);
        assert_eq!(Helper::start(first).code(), None, "it dies at {point}");
        let _second = queue.worker("worker-home");
        table.ends();
        queue.check_sealed(6);
    }
}

#[test]
fn a_server_that_dies_and_comes_back_loses_nothing() {
    let Some(mut queue) = Queue::start() else { return };
    queue.define(200, "");
    let mut table = Helper::start(queue.table());
    let _worker = queue.worker("worker-home");
    wait_for("some ballots", || (queue.number("ballot_sealed") > 5).then_some(()));
    queue.0.kill();
    queue.0.restart();
    table.ends();
    queue.check_sealed(200);
}

#[test]
fn without_a_server_the_deadline_closes_the_round() {
    let Some(mut queue) = Queue::start() else { return };
    queue.define(2, ", deadline: 4s");
    let mut table = Helper::start(queue.table());
    wait_for("the round", || (queue.number("work_item_offered") == 3).then_some(()));
    queue.0.kill();
    table.code();
    let closed = queue.events().into_iter().find(|line| line["event"] == "round_closed").expect("closed");
    assert_eq!(closed["reason"], "deadline");
    queue.check_file();
}

#[test]
fn a_round_that_closes_takes_its_offers_out_of_the_queue() {
    let Some(queue) = Queue::start() else { return };
    queue.define(2, ", deadline: 3s");
    let text = fs::read_to_string(queue.path("vote.yaml")).expect("there");
    let again = text.split_once("steps: [").expect("steps").1.trim_end().trim_end_matches(']');
    let again = again.replace("id: vote", "id: again").replace("deadline: 3s", "deadline: 60s");
    let both = text.trim_end().strip_suffix(']').map(|text| format!("{text},\n  {again}]\n"));
    fs::write(queue.path("vote.yaml"), both.expect("a list")).expect("written");
    let _table = Helper::start(queue.table());
    wait_for("the second round", || (queue.number("round_opened") == 2).then_some(()));
    wait_for("its offers alone", || (queue.left_or_none("RT_OFFER") == Some(2)).then_some(()));
    let session = queue.events()[0]["session"].as_str().expect("an id").to_owned();
    let (runtime, context) = queue.context();
    let found = runtime.block_on(async {
        let stream = context.get_stream("RT_OFFER").await.expect("a stream");
        stream.get_last_raw_message_by_subject(&format!("rt.offer.fleet.{session}.vote.s0")).await
    });
    found.expect_err("an offer of the first round");
}

#[test]
fn an_offer_that_nobody_can_answer_fails_its_seat_alone() {
    let Some(queue) = Queue::start() else { return };
    queue.define(1, "");
    let mut table = Helper::start(queue.table());
    wait_for("the round", || (queue.number("work_item_offered") == 2).then_some(()));
    let (runtime, context) = queue.context();
    runtime.block_on(async {
        let worker: PullConsumer =
            context.get_consumer_from_stream("fleet", "RT_OFFER").await.expect("there");
        for _ in 0..4 {
            let mut got =
                worker.fetch().max_messages(1).expires(Duration::from_secs(9)).messages().await.expect("");
            let offer = got.next().await.expect("an offer").expect("an offer");
            offer.ack_with(AckKind::Nak(None)).await.expect("sent");
        }
        // A fifth pull finds nothing, and the server says why.
        let mut got =
            worker.fetch().max_messages(1).expires(Duration::from_secs(1)).messages().await.expect("");
        assert!(got.next().await.is_none());
    });
    table.ends();
    let failed = queue.events().into_iter().find(|line| line["event"] == "seat_failed").expect("failed");
    assert_eq!((&failed["participant"], &failed["reason"]), (&"s0".into(), &"the worker gave up".into()));
    queue.check_file();
    assert_eq!(queue.left("RT_OFFER").0, 0);
}

#[test]
fn a_worker_says_why_it_has_no_answer() {
    let Some(queue) = Queue::start() else { return };
    queue.define(1, "");
    queue.seat("s0", "remote/nats/fleet/openai/gpt-5");
    let mut table = Helper::start(queue.table());
    let _worker = queue.worker("worker-home");
    table.ends();
    let failed = queue.events().into_iter().find(|line| line["event"] == "seat_failed").expect("failed");
    assert!(failed["signature"].is_string(), "{failed}");
    queue.check_file();
}

#[test]
fn what_is_no_ballot_of_a_pinned_key_counts_for_nobody() {
    let Some(queue) = Queue::start() else { return };
    queue.define(2, ", deadline: 6s");
    let mut table = Helper::start(queue.table());
    wait_for("the round", || (queue.number("work_item_offered") == 3).then_some(()));
    let (runtime, context) = queue.context();
    let _other = queue.worker("other-home");
    wait_for("refusals", || (queue.number("envelope_refused") == 2).then_some(()));
    let session = queue.events()[0]["session"].as_str().expect("an id").to_owned();
    runtime.block_on(async {
        let subject = format!("rt.sealed.fleet.{session}.vote.s0");
        let sent = context.publish(subject, "rubbish".into()).await.expect("sent");
        sent.await.expect("stored");
    });
    wait_for("rubbish to go", || (queue.left("RT_SEALED_fleet").0 == 0).then_some(()));
    table.code();
    assert_eq!(queue.number("ballot_sealed"), 1, "that of this machine");
    queue.check_file();
    assert_eq!(queue.left("RT_SEALED_fleet"), (0, 0));
}

#[test]
fn an_offer_that_was_taken_and_is_not_answered_is_made_again_by_resume() {
    let Some(queue) = Queue::start() else { return };
    queue.define(2, "");
    let mut table = Helper::start(queue.table());
    wait_for("the round", || (queue.number("work_item_offered") == 3).then_some(()));
    let (runtime, context) = queue.context();
    runtime.block_on(async {
        let worker: PullConsumer =
            context.get_consumer_from_stream("fleet", "RT_OFFER").await.expect("there");
        for _ in 0..2 {
            let mut got =
                worker.fetch().max_messages(1).expires(Duration::from_secs(9)).messages().await.expect("");
            got.next().await.expect("an offer").expect("an offer").double_ack().await.expect("acknowledged");
        }
    });
    table.0.kill().expect("killed");
    table.code();
    let _worker = queue.worker("worker-home");
    Helper::start(queue.resume()).ends();
    queue.check_sealed(2);
}

#[test]
fn an_offer_that_an_operator_has_changed_is_not_answered() {
    let Some(queue) = Queue::start() else { return };
    queue.define(2, ", deadline: 6s");
    let mut table = Helper::start(queue.table());
    wait_for("the offers", || (queue.left_or_none("RT_OFFER") == Some(2)).then_some(()));
    let session = queue.events()[0]["session"].as_str().expect("an id").to_owned();
    let (runtime, context) = queue.context();
    runtime.block_on(async {
        let subject = format!("rt.offer.fleet.{session}.vote.s0");
        let stream = context.get_stream("RT_OFFER").await.expect("a stream");
        let offer = stream.get_last_raw_message_by_subject(&subject).await.expect("an offer");
        let mut json: Value = serde_json::from_slice(&offer.payload).expect("JSON");
        json["public_key"] = "7b4e909bbe7ffe44c465a220037d608ee35897d31ef972f07f74892cb0f73f13".into();
        stream.delete_message(offer.sequence).await.expect("deleted");
        let mut headers = async_nats::HeaderMap::new();
        headers.insert("rt-signature", offer.headers.get("rt-signature").expect("signed").as_str());
        let sent =
            context.publish_with_headers(subject, headers, json.to_string().into()).await.expect("sent");
        sent.await.expect("stored");
    });
    let _worker = queue.worker("worker-home");
    table.code();
    let sealed = |line: &&Value| line["event"] == "ballot_sealed";
    let sealed: Vec<Value> =
        queue.events().iter().filter(sealed).map(|line| line["participant"].clone()).collect();
    assert!(sealed.contains(&"s1".into()) && !sealed.contains(&"s0".into()), "{sealed:?}");
    queue.check_file();
}

/// What a placeholder says in an answer, and nothing else does.
const CANARY: &[u8] = b"picked at random, no model was asked";

#[test]
fn no_answer_lies_open_in_the_queue_and_what_came_while_nobody_was_there_counts() {
    let Some(queue) = Queue::start() else { return };
    queue.define(2, "");
    let mut table = Helper::start(queue.table());
    wait_for("the offers", || (queue.left_or_none("RT_OFFER") == Some(2)).then_some(()));
    table.0.kill().expect("killed");
    table.code();
    let _worker = queue.worker("worker-home");
    wait_for("the ballots", || (queue.left_or_none("RT_SEALED_fleet") == Some(2)).then_some(()));
    queue.check_said_nowhere(&["js", "worker-home"]);
    Helper::start(queue.resume()).ends();
    queue.check_sealed(2);
    let text = fs::read(queue.path("vote.s2s")).expect("there");
    assert!(text.windows(CANARY.len()).any(|part| part == CANARY), "it is what a placeholder says");
}

#[test]
fn a_session_that_waits_for_others_says_no_answer_that_it_has() {
    let Some(queue) = Queue::start() else { return };
    queue.define(3, ", deadline: 20s");
    queue.seat("s2", "remote/nats/other");
    let mut table = queue.table();
    let said = |name| fs::File::create(queue.path(name)).expect("made");
    table.env("ROUNDTABLE_LOG", queue.path("debug.log")).stdout(said("out")).stderr(said("err"));
    let mut table = Helper::start(table);
    let _worker = queue.worker("worker-home");
    wait_for("three ballots", || (queue.number("ballot_sealed") == 3).then_some(()));
    wait_for("a debug log", || queue.path("debug.log").exists().then_some(()));
    queue.check_said_nowhere(&["."]);
    let _other = queue.other();
    table.ends();
    queue.check_sealed(3);
}

#[test]
fn a_rest_puts_the_deadline_off_for_workers_too() {
    let Some(queue) = Queue::start() else { return };
    queue.define(2, ", deadline: 3s");
    let mut table = Helper::start(queue.table());
    wait_for("the offers", || (queue.left_or_none("RT_OFFER") == Some(2)).then_some(()));
    let until = Instant::now() + Duration::from_secs(3);
    table.interrupt();
    wait_for("the first deadline to pass", || (Instant::now() > until).then_some(()));
    let _worker = queue.worker("worker-home");
    Helper::start(queue.resume()).ends();
    queue.check_sealed(2);
}

#[test]
fn a_seat_whose_worker_gave_up_is_asked_again_by_resume() {
    let Some(queue) = Queue::start() else { return };
    queue.define(2, "");
    let text = fs::read_to_string(queue.path("vote.yaml")).expect("there");
    fs::write(queue.path("vote.yaml"), text.replace("quorum: 1", "quorum: 3")).expect("written");
    // It trusts no key that this session has.
    let config = fs::read_to_string(queue.path("other-home/config/config.yaml")).expect("there");
    let (before, after) = config.split_once("ed25519:").expect("a key");
    let stranger = format!("{before}ed25519:{}{}", "ab".repeat(32), &after[64..]);
    queue.configure("other-home", &stranger);
    let mut table = Helper::start(queue.table());
    let stranger = queue.worker("other-home");
    assert_eq!(table.code(), Some(5));
    assert_eq!(queue.number("seat_failed"), 2);
    drop(stranger);
    let _worker = queue.worker("worker-home");
    Helper::start(queue.resume()).ends();
    queue.check_sealed(2);
}

#[test]
fn a_worker_answers_for_no_seat_of_another() {
    let Some(queue) = Queue::start() else { return };
    queue.define(2, ", deadline: 6s");
    queue.seat("s1", "remote/nats/other");
    let mut table = Helper::start(queue.table());
    wait_for("the offers", || (queue.left_or_none("RT_OFFER") == Some(2)).then_some(()));
    let session = queue.events()[0]["session"].as_str().expect("an id").to_owned();
    let ballot = serde_json::json!({
        "v": 2, "delivery": "00".repeat(32), "session": session, "round": "vote", "participant": "s0",
        "snapshot_sha256": "00".repeat(32), "commitment": "00".repeat(32), "enc": "00".repeat(32),
        "sealed": "AAAA", "signature": "00".repeat(64),
    });
    let (runtime, context) = queue.context();
    let send = |worker: &str| {
        let subject = format!("rt.sealed.{worker}.{session}.vote.s0");
        runtime.block_on(async {
            let sent = context.publish(subject, ballot.to_string().into()).await.expect("sent");
            sent.await.expect("stored");
        });
        let stream = format!("RT_SEALED_{worker}");
        wait_for("it to be taken", || (queue.left(&stream).0 == 0).then_some(()));
    };
    send("other");
    assert_eq!(queue.number("envelope_refused"), 0, "the seat is not its own");
    send("fleet");
    wait_for("a refusal", || (queue.number("envelope_refused") == 1).then_some(()));
    table.code();
    queue.check_file();
}

#[test]
fn a_question_that_is_too_long_for_the_queue_fails_its_seat() {
    let Some(queue) = Queue::start() else { return };
    queue.define(1, "");
    let text = fs::read_to_string(queue.path("vote.yaml")).expect("there");
    let long = format!("question: \"{}\"", "Which store? ".repeat(22_000));
    let text = text
        .replace("question: Which store?", &long)
        .replace("steps:", "max_snapshot_bytes: 1000000\nsteps:");
    fs::write(queue.path("vote.yaml"), text).expect("written");
    Helper::start(queue.table()).ends();
    let failed = queue.events().into_iter().find(|line| line["event"] == "seat_failed").expect("failed");
    assert_eq!(failed["reason"], "its question is too long for the queue");
    queue.check_file();
}

#[test]
fn a_stream_that_is_configured_otherwise_is_refused_by_its_field() {
    let Some(queue) = Queue::start() else { return };
    queue.define(1, "");
    let (runtime, context) = queue.context();
    let wrong =
        Config { name: "RT_OFFER".to_owned(), subjects: vec!["rt.offer.>".to_owned()], ..Config::default() };
    runtime.block_on(context.create_stream(wrong)).expect("made");
    let done = queue.table().output_soon().expect("runs");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(
        said.contains("`retention` of the stream `RT_OFFER` is \"limits\", expected \"workqueue\""),
        "{said}"
    );
    assert!(!queue.path("vote.s2s").exists(), "nothing was begun");
}

#[test]
fn an_unknown_worker_and_a_server_that_is_not_there_are_said() {
    let Some(mut queue) = Queue::start() else { return };
    queue.define(1, "");
    queue.0.kill();
    let done = queue.table().output_soon().expect("runs");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(5), "{said}");
    assert!(said.contains("cannot be reached"), "{said}");
    assert!(!queue.path("vote.s2s").exists(), "nothing was begun");
    queue.configure("table-home", "");
    let done = queue.table().output_soon().expect("runs");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(2), "{said}");
    assert!(said.contains("seat `s0`: unknown worker `fleet`"), "{said}");
}

#[test]
fn the_screen_asks_workers_too() {
    let Some(mut queue) = Queue::start() else { return };
    let desk = Desk::with(
        "question: Which?\nballot: {kind: choice, options: [alpha, beta]}\nrule: majority\n\
         participants: [{name: ann, model: remote/nats/fleet}, {name: bob, model: remote/nats/fleet}]\n",
    );
    let (key, url) = (queue.key("worker-home", "keygen"), queue.0.url());
    let config = format!("remote: {{nats: {{url: \"{url}\"}}, workers: {{fleet: {{key: \"{key}\"}}}}}}\n");
    desk.write("../home/config/config.yaml", config);
    let table = desk.run(["worker", "table-key"]).code(0).out;
    let worker = format!(
        "worker: {{nats: {{url: \"{url}\"}}, table_keys: [\"{}\"], models: [rehearsal]}}\n",
        table.trim()
    );
    queue.configure("worker-home", &worker);
    let desk = desk.set("ROUNDTABLE_ACK_WAIT_MS", ACK_WAIT).set("ROUNDTABLE_CONNECT_MS", "300");
    queue.0.kill();
    let mut screen = Screen::open(&desk, (120, 40), &["decide.yaml"]);
    screen.wait_for(&["DRAFT"]);
    screen.press("o", &["cannot be reached"]);
    assert_eq!(desk.sessions(), [] as [PathBuf; 0], "nothing was begun");
    queue.0.restart();
    screen.press("\u{1b}", &["DRAFT"]);
    screen.press("o", &["OPEN", "0 of 2 sealed"]);
    wait_for("the offers", || (queue.left_or_none("RT_OFFER") == Some(2)).then_some(()));
    screen.press("x", &["Excuse ann"]);
    screen.press("away\r", &["excused"]);
    wait_for("its offer to go", || (queue.left_or_none("RT_OFFER") == Some(1)).then_some(()));
    let _worker = queue.worker("worker-home");
    screen.press("", &["REVEAL"]);
    screen.press("A", &["Accept"]);
    screen.press("y", &["Session finished"]);
    screen.send("q");
    assert_eq!(screen.end().0, 0);
    assert!(desk.run(["verify".to_owned(), arg(&desk.session())]).code == 0);
    assert_eq!(queue.left("RT_SEALED_fleet"), (0, 0));
}
