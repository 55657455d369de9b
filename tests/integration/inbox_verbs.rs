//! The single verbs of `inbox`, as a script uses them, and what `inbox run` does around its command.
#![cfg(feature = "serve")]

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Output, Stdio};

use roundtable::core::Command;
use roundtable::journal::verify;
use serde_json::Value;

use crate::patience::{Patient as _, wait_for};
use crate::served::{Agent, Server, facilitate, program, served_as};

const WORK: &str = "\
participants:
  - {name: poet, model: remote/inbox}
  - {name: coder, model: remote/inbox}
steps:
  - id: both
    type: parallel
    steps:
      - {id: draft, type: agent, agent: poet, label: A poem}
      - {id: title, type: agent, agent: poet, label: Its title, max_retries: 1, 
         output_schema: {type: object, required: [title]}}
  - {id: vote, type: round, question: Which store?, rule: plurality, participants: [coder], ballot: {kind: choice, options: [redis, sqlite]}}
";

fn said(run: &Output) -> String {
    String::from_utf8_lossy(&run.stderr).into_owned()
}

/// Runs `inbox` with these words, and returns what it prints.
fn inbox(agent: &Agent, home: &Path, words: &[&str], exit: i32) -> String {
    let run = agent.inbox(home, words).output_soon().expect("runs");
    assert_eq!(run.status.code(), Some(exit), "{words:?}: {}", said(&run));
    String::from_utf8_lossy(&run.stdout).into_owned() + &said(&run)
}

#[test]
fn a_script_does_its_work_verb_by_verb() {
    let server = served_as(WORK);
    let home = server.home.path();
    let write = |name: &str, text: &str| std::fs::write(home.join(name), text).expect("written");
    let [poet, coder] = ["poet", "coder"].map(|name| server.agent(name));
    assert_eq!(inbox(&coder, home, &["poll"], 4), "", "nothing yet, and it is not over");
    assert_eq!(inbox(&coder, home, &["take"], 4), "");
    let listed = inbox(&poet, home, &["poll", "--wait", "20"], 0);
    let items: Vec<&str> = listed.lines().map(|line| line.split('\t').next().expect("an id")).collect();
    assert!(listed.contains("\tA poem\n") && listed.contains("\tIts title\n"), "{listed}");
    let listed = inbox(&poet, home, &["poll", "--json"], 0);
    let listed: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(listed.iter().map(|item| &item["item"]).collect::<Vec<_>>(), items);
    let [draft, title] = items[..] else { panic!("{items:?}") };

    // A worker holds what it took; another one takes the next.
    let one = ["--holder", "one"];
    let taken = inbox(&poet, home, &["take", "--json", one[0], one[1]], 0);
    let taken: Value = serde_json::from_str(taken.lines().next().expect("a line")).expect("JSON");
    assert_eq!((&taken["item"], &taken["holder"]), (&draft.into(), &"one".into()));
    assert!(inbox(&poet, home, &["take"], 0).contains("Its title"), "its prompt");
    assert_eq!(inbox(&poet, home, &["poll"], 4), "");
    let other = inbox(&poet, home, &["take", draft], 2);
    assert!(other.contains("already claimed"), "{other}");
    assert!(inbox(&poet, home, &["renew", draft, one[0], one[1]], 0).contains("until "));
    assert!(inbox(&poet, home, &["renew", draft], 2).contains("not lease holder"));

    write("poem.txt", "The leaves fall.");
    write("title.txt", "not what is asked");
    let unfit = inbox(&poet, home, &["return", title, "--data", "title.txt"], 2);
    assert!(unfit.contains("does not fit"), "{unfit}");
    let failed = inbox(&poet, home, &["fail", title, "--data", "title.txt"], 0);
    assert!(failed.contains(&format!("{title} is offered now")), "{failed}");
    // Address and token from a file of one's own.
    write("access", &format!("ROUNDTABLE_URL={} ROUNDTABLE_TOKEN={}\n", poet.url, poet.token));
    let mode = |mode| std::fs::set_permissions(home.join("access"), std::fs::Permissions::from_mode(mode));
    let with_file = |exit: i32| {
        let mut run = program(home);
        run.args(["inbox", "take", title, "--access", "access"]);
        let run = run.output_soon().expect("runs");
        assert_eq!(run.status.code(), Some(exit), "{}", said(&run));
        said(&run)
    };
    mode(0o640).expect("set");
    assert!(with_file(2).contains("others may read this file"));
    mode(0o600).expect("set");
    assert!(with_file(0).contains(&format!("claimed {title}")));
    write("title.txt", "{\"title\": \"Autumn\"}");
    inbox(&poet, home, &["return", title, "--data", "title.txt"], 0);
    inbox(&poet, home, &["return", draft, "--data", "poem.txt", one[0], one[1]], 0);

    // A ballot, which the session seals.
    let asked = inbox(&coder, home, &["poll", "--wait", "20"], 0);
    let vote = asked.split('\t').next().expect("an id");
    write("vote.txt", "vote: mysql");
    let unfit = inbox(&coder, home, &["answer", vote, "--data", "vote.txt"], 2);
    assert!(unfit.contains("does not fit"), "{unfit}");
    write("vote.txt", "vote: redis");
    let receipt = inbox(&coder, home, &["answer", vote, "--data", "vote.txt"], 0);
    assert_eq!(serde_json::from_str::<Value>(&receipt).expect("a receipt")["participant"], "coder");
    let bytes = server.ended();
    assert_eq!(verify(&bytes, None).findings, []);
    assert_eq!(inbox(&coder, home, &["answer", vote, "--data", "vote.txt"], 0), receipt, "the same again");
    for words in [&["poll"][..], &["take"], &["poll", "--wait", "20"], &["take", "--wait", "20"]] {
        let over = inbox(&coder, home, words, 4);
        assert_eq!(over.matches("the session is over").count(), 1, "{words:?}: {over}");
    }
}

#[test]
fn a_session_that_is_not_there_is_exit_5_and_no_address_exit_2() {
    let home = tempfile::tempdir().expect("a folder");
    let run = program(home.path()).args(["inbox", "poll"]).output_soon().expect("runs");
    assert_eq!(run.status.code(), Some(2), "{}", said(&run));
    assert!(said(&run).contains("`ROUNDTABLE_URL` is not set"), "{}", said(&run));
    let mut run = program(home.path());
    run.env("ROUNDTABLE_URL", "http://127.0.0.1:1").env("ROUNDTABLE_TOKEN", "token");
    let run = run.args(["inbox", "poll"]).output_soon().expect("runs");
    assert_eq!(run.status.code(), Some(5), "{}", said(&run));
    assert!(said(&run).contains("cannot be reached"), "{}", said(&run));
}

const SEALS: &str = "\
participants: [{name: coder, model: remote/inbox}]
steps: [{id: vote, type: round, question: Which store?, rule: plurality, ballot: {kind: choice, options: [redis, sqlite]}}]
";

#[test]
fn a_command_that_failed_answers_once_the_facilitator_asks_its_seat_again() {
    let server = served_as(SEALS);
    let address = server.agent("coder").http.address;
    let desk = tempfile::tempdir().expect("a folder");
    let script = "test -e mended || exit 3; echo 'vote: redis'";
    let mut run = server.agent("coder").inbox(desk.path(), &["run", "--", "sh", "-c", script]);
    let log = std::fs::File::create(desk.path().join("said")).expect("a file");
    // An environment may hold anything.
    run.env("ODD", std::ffi::OsStr::from_bytes(b"\xff")).env(std::ffi::OsStr::from_bytes(b"\xfe"), "odd");
    let mut run = run.stdout(Stdio::null()).stderr(log).start().expect("runs");
    let heard = || std::fs::read_to_string(desk.path().join("said")).expect("a file");
    wait_for("the failure", || {
        heard().contains("not answered: `sh` ended with exit status: 3").then_some(())
    });
    let home = server.killed();
    std::fs::write(desk.path().join("mended"), "").expect("written");
    let (round, participant) = ("vote".to_owned(), "coder".to_owned());
    facilitate(home.path(), Command::Retry { round, participant, model: None });
    let again = Server::start_at("s.s2s", home, &["--bind", &address]);
    assert_eq!(verify(&again.ended(), None).findings, []);
    assert_eq!(run.wait().expect("ends").code(), Some(0), "{}", heard());
    assert!(heard().contains("sealed") && heard().matches("not answered").count() == 1, "{}", heard());
}
