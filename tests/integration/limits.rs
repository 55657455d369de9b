//! How much a service is asked at a time: what it tells of its limits, what suits a server of one's
//! own, who goes first, and what becomes of requests when a round is closed.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use roundtable::participants::http::HttpParticipant;
use roundtable::participants::{Ask, Participant as _};

use crate::http::{ask, ms, open_ai, participant};
use crate::program::Desk;
use crate::server::{Answer, Server};

type Times = Arc<Mutex<Vec<Instant>>>;

/// A service that tells in its first answer how much is left, and when each request came.
fn telling(headers: &'static [&'static str]) -> (Server, Times) {
    let times = Times::default();
    let seen = times.clone();
    let body = r#"{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}"#;
    let server = Server::start(move |_| {
        let mut times = seen.lock().expect("no panic");
        times.push(Instant::now());
        Answer::new(200, if times.len() == 1 { headers } else { &[] }, body).after(ms(30))
    });
    (server, times)
}

#[tokio::test]
async fn no_more_tokens_are_sent_than_are_left_of_the_minute() {
    // A request counts as the longest reply allowed: 4,096.
    let left: &[&str] = &[
        "x-ratelimit-remaining-tokens: 9000",
        "x-ratelimit-limit-tokens: 13000",
        "x-ratelimit-reset-tokens: 600ms",
    ];
    let (server, times) = telling(left);
    let participant = participant(open_ai(&server));
    let ask = ask();
    participant.ask(&ask).await.expect("a reply");
    let told = Instant::now();
    let replies = futures::future::join_all((0..5).map(|_| participant.ask(&ask))).await;
    assert!(replies.iter().all(|reply| reply.as_ref().is_ok_and(|reply| reply.tries == 1)));
    let times = times.lock().expect("no panic");
    let waited: Vec<_> = times[1..].iter().map(|at| at.duration_since(told)).collect();
    assert!(waited[1] < ms(300), "two fit at once: {waited:?}");
    assert!(waited[2] >= ms(500) && waited[4] < ms(2000), "the others in the next minute: {waited:?}");
}

#[tokio::test]
async fn requests_left_are_counted_too_and_hold_back_no_other_model() {
    let left: &[&str] = &["x-ratelimit-remaining-requests: 1", "x-ratelimit-reset-requests: 500ms"];
    let (server, times) = telling(left);
    let participant = participant(open_ai(&server));
    let (ask, other) = (ask(), Ask { model: "other".to_owned(), ..ask() });
    participant.ask(&ask).await.expect("a reply");
    let told = Instant::now();
    let replies = tokio::join!(
        participant.ask(&ask),
        participant.ask(&ask),
        participant.ask(&other),
        participant.ask(&other)
    );
    assert!(replies.0.is_ok() && replies.1.is_ok() && replies.2.is_ok() && replies.3.is_ok());
    let times = times.lock().expect("no panic");
    let early = times[1..].iter().filter(|at| at.duration_since(told) < ms(300)).count();
    assert_eq!(early, 3, "one of this model and both of the other");
}

#[tokio::test]
async fn a_wait_longer_than_the_time_left_fails_at_once() {
    let left: &[&str] = &["x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 24h0m0s"];
    let (server, _) = telling(left);
    let participant = participant(open_ai(&server));
    participant.ask(&ask()).await.expect("a reply");
    let hasty = Ask { time_left: Some(Duration::from_secs(30)), ..ask() };
    let started = Instant::now();
    let failure = participant.ask(&hasty).await.expect_err("a failure");
    assert!(failure.reason.starts_with("the service asked this model's seats to wait"), "{}", failure.reason);
    assert!(started.elapsed() < Duration::from_secs(5));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn those_who_wait_for_a_permit_go_in_the_order_they_came() {
    let server = Server::start(|_| Answer::chat("x").after(ms(5)));
    let participant = HttpParticipant::new(open_ai(&server), Some(1)).expect("a usable service");
    let asks: Vec<Ask> = (0..40)
        .map(|n| {
            let mut ask = ask();
            ask.prompt.tail = format!("  your_role: \"seat-{n}\"\n");
            ask
        })
        .collect();
    let replies = futures::future::join_all(asks.iter().map(|ask| participant.ask(ask))).await;
    assert!(replies.iter().all(Result::is_ok));
    let seats: Vec<String> = server.requests().iter().map(crate::server::Request::seat).collect();
    let expected: Vec<String> = (0..40).map(|n| format!("seat-{n}")).collect();
    assert_eq!(seats, expected);
}

/// A server that notes how many requests it has at most at once.
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
    for (provider, own, expected) in [
        ("ollama", "", 1),
        ("llamacpp", "", 4),
        ("lmstudio", "", 4),
        ("ollama", ", max_in_flight: 3", 3),
        ("vllm", "", 9),
    ] {
        let most = Arc::default();
        let server = counting(&most);
        let desk = Desk::with(round);
        let url = server.url();
        let config = format!("providers:\n  {provider}: {{base_url: \"{url}/v1\"{own}}}\n");
        desk.write("../home/config/config.yaml", config);
        desk.run(["--batch", "decide.yaml", "--model", &format!("{provider}/m")]).code(0);
        assert_eq!(most.load(Ordering::SeqCst), expected, "{provider}{own}");
    }
}

#[tokio::test]
async fn closing_a_round_gives_up_its_requests_at_once() {
    let server = Server::start(|request| match request.seat().as_str() {
        "qa-lead-1" | "qa-lead-2" if request.user_text().contains("Again?") => {
            Answer::chat("vote: redis\n").after(ms(3000))
        }
        "qa-lead-1" | "qa-lead-2" => Answer::chat("vote: redis\n"),
        _ => Answer::hang(""),
    });
    let form = "ballot: {kind: choice, options: [in-process, redis]}, rule: plurality";
    let desk = Desk::with(&format!(
        "participants: [{{persona: qa-lead, count: 30}}]\nsteps:\n  \
         - {{id: a, type: round, question: Which?, {form}, quorum: 2, close: quorum}}\n  \
         - {{id: b, type: round, question: Again?, {form}, participants: [qa-lead-1, qa-lead-2]}}\n"
    ))
    .served_by(&server);
    let mut running = desk.start(["--batch", "decide.yaml", "--model", "lab/m"]);
    let again = || server.requests().iter().filter(|request| request.user_text().contains("Again?")).count();
    let patience = Instant::now();
    while again() < 2 {
        assert!(patience.elapsed() < Duration::from_secs(20), "the first round does not close");
        tokio::time::sleep(ms(5)).await;
    }
    let closed = Instant::now();
    // The second round is still open: of the first, nothing is on its way any more.
    while server.open() > 4 {
        assert!(closed.elapsed() < ms(1500), "{} connections are still open", server.open());
        tokio::time::sleep(ms(5)).await;
    }
    assert!(running.wait().expect("it ends").success());
}
