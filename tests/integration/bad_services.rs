//! Misbehaving services: the outcome is recorded, and the round continues.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::patience::wait_for;
use crate::program::{Desk, KEY, named, ran};
use crate::server::{Answer, Server};

const TABLE: &str = "\
goal: Pick
question: \"Which?\"
participants: [{name: odd, persona: skeptic, model: lab/m}, {name: good, persona: qa-lead, model: lab/m}]
ballot: {kind: choice, options: [a, b]}
rule: majority
quorum: 1
timeout: 20s
";

/// Header of a gzip body. The program never unpacks bodies, so a bomb stays small.
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
    let desk = Desk::with(TABLE).served_by(&server);
    let ran = desk.saves(&["--json"]).code(0);
    let report = desk.report("s.s2s");
    let seat = &report["rounds"][0]["seats"][0];
    let (got, reason) = (seat["outcome"].as_str().unwrap_or(""), seat["reason"].as_str().unwrap_or(""));
    assert!(got == outcome || (outcome.is_empty() && got != "answered"), "{name}: {got} {reason}");
    assert!(!reason.is_empty() && reason.contains(words) && reason.len() < 400, "{name}: {reason}");
    assert_eq!(report["decisions"][0]["winners"], json!(["b"]), "{name}");
    assert_eq!(report["rounds"][0]["seats"][1]["outcome"], "answered", "{name}");

    let mut all = vec![ran.out, ran.err];
    let config = desk.home().join("config");
    for path in desk.files().into_iter().filter(|path| !path.starts_with(&config)) {
        all.push(String::from_utf8_lossy(&std::fs::read(path).expect("a file")).into_owned());
    }
    assert!(all.iter().all(|text| !text.contains(KEY)), "{name}: the key is nowhere");
    let requests = server.requests();
    assert!(requests.iter().all(|request| !String::from_utf8_lossy(&request.body).contains(KEY)), "{name}");
}

/// Error messages of services and programs may quote an answer.
#[test]
fn what_may_quote_an_answer_is_told_once_the_round_is_closed() {
    const SAID: &str = "vote: A because PLANTED";
    let error = |kind: &str| json!({"error": {"message": SAID, "type": kind}}).to_string();
    let server = Server::start(move |request| match request.seat().as_str() {
        "unnamed" => Answer::new(400, &[], error("PLANTED")),
        "named" => Answer::new(422, &[], error("invalid_request_error")),
        "broken" => Answer::new(500, &["x-should-retry: false"], error("server_error")),
        "inside" => Answer::new(200, &[], error("bad_request")),
        _ => Answer::chat("vote: b").held(),
    });
    let seat = |name: &str| format!("{{name: {name}, persona: skeptic, model: lab/m}}, ");
    let seats: String = ["unnamed", "named", "broken", "inside"].map(seat).concat();
    let script = "echo vote: A because PLAN'T'ED >&2; exit 3";
    let program = format!("{{name: program, command: [sh, -c, \"{script}\"], tool_less: true}}");
    let odd = "{name: odd, persona: skeptic, model: lab/m}";
    let desk = Desk::with(&TABLE.replace(odd, &format!("{seats}{program}"))).served_by(&server);
    let run = desk.start(["--batch", "decide.yaml", "--quiet", "--trust", "--save", "s.s2s"]);
    let file = || fs::read_to_string(desk.path("s.s2s")).unwrap_or_default();
    wait_for("five failures", || (file().matches(": seat_failed").count() == 5).then_some(()));
    assert!(!file().contains("PLANTED"));
    let reasons: String =
        named(&desk.log("s.s2s"), "seat_failed").iter().map(|seat| seat["reason"].to_string()).collect();
    for reason in
        ["HTTP 400;", "HTTP 422 invalid_request_error;", "HTTP 500 server_error;", "exit status: 3;"]
    {
        assert!(reasons.contains(reason), "{reasons}");
    }
    server.release();
    ran(run.wait_with_output().expect("it ends")).code(0);
    let seats = desk.report("s.s2s")["rounds"][0]["seats"].clone();
    let quoted = |seat: &&Value| seat["reason"].as_str().is_some_and(|reason| reason.contains(SAID));
    assert_eq!(seats.as_array().expect("seats").iter().filter(quoted).count(), 5, "{seats:#}");
    desk.is_sound("s.s2s");
}

/// Local servers get dummy keys such as `none`, which may also be a vote.
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
        let ran = desk.saves(&[]);
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
    }
}
