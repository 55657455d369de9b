//! Terminal safety: no text acts on the screen that shows it.

use serde_json::json;

use crate::program::{Desk, Ran};
use crate::pty::Screen;
use crate::server::{Answer, Server};

/// Colors, a link, the clipboard, a device control string, C1, bidi, zero width, DEL, CR, NEL.
const HOSTILE: &str = "X\u{1b}[31mred\u{1b}]8;;http://e/\u{7}link\u{1b}]52;c;QUJD\u{7}\u{1b}P0q\u{1b}\\\u{9b}2J\u{202e}\
                       flip\u{2066}\u{200b}\u{feff}\u{7f}\u{8}\r\u{85}Y";

#[track_caller]
fn safe(what: &str, ran: &Ran) {
    for (stream, text) in [("stdout", &ran.out), ("stderr", &ran.err)] {
        let acts = |c: &char| {
            matches!(*c, '\u{0}'..='\u{9}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{61c}' | '\u{200b}'
                | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
        };
        if let Some(at) = text.find(|c| acts(&c)) {
            let near: String = text[at..].chars().take(40).collect();
            panic!("{what}: {stream} holds {near:?} (exit {})", ran.code);
        }
    }
    assert!(!ran.err.contains("panicked"), "{what}: {}", ran.err);
}

/// Returns JSON with everything unusual escaped, so that it is YAML too.
fn ascii(value: &serde_json::Value) -> String {
    let escape = |c: char| {
        if c.is_ascii() && c != '\u{7f}' { c.to_string() } else { format!("\\u{:04x}", u32::from(c)) }
    };
    value.to_string().chars().map(escape).collect()
}

fn hostile_desk(server: &Server) -> Desk {
    let quoted = ascii(&HOSTILE.into());
    let definition = json!({
        "goal": HOSTILE, "constraints": [HOSTILE], "project_summary": HOSTILE,
        "artifacts": [{"id": "REQ-1", "summary": HOSTILE, "description": HOSTILE, "relevant": true}],
        "participants": [
            {"name": "one", "persona": "odd", "model": format!("lab/m{HOSTILE}")},
            {"name": "two", "persona": "odd", "model": "lab/m"},
            {"name": "three", "persona": "odd", "model": "lab/m"},
        ],
        "steps": [
            {"id": format!("pick{HOSTILE}"), "type": "round", "question": HOSTILE, "exploration": HOSTILE, "rule": "majority",
             "ballot": {"kind": "choice", "options": [HOSTILE, "b"]}, "facilitator_directive": HOSTILE, "quorum": 1},
            {"id": "ok", "type": "approval", "message": HOSTILE},
        ],
    });
    let desk = Desk::new();
    desk.write(&format!("evil{}.json", HOSTILE.replace('/', "_")), definition.to_string());
    desk.write("answers.json", json!({"ok": {"approved": true, "comment": HOSTILE}}).to_string());
    let persona =
        format!("---\nname: odd\ndescription: {quoted}\ntags: [{quoted}]\nskills: 1\n---\n\n{HOSTILE}\n");
    desk.write(".s2s/personas/odd.md", persona);
    desk.served_by(server)
}

#[test]
fn nothing_of_a_session_acts_on_the_screen() {
    let server = Server::start(|request| match request.seat().as_str() {
        "one" => {
            let said = json!({"vote": "b", "position": HOSTILE, "rationale": [HOSTILE], HOSTILE: HOSTILE});
            Answer::chat(&said.to_string())
        }
        "two" => Answer::chat(&format!("vote: {HOSTILE}")),
        _ => Answer::json(400, &json!({"error": {"message": HOSTILE, "type": HOSTILE, "code": HOSTILE}})),
    });
    let desk = hostile_desk(&server);
    let file = format!("evil{}.json", HOSTILE.replace('/', "_"));
    let run = ["--batch", &file, "--answers", "answers.json", "--save", "s.s2s"];
    let ran = desk.run(run).code(0);
    safe("--batch", &ran);
    ran.shows("\\u{1b}[31mred").shows("\\u{202e}flip");
    let as_json = desk.run(["--batch", &file, "--answers", "answers.json", "--json"]).code(0);
    safe("--batch --json", &as_json);
    let header = &as_json.lines()[0];
    assert!(header["definition"].as_str().is_some_and(|text| text.contains("link")), "the raw text is there");
    let verbs = "replay s.s2s; replay s.s2s --json; trace s.s2s; trace s.s2s --json; report s.s2s; report s.s2s --format json; \
                 verify s.s2s --explain; sessions; \
                 personas; personas odd; doctor; --batch FILE --dry-run; \
                 snapshot FILE; resume s.s2s";
    for verb in verbs.split("; ") {
        let verb = verb.split(' ').map(|word| if word == "FILE" { &file } else { word }).collect::<Vec<_>>();
        safe(&format!("{verb:?}"), &desk.run(&verb).code(0));
    }
}

#[test]
fn no_error_acts_on_the_screen() {
    let server = Server::start(|_| Answer::chat("vote: b"));
    let desk = hostile_desk(&server);
    let name = format!("{}.s2s", HOSTILE.replace('/', "_"));
    desk.write(&name, format!("---\nseq: {HOSTILE}\n"));
    desk.write("odd.yaml", format!("question: \"{}\"\n{HOSTILE}: [\n", HOSTILE.replace('\\', "")));
    desk.write("key.yaml", ascii(&json!({"question": "x", HOSTILE: 1, "participants": [HOSTILE]})));
    let missing = format!("none{}", HOSTILE.replace('/', "_"));
    let runs = "--batch MISSING; MISSING; --batch odd.yaml; --batch key.yaml; --batch key.yaml --json; replay NAME; \
                replay NAME --json; resume NAME; report none --format HOSTILE; personas HOSTILE; \
                --batch key.yaml --model HOSTILE; --batch key.yaml --participants HOSTILE; --batch key.yaml --seed HOSTILE; \
                verify NAME --expect HOSTILE; --answers HOSTILE --batch key.yaml; --HOSTILE; --json --HOSTILE";
    for run in runs.split("; ") {
        let word =
            |word: &str| word.replace("MISSING", &missing).replace("NAME", &name).replace("HOSTILE", HOSTILE);
        let args: Vec<String> = run.split(' ').map(word).collect();
        safe(&format!("{args:?}"), &desk.run(&args).code(2));
    }
    safe("verify", &desk.run(["verify", &name]));
}

/// Each result is shown once: rounds as on their reveal, agents by their answers.
#[test]
fn an_approval_shows_results_in_words() {
    let example = include_str!("../../sessions/risk-review.yaml");
    let desk = Desk::with(&example.replace("  accept: true\n", ""));
    desk.run(["--batch", "--save", "out.s2s", "decide.yaml"]).code(4);
    let mut screen = Screen::open(&desk, (100, 60), &["out.s2s"]);
    screen.wait_for(&["Resume this session?"]);
    screen.press("y", &["\u{2502} risks ", "qa-lead: A timeout pays"]);
    let drawn = screen.drawn();
    for dump in ["outcome:", "quorum_met", "result:", "stepId"] {
        assert!(!drawn.contains(dump), "{dump}\n{drawn}");
    }
    screen.kill();
}
