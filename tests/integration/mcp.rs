//! The `mcp` command end to end, with the tests as client.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::patience::{Patient as _, wait_for};
use crate::program::Desk;
use crate::server::{Answer, Server};

/// Appears only in sealed answers.
const CANARY: &str = "a grey heron stands there";

struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    transcript: String,
    sent: u64,
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Client {
    fn connected(desk: &Desk, args: &[&str]) -> Self {
        let mut command = desk.command([&["mcp"], args].concat());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.start().expect("the program starts");
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut client = Self { child, input, output, transcript: String::new(), sent: 0 };
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        assert_eq!(client.request("initialize", &hello)["result"]["serverInfo"]["name"], "roundtable");
        client.send(r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#);
        client
    }

    fn send(&mut self, line: &str) {
        let input = self.input.as_mut().expect("open");
        input.write_all(format!("{line}\n").as_bytes()).expect("taken");
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.sent += 1;
        let id = self.sent;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        self.transcript.push_str(&line);
        let reply: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(reply["id"], id, "{reply}");
        reply
    }

    #[track_caller]
    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let reply = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert_eq!(reply["result"]["isError"], false, "{tool} {arguments}: {reply}");
        reply["result"]["structuredContent"].clone()
    }

    fn convene(&mut self, asked: &Value) -> Value {
        self.call("convene", asked)["session"].clone()
    }

    fn result(&mut self, session: &Value) -> Value {
        self.call("result", &json!({"session": session}))
    }

    fn status(&mut self, session: &Value) -> Value {
        self.call("status", &json!({"session": session}))
    }

    /// Returns the numbers once the session has closed or paused.
    fn waited(&mut self, session: &Value) -> Value {
        self.call("status", &json!({"session": session, "wait_s": 30}))
    }

    fn until_sealed(&mut self, session: &Value, count: u64) {
        wait_for("sealed answers", || (self.status(session)["sealed"] == count).then_some(()));
    }

    #[track_caller]
    fn refused(&mut self, tool: &str, arguments: &Value) -> String {
        let reply = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert_eq!(reply["result"]["isError"], true, "{tool} {arguments}: {reply}");
        reply["result"]["content"][0]["text"].as_str().expect("words").to_owned()
    }

    /// Closes standard input; returns the exit code and the remaining output.
    fn end(mut self) -> (Option<i32>, String) {
        drop(self.input.take());
        let code = self.child.wait().expect("ends").code();
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).expect("UTF-8");
        (code, rest)
    }
}

/// Returns a desk whose model `lab/m` answers with the canary; seat `qa-lead` waits until released.
fn gated() -> (Desk, Server) {
    let server = Server::start(move |request| {
        let vote = if request.seat() == "technical-lead" { "sqlite" } else { "redis" };
        let answer = Answer::chat(&format!("vote: {vote}\nposition: {CANARY}\n"));
        if request.seat() == "qa-lead" { answer.held() } else { answer }
    });
    (Desk::new().served_by(&server), server)
}

fn question() -> Value {
    json!({
        "question": "Which store?", "options": ["redis", "sqlite"], "evidence": [{"id": "E", "text": "Two hosts."}],
        "participants": [{"persona": "skeptic", "model": "lab/m"}, {"persona": "qa-lead", "model": "lab/m"}],
    })
}

#[test]
fn nothing_but_numbers_is_said_before_the_close() {
    let (desk, server) = gated();
    let mut client = Client::connected(&desk, &[]);
    let mut asked = question();
    let seats = ["skeptic", "qa-lead", "technical-lead"];
    asked["participants"] = json!(seats.map(|name| json!({"persona": name, "model": "lab/m"})));
    let session = client.convene(&asked);
    client.until_sealed(&session, 2);
    let numbers = json!({"session": session, "state": "open", "seats": 3, "sealed": 2, "poll_ms": 3000});
    assert_eq!(client.status(&session), numbers);
    let said = client.refused("result", &json!({"session": session}));
    assert!(said.contains("not over") && said.contains("`status`"), "{said}");
    for hidden in [CANARY, "heron", "skeptic", "qa-lead"] {
        assert!(!client.transcript.contains(hidden), "{hidden} in {}", client.transcript);
    }
    server.release();
    assert_eq!(client.waited(&session)["state"], "closed");
    let result = client.result(&session);
    assert_eq!((&result["decided"], &result["winner"]), (&json!(true), &json!("redis")), "{result}");
    assert_eq!(result["dissent"], json!(["technical-lead"]));
    assert_eq!(result["rounds"][0]["seats"][0]["answer"]["position"], CANARY);
    assert_eq!(result["rehearsal"], false);
}

#[test]
fn a_client_that_dies_leaves_a_session_that_the_user_continues() {
    for is_killed in [true, false] {
        let (desk, server) = gated();
        let mut client = Client::connected(&desk, &[]);
        let session = client.convene(&question());
        client.until_sealed(&session, 1);
        if is_killed {
            client.child.kill().expect("killed");
            drop(client);
        } else {
            assert_eq!(client.end(), (Some(0), String::new()));
            assert!(desk.run(["replay", session.as_str().unwrap(), "--json"]).out.contains("session_paused"));
        }
        desk.run(["verify", session.as_str().unwrap()]).code(0);
        server.release();
        let mut client = Client::connected(&desk, &[]);
        assert!(client.refused("result", &json!({"session": session})).contains("not over"));
        let numbers = client.status(&session);
        let state = if is_killed { "open" } else { "paused" };
        assert!(numbers["state"] == state && numbers["sealed"] == 1, "{numbers}");
        assert!(numbers["why"].as_str().expect("words").contains("roundtable resume"), "{numbers}");
        desk.run(["resume", session.as_str().unwrap()]).code(0);
        assert_eq!(client.result(&session)["winner"], json!("redis"));
    }
}

#[test]
fn a_round_that_too_few_seats_answer_pauses_and_says_who_continues_it() {
    let server = Server::start(|_| Answer::json(400, &json!({"error": {"message": CANARY}})));
    let desk = Desk::new().served_by(&server);
    let mut client = Client::connected(&desk, &[]);
    let session = client.convene(&question());
    let numbers = client.waited(&session);
    let why = format!("roundtable resume {}", session.as_str().expect("an id"));
    assert!(numbers["state"] == "paused" && numbers["sealed"] == 0, "{numbers}");
    assert!(numbers["why"].as_str().expect("words").contains(&why), "{numbers}");
    let asked = server.requests().len();
    assert_eq!(client.status(&session)["state"], "paused");
    assert_eq!(server.requests().len(), asked, "asking for numbers asks no seat again");
    assert!(client.refused("result", &json!({"session": session})).contains("not over"));
    assert!(!client.transcript.contains(CANARY), "{}", client.transcript);
}

#[test]
fn a_discussion_shows_all_rounds_once_it_is_over() {
    let desk = Desk::new();
    let mut client = Client::connected(&desk, &[]);
    let session =
        client.convene(&json!({"question": "Which motto?", "strategy": "draft-rank", "evidence": []}));
    assert_eq!(client.waited(&session)["state"], "closed");
    let result = client.result(&session);
    assert_eq!(result["rounds"][0]["seats"].as_array().map(Vec::len), Some(5), "{result}");
    assert_eq!(result["pseudonyms"].as_object().expect("names").len(), 5, "{result}");
    assert_eq!((&result["decided"], &result["rehearsal"]), (&json!(false), &json!(true)), "{result}");
}

#[test]
fn rubbish_is_skipped_and_what_is_too_long_is_refused() {
    let desk = Desk::new();
    let mut client = Client::connected(&desk, &[]);
    for line in ["rubbish", "", "{\"jsonrpc\": \"2.0\", \"id\": 7", "\u{0}\u{1b}[2J"] {
        client.send(line);
    }
    let long = json!({"question": "q", "evidence": [{"id": "E", "text": "x".repeat(10_000_000)}]});
    assert!(client.refused("convene", &long).contains("the limit is 4 MiB"));
    let said = client.refused("convene", &json!({"question": "q", "evidence": [], "quorum": 3}));
    assert!(said.contains("unknown field `quorum`"), "{said}");
    assert_eq!(desk.sessions(), Vec::<std::path::PathBuf>::new());
    assert_eq!(client.end(), (Some(0), String::new()));
}

#[test]
fn an_invalid_panel_is_refused_and_writes_nothing() {
    let desk = Desk::new();
    desk.write(".git/HEAD", "ref: x\n");
    desk.write("notes.md", "one\ntwo\n");
    desk.write("../outside.md", "three\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("../outside.md", desk.path("link.md")).expect("a link");
    let mut client = Client::connected(&desk, &[]);
    let evidence = |evidence: Value| json!({"question": "q", "options": ["a", "b"], "evidence": [evidence]});
    let with = |key: &str, value: Value| {
        let mut asked = evidence(json!({"id": "E", "file": "notes.md", "lines": "2"}));
        asked[key] = value;
        asked
    };
    let cases = [
        (evidence(json!({"id": "E", "file": "../outside.md"})), "outside the project"),
        (evidence(json!({"id": "E", "file": desk.path("../outside.md")})), "outside the project"),
        #[cfg(unix)]
        (evidence(json!({"id": "E", "file": "link.md"})), "outside the project"),
        (evidence(json!({"id": "E", "file": "none.md"})), "none.md"),
        (evidence(json!({"id": "E"})), "either `text` or `file`"),
        (evidence(json!({"id": "E", "text": "key: AKIAIOSFODNN7EXAMPLE"})), "looks like"),
        (with("options", json!(["a"])), "at least two options"),
        (with("rule", json!("fairest")), "fairest"),
        (with("strategy", json!("brainstorm")), "brainstorm"),
        (json!({"question": "q", "strategy": "delphi", "evidence": []}), "give the options"),
        (with("participants", json!(["openai/gpt-5-mini"])), "give `max_usd`"),
        (with("participants", json!(["human"])), "is a person"),
        (with("participants", json!([{"name": "dana", "model": "remote/link"}])), "is a person"),
        (with("participants", json!([{"name": "x", "command": ["sh"]}])), "a map of `name`, `persona`"),
        (with("options", json!("in-process or redis")), "at least two options"),
        (with("max_usd", json!("a dollar")), "do not fit: `max_usd`"),
        (with("participants", json!(["nobody-at-all"])), "nobody-at-all"),
        (with("max_usd", json!(-1)), "greater than 0"),
    ];
    for (asked, expected) in cases {
        let said = client.refused("convene", &asked);
        assert!(said.contains(expected), "{expected}: {said}");
    }
    assert_eq!(desk.sessions(), Vec::<std::path::PathBuf>::new());
    for session in ["none", "../x", "/etc/passwd"] {
        assert!(client.refused("status", &json!({"session": session})).contains("no session"));
        assert!(client.refused("result", &json!({"session": session})).contains("no session"));
    }
    client.call("convene", &with("rule", json!("plurality")));
}

#[test]
fn arguments_are_taken_as_assistants_write_them() {
    let desk = Desk::new();
    let mut client = Client::connected(&desk, &[]);
    let tools = client.request("tools/list", &json!({}))["result"]["tools"].to_string();
    for word in ["$ref", "anyOf", "\"null\"", "\"format\":", "[\"string\","] {
        assert!(!tools.contains(word), "{word}: {tools}");
    }
    let asked = json!({"question": "42", "options": "[\"a\", \"b\"]", "evidence": "[]", "participants": "",
        "rule": null, "strategy": "", "max_usd": "0.5", "deadline_s": "60.0"});
    let session = client.convene(&asked);
    let done = client.call("status", &json!({"session": session, "wait_s": 5.0}));
    assert_eq!(done["session"], session);
    assert_eq!(desk.events("round_opened")[0]["question"], "42");
    client.convene(&json!({"question": "Which?", "options": "null", "evidence": "null"}));
    let listed =
        client.convene(&json!({"question": "Which?", "options": "a, b", "participants": "qa-lead\nskeptic"}));
    assert!(client.call("status", &json!({"session": listed}))["seats"] == 2, "names in a text are a list");
    let entry = desk.run(["init", "--agent"]).code(0).out;
    assert_eq!(entry, desk.read(".mcp.json"));
    desk.write(".mcp.json", "{}");
    assert_eq!(desk.run(["init", "--agent"]).code(0).out, entry);
    assert_eq!(desk.read(".mcp.json"), "{}");
}

#[test]
fn a_project_that_redirects_is_refused_until_the_user_agrees() {
    let (desk, server) = gated();
    server.release();
    desk.write(".git/HEAD", "ref: x\n");
    let provider = format!("{{base_url: \"{}/v1\", key_env: LAB_KEY}}", server.url());
    desk.write(".s2s/config.yaml", format!("providers: {{mine: {provider}}}\n"));
    let mut asked = question();
    asked["participants"] = json!(["mine/m"]);
    let mut client = Client::connected(&desk, &[]);
    let said = client.refused("convene", &asked);
    assert!(said.contains("`mine`") && said.contains("--trust"), "{said}");
    assert_eq!((server.connections(), desk.sessions()), (0, Vec::new()));
    let mut client = Client::connected(&desk, &["--trust"]);
    client.call("convene", &asked);
}
