//! An open round from outside: reading, locking, pausing, closing.

use std::process::Child;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _};
use roundtable::core::{Command, ExitCode};
use roundtable::history::{CloseReason, Event, LogEntry, PauseReason, SeatStatus};
use roundtable::journal::{EventLog, Journal, fold, read_log};
use roundtable::participants::{Failure, Participant, Reply, SeatRequest};
use rustix::process::{Pid, Signal, kill_process};

use crate::patience::{NEVER, pause, wait_for};
use crate::program::{Desk, ran};
use crate::seats::{Clock, Does, ONE_ROUND, Place, header, said, seated};
use crate::server::{Answer, Server};
use crate::sitting::Sitting;

const SECRET: &str = "zebra-crossing";

fn definition(seats: &str, more: &str) -> String {
    format!(
        "goal: \"Pick one\"\nparticipants: [{seats}]\nsteps:\n  - {{id: pick, type: round, question: \"Which?\", \
         ballot: {{kind: choice, options: [alpha, beta]}}, rule: plurality{more}}}\n"
    )
}

const THREE: &str = "{name: ann, persona: qa-lead, model: openai/test}, {name: bob, persona: skeptic, model: openai/test}, \
                     {name: cyd, persona: technical-lead, model: openai/test}";

fn service(slow: &'static str, time: Duration) -> Server {
    Server::start(move |request| {
        let answer = Answer::chat(&format!("vote: alpha\nrationale: [\"{SECRET}\"]\n"));
        if slow == "*" || request.seat() == slow { answer.after(time) } else { answer }
    })
}

fn two_of_three(desk: &Desk, server: &Server) -> Child {
    desk.write("decide.yaml", definition(THREE, ""));
    let child = desk.begin(server, &["decide.yaml", "--save", "saved/s.s2s", "--json"]);
    desk.until("saved/s.s2s", |session| session.open_round().is_some_and(|round| round.sealed() == 2));
    child
}

#[test]
fn a_session_is_open_once_and_a_dead_holder_does_not_hold_it() {
    let desk = Desk::new();
    let server = service("cyd", NEVER);
    let mut child = two_of_three(&desk, &server);
    let before = desk.bytes("saved/s.s2s");
    let second = desk.hold(&server, &["saved/s.s2s"]).code(2);
    // The message names the lock's holder if the system reports it.
    let who = if cfg!(target_os = "linux") { format!(" (process {})", child.id()) } else { String::new() };
    second.tells(&format!("session locked by another roundtable{who}"));
    // A copy would share the round's key: it could close the round and show the answers.
    desk.write("copy.s2s", &before);
    let copy = desk.hold(&service("", Duration::ZERO), &["copy.s2s"]).code(2);
    copy.tells(&format!("another roundtable{who} runs this session, in another file"));
    assert_eq!((desk.bytes("saved/s.s2s"), desk.bytes("copy.s2s")), (before.clone(), before));
    assert_eq!(std::fs::read_dir(desk.path("saved")).expect("listed").count(), 1);
    assert_eq!(server.requests().len(), 3);

    child.kill().expect("killed");
    child.wait().expect("gone");
    std::fs::rename(desk.path("saved/s.s2s"), desk.path("moved.s2s")).expect("moved");
    desk.hold(&service("", Duration::ZERO), &["moved.s2s"]).code(0);
    assert_eq!(std::fs::read_dir(desk.home().join("state/keys")).expect("listed").count(), 0);
}

#[test]
fn the_private_key_of_an_open_round_is_in_its_file_alone() {
    for in_its_place in ["", "a folder", "7777", &"7".repeat(64)] {
        let desk = Desk::new();
        let server = Server::start(|request| {
            let answer = Answer::chat("vote: alpha");
            if request.seat() == "cyd" { answer.held() } else { answer }
        });
        let child = two_of_three(&desk, &server);
        let key = desk.keys().remove(0);
        std::fs::remove_file(&key).expect("removed");
        match in_its_place {
            "" => {}
            "a folder" => std::fs::create_dir(&key).expect("made"),
            other => std::fs::write(&key, other).expect("written"),
        }
        server.release();
        let ran = ran(child.wait_with_output().expect("ends")).code(4);
        assert!(ran.lines().iter().any(|line| line["event"] == "key_lost"), "{in_its_place}: {}", ran.out);
        assert!(desk.state("saved/s.s2s").open_round().is_some_and(|round| round.sealed() == 0));
    }
}

#[test]
fn an_interrupt_begins_no_further_session() {
    let desk = Desk::new();
    let server = service("*", NEVER);
    desk.write("a.yaml", definition(THREE, ""));
    desk.write("b.yaml", definition(THREE, ""));
    let child = desk.begin(&server, &["a.yaml", "b.yaml", "--save", "saved"]);
    wait_for("all three requests", || (server.requests().len() == 3).then_some(()));
    kill_process(Pid::from_child(&child), Signal::INT).expect("sent");
    ran(child.wait_with_output().expect("ends")).code(130).tells("1 of 2 files not started");
    assert_eq!(std::fs::read_dir(desk.path("saved")).expect("listed").count(), 1);
}

#[test]
fn a_pause_does_not_use_up_a_deadline() {
    let desk = Desk::new();
    desk.write("decide.yaml", definition(THREE, ", close: deadline, deadline: 4s"));
    let slow = service("bob", NEVER);
    let mut child = desk.begin(&slow, &["decide.yaml", "--save", "s.s2s"]);
    desk.until("s.s2s", |session| session.open_round().is_some_and(|round| round.sealed() == 2));
    child.kill().expect("killed");
    child.wait().expect("gone");
    pause(Duration::from_millis(4100));
    desk.hold(&service("", Duration::ZERO), &["s.s2s"]).code(0);
    let session = desk.state("s.s2s");
    assert_eq!(session.rounds[0].sealed(), 3, "the seat that was asked at the crash had its time left");
    assert_eq!(session.rounds[0].closed.clone().expect("closed").reason, CloseReason::All);
}

/// Fails at the round's deadline, as services do; only `bob`.
fn until_the_end(ask: SeatRequest) -> BoxFuture<'static, Result<Reply, Failure>> {
    async move {
        if ask.seat != "bob" {
            return Ok(said(&ask));
        }
        tokio::time::sleep(ask.time_left.expect("a deadline")).await;
        Err(Failure { timed_out: true, ..Failure::from("timed out".to_owned()) })
    }
    .boxed()
}

#[test]
fn a_seat_that_runs_out_of_the_rounds_time_is_missing_by_whichever_clock() {
    for _ in 0..10 {
        let place = Place { clock: Clock::Real, ..Place::fresh() };
        let text = definition("ann, bob, cyd", ", close: deadline, deadline: 60ms");
        let ran = place.start_with(&text, &seated(&["ann", "bob", "cyd"], until_the_end));
        assert!(ran.done.is_ok(), "{:?}", ran.done);
        let session = place.session();
        let closed = session.rounds[0].closed.clone().expect("closed");
        assert_eq!(closed.reason, CloseReason::Deadline);
        assert!(matches!(session.rounds[0].seats["bob"].status, SeatStatus::Missing));
    }
}

#[test]
fn everybody_is_asked_before_anybody_answers() {
    let place = Place::fresh();
    let names: Vec<String> = (0..300).map(|number| format!("seat-{number}")).collect();
    let ran = place.start_with(&definition(&names.join(", "), ""), &|table| {
        let barrier = Arc::new(tokio::sync::Barrier::new(table.len()));
        // Each answers only after everyone has been asked.
        let seat: Arc<dyn Participant> = Arc::new(Does(move |ask: SeatRequest| {
            let barrier = Arc::clone(&barrier);
            async move {
                barrier.wait().await;
                Ok(said(&ask))
            }
            .boxed()
        }));
        table.into_keys().map(|name| (name, Arc::clone(&seat))).collect()
    });
    assert_eq!(ran.done, Ok(ExitCode::Finished));
    let seqs = |wanted: fn(&Event) -> bool| {
        ran.seen.iter().filter(move |line| wanted(&line.stamped.event)).map(|line| line.seq)
    };
    let last_offer = seqs(|event| matches!(event, Event::WorkItemOffered(_))).max();
    assert!(last_offer < seqs(|event| matches!(event, Event::BallotSealed(_))).min());
    assert_eq!(seqs(|event| matches!(event, Event::BallotSealed(_))).count(), 300);
}

/// The session was paused for years.
#[test]
fn a_pause_does_not_use_up_the_sessions_time() {
    let place = Place::fresh();
    let text = format!("max_duration: 1m\n{ONE_ROUND}");
    let mut sitting = Sitting::at(1_000_000_000_000, 50);
    sitting.does(Command::Open(Box::new(header(&text))));
    sitting.does(Command::Pause { reason: PauseReason::Interrupted, step: None });
    let mut journal = Journal::create(&place.disk, &place.file()).expect("a journal");
    journal.append(sitting.events).expect("written");
    drop(journal);
    assert_eq!(place.resume(false).done, Ok(ExitCode::Finished));
    let session = place.session();
    assert!(session.ran_ms(session.last_at) < 60_000, "{}", session.ran_ms(session.last_at));
    assert!(session.ran_ms(session.last_at) >= 50);
}

#[test]
fn a_trace_shows_answers_of_a_round_together_or_not_at_all() {
    let lines = read_log(include_bytes!("../../sessions/context-passing.s2s")).expect("whole").lines;
    let is_revealed = |line: &LogEntry| matches!(line.stamped.event, Event::AnswerRevealed(_));
    let first = lines.iter().position(is_revealed).expect("revealed");
    let mut torn = EventLog { lines, ..Default::default() };
    torn.lines.truncate(first + 2);
    let session = fold(&torn);
    let entries = roundtable::report::trace::trace(&torn.lines, &session);
    assert_eq!(entries.len(), 5);
    assert!(entries.iter().all(|entry| entry.status == "sealed" && entry.answer.is_none()));
}
