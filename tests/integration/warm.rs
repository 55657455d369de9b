//! `warm_first`: one seat of each model ahead, the others once its reply has begun.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::program::Desk;
use crate::server::{Answer, Request, Server};

/// How long the first reply takes to begin.
const FIRST: Duration = Duration::from_secs(1);

/// A service that has a model's prompt in its cache once it has answered it; notes when it is asked.
fn caching(asked: Arc<Mutex<Vec<Instant>>>) -> Server {
    Server::start(move |_| {
        let mut asked = asked.lock().expect("a lock");
        asked.push(Instant::now());
        let is_warm = asked[0].elapsed() >= FIRST;
        let answer = Answer::json(
            200,
            &json!({
                "choices": [{"message": {"content": "vote: redis\n"}, "finish_reason": "stop"}],
                "usage": {
                    "prompt_tokens": 1000, "completion_tokens": 10,
                    "prompt_tokens_details": {"cached_tokens": if is_warm { 900 } else { 0 }},
                },
            }),
        );
        if asked.len() == 1 { answer.after(FIRST) } else { answer }
    })
}

fn definition(warm: &str) -> String {
    format!(
        "question: Which?\nexploration: \"{}\"\nballot: {{kind: choice, options: [in-process, redis]}}\n\
         rule: majority\nparticipants: [{{persona: qa-lead, count: 20}}]\n{warm}",
        "Prices may differ between hosts for a minute. ".repeat(180)
    )
}

/// How many of twenty seats were asked before the first reply began, and what the run says.
fn early(warm: &str) -> (usize, String) {
    let asked = Arc::<Mutex<Vec<Instant>>>::default();
    let server = caching(Arc::clone(&asked));
    let desk = Desk::with(&definition(warm)).served_by(&server);
    let ran = desk.run(["--batch", "decide.yaml", "--model", "lab/m"]).code(0);
    let asked = asked.lock().expect("a lock");
    assert_eq!(asked.len(), 20);
    (asked.iter().filter(|at| at.duration_since(asked[0]) < FIRST).count(), ran.err)
}

#[test]
fn one_seat_goes_ahead_and_the_others_find_the_cache_filled() {
    for warm in ["warm_first: on\n", "warm_first: auto\n"] {
        let (early, told) = early(warm);
        assert_eq!(early, 1, "{warm}");
        assert!(told.contains("tokens: 20000 in (17100 from a cache)"), "{told}");
    }
    assert!(early("").0 > 1, "off unless it is asked for");
}

#[test]
fn auto_holds_nobody_back_for_a_short_prompt_and_other_words_are_refused() {
    let server = caching(Arc::default());
    let desk = Desk::with("question: q\nwarm_first: auto\nparticipants: [{persona: qa-lead, count: 5}]\n");
    desk.served_by(&server).run(["--batch", "decide.yaml", "--model", "lab/m"]);
    assert!(server.requests().len() >= 5);
    let ran = Desk::with("question: q\nwarm_first: sometimes\n").run(["check", "decide.yaml"]).code(2);
    assert!(ran.out.contains("unknown warm_first `sometimes`"), "{}", ran.out);
}

/// What a request asks, as one text: the system's part, then the user's.
fn prompt_of(request: &Request) -> String {
    let body = request.json();
    let texts = body["messages"].as_array().expect("messages").iter();
    texts.map(|message| message["content"].as_str().expect("text")).collect()
}

fn shared(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count()
}

/// A service that keeps the prompts whose reply has begun, and counts as cached what a later one shares
/// with the nearest of them, in blocks of 128 tokens of four bytes.
fn keeping() -> Server {
    let kept = Arc::<Mutex<Vec<(Instant, String)>>>::default();
    Server::start(move |request| {
        let prompt = prompt_of(request);
        let mut kept = kept.lock().expect("a lock");
        let begun = kept.iter().filter(|(at, _)| at.elapsed() >= FIRST);
        let cached = begun.map(|(_, other)| shared(&prompt, other)).max().unwrap_or(0) / 512 * 128;
        let usage = json!({
            "prompt_tokens": prompt.len() / 4, "completion_tokens": 10,
            "prompt_tokens_details": {"cached_tokens": cached},
        });
        kept.push((Instant::now(), prompt));
        let said = json!([{"message": {"content": "vote: redis\n"}, "finish_reason": "stop"}]);
        Answer::json(200, &json!({"choices": said, "usage": usage})).after(FIRST)
    })
}

/// With the longest of the built-in personas.
#[test]
fn twenty_seats_share_nine_tenths_of_their_prompts_and_all_but_one_find_them_cached() {
    let server = keeping();
    let personas = ["business-analyst", "security-champion", "technical-lead", "oss-maintainer"];
    let seats = personas.map(|name| format!("{{persona: {name}, model: lab/m, count: 5}}")).join(", ");
    let seats = format!("[{seats}]");
    let definition = definition("warm_first: on\n").replace("[{persona: qa-lead, count: 20}]", &seats);
    let desk = Desk::with(&definition).served_by(&server);
    desk.run(["--batch", "decide.yaml", "--save", "s.s2s"]).code(0);
    let prompts: Vec<String> = server.requests().iter().map(prompt_of).collect();
    assert_eq!(prompts.len(), 20);
    let common = prompts.iter().map(|prompt| shared(prompt, &prompts[0])).min().expect("twenty");
    let whole: usize = prompts.iter().map(String::len).sum();
    let share = (common * prompts.len()) as f64 / whole as f64;
    let snapshot = common - prompts[0].find("participant_context:").expect("a snapshot");
    assert!((8000..8500).contains(&snapshot), "a snapshot of 8 KB: {snapshot}");
    assert!(share >= 0.9, "{common} bytes shared: {share:.3}");

    let report = desk.run(["report", "s.s2s", "--format", "json"]).code(0);
    let report: serde_json::Value = serde_json::from_str(&report.out).expect("JSON");
    let seats = report["rounds"][0]["seats"].as_array().expect("seats");
    let cached: Vec<u64> = seats.iter().filter_map(|seat| seat["tokens"]["cached"].as_u64()).collect();
    let least = common as u64 / 512 * 128;
    assert_eq!(cached.iter().filter(|cached| **cached >= least).count(), 19, "{cached:?}");
    assert_eq!(cached.iter().filter(|cached| **cached == 0).count(), 1, "the one that goes ahead");
}
