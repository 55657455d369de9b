//! What may be sent to a served session and is no ballot, or a hostile one.

use std::io::{Read as _, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use crate::home::is_sound;
use crate::patience::wait_for;
use crate::program::run;
use crate::served::{Browser, Server, program, record, served, served_as};

const THREE: &str = "\
participants:
  - {name: dana, model: remote/link}
  - {name: bob, model: remote/link}
  - {name: eve, model: remote/link}
steps: [{id: vote, type: round, question: Which store?, rule: plurality, quorum: 1, ballot: {kind: choice, options: [redis, sqlite]}}]
";

fn joined(server: &Server, seat: &str, seed: u8) -> (Browser, Value) {
    let browser = server.joined(seat, seed);
    let offer = browser.offer();
    (browser, offer)
}

#[test]
fn what_is_no_envelope_is_refused_and_leaves_no_trace() {
    let server = served();
    let (dana, offer) = joined(&server, "dana", 1);
    let good = dana.seal(&offer, "redis", 1);
    let text = good.to_string();
    let sealed = good["sealed"].as_str().expect("a text");
    let with = |key: &str, value: Value| {
        let mut other = good.clone();
        other[key] = value;
        other.to_string()
    };
    let bytes = STANDARD.decode(sealed).expect("base64");
    let bad = [
        String::new(),
        "no JSON".to_owned(),
        "[".repeat(100_000),
        text.replacen('{', "{\"v\":3,", 1),
        text.replacen("\"delivery\":\"", "\"delivery\":\"\0", 1),
        text.replacen("\"session\":\"", "\"session\":\"\\ud800", 1),
        with("more", json!(1)),
        with("v", json!(4)),
        with("enc", json!("00")),
        with("commitment", json!(good["commitment"].as_str().expect("a text").to_uppercase())),
        with("sealed", json!(sealed.replacen(&sealed[..4], &format!("{} ", &sealed[..4]), 1))),
        with("sealed", json!(format!("{sealed}\n"))),
        with("sealed", json!(URL_SAFE_NO_PAD.encode(bytes))),
    ];
    let before = std::fs::read(server.file()).expect("a file");
    for body in &bad {
        std::thread::park_timeout(std::time::Duration::from_millis(120));
        dana.send("POST", "/v1/seat/sealed", body.as_bytes()).refuses(422, "malformed");
    }
    assert_eq!(std::fs::read(server.file()).expect("a file"), before);
    assert_eq!(dana.send("POST", "/v1/seat/sealed", text.as_bytes()).status, 201);
}

#[test]
fn a_ballot_that_does_not_open_or_is_anothers_fails_its_seat_alone() {
    let server = served_as(THREE);
    let [dana, bob, eve] =
        [("dana", 1), ("bob", 2), ("eve", 3)].map(|(seat, seed)| joined(&server, seat, seed));
    let vote = "{\"vote\":\"redis\",\"rationale\":[\"\u{1b}[31mred\u{7} and \u{202e}back\"]}";
    let ballots = [
        // A point of low order: nobody could open what it is sealed to.
        dana.0.envelope(&dana.1, &record("person", vote), 9, Some(&"00".repeat(32))),
        bob.0.envelope(&bob.1, &record("model", vote), 9, None),
        eve.0.envelope(&eve.1, &record("person", vote), 9, None),
    ];
    for (seat, ballot) in [&dana.0, &bob.0, &eve.0].into_iter().zip(&ballots) {
        assert_eq!(seat.post("/v1/seat/sealed", ballot).status, 201);
    }
    let bytes = server.ended();
    is_sound(&bytes);
    let text = String::from_utf8_lossy(&bytes);
    assert_eq!(text.matches("event: seat_failed").count(), 2, "{text}");
    assert_eq!(text.matches("event: answer_revealed").count(), 1, "{text}");
    // What eve sent is harmless wherever it is shown.
    for arguments in [&["replay", "s.s2s", "--text"][..], &["report", "s.s2s", "--format", "md"]] {
        let shown = run(program(server.home.path()).args(arguments)).out;
        assert!(shown.contains("red") && !shown.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{shown:?}");
    }
}

#[test]
fn a_page_of_another_origin_gets_nothing() {
    let server = served();
    let dana = server.browser("dana", 1);
    for method in ["OPTIONS", "POST", "GET"] {
        let mut stream = std::net::TcpStream::connect(&dana.address).expect("connects");
        let request = format!(
            "{method} /v1/seat/key HTTP/1.1\r\nHost: h\r\nOrigin: https://evil.example\r\nCookie: token={}\r\n\
             Access-Control-Request-Method: POST\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
            dana.token
        );
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("answered");
        let status = answer.split(' ').nth(1).expect("a status");
        let is_refusal = answer.contains("{\"refused\":\"no such ") && ["401", "405"].contains(&status);
        assert!(is_refusal && !answer.to_lowercase().contains("access-control-"), "{method}: {answer}");
    }
}

#[test]
fn every_refusal_is_json_and_headers_have_a_limit() {
    let server = served();
    let dana = server.browser("dana", 1);
    dana.get("/v1/context/%FF").refuses(404, "no such snapshot");
    dana.send("POST", "/v1/seat/key", &vec![b' '; 600 * 1024]).refuses(413, "too long");
    let mut large = Browser { token: "x".repeat(12 * 1024), ..server.browser("dana", 1) };
    assert_eq!(large.get("/v1/seat").status, 401);
    large.token = "x".repeat(20 * 1024);
    assert_eq!(large.get("/v1/seat").status, 431);
    let mut streams = [0; 4].map(|_| dana.open("GET", "/v1/events", b""));
    assert!(streams.iter_mut().all(|stream| stream.read_exact(&mut [0]).is_ok()));
    dana.get("/v1/events").refuses(429, "too many tries");
}

#[test]
fn a_body_that_does_not_come_ends_the_request() {
    let server = served();
    let dana = server.browser("dana", 1);
    let mut stream = std::net::TcpStream::connect(&dana.address).expect("connects");
    let head = format!(
        "POST /v1/seat/sealed HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {}\r\nContent-Length: 100\r\n\r\n{{",
        dana.token
    );
    stream.write_all(head.as_bytes()).expect("sent");
    stream.set_read_timeout(Some(crate::patience::PATIENCE)).expect("set");
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).expect("answered");
    assert_eq!(&answer, b"HTTP/1.1 408");
}

#[test]
fn an_agents_claim_outlives_a_killed_session() {
    let server = served_as(
        "participants: [{name: poet, model: remote/inbox}]\nsteps: [{id: draft, type: agent, agent: poet, label: A poem}]\n",
    );
    let poet = server.agent("poet");
    let taken = wait_for("work", || {
        let taken = poet.http.post("/v1/inbox/take", &json!({ "holder": "one" })).json();
        taken["items"].get(0).cloned()
    });
    let again = server.again();
    let poet = again.agent("poet");
    let path = |verb: &str| format!("/v1/items/{}/{verb}", taken["item"].as_str().expect("an id"));
    let leaves = |holder: &str| json!({ "holder": holder, "result": "Leaves." });
    let result = |holder: &str| poet.http.post(&path("result"), &leaves(holder));
    result("two").refuses(409, "not lease holder");
    assert_eq!(poet.http.get("/v1/inbox").json()["items"], json!([]), "it is still claimed");
    poet.http.post("/v1/items/%FF/claim", &json!({})).refuses(404, "no such page");
    assert_eq!(result("one").status, 200);
    is_sound(&again.ended());
}
