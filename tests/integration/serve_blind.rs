//! Nobody finds a word of a sealed answer before the close: in no file, log, reply or event.

use std::io::Read as _;
use std::path::PathBuf;
use std::time::Duration;

use roundtable::journal::verify;
use serde_json::json;

use crate::patience::wait_for;
use crate::program::files_in;
use crate::served::{CANARY, Server, home, program};
use crate::server::{Answer, Server as Service};

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
/// What the agent says first, which does not fit, and then; and what the model says.
const OTHERS: [&str; 3] = ["a red kite circles", "a barn owl waits", "a wren sings"];

fn finds(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|window| window == word.as_bytes())
}

#[test]
fn no_word_of_a_sealed_answer_is_anywhere_before_the_close() {
    let service = Service::start(|request| {
        let answer = Answer::chat(&format!("vote: redis\nrationale: [{}]", OTHERS[2]));
        if request.json()["model"] == "slow" { answer.held() } else { answer }
    });
    let home = home(DEFINITION);
    let at = |name: &str| home.path().join(name);
    let mut command = program(home.path());
    command.env("OPENAI_BASE_URL", service.url() + "/v1");
    let streams = [at("out"), at("err")].map(|path| std::fs::File::create(path).expect("a file"));
    let [out, err] = streams;
    command.stdout(out).stderr(err);
    let server = Server::run(command, "d.yaml", home, &["--bind", "127.0.0.1:0"]);
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

    let read = |path: PathBuf| (path.display().to_string(), std::fs::read(&path).expect("a file"));
    let mut told: Vec<(String, Vec<u8>)> = files_in(server.home.path()).into_iter().map(read).collect();
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
