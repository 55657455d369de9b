//! `serve`, end to end over HTTP: the test does what the ballot page does.
#![cfg(feature = "serve")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use roundtable::journal::{fold, read_log, verify};
use roundtable::round::seal::sign::{SigningKey, ballot_message, is_signed, offer_message};
use roundtable::round::seal::{AssociatedData, Nonces, Sealer};
use roundtable::round::snapshot::{sha256_hex, unhex};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::patience::Patient as _;

const DEFINITION: &str = "\
participants: [{name: ann, model: rehearsal}, {name: dana, model: remote/link}, {name: bob, model: remote/link}]
steps: [{id: vote, type: round, question: Which store?, rule: plurality, quorum: 2,
  ballot: {kind: choice, options: [redis, sqlite]}}]
";
/// Said in an answer and nowhere else.
const CANARY: &str = "a grey heron stands there";

/// A program that serves, ended when the test ends.
struct Server {
    child: Child,
    home: tempfile::TempDir,
    links: Vec<(String, String)>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn program(home: &Path) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_roundtable"));
    program.env("ROUNDTABLE_HOME", home.join("home")).current_dir(home).stdin(Stdio::null());
    program
}

fn wait_for<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < end, "{what} did not come");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

impl Server {
    fn start(file: &str, home: tempfile::TempDir) -> Self {
        let links = home.path().join("links");
        let _ = std::fs::remove_file(&links);
        let arguments = ["serve", file, "--bind", "127.0.0.1:0", "--links", "links", "--linger", "60"];
        let mut command = program(home.path());
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        if Path::new(file).extension().is_none_or(|extension| extension != "s2s") {
            command.args(["--save", "s.s2s"]);
        }
        let child = command.start().expect("runs");
        let read = || std::fs::read_to_string(&links).ok().filter(|text| text.lines().count() == 2);
        let text = wait_for("the links", read);
        let pair = |line: &str| line.split_once(' ').map(|(seat, link)| (seat.to_owned(), link.to_owned()));
        let links = text.lines().filter_map(pair).collect();
        Self { child, home, links }
    }

    fn file(&self) -> PathBuf {
        self.home.path().join("s.s2s")
    }

    fn browser(&self, seat: &str, seed: u8) -> Browser {
        let (_, link) = self.links.iter().find(|(name, _)| name == seat).expect("a link");
        let (base, fragment) = link.split_once("/b#").expect("a fragment");
        let (token, fingerprint) = fragment.split_once('.').expect("a fingerprint");
        let address = base.trim_start_matches("http://").to_owned();
        let [token, fingerprint] = [token, fingerprint].map(str::to_owned);
        Browser { address, token, fingerprint, key: SigningKey::new([seed; 32]) }
    }
}

/// What a person's browser knows.
struct Browser {
    address: String,
    token: String,
    fingerprint: String,
    key: SigningKey,
}

struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&self.body)))
    }

    fn refused(&self) -> (u16, String) {
        (self.status, self.json()["refused"].as_str().expect("a refusal").to_owned())
    }

    fn header(&self, name: &str) -> Option<&str> {
        let line = self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        line.map(str::trim_end)
    }
}

impl Browser {
    fn open(&self, method: &str, path: &str, body: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("connects");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("set");
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\
             Content-Length: {length}\r\n\r\n",
            self.token
        );
        stream.write_all(head.as_bytes()).expect("sent");
        // A server that refuses early may not read all of it.
        let _ = stream.write_all(body);
        stream
    }

    fn send(&self, method: &str, path: &str, body: &[u8]) -> Answer {
        let mut bytes = Vec::new();
        let _ = self.open(method, path, body).read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        Answer { status, head, body: bytes[end + 4..].to_vec() }
    }

    fn get(&self, path: &str) -> Answer {
        // Not more often than a page may ask.
        std::thread::park_timeout(Duration::from_millis(120));
        self.send("GET", path, b"")
    }

    fn post(&self, path: &str, value: &Value) -> Answer {
        std::thread::park_timeout(Duration::from_millis(120));
        self.send("POST", path, value.to_string().as_bytes())
    }

    fn join(&self, key: &SigningKey) -> Answer {
        self.post("/v1/seat/key", &json!({ "public_key": key.public() }))
    }

    /// The offer, checked as the page checks it.
    fn offer(&self) -> Value {
        let answer = wait_for("an offer", || {
            Some(self.get("/v1/seat")).filter(|answer| answer.header("rt-signature").is_some())
        });
        let offer = answer.json();
        let table_key = offer["table_key"].as_str().expect("a key");
        let hash = Sha256::digest(unhex::<32>(table_key).expect("hex"));
        assert_eq!(URL_SAFE_NO_PAD.encode(&hash[..16]), self.fingerprint);
        let signature = answer.header("rt-signature").expect("signed");
        assert!(is_signed(table_key, &offer_message(&answer.body), signature));
        offer
    }

    /// A ballot as the page seals it.
    fn seal(&self, offer: &Value, vote: &str, nonce: u8) -> Value {
        let of = |key: &str| offer[key].as_str().expect("a text");
        let names = ["session", "round", "participant", "snapshot_sha256"].map(of);
        let [session, round, participant, snapshot_sha256] = names;
        let binding = AssociatedData { session, round, participant, snapshot_sha256 };
        let text = json!({ "vote": vote, "rationale": [CANARY] }).to_string();
        let record = json!({
            "session": session, "round": round, "participant": participant,
            "snapshot_sha256": snapshot_sha256, "model": "human/browser",
            "replies": [{ "text": text }], "tries": 1, "latency_ms": 1234,
        });
        let sealer = Sealer::Two(unhex(of("public_key")).expect("a key"));
        let nonces = Nonces { cipher: [nonce; 32], commitment: [nonce; 32] };
        let seal = sealer.seal(&nonces, binding, &record.to_string()).expect("sealed");
        let message = ballot_message(binding, of("public_key"), &seal).expect("a message");
        json!({
            "v": 2, "delivery": of("delivery"), "session": session, "round": round,
            "participant": participant, "snapshot_sha256": snapshot_sha256,
            "commitment": seal.commitment, "enc": seal.enc, "sealed": STANDARD.encode(&seal.sealed),
            "signature": self.key.sign(&message),
        })
    }
}

fn served() -> Server {
    let home = tempfile::tempdir().expect("a folder");
    std::fs::write(home.path().join("d.yaml"), DEFINITION).expect("written");
    Server::start("d.yaml", home)
}

fn refused(status: u16, word: &str) -> (u16, String) {
    (status, word.to_owned())
}

fn joins_and_is_asked(dana: &Browser) -> Value {
    assert_eq!(dana.join(&dana.key).status, 204);
    assert_eq!(dana.join(&dana.key).status, 204, "the same key again");
    assert_eq!(dana.join(&SigningKey::new([9; 32])).refused(), refused(409, "already pinned"));
    let offer = dana.offer();
    assert_eq!(offer["question"], "Which store?");
    assert_eq!(offer["ballot"]["options"], json!(["redis", "sqlite"]));
    let sha256 = offer["snapshot_sha256"].as_str().expect("a hash");
    let context = dana.get(&format!("/v1/context/{sha256}"));
    assert_eq!(sha256_hex(&*String::from_utf8_lossy(&context.body)), sha256);
    assert_eq!(
        dana.get(&format!("/v1/context/{}", "0".repeat(64))).refused(),
        refused(404, "no such snapshot")
    );
    assert_eq!(dana.get("/v1/seat/result").refused(), refused(409, "not before the close"));
    offer
}

fn refuses_what_does_not_fit((dana, bob): (&Browser, &Browser), ballot: &Value) {
    let mut bad = ballot.clone();
    bad["signature"] = SigningKey::new([9; 32]).sign(b"anything").into();
    assert_eq!(dana.post("/v1/seat/sealed", &bad).refused(), refused(422, "bad signature"));
    bad = ballot.clone();
    bad["delivery"] = "0".repeat(64).into();
    assert_eq!(dana.post("/v1/seat/sealed", &bad).refused(), refused(409, "stale"));
    bad = ballot.clone();
    bad["sealed"] = STANDARD.encode([0; 5000]).into();
    assert_eq!(dana.post("/v1/seat/sealed", &bad).refused(), refused(422, "bad length"));
    assert_eq!(dana.post("/v1/seat/sealed", &json!({"v": 2})).refused(), refused(422, "malformed"));
    assert_eq!(bob.post("/v1/seat/sealed", ballot).refused(), refused(403, "not a participant"));
}

#[test]
fn two_people_vote_by_their_links() {
    let server = served();
    let (dana, bob) = (server.browser("dana", 1), server.browser("bob", 2));
    let offer = joins_and_is_asked(&dana);
    // Numbers by server-sent events, and nothing else.
    let mut events = BufReader::new(dana.open("GET", "/v1/events", b"")).lines();
    let mut status = |wanted: u64| {
        wait_for("a state", || {
            let line = events.next()?.ok()?;
            let state: Value = serde_json::from_str(line.strip_prefix("data: ")?).ok()?;
            (state["sealed"] == wanted && state["state"] == "open").then_some(state)
        })
    };
    // The rehearsed seat seals by itself.
    assert_eq!(
        status(1),
        json!({"round": "vote", "seats": 3, "sealed": 1, "state": "open", "seconds_left": null})
    );

    let ballot = dana.seal(&offer, "redis", 3);
    refuses_what_does_not_fit((&dana, &bob), &ballot);
    let taken = dana.post("/v1/seat/sealed", &ballot);
    assert_eq!((taken.status, &taken.json()["commitment"]), (201, &ballot["commitment"]));
    // Answered, so it is on disk; and nobody can read it.
    let written = std::fs::read_to_string(server.file()).expect("a file");
    assert!(written.contains(ballot["commitment"].as_str().expect("a text")));
    assert_eq!(status(2)["sealed"], 2);
    assert_eq!(dana.post("/v1/seat/sealed", &ballot).status, 200, "the same again");
    let other = dana.seal(&offer, "sqlite", 4);
    assert_eq!(dana.post("/v1/seat/sealed", &other).refused(), refused(409, "already sealed"));
    let seat = dana.get("/v1/seat").json();
    assert_eq!((&seat["state"], &seat["receipt"]), (&json!("sealed"), &taken.json()));
    assert!(!std::fs::read_to_string(server.file()).expect("a file").contains(CANARY));

    assert_eq!(bob.join(&bob.key).status, 204);
    let late = bob.seal(&bob.offer(), "redis", 5);
    assert_eq!(bob.post("/v1/seat/sealed", &late).status, 201);
    let result =
        wait_for("the result", || Some(dana.get("/v1/seat/result")).filter(|answer| answer.status == 200));
    let result = result.json();
    assert_eq!((&result["decided"], &result["winners"]), (&json!(true), &json!(["redis"])));
    assert_eq!(result["own"]["commitment"], ballot["commitment"]);
    assert!(result["own"]["text"].as_str().expect("a text").contains(CANARY));
    let ended = || {
        let bytes = std::fs::read(server.file()).ok()?;
        fold(&read_log(&bytes).ok()?).closed.map(|_| bytes)
    };
    let bytes = wait_for("the end", ended);
    assert_eq!(dana.post("/v1/seat/sealed", &other).refused(), refused(410, "round closed"));
    assert_eq!(dana.post("/v1/seat/sealed", &ballot).status, 200, "its reply may have been lost");
    let found = verify(&bytes, None);
    assert_eq!(found.findings, []);
    assert!(found.proven.iter().any(|line| line.starts_with("2 ballots are signed")), "{:?}", found.proven);
    let refusals = String::from_utf8_lossy(&bytes).matches("event: envelope_refused").count();
    assert_eq!(refusals, 4, "two stale or wrongly signed, one of a wrong length, one second ballot");
}

#[test]
fn strangers_are_refused_and_the_page_holds_no_foreign_script() {
    let server = served();
    let mut stranger = server.browser("dana", 1);
    let page = stranger.get("/b");
    assert_eq!((page.status, page.header("cache-control")), (200, Some("no-store")));
    let text = String::from_utf8_lossy(&page.body).into_owned();
    let script = text.split("<script>").nth(1).and_then(|rest| rest.split("</script>").next());
    let hash = STANDARD.encode(Sha256::digest(script.expect("a script")));
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.contains(&format!("script-src 'sha256-{hash}'")), "{policy}");
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    assert!(!text.contains("http://") && !text.contains("https://"), "nothing from elsewhere");
    let vector = text.split("const VECTOR = ").nth(1).and_then(|rest| rest.split(";\n").next());
    assert!(serde_json::from_str::<Value>(vector.expect("a vector")).is_ok());
    assert_eq!(stranger.get("/other").refused(), refused(404, "no such page"));
    let large = stranger.send("POST", "/v1/seat/sealed", &vec![b' '; 600 * 1024]);
    assert_eq!(large.refused(), refused(413, "too long"));
    stranger.token = "guessed".to_owned();
    for path in ["/v1/seat", "/v1/seat/result", "/v1/status", "/v1/events", "/v1/context/00"] {
        std::thread::park_timeout(Duration::from_millis(200));
        assert_eq!(stranger.get(path).refused(), refused(401, "no such invitation"), "{path}");
    }
    let mut words = (0..40).map(|_| stranger.send("GET", "/v1/seat", b"").refused());
    assert!(words.any(|word| word == refused(429, "too many tries")));
}

#[test]
fn a_served_session_goes_on_where_it_was_killed_with_the_same_links() {
    let mut server = served();
    let dana = server.browser("dana", 1);
    assert_eq!(dana.join(&dana.key).status, 204);
    let ballot = dana.seal(&dana.offer(), "redis", 3);
    assert_eq!(dana.post("/v1/seat/sealed", &ballot).status, 201);
    server.child.kill().expect("killed");
    server.child.wait().expect("gone");
    let (tokens, home) =
        (dana.token.clone(), std::mem::replace(&mut server.home, tempfile::tempdir().expect("a folder")));
    // Without a door it waits.
    let rests = program(home.path()).args(["resume", "s.s2s"]).output_soon().expect("runs");
    let said = String::from_utf8_lossy(&rests.stderr).into_owned();
    assert_eq!(rests.status.code(), Some(4), "{said}");
    assert!(said.contains("waiting for remote seat: bob"), "{said}");
    assert!(said.contains("resume with: roundtable serve s.s2s"), "{said}");
    let again = Server::start("s.s2s", home);
    let (dana, bob) = (again.browser("dana", 1), again.browser("bob", 2));
    assert_eq!(dana.token, tokens, "the link is the same");
    assert_eq!(dana.post("/v1/seat/sealed", &ballot).status, 200, "it is sealed already");
    assert_eq!(bob.join(&bob.key).status, 204);
    assert_eq!(bob.post("/v1/seat/sealed", &bob.seal(&bob.offer(), "redis", 5)).status, 201);
    let ended = || {
        let bytes = std::fs::read(again.file()).ok()?;
        fold(&read_log(&bytes).ok()?).closed.map(|_| bytes)
    };
    assert_eq!(verify(&wait_for("the end", ended), None).findings, []);
}

#[test]
fn what_cannot_be_served_is_exit_2_with_a_hint() {
    let home = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(home.path().join(name), text).expect("written");
    write("d.yaml", DEFINITION);
    write("local.yaml", &DEFINITION.replace("remote/link", "rehearsal"));
    write("other.yaml", &DEFINITION.replace("remote/link", "remote/post"));
    write(
        "agent.yaml",
        &DEFINITION.replace("steps: [", "steps: [{id: plan, type: agent, agent: dana, prompt: Plan it.}, "),
    );
    write("answers.yaml", "vote: {dana: 'vote: redis'}\n");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = taken.local_addr().expect("an address").to_string();
    let cases: [(&[&str], &str); 7] = [
        (&["d.yaml", "--bind", "0.0.0.0:0"], "browsers cannot seal over plain http"),
        (&["d.yaml", "--behind", "http://votes.example"], "is no https address"),
        (&["d.yaml", "--bind", &taken], "cannot listen at"),
        (&["local.yaml"], "no seat is behind a link"),
        (&["other.yaml"], "`remote/post` is no kind of remote seat"),
        (&["agent.yaml"], "step `plan` asks it for more than a ballot"),
        (&["d.yaml", "--answers", "answers.yaml"], "answers for `dana`, which is behind a link"),
    ];
    for (arguments, what) in cases {
        let port: &[&str] = if arguments.contains(&"--bind") { &[] } else { &["--bind", "127.0.0.1:0"] };
        let run = program(home.path()).arg("serve").args(arguments).args(port).output_soon().expect("runs");
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(what), "{arguments:?}: {said}");
    }
}
