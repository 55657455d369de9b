//! Inbox end to end: agents in separate processes poll for work.

use std::os::unix::ffi::OsStrExt as _;
use std::process::Stdio;

use roundtable::journal::verify;
use serde_json::{Value, json};

use crate::patience::{Patient as _, wait_for};
use crate::program::{Desk, is_sound, ran};
use crate::served::{Agent, CANARY, Server, served_as};

const POEM: &str = "\
goal: A poem on autumn
constraints: [no more than eight lines, no rhyme on love]
participants:
  - {name: poet, model: remote/inbox, skills: [rhyming-dictionary], tags: [poetry, form]}
  - {name: editor, model: remote/inbox, tags: [prose]}
  - {name: critic, model: remote/inbox}
steps:
  - {id: draft, type: agent, agent: poet, label: A first draft of the poem, expected_output: eight lines, max_retries: 1,
     output_schema: {type: object, required: [poem], properties: {poem: {type: string}}}}
  - {id: edit, type: agent, agent: editor, input: draft, label: The poem with its weak words replaced}
  - {id: review, type: review, of: edit, reviewers: [critic], criteria: [creativity, logic, readability]}
";

fn offered(agent: &Agent) -> Value {
    wait_for("an offer", || agent.http.get("/v1/inbox?wait=5").json()["items"].get(0).cloned())
}

fn item_of(agent: &Agent) -> String {
    offered(agent)["item"].as_str().expect("an id").to_owned()
}

fn claim(agent: &Agent, item: &str, holder: &str) -> crate::served::Answer {
    agent.http.post(&format!("/v1/items/{item}/claim"), &json!({ "holder": holder }))
}

fn give(agent: &Agent, item: &str, holder: &str, result: &Value) -> crate::served::Answer {
    agent.http.post(&format!("/v1/items/{item}/result"), &json!({ "holder": holder, "result": result }))
}

#[test]
fn a_poem_is_written_edited_and_reviewed_by_agents_that_poll() {
    let server = served_as(POEM);
    let desk = &server.desk;
    let run = |name: &str, script: &str| {
        let mut run = server.agent(name).inbox(desk, &["run", "--", "sh", "-c", script]);
        run.stdout(Stdio::piped()).stderr(Stdio::piped()).start().expect("runs")
    };
    let poem = r#"cp "$ROUNDTABLE_WORK_ITEM" item.json; echo '{"poem": "The leaves fall."}'"#;
    let verdict =
        r#"cp "$ROUNDTABLE_WORK_ITEM" review.json; echo '{"approved": true, "feedback": "Fresh."}'"#;
    let edit = "cat > edit.txt; echo 'The leaves come down.'";
    let agents = [run("poet", poem), run("editor", edit), run("critic", verdict)];
    let bytes = server.ended();
    for agent in agents {
        ran(agent.wait_with_output().expect("ends")).code(0);
    }
    is_sound(&bytes);
    let json = |name: &str| -> Value { serde_json::from_str(&desk.read(name)).expect("JSON") };
    let item = json("item.json");
    assert_eq!(item["goal"], "A poem on autumn");
    assert_eq!(item["constraints"], json!(["no more than eight lines", "no rhyme on love"]));
    assert_eq!(item["stage_context"]["stage_description"], "A first draft of the poem");
    assert_eq!(item["stage_context"]["expected_output"]["description"], "eight lines");
    assert_eq!(item["available_skills"], json!(["rhyming-dictionary"]));
    assert_eq!(item["stage_context"]["previous_artifacts"], json!([]));
    assert!(desk.read("edit.txt").contains("The leaves fall."));
    let review = json("review.json");
    let criteria = json!(["creativity", "logic", "readability"]);
    let context =
        json!({"target_artifact_id": "edit", "target_author_tag": "prose", "review_criteria": criteria});
    assert_eq!(review["review_context"], context);
    assert!(review.to_string().contains("The leaves come down."), "its content is there");
    let log = String::from_utf8_lossy(&bytes).into_owned();
    for event in ["work_item_claimed", "review_recorded", "link_recorded"] {
        assert!(log.contains(&format!("event: {event}")), "{event}");
    }
    assert!(log.contains("holder: worker-"), "{log}");
}

#[test]
fn every_refusal_has_its_word_and_status() {
    let server = served_as(POEM);
    let [poet, editor, critic] = ["poet", "editor", "critic"].map(|name| server.agent(name));
    let offer = offered(&poet);
    let item = offer["item"].as_str().expect("an id");
    assert_eq!((&offer["kind"], &offer["state"]), (&json!("work"), &json!("offered")));
    assert_eq!(editor.http.get("/v1/inbox").json()["items"], json!([]), "its own offers alone");
    let fit = json!({ "poem": "Leaves." });
    give(&poet, item, "one", &fit).refuses(409, "not lease holder");
    claim(&editor, item, "one").refuses(404, "not offered");
    claim(&poet, "draft/99", "one").refuses(404, "not offered");
    let claimed = claim(&poet, &item.replace('/', "%2F"), "one").json();
    assert_eq!((&claimed["holder"], &claimed["state"]), (&json!("one"), &json!("claimed")));
    assert_eq!(claim(&poet, item, "one").json(), claimed, "its holder may ask again");
    claim(&poet, item, "two").refuses(409, "already claimed");
    give(&poet, item, "two", &fit).refuses(409, "not lease holder");
    assert_eq!(poet.http.get("/v1/inbox").json()["items"], json!([]), "what is claimed is not open");
    let unfit = give(&poet, item, "one", &json!("no data"));
    unfit.refuses(422, "does not fit");
    assert!(unfit.json()["reason"].as_str().expect("a reason").contains("poem"), "{}", unfit.json());
    let done = give(&poet, item, "one", &fit);
    assert_eq!((done.status, done.json()), (200, json!({ "item": item, "state": "completed" })));
    assert_eq!(give(&poet, item, "one", &fit).status, 200, "its reply may have been lost");
    give(&poet, item, "one", &json!({ "poem": "" })).refuses(404, "not offered");

    let edit = item_of(&editor);
    assert_eq!(claim(&editor, &edit, "one").status, 200);
    assert_eq!(give(&editor, &edit, "one", &json!("Leaves, edited.")).status, 200);
    let review = item_of(&critic);
    assert_eq!(claim(&critic, &review, "one").status, 200);
    give(&critic, &review, "one", &json!({ "approved": true })).refuses(422, "does not fit");
    assert_eq!(give(&critic, &review, "one", &json!({ "approved": true, "feedback": "Good." })).status, 200);
    is_sound(&server.ended());
    claim(&critic, &review, "one").refuses(404, "not offered");
    assert_eq!(critic.http.get("/v1/inbox?wait=20").json(), json!({ "items": [], "over": true }));
}

#[test]
fn bad_requests_and_strangers_are_refused() {
    let server = served_as(POEM);
    let mut poet = server.agent("poet");
    let item = item_of(&poet);
    let path = |verb: &str| format!("/v1/items/{item}/{verb}");
    poet.http.send("POST", &path("result"), &vec![b' '; 600 * 1024]).refuses(413, "too long");
    let deep = format!(r#"{{"result": {}1{}}}"#, "[".repeat(200), "]".repeat(200));
    for body in ["no JSON", "[]", r#"{"holder": 7}"#, r#"{"other": 1}"#, &deep, r#"{"holder": "a\nb"}"#] {
        std::thread::park_timeout(std::time::Duration::from_millis(120));
        poet.http.send("POST", &path("claim"), body.as_bytes()).refuses(422, "malformed");
    }
    poet.http.get("/v1/inbox?wait=soon").refuses(422, "malformed");
    poet.http.post(&path("eat"), &json!({})).refuses(404, "no such page");
    poet.http.post(&path("fail"), &json!({})).refuses(422, "malformed");
    assert_eq!(claim(&poet, &item, "poet").status, 200);
    let empty = give(&poet, &item, "poet", &json!(" \n"));
    assert!(empty.status == 422 && empty.json()["reason"] == "it is empty", "{}", empty.json());
    poet.http.token = "guessed".to_owned();
    poet.http.get("/v1/inbox").refuses(401, "no such invitation");
    poet.http.post(&path("claim"), &json!({})).refuses(401, "no such invitation");
    let mut answers = (0..40).map(|_| poet.http.send("GET", "/v1/inbox", b""));
    assert!(answers.any(|answer| answer.is_refusal(429, "too many tries")));
}

const PANEL: &str = "\
participants:
  - {name: ann, model: rehearsal}
  - {name: coder, model: remote/inbox}
  - {name: tester, model: remote/inbox}
steps: [{id: vote, type: round, question: Which store?, rule: plurality, ballot: {kind: choice, options: [redis, sqlite]}}]
";

/// Fails unless the file verifies and notes that its two ballots were not sealed by the agents.
fn came_as_plain_text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    let verified = verify(bytes, None);
    assert_eq!(verified.findings, []);
    let is_told = |note: &String| note.starts_with("2 ballots came as plain text");
    assert!(verified.notes.iter().any(is_told), "{:?}", verified.notes);
    String::from_utf8_lossy(bytes)
}

fn answer(agent: &Agent, item: &str, text: &str) -> crate::served::Answer {
    agent.http.post(&format!("/v1/items/{item}/answer"), &json!({ "answer": text }))
}

#[test]
fn agents_vote_with_plain_text_that_is_sealed_for_them() {
    let server = served_as(PANEL);
    let [coder, tester] = ["coder", "tester"].map(|name| server.agent(name));
    let offer = offered(&coder);
    assert_eq!((&offer["kind"], &offer["question"]), (&json!("ballot"), &json!("Which store?")));
    let prompt = offer["prompt"].as_str().expect("a prompt");
    for words in ["You have no tools", "participant_context", "redis", "your_role: \"coder\""] {
        assert!(prompt.contains(words), "{words}: {prompt}");
    }
    let (item, other) = (item_of(&coder), item_of(&tester));
    answer(&coder, &other, "vote: redis").refuses(404, "not offered");
    answer(&coder, "vote/99", "vote: redis").refuses(404, "not offered");
    let unfit = answer(&coder, &item, &format!("vote: mysql\nrationale: [{CANARY}]"));
    unfit.refuses(422, "does not fit");
    assert!(unfit.json()["reason"].as_str().expect("a reason").contains("mysql"), "{}", unfit.json());
    // The reply may have been lost, so the agent repeats its answer.
    let same = answer(&coder, &item, &format!("vote: mysql\nrationale: [{CANARY}]"));
    assert_eq!((same.status, same.json()), (422, unfit.json()));
    let sealed = answer(&coder, &item, &format!("vote: redis\nrationale: [{CANARY}]"));
    assert_eq!((sealed.status, &sealed.json()["participant"]), (201, &json!("coder")));
    answer(&coder, &item, "vote: sqlite").refuses(409, "already sealed");
    let same = answer(&coder, &item, &format!("vote: redis\nrationale: [{CANARY}]"));
    assert_eq!((same.status, same.json()), (200, sealed.json()), "the same again");
    assert_eq!(coder.http.get("/v1/inbox").json()["items"], json!([]), "what is sealed is not asked");
    // Nothing of it is readable before the close.
    let written = server.desk.read("s.s2s");
    assert!(!written.contains(CANARY) && !written.contains("\nsignature: "), "{written}");
    assert!(!offered(&tester).to_string().contains(CANARY));
    // The second answer counts even if it is invalid.
    answer(&tester, &other, "I would rather not say.").refuses(422, "does not fit");
    let last = answer(&tester, &other, "Neither of them.");
    assert_eq!(last.status, 201);
    let bytes = server.ended();
    let text = came_as_plain_text(&bytes);
    assert!(text.contains(CANARY) && text.contains("outcome: invalid"), "{text}");
    answer(&tester, &other, "vote: redis").refuses(410, "round closed");
    let same = answer(&tester, &other, "Neither of them.");
    assert_eq!((same.status, same.json()), (200, last.json()), "also after the close");
    let receipt = sealed.json().to_string();
    server.desk.run(["verify", "s.s2s", "--receipt", &receipt]).code(0);
}

#[test]
fn a_command_votes_for_an_agent_and_the_session_seals_its_answer() {
    let server = served_as(PANEL);
    let desks = [(); 2].map(|()| Desk::new());
    let script = r#"cat > "asked-$$"; echo "vote: $VOTE""#;
    let run = |name: &str, at: usize, vote: &str| {
        let mut run = server.agent(name).inbox(&desks[at], &["run", "--", "sh", "-c", script]);
        run.env("VOTE", vote).stdout(Stdio::piped()).stderr(Stdio::piped()).start().expect("runs")
    };
    let [coder, tester] = [run("coder", 0, "sqlite"), run("tester", 1, "mysql")];
    let bytes = server.ended();
    let [coder, tester] = [coder, tester].map(|run| ran(run.wait_with_output().expect("ends")).code(0));
    for (run, name) in [(&coder, "coder"), (&tester, "tester")] {
        assert_eq!(run.lines()[0]["participant"], name, "a receipt");
    }
    tester.tells("does not fit");
    let asked = |at: usize| {
        let files = desks[at].files().into_iter();
        files.filter(|path| path.to_string_lossy().contains("asked-")).collect::<Vec<_>>()
    };
    assert_eq!(asked(1).len(), 2);
    let prompt = std::fs::read_to_string(&asked(0)[0]).expect("a prompt");
    assert!(prompt.contains("You have no tools") && prompt.contains("your_role: \"coder\""), "{prompt}");
    assert!(came_as_plain_text(&bytes).contains("choice: sqlite"));
}

#[test]
fn an_invalid_address_is_reported() {
    for (url, exit, told) in [
        ("", 2, "`ROUNDTABLE_URL` is not set"),
        ("http://votes.example", 2, "over plain http"),
        ("ftp://votes.example", 2, "no http or https address"),
        ("http://127.0.0.1:1", 5, "cannot be reached"),
    ] {
        let mut desk = Desk::new();
        if !url.is_empty() {
            desk = desk.set("ROUNDTABLE_URL", url).set("ROUNDTABLE_TOKEN", "token");
        }
        // Without `--wait` it would try for longer.
        desk.run(["inbox", "run", "--wait", "1s", "--", "true"]).code(exit).tells(told);
    }
}

#[test]
fn a_command_that_failed_answers_once_the_facilitator_asks_its_seat_again() {
    let seats = ["ann, model: rehearsal", "tester, model: remote/inbox"];
    let one = seats
        .iter()
        .fold(PANEL.to_owned(), |text, seat| text.replace(&format!("  - {{name: {seat}}}\n"), ""));
    let server = served_as(&one);
    let address = server.agent("coder").http.address;
    let desk = Desk::new();
    let script = "test -e mended || { echo why >&2; exit 3; }; echo 'vote: redis'";
    let mut run = server.agent("coder").inbox(&desk, &["run", "--", "sh", "-c", script]);
    let log = std::fs::File::create(desk.path("said")).expect("a file");
    // Variables may have invalid UTF-8.
    run.env("ODD", std::ffi::OsStr::from_bytes(b"\xff")).env(std::ffi::OsStr::from_bytes(b"\xfe"), "odd");
    let mut run = run.stdout(Stdio::null()).stderr(log).start().expect("runs");
    let heard = || desk.read("said");
    let why = "not answered: `sh` ended with exit status: 3: why";
    wait_for("the failure", || heard().contains(why).then_some(()));
    // The seat has failed; the reason is shown only after the close.
    let file = || server.desk.read("s.s2s");
    wait_for("the pause", || file().contains("quorum_unreachable").then_some(()));
    assert!(file().contains("reason: \"the agent gave up; ") && !file().contains("status: 3"), "{}", file());
    let session = server.killed();
    desk.write("mended", "");
    let again = Server::start_at("s.s2s", session, &["--bind", &address]);
    is_sound(&again.ended());
    assert_eq!(run.wait().expect("ends").code(), Some(0), "{}", heard());
    assert!(heard().contains("sealed") && heard().matches("not answered").count() == 1, "{}", heard());
}
