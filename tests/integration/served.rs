//! A served session and an imitated ballot page, for tests.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use roundtable::journal::{fold, read_log};
use roundtable::round::envelope::Envelope;
use roundtable::round::seal::sign::{SigningKey, ballot_message, is_signed, offer_message};
use roundtable::round::seal::{Binding, Nonces, Sealer};
use roundtable::round::snapshot::unhex;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::patience::{PATIENCE, Patient as _, pause, wait_for};
use crate::program::Desk;

/// Ann's answer is scripted: see [`Server::run`].
pub const DEFINITION: &str = "\
participants: [{name: ann, model: rehearsal}, {name: dana, model: remote/link}, {name: bob, model: remote/link}]
steps: [{id: vote, type: round, question: Which store?, rule: plurality, quorum: 2,
  ballot: {kind: choice, options: [redis, sqlite]}}]
";
pub const CANARY: &str = "a grey heron stands there";

pub struct Server {
    pub child: Child,
    pub desk: Desk,
    pub links: Vec<(String, String)>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    pub fn start(file: &str, desk: Desk) -> Self {
        Self::start_at(file, desk, &["--bind", "127.0.0.1:0"])
    }

    pub fn start_at(file: &str, desk: Desk, address: &[&str]) -> Self {
        let mut command = desk.command([""; 0]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        Self::run(command, file, desk, address)
    }

    /// Starts the server like [`Server::start_at`], with another command.
    pub fn run(mut command: Command, file: &str, desk: Desk, address: &[&str]) -> Self {
        let links = desk.path("links");
        let _ = std::fs::remove_file(&links);
        command.args(["serve", file, "--links", "links", "--linger", "60s"]).args(address);
        if desk.read(file) == DEFINITION {
            desk.write("answers.yaml", "vote: {ann: {vote: redis}}\n");
        }
        if desk.path("answers.yaml").exists() {
            command.args(["--answers", "answers.yaml"]);
        }
        if Path::new(file).extension().is_none_or(|extension| extension != "s2s") {
            command.args(["--save", "s.s2s"]);
        }
        let child = command.start().expect("runs");
        let read = || std::fs::read_to_string(&links).ok().filter(|text| text.ends_with('\n'));
        let text = wait_for("the links", read);
        let pair = |line: &str| line.split_once(' ').map(|(seat, link)| (seat.to_owned(), link.to_owned()));
        let links = text.lines().filter_map(pair).collect();
        Self { child, desk, links }
    }

    pub fn killed(mut self) -> Desk {
        self.child.kill().expect("killed");
        self.child.wait().expect("gone");
        std::mem::replace(&mut self.desk, Desk::new())
    }

    /// Kills it and serves its session again.
    pub fn again(self) -> Self {
        Self::start("s.s2s", self.killed())
    }

    pub fn joined(&self, seat: &str, seed: u8) -> Browser {
        let browser = self.browser(seat, seed);
        assert_eq!(browser.join(&browser.key).status, 204);
        browser
    }

    pub fn file(&self) -> PathBuf {
        self.desk.path("s.s2s")
    }

    pub fn ended(&self) -> Vec<u8> {
        wait_for("the end", || {
            let bytes = std::fs::read(self.file()).ok()?;
            fold(&read_log(&bytes).ok()?).closed.map(|_| bytes)
        })
    }

    pub fn agent(&self, name: &str) -> Agent {
        let (_, given) = self.links.iter().find(|(agent, _)| agent == name).expect("an agent");
        let of = |name: &str| given.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        let [url, token] =
            ["ROUNDTABLE_URL", "ROUNDTABLE_TOKEN"].map(|name| of(name).expect(name).to_owned());
        let address = url.split_once("//").expect("a scheme").1.to_owned();
        let fingerprint = token.split_once('.').expect("a fingerprint").1.to_owned();
        let http = Browser { address, token: token.clone(), fingerprint, key: SigningKey::new([7; 32]) };
        Agent { http, url, token }
    }

    pub fn browser(&self, seat: &str, seed: u8) -> Browser {
        let (_, link) = self.links.iter().find(|(name, _)| name == seat).expect("a link");
        Browser::of(link, seed)
    }
}

pub struct Agent {
    pub http: Browser,
    pub url: String,
    pub token: String,
}

impl Agent {
    /// Returns the command `roundtable inbox` with these arguments.
    pub fn inbox(&self, desk: &Desk, words: &[&str]) -> Command {
        let mut program = desk.command([&["inbox"], words].concat());
        program.env("ROUNDTABLE_URL", &self.url).env("ROUNDTABLE_TOKEN", &self.token);
        program
    }
}

pub struct Browser {
    pub address: String,
    pub token: String,
    pub fingerprint: String,
    pub key: SigningKey,
}

pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        let body = String::from_utf8_lossy(&self.body);
        serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}"))
    }

    pub fn is_refusal(&self, status: u16, word: &str) -> bool {
        self.status == status && self.json()["refused"] == word
    }

    #[track_caller]
    pub fn refuses(&self, status: u16, word: &str) {
        assert!(self.is_refusal(status, word), "{} {}", self.status, self.json());
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let line = self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        line.map(str::trim_end)
    }
}

impl Browser {
    /// Returns a browser that opens a link.
    pub fn of(link: &str, seed: u8) -> Self {
        let (base, fragment) = link.split_once("/b#").expect("a fragment");
        let (token, fingerprint) = fragment.split_once('.').expect("a fingerprint");
        let address = base.split_once("//").expect("a scheme").1.to_owned();
        let [token, fingerprint] = [token, fingerprint].map(str::to_owned);
        Self { address, token, fingerprint, key: SigningKey::new([seed; 32]) }
    }

    pub fn open(&self, method: &str, path: &str, body: &[u8]) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).expect("connects");
        stream.set_read_timeout(Some(PATIENCE)).expect("set");
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\
             Content-Length: {length}\r\n\r\n",
            self.token
        );
        stream.write_all(head.as_bytes()).expect("sent");
        // A server that refuses early may not read everything.
        let _ = stream.write_all(body);
        stream
    }

    pub fn send(&self, method: &str, path: &str, body: &[u8]) -> Answer {
        let mut bytes = Vec::new();
        let _ = self.open(method, path, body).read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        let answer = Answer { status, head, body: bytes[end + 4..].to_vec() };
        let guards = (answer.header("cache-control"), answer.header("x-content-type-options"));
        // Responses to an oversized header have no guards.
        assert!(status == 431 || guards == (Some("no-store"), Some("nosniff")), "{path}: {guards:?}");
        answer
    }

    pub fn get(&self, path: &str) -> Answer {
        // Stays below the rate limit of a page.
        pause(Duration::from_millis(120));
        self.send("GET", path, b"")
    }

    pub fn post(&self, path: &str, value: &Value) -> Answer {
        pause(Duration::from_millis(120));
        self.send("POST", path, value.to_string().as_bytes())
    }

    pub fn join(&self, key: &SigningKey) -> Answer {
        self.post("/v1/seat/key", &json!({ "public_key": key.public() }))
    }

    pub fn offer(&self) -> Value {
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

    pub fn votes(&self, vote: &str, nonce: u8) -> Answer {
        let answer = self.post("/v1/seat/sealed", &self.seal(&self.offer(), vote, nonce));
        assert_eq!(answer.status, 201);
        answer
    }

    pub fn seal(&self, offer: &Value, vote: &str, nonce: u8) -> Value {
        let text = json!({ "vote": vote, "rationale": [CANARY] }).to_string();
        self.envelope(offer, &record("person", &text), nonce, None)
    }

    /// Returns a signed ballot of this record, with another encapsulated key if one is given.
    pub fn envelope(&self, offer: &Value, record: &str, nonce: u8, enc: Option<&str>) -> Value {
        let of = |key: &str| offer[key].as_str().expect("a text");
        let binding: Binding = serde_json::from_value(offer.clone()).expect("a binding");
        let sealer = Sealer::to(of("public_key")).expect("a key");
        let nonces = Nonces { ephemeral: [nonce; 32], commitment: [nonce; 32] };
        let mut seal = sealer.seal(&nonces, &binding, record).expect("sealed");
        seal.enc = enc.map_or(seal.enc, str::to_owned);
        let message = ballot_message(&binding, of("public_key"), &seal).expect("a message");
        let (delivery, signature) = (of("delivery").to_owned(), self.key.sign(&message));
        json!(Envelope { v: 3, delivery, binding, seal, signature })
    }
}

pub fn record(origin: &str, text: &str) -> String {
    json!({
        "origin": origin, "model": "human/browser",
        "replies": [{ "text": text }], "tries": 1, "latency_ms": 1234,
    })
    .to_string()
}

pub fn served() -> Server {
    served_as(DEFINITION)
}

pub fn served_as(definition: &str) -> Server {
    Server::start("decide.yaml", Desk::with(definition))
}
