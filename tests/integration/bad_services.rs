//! Services that misbehave: each seat's outcome is recorded with its reason, and the round goes on.

use std::time::Duration;

use serde_json::{Value, json};

use crate::program::{Desk, KEY};
use crate::server::{Answer, Server};

const TABLE: &str = "\
goal: Pick
question: \"Which?\"
participants: [{name: odd, persona: skeptic, model: lab/m}, {name: good, persona: qa-lead, model: lab/m}]
ballot: {kind: choice, options: [a, b]}
rule: majority
quorum: 1
timeout_ms: 20000
";

/// The head of a packed body. Nothing is ever unpacked, so that a bomb stays as small as it came.
const GZIP: [u8; 20] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3, 0xed, 0xc1, 1, 0x0d, 0, 0, 0, 0xc2, 0xa0, 0xf7];

fn cases() -> Vec<(&'static str, Answer, &'static str, &'static str)> {
    let error = |message: &str| json!({"error": {"message": message, "type": "invalid_request"}});
    let half = "HTTP/1.1 200 x\r\ncontent-length: 900\r\n\r\n{\"choices\":";
    vec![
        ("a wrong key", Answer::json(401, &error(&format!("the key {KEY} is wrong"))), "failed", "HTTP 401"),
        (
            "a redirect",
            Answer::new(307, &["location: http://127.0.0.2:1/x"], ""),
            "failed",
            "redirected to `127.0.0.2",
        ),
        ("no JSON", Answer::new(200, &["content-type: text/html"], "<h1>Hello</h1>"), "failed", "JSON"),
        ("an empty body", Answer::new(200, &[], ""), "failed", ""),
        ("an empty reply", Answer::chat(""), "", ""),
        ("no choices", Answer::json(200, &json!({"choices": []})), "", ""),
        ("20 MB", Answer::chat(&"x".repeat(20 << 20)), "invalid", "too long"),
        ("packed", Answer::new(200, &["content-encoding: gzip"], GZIP.to_vec()), "failed", ""),
        ("an error in a 200", Answer::json(200, &error("overloaded")), "failed", ""),
        ("half a body", Answer::raw(half), "failed", ""),
        ("a flood", Answer::endless(&[b' '; 65_536], Duration::ZERO), "invalid", "too long"),
    ]
}

#[test]
fn each_misfortune_is_one_seats_and_has_its_reason() {
    std::thread::scope(|scope| {
        for (name, answer, outcome, words) in cases() {
            scope.spawn(move || one(name, &answer, outcome, words));
        }
    });
}

fn one(name: &str, answer: &Answer, outcome: &str, words: &str) {
    let odd = answer.clone();
    let server = Server::start(move |request| match request.seat().as_str() {
        "odd" => odd.clone(),
        _ => Answer::chat("vote: b"),
    });
    let desk = Desk::with(TABLE).served_by(&server).set("ROUNDTABLE_LOG", "debug.log");
    let ran = desk.run(["--batch", "decide.yaml", "--json", "--save", "s.s2s"]).code(0);
    let report = desk.report("s.s2s");
    let seat = &report["rounds"][0]["seats"][0];
    let (got, reason) = (seat["outcome"].as_str().unwrap_or(""), seat["reason"].as_str().unwrap_or(""));
    assert!(got == outcome || (outcome.is_empty() && got != "answered"), "{name}: {got} {reason}");
    assert!(!reason.is_empty() && reason.contains(words) && reason.len() < 400, "{name}: {reason}");
    assert_eq!(report["decision"]["winners"], json!(["b"]), "{name}");
    assert_eq!(report["rounds"][0]["seats"][1]["outcome"], "answered", "{name}");

    let mut all = vec![ran.out, ran.err];
    let config = desk.home().join("config");
    for path in desk.files().into_iter().filter(|path| !path.starts_with(&config)) {
        all.push(String::from_utf8_lossy(&std::fs::read(path).expect("a file")).into_owned());
    }
    assert!(all.iter().all(|text| !text.contains(KEY)), "{name}: the key is nowhere");
    let requests = server.requests();
    assert!(requests.iter().all(|request| !String::from_utf8_lossy(&request.body).contains(KEY)), "{name}");
    desk.run(["verify", "s.s2s"]).code(0);
}

/// Local servers are given keys such as `none`, which may be a vote.
#[test]
fn a_key_that_is_a_word_is_masked_in_errors_and_changes_no_answer() {
    let table = TABLE.replace("[a, b]", "[redis, none]").replace("rule: majority", "rule: plurality");
    for (key, said, vote, flags) in [
        ("none", "vote: none\nrationale: [none of them]\n".to_owned(), "none", 0),
        ("redis", "redis".to_owned(), "redis", 1),
        (KEY, format!("vote: none\nrationale: [my key is {KEY}]\n"), "none", 1),
    ] {
        let refused = json!({"error": {"message": format!("bad key {key}"), "type": "auth"}});
        let answer = said.clone();
        let server = Server::start(move |request| match request.seat().as_str() {
            "odd" => Answer::json(401, &refused),
            "good" => Answer::chat_events(&answer.split_inclusive(' ').collect::<Vec<_>>()),
            _ => Answer::chat(&answer),
        });
        let third = "qa-lead, model: lab/m}, {name: third, persona: qa-lead, model: lab/m}]";
        let table = table.replace("qa-lead, model: lab/m}]", third).replace("quorum: 1", "quorum: 2");
        let desk = Desk::with(&table).served_by(&server).set("LAB_KEY", key);
        let ran = desk.run(["--batch", "decide.yaml", "--save", "s.s2s"]);
        let all = ran.out + &ran.err + &desk.read("s.s2s");
        assert!(all.contains("bad key ***") && !all.contains(KEY), "{all}");
        let report = desk.report("s.s2s");
        let seats = report["rounds"][0]["seats"].as_array().expect("seats");
        let answered: Vec<&Value> = seats.iter().filter(|seat| seat["outcome"] == "answered").collect();
        assert_eq!(answered.len(), 2, "{report:#}");
        for seat in answered {
            assert_eq!(seat["ballot"]["choice"], vote, "{seat:#}");
            assert_eq!(seat["flags"].as_array().map(Vec::len), Some(flags), "{seat:#}");
        }
        let text = desk.run(["report", "s.s2s", "--format", "md"]).code(0).out;
        assert_eq!(text.contains("the reply held the API key, which is masked"), key == KEY, "{text}");
        desk.run(["verify", "s.s2s"]).code(0);
    }
}
