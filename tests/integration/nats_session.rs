//! Sessions with workers over NATS; either side is killed at named points.
//!
//! Skipped with a message without a server in `target/tools/nats`.
#![cfg(feature = "nats")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::stream::Config;
use async_nats::jetstream::{self, AckKind, Context};
use async_nats::{ConnectOptions, HeaderMap};
use futures::StreamExt as _;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::nats_server::NatsServer;
use crate::patience::{Patient as _, wait_for};
use crate::program::{Desk, Ran, files_in, named, ran};
use crate::pty::Screen;
use crate::server::{Answer, Server};

const ACK_WAIT: &str = "1500";
/// Text of a placeholder's answer, and of nothing else.
const CANARY: &[u8] = b"picked at random, no model was asked";

/// A server, a machine with a session, and one with a worker.
struct Queue(NatsServer);

impl Queue {
    fn start() -> Option<Self> {
        Self::with_users("")
    }

    /// Starts a server with these users: sessions log in as `boss`, workers as `fleet`.
    fn with_users(users: &str) -> Option<Self> {
        let server = NatsServer::start(&std::env::temp_dir(), users)?;
        let (url, queue) = (server.url(), Self(server));
        let nats = |user: &str| {
            let credentials = queue.path(user);
            fs::write(&credentials, format!("{user}:{user}")).expect("written");
            fs::set_permissions(&credentials, fs::Permissions::from_mode(0o600)).expect("set");
            format!("nats: {{url: \"{url}\", creds_file: {}}}", credentials.display())
        };
        let key = queue.key("worker-home", "keygen");
        let other = queue.key("other-home", "keygen");
        let workers = format!("workers: {{fleet: {{key: \"{key}\"}}, other: {{key: \"{other}\"}}}}");
        queue.configure("table-home", &format!("remote: {{{}, {workers}}}\n", nats("boss")));
        let table = queue.key("table-home", "table-key");
        let worker =
            format!("worker: {{{}, table_keys: [\"{table}\"], models: [rehearsal]}}\n", nats("fleet"));
        queue.configure("worker-home", &worker);
        queue.configure("other-home", &worker);
        Some(queue)
    }

    /// Makes the worker answer with this service.
    fn answers_by(&self, lab: &Server) {
        let config = fs::read_to_string(self.path("worker-home/config/config.yaml")).expect("there");
        let config = config.replace("models: [rehearsal]", "models: [lab/m]");
        let provider = format!("providers: {{lab: {{api: openai, base_url: \"{}/v1\"}}}}\n", lab.url());
        self.configure("worker-home", &(config + &provider));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.folder.path().join(name)
    }

    fn configure(&self, home: &str, text: &str) {
        fs::create_dir_all(self.path(home).join("config")).expect("a folder");
        fs::write(self.path(home).join("config/config.yaml"), text).expect("written");
    }

    fn key(&self, home: &str, verb: &str) -> String {
        self.run(home, &["worker", verb]).out.trim().to_owned()
    }

    fn program(&self, home: &str, args: &[&str]) -> Command {
        let mut program = Command::new(env!("CARGO_BIN_EXE_roundtable"));
        program.args(args).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        program.env("ROUNDTABLE_HOME", self.path(home)).env("ROUNDTABLE_ACK_WAIT_MS", ACK_WAIT);
        program.env("ROUNDTABLE_CONNECT_MS", "300").current_dir(self.0.folder.path());
        program.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        program
    }

    fn run(&self, home: &str, args: &[&str]) -> Ran {
        ran(self.program(home, args).output_soon().expect("runs"))
    }

    fn seat(&self, seat: &str, model: &str) {
        let of = |model: &str| format!("{{name: {seat}, model: {model}}}");
        let text = fs::read_to_string(self.path("vote.yaml")).expect("there");
        assert!(text.contains(&of("remote/nats/fleet")), "{text}");
        let text = text.replace(&of("remote/nats/fleet"), &of(model));
        fs::write(self.path("vote.yaml"), text).expect("written");
    }

    /// Writes a definition with `seats` seats of the worker, and one local seat.
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
        self.program("table-home", &["--batch", "vote.yaml", "--save", "vote.s2s"])
    }

    fn holds(&self) -> Helper {
        Helper::start(self.table())
    }

    /// Returns a server and a session that has offered `seats` seats.
    fn asking(seats: usize, more: &str) -> Option<(Self, Helper)> {
        let queue = Self::start()?;
        queue.define(seats, more);
        let table = queue.holds();
        queue.until_left("RT_OFFER", seats as u64);
        Some((queue, table))
    }

    fn resumes(&self) {
        Helper::start(self.program("table-home", &["resume", "vote.s2s"])).ends();
    }

    fn works(&self, home: &str, name: &str) -> Helper {
        Helper::start(self.program(home, &["worker", "--name", name]))
    }

    fn worker(&self) -> Helper {
        self.works("worker-home", "fleet")
    }

    /// Fails if any file contains a placeholder's answer.
    fn check_said_nowhere(&self) {
        for path in files_in(self.0.folder.path()) {
            let bytes = fs::read(&path).unwrap_or_default();
            assert!(!bytes.windows(CANARY.len()).any(|part| part == CANARY), "{}", path.display());
        }
    }

    fn events(&self, name: &str) -> Vec<Value> {
        named(&self.run("table-home", &["replay", "vote.s2s", "--json"]).lines(), name)
    }

    /// Returns how many of these events are in the file so far.
    fn count(&self, event: &str) -> usize {
        let text = fs::read_to_string(self.path("vote.s2s")).unwrap_or_default();
        text.matches(&format!("\nevent: {event}\n")).count()
    }

    #[track_caller]
    fn until(&self, event: &str, number: usize) {
        wait_for(event, || (self.count(event) == number).then_some(()));
    }

    fn session(&self) -> String {
        self.events("session_opened")[0]["session"].as_str().expect("an id").to_owned()
    }

    /// Fails unless every seat is sealed once and the file verifies, also with the Python verifier.
    fn check_sealed(&self, seats: usize) {
        let mut times = BTreeMap::new();
        for line in self.events("ballot_sealed") {
            *times.entry(line["participant"].to_string()).or_insert(0) += 1;
        }
        assert!(times.len() == seats + 1 && times.values().all(|times| *times == 1), "{times:?}");
        self.check_file();
    }

    fn check_file(&self) {
        self.run("table-home", &["verify", "vote.s2s"]).code(0);
        // The Python verifier reads these: see `tests/nats/run.sh`.
        if let Some(folder) = std::env::var_os("ROUNDTABLE_KEEP_SESSIONS") {
            let name = std::thread::current().name().unwrap_or("a test").replace("::", "-");
            fs::copy(self.path("vote.s2s"), Path::new(&folder).join(format!("{name}.s2s"))).expect("kept");
        }
    }

    fn nats<T>(&self, work: impl AsyncFnOnce(Context) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let boss = ConnectOptions::with_user_and_password("boss".to_owned(), "boss".to_owned());
            work(jetstream::new(boss.connect(self.0.url()).await.expect("connected"))).await
        })
    }

    fn publish(&self, subject: String, headers: HeaderMap, payload: String) {
        self.nats(async |context| {
            let sent = context.publish_with_headers(subject, headers, payload.into()).await.expect("sent");
            sent.await.expect("stored");
        });
    }

    /// Takes `offers` offers of the worker one by one with this reply; fails if more are left.
    fn take(&self, offers: usize, answer: AckKind) {
        self.nats(async |context| {
            let worker = context.get_consumer_from_stream("fleet", "RT_OFFER").await;
            let worker: PullConsumer = worker.expect("there");
            let next = async |seconds| {
                let pull = worker.fetch().max_messages(1).expires(Duration::from_secs(seconds));
                pull.messages().await.expect("pulled").next().await
            };
            for _ in 0..offers {
                let offer = next(9).await.expect("an offer").expect("an offer");
                offer.double_ack_with(answer).await.expect("acknowledged");
            }
            assert!(next(1).await.is_none());
        });
    }

    /// Returns the number of messages and consumers of a stream, or `None` before it exists.
    fn left(&self, stream: &str) -> Option<(u64, usize)> {
        self.nats(async |context| {
            let stream = context.get_stream(stream).await.ok()?;
            let state = &stream.cached_info().state;
            Some((state.messages, state.consumer_count))
        })
    }

    #[track_caller]
    fn until_left(&self, stream: &str, messages: u64) {
        wait_for(stream, || self.left(stream).filter(|left| left.0 == messages));
    }
}

struct Helper(Child);

impl Helper {
    fn start(mut program: Command) -> Self {
        Self(program.start().expect("starts"))
    }

    fn code(&mut self) -> Option<i32> {
        self.0.wait().expect("ended").code()
    }

    fn interrupt(&mut self) {
        kill_process(Pid::from_child(&self.0), Signal::INT).expect("signalled");
        assert_eq!(self.code(), Some(130));
    }

    fn kill(&mut self) {
        self.0.kill().expect("killed");
        self.code();
    }

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

/// The session dies while it asks, before a ballot is on disk, or before it acknowledges one. One seat answers
/// only afterwards, so that the round is open at that time.
#[test]
fn a_session_that_dies_at_any_point_counts_each_seat_once() {
    const SEATS: usize = 12;
    for point in ["offered:5", "taken:5", "synced:5"] {
        let Some(queue) = Queue::start() else { return };
        queue.define(SEATS, "");
        queue.seat("s11", "remote/nats/other");
        let mut table = queue.table();
        table.env("ROUNDTABLE_STOP_AT", point);
        let mut table = Helper::start(table);
        let _worker = queue.worker();
        assert_eq!(table.code(), None, "it dies by a signal at {point}");
        assert!(queue.count("ballot_sealed") < SEATS + 1, "{point}");
        let _other = queue.works("other-home", "other");
        queue.resumes();
        queue.check_sealed(SEATS);
        assert_eq!(queue.left("RT_OFFER").map(|left| left.0), Some(0));
        assert_eq!(queue.left("RT_SEALED_fleet"), Some((0, 0)));
    }
}

#[test]
fn resume_deletes_the_queue_of_a_finished_session() {
    let Some(queue) = Queue::start() else { return };
    queue.define(3, "");
    let mut table = queue.table();
    table.env("ROUNDTABLE_STOP_AT", "closed");
    let mut table = Helper::start(table);
    let _worker = queue.worker();
    assert_eq!(table.code(), None);
    assert_eq!(queue.count("session_closed"), 1);
    assert_eq!(queue.left("RT_SEALED_fleet").map(|left| left.1), Some(1), "its consumer is there");
    queue.resumes();
    queue.check_sealed(3);
    assert_eq!(queue.left("RT_SEALED_fleet"), Some((0, 0)));
}

#[test]
fn a_worker_that_dies_is_followed_by_another() {
    for point in ["before-spool", "before-publish", "before-ack"] {
        let Some((queue, mut table)) = Queue::asking(6, "") else { return };
        let mut first = queue.program("worker-home", &["worker", "--name", "fleet"]);
        first.env("ROUNDTABLE_STOP_AT", point);
        assert_eq!(Helper::start(first).code(), None, "it dies at {point}");
        let _second = queue.worker();
        table.ends();
        queue.check_sealed(6);
    }
}

#[test]
fn a_server_that_dies_and_comes_back_loses_nothing() {
    let Some(mut queue) = Queue::start() else { return };
    queue.define(crate::cases(100, 200), "");
    let mut table = queue.holds();
    let _worker = queue.worker();
    wait_for("some ballots", || (queue.count("ballot_sealed") > 5).then_some(()));
    queue.0.kill();
    queue.0.restart();
    table.ends();
    queue.check_sealed(crate::cases(100, 200));
}

#[test]
fn without_a_server_the_deadline_closes_the_round() {
    let Some((mut queue, mut table)) = Queue::asking(2, ", deadline: 4s") else { return };
    queue.0.kill();
    table.code();
    assert_eq!(queue.events("round_closed")[0]["reason"], "deadline");
    queue.check_file();
}

#[test]
fn an_offer_that_nobody_can_answer_fails_its_seat_alone() {
    let Some((queue, mut table)) = Queue::asking(1, "") else { return };
    // A fifth pull finds nothing, and the server says why.
    queue.take(4, AckKind::Nak(None));
    table.ends();
    let failed = &queue.events("seat_failed")[0];
    assert_eq!((&failed["participant"], &failed["reason"]), (&"s0".into(), &"the worker gave up".into()));
    queue.check_file();
    assert_eq!(queue.left("RT_OFFER").map(|left| left.0), Some(0));
}

#[test]
fn what_is_no_ballot_of_a_pinned_key_counts_for_nobody() {
    let Some((queue, mut table)) = Queue::asking(2, ", deadline: 6s") else { return };
    // Its key is not the one pinned for `fleet`.
    let _stranger = queue.works("other-home", "fleet");
    queue.until("envelope_refused", 2);
    let subject = format!("rt.sealed.fleet.{}.vote.s0", queue.session());
    queue.publish(subject, HeaderMap::new(), "rubbish".to_owned());
    queue.until_left("RT_SEALED_fleet", 0);
    table.code();
    assert_eq!(queue.count("ballot_sealed"), 1, "that of this machine");
    queue.check_file();
    assert_eq!(queue.left("RT_SEALED_fleet"), Some((0, 0)));
}

#[test]
fn an_offer_that_was_taken_and_is_not_answered_is_made_again_by_resume() {
    let Some((queue, mut table)) = Queue::asking(2, "") else { return };
    queue.take(2, AckKind::Ack);
    table.kill();
    // Meanwhile somebody replaces its snapshot.
    let of = queue.events("round_opened")[0]["snapshot_sha256"].to_string().replace('"', "");
    queue.nats(async |to| to.get_stream("RT_CONTEXT").await.expect("there").purge().await.expect("done"));
    queue.publish(format!("rt.context.{of}.0"), HeaderMap::new(), "rubbish".to_owned());
    let _worker = queue.worker();
    queue.resumes();
    queue.check_sealed(2);
}

#[test]
fn no_answer_lies_open_before_the_close_and_what_came_while_nobody_was_there_counts() {
    let Some(queue) = Queue::start() else { return };
    queue.define(3, "");
    queue.seat("s2", "remote/nats/other");
    let mut table = queue.table();
    let said = |name| fs::File::create(queue.path(name)).expect("made");
    table.stdout(said("out")).stderr(said("err"));
    let mut table = Helper::start(table);
    let worker = queue.worker();
    queue.until("ballot_sealed", 3);
    queue.check_said_nowhere();
    table.kill();
    drop(worker);
    let _other = queue.works("other-home", "other");
    queue.until_left("RT_SEALED_other", 1);
    queue.check_said_nowhere();
    queue.resumes();
    queue.check_sealed(3);
    let text = fs::read(queue.path("vote.s2s")).expect("there");
    assert!(text.windows(CANARY.len()).any(|part| part == CANARY), "it is what a placeholder says");
}

#[test]
fn a_pause_extends_the_deadline_for_workers_too() {
    let Some((queue, mut table)) = Queue::asking(2, ", deadline: 3s") else { return };
    let until = Instant::now() + Duration::from_secs(3);
    table.interrupt();
    wait_for("the first deadline to pass", || (Instant::now() > until).then_some(()));
    let _worker = queue.worker();
    queue.resumes();
    queue.check_sealed(2);
}

#[test]
fn a_worker_answers_for_no_seat_of_another() {
    let Some(queue) = Queue::start() else { return };
    queue.define(2, ", deadline: 6s");
    queue.seat("s1", "remote/nats/other");
    let mut table = queue.holds();
    queue.until_left("RT_OFFER", 2);
    let session = queue.session();
    let ballot = json!({
        "v": 3, "delivery": "00".repeat(32), "session": session, "round": "vote", "participant": "s0",
        "snapshot_sha256": "00".repeat(32), "opened_sha256": "00".repeat(32), "commitment": "00".repeat(32), "enc": "00".repeat(32),
        "sealed": "AAAA", "signature": "00".repeat(64),
    });
    let send = |worker: &str| {
        queue.publish(format!("rt.sealed.{worker}.{session}.vote.s0"), HeaderMap::new(), ballot.to_string());
        queue.until_left(&format!("RT_SEALED_{worker}"), 0);
    };
    send("other");
    assert_eq!(queue.count("envelope_refused"), 0, "the seat is not its own");
    send("fleet");
    queue.until("envelope_refused", 1);
    table.code();
    queue.check_file();
}

#[test]
fn an_unusable_queue_is_reported_and_nothing_is_written() {
    let Some(mut queue) = Queue::start() else { return };
    queue.define(1, "");
    let refused = |queue: &Queue, code: i32, words: &str| {
        ran(queue.table().output_soon().expect("runs")).code(code).tells(words);
        assert!(!queue.path("vote.s2s").exists(), "nothing was begun");
    };
    let (name, subjects) = ("RT_OFFER".to_owned(), vec!["rt.offer.>".to_owned()]);
    let wrong = Config { name, subjects, ..Config::default() };
    queue.nats(async |context| context.create_stream(wrong).await.map(drop).expect("made"));
    refused(&queue, 2, "the stream `RT_OFFER` cannot be used");
    queue.0.kill();
    refused(&queue, 5, "cannot be reached");
    queue.configure("table-home", "");
    refused(&queue, 2, "seat `s0`: unknown worker `fleet`");
}

#[test]
fn the_screen_asks_workers_too() {
    let Some(mut queue) = Queue::start() else { return };
    let nats = format!("nats: {{url: \"{}\"}}", queue.0.url());
    let key = queue.key("worker-home", "keygen");
    let desk = Desk::with(
        "question: Which?\nballot: {kind: choice, options: [alpha, beta]}\nrule: majority\n\
         participants: [{name: ann, model: remote/nats/fleet}, {name: bob, model: remote/nats/fleet}]\n",
    )
    .configured(format!("remote: {{{nats}, workers: {{fleet: {{key: \"{key}\"}}}}}}\n"));
    let table = desk.run(["worker", "table-key"]).code(0).out;
    let keys = format!("table_keys: [\"{}\"]", table.trim());
    queue.configure("worker-home", &format!("worker: {{{nats}, {keys}, models: [rehearsal]}}\n"));
    let desk = desk.set("ROUNDTABLE_ACK_WAIT_MS", ACK_WAIT).set("ROUNDTABLE_CONNECT_MS", "300");
    queue.0.kill();
    let mut screen = Screen::open(&desk, (120, 40), &["decide.yaml"]);
    screen.wait_for(&["DRAFT"]);
    screen.press("o", &["cannot be reached"]);
    assert_eq!(desk.sessions(), [] as [PathBuf; 0], "nothing was begun");
    queue.0.restart();
    screen.press("\u{1b}", &["DRAFT"]);
    screen.press("o", &["OPEN", "0 of 2 sealed"]);
    queue.until_left("RT_OFFER", 2);
    screen.press("x", &["Continue without ann?"]);
    screen.press("y", &["excused"]);
    queue.until_left("RT_OFFER", 1);
    let _worker = queue.worker();
    screen.press("", &["REVEAL"]);
    screen.press("A", &["Accept"]);
    screen.press("y", &["Session finished"]);
    screen.quits();
    desk.verify();
    assert_eq!(queue.left("RT_SEALED_fleet"), Some((0, 0)));
}

#[test]
fn a_slow_model_is_waited_for_and_asked_once() {
    let lab = Server::start(|_| Answer::chat("vote: redis").after(Duration::from_secs(4)));
    let Some(queue) = Queue::start() else { return };
    queue.answers_by(&lab);
    queue.define(2, "");
    let mut table = queue.holds();
    // A second worker would get offers that the first one does not acknowledge.
    let _workers = [queue.worker(), queue.worker()];
    table.ends();
    queue.check_sealed(2);
    assert_eq!(lab.requests().len(), 2);
}

#[test]
fn an_interrupt_lets_a_worker_finish_what_it_has_begun() {
    let lab = Server::start(|_| Answer::chat("vote: redis").held());
    let Some(queue) = Queue::start() else { return };
    queue.answers_by(&lab);
    queue.define(1, "");
    let mut table = queue.holds();
    let mut worker = queue.worker();
    wait_for("a question", || (lab.requests().len() == 1).then_some(()));
    kill_process(Pid::from_child(&worker.0), Signal::INT).expect("sent");
    lab.release();
    assert_eq!(worker.code(), Some(0));
    table.ends();
    queue.check_sealed(1);
}

#[test]
fn a_worker_that_cannot_start_says_why_by_its_exit_code() {
    let Some(mut queue) = Queue::start() else { return };
    let run = |of: &Queue, home: &str| of.run(home, &["worker", "--nats", &of.0.url(), "--name", "fleet"]);
    let config = fs::read_to_string(queue.path("worker-home/config/config.yaml")).expect("there");
    for (from, to, told) in
        [("/fleet}", "/nothing}", "docs/ELSEWHERE.md"), ("rehearsal", "remote/link", "does not answer here")]
    {
        queue.configure("worker-home", &config.replace(from, to));
        run(&queue, "worker-home").code(2).tells(told);
    }
    queue.configure("worker-home", &config);
    run(&queue, "nobody").code(2).tells("keygen");
    queue.0.kill();
    run(&queue, "worker-home").code(5);
}

#[test]
fn the_documented_permissions_are_enough_and_allow_nothing_else() {
    let document = include_str!("../../docs/ELSEWHERE.md");
    let (_, permissions) = document.split_once("# fleet.conf\n").expect("shown");
    let (permissions, _) = permissions.split_once("```").expect("an end");
    let users = format!(
        "authorization {{users: [{{user: boss, password: boss}}\n{{user: fleet, password: fleet\n{permissions}}}]}}"
    );
    let Some(queue) = Queue::with_users(&users) else { return };
    queue.define(1, "");
    let mut table = queue.holds();
    let _worker = queue.worker();
    table.ends();
    queue.check_sealed(1);
    queue.nats(async |_| {
        let (told, mut violations) = tokio::sync::mpsc::unbounded_channel();
        let fleet = ConnectOptions::with_user_and_password("fleet".to_owned(), "fleet".to_owned())
            .custom_inbox_prefix("_INBOX_fleet")
            .request_timeout(Some(Duration::from_millis(300)))
            .event_callback(move |event| {
                let told = told.clone();
                async move {
                    let _ = told.send(event.to_string().to_lowercase());
                }
            });
        let fleet = fleet.connect(queue.0.url()).await.expect("connected");
        let mut violated = async |what: &str| {
            let end = Duration::from_secs(10);
            while let Ok(Some(event)) = tokio::time::timeout(end, violations.recv()).await {
                if event.contains("permissions violation") {
                    return;
                }
            }
            panic!("{what} is not refused");
        };
        let _all = fleet.subscribe("rt.>").await.expect("asked");
        violated("subscribing to everything").await;
        let subjects = "$JS.API.STREAM.MSG.GET.RT_SEALED_fleet $JS.API.CONSUMER.MSG.NEXT.RT_OFFER.other \
            $JS.API.STREAM.PURGE.RT_SEALED_fleet $JS.API.STREAM.PURGE.RT_OFFER \
            $JS.API.DIRECT.GET.RT_SEALED_fleet.rt.sealed.fleet.s.vote.ann $JS.API.STREAM.INFO.RT_OFFER \
            $JS.ACK.RT_OFFER.other.1.1.1.1.0 rt.sealed.other.s.vote.ann rt.offer.fleet.s.vote.ann rt.context.00.0";
        for subject in subjects.split(' ') {
            let _ = fleet.request(subject, "".into()).await;
            violated(subject).await;
        }
    });
}
