//! Measurement of a program before it takes a seat.
//!
//! The model's name selects the script's misbehavior.

use std::fs;

use crate::patience::wait_for;
use crate::program::{Desk, rows};
use crate::pty::Screen;
use crate::seat_programs::with_program;

const ROUND: &str = "question: Which?\nparticipants: [qa-lead]\n\
                     ballot: {kind: choice, options: [red, blue]}\nrule: plurality\n";

/// Speaks three API styles; without a recorder it answers by itself.
const PROGRAM: &str = r#"#!/usr/bin/env python3
import sys
words = sys.argv[1:]
if "--version" in words:
    print(open(__file__ + ".version").read().strip())
    sys.exit()
import json, os, socket, time, urllib.request
model = words[words.index("--model") + 1]
rules = words[words.index("--system-prompt") + 1] if "--system-prompt" in words else ""
text = sys.stdin.read()
base = os.environ.get("ANTHROPIC_BASE_URL") or os.environ.get("MINE_URL")
with open(os.environ["HOME"] + "/runs", "a") as runs: runs.write("recorder\n" if base else "seat\n")

def post(path, body):
    body = dict(body, model=model, stream="stream" in model)
    headers = {"content-type": "application/json", "x-api-key": "sk-s3cr3t", "cookie": "c=sk-s3cr3t"}
    request = urllib.request.Request(base + path, json.dumps(body).encode(), headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    said = opener.open(request).read().decode()
    if not body["stream"]:
        said = json.loads(said)
        item = (said.get("content") or said.get("choices") or said.get("output"))[0]
        return item.get("text") or item.get("message", item)["content"] if "output" not in said else item["content"][0]["text"]
    found = ""
    for line in said.splitlines():
        if line.startswith("data: {"):
            event = json.loads(line[6:])
            if event.get("type") == "response.output_item.added": open_item = event["item"]["id"]
            if event.get("type") == "response.output_text.delta":
                assert event["item_id"] == open_item
                found += event["delta"]
                continue
            delta = event.get("delta") or (event.get("choices") or [{}])[0].get("delta") or {}
            found += delta.get("text") or delta.get("content") or ""
    return found

def answer():
    if not base: return "vote: red"
    if "silent" in model: return "vote: red"
    if "slow" in model: time.sleep(2)
    if "endless" in model: time.sleep(100)
    part = lambda text: {"type": "text", "text": text}
    content = [part(text)]
    body = {"system": rules, "max_tokens": 9}
    if "tools" in model: body["tools"] = [{"name": "Bash", "input_schema": {}}]
    if "asks" in model: body["tools"] = [{"name": "request_user_input"}]
    if "reminder" in model: content = [part("<reminder>é</reminder>"), part(text), part("ok")]
    if "split" in model: content = [part(text[:99]), part(text[99:])]
    if "changed" in model: content = [part(text.replace("\t", " "))]
    messages = [{"role": "user", "content": content}]
    if "hidden" in model:
        messages.insert(0, {"role": "developer", "tools": [{"type": "namespace", "name": "f", "tools": [{"name": "exec"}]}]})
    if "twice" in model: post("/v1/messages", {"messages": [{"role": "user", "content": "A title for: " + text}]})
    if "elsewhere" in model:
        host, port = os.environ["HTTPS_PROXY"].removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as proxy:
            proxy.sendall(b"CONNECT telemetry.example:443 HTTP/1.1\r\n\r\n")
            proxy.recv(100)
    if "chat" in model: return post("/chat/completions", {"messages": [{"role": "user", "content": text}]})
    if "responses" in model: return post("/responses", {"input": [{"role": "user", "content": [{"type": "input_text", "text": text}]}]})
    return post("/v1/messages", dict(body, messages=messages))

print(json.dumps({"is_error": False, "result": answer(), "usage": {"input_tokens": 1, "output_tokens": 1}}))
"#;

fn desk() -> Desk {
    let desk = with_program(Desk::with(ROUND), "claude", "");
    desk.write("../bin/claude", PROGRAM);
    desk.write("../bin/claude.version", "9.9.9 (Claude Code)");
    desk
}

/// Returns the measured values: tools, requests, added bytes, snapshot.
fn measured(desk: &Desk, model: &str) -> String {
    let ran = desk.run(["doctor", "--wiretap", model]).code(0);
    let values: Vec<&str> = ran.out.lines().skip(1).take(4).map(|line| line.trim().split_at(13).1).collect();
    values.join("; ")
}

fn runs(desk: &Desk) -> String {
    fs::read_to_string(desk.home().join("runs")).unwrap_or_default()
}

#[test]
fn the_recorder_reports_additions_in_every_api_style() {
    let mine = "{command: [claude, --model, \"{model}\"], reply: result, base_url_env: MINE_URL}";
    let desk = desk().configured(format!("providers:\n  mine: {mine}\n"));
    let expected = "claude-cli/plain => none; 1; 0 bytes before, 0 after; whole and unchanged
claude-cli/stream => none; 1; 0 bytes before, 0 after; whole and unchanged
claude-cli/reminder => none; 1; 23 bytes before, 2 after; whole and unchanged
claude-cli/tools-stream => Bash; 1; 0 bytes before, 0 after; whole and unchanged
claude-cli/hidden => exec; 1; 0 bytes before, 0 after; whole and unchanged
claude-cli/twice => none; 2; 0 bytes before, 0 after; whole and unchanged
claude-cli/elsewhere => none; 1; 0 bytes before, 0 after; whole and unchanged
mine/chat => none; 1; 0 bytes before, 0 after; whole and unchanged
mine/chat-stream => none; 1; 0 bytes before, 0 after; whole and unchanged
mine/responses => none; 1; 0 bytes before, 0 after; whole and unchanged
mine/responses-stream => none; 1; 0 bytes before, 0 after; whole and unchanged";
    for (model, wanted) in rows(expected) {
        assert_eq!(measured(&desk, model), wanted, "{model}");
    }
    for model in ["claude-cli/split", "claude-cli/changed"] {
        assert!(measured(&desk, model).ends_with("; not whole, or changed"), "{model}");
    }
    let ran = desk.run(["doctor", "--wiretap", "claude-cli/silent"]).code(5);
    ran.tells("answered and sent the recorder nothing");
    let told = desk.run(["doctor", "--wiretap", "claude-cli/reminder"]).code(0).out;
    assert!(told.contains("9.9.9 (Claude Code)") && told.contains("23 bytes before, 2 after"), "{told}");
    for path in desk.files() {
        let bytes = fs::read(&path).expect("a file");
        assert!(!String::from_utf8_lossy(&bytes).contains("sk-s3cr3t"), "{}", path.display());
    }
    assert!(!runs(&desk).contains("seat"));
}

#[test]
fn opening_a_round_measures_once_a_version_and_the_report_says_what_was_found() {
    let desk = desk();
    let run = |model: &str, file| desk.run(["--batch", "decide.yaml", "--model", model, "--save", file]);
    let first = run("claude-cli/reminder", "a.s2s").code(0);
    first.tells("checking what `claude-cli` adds to the question");
    assert_eq!(runs(&desk), "recorder\nseat\n");
    first.shows("qa-lead: claude 9.9.9 (Claude Code): 0 tools, 23 bytes before, 2 after");
    let json = desk.report("a.s2s").to_string();
    assert!(json.contains("\"bytes_after\":2,"), "{json}");
    assert!(desk.run(["doctor", "claude-cli"]).code(0).out.contains("· measured ·"));
    let second = run("claude-cli/reminder", "b.s2s").code(0);
    assert!(!second.err.contains("checking what"), "{}", second.err);
    desk.write("../bin/claude.version", "10 (Claude Code)");
    assert!(desk.run(["doctor", "claude-cli"]).code(0).out.contains("not measured in this version"));
    assert!(run("claude-cli/reminder", "c.s2s").code(0).err.contains("checking what"));
    desk.is_sound("c.s2s");
}

#[test]
fn the_screen_answers_while_a_program_is_checked() {
    let desk = desk();
    let mut screen = Screen::open(&desk, (120, 40), &["decide.yaml", "--model", "claude-cli/slow"]);
    screen.wait_for(&["claude-cli/slow"]);
    let checking = ["Checking what claude-cli adds to the question", "Esc cancels"];
    screen.press("o", &checking);
    screen.press("\u{1b}", &["Cancelled."]);
    // Cancelled work is not opened after its check.
    wait_for("a measured program", || {
        desk.run(["doctor", "claude-cli"]).out.contains("· measured ·").then_some(())
    });
    assert!(desk.sessions().is_empty());
    screen.press("o", &["red"]);
    wait_for("both programs", || (runs(&desk) == "recorder\nseat\n").then_some(()));
    screen.kill();
    assert_eq!(desk.sessions().len(), 1);
}

#[test]
fn a_program_with_tools_or_a_changed_snapshot_takes_no_blind_seat() {
    let desk = desk();
    let run = |model: &str| desk.run(["--batch", "decide.yaml", "--model", model]);
    let why = "`claude-cli/tools` declares tools (Bash); blind rounds allow no tools";
    run("claude-cli/tools").code(2).tells(why);
    run("claude-cli/changed").code(2).tells("does not send the snapshot whole and unchanged");
    run("claude-cli/silent").code(2).tells("sent the recorder nothing").tells("hint: try it by itself\n");
    run("claude-cli/asks").code(2).tells("declares tools (request_user_input)");
    assert!(desk.sessions().is_empty() && !runs(&desk).contains("seat"), "nothing was asked");
    let allowed = "providers:\n  claude-cli: {allow_tools: [request_user_input]}\n  told: {command: [claude, --model, x], reply: result, tool_less: true}\n  untold: {command: [claude, --model, x], reply: result}\n";
    desk.write("../home/config/config.yaml", allowed);
    run("claude-cli/asks").code(0).shows("Not tool-less: qa-lead");
    // A program that cannot be measured is declared, or takes no seat.
    run("told/m").code(0).shows("Declared, not checked: qa-lead");
    run("untold/m").code(2).tells("`claude` cannot be pointed at a recorder").tells("`tool_less: true`");
}
