//! `worker` against a real NATS server; without one at `target/tools/nats` these are skipped with a word.
#![cfg(feature = "nats")]

use std::fs;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_nats::jetstream::consumer::{AckPolicy, pull};
use async_nats::jetstream::stream::{Config, RetentionPolicy};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectOptions, HeaderMap};
use roundtable::ballot::{BallotForm, BallotKind};
use roundtable::remote::nats::{names, streams};
use roundtable::round::answer::AnswerRecord;
use roundtable::round::envelope::{Envelope, FailedDelivery};
use roundtable::round::seal::sign::{SigningKey, ballot_message, delivery_id, is_signed, offer_message};
use roundtable::round::seal::{AssociatedData, RoundKey, unseal};
use roundtable::round::snapshot::sha256_hex;
use serde_json::{Value, json};

use crate::nats_server::NatsServer;
use crate::patience::Patient as _;
use crate::program::{Ran, ran};
use crate::server::{Answer, Server};

const CANARY: &str = "a grey heron stands there";
/// Longer than one part of a snapshot.
const PADDING: usize = 600 * 1024;

async fn wait_for<T>(what: &str, mut found: impl AsyncFnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(found) = found().await {
            return found;
        }
        assert!(Instant::now() < end, "{what} did not come");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

struct Hall {
    server: NatsServer,
    client: Client,
    queue: Context,
    table: SigningKey,
    round: RoundKey,
    lab: Server,
    key: String,
    ack_wait: Duration,
}

impl Hall {
    /// With a model that answers at once.
    async fn new() -> Option<Self> {
        Self::with(Server::start(|_| vote()), Duration::from_secs(30), "").await
    }

    async fn with(lab: Server, ack_wait: Duration, users: &str) -> Option<Self> {
        let server = NatsServer::start(&std::env::temp_dir(), users)?;
        let url = server.url();
        let boss = || ConnectOptions::with_user_and_password("boss".to_owned(), "boss".to_owned());
        let client = boss().connect(&url).await.expect("connected");
        let queue = jetstream::new(client.clone());
        let [table, round] = [1, 3].map(|seed| [seed; 32]);
        let (table, round) = (SigningKey::new(table), RoundKey::new(round));
        let key = String::new();
        let mut hall = Self { server, client, queue, table, round, lab, key, ack_wait };
        hall.make_streams().await;
        hall.set_up("home", &hall.lab);
        hall.key = hall.keygen("home");
        Some(hall)
    }

    async fn make_streams(&self) {
        streams::make(&self.queue, &[]).await.expect("streams");
        let sealed = Config {
            name: names::sealed_stream("fleet"),
            subjects: vec!["rt.sealed.fleet.>".to_owned()],
            retention: RetentionPolicy::WorkQueue,
            ..Config::default()
        };
        self.queue.create_stream(sealed).await.expect("a stream");
        let consumer = pull::Config {
            durable_name: Some("fleet".to_owned()),
            filter_subject: "rt.offer.fleet.>".to_owned(),
            ack_policy: AckPolicy::Explicit,
            ack_wait: self.ack_wait,
            max_deliver: 4,
            max_ack_pending: 4096,
            ..pull::Config::default()
        };
        self.queue.create_consumer_on_stream(consumer, names::OFFERS).await.expect("a consumer");
    }

    fn set_up(&self, home: &str, lab: &Server) {
        let folder = self.server.folder.path().join(home).join("config");
        fs::create_dir_all(&folder).expect("a folder");
        let config = format!(
            "max_output_tokens: 100\n\
             providers: {{lab: {{api: openai, base_url: \"{}/v1\", stream: false}}}}\n\
             prices: {{lab/m: {{input: 1000, output: 1000}}}}\n\
             worker: {{table_keys: [\"ed25519:{}\"], models: [lab/m]}}\n",
            lab.url(),
            self.table.public()
        );
        fs::write(folder.join("config.yaml"), config).expect("written");
    }

    fn program(&self, home: &str) -> Command {
        let (folder, wait) = (self.server.folder.path(), self.ack_wait.as_millis().to_string());
        let mut program = Command::new(env!("CARGO_BIN_EXE_roundtable"));
        program.env("ROUNDTABLE_HOME", folder.join(home)).current_dir(folder);
        program.env("ROUNDTABLE_ACK_WAIT_MS", wait).stdin(Stdio::null());
        program
    }

    fn keygen(&self, home: &str) -> String {
        let printed = run(self.program(home).args(["worker", "keygen"])).out;
        printed.trim().strip_prefix("ed25519:").expect("a key").to_owned()
    }

    fn worker(&self, home: &str, more: &[&str]) -> Command {
        self.worker_as("boss:boss", home, more)
    }

    fn worker_as(&self, user: &str, home: &str, more: &[&str]) -> Command {
        let creds = self.server.folder.path().join("creds");
        fs::write(&creds, user).expect("written");
        fs::set_permissions(&creds, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("set");
        let mut program = self.program(home);
        program.args(["worker", "--nats", &self.server.url(), "--name", "fleet"]).args(more);
        program.arg("--creds").arg(creds);
        program
    }

    /// Runs a worker until there is nothing to answer; returns what it said.
    fn until_idle(&self, home: &str, more: &[&str]) -> String {
        let done = run(self.worker(home, more).arg("--until-idle")).code(0);
        assert_eq!(done.out, "");
        done.err
    }

    fn snapshot() -> String {
        format!("participant_context:\n  goal: \"{}\"\n", "x".repeat(PADDING))
    }

    fn offer(&self, seat: &str, changes: &[(&str, Value)]) -> Value {
        let (public_key, hash) = (self.round.seal_to().public_key, sha256_hex(Self::snapshot()));
        let opened = sha256_hex("opened");
        let binding = AssociatedData {
            session: "s",
            round: "vote",
            participant: seat,
            snapshot_sha256: &hash,
            opened_sha256: &opened,
        };
        let mut offer = json!({
            "v": 3, "kind": "ballot", "delivery": delivery_id(binding, &public_key, 1), "session": "s",
            "round": "vote", "participant": seat, "try": 1, "question": "Which?",
            "ballot": BallotForm::over(BallotKind::Choice, vec!["a".into(), "b".into()]),
            "rules": "Rules.\n", "address": "  your_role: \"x\"\n", "persona": "You doubt.\n",
            "snapshot_sha256": hash, "opened_sha256": opened, "public_key": public_key, "table_key": self.table.public(),
            "deadline": null, "model": null,
        });
        for (key, value) in changes {
            offer[*key] = value.clone();
        }
        offer
    }

    async fn send(&self, offer: &Value) {
        self.send_to(
            names::offer("fleet", "s", "vote", offer["participant"].as_str().expect("a seat")),
            offer,
        )
        .await;
    }

    async fn send_to(&self, subject: String, offer: &Value) {
        let json = offer.to_string();
        let mut headers = HeaderMap::new();
        headers.insert(names::SIGNATURE, self.table.sign(&offer_message(json.as_bytes())));
        let sent = self.queue.publish_with_headers(subject, headers, json.into()).await.expect("sent");
        sent.await.expect("stored");
    }

    async fn send_snapshot(&self) {
        let text = Self::snapshot();
        for (number, part) in text.as_bytes().chunks(names::CONTEXT_PART).enumerate() {
            let subject = names::context(&sha256_hex(&text), number);
            let sent = self.queue.publish(subject, part.to_vec().into()).await.expect("sent");
            sent.await.expect("stored");
        }
    }

    /// Offers one question to each of these seats.
    async fn ask(&self, seats: &[&str]) {
        self.send_snapshot().await;
        for seat in seats {
            self.send(&self.offer(seat, &[])).await;
        }
    }

    async fn count(&self, stream: &str) -> u64 {
        let mut stream = self.queue.get_stream(stream).await.expect("a stream");
        stream.info().await.expect("told").state.messages
    }

    async fn sent_back(&self) -> Vec<Vec<u8>> {
        let mut stream = self.queue.get_stream("RT_SEALED_fleet").await.expect("a stream");
        let last = stream.info().await.expect("told").state.last_sequence;
        let mut all = Vec::new();
        for sequence in 1..=last {
            all.push(stream.get_raw_message(sequence).await.expect("there").payload.to_vec());
        }
        all
    }

    /// The seats whose ballots are in the queue, each opened and checked.
    async fn sealed(&self) -> Vec<String> {
        let mut seats = Vec::new();
        for json in self.sent_back().await {
            let envelope = Envelope::read(&json).expect("an envelope");
            let message =
                ballot_message(envelope.binding(), &self.round.seal_to().public_key, &envelope.seal());
            assert!(is_signed(&self.key, &message.expect("its form"), &envelope.signature));
            let opened = unseal(&self.round, envelope.binding(), &envelope.seal());
            let raw: AnswerRecord = serde_json::from_str(&opened.expect("opens").record).expect("a record");
            assert!(raw.replies[0].text.contains(CANARY));
            seats.push(envelope.participant);
        }
        seats.sort();
        seats
    }

    async fn failures(&self) -> Vec<FailedDelivery> {
        let all = self.sent_back().await;
        let failed: Vec<_> = all.iter().filter_map(|json| FailedDelivery::read(json)).collect();
        assert!(failed.iter().all(|failed| failed.is_signed_by(&self.key)));
        failed
    }

    async fn assert_empty(&self) {
        assert_eq!(self.count("RT_OFFER").await, 0, "offers are left");
    }

    fn asked(&self) -> usize {
        self.lab.requests().len()
    }

    fn bytes(&self, folder: &str) -> String {
        let mut todo = vec![self.server.folder.path().join(folder)];
        let mut text = String::new();
        while let Some(path) = todo.pop() {
            todo.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
            text.push_str(&String::from_utf8_lossy(&fs::read(path).unwrap_or_default()));
        }
        text
    }
}

fn run(command: &mut Command) -> Ran {
    ran(command.output_soon().expect("runs"))
}

fn killed(worker: &mut Child) {
    let _ = worker.kill();
    let _ = worker.wait();
}

fn vote() -> Answer {
    Answer::chat(&json!({ "vote": "a", "rationale": [CANARY] }).to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_and_only_the_round_can_read_it() {
    let Some(hall) = Hall::new().await else { return };
    hall.ask(&["ann", "bob"]).await;
    let said = hall.until_idle("home", &[]);
    assert_eq!(hall.sealed().await, ["ann", "bob"]);
    hall.assert_empty().await;
    assert_eq!(hall.asked(), 2);
    let prompt = hall.lab.requests()[0].body.clone();
    assert!(String::from_utf8_lossy(&prompt).contains("You doubt."));
    assert_eq!(said.matches("session s: answering").count(), 1, "{said}");
    assert_eq!(said.lines().count(), 2, "{said}");
    let key = hall.bytes("home/state/keys");
    assert!(key.len() >= 64);
    for text in [hall.bytes("js"), said, hall.bytes("home/state/worker")] {
        assert!(!text.contains(CANARY) && !text.contains(key.trim()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn offers_that_must_not_be_answered_ask_no_model() {
    let Some(hall) = Hall::new().await else { return };
    hall.send_snapshot().await;
    let other = SigningKey::new([9; 32]).public();
    for (seat, change) in [
        ("stranger", ("table_key", json!(other))),
        ("moved", ("public_key", json!(RoundKey::new([4; 32]).seal_to().public_key))),
        ("late", ("deadline", json!(1_000_000))),
        ("newer", ("v", json!(4))),
        ("work", ("kind", json!("work"))),
        ("model", ("model", json!("lab/dearer"))),
    ] {
        hall.send(&hall.offer(seat, &[change])).await;
    }
    // One that is sent to another subject than its own says nothing of a seat.
    hall.send_to("rt.offer.fleet.s.vote.x".to_owned(), &hall.offer("victim", &[("v", json!(4))])).await;
    let said = hall.until_idle("home", &[]);
    assert_eq!(hall.asked(), 0, "{said}");
    let failures = hall.failures().await;
    let mut failed: Vec<_> =
        failures.iter().map(|failed| (failed.participant.as_str(), failed.failed.reason.as_str())).collect();
    failed.sort_unstable();
    let newer = "needs a newer version";
    let model = "the worker does not answer with this model";
    // Nothing is signed for a stranger or for what was changed: the queue tells the table.
    assert_eq!(failed, [("model", model), ("newer", newer), ("work", newer)]);
    assert_eq!(said.matches(&format!("`ed25519:{other}` is none of `table_keys`")).count(), 1, "{said}");
    let offers = hall.queue.get_stream(names::OFFERS).await.expect("a stream");
    for seat in ["stranger", "moved"] {
        let left = offers.purge().filter(names::offer("fleet", "s", "vote", seat)).await.expect("purged");
        assert_eq!(left.purged, 1, "{seat}");
    }
    hall.assert_empty().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_was_answered_asks_no_model_again() {
    let Some(hall) = Hall::new().await else { return };
    hall.ask(&["ann"]).await;
    hall.until_idle("home", &[]);
    for _ in 0..2 {
        hall.send(&hall.offer("ann", &[])).await;
        hall.until_idle("home", &[]);
        hall.assert_empty().await;
    }
    assert_eq!(hall.asked(), 1);
    assert_eq!(hall.sealed().await, ["ann"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_workers_of_one_name_share_the_work() {
    let Some(hall) = Hall::new().await else { return };
    let other = Server::start(|_| vote());
    hall.set_up("second", &other);
    hall.keygen("second");
    let key = |home| hall.server.folder.path().join(home).join("state/keys/worker.sign");
    fs::copy(key("home"), key("second")).expect("copied");
    let seats: Vec<String> = (0..24).map(|number| format!("seat{number:02}")).collect();
    let mut workers = ["home", "second"]
        .map(|home| hall.worker(home, &["--in-flight", "1"]).stderr(Stdio::null()).start().expect("starts"));
    hall.ask(&seats.iter().map(String::as_str).collect::<Vec<_>>()).await;
    wait_for("all ballots", async || (hall.count("RT_SEALED_fleet").await == 24).then_some(())).await;
    workers.iter_mut().for_each(killed);
    assert_eq!(hall.sealed().await, seats);
    let shares = (hall.asked(), other.requests().len());
    assert_eq!(shares.0 + shares.1, 24);
    assert!(shares.0 > 0 && shares.1 > 0, "{shares:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_model_is_waited_for_and_asked_once() {
    let lab = Server::start(|_| vote().after(Duration::from_millis(2500)));
    let Some(hall) = Hall::with(lab, Duration::from_millis(600), "").await else { return };
    hall.ask(&["ann", "bob"]).await;
    // Another process would be given what the first is silent about.
    let start = || hall.worker("home", &[]).stderr(Stdio::null()).start().expect("starts");
    let mut workers = [start(), start()];
    wait_for("both ballots", async || (hall.count("RT_SEALED_fleet").await >= 2).then_some(())).await;
    wait_for("both acknowledged", async || (hall.count("RT_OFFER").await == 0).then_some(())).await;
    workers.iter_mut().for_each(killed);
    assert_eq!(hall.sealed().await, ["ann", "bob"]);
    assert_eq!(hall.asked(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_without_its_snapshot_fails_and_the_others_are_answered() {
    let lab = Server::start(|_| vote());
    let Some(hall) = Hall::with(lab, Duration::from_millis(600), "").await else { return };
    let lost = sha256_hex("nowhere");
    let public_key = hall.round.seal_to().public_key;
    let (session, round, participant) = ("s", "vote", "poison");
    let binding = AssociatedData {
        session,
        round,
        participant,
        snapshot_sha256: &lost,
        opened_sha256: &sha256_hex("opened"),
    };
    let delivery = json!(delivery_id(binding, &public_key, 1));
    hall.send(&hall.offer("poison", &[("snapshot_sha256", json!(lost)), ("delivery", delivery)])).await;
    hall.ask(&["ann"]).await;
    hall.until_idle("home", &[]);
    assert_eq!(hall.asked(), 1);
    let failures = hall.failures().await;
    assert!(failures.len() == 1 && failures[0].participant == "poison", "{failures:?}");
    assert!(failures[0].failed.reason.contains("snapshot"), "{failures:?}");
    assert_eq!(hall.count("RT_SEALED_fleet").await, 2);
    hall.assert_empty().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_fails_fails_the_seat_without_a_word_of_its_reply() {
    let lab = Server::start(|_| Answer::json(401, &json!({ "error": { "message": CANARY } })));
    let Some(hall) = Hall::with(lab, Duration::from_secs(30), "").await else { return };
    hall.ask(&["ann"]).await;
    let said = hall.until_idle("home", &[]);
    let failures = hall.failures().await;
    assert_eq!((failures.len(), failures[0].failed.timed_out), (1, false));
    assert!(said.contains(&failures[0].failed.reason), "{said}");
    hall.assert_empty().await;
    hall.until_idle("home", &[]);
    assert_eq!(hall.count("RT_SEALED_fleet").await, 1, "told once");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limit_on_cost_counts_what_models_cost_and_is_kept() {
    let Some(hall) = Hall::new().await else { return };
    hall.ask(&["ann"]).await;
    hall.until_idle("home", &["--max-usd", "1000"]);
    let spent =
        || fs::read_to_string(hall.server.folder.path().join("home/state/worker/fleet/spent")).expect("kept");
    // 9 tokens at $1000 a million.
    assert_eq!(spent(), "9000000\n");
    hall.send(&hall.offer("bob", &[])).await;
    let said = hall.until_idle("home", &["--max-usd", "0.01"]);
    assert!(said.contains("$0.0090 spent"), "{said}");
    assert_eq!(hall.asked(), 1);
    assert_eq!(hall.failures().await[0].failed.reason, "the worker's cost limit is reached");
    assert_eq!(spent(), "9000000\n");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn an_interrupt_lets_it_finish_what_it_has_begun() {
    let gate = Arc::new(AtomicBool::new(false));
    let held = Arc::clone(&gate);
    let lab = Server::start(move |_| vote().behind(&held));
    let Some(hall) = Hall::with(lab, Duration::from_secs(30), "").await else { return };
    hall.ask(&["ann"]).await;
    let mut worker = hall.worker("home", &[]).stderr(Stdio::null()).start().expect("starts");
    wait_for("a question", async || (hall.asked() == 1).then_some(())).await;
    let process = rustix::process::Pid::from_child(&worker);
    rustix::process::kill_process(process, rustix::process::Signal::INT).expect("sent");
    // It takes no new question.
    hall.send(&hall.offer("bob", &[])).await;
    assert_eq!(worker.try_wait().expect("asked"), None);
    gate.store(true, Ordering::SeqCst);
    let status = wait_for("the end", async || worker.try_wait().expect("asked")).await;
    assert_eq!(status.code(), Some(0));
    assert_eq!(hall.sealed().await, ["ann"]);
    assert_eq!((hall.asked(), hall.count("RT_OFFER").await), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_says_what_is_wrong_by_its_exit_code() {
    let Some(hall) = Hall::new().await else { return };
    let (gone, url) = ("nats://127.0.0.1:1", hall.server.url());
    let of = |nats: &str, more: &[&str]| {
        let mut program = hall.program("home");
        program.args(["worker", "--nats", nats, "--name", "fleet"]).args(more);
        program
    };
    run(of(gone, &[]).env("ROUNDTABLE_CONNECT_MS", "100")).code(5);
    run(&mut of(&url, &["--creds", "home/nothing"])).code(2).tells("permissions NAME");
    run(hall.worker("home", &[]).env("ROUNDTABLE_ACK_WAIT_MS", "7000")).code(2).tells("`ack_wait`");
    run(&mut hall.worker("nobody", &[])).code(2).tells("keygen");
    run(&mut hall.worker("home", &["--model", "remote/link"])).code(2).tells("does not answer here");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_printed_permissions_are_enough_and_allow_nothing_else() {
    let permissions =
        run(Command::new(env!("CARGO_BIN_EXE_roundtable")).args(["worker", "permissions", "fleet"])).out;
    let users = format!(
        "authorization {{users: [{{user: boss, password: boss}}\n\
         {{user: fleet, password: secret\n{permissions}}}]}}"
    );
    let lab = Server::start(|_| vote());
    let Some(hall) = Hall::with(lab, Duration::from_secs(30), &users).await else { return };
    hall.ask(&["ann"]).await;
    run(&mut hall.worker_as("fleet:secret\n", "home", &["--until-idle"])).code(0);
    assert_eq!(hall.sealed().await, ["ann"]);
    hall.assert_empty().await;

    let (told, mut violations) = tokio::sync::mpsc::unbounded_channel();
    let fleet = ConnectOptions::with_user_and_password("fleet".to_owned(), "secret".to_owned())
        .custom_inbox_prefix("_INBOX_fleet")
        .request_timeout(Some(Duration::from_millis(300)))
        .event_callback(move |event| {
            let told = told.clone();
            async move {
                let _ = told.send(event.to_string().to_lowercase());
            }
        });
    let fleet = fleet.connect(&hall.server.url()).await.expect("connected");
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
    assert_eq!(hall.client.connection_state(), async_nats::connection::State::Connected);
}
