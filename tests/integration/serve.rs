//! The `serve` command end to end, with the test as ballot page.
//!
//! It also uses links of the screen, and removes the session's disk, keys, tokens and seats.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::{Certificate, Client};
use roundtable::history::{Event, Session};
use roundtable::journal::{read_log, verify};
use roundtable::remote::{Board, ShownResults};
use roundtable::round::seal::sign::SigningKey;
use roundtable::round::snapshot::sha256_hex;
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::patience::wait_for;
use crate::program::{Desk, files_in, is_sound, ran, sha256};
use crate::pty::Screen;
use crate::served::{Browser, CANARY, DEFINITION, Server, served, served_as};

fn joins_and_is_asked(dana: &Browser) -> Value {
    assert_eq!(dana.join(&dana.key).status, 204);
    assert_eq!(dana.join(&dana.key).status, 204, "the same key again");
    dana.join(&SigningKey::new([9; 32])).refuses(409, "already pinned");
    let offer = dana.offer();
    assert_eq!(offer["question"], "Which store?");
    assert_eq!(offer["ballot"]["options"], json!(["redis", "sqlite"]));
    let sha256 = offer["snapshot_sha256"].as_str().expect("a hash");
    let context = dana.get(&format!("/v1/context/{sha256}"));
    assert_eq!(sha256_hex(&*String::from_utf8_lossy(&context.body)), sha256);
    dana.get(&format!("/v1/context/{}", "0".repeat(64))).refuses(404, "no such snapshot");
    dana.get("/v1/seat/result").refuses(409, "not before the close");
    offer
}

fn refuses_what_does_not_fit((dana, bob): (&Browser, &Browser), ballot: &Value) {
    for (key, value, status, word) in [
        ("signature", SigningKey::new([9; 32]).sign(b"anything"), 422, "bad signature"),
        ("delivery", "0".repeat(64), 409, "stale"),
        ("sealed", STANDARD.encode([0; 5000]), 422, "bad length"),
    ] {
        let mut bad = ballot.clone();
        bad[key] = value.into();
        dana.post("/v1/seat/sealed", &bad).refuses(status, word);
    }
    dana.post("/v1/seat/sealed", &json!({"v": 3})).refuses(422, "malformed");
    bob.post("/v1/seat/sealed", ballot).refuses(403, "not a participant");
}

#[test]
fn two_people_vote_by_their_links() {
    let server = served();
    let (dana, bob) = (server.browser("dana", 1), server.browser("bob", 2));
    let offer = joins_and_is_asked(&dana);
    // Server-sent events contain only numbers.
    let mut events = BufReader::new(dana.open("GET", "/v1/events", b"")).lines();
    let mut status = |wanted: u64| {
        wait_for("a state", || {
            let line = events.next()?.ok()?;
            let state: Value = serde_json::from_str(line.strip_prefix("data: ")?).ok()?;
            (state["sealed"] == wanted && state["state"] == "open").then_some(state)
        })
    };
    // The rehearsed seat seals by itself.
    let one = json!({"round": "vote", "seats": 3, "sealed": 1, "state": "open", "seconds_left": null});
    assert_eq!(status(1), one);

    let ballot = dana.seal(&offer, "redis", 3);
    refuses_what_does_not_fit((&dana, &bob), &ballot);
    let taken = dana.post("/v1/seat/sealed", &ballot);
    assert_eq!((taken.status, &taken.json()["commitment"]), (201, &ballot["commitment"]));
    // An answered request is on disk, and nobody can read it.
    let written = server.desk.read("s.s2s");
    assert!(written.contains(ballot["commitment"].as_str().expect("a text")));
    assert_eq!(status(2)["sealed"], 2);
    let again = dana.post("/v1/seat/sealed", &ballot);
    assert_eq!((again.status, again.json()), (200, taken.json()), "the same again");
    let other = dana.seal(&offer, "sqlite", 4);
    dana.post("/v1/seat/sealed", &other).refuses(409, "already sealed");
    let seat = dana.get("/v1/seat").json();
    assert_eq!((&seat["state"], &seat["receipt"]), (&json!("sealed"), &taken.json()));
    assert!(!server.desk.read("s.s2s").contains(CANARY));

    assert_eq!(bob.join(&bob.key).status, 204);
    bob.votes("redis", 5);
    let result = || Some(dana.get("/v1/seat/result")).filter(|answer| answer.status == 200);
    let result = wait_for("the result", result).json();
    assert_eq!((&result["decided"], &result["winners"]), (&json!(true), &json!(["redis"])));
    assert_eq!(result["ruled"], true);
    assert_eq!(result["own"]["commitment"], ballot["commitment"]);
    let others = result["others"].as_array().expect("a list");
    assert!(others.iter().all(|other| other["answer"]["vote"].is_string()), "{result}");
    assert!(result["own"]["text"].as_str().expect("a text").contains(CANARY));
    let bytes = server.ended();
    dana.post("/v1/seat/sealed", &other).refuses(410, "round closed");
    assert_eq!(dana.post("/v1/seat/sealed", &ballot).status, 200, "its reply may have been lost");
    let found = verify(&bytes, None);
    assert_eq!(found.findings, []);
    assert!(found.proven.iter().any(|line| line.starts_with("2 ballots are signed")), "{:?}", found.proven);
    let refusals = String::from_utf8_lossy(&bytes).matches("event: envelope_refused").count();
    assert_eq!(refusals, 4, "two stale or wrongly signed, one of a wrong length, one second ballot");
}

#[test]
fn voters_see_the_result_that_waits_for_an_approval_as_far_as_they_may() {
    let more = "]}}, {id: more, participants: [bob, ann], question: Sure?, rule: plurality, \
                ballot: {kind: choice, options: [redis, no]}}, {id: ok, type: approval, message: Adopt it?}]";
    let desk = Desk::with(&DEFINITION.replace("]}}]", more));
    desk.write("answers.yaml", "vote: {ann: {vote: redis}}\nmore: {ann: {vote: redis}}\n");
    let mut server = Server::start_at("decide.yaml", desk, &["--bind", "127.0.0.1:0", "--results", "tally"]);
    let seats = [server.joined("dana", 1), server.joined("bob", 2)];
    assert!(seats.iter().all(|seat| seat.votes("redis", 3).status == 201));
    // While others are asked something else, a voter has the result of the own round.
    let [dana, bob] = &seats;
    wait_for("the second round", || Some(bob.offer()).filter(|offer| offer["round"] == "more"));
    assert_eq!(
        (dana.get("/v1/seat").json()["state"].clone(), dana.get("/v1/seat/result").json()["round"].clone()),
        ("closed".into(), "vote".into())
    );
    bob.get("/v1/seat/result").refuses(409, "not before the close");
    assert_eq!(bob.votes("redis", 4).status, 201);
    let rests = || server.desk.read("s.s2s").contains("event: session_paused").then_some(());
    wait_for("the question", rests);
    for result in seats.each_ref().map(|seat| seat.get("/v1/seat/result").json()) {
        assert_eq!((&result["winners"], &result["others"]), (&json!(["redis"]), &json!([])));
    }
    assert_eq!(wait_for("the end", || server.child.try_wait().expect("asked")).code(), Some(4));
}

#[test]
fn strangers_are_refused_and_the_page_holds_no_foreign_script() {
    let server = served();
    let mut stranger = server.browser("dana", 1);
    let page = stranger.get("/b");
    assert_eq!(page.status, 200);
    let text = String::from_utf8_lossy(&page.body).into_owned();
    let script = text.split("<script>").nth(1).and_then(|rest| rest.split("</script>").next());
    let hash = STANDARD.encode(Sha256::digest(script.expect("a script")));
    let policy = page.header("content-security-policy").expect("a policy");
    let script = format!("script-src 'sha256-{hash}'");
    assert!(policy.contains(&script) && policy.starts_with("default-src 'none'"), "{policy}");
    assert!(["http://", "https://", "'/v1"].iter().all(|begin| !text.contains(begin)), "from elsewhere");
    let vector = text.split("const VECTOR = ").nth(1).and_then(|rest| rest.split(";\n").next());
    assert!(serde_json::from_str::<Value>(vector.expect("a vector")).is_ok());
    stranger.get("/other").refuses(404, "no such page");
    stranger.send("POST", "/v1/seat/sealed", &vec![b' '; 600 * 1024]).refuses(413, "too long");
    stranger.token = "guessed".to_owned();
    for path in ["/v1/seat", "/v1/seat/result", "/v1/status", "/v1/events", "/v1/context/00"] {
        std::thread::park_timeout(Duration::from_millis(200));
        stranger.get(path).refuses(401, "no such invitation");
    }
    let mut answers = (0..40).map(|_| stranger.send("GET", "/v1/seat", b""));
    assert!(answers.any(|answer| answer.is_refusal(429, "too many tries")));
}

#[test]
fn a_killed_served_session_resumes_with_the_same_links() {
    let server = served();
    let dana = server.joined("dana", 1);
    let ballot = dana.seal(&dana.offer(), "redis", 3);
    assert_eq!(dana.post("/v1/seat/sealed", &ballot).status, 201);
    let (token, desk) = (dana.token.clone(), server.killed());
    // Without a door it waits.
    let rests = desk.run(["resume", "s.s2s"]).code(4);
    rests.tells("waiting for remote seat: bob").tells("resume with: roundtable serve s.s2s");
    let again = Server::start("s.s2s", desk);
    let dana = again.browser("dana", 1);
    assert_eq!(dana.token, token, "the link is the same");
    assert_eq!(dana.post("/v1/seat/sealed", &ballot).status, 200, "it is sealed already");
    again.joined("bob", 2).votes("redis", 5);
    is_sound(&again.ended());
}

/// Two remote seats vote, see each other's reasons, and vote again; each has its own order of options.
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
        seat.get("/v1/seat/result").refuses(409, "not before the close");
        assert_eq!(seat.post("/v1/seat/sealed", &seat.seal(&offer, "sqlite", 4)).status, 201);
    }
    let log = read_log(&server.ended()).expect("a file");
    // The first result is hidden until the revision is counted, even with `ShownResults::All`.
    let (mut session, mut shown) = (Session::default(), Vec::new());
    let board = Board::new(SigningKey::new([1; 32]), Session::default(), ShownResults::All);
    for line in &log.lines {
        session.apply_entry(line);
        board.see(&session);
        if let Event::TallyMade(tally) = &line.stamped.event {
            shown.push((tally.round.clone(), board.result("dana").is_some()));
        }
    }
    let [first, last] = &shown[..] else { panic!("{shown:?}") };
    assert_eq!((first.1, last.1), (false, true), "{shown:?}");
}

#[test]
fn a_paused_session_says_how_its_links_work_again() {
    let desk = Desk::with(DEFINITION);
    let run =
        "serve decide.yaml --bind 127.0.0.1:0 --behind https://votes.example --save s.s2s --results all";
    let child = desk.start(run.split(' '));
    let sealed = || std::fs::read_to_string(desk.path("s.s2s")).ok();
    wait_for("ann's ballot", || sealed().filter(|text| text.contains("event: ballot_sealed")));
    kill_process(Pid::from_child(&child), Signal::INT).expect("sent");
    let said = ran(child.wait_with_output().expect("ends")).err;
    let of_line = |line: &str| {
        let rest = line.strip_prefix("resume with: roundtable serve s.s2s --bind 127.0.0.1:")?;
        let port = rest.strip_suffix(" --behind https://votes.example --results all")?;
        port.parse::<u16>().ok()
    };
    assert!(said.lines().find_map(of_line).is_some_and(|port| port > 0), "{said}");
    let report = desk.run(["report", "s.s2s"]).out;
    assert!(report.contains("roundtable serve s.s2s") && !report.contains("roundtable resume"), "{report}");
}

#[test]
fn an_unservable_session_is_exit_2_with_a_hint() {
    let desk = Desk::with(DEFINITION);
    desk.write("local.yaml", DEFINITION.replace("remote/link", "rehearsal"));
    desk.write("other.yaml", DEFINITION.replace("remote/link", "remote/post"));
    let plan = "steps: [{id: plan, type: agent, agent: dana, prompt: Plan it.}, ";
    desk.write("agent.yaml", DEFINITION.replace("steps: [", plan));
    desk.write("answers.yaml", "vote: {dana: 'vote: redis'}\n");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let taken = taken.local_addr().expect("an address").to_string();
    let cases: [(&[&str], &str); 7] = [
        (&["decide.yaml", "--bind", "0.0.0.0:0"], "browsers cannot seal over plain http"),
        (&["decide.yaml", "--behind", "http://votes.example"], "expected an https URL"),
        (&["decide.yaml", "--bind", &taken], "cannot listen at"),
        (&["local.yaml", "--bind", &taken], "no remote seats to serve"),
        (&["other.yaml"], "`remote/post` is no kind of remote seat"),
        (&["agent.yaml"], "step `plan` asks it for more than a ballot"),
        (&["decide.yaml", "--answers", "answers.yaml"], "answers for `dana`, which is a remote seat"),
    ];
    for (arguments, what) in cases {
        let port: &[&str] = if arguments.contains(&"--bind") { &[] } else { &["--bind", "127.0.0.1:0"] };
        desk.run([&["serve"], arguments, port].concat()).code(2).tells(what);
    }
}

#[test]
fn a_page_of_another_origin_gets_nothing() {
    let server = served();
    let dana = server.browser("dana", 1);
    let token = format!(
        "x\r\nOrigin: https://evil.example\r\nCookie: token={}\r\nAccess-Control-Request-Method: POST",
        dana.token
    );
    let evil = Browser { token, ..dana };
    for (method, status, word) in [
        ("OPTIONS", 405, "no such method"),
        ("POST", 401, "no such invitation"),
        ("GET", 405, "no such method"),
    ] {
        let answer = evil.send(method, "/v1/seat/key", b"");
        answer.refuses(status, word);
        assert!(!answer.head.to_lowercase().contains("access-control-"), "{method}: {}", answer.head);
    }
    // Every refusal is JSON, and headers have a limit.
    let dana = server.browser("dana", 1);
    dana.get("/v1/context/%FF").refuses(404, "no such snapshot");
    let mut large = Browser { token: "x".repeat(12 * 1024), ..server.browser("dana", 1) };
    assert_eq!(large.get("/v1/seat").status, 401);
    large.token = "x".repeat(20 * 1024);
    assert_eq!(large.get("/v1/seat").status, 431);
    let mut streams = [0; 4].map(|_| dana.open("GET", "/v1/events", b""));
    assert!(streams.iter_mut().all(|stream| stream.read_exact(&mut [0]).is_ok()));
    dana.get("/v1/events").refuses(429, "too many tries");
}

/// Returns the session's key file with this ending.
fn key_file(desk: &Desk, ending: &str) -> PathBuf {
    let mut files = files_in(&desk.home().join("state/keys")).into_iter();
    files.find(|file| file.to_string_lossy().ends_with(ending)).expect("the file")
}

/// Joins by a link over TLS, and seals a ballot.
async fn votes(client: &Client, link: &str, browser: &Browser, nonce: u8) {
    let base = link.split("/b#").next().expect("an address");
    assert!(base.starts_with("https://"), "{base}");
    let post = |path: &str, body: &Value| {
        let to = client.post(format!("{base}{path}")).bearer_auth(&browser.token);
        to.body(body.to_string()).send()
    };
    // Links are printed shortly before the invitations are on disk.
    let key = json!({ "public_key": browser.key.public() });
    while post("/v1/seat/key", &key).await.expect("an answer").status() == 401 {
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    let offer = loop {
        let seat = client.get(format!("{base}/v1/seat")).bearer_auth(&browser.token).send().await;
        let seat = seat.expect("an answer").error_for_status().expect("joined");
        if seat.headers().contains_key("rt-signature") {
            break serde_json::from_slice::<Value>(&seat.bytes().await.expect("a body")).expect("JSON");
        }
        tokio::time::sleep(Duration::from_millis(150)).await;
    };
    let sealed = post("/v1/seat/sealed", &browser.seal(&offer, "redis", nonce)).await.expect("an answer");
    assert_eq!(sealed.status(), 201);
}

fn vote(server: &Server, certificate: &[u8]) {
    // Another test of this process may have done so.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let root = Certificate::from_pem(certificate).expect("a certificate");
    let client = Client::builder().tls_certs_only([root]).no_proxy().build().expect("a client");
    for (number, (seat, link)) in (1..).zip(&server.links) {
        runtime.block_on(votes(&client, link, &server.browser(seat, number), number));
    }
}

#[test]
fn people_vote_over_a_certificate_that_is_made_once() {
    let options = ["--bind", "127.0.0.1:0", "--self-signed"];
    let server = Server::start_at("decide.yaml", Desk::with(DEFINITION), &options);
    let kept = |server: &Server| {
        std::fs::read(key_file(&server.desk, "serve-127.0.0.1.cert")).expect("a certificate")
    };
    let certificate = kept(&server);
    // Participants that connect there: the error names the certificate to trust, or the proxy that failed.
    let link = &server.links[0].1;
    let base = format!("{}/v1", link.split("/b#").next().expect("an address"));
    let desk = Desk::with("question: q\nparticipants: [openai/m]\n").set("OPENAI_API_KEY", "sk-x");
    let desk = desk.set("OPENAI_BASE_URL", &base);
    desk.run(["--batch", "decide.yaml"]).code(5).tells("set SSL_CERT_FILE to its certificate");
    let desk = desk.set("OPENAI_BASE_URL", "https://models.example").set("HTTPS_PROXY", "http://127.0.0.1:1");
    let told = "cannot connect to `models.example` through the proxy `http://127.0.0.1:1` of HTTPS_PROXY: ";
    desk.run(["--batch", "decide.yaml"]).code(5).tells(told);
    let written = || std::fs::read_to_string(server.file()).ok();
    wait_for("ann's ballot", || written().filter(|text| text.contains("event: ballot_sealed")));
    let again = Server::start_at("s.s2s", server.killed(), &options);
    assert_eq!(kept(&again), certificate);
    vote(&again, &certificate);
    is_sound(&again.ended());
}

#[test]
fn a_ballot_for_which_there_is_no_room_is_not_confirmed_and_counts_later() {
    let desk = Desk::with(DEFINITION);
    let mut command = desk.shell("trap '' XFSZ; exec \"$0\" \"$@\"", &[]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut server = Server::run(command, "decide.yaml", desk, &["--bind", "127.0.0.1:0"]);
    let [dana, bob] = [server.joined("dana", 1), server.joined("bob", 2)];
    let file = server.file();
    let written = || std::fs::read_to_string(&file).expect("a file");
    wait_for("ann's ballot", || written().contains("event: ballot_sealed").then_some(()));
    let ballot = dana.seal(&dana.offer(), "redis", 3);
    // From now on the file can grow by only a few lines.
    let full = written().len() as u64 + 500;
    let pid = Pid::from_child(&server.child);
    prlimit(Some(pid), Resource::Fsize, Rlimit { current: Some(full), maximum: None }).expect("set");
    let mut reply = String::new();
    let _ = dana.open("POST", "/v1/seat/sealed", ballot.to_string().as_bytes()).read_to_string(&mut reply);
    // The program may have ended before it was sent.
    assert!(reply.is_empty() || reply.starts_with("HTTP/1.1 503 "), "{reply}");
    assert_eq!(server.child.wait().expect("ends").code(), Some(1));
    let log = read_log(written().as_bytes()).expect("a log");
    assert!(log.torn > 0, "what was half written does not count");
    let sealed = log.lines.iter().filter(|line| matches!(line.stamped.event, Event::BallotSealed(_)));
    assert_eq!(sealed.count(), 1, "ann's");

    let again = server.again();
    let [dana, bob] = [("dana", &dana), ("bob", &bob)].map(|(seat, before)| {
        let again = again.browser(seat, 1);
        Browser { key: before.key.clone(), ..again }
    });
    assert_eq!(dana.post("/v1/seat/sealed", &ballot).status, 201, "the same envelope");
    bob.votes("redis", 5);
    is_sound(&again.ended());
}

#[test]
fn lost_tokens_are_replaced_and_a_lost_table_key_is_named() {
    let server = served();
    let dana = server.joined("dana", 1);
    dana.votes("redis", 5);
    let desk = server.killed();
    std::fs::remove_file(key_file(&desk, ".links")).expect("removed");
    let server = Server::start("s.s2s", desk);
    // A sealed seat is not invited again while the round is open.
    let names: Vec<&str> = server.links.iter().map(|(seat, _)| seat.as_str()).collect();
    assert_eq!(names, ["bob"]);
    let bob = server.joined("bob", 2);
    let desk = server.killed();
    let table = key_file(&desk, ".table");
    let kept = std::fs::read(&table).expect("a key");
    std::fs::remove_file(&table).expect("removed");
    let refused = desk.run(["serve", "s.s2s", "--bind", "127.0.0.1:0"]).code(2);
    refused.tells("the key that signs this session's offers is not on this machine");
    std::fs::write(&table, kept).expect("written");
    std::fs::remove_file(key_file(&desk, ".links")).expect("removed");
    let server = Server::start("s.s2s", desk);
    let stranger = Browser { address: server.browser("bob", 2).address, ..bob };
    stranger.get("/v1/seat").refuses(401, "no such invitation");
    server.joined("bob", 9).votes("redis", 5);
    is_sound(&server.ended());
}

const INVITING: &str = "question: Which?\nballot: {kind: choice, options: [alpha, beta]}\nrule: majority\n\
                          participants: [{name: ann, model: rehearsal}, {name: dana, model: remote/link}]\n";

fn inviting(definition: &str) -> Desk {
    Desk::with(definition).configured("remote: {bind: \"127.0.0.1:0\"}\n")
}

fn link(screen: &Screen) -> String {
    let drawn = screen.drawn();
    let from = drawn.find("http://").unwrap_or_else(|| panic!("no link:\n{drawn}"));
    let ends = |c: char| c.is_whitespace() || c.is_control() || c == '│';
    drawn[from..].split(ends).next().unwrap_or_default().to_owned()
}

#[test]
fn a_seat_is_invited_from_the_screen_and_votes_elsewhere() {
    let inviting = inviting(INVITING);
    let mut screen = Screen::open(&inviting, (120, 40), &["decide.yaml"]);
    screen.wait_for(&["DRAFT", "link of dana: not invited", "i invites"]);
    screen.press("i", &["dana: link", "█ ▄▄▄▄▄ █", "http://127.0.0.1:", "send it to one person alone"]);
    let old = link(&screen);
    // A new link withdraws the old one.
    screen.press("\u{1b}", &["link of dana: invited"]);
    screen.press("i", &["dana: invited", "New link"]);
    screen.press("\x1b[F\r", &["dana: link", "http://127.0.0.1:", "send it to one person alone"]);
    let new = link(&screen);
    assert_ne!(old, new);
    let old = Browser::of(&old, 6);
    old.join(&old.key).refuses(401, "no such invitation");
    let kept = std::fs::read_to_string(key_file(&inviting, ".links")).expect("the tokens");
    let token = new.split(['#', '.']).nth_back(1).expect("a token");
    assert!(kept.contains(token), "a session that goes on needs the new link: {kept}");
    screen.press("\u{1b}", &["DRAFT"]);
    screen.press("o", &["OPEN", "1 of 2 sealed", "invited: i"]);
    let dana = Browser::of(&new, 7);
    assert_eq!(dana.join(&dana.key).status, 204);
    let receipt = dana.votes("alpha", 3).json();
    assert_eq!(receipt["participant"], "dana");
    screen.press("", &["REVEAL", "alpha"]);
    screen.press("A", &["Accept"]);
    screen.press("y", &["Session finished"]);
    // A seat that has voted still sees the result.
    let result = dana.get("/v1/seat/result").json();
    assert_eq!(result["own"]["commitment"], receipt["commitment"]);
    assert!(result["counts"].is_object(), "{result}");
    screen.quits();
    inviting.verify();
    assert_eq!(inviting.saved().rounds[0].sealed(), 2);
}

#[test]
fn people_are_invited_by_name_without_a_change_of_the_definition() {
    let inviting = inviting(&INVITING.replace("remote/link", "rehearsal"));
    let serve = ["serve", "decide.yaml", "--bind", "127.0.0.1:0", "--invite", "dana,bob"];
    let mut served = inviting.start(serve);
    let mut lines = BufReader::new(served.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
    for words in ["link of dana: http", "link of bob: http"] {
        assert!(lines.any(|line| line.contains(words)), "{words}");
    }
    served.kill().and_then(|()| served.wait()).expect("ended");
    let session = inviting.saved();
    let seats: Vec<_> = session.roster.values().map(|seat| (&*seat.name, &*seat.model)).collect();
    assert_eq!(seats, [("ann", "rehearsal"), ("dana", "remote/link"), ("bob", "remote/link")]);
    let text = "participants: [rehearsal, {name: ann, model: rehearsal}]\n\
         steps: [{id: vote, type: round, question: Which?, participants: [ann], ballot: {kind: position}}]\n";
    inviting.write("decide.yaml", text);
    for (name, why) in
        [("", "--invite names no seat: ``"), ("eve", "no step asks `eve`, whom --invite names")]
    {
        inviting.run(serve[..5].iter().chain([&name])).code(2).tells(why);
    }
}

const TWO_ROUNDS: &str = "\
participants: [{name: dana, model: remote/link}, {name: bob, model: remote/link}, {name: ann, model: rehearsal}]
steps:
  - {id: first, type: round, question: Which cache first?, ballot: {kind: choice, options: [alpha, beta]}, next: second}
  - {id: second, type: round, question: And then?, ballot: {kind: choice, options: [alpha, beta]}}
";

#[test]
fn a_receipt_is_held_against_the_file_after_the_reveal() {
    let server = served_as(TWO_ROUNDS);
    let seats = [("dana", 1), ("bob", 2)].map(|(name, seed)| server.joined(name, seed));
    let mut receipts = Vec::new();
    for nonce in [3, 4] {
        receipts.extend(seats.iter().map(|seat| seat.votes("alpha", nonce).json()));
    }
    server.ended();
    let verified = |receipt: &str| server.desk.run(["verify", "s.s2s", "--receipt", receipt]);
    server.desk.write("receipt.json", receipts[3].to_string());
    for (given, seat, round) in
        [(receipts[0].to_string(), "dana", "first"), ("receipt.json".to_owned(), "bob", "second")]
    {
        verified(&given).code(0).shows(&format!(
            "ok      the receipt of `{seat}` in round `{round}`: the file contains the answer that was sealed then; it is \
             the one that is revealed"
        ));
    }
    let keys: Vec<&String> = receipts[0].as_object().expect("a map").keys().collect();
    let of_binding = ["session", "round", "participant", "door", "key"];
    assert_eq!(keys, [&of_binding[..], &["opened_sha256", "commitment", "sealed_sha256"]].concat());
    // A receipt for something else is refused in words.
    let with = |key: &str, value: Value| {
        let mut receipt = receipts[1].clone();
        receipt[key] = value;
        receipt
    };
    let cases = [
        (
            with("commitment", json!(sha256("another answer"))),
            "differ in what was sealed: it is another answer",
        ),
        (with("sealed_sha256", json!(sha256("other bytes"))), "differ in what was sealed"),
        (with("commitment", receipts[2]["commitment"].clone()), "differ in what was sealed"),
        (
            with("participant", json!("dana")),
            "`dana` in round `first` and the file differ in the door or the key",
        ),
        (with("key", receipts[0]["key"].clone()), "differ in the door or the key"),
        (with("door", json!("inbox")), "differ in the door or the key"),
        (with("participant", json!("ann")), "there is no remote seat of that name"),
        (with("round", json!("second")), "differ in how the round was opened"),
        (with("opened_sha256", json!("0".repeat(64))), "differ in how the round was opened"),
        (with("round", json!("third")), "the file has no such round"),
        (with("participant", json!("nobody")), "there is no remote seat of that name"),
        (with("session", json!("another")), "no such round of session `another`"),
    ];
    for (receipt, says) in cases {
        let ran = verified(&receipt.to_string()).code(6);
        ran.shows("FAILED").shows(says).shows("verification failed: ");
    }
    for text in ["{\"commitment\": 1}", "{", "{\"event\": \"warning\"}"] {
        verified(text).code(2).tells("this is no receipt").tells("hint: ");
    }
}
