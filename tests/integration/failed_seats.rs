//! Seats that fail without a facilitator at the screen: the round closes while its quorum can be met;
//! else nothing is revealed, and resuming asks the failed seats again with the same bytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use roundtable::history::PauseReason;

use crate::program::{Desk, arg};
use crate::server::{Answer, Server};

const SECRET: &str = "Quetzalcoatl-7319";

const DEFINITION: &str = "\
goal: Pick
question: Which?
participants: [qa-lead, skeptic, technical-lead]
ballot: {kind: choice, options: [alpha, beta]}
rule: majority
";

fn service(mended: &Arc<AtomicBool>) -> Server {
    let mended = Arc::clone(mended);
    Server::start(move |request| match request.seat().as_str() {
        "qa-lead" => Answer::chat(&format!("vote: alpha\nrationale: [\"{SECRET}\"]")),
        _ if mended.load(Ordering::SeqCst) => Answer::chat("vote: beta"),
        _ => Answer::new(403, &[], r#"{"error": {"message": "not yours"}}"#),
    })
}

#[test]
fn failures_below_the_quorum_reveal_nothing_and_resuming_asks_them_again_with_the_same_bytes() {
    let mended = Arc::new(AtomicBool::new(false));
    let server = service(&mended);
    let desk = Desk::with(DEFINITION).served_by(&server);
    let ran = desk.run(["--batch", "decide.yaml", "--model", "lab/m"]).code(5);
    ran.tells("round 1: failed: skeptic, technical-lead: HTTP 403: not yours");
    ran.tells("stopped: failed seats keep the round below its quorum")
        .tells("resume with: roundtable resume");
    let now = desk.saved();
    assert!(matches!(now.paused, Some((_, PauseReason::QuorumUnreachable))));
    assert!(now.closed.is_none() && now.open_round().expect("open").sealed() == 1);
    let bytes = std::fs::read(desk.session()).expect("a file");
    for text in [&ran.out, &ran.err, &String::from_utf8_lossy(&bytes).into_owned()] {
        assert!(!text.contains(SECRET), "{text}");
    }
    // Asked again, they fail again.
    let file = arg(&desk.session());
    desk.run(["resume", &file]).code(5);
    mended.store(true, Ordering::SeqCst);
    let ran = desk.run(["resume", &file]).code(0);
    ran.shows("**Decision: beta** – 2 of 3 seats chose it (a majority needed)");
    desk.run(["verify", &file]).code(0);
    let of = |seat: &str| server.requests().into_iter().filter(|r| r.seat() == seat).collect::<Vec<_>>();
    assert_eq!((of("qa-lead").len(), of("skeptic").len()), (1, 3), "who is sealed is not asked again");
    assert!(of("skeptic").iter().all(|request| request.body == of("skeptic")[0].body));
}

#[test]
fn a_round_that_only_a_facilitator_closes_is_refused_headless_before_anything_is_sent() {
    let server = service(&Arc::default());
    let desk = Desk::with(&(DEFINITION.to_owned() + "close: manual\n")).served_by(&server);
    let ran = desk.run(["--batch", "decide.yaml", "--model", "lab/m"]).code(2);
    ran.tells("decide.yaml:1:1: round `decide` is closed by the facilitator alone");
    assert!(server.requests().is_empty() && desk.sessions().is_empty());
}
