//! Blindness: nothing shows an answer while a round is open.
//!
//! Two seats have answered, and the server delays the third. The test reads every file and runs every command at
//! that moment. It repeats this with other answers: the output must not depend on them.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdout};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regex::{Captures, Regex};
use roundtable::journal::verify;
use serde_json::json;

use crate::patience::wait_for;
use crate::program::{Desk, KEY, Ran, arg, ran};
use crate::served::{CANARY, Server as Door};
use crate::server::{Answer, Server};

const MARKER: &str = "Quetzalcoatl-7319";
const FILE: &str = ".s2s/sessions/open.s2s";
const TABLE: &str = "\
goal: \"Choose a cache\"
question: \"Which cache first?\"
participants:
  - {name: first, persona: qa-lead, model: lab/m}
  - {name: second, persona: skeptic, model: lab/m}
  - {name: third, persona: technical-lead, model: lab/m}
ballot: {kind: choice, options: [alpha, beta]}
rule: majority
quorum: 2
";

/// A round with `replies` of `first` in turn, a vote of `second`, and nothing of `third` yet.
struct OpenRound {
    desk: Desk,
    server: Server,
    child: Child,
    out: BufReader<ChildStdout>,
    printed: String,
}

impl OpenRound {
    fn with(replies: Vec<Answer>) -> Self {
        let turn = AtomicUsize::new(0);
        let server = Server::start(move |request| match request.seat().as_str() {
            "first" => replies[turn.fetch_add(1, Ordering::SeqCst).min(replies.len() - 1)].clone(),
            // Late enough for a fixed order of the seals.
            "second" => {
                Answer::chat(&format!("vote: beta\nposition: {MARKER}")).after(Duration::from_millis(250))
            }
            _ => Answer::chat("vote: alpha").held(),
        });
        let desk = Desk::with(TABLE);
        desk.write(".s2s/CONTEXT.md", "A shop.\n");
        let desk = desk.served_by(&server);
        let mut child = desk.start(["--batch", "decide.yaml", "--json", "--save", FILE]);
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut printed = String::new();
        // Printed events are on disk.
        while printed.matches("\"event\":\"ballot_sealed\"").count() < 2 {
            assert!(out.read_line(&mut printed).expect("UTF-8") > 0, "two seats seal: {printed}");
        }
        Self { desk, server, child, out, printed }
    }

    fn surfaces(&self) -> Vec<(String, String)> {
        let mut found = vec![("stdout".to_owned(), self.printed.clone())];
        for path in self.desk.files() {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            found.push((name, String::from_utf8_lossy(&fs::read(&path).expect("a file")).into_owned()));
        }
        let verbs = "trace FILE; trace FILE --json; report FILE; report FILE --format json; report FILE --format junit; \
                     report FILE --format github; replay FILE; replay FILE --json; replay FILE --at 8; sessions; \
                     verify FILE --explain; resume FILE --json";
        for verb in verbs.split("; ") {
            let ran = run(&self.desk, verb).code(if verb.starts_with("resume") { 2 } else { 0 });
            found.push((verb.to_owned(), format!("{}\n{}", ran.out, ran.err)));
        }
        #[cfg(target_os = "linux")]
        for name in ["cmdline", "environ"] {
            // An unreadable file shows nothing; the process is closed to its user, too.
            let bytes = fs::read(format!("/proc/{}/{name}", self.child.id())).unwrap_or_default();
            found.push((name.to_owned(), String::from_utf8_lossy(&bytes).into_owned()));
        }
        let log = self.desk.read(FILE);
        assert!(!log.contains("\nevent: round_closed\n"), "the round is still open");
        found
    }

    /// Releases the third seat and waits for the end; returns the remaining output.
    fn close(mut self) -> (Desk, String) {
        self.server.release();
        let mut rest = String::new();
        self.out.read_to_string(&mut rest).expect("UTF-8");
        let ended = ran(self.child.wait_with_output().expect("it ends"));
        assert!(ended.code == 0 || ended.code == 3, "{ended:?}");
        assert!(!ended.err.contains(MARKER) && ended.err.contains("saved: "), "{}", ended.err);
        drop(self.server);
        (self.desk, rest)
    }
}

fn run(desk: &Desk, verb: &str) -> Ran {
    desk.run(verb.split(' ').map(|word| if word == "FILE" { FILE } else { word }))
}

/// Returns the marker as it is, and as it would appear in base64 and hex.
fn shapes() -> Vec<String> {
    let mut shapes = vec![MARKER.to_owned(), MARKER.to_lowercase()];
    for shift in 0..3 {
        let text = format!("{}{MARKER}", "x".repeat(shift));
        let coded = STANDARD.encode(&text);
        shapes.push(coded[4..coded.len() - 4].to_owned());
    }
    shapes.push(MARKER.bytes().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}")));
    shapes
}

#[test]
fn an_answer_is_nowhere_before_the_close_and_everywhere_after_it() {
    let said = format!("vote: alpha\nposition: {MARKER}\nrationale: [{MARKER}]");
    let open = OpenRound::with(vec![Answer::chat(&said)]);
    let key = fs::read_to_string(&open.desk.keys()[0]).expect("a key");
    for (name, text) in open.surfaces() {
        let is_key_file = name.rsplit_once('.').is_some_and(|(_, end)| end == "key");
        assert!(is_key_file || !text.contains(key.trim()), "{name} holds the private key");
        for shape in shapes() {
            assert!(!text.contains(&shape), "{name} holds {shape}: {text}");
        }
        assert!(name == "environ" || !text.contains(KEY), "{name} holds the key");
    }
    let (desk, rest) = open.close();
    let verbs = "report FILE; report FILE --format json; replay FILE --json; trace FILE; trace FILE --json";
    for verb in verbs.split("; ") {
        run(&desk, verb).code(0).shows(MARKER);
    }
    assert!(desk.read(FILE).contains(MARKER) && rest.contains(MARKER));
    desk.is_sound(FILE);
    let is_key = |path: &PathBuf| path.extension() == Some("key".as_ref());
    assert!(!desk.files().iter().any(is_key), "the key is erased");
}

#[test]
fn what_is_seen_does_not_depend_on_what_was_answered() {
    let refusal = json!({"choices": [{"index": 0, "finish_reason": "stop",
        "message": {"role": "assistant", "content": null, "refusal": "I can't help with that."}}]});
    let tool = json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant",
        "content": null, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]}}]});
    let long = format!("vote: beta\nposition: {}", "many words ".repeat(120));
    let cases: Vec<(&str, Vec<Answer>)> = vec![
        ("a short vote", vec![Answer::chat("vote: alpha")]),
        ("a long vote", vec![Answer::chat(&long)]),
        ("an abstention", vec![Answer::chat("vote: abstain")]),
        ("an invalid answer, asked again", vec![Answer::chat("vote: gamma"), Answer::chat("vote: delta")]),
        ("a corrected answer", vec![Answer::chat("vote: gamma"), Answer::chat("vote: alpha")]),
        ("a refusal", vec![Answer::json(200, &refusal)]),
        ("a tool call", vec![Answer::json(200, &tool)]),
    ];
    let seen: Vec<_> = std::thread::scope(|scope| {
        let look = |replies: Vec<Answer>| {
            let open = OpenRound::with(replies);
            let seen = open.surfaces();
            let text = open.desk.read(FILE);
            let id = value(&text, "session").to_owned();
            let place = arg(open.desk.home().parent().expect("a folder"));
            let port = open.server.port().to_string();
            let process = format!("(process {})", open.child.id());
            open.close();
            let plain = |text: &str| {
                let text = text.replace(&id, "ID").replace(&place, "DESK").replace(&process, "(process N)");
                // The port is last, because its digits may be part of a hash.
                redacted(&text).replace(&port, "PORT")
            };
            seen.into_iter().map(|(name, text)| (plain(&name), plain(&text))).collect::<Vec<_>>()
        };
        let running: Vec<_> =
            cases.into_iter().map(|(name, replies)| (name, scope.spawn(move || look(replies)))).collect();
        running.into_iter().map(|(name, run)| (name, run.join().expect("a look"))).collect()
    });
    let (_, first) = &seen[0];
    for (name, other) in &seen[1..] {
        for (this, that) in first.iter().zip(other) {
            let differs = this.1.lines().zip(that.1.lines()).find(|(this, that)| this != that);
            assert!(this == that, "{name} can be told from a short vote in {}: {differs:#?}", that.0);
        }
        assert_eq!(first.len(), other.len(), "{name}: as many surfaces");
    }
}

fn value<'a>(text: &'a str, key: &str) -> &'a str {
    let rest = text.split_once(&format!("\n{key}: ")).expect("a value").1;
    rest.lines().next().expect("a line").trim_matches('"')
}

/// Replaces times, hashes and ciphertext; keeps the length of ciphertext.
fn redacted(text: &str) -> String {
    static CHANGED: LazyLock<[Regex; 4]> = LazyLock::new(|| {
        let changed = [
            // Short forms of a hash end in an ellipsis.
            r"[A-Za-z0-9+/=]{40,}|\b[0-9a-fA-F]{16}…",
            r#""|(elapsed_ms)[": 0-9]*"#,
            // Removes the digits of times.
            r"[^ ,\n}:]*:[^ ,\n}:]*:[^ ,\n}]*[ ,\n}]?",
            r"\b[0-9.]+ s\b",
        ];
        changed.map(|pattern| Regex::new(pattern).expect("a pattern"))
    });
    let [secrets, quotes, times, spans] = &*CHANGED;
    let text = secrets.replace_all(text, |found: &Captures| {
        let word = found[0].trim_end_matches('…');
        let is_hash = [16, 64].contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_hash { "HASH".to_owned() } else { format!("CIPHER({})", word.len()) }
    });
    // YAML quotes only hashes that begin with a digit.
    let text = quotes.replace_all(&text, "$1");
    let text = times.replace_all(&text, |found: &Captures| {
        let is_time = found[0].contains(|c: char| c.is_ascii_digit());
        if is_time { "TIME".to_owned() } else { found[0].to_owned() }
    });
    spans.replace_all(&text, "SPAN s").into_owned()
}

const DEFINITION: &str = "\
participants:
  - {name: dana, model: remote/link}
  - {name: bob, model: remote/link}
  - {name: coder, model: remote/inbox}
  - {name: ann, model: openai/test}
  - {name: cyd, model: openai/slow}
steps: [{id: vote, type: round, question: Which store?, rule: plurality, quorum: 3,
  ballot: {kind: choice, options: [redis, sqlite]}}]
";
/// The agent's first, invalid reply, its second one, and the model's reply.
const OTHERS: [&str; 3] = ["a red kite circles", "a barn owl waits", "a wren sings"];

fn finds(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|window| window == word.as_bytes())
}

#[test]
fn no_word_of_a_sealed_answer_is_anywhere_before_the_close() {
    let service = Server::start(|request| {
        let answer = Answer::chat(&format!("vote: redis\nrationale: [{}]", OTHERS[2]));
        if request.json()["model"] == "slow" { answer.held() } else { answer }
    });
    let desk = Desk::with(DEFINITION);
    let mut command = desk.command([""; 0]);
    command.env("OPENAI_BASE_URL", service.url() + "/v1");
    let [out, err] = ["out", "err"].map(|name| fs::File::create(desk.path(name)).expect("a file"));
    command.stdout(out).stderr(err);
    let server = Door::run(command, "decide.yaml", desk, &["--bind", "127.0.0.1:0"]);
    let (dana, bob, coder) = (server.joined("dana", 1), server.joined("bob", 2), server.agent("coder"));

    let mut events = dana.open("GET", "/v1/events", b"");
    events.set_read_timeout(Some(Duration::from_millis(300))).expect("set");
    let mut seen = Vec::new();
    dana.votes("redis", 3);
    let asked = wait_for("a ballot", || coder.http.get("/v1/inbox").json()["items"].get(0).cloned());
    let path = format!("/v1/items/{}/answer", asked["item"].as_str().expect("an id"));
    let answer = |vote: &str, word: &str| {
        let text = format!("vote: {vote}\nrationale: [{word}]");
        coder.http.post(&path, &json!({ "answer": text })).status
    };
    assert_eq!(answer("mysql", OTHERS[0]), 422);
    assert_eq!(answer("sqlite", OTHERS[1]), 201);
    let sealed = |count: u64| {
        wait_for("the ballots", || (dana.get("/v1/status").json()["sealed"] == count).then_some(()));
    };
    sealed(3);

    let read = |path: PathBuf| (path.display().to_string(), fs::read(&path).expect("a file"));
    let mut told: Vec<(String, Vec<u8>)> = server.desk.files().into_iter().map(read).collect();
    for name in ["err", "s.s2s", "links", ".key"] {
        let is_there = |(file, bytes): &(String, Vec<u8>)| file.ends_with(name) && !bytes.is_empty();
        assert!(told.iter().any(is_there), "{name} is not among the files");
    }
    for (who, http) in [("dana", &dana), ("bob", &bob), ("coder", &coder.http)] {
        for path in ["/v1/seat", "/v1/status", "/v1/seat/result", "/v1/inbox"] {
            told.push((format!("{who}: {path}"), http.get(path).body));
        }
    }
    let _ = events.read_to_end(&mut seen);
    assert!(finds(&seen, "\"sealed\":3"), "{}", String::from_utf8_lossy(&seen));
    told.push(("events".to_owned(), seen));
    for word in OTHERS.iter().chain([&CANARY]) {
        for (place, bytes) in &told {
            assert!(!finds(bytes, word), "`{word}` is in {place} before the close");
        }
    }

    service.release();
    bob.votes("redis", 4);
    let bytes = server.ended();
    assert_eq!(verify(&bytes, None).findings, []);
    for word in OTHERS.iter().chain([&CANARY]) {
        assert!(finds(&bytes, word), "`{word}` is not in the file after the close");
    }
}
