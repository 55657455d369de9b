//! Tokens and cost: estimates before a run, actual values after it.

use serde_json::json;

use crate::program::{Desk, has};
use crate::server::{Answer, Server};

const ROUND: &str = "question: Which?\nballot: {kind: choice, options: [in-process, redis]}\n\
                     rule: majority\nquorum: 1\nparticipants: [qa-lead, skeptic]\n";

fn counted() -> Answer {
    let cached = json!({"cached_tokens": 800});
    let usage = json!({"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": cached});
    let choice = json!({"message": {"content": "vote: redis\n"}, "finish_reason": "stop"});
    Answer::json(200, &json!({"choices": [choice], "usage": usage}))
}

#[track_caller]
fn has_line(text: &str, line: &str) {
    assert!(text.lines().any(|found| found == line), "{line}\n{text}");
}

fn desk(server: &Server) -> Desk {
    let desk = Desk::with(ROUND).served_by(server);
    let config = "max_output_tokens: 4096\nprices:\n  lab/m: {input: 10, cached: 1, output: 100}\n";
    desk.configure(config);
    desk
}

#[test]
fn a_dry_run_prints_tokens_and_cost_per_seat_and_sends_nothing() {
    let server = Server::start(|_| counted());
    let ran = desk(&server).run(["--batch", "decide.yaml", "--model", "lab/m", "--dry-run"]).code(0);
    let heads: Vec<&str> = ran.out.lines().filter(|line| line.starts_with("=== ")).collect();
    assert_eq!((heads.len(), ran.out.matches("\n  question: ").count()), (2, 1), "what is shared once");
    assert!(heads.iter().all(|head| head.contains(" tokens · up to $0.4")), "{heads:?}");
    ran.tells("if every reply is as long as allowed (4,096 tokens)");
    let known = Desk::with(ROUND).run(["--batch", "decide.yaml", "--model", "openai/gpt-4o", "--dry-run"]);
    assert!(known.code(0).out.contains(" · up to $0.16"), "16,384 tokens unless something else is said");
    let unknown = Desk::with(ROUND).run(["--batch", "decide.yaml", "--model", "openai/gpt-x", "--dry-run"]);
    unknown.tells("no price is known of openai/gpt-x");
    let limited = Desk::with(&ROUND.replace("[qa-lead, skeptic]", "[qa-lead, openai/gpt-x]\nmax_usd: 1"));
    limited.run(["check", "decide.yaml"]).code(2).shows("price of `openai/gpt-x`").tells(": 1 error, ");
    let free = Desk::with(ROUND).run(["--batch", "decide.yaml", "--dry-run"]).code(0);
    assert!(!free.err.contains('$') && !free.out.contains(" $"), "{}", free.err);
    assert!(server.requests().is_empty());
}

#[test]
fn reports_show_cost_per_seat_round_and_session_at_the_opening_prices() {
    let server = Server::start(|_| counted());
    let desk = desk(&server);
    // 200 new tokens, 800 from the cache, 100 of reply: 0.002 + 0.0008 + 0.01.
    let cost = "$0.0256, 2,000 tokens in (80 % from caches), 200 out";
    let ran = desk.saves(&["--model", "lab/m"]).code(0);
    has_line(&ran.err, &format!("spent: {cost}"));
    // Later prices do not change past costs; prices of a project are ignored.
    desk.write(".s2s/config.yaml", "prices:\n  lab/m: {input: 1000, output: 1000}\n");
    let report = desk.report("s.s2s");
    assert_eq!(report["prices"], json!({"lab/m": {"input": 10.0, "cached": 1.0, "output": 100.0}}));
    let tokens = json!({"input": 2000, "output": 200, "cached": 1600});
    let total = json!({"usd": 0.0256, "tokens": tokens, "complete": true});
    assert_eq!((&report["cost"], &report["rounds"][0]["cost"]), (&total, &total));
    let each = report["rounds"][0]["seats"].as_array().expect("seats").iter().map(|seat| &seat["cost"]);
    assert!(each.into_iter().all(|cost| *cost == json!({"usd": 0.0128})));
    let read = desk.run(["report", "s.s2s", "--format", "md"]).code(0).out;
    assert!(read.contains(&format!(" · Cost: {cost}\n")), "{read}");
    desk.run(["report", "s.s2s", "--format", "html"]).code(0).shows("<p>Cost $0.03, 2,200 tokens</p>");
    let unpriced = proxied(&server);
    unpriced.saves(&["--model", "litellm/m"]).code(0);
    let read = unpriced.run(["report", "s.s2s", "--format", "md"]).code(0).out;
    assert!(!read.contains(" $") && read.contains("cost unknown, 2,000 tokens in"), "{read}");
}

/// Returns a desk whose models are behind a proxy with unknown prices.
fn proxied(server: &Server) -> Desk {
    Desk::with(ROUND).configured(format!("providers:\n  litellm: {{base_url: \"{}/v1\"}}\n", server.url()))
}

#[test]
fn what_a_service_does_not_tell_of_is_unknown_and_the_sum_at_least() {
    let choice = json!({"message": {"content": "vote: redis"}, "finish_reason": "stop"});
    let with_answer = |other: Answer| {
        let server = Server::start(move |of| if of.seat() == "qa-lead" { counted() } else { other.clone() });
        let desk = desk(&server);
        (desk.saves(&["--model", "lab/m"]).code(0), desk)
    };
    let (ran, desk) = with_answer(Answer::json(200, &json!({"choices": [choice]})));
    has_line(&ran.err, "spent: at least $0.0128, 1,000 tokens in (80 % from caches), 100 out");
    let report = desk.report("s.s2s");
    assert_eq!((&report["cost"]["usd"], &report["cost"]["complete"]), (&json!(0.0128), &json!(false)));
    let seats = &report["rounds"][0]["seats"];
    assert_eq!((&seats[0]["cost"]["usd"], &seats[1]["cost"]["usd"]), (&json!(0.0128), &json!(null)));
    let read = desk.run(["report", "s.s2s", "--format", "md"]).code(0).out;
    has(&read, &[" · Cost: at least $0.0128", "not every cost is known"]);
    // A refused request cannot have cost anything.
    for (status, is_known) in [(400, true), (401, true), (404, true), (429, true), (500, false)] {
        let (_, desk) = with_answer(Answer::new(status, &["x-should-retry: false"], "{}"));
        assert_eq!(desk.report("s.s2s")["cost"]["complete"], is_known, "{status}");
    }
}

#[test]
fn a_limit_on_money_is_refused_where_a_price_is_not_known_and_says_why() {
    let server = Server::start(|_| counted());
    let program = "question: Which?\nparticipants: [{name: p, command: [cat], tool_less: true}]\n";
    let unlisted =
        "`openai/gpt-x` is not known, so that no budget can be kept: the built-in table does not list it";
    for (desk, model, why) in [
        (Desk::with(ROUND).set("OPENAI_API_KEY", "sk-x"), "openai/gpt-x", unlisted),
        (proxied(&server), "litellm/m", "a proxy passes on what its models cost, and does not say"),
        (Desk::with(program), "rehearsal", "a program does not say what its model costs"),
    ] {
        let ran = desk.run(["--batch", "decide.yaml", "--model", model, "--max-usd", "1", "--trust"]).code(2);
        ran.tells(why);
    }
    assert!(server.requests().is_empty());
    // A server on this machine is free, unless it has the name of a hosted service.
    let url = format!("{}/v1", server.url());
    let here =
        Desk::with(ROUND).served_by(&server).set("OPENAI_BASE_URL", &url).set("OPENAI_API_KEY", "sk-x");
    let limited = |model| here.run(["--batch", "decide.yaml", "--model", model, "--max-usd", "0.000001"]);
    limited("openai/gpt-5").code(2).tells("its service is at another address than its own");
    limited("lab/m").code(0);
    let scripts = "answers: {decide: {qa-lead: {vote: redis}, skeptic: {vote: redis}}}\n";
    Desk::with(&format!("{ROUND}{scripts}")).run(["--batch", "decide.yaml", "--max-usd", "0.000001"]).code(0);
}

/// A reply of the maximum length costs one dollar; each seat and agent may be re-asked once.
#[test]
fn nothing_is_sent_that_could_cost_more_than_the_limit() {
    let agent =
        "participants: [{name: ann, persona: qa-lead}]\nsteps: [{id: one, type: agent, agent: ann}]\n";
    // Both work at the same time and share the limit.
    let agents = "participants: [{name: ann, persona: qa-lead}, {name: bob, persona: skeptic}]\nsteps:\n  - id: both\n    \
                  type: parallel\n    steps: [{id: one, type: agent, agent: ann}, {id: two, type: agent, agent: bob}]\n";
    for (definition, asked, limits, why) in [
        (ROUND, 2, ["3.99", "4.001"], "could cost $4.0000"),
        (agent, 1, ["1.99", "2.001"], "could cost $2.0000"),
        (agents, 2, ["3.99", "4.001"], "$2.0000 are reserved"),
    ] {
        let run = |limit| {
            let server = Server::start(|_| counted());
            let desk = Desk::with(definition).served_by(&server);
            let text = "max_output_tokens: 4096\nprices:\n  lab/m: {input: 0.000001, output: 244.140625}\n";
            desk.configure(text);
            desk.write(".s2s/config.yaml", "prices: {lab/m: {input: 0.000000001, output: 0.000000001}}\n");
            let ran = desk.run(["--batch", "decide.yaml", "--model", "lab/m", "--max-usd", limit]);
            (ran, server.requests().len())
        };
        let (refused, sent) = run(limits[0]);
        assert!(refused.code != 0 && sent == 0, "{}", refused.err);
        refused.says(why);
        let (borne, sent) = run(limits[1]);
        assert_eq!((borne.code, sent), (0, asked), "{}", borne.err);
        assert!(!borne.err.contains(why), "{}", borne.err);
    }
}

#[test]
fn a_projects_price_counts_once_it_is_agreed_to_and_the_higher_of_two_for_a_limit() {
    let server = Server::start(|_| counted());
    let desk = Desk::with(ROUND).set("LITELLM_BASE_URL", &format!("{}/v1", server.url()));
    desk.write(".s2s/config.yaml", "prices: {litellm/m: {input: 0.000001, output: 244.140625}}\n");
    let run = |more: &[&str]| desk.run([&["--batch", "decide.yaml", "--model", "litellm/m"], more].concat());
    let asked = "it counts `litellm/m` at $0.000001 in and $244.140625 out for a million tokens";
    run(&["--max-usd", "20"]).code(2).tells("nobody has agreed to this yet").tells(asked);
    assert!(server.requests().is_empty());
    run(&["--max-usd", "20", "--trust"]).code(0).tells("spent: $0.0488");
    run(&[]).code(0).tells("the price of `litellm/m` is ignored: nothing here needs it");
    let own = "max_output_tokens: 4096\nprices: {litellm/m: {input: 0.000001, output: 0.000001}}\n";
    desk.configure(own);
    run(&["--max-usd", "1"]).code(0);
    assert_eq!(run(&["--max-usd", "1", "--trust"]).says("could cost $4.0000").code, 5);
}

#[test]
fn a_limit_on_money_counts_every_request_that_may_have_been_charged_as_it_happens() {
    // Every reply breaks off after its first tokens, so its usage is unknown.
    let broken = "HTTP/1.1 200 x\r\ncontent-length: 900\r\n\r\n{\"choices\":";
    let server = Server::start(move |_| Answer::raw(broken));
    let desk = desk(&server);
    // A request may cost about $0.42: the limit covers two of each seat, but not a fifth.
    let run = ["--batch", "decide.yaml", "--model", "lab/m", "--save", "s.s2s", "--max-usd", "1.8"];
    let ran = desk.run(run).code(5);
    assert_eq!(server.requests().len(), 4, "{}", ran.err);
    ran.tells("; one more request could cost $0.42");
    // The possible cost of the first run counts.
    let ran = desk.run(["resume", "s.s2s", "--max-usd", "1.8"]).code(5);
    assert_eq!(server.requests().len(), 4, "{}", ran.err);
    // A higher limit covers four attempts of each.
    let run = ["--batch", "decide.yaml", "--model", "lab/m", "--save", "t.s2s", "--max-usd", "9"];
    desk.run(run).code(5);
    assert_eq!(server.requests().len(), 12);
    // Refused requests are free.
    let busy = Server::start(|_| Answer::new(503, &[], "{}"));
    let desk = self::desk(&busy);
    desk.run(["--batch", "decide.yaml", "--model", "lab/m", "--max-usd", "1.8"]).code(5);
    assert_eq!(busy.requests().len(), 8);
}
