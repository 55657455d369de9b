//! Participants behind HTTP against a misbehaving server.
//!
//! Each error becomes a named failure without text of a reply, after the right number of requests.

use std::time::Duration;

use roundtable::participants::api::{ApiStream, ApiStyle};
use roundtable::participants::progress::{ProgressBoard, RequestPhase};
use roundtable::participants::{Failure, Finish, Participant as _, SeatRequest};
use serde_json::json;

use crate::http::{ask, ms, open_ai, outcome, participant, service};
use crate::server::{Answer, Server};

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
