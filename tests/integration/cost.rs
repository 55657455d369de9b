//! Tokens and money: what a run could cost before it, and what it cost after it.

use serde_json::json;

use crate::program::Desk;
use crate::server::{Answer, Server};

const ROUND: &str = "question: Which?\nballot: {kind: choice, options: [in-process, redis]}\n\
                     rule: majority\nparticipants: [qa-lead, skeptic]\n";

fn counted() -> Answer {
    Answer::json(
        200,
        &json!({
            "choices": [{"message": {"content": "vote: redis\n"}, "finish_reason": "stop"}],
            "usage": {
                "prompt_tokens": 1000, "completion_tokens": 100,
                "prompt_tokens_details": {"cached_tokens": 800},
            },
        }),
    )
}

fn desk(server: &Server) -> Desk {
    let desk = Desk::with(ROUND).served_by(server);
    desk.write(".s2s/config.yaml", "prices:\n  lab/m: {input: 10, cached: 1, output: 100}\n");
    desk
}

#[test]
fn a_dry_run_tells_tokens_and_money_of_each_seat_and_sends_nothing() {
    let server = Server::start(|_| counted());
    let ran = desk(&server).run(["--batch", "decide.yaml", "--model", "lab/m", "--dry-run"]).code(0);
    let heads: Vec<&str> = ran.out.lines().filter(|line| line.starts_with("=== ")).collect();
    assert_eq!(heads.len(), 2);
    assert!(heads.iter().all(|head| head.contains(" tokens · up to 0.4")), "{heads:?}");
    assert!(ran.err.contains("if every reply is as long as allowed (4096 tokens)"), "{}", ran.err);
    let known = Desk::with(ROUND).run(["--batch", "decide.yaml", "--model", "openai/gpt-4o", "--dry-run"]);
    assert!(known.code(0).out.contains(" · up to 0.04"));
    let unknown = Desk::with(ROUND).run(["--batch", "decide.yaml", "--model", "openai/gpt-x", "--dry-run"]);
    assert!(unknown.err.contains("no price is known of openai/gpt-x"), "{}", unknown.err);
    let free = Desk::with(ROUND).run(["--batch", "decide.yaml", "--dry-run"]).code(0);
    assert!(!free.err.contains('$') && !free.out.contains(" $"), "{}", free.err);
    assert!(server.requests().is_empty());
}

#[test]
fn what_was_spent_is_told_by_round_and_seat_with_what_caches_saved() {
    let server = Server::start(|_| counted());
    let ran = desk(&server).run(["--batch", "decide.yaml", "--model", "lab/m"]).code(0);
    // 200 tokens anew, 800 from the cache, 100 of reply: 0.002 + 0.0008 + 0.01.
    for line in [
        "cost of round 1: 0.0256 $ (qa-lead 0.0128 $, skeptic 0.0128 $)",
        "tokens: 2000 in (1600 from a cache), 200 out; spent: 0.0256 $, 0.0144 $ saved by caches",
    ] {
        assert!(ran.err.lines().any(|found| found == line), "{line}\n{}", ran.err);
    }
    let rehearsed = Desk::with(ROUND).run(["--batch", "decide.yaml"]);
    assert!(!rehearsed.err.contains('$'), "{}", rehearsed.err);
}
