//! kill -9 at 200 moments of a session: what was sealed stays sealed, nobody is asked twice, and the
//! session comes to the end it would have come to.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use roundtable::history::{SeatStatus, Session};
use roundtable::journal::read_log;

use crate::cases;
use crate::home::{Asked, asked, is_sound};
use crate::oracle::Dice;
use crate::patience::{PATIENCE, pause};
use crate::program::Desk;
use crate::seats::{Came, outcome};
use crate::server::{Answer, Server};

const DEFINITION: &str = "\
id: crash
goal: \"Pick one\"
participants:
  - {persona: software-architect, model: openai/test}
  - {persona: security-champion, model: openai/test}
  - {persona: product-manager, model: openai/test}
  - {persona: qa-lead, model: openai/test}
  - {persona: technical-lead, model: openai/test}
  - {persona: skeptic, model: openai/test}
steps:
  - {id: first, type: round, question: \"Which first?\", ballot: {kind: choice, options: [alpha, beta]}, rule: plurality}
  - {id: second, type: round, question: \"Which then?\", ballot: {kind: choice, options: [alpha, beta]}, rule: plurality}
";

/// A service whose answers depend on seat and round alone, and come after 0 to 30 ms.
fn service() -> (Server, Receiver<()>) {
    let (tell, told) = channel();
    let tell = Mutex::new(tell);
    let server = Server::start(move |request| {
        let Asked { seat, round, .. } = asked(request);
        let _ = tell.lock().expect("a sender").send(());
        let number = seat.bytes().map(u64::from).sum::<u64>() + u64::from(round);
        let vote = if ["skeptic", "qa-lead"].contains(&&*seat) { "beta" } else { "alpha" };
        let text = format!("vote: {vote}\nrationale: [\"{seat} in round {round}\"]\n");
        Answer::chat(&text).after(Duration::from_millis(number * 7 % 31))
    });
    (server, told)
}

struct Expected {
    shared: BTreeMap<u32, String>,
    outcome: Vec<Came>,
}

fn undisturbed() -> Expected {
    let desk = Desk::with(DEFINITION);
    let (server, _told) = service();
    desk.hold(&server, &["decide.yaml", "--save", "s.s2s"]).code(0);
    let requests = server.requests();
    assert_eq!(requests.len(), 12);
    let mut shared = BTreeMap::new();
    for asked in requests.iter().map(asked) {
        assert_eq!(*shared.entry(asked.round).or_insert_with(|| asked.shared.clone()), asked.shared);
    }
    Expected { shared, outcome: outcome(&desk.state("s.s2s")) }
}

/// What is known of a seat at a kill: whether it may not be asked again.
fn is_settled(session: &Session, asked: &Asked) -> bool {
    let round = session.rounds.iter().find(|round| round.opened.number == asked.round);
    round.is_some_and(|round| {
        round.closed.is_some()
            || round.seat(&asked.seat).is_some_and(|seat| matches!(seat.status, SeatStatus::Sealed(_)))
    })
}

/// Kills one run and goes on with it; says how many seats of the open round were sealed at the kill.
fn kill_and_go_on(moment: usize, expected: &Expected) -> Option<usize> {
    let desk = Desk::with(DEFINITION);
    let (server, told) = service();
    let mut child = desk.begin(&server, &["decide.yaml", "--save", "s.s2s"]);
    // One in eight is killed somewhere on its way to the first request, the others after it.
    let window = if moment.is_multiple_of(8) {
        60
    } else {
        told.recv_timeout(PATIENCE).expect("a request");
        90
    };
    pause(Duration::from_micros(Dice(moment as u64).below(window * 1000) as u64));
    child.kill().expect("killed");
    child.wait().expect("gone");
    drop(server);

    let (server, _told) = service();
    let bytes = std::fs::read(desk.path("s.s2s")).unwrap_or_default();
    let log = read_log(&bytes).unwrap_or_else(|damage| panic!("moment {moment}: {damage}"));
    if log.lines.is_empty() {
        desk.hold(&server, &["s.s2s"]).code(2);
        desk.hold(&server, &["decide.yaml", "--save", "anew.s2s"]).code(0);
        return None;
    }
    let at_kill = roundtable::journal::fold(&log);
    desk.hold(&server, &["s.s2s"]).code(0);
    let mut again = Vec::new();
    for asked in server.requests().iter().map(asked) {
        assert!(!is_settled(&at_kill, &asked), "moment {moment}: {} is asked again", asked.seat);
        assert_eq!(expected.shared.get(&asked.round), Some(&asked.shared), "moment {moment}");
        again.push((asked.seat, asked.round));
    }
    let count = again.len();
    again.sort();
    again.dedup();
    assert_eq!(again.len(), count, "moment {moment}: asked twice after the kill");
    let after = desk.bytes("s.s2s");
    assert_eq!(after[..log.good], bytes[..log.good], "moment {moment}: whole documents never change");
    assert_eq!(outcome(&desk.state("s.s2s")), expected.outcome, "moment {moment}");
    is_sound(&after);
    assert_eq!(desk.keys(), Vec::<std::path::PathBuf>::new(), "moment {moment}");
    at_kill.open_round().map(roundtable::history::RoundRun::sealed)
}

#[test]
fn a_session_killed_at_any_moment_comes_to_the_same_end() {
    let moments = cases(16, 200);
    let expected = undisturbed();
    let next = AtomicUsize::new(0);
    let open = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let moment = next.fetch_add(1, Ordering::SeqCst);
                    if moment >= moments {
                        return;
                    }
                    if let Some(sealed) = kill_and_go_on(moment, &expected) {
                        open.lock().expect("a list").push(sealed);
                    }
                }
            });
        }
    });
    let open = open.into_inner().expect("a list");
    let between = open.iter().filter(|sealed| (1..6).contains(*sealed)).count();
    assert!(open.len() > cases(1, 50), "only {} kills hit an open round", open.len());
    assert!(between >= cases(0, 20), "only {between} kills hit a round with some of its seats sealed");
}
