//! The `ask` command and the short result: requests, summary, limits.

use crate::program::{Desk, has};
use crate::pty::{Screen, cells, command};
use crate::server::{Answer, Server};

const QUESTION: &str = "Which cache first?";

/// A local server with three models, one of them for embeddings; the first votes `a`, the others `b`.
pub fn local() -> Server {
    Server::start(|request| {
        if request.path().ends_with("/models") {
            let models = ["qwen3", "nomic-embed-text", "llama3.2"].map(|id| serde_json::json!({"id": id}));
            return Answer::json(200, &serde_json::json!({"data": models}));
        }
        let vote = if request.json()["model"] == "qwen3" { "a" } else { "b" };
        Answer::chat(&format!("rationale: [\"I say {vote}. More words.\"]\nvote: {vote}"))
    })
}

fn desk(server: &Server) -> Desk {
    Desk::new().configured("").set("OLLAMA_BASE_URL", &format!("{}/v1", server.url()))
}

fn chats(server: &Server) -> usize {
    server.requests().iter().filter(|request| request.path().contains("chat")).count()
}

fn shown(screen: Screen, (columns, rows): (u16, u16)) -> (i32, String) {
    let (code, raw) = screen.end();
    let mut parser = vt100::Parser::new(cells(rows), cells(columns), 0);
    parser.process(&raw);
    (code, parser.screen().contents())
}

#[test]
fn on_a_terminal_nothing_is_sent_or_saved_before_y() {
    let server = local();
    let desk = desk(&server);
    let draft = ["2 seats: ollama/qwen3, ollama/llama3.2", "2, by majority: a · b", "Cost      nothing"];
    for (answer, code) in [("n\r", 0), ("\r", 0), ("\u{4}", 0), ("y\r", 3)] {
        let mut screen = Screen::open(&desk, (80, 60), &["ask", QUESTION, "a", "b"]);
        screen.wait_for(&[draft[0], draft[1], draft[2], "Ask them? [y/N]"]);
        assert!(desk.sessions().is_empty() && chats(&server) == 0);
        screen.send(answer);
        let (ended, text) = shown(screen, (80, 60));
        assert_eq!(ended, code, "{text}");
        if code == 0 {
            assert!(text.contains("nothing was sent or saved"), "{text}");
        } else {
            has(
                &text,
                &["No decision: a and b tie", "1 of 2: qwen3", "qwen3: I say a.", "roundtable verify "],
            );
            assert!(!text.contains("More words") && !text.contains("**"), "{text}");
        }
    }
    assert_eq!((desk.sessions().len(), chats(&server)), (1, 2));
    desk.verify();
}

#[test]
fn one_model_alone_is_asked_twice_and_is_one_voice() {
    let server = local();
    let ran =
        desk(&server).run(["ask", QUESTION, "a", "b", "--with", "ollama/qwen3", "--json=result"]).code(0);
    ran.tells("2 seats, one model: `ollama/qwen3` is asked 2 times and counts as one opinion");
    let result = &ran.lines()[0];
    assert_eq!((&result["winner"], &result["tier"]), (&"a".into(), &"weak".into()), "{result}");
    assert_eq!(chats(&server), 2);
}

#[test]
fn a_saved_definition_asks_the_same_bytes() {
    let server = local();
    let desk = desk(&server);
    let asked = ["ask", "Which {{one}}?", "a, or so", "b", "--with", "ollama/qwen3,ollama/llama3.2"];
    let more = ["--background", "Two hosts.", "--about", "-", "--save-as", "q.yaml"];
    desk.pipe(asked.iter().chain(&more), "first\nsecond\n");
    desk.run(["run", "q.yaml"]);
    let snapshots: Vec<String> = desk
        .sessions()
        .iter()
        .map(|session| desk.log(&session.display().to_string()))
        .map(|log| log.iter().find_map(|line| line["snapshot_sha256"].as_str().map(str::to_owned)))
        .map(|hash| hash.expect("a round"))
        .collect();
    assert_eq!((snapshots.len(), &snapshots[0]), (2, &snapshots[1]));
    has(&desk.read("q.yaml"), &["first", "\"a, or so\"", "exploration: \"Two hosts.\"", "rule: majority"]);
    desk.run(asked.iter().chain(&["--save-as", "q.yaml"])).code(2).tells("--save-as does not overwrite");
}

#[test]
fn a_terminal_gets_one_look_and_a_pipe_the_whole_report() {
    let desk = Desk::with(
        "question: \"Which?\"\nparticipants: [qa-lead, skeptic, devops-engineer]\n\
        ballot: {kind: choice, options: [a, b, c, d, e, f, g, h, i, j, k, l]}\nrule: plurality\n",
    );
    desk.run(["run", "decide.yaml", "--rehearse"]).shows("## The record");
    let session = desk.session();
    let id = session.file_stem().expect("a name").to_string_lossy().into_owned();
    for (verb, columns, rows) in [("report", 80, 24), ("report", 40, 60), ("resume", 120, 40)] {
        let (_, text) = shown(Screen::open(&desk, (columns, rows), &[verb, &id]), (columns, rows));
        has(&text, &["REHEARSAL", "Strength", "Saved", "options: --full"]);
        assert!(text.trim().lines().count() <= if columns < 80 { 40 } else { 24 }, "{text}");
    }
    let (code, raw) = Screen::open(&desk, (80, 24), &["report", &id, "--full"]).end();
    assert!(code == 0 && String::from_utf8_lossy(&raw).contains("## The record"));
    // Both commands at the end of the output work as printed.
    desk.run(["verify", &format!("{id}.s2s")]).code(0);
    desk.run(["report", &id, "--full"]).code(0).shows("## The record");
    let mut plain = command(&desk, &["report", &id]);
    plain.env("NO_COLOR", "1");
    let (_, raw) = Screen::run(plain, (80, 25)).end();
    assert!(!raw.contains(&0x1b), "no colors");
}

#[test]
fn the_newest_session_is_the_default() {
    let desk = Desk::with("question: \"Which?\"\nballot: {kind: choice, options: [a, b]}\nrule: plurality\n");
    let verbs = ["report", "verify", "replay", "trace", "resume", "tally --all"];
    for verb in verbs {
        desk.run(verb.split(' ')).code(2).tells("no session is saved yet");
    }
    desk.run(["run", "decide.yaml", "--rehearse"]);
    let file = desk.session().file_name().expect("a name").to_string_lossy().into_owned();
    for verb in verbs {
        let newest = desk.run(verb.split(' '));
        newest.tells("newest session: ").tells(&file);
        assert_eq!(newest.out, desk.run(verb.split(' ').chain([file.as_str()])).out, "{verb}");
    }
    assert_eq!(desk.run([&file]).code(0).out, desk.run(["replay"]).out, "a session alone, in a pipe");
    let verified = desk.run(["verify"]).out;
    let hash = verified.split_once("hash    ").expect("a hash").1;
    desk.run(["verify", "--expect", &hash[..16]]).code(0);
    desk.run(["verify", "--expect", "0123456789abcdef"]).code(6);
}

#[test]
fn an_absent_person_is_waited_for_and_gets_instructions() {
    for (step, says) in [
        ("type: round, question: Q?", "`decide: {ana: …}`"),
        ("type: agent, agent: ana, prompt: Write.", "`decide: …`"),
    ] {
        let step = format!("steps: [{{id: decide, {step}}}]\n");
        let desk = Desk::with(&format!("participants: [{{name: ana, model: human}}]\n{step}"));
        let ran = desk.run(["run", "decide.yaml"]).code(4);
        ran.tells("waiting for human seat: ana").tells("answer on the screen: roundtable /").tells(says);
    }
}
