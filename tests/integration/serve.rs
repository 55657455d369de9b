//! `serve`, end to end over HTTP: the test does what the ballot page does.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use roundtable::doors::Board;
use roundtable::history::{Event, Session};
use roundtable::journal::{read_log, verify};
use roundtable::round::seal::sign::SigningKey;
use roundtable::round::snapshot::sha256_hex;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::patience::{Patient as _, wait_for};
use crate::served::{Browser, CANARY, DEFINITION, Server, program, served, served_as};

fn refused(status: u16, word: &str) -> (u16, String) {
    (status, word.to_owned())
}

fn joins_and_is_asked(dana: &Browser) -> Value {
    assert_eq!(dana.join(&dana.key).status, 204);
    assert_eq!(dana.join(&dana.key).status, 204, "the same key again");
    assert_eq!(dana.join(&SigningKey::new([9; 32])).refused(), refused(409, "already pinned"));
    let offer = dana.offer();
    assert_eq!(offer["question"], "Which store?");
    assert_eq!(offer["ballot"]["options"], json!(["redis", "sqlite"]));
    let sha256 = offer["snapshot_sha256"].as_str().expect("a hash");
    let context = dana.get(&format!("/v1/context/{sha256}"));
    assert_eq!(sha256_hex(&*String::from_utf8_lossy(&context.body)), sha256);
    assert_eq!(
        dana.get(&format!("/v1/context/{}", "0".repeat(64))).refused(),
        refused(404, "no such snapshot")
    );
    assert_eq!(dana.get("/v1/seat/result").refused(), refused(409, "not before the close"));
    offer
}

fn refuses_what_does_not_fit((dana, bob): (&Browser, &Browser), ballot: &Value) {
    let mut bad = ballot.clone();
    bad["signature"] = SigningKey::new([9; 32]).sign(b"anything").into();
    assert_eq!(dana.post("/v1/seat/sealed", &bad).refused(), refused(422, "bad signature"));
    bad = ballot.clone();
    bad["delivery"] = "0".repeat(64).into();
    assert_eq!(dana.post("/v1/seat/sealed", &bad).refused(), refused(409, "stale"));
    bad = ballot.clone();
    bad["sealed"] = STANDARD.encode([0; 5000]).into();
    assert_eq!(dana.post("/v1/seat/sealed", &bad).refused(), refused(422, "bad length"));
    assert_eq!(dana.post("/v1/seat/sealed", &json!({"v": 2})).refused(), refused(422, "malformed"));
    assert_eq!(bob.post("/v1/seat/sealed", ballot).refused(), refused(403, "not a participant"));
}

#[test]
fn two_people_vote_by_their_links() {
    let server = served();
    let (dana, bob) = (server.browser("dana", 1), server.browser("bob", 2));
    let offer = joins_and_is_asked(&dana);
    // Numbers by server-sent events, and nothing else.
    let mut events = BufReader::new(dana.open("GET", "/v1/events", b"")).lines();
    let mut status = |wanted: u64| {
        wait_for("a state", || {
            let line = events.next()?.ok()?;
            let state: Value = serde_json::from_str(line.strip_prefix("data: ")?).ok()?;
            (state["sealed"] == wanted && state["state"] == "open").then_some(state)
        })
    };
    // The rehearsed seat seals by itself.
    assert_eq!(
        status(1),
        json!({"round": "vote", "seats": 3, "sealed": 1, "state": "open", "seconds_left": null})
    );

    let ballot = dana.seal(&offer, "redis", 3);
    refuses_what_does_not_fit((&dana, &bob), &ballot);
    let taken = dana.post("/v1/seat/sealed", &ballot);
    assert_eq!((taken.status, &taken.json()["commitment"]), (201, &ballot["commitment"]));
    // Answered, so it is on disk; and nobody can read it.
    let written = std::fs::read_to_string(server.file()).expect("a file");
    assert!(written.contains(ballot["commitment"].as_str().expect("a text")));
    assert_eq!(status(2)["sealed"], 2);
    let again = dana.post("/v1/seat/sealed", &ballot);
    assert_eq!((again.status, again.json()), (200, taken.json()), "the same again");
    let other = dana.seal(&offer, "sqlite", 4);
    assert_eq!(dana.post("/v1/seat/sealed", &other).refused(), refused(409, "already sealed"));
    let seat = dana.get("/v1/seat").json();
    assert_eq!((&seat["state"], &seat["receipt"]), (&json!("sealed"), &taken.json()));
    assert!(!std::fs::read_to_string(server.file()).expect("a file").contains(CANARY));

    assert_eq!(bob.join(&bob.key).status, 204);
    let late = bob.seal(&bob.offer(), "redis", 5);
    assert_eq!(bob.post("/v1/seat/sealed", &late).status, 201);
    let result =
        wait_for("the result", || Some(dana.get("/v1/seat/result")).filter(|answer| answer.status == 200));
    let result = result.json();
    assert_eq!((&result["decided"], &result["winners"]), (&json!(true), &json!(["redis"])));
    assert_eq!(result["own"]["commitment"], ballot["commitment"]);
    assert!(result["own"]["text"].as_str().expect("a text").contains(CANARY));
    let bytes = server.ended();
    assert_eq!(dana.post("/v1/seat/sealed", &other).refused(), refused(410, "round closed"));
    assert_eq!(dana.post("/v1/seat/sealed", &ballot).status, 200, "its reply may have been lost");
    let found = verify(&bytes, None);
    assert_eq!(found.findings, []);
    assert!(found.proven.iter().any(|line| line.starts_with("2 ballots are signed")), "{:?}", found.proven);
    let refusals = String::from_utf8_lossy(&bytes).matches("event: envelope_refused").count();
    assert_eq!(refusals, 4, "two stale or wrongly signed, one of a wrong length, one second ballot");
}

#[test]
fn strangers_are_refused_and_the_page_holds_no_foreign_script() {
    let server = served();
    let mut stranger = server.browser("dana", 1);
    let page = stranger.get("/b");
    assert_eq!((page.status, page.header("cache-control")), (200, Some("no-store")));
    let text = String::from_utf8_lossy(&page.body).into_owned();
    let script = text.split("<script>").nth(1).and_then(|rest| rest.split("</script>").next());
    let hash = STANDARD.encode(Sha256::digest(script.expect("a script")));
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.contains(&format!("script-src 'sha256-{hash}'")), "{policy}");
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    assert!(!text.contains("http://") && !text.contains("https://"), "nothing from elsewhere");
    let vector = text.split("const VECTOR = ").nth(1).and_then(|rest| rest.split(";\n").next());
    assert!(serde_json::from_str::<Value>(vector.expect("a vector")).is_ok());
    assert_eq!(stranger.get("/other").refused(), refused(404, "no such page"));
    let large = stranger.send("POST", "/v1/seat/sealed", &vec![b' '; 600 * 1024]);
    assert_eq!(large.refused(), refused(413, "too long"));
    stranger.token = "guessed".to_owned();
    for path in ["/v1/seat", "/v1/seat/result", "/v1/status", "/v1/events", "/v1/context/00"] {
        std::thread::park_timeout(Duration::from_millis(200));
        assert_eq!(stranger.get(path).refused(), refused(401, "no such invitation"), "{path}");
    }
    let mut words = (0..40).map(|_| stranger.send("GET", "/v1/seat", b"").refused());
    assert!(words.any(|word| word == refused(429, "too many tries")));
}

#[test]
fn a_served_session_goes_on_where_it_was_killed_with_the_same_links() {
    let mut server = served();
    let dana = server.browser("dana", 1);
    assert_eq!(dana.join(&dana.key).status, 204);
    let ballot = dana.seal(&dana.offer(), "redis", 3);
    assert_eq!(dana.post("/v1/seat/sealed", &ballot).status, 201);
    server.child.kill().expect("killed");
    server.child.wait().expect("gone");
    let (tokens, home) =
        (dana.token.clone(), std::mem::replace(&mut server.home, tempfile::tempdir().expect("a folder")));
    // Without a door it waits.
    let rests = program(home.path()).args(["resume", "s.s2s"]).output_soon().expect("runs");
    let said = String::from_utf8_lossy(&rests.stderr).into_owned();
    assert_eq!(rests.status.code(), Some(4), "{said}");
    assert!(said.contains("waiting for remote seat: bob"), "{said}");
    assert!(said.contains("resume with: roundtable serve s.s2s"), "{said}");
    let again = Server::start("s.s2s", home);
    let (dana, bob) = (again.browser("dana", 1), again.browser("bob", 2));
    assert_eq!(dana.token, tokens, "the link is the same");
    assert_eq!(dana.post("/v1/seat/sealed", &ballot).status, 200, "it is sealed already");
    assert_eq!(bob.join(&bob.key).status, 204);
    assert_eq!(bob.post("/v1/seat/sealed", &bob.seal(&bob.offer(), "redis", 5)).status, 201);
    assert_eq!(verify(&again.ended(), None).findings, []);
}

/// Two remote seats vote, see each other's reasons, and vote again; each is shown its own order.
const REVISED: &str = "\
participants: [{name: dana, model: remote/link}, {name: bob, model: remote/link}]
steps:
  - {id: first, type: round, question: Which store?, rule: plurality,
     ballot: {kind: choice, options: [redis, sqlite, files], order: mirrored}}
  - {id: again, type: round, question: Which store?, rule: plurality, revises: first,
     ballot: {kind: choice, options: [redis, sqlite, files], order: mirrored}}
";

#[test]
fn the_count_of_a_round_that_is_revised_stays_hidden() {
    let server = served_as(REVISED);
    let seats = [server.browser("dana", 1), server.browser("bob", 2)];
    let orders = seats.each_ref().map(|seat| {
        assert_eq!(seat.join(&seat.key).status, 204);
        let offer = seat.offer();
        assert_eq!(seat.post("/v1/seat/sealed", &seat.seal(&offer, "redis", 3)).status, 201);
        offer["ballot"]["options"].clone()
    });
    let [forward, back] = [json!(["redis", "sqlite", "files"]), json!(["files", "sqlite", "redis"])];
    assert!(orders == [forward.clone(), back.clone()] || orders == [back, forward], "{orders:?}");
    for seat in &seats {
        let again = || Some(seat.offer()).filter(|offer| offer["round"] != "first");
        let offer = wait_for("the revision", again);
        assert_eq!(seat.get("/v1/seat/result").refused(), refused(409, "not before the close"));
        assert_eq!(seat.post("/v1/seat/sealed", &seat.seal(&offer, "sqlite", 4)).status, 201);
    }
    let log = read_log(&server.ended()).expect("a file");
    // The round that is open hides the count too: what a seat is shown after each event says more.
    let (mut session, mut shown) = (Session::default(), Vec::new());
    let board = Board::new(SigningKey::new([1; 32]), indexmap::IndexMap::new());
    for line in &log.lines {
        session.apply(&line.stamped);
        board.see(&session);
        if let Event::TallyMade(tally) = &line.stamped.event {
            shown.push((tally.round.clone(), board.result("dana").is_some()));
        }
    }
    let [first, last] = &shown[..] else { panic!("{shown:?}") };
    assert_eq!((first.1, last.1), (false, true), "{shown:?}");
}

#[test]
fn a_session_that_rests_says_how_the_same_links_work_again() {
    let home = tempfile::tempdir().expect("a folder");
    std::fs::write(home.path().join("d.yaml"), DEFINITION).expect("written");
    let mut command = program(home.path());
    command.args(["serve", "d.yaml", "--bind", "127.0.0.1:0", "--behind", "https://votes.example"]);
    command.args(["--save", "s.s2s", "--links", "links"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.start().expect("runs");
    let sealed = || std::fs::read_to_string(home.path().join("s.s2s")).ok();
    wait_for("ann's ballot", || sealed().filter(|text| text.contains("event: ballot_sealed")));
    let interrupted = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupted.expect("sent").success());
    let said = String::from_utf8_lossy(&child.wait_with_output().expect("ends").stderr).into_owned();
    let line = said
        .lines()
        .find_map(|line| line.strip_prefix("resume with: roundtable serve s.s2s --bind 127.0.0.1:"));
    let (port, rest) = line.and_then(|line| line.split_once(' ')).unwrap_or_else(|| panic!("{said}"));
    assert!(port.parse::<u16>().is_ok_and(|port| port > 0), "{said}");
    assert_eq!(rest, "--behind https://votes.example");
    let report = program(home.path()).args(["report", "s.s2s"]).output_soon().expect("runs");
    let report = String::from_utf8_lossy(&report.stdout).into_owned();
    assert!(report.contains("roundtable serve s.s2s"), "{report}");
    assert!(!report.contains("roundtable resume"), "{report}");
}

#[test]
fn what_cannot_be_served_is_exit_2_with_a_hint() {
    let home = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(home.path().join(name), text).expect("written");
    write("d.yaml", DEFINITION);
    write("local.yaml", &DEFINITION.replace("remote/link", "rehearsal"));
    write("other.yaml", &DEFINITION.replace("remote/link", "remote/post"));
    write(
        "agent.yaml",
        &DEFINITION.replace("steps: [", "steps: [{id: plan, type: agent, agent: dana, prompt: Plan it.}, "),
    );
    write("answers.yaml", "vote: {dana: 'vote: redis'}\n");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = taken.local_addr().expect("an address").to_string();
    let cases: [(&[&str], &str); 7] = [
        (&["d.yaml", "--bind", "0.0.0.0:0"], "browsers cannot seal over plain http"),
        (&["d.yaml", "--behind", "http://votes.example"], "expected an https URL"),
        (&["d.yaml", "--bind", &taken], "cannot listen at"),
        (&["local.yaml"], "no remote seats to serve"),
        (&["other.yaml"], "`remote/post` is no kind of remote seat"),
        (&["agent.yaml"], "step `plan` asks it for more than a ballot"),
        (&["d.yaml", "--answers", "answers.yaml"], "answers for `dana`, which is a remote seat"),
    ];
    for (arguments, what) in cases {
        let port: &[&str] = if arguments.contains(&"--bind") { &[] } else { &["--bind", "127.0.0.1:0"] };
        let run = program(home.path()).arg("serve").args(arguments).args(port).output_soon().expect("runs");
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert_eq!(run.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(what), "{arguments:?}: {said}");
    }
}
