//! What a newcomer runs into: the README's own definition, a context that cannot be read, session
//! ids, a session in a pipe, labels, time that runs out, a file an editor has touched.

use roundtable::history::{Event, LogEntry};
use roundtable::journal::{fold, read_log};
use roundtable::report::trace::trace;

use crate::program::Desk;
use crate::server::{Answer, Server};

const PICK: &str = "participants: [qa-lead, skeptic]\nquestion: Which?\n\
                    ballot: {kind: choice, options: [alpha, beta]}\nrule: plurality\nquorum: 1\n";

#[test]
fn a_context_that_cannot_be_read_stops_the_round() {
    let desk = Desk::with(PICK);
    desk.run(["init"]).code(0);
    desk.write(".s2s/CONTEXT.md", b"caf\xe9".as_slice());
    for args in ["--batch decide.yaml", "snapshot decide.yaml", "--batch decide.yaml --dry-run"] {
        desk.run(args.split(' ')).code(2).tells("CONTEXT.md").tells("not UTF-8");
    }
    desk.write(".s2s/CONTEXT.md", "A shop.");
    assert!(desk.run(["snapshot", "decide.yaml"]).code(0).out.contains("project_summary: \"A shop.\""));
}

#[test]
fn time_that_runs_out_in_the_last_round_stops_the_session() {
    let server = Server::start(|_| Answer::hang(b""));
    let desk = Desk::with(&format!("max_duration: 300ms\n{PICK}")).served_by(&server);
    desk.run(["--batch", "decide.yaml", "--model", "lab/x"]).code(5).shows("max_duration");
    let session = fold(&read_log(&std::fs::read(desk.session()).expect("a file")).expect("whole"));
    assert_eq!(session.closed.map(|closed| closed.status.name()), Some("stopped"));
}

#[test]
fn a_trace_shows_answers_of_a_round_together_or_not_at_all() {
    let lines = read_log(include_bytes!("../../sessions/context-passing.s2s")).expect("whole").lines;
    let is_revealed = |line: &LogEntry| matches!(line.stamped.event, Event::AnswerRevealed(_));
    let first = lines.iter().position(is_revealed).expect("revealed");
    let mut torn = roundtable::journal::EventLog { lines, ..Default::default() };
    torn.lines.truncate(first + 2);
    let session = fold(&torn);
    let entries = trace(&torn.lines, &session);
    assert_eq!(entries.len(), 5);
    assert!(entries.iter().all(|entry| entry.status == "sealed" && entry.answer.is_none()));
}
