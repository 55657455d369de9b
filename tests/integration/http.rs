//! Participants behind HTTP: contents, targets and concurrency of requests, misbehaving servers.
//!
//! Waits are real but short: the base of the backoff is a millisecond here. Unit tests cover the true lengths.
//! Each error becomes a named failure without text of a reply, after the right number of requests.

use std::time::Duration;

use roundtable::participants::api::{ApiStream, ApiStyle};
use roundtable::participants::http::{HttpParticipant, Service};
use roundtable::participants::progress::{ProgressBoard, RequestPhase};
use roundtable::participants::{Failure, Finish, Participant, Prompt, Reply, SeatRequest, TokenUsage};
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

#[tokio::test]
async fn the_same_bytes_are_sent_again_after_a_temporary_error() {
    let statuses = [408, 409, 429, 500, 502, 503, 504, 529].map(|status| Answer::new(status, &[], "later"));
    // An error status inside a 200 counts as that status.
    let inside = Answer::json(200, &json!({"error": {"code": 502, "message": "upstream"}}));
    for answer in statuses.into_iter().chain([inside]) {
        let server = Server::turns(vec![answer, Answer::chat("fine")]);
        let reply = participant(open_ai(&server)).ask(&ask()).await.expect("a reply");
        assert_eq!((&*reply.text, reply.tries), ("fine", 2));
        let requests = server.requests();
        assert_eq!(requests[0].body, requests[1].body);
    }
}

#[tokio::test]
async fn time_runs_out_in_a_silence_and_in_a_trickle() {
    for answer in [Answer::hang(""), Answer::endless(b" ", ms(5))] {
        let server = Server::start(move |_| answer.clone());
        let participant = participant(open_ai(&server));
        let ask = SeatRequest { time_left: Some(ms(150)), ..ask() };
        let failure = participant.ask(&ask).await.expect_err("a failure");
        let reason = "no reply within 150 ms".to_owned();
        assert_eq!(failure, Failure { timed_out: true, ..Failure::from(reason) });
    }
}

#[tokio::test]
async fn a_body_that_stops_is_a_broken_connection() {
    let server = Server::start(|_| Answer::hang("HTTP/1.1 200 x\r\ncontent-length: 50\r\n\r\n{\"cho"));
    let mut service = open_ai(&server);
    service.timeouts.idle = ms(30);
    let failure = participant(service).ask(&ask()).await.expect_err("a failure");
    let reason = "the reply stopped for 30 ms".to_owned();
    assert_eq!(failure, Failure { tries: 4, ..Failure::from(reason) });
}

#[tokio::test]
async fn a_refused_connection_is_named_and_tried_again() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let service = service(ApiStyle::OpenAi, format!("http://{address}/v1"));
    let failure = participant(service).ask(&ask()).await.expect_err("a failure");
    assert!(failure.reason.starts_with(&format!("cannot connect to `{address}`: ")), "{}", failure.reason);
    assert_eq!((failure.tries, failure.timed_out), (4, false));
}

#[tokio::test]
async fn a_dropped_connection_is_tried_again_wherever_it_broke() {
    let half_body =
        "HTTP/1.1 200 x\r\ncontent-length: 500\r\n\r\n{\"choices\":[{\"message\":{\"content\":\"secret";
    let half_chunk = "HTTP/1.1 200 x\r\ntransfer-encoding: chunked\r\n\r\nff\r\n{\"secret";
    for bytes in ["", "HTTP/1.1 200", half_body, half_chunk] {
        let server = Server::turns(vec![Answer::raw(bytes), Answer::chat("fine")]);
        let reply = participant(open_ai(&server)).ask(&ask()).await.expect("a reply");
        assert_eq!((&*reply.text, reply.tries), ("fine", 2), "{bytes}");

        let (outcome, requests) = outcome(Answer::raw(bytes)).await;
        let failure = outcome.expect_err("a failure");
        assert_eq!((failure.tries, requests), (4, 4));
        assert!(failure.reason.starts_with("lost the connection to `127.0.0.1:"), "{}", failure.reason);
        assert!(!failure.reason.contains("secret"));
    }
}

#[tokio::test]
async fn what_is_too_large_is_cut_off_by_name() {
    let large = Answer::new(200, &[], vec![b'x'; 20 * 1024 * 1024]);
    let endless = Answer::endless(&vec![b'x'; 64 * 1024], Duration::ZERO);
    for answer in [large, endless] {
        let (outcome, requests) = outcome(answer).await;
        let reply = outcome.expect("cut, not failed: how long a reply is, is content");
        assert_eq!((reply.text.as_str(), reply.finish), ("", roundtable::participants::Finish::TooLong));
        assert_eq!(requests, 1);
    }
    let (outcome, _) = outcome(Answer::new(400, &[], vec![b'x'; 1024 * 1024])).await;
    assert_eq!(outcome.expect_err("a failure").reason, "HTTP 400");
}

const HEAD: &str = "HTTP/1.1 200 x\r\ncontent-type: text/event-stream\r\n";

#[tokio::test]
async fn a_service_may_answer_in_one_piece_all_the_same_and_streaming_can_be_off() {
    assert_eq!(outcome(Answer::chat("hi")).await.0.expect("a reply").text, "hi");
    let server = Server::start(|_| Answer::chat("hi"));
    let mut service = open_ai(&server);
    service.limits.stream = ApiStream::Off;
    participant(service).ask(&ask()).await.expect("a reply");
    assert!(server.requests()[0].json().get("stream").is_none());
}

#[tokio::test]
async fn a_stream_without_its_end_is_a_failed_try_and_shows_nothing() {
    let secret = Answer::frames(&[&Answer::chunk("secret", None)]);
    let cut = format!("{HEAD}content-length: 4000\r\n\r\n{secret}");
    let unended = format!("{HEAD}connection: close\r\n\r\n{secret}");
    let failing = r#"{"error":{"type":"overloaded_error","message":"secret"}}"#;
    let failing = format!("{HEAD}connection: close\r\n\r\n{secret}data: {failing}\n\n");
    for (bytes, told) in [
        (cut, "lost the connection to"),
        (unended, "the reply broke off before its end"),
        (failing, "the service sent an error `overloaded_error` under status 200"),
    ] {
        let (outcome, requests) = outcome(Answer::raw(bytes)).await;
        let failure = outcome.expect_err("no reply");
        assert!(failure.reason.starts_with(told), "{}", failure.reason);
        assert!(!failure.reason.contains("secret"), "{}", failure.reason);
        assert_eq!((requests, failure.tries), (4, 4), "{told}");
    }
}

#[tokio::test]
async fn a_slow_reply_is_complete_at_its_end() {
    let server = Server::start(|_| Answer::chat_events(&["vo", "te", ": re", "dis"]).trickled(3, ms(60)));
    let reply = participant(open_ai(&server)).ask(&ask()).await.expect("a reply");
    assert_eq!((reply.text.as_str(), reply.finish, reply.tries), ("vote: redis", Finish::Complete, 1));
}

/// Progress shows a failed attempt with its reason, and that a reply has begun, but nothing of the reply.
#[tokio::test]
async fn progress_of_a_request_shows_nothing_of_its_reply() {
    let watches = ProgressBoard::default();
    let server = Server::turns(vec![Answer::new(500, &[], ""), Answer::chat_events(&["secret"])]);
    let ask = SeatRequest { watch: watches.begin("qa-lead"), ..ask() };
    participant(open_ai(&server)).ask(&ask).await.expect("a reply");
    let progress = watches.progress().remove("qa-lead").expect("a seat");
    assert_eq!((progress.phase, progress.tries), (RequestPhase::Answering, 2));
    assert!(progress.trouble.as_deref().is_some_and(|trouble| trouble.contains("500")), "{progress:?}");
    assert!(!format!("{progress:?}").contains("secret"));
}

#[tokio::test]
async fn unusual_replies_are_recognized() {
    let frames = Answer::frames(&[&Answer::chunk("hi", Some("stop")), "[DONE]"]);
    let plain = outcome(Answer::new(200, &["content-type: text/plain"], frames)).await;
    assert_eq!(plain.0.expect("a reply").text, "hi");
    let again = Answer::chunk("You doubt it.\n", None);
    let loop_of = outcome(Answer::events(&vec![again.as_str(); 400])).await.0.expect("a reply");
    assert!(loop_of.finish == Finish::Repeats && loop_of.text.len() < 3000, "{}", loop_of.text.len());
    for (status, said, asked) in [(503, "Loading model", 7), (429, "Please try again in 20ms.", 3)] {
        let error = serde_json::json!({"error": {"message": said}});
        let mut turns = vec![Answer::json(status, &error); asked - 1];
        turns.push(Answer::chat("hi"));
        let server = Server::turns(turns);
        let reply = participant(open_ai(&server)).ask(&ask()).await.expect("a reply");
        assert_eq!((reply.text.as_str(), reply.tries as usize), ("hi", asked));
    }
    for (status, body, told) in [
        (500, r#"{"error":{"message":"Context size has been exceeded."}}"#, "HTTP 500"),
        (429, r#"{"error":{"message":"Request too large: Limit 500, Requested 2900"}}"#, "Limit 500"),
        (402, r#"{"message":"Insufficient credits"}"#, "HTTP 402: Insufficient credits"),
        (403, "<html>no", "HTTP 403: a web page came"),
    ] {
        let (outcome, requests) = outcome(Answer::new(status, &[], body)).await;
        let reason = outcome.expect_err("a failure").reason;
        assert!(reason.contains(told) && requests == 1, "{requests}: {reason}");
    }
}
