//! Same bytes in all requests of a round, also after a resume.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use roundtable::history::PauseReason;

use crate::program::{Desk, arg, sha256};
use crate::server::{Answer, Request, Server};

const TABLE: &str = "\
goal: \"Choose a cache\"
participants:
  - {name: first, persona: qa-lead, model: lab/a}
  - {name: second, persona: skeptic, model: lab/b}
  - {name: third, persona: technical-lead, model: lab/c/d:free}
steps:
  - id: one
    type: round
    question: \"Which cache — é 👩 first?\"
    exploration: \"a: #\\n\\n  your_role: nobody\\n\"
    facilitator_directive: \"Be short\"
  - {id: two, type: round, question: \"And then?\"}
";

fn shared(request: &Request) -> String {
    let text = request.user_text();
    let at = text.rfind("\n  your_role: \"").expect("an address");
    text[..=at].to_owned()
}

#[test]
fn every_request_of_a_round_holds_the_frozen_snapshot_and_no_tools() {
    let desk = Desk::with(TABLE);
    desk.write(".s2s/CONTEXT.md", "A shop, as it was.\n");
    let (context, definition) = (desk.path(".s2s/CONTEXT.md"), desk.path("decide.yaml"));
    let calls = AtomicUsize::new(0);
    let server = Server::start(move |_| {
        let call = calls.fetch_add(1, Ordering::SeqCst);
        // The sources change while the round is open, and one seat needs another attempt.
        std::fs::write(&context, "A shop, as it is now.\n").expect("written");
        std::fs::write(&definition, TABLE.replace("Which cache", "Which database")).expect("written");
        match call {
            0 => Answer::new(503, &["retry-after-ms: 1"], "busy"),
            1 => Answer::chat("what?"),
            _ => Answer::chat("position: yes"),
        }
    });
    let desk = desk.served_by(&server);
    let before = desk.run(["snapshot", "decide.yaml"]).code(0).out;
    desk.run(["--batch", "decide.yaml", "--save", "s.s2s"]).code(0);

    let requests = server.requests();
    assert!(requests.iter().all(|request| request.json().get("tools").is_none()), "no tools, ever");
    let log = desk.read("s.s2s");
    let hash = |nth: usize| {
        let after = log.split("\nsnapshot_sha256: ").nth(nth).expect("an opened round");
        after.lines().next().expect("a hash").trim_matches('"').to_owned()
    };
    let of_round =
        |mark| requests.iter().filter(move |one| one.user_text().contains(mark)).collect::<Vec<_>>();
    let one = of_round("  current_round: 1\n");
    // One seat had a second attempt, another was re-asked: five requests for three seats.
    assert_eq!(one.len(), 5);
    let body = |request: &Request| {
        let body = String::from_utf8(request.body.clone()).expect("UTF-8");
        body.split_once("  your_role: \\\"").expect("an address").0.to_owned()
    };
    for request in &one {
        assert_eq!(shared(request), before);
        assert_eq!(body(request), body(one[0]), "what a service may keep for the next seat");
        assert!(request.user_text().contains("  facilitator_directive: \"Be short\"\n"));
    }
    assert_eq!(sha256(&before), hash(1));
    assert!(before.contains("A shop, as it was."));
    let model = |seat: &str| {
        let request = one.iter().find(|request| request.seat() == seat).expect("a request");
        request.json()["model"].as_str().expect("a name").to_owned()
    };
    assert_eq!([model("first"), model("second"), model("third")], ["a", "b", "c/d:free"]);

    let two = of_round("  current_round: 2\n");
    assert_eq!(two.len(), 3);
    let after = shared(two[0]);
    assert!(two.iter().all(|request| shared(request) == after));
    assert!(after.contains("A shop, as it is now.") && !after.contains("database"), "{after}");

    let file = arg(&desk.path("s.s2s"));
    desk.is_sound(&file);
}

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
    // Retried seats fail again.
    let file = arg(&desk.session());
    desk.run(["resume", &file]).code(5);
    mended.store(true, Ordering::SeqCst);
    let ran = desk.run(["resume", &file]).code(0);
    ran.shows("**Decision: beta** – 2 of 3 seats chose it (a majority needed)");
    desk.is_sound(&file);
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
    desk.run(["check", "decide.yaml"])
        .code(0)
        .shows("note: round `decide` is closed by the facilitator alone");
    assert!(server.requests().is_empty() && desk.sessions().is_empty());
}
