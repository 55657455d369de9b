//! Participants behind HTTP: contents, targets and concurrency of requests.
//!
//! Waits are real but short: the base of the backoff is a millisecond here. Unit tests cover the true lengths;
//! errors are in `faults.rs`.

use std::time::Duration;

use roundtable::participants::api::ApiStyle;
use roundtable::participants::http::{HttpParticipant, Service};
use roundtable::participants::{Failure, Participant, Prompt, Reply, SeatRequest, TokenUsage};
use serde_json::json;

use crate::patience::Patient as _;
use crate::server::{Answer, Request, Server};

const KEY: &str = "sk-very-secret-key";

pub fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

pub fn service(dialect: ApiStyle, url: impl Into<String>) -> Service {
    let mut service = Service::new(dialect, url);
    service.key = Some(KEY.into());
    service.key_name = Some("TEST_API_KEY".to_owned());
    service.first_wait = ms(1);
    service
}

pub fn open_ai(server: &Server) -> Service {
    service(ApiStyle::OpenAi, server.url() + "/v1")
}

pub fn participant(service: Service) -> HttpParticipant {
    HttpParticipant::new(service, None).expect("a usable service")
}

pub fn ask() -> SeatRequest {
    let tail = "  your_role: \"qa-lead\"\n\nText.\n".to_owned();
    let snapshot = "participant_context:\n  question: \"Which — é 👩?\"\n".into();
    let [step, round, seat, model] = ["decide", "decide", "qa-lead", "some/model"].map(str::to_owned);
    SeatRequest {
        step,
        round,
        seat,
        model,
        prompt: Prompt { rules: "The rules.\n".into(), snapshot, tail },
        seed: Some(7),
        ..SeatRequest::default()
    }
}

/// Asks a server that always gives this answer; returns the result and the number of requests.
pub async fn outcome(answer: Answer) -> (Result<Reply, Failure>, usize) {
    outcome_of(move |_| answer.clone()).await
}

pub async fn outcome_of(
    handler: impl Fn(&Request) -> Answer + Send + Sync + 'static,
) -> (Result<Reply, Failure>, usize) {
    let server = Server::start(handler);
    let outcome = participant(open_ai(&server)).ask(&ask()).await;
    (outcome, server.requests().len())
}

#[tokio::test]
async fn requests_follow_chat_completions() {
    let server = Server::start(|_| Answer::chat("hello"));
    let reply = participant(open_ai(&server)).ask(&ask()).await;
    let usage = Some(TokenUsage { input: 7, output: 2, ..TokenUsage::default() });
    assert_eq!(reply, Ok(Reply { text: "hello".to_owned(), usage, tries: 1, ..Reply::default() }));

    let [request] = &server.requests()[..] else { panic!("one request") };
    assert!(request.head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{}", request.head);
    let sent = ["authorization", "content-type", "content-length", "transfer-encoding"];
    let length = request.body.len().to_string();
    let wanted = [Some("Bearer sk-very-secret-key"), Some("application/json"), Some(&*length), None];
    assert_eq!(sent.map(|name| request.header(name)), wanted);
    let prompt = ask().prompt;
    let expected = json!({
        "messages": [
            {"role": "system", "content": &*prompt.rules},
            {"role": "user", "content": format!("{}{}", prompt.snapshot, prompt.tail)},
        ],
        "model": "some/model", "max_tokens": 16384, "seed": 7,
        "stream": true, "stream_options": {"include_usage": true},
    });
    assert_eq!(request.json(), expected);
}

#[tokio::test]
async fn a_redirect_is_a_failure_and_carries_the_key_nowhere() {
    let other = Server::start(|_| Answer::chat("caught"));
    for status in [301, 302, 303, 307, 308] {
        let location = format!("location: http://localhost:{}/v1", other.port());
        let (outcome, requests) = outcome_of(move |_| Answer::new(status, &[&location], "")).await;
        let port = other.port();
        let expected = format!("HTTP {status}: redirected to `localhost:{port}`, which is not followed");
        assert_eq!(outcome.expect_err("a failure").reason, expected);
        assert_eq!(requests, 1);
    }
    assert_eq!(other.requests().len(), 0);
}

#[tokio::test]
async fn the_key_is_in_no_error_and_no_debug_output() {
    let echo = json!({"error": {"message": format!("bad key {KEY}"), "code": KEY}});
    for status in [401, 403, 422, 500] {
        let server = Server::start({
            let echo = echo.clone();
            move |_| Answer::json(status, &echo)
        });
        let service = open_ai(&server);
        assert!(!format!("{service:?} {service:#?}").contains(KEY));
        let failure = participant(service).ask(&ask()).await.expect_err("a failure");
        assert!(!format!("{failure:?} {failure}").contains(KEY), "{failure:?}");
        assert!(failure.full_reason().contains("***"), "{failure:?}");
        assert_eq!(failure.reason.contains("check `TEST_API_KEY`"), status < 404, "{failure:?}");
    }
    // A long message is not cut inside the key.
    let long = json!({"error": {"message": format!("{}{KEY}", "x".repeat(195))}});
    let failure = outcome(Answer::json(200, &long)).await.0.expect_err("a failure");
    assert!(failure.full_reason().ends_with("xx***"), "{failure:?}");
}

#[test]
fn a_key_goes_over_plain_http_to_this_machine_only() {
    let made = |url: &str| HttpParticipant::new(service(ApiStyle::OpenAi, url), None);
    for url in "http://localhost:1/v1 http://127.9.9.9 http://[::1]:8/ https://api.example.com/v1".split(' ')
    {
        assert!(made(url).is_ok(), "{url}");
    }
    let others = "http://api.example.com/v1 http://192.168.0.1 http://localhost.example.com \
                  http://127.0.0.1.example.com http://[::2]";
    for url in others.split(' ') {
        let problem = made(url).err().expect("a problem");
        assert!(problem.message.contains("over plain http"), "{url}: {problem}");
        assert!(problem.message.contains("TEST_API_KEY") && !problem.message.contains(KEY), "{problem}");
        let mut keyless = service(ApiStyle::OpenAi, url);
        keyless.key = None;
        assert!(HttpParticipant::new(keyless, None).is_ok(), "{url}");
    }
    // An unusable address or key is a problem from the start.
    for url in ["", "api.example.com", "ftp://x", "http://", "https://u:pw@x.com", "https://x/?api-key=pw"] {
        let problem = made(url).err().expect(url);
        assert!(problem.hint.is_some() && !problem.to_string().contains("pw"), "{problem}");
    }
    let mut odd = service(ApiStyle::Anthropic, "https://api.anthropic.com");
    odd.key = Some("two\nlines".into());
    let problem = HttpParticipant::new(odd, None).err().expect("a problem");
    assert_eq!(problem.message, "`TEST_API_KEY` contains a character that no key can have");
}

#[tokio::test]
async fn a_seat_that_gets_no_permit_in_time_has_timed_out() {
    let server = Server::start(|_| Answer::chat("x").after(ms(400)));
    let participant = HttpParticipant::new(open_ai(&server), Some(1)).expect("a usable service");
    let (patient, hasty) = (ask(), SeatRequest { time_left: Some(ms(50)), ..ask() });
    let (first, second) = tokio::join!(participant.ask(&patient), participant.ask(&hasty));
    assert!(first.is_ok());
    let reason = "no reply within 50 ms".to_owned();
    assert_eq!(second, Err(Failure { timed_out: true, tries: 0, ..Failure::from(reason) }));
}

/// Reruns itself with a proxy in the environment, which a test cannot set for itself.
#[tokio::test]
async fn no_proxy_sees_what_goes_to_this_machine() {
    if std::env::var_os("ROUNDTABLE_BEHIND_PROXY").is_some() {
        let (outcome, requests) = outcome(Answer::chat("direct")).await;
        assert_eq!((outcome.expect("a reply").text, requests), ("direct".to_owned(), 1));
        return;
    }
    let proxy = Server::start(|_| Answer::chat("through the proxy"));
    let mut again = std::process::Command::new(std::env::current_exe().expect("this test"));
    again.args(["--exact", "http::no_proxy_sees_what_goes_to_this_machine", "--nocapture"]);
    for name in ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"] {
        again.env(name, proxy.url());
    }
    again.env_remove("no_proxy").env_remove("NO_PROXY").env("ROUNDTABLE_BEHIND_PROXY", "1");
    let output = again.output_soon().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(proxy.requests().len(), 0);
}

#[tokio::test]
async fn a_key_that_comes_back_is_masked_and_a_mark_before_json_is_read_over() {
    let message = json!({"content": format!("my key is {KEY}!")});
    let whole = json!({"choices": [{"message": message, "finish_reason": "stop"}]});
    let whole = format!("\u{feff}{whole}");
    let (reply, _) = outcome(Answer::new(200, &["content-type: application/json"], whole)).await;
    assert_eq!(reply.expect("a reply").text, "my key is (masked API key)!");
    let (reply, _) = outcome(Answer::chat_events(&["so sk-very", "-secret-key it is"])).await;
    assert_eq!(reply.expect("a reply").text, "so (masked API key) it is");
    let error = "\u{feff}{\"error\": {\"message\": \"no\"}}";
    let (reply, _) = outcome(Answer::new(400, &[], error)).await;
    assert_eq!(reply.expect_err("a failure").full_reason(), "HTTP 400: no");
}
