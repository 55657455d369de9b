//! Rate and concurrency limits: waits, local servers, order, cancellation.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use futures::future::join_all;
use roundtable::participants::http::Service;
use roundtable::participants::{Failure, Participant as _, Reply, SeatRequest};
use serde_json::json;

use crate::http::{ask, ms, open_ai, participant};
use crate::patience::{PATIENCE, SOON};
use crate::program::Desk;
use crate::server::{Answer, Server};

/// Starts a service that refuses the first request with these headers; returns the delay of the second.
async fn refused_first(
    headers: &'static [&'static str],
    service: impl Fn(&Server) -> Service,
) -> (Result<Reply, Failure>, Option<Duration>) {
    let server = Server::turns(vec![Answer::new(429, headers, "{}"), Answer::chat("x")]);
    let reply = participant(service(&server)).ask(&ask()).await;
    let requests = server.requests();
    (reply, requests.get(1).map(|second| second.at.duration_since(requests[0].at)))
}

#[tokio::test]
async fn a_requested_wait_is_honored_despite_other_headers() {
    // Headers about the remaining quota delay nothing.
    let headers: &[&str] =
        &["retry-after-ms: 400", "x-ratelimit-remaining-tokens: 0", "x-ratelimit-reset-tokens: 6m0s"];
    let (reply, waited) = refused_first(headers, open_ai).await;
    assert_eq!(reply.expect("a reply").tries, 2);
    let waited = waited.expect("a second request");
    assert!(waited >= ms(400) && waited < ms(2500), "{waited:?}");
    // The per-call limit does not include requested waits.
    let hasty = |server: &Server| {
        let mut service = open_ai(server);
        service.timeouts.total = ms(300);
        service
    };
    let (reply, waited) = refused_first(&["retry-after: 1"], hasty).await;
    assert_eq!(reply.expect("a reply").tries, 2);
    assert!(waited.expect("a second request") >= ms(1000));
}

#[tokio::test]
async fn while_a_service_asks_to_wait_seats_ask_in_turn_and_all_are_answered() {
    let accepted = Mutex::new((0, None::<Instant>));
    let server = Server::start(move |_| {
        let (count, last) = &mut *accepted.lock().expect("no panic");
        if *count >= 12 {
            return Answer::chat("x").after(ms(100));
        }
        if last.is_some_and(|at| at.elapsed() < ms(50)) {
            return Answer::new(429, &["retry-after-ms: 100"], "{}");
        }
        (*count, *last) = (*count + 1, Some(Instant::now()));
        Answer::chat("x")
    });
    // Models may share a limit.
    let asks: Vec<_> = (0..12).map(|at| SeatRequest { model: format!("m{at}"), ..ask() }).collect();
    let patient = participant(open_ai(&server));
    let all = || join_all(asks.iter().map(|ask| patient.ask(ask)));
    let replies = all().await;
    assert!(replies.iter().all(Result::is_ok), "{replies:?}");
    assert!(server.requests().len() <= 36);
    let begun = Instant::now();
    all().await;
    assert!(begun.elapsed() < ms(800), "later ones are asked at once");
    // The waits of a service that never answers, or answers slowly, do not add up over its seats.
    let never = Server::start(|_| Answer::new(429, &["retry-after: 1"], "{}"));
    let begun = AtomicUsize::new(0);
    let whole = Server::start(move |_| match begun.fetch_add(1, Ordering::SeqCst) {
        1..4 => Answer::new(429, &["retry-after-ms: 100"], "{}"),
        _ => Answer::chat("x").after(ms(2500)),
    });
    let (lost, slow, started) = (participant(open_ai(&never)), participant(open_ai(&whole)), Instant::now());
    let lost = join_all(asks.iter().map(|ask| lost.ask(ask)));
    let slow = async { (join_all(asks[..4].iter().map(|ask| slow.ask(ask))).await, started.elapsed()) };
    let (lost, (slow, took)) = tokio::join!(lost, slow);
    assert!(lost.iter().all(Result::is_err) && started.elapsed() < ms(12_000));
    assert!(slow.iter().all(Result::is_ok) && took < ms(7000), "{took:?}");
}

#[tokio::test]
async fn a_service_says_itself_whether_a_request_may_be_sent_again() {
    for (status, told, requests) in [(503, "false", 1), (429, "false", 1), (404, "true", 4), (503, "?", 4)] {
        let header = format!("x-should-retry: {told}");
        let server = Server::start(move |_| Answer::new(status, &[&header], "{}"));
        participant(open_ai(&server)).ask(&ask()).await.expect_err("a failure");
        assert_eq!(server.requests().len(), requests, "{status} {told}");
    }
}

#[tokio::test]
async fn a_wait_longer_than_the_time_left_or_than_ten_minutes_fails_at_once() {
    let half_a_minute = Some(Duration::from_secs(30));
    for (header, time_left, told) in [
        ("retry-after: 86400", half_a_minute, "86400 s, with "),
        ("retry-after: 99999999999999999999999", half_a_minute, "forever, with "),
        ("retry-after-ms: 31000", half_a_minute, "31 s, with "),
        ("retry-after: 601", None, "601 s, longer than 600 s, the most without a deadline"),
    ] {
        let server = Server::start(move |_| Answer::new(429, &[header], "{}"));
        let participant = participant(open_ai(&server));
        let started = Instant::now();
        let failure = participant.ask(&SeatRequest { time_left, ..ask() }).await.expect_err("a failure");
        let rest = failure.reason.strip_prefix(&format!("HTTP 429; asked to wait {told}"));
        let is_whole = rest.expect("the wait").is_empty();
        assert!(is_whole == time_left.is_none() && !failure.timed_out, "{}", failure.reason);
        assert!(started.elapsed() < SOON);
        assert_eq!(server.requests().len(), 1, "{header}");
    }
}

fn counting(most: &Arc<AtomicUsize>) -> Server {
    let now = Arc::new(Mutex::new(Vec::<Instant>::new()));
    let most = most.clone();
    Server::start(move |_| {
        let mut now = now.lock().expect("no panic");
        now.retain(|at| at.elapsed() < ms(55));
        now.push(Instant::now());
        most.fetch_max(now.len(), Ordering::SeqCst);
        Answer::chat("vote: redis\n").after(ms(60))
    })
}

#[test]
fn a_server_of_ones_own_is_asked_as_many_at_a_time_as_it_works_on() {
    let round = "question: Which?\nballot: {kind: choice, options: [in-process, redis]}\nrule: majority\n\
                 participants: [{persona: qa-lead, count: 9}]\n";
    let three = ", max_in_flight: 3";
    let services =
        [("ollama", "", 1), ("llamacpp", "", 4), ("lmstudio", "", 4), ("ollama", three, 3), ("vllm", "", 9)];
    for (provider, own, expected) in services {
        let most = Arc::default();
        let server = counting(&most);
        let url = server.url();
        let config = format!("providers:\n  {provider}: {{base_url: \"{url}/v1\"{own}}}\n");
        let desk = Desk::with(round).configured(config);
        desk.run(["--batch", "decide.yaml", "--model", &format!("{provider}/m")]).code(0);
        assert_eq!(most.load(Ordering::SeqCst), expected, "{provider}{own}");
    }
}

#[tokio::test]
async fn closing_a_round_gives_up_its_requests_at_once() {
    let server = Server::start(move |request| match request.seat().as_str() {
        "qa-lead-1" | "qa-lead-2" if request.user_text().contains("Again?") => {
            Answer::chat("vote: redis\n").held()
        }
        "qa-lead-1" | "qa-lead-2" => Answer::chat("vote: redis\n"),
        _ => Answer::hang(""),
    });
    let form = "ballot: {kind: choice, options: [in-process, redis]}, rule: plurality";
    let desk = Desk::with(&format!(
        "participants: [{{persona: qa-lead, count: 30}}]\ncut_prompts: count\nsteps:\n  \
         - {{id: a, type: round, question: Which?, {form}, quorum: 2, close: quorum}}\n  \
         - {{id: b, type: round, question: Again?, {form}, participants: [qa-lead-1, qa-lead-2]}}\n"
    ))
    .served_by(&server);
    let mut running = desk.start(["--batch", "decide.yaml", "--model", "lab/m"]);
    let again = || server.requests().iter().filter(|request| request.user_text().contains("Again?")).count();
    let patience = Instant::now();
    while again() < 2 {
        assert!(patience.elapsed() < PATIENCE, "the first round does not close");
        tokio::time::sleep(ms(5)).await;
    }
    let closed = Instant::now();
    // The second round is still open, but no request of the first is.
    while server.open() > 4 {
        assert!(closed.elapsed() < SOON, "{} connections are still open", server.open());
        tokio::time::sleep(ms(5)).await;
    }
    server.release();
    assert!(running.wait().expect("it ends").success());
}

const FIRST: Duration = Duration::from_millis(400);

/// Starts a service that caches a model's prompt after its first answer.
fn caching() -> Server {
    let first = OnceLock::<Instant>::new();
    Server::start(move |request| {
        let is_first = first.set(request.at).is_ok();
        let is_warm = first.get().is_some_and(|first| first.elapsed() >= FIRST);
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
        if is_first { answer.after(FIRST) } else { answer }
    })
}

/// Returns how many of twenty seats were asked before the first reply began, and the output.
fn early(warm: &str) -> (usize, String) {
    let server = caching();
    let desk = Desk::with(&format!(
        "question: Which?\nexploration: \"{}\"\nballot: {{kind: choice, options: [in-process, redis]}}\n\
         rule: majority\nparticipants: [{{persona: qa-lead, count: 20}}]\n{warm}",
        "Prices may differ between hosts for a minute. ".repeat(180)
    ))
    .served_by(&server);
    let ran = desk.run(["--batch", "decide.yaml", "--model", "lab/m"]).code(0);
    let asked = server.requests();
    assert_eq!(asked.len(), 20);
    (asked.iter().filter(|asked_too| asked_too.at.duration_since(asked[0].at) < FIRST).count(), ran.err)
}

#[test]
fn one_seat_warms_the_cache_for_the_others() {
    let (ahead, told) = early("warm_first: on\n");
    assert_eq!(ahead, 1);
    assert!(told.contains("20,000 tokens in (85 % from caches)"), "{told}");
    assert!(early("").0 > 1, "off unless it is asked for");
}
