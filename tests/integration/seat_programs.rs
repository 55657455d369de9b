//! Command-line programs as seats: input, output and failures of small scripts.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Instant;

use crate::program::{Desk, Ran, has, named, sha256};
use crate::pty::Screen;

const ROUND: &str = "question: Which?\nparticipants: [qa-lead]\n\
                     ballot: {kind: choice, options: [red, blue]}\nrule: plurality\n";

/// Answers like Claude Code, after recording its input in a folder.
const CLAUDE: &str = r#"
to=$HOME/seen/$$; mkdir -p "$to"
cat > "$to/stdin"
for word; do case $last in --system-prompt) printf %s "$word" > "$to/rules";; esac; last=$word; done
printf '%s\n' "$@" > "$to/words"; env > "$to/env"; ls -A > "$to/files"
(: < /dev/tty) 2> /dev/null && echo yes > "$to/terminal"
(stty -echo < /dev/tty) 2> /dev/null
echo 'starting {'
printf '{"type":"result","is_error":false,"result":"vote: red\\n\\nMARK%s","usage":{"input_tokens":1000,"cache_read_input_tokens":500,"output_tokens":200}}\n' $$
"#;

/// Answers a measurement like Claude Code; otherwise the rest of the script runs.
const MEASURED: &str = r#"
case "$1" in --version) echo "9.9.9 (Claude Code)"; exit;; esac
[ -n "$ANTHROPIC_BASE_URL" ] && exec python3 -c '
import json, os, sys, urllib.request
body = {"system": sys.argv[sys.argv.index("--system-prompt") + 1], "messages": [{"content": sys.stdin.read()}]}
request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode())
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
print(json.dumps({"result": json.load(opener.open(request))["content"][0]["text"]}))' "$@"
"#;

pub fn with_claude(desk: Desk, script: &str) -> Desk {
    with_program(desk, "claude", &format!("{MEASURED}{script}"))
}

pub fn with_program(desk: Desk, name: &str, script: &str) -> Desk {
    desk.write(&format!("../bin/{name}"), format!("#!/bin/sh\n{script}"));
    let path = desk.path(&format!("../bin/{name}"));
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("executable");
    fs::create_dir_all(desk.home()).expect("a folder");
    let (bin, home) = (desk.path("../bin").display().to_string(), desk.home().display().to_string());
    let folders = std::env::var("PATH").unwrap_or_default();
    desk.set("PATH", &format!("{bin}:{folders}")).set("HOME", &home)
}

fn seen(desk: &Desk, name: &str) -> Vec<String> {
    let runs = fs::read_dir(desk.home().join("seen")).expect("it ran").map(|run| run.expect("a run").path());
    runs.map(|run| fs::read_to_string(run.join(name)).unwrap_or_default()).collect()
}

/// Runs one round of one seat with this script, and returns the reason of its failure.
fn failure(script: &str) -> (String, Ran) {
    let desk = with_claude(Desk::with(ROUND), script).configured("timeout: 2s\n");
    let ran = desk.run(["--batch", "--json", "decide.yaml", "--model", "claude-cli/m"]).code(5);
    let lines = ran.lines();
    let failed = named(&lines, "seat_failed");
    assert_eq!(failed.len(), 1, "{}\n{}", ran.out, ran.err);
    let reason = failed[0]["reason"].as_str().expect("a reason");
    (reason.replace("; what it said is shown when the round closes", ""), ran)
}

#[test]
fn a_program_gets_its_prompt_an_empty_folder_and_nothing_else() {
    let table = ROUND.replace("[qa-lead]", "[qa-lead, skeptic, technical-lead]");
    let desk = with_claude(Desk::with(&table), CLAUDE);
    let desk = desk.configured("providers: {claude-cli: {env: [NAMED], arguments: [-x]}}\n");
    let desk = desk.set("ANTHROPIC_API_KEY", "sk-ant").set("NAMED", "yes").set("LC_TIME", "C");
    let lines = desk.saves(&["--json", "--model", "claude-cli/claude-opus-5"]).code(0).lines();
    let hash = named(&lines, "round_opened")[0]["snapshot_sha256"].clone();
    for prompt in seen(&desk, "stdin") {
        let at = prompt.rfind("  your_role: ").expect("an address");
        assert_eq!(sha256(&prompt[..at]), hash, "{prompt}");
    }
    let rules = seen(&desk, "rules");
    assert!(rules.len() == 3 && rules.iter().all(|text| *text == rules[0] && text.contains("unseen")));
    assert!(seen(&desk, "words")[0].ends_with("-x\n--model\nclaude-opus-5\n"));
    assert_eq!(seen(&desk, "files"), ["", "", ""]);
    let environment = &seen(&desk, "env")[0];
    let mut names: Vec<&str> = environment.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    names.retain(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name));
    names.sort_unstable();
    let own = "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC";
    assert_eq!(names, [own, "HOME", "LC_TIME", "NAMED", "PATH", "TERM"], "{environment}");
    let revealed = named(&lines, "answer_revealed");
    assert!(revealed.iter().all(|answer| answer["ballot"]["choice"] == "red"), "{revealed:?}");
    assert_eq!(revealed[0]["tokens"]["input"], 1500);
    // The cost follows from the listed price of the model.
    desk.run(["report", "s.s2s"]).code(0).shows("claude-cli/claude-opus-5").shows("· Cost: $0.0307");
}

#[test]
fn a_program_has_no_terminal_to_ask_at_or_to_change() {
    let desk = with_claude(Desk::with(ROUND), CLAUDE);
    let run = ["--batch", "decide.yaml", "--save", "s.s2s", "--model", "claude-cli/"];
    let mut screen = Screen::open(&desk, (120, 40), &run);
    screen.wait_for(&["last hash"]);
    screen.end();
    assert_eq!(seen(&desk, "terminal"), [""], "it had no terminal");
    assert!(!seen(&desk, "words")[0].contains("--model"), "it takes its default model");
}

#[test]
fn ignored_settings_of_the_users_program_are_named() {
    let refused = r#"printf '{"is_error":true,"result":"Not logged in"}'; exit 1"#;
    let desk = with_claude(Desk::with(ROUND), refused).set("ANTHROPIC_API_KEY", "sk-ant");
    desk.write("../home/.claude/settings.json", r#"{"env":{"ANTHROPIC_BASE_URL":"https://gate"}}"#);
    let run = ["--batch", "decide.yaml", "--model", "claude-cli/m"];
    let told = "a seat leaves ANTHROPIC_BASE_URL of ~/.claude/settings.json aside";
    let ran = desk.run(run).code(5);
    let err = &ran.tells(told).err;
    has(err, &["ended with exit status: 1", "env: [ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL]}`"]);
    assert!(!err.contains("is not logged in"), "{err}");
    let passed = "providers: {claude-cli: {env: [ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL]}}\n";
    desk.write("../home/config/config.yaml", passed);
    assert!(!desk.run(run).code(5).err.contains("aside"));
    let desk = with_program(desk, "codex", "echo codex-cli 1");
    desk.write("../home/.codex/config.toml", "model_provider = \"corp\"\n");
    desk.write("decide.yaml", ROUND.replace("qa-lead", "codex-cli/m"));
    let told = "leaves model_provider of ~/.codex/config.toml aside";
    desk.run(["--batch", "decide.yaml"]).code(2).tells(told);
    desk.run(["check", "decide.yaml"]).code(0).says(told);
}

#[test]
fn every_way_a_program_fails_has_its_reason() {
    let answer = r#"printf '{"is_error":false,"result":"vote: red"}'"#;
    let refused = r#"printf '{"is_error":true,"result":"Invalid API key · Please run /login"}'; exit 1"#;
    let cases = [
        (refused, "`claude` is not logged in; run it once by itself and log in"),
        (
            "read line < /dev/tty || { echo 'no terminal' >&2; exit 7; }",
            "`claude` ended with exit status: 7; try it by itself",
        ),
        ("sleep 321 & sleep 321", "timed out after 2000 ms"),
        ("cat > /dev/null; yes | head -c 100000000", "`claude` printed more than 16777216 bytes"),
        ("cat > /dev/null", "`claude` gives no answer: it printed nothing"),
        ("echo '{\"result\": \"cut o'", "`claude` gives no answer: it printed no JSON"),
        ("echo '{\"is_error\": false}'", "`claude` gives no answer: what it printed has no `result`"),
        ("printf '\\377'", "`claude` printed what is no UTF-8 text"),
        ("kill -9 $$", "`claude` ended with signal: 9 (SIGKILL)"),
    ];
    for (script, reason) in cases {
        let begun = Instant::now();
        let (found, ran) = failure(script);
        assert_eq!(found, reason, "{}", ran.err);
        assert!(begun.elapsed().as_secs() < 30, "{script}");
    }
    // An answer of a program that fails is invalid; lines around an answer are allowed.
    let (found, _) = failure(&format!("{answer}; exit 3"));
    assert!(found.starts_with("`claude` ended with exit status: 3"), "{found}");
}

#[test]
fn a_program_that_is_not_there_is_an_error_before_the_round() {
    let desk = Desk::with(&ROUND.replace("[qa-lead]", "[{persona: qa-lead, model: gemini-cli/m}]"));
    for run in [&["check", "decide.yaml"][..], &["--batch", "decide.yaml"]] {
        desk.run(run).code(2).says("`gemini` is not on PATH");
    }
    assert!(desk.sessions().is_empty());
    desk.run(["doctor", "gemini-cli"]).code(5).shows("`gemini` is not on PATH");
    // A program inside the project is not run by its name.
    let desk = with_claude(Desk::with(ROUND), CLAUDE);
    let inside = desk.path("bin");
    fs::rename(desk.path("../bin"), &inside).expect("moved");
    let desk = desk.set("PATH", &format!("{}:/usr/bin:/bin", inside.display()));
    desk.run(["--batch", "decide.yaml", "--model", "claude-cli/"]).code(2).tells("`claude` is not on PATH");
    assert!(!desk.home().join("seen").exists());
    // Only known programs have a default model.
    let ran = desk.run(["--batch", "decide.yaml", "--model", "openai/"]).code(2);
    ran.tells("name its model; only programs such as");
}

#[test]
fn a_program_of_the_configuration_is_one_of_the_same_kind() {
    let script = "case $1 in --version) echo mine 1;; esac\ncat > \"$HOME/stdin\"\n\
                  printf 'working\\n{\"result\": \"vote: blue\", \"usage\": {\"in\": 7}, \"usd\": 0.5, \"by\": \"%s\"}' \"$*\" | tee \"$HOME/out\"";
    let desk = with_program(Desk::with(ROUND), "mine", script).set("MINE_KEY", "k");
    let said = "providers:\n  mine: {command: [mine, \"{model}\"], prompt: stdin, reply: result, \
                tokens_in: usage.in, cost: usd, env: [MINE_KEY], version: [mine, --version], tool_less: true}\n";
    desk.write("../home/config/config.yaml", said);
    let lines = desk.saves(&["--json", "--model", "mine/a/b"]).code(0).lines();
    let revealed = &named(&lines, "answer_revealed")[0];
    assert_eq!((&revealed["ballot"]["choice"], &revealed["tokens"]["input"]), (&"blue".into(), &7.into()));
    let home = |name: &str| fs::read_to_string(desk.home().join(name)).expect("a file");
    // Without a listed price, the cost is the one that the program reports.
    desk.run(["report", "s.s2s"]).code(0).shows("· Cost: $0.5000");
    // The answer counts although the program keeps running.
    let answers = "[ $1 ] && echo 9 || (echo '{\"result\": \"vote: blue\"}'; sleep 321)";
    let staying = with_program(Desk::with(ROUND), "mine", answers)
        .configured("providers: {mine: {command: [mine], reply: result, tool_less: true}}\n");
    staying.run(["--batch", "decide.yaml", "--model", "mine/m"]).code(0);
    assert!(home("out").contains("\"by\": \"a/b\""));
    assert!(home("stdin").starts_with("You are one of several"), "the instructions come with the prompt");
    assert!(desk.run(["doctor", "mine"]).code(0).out.contains("found: mine 1"));
    // A project's program needs consent; its settings for a known program are ignored.
    let desk = with_program(Desk::with(ROUND), "mine", script);
    desk.write(".s2s/config.yaml", format!("{said}  claude-cli: {{env: [SECRET]}}\n"));
    let ran = desk.run(["--batch", "decide.yaml", "--model", "mine/m"]).code(2);
    ran.tells("it runs [\"mine\", \"{model}\"] with PATH");
    ran.tells("`claude-cli` is changed in your own configuration alone: ignored");
    assert!(!desk.home().join("stdin").exists());
    desk.run(["--batch", "decide.yaml", "--model", "mine/m", "--trust"]).code(0);
    for (said, problem) in [
        ("command: [x], reply: \"$.result\"", "a path begins with a name"),
        ("reply: x", "has keys of a program and no `command`"),
        ("command: [prog], arguments: [x]", "write them into its `command`"),
        ("command: [x], allow_tools: [bash]", "`bash` cannot be allowed in a blind round"),
    ] {
        desk.write("../home/config/config.yaml", format!("providers: {{p: {{{said}}}}}\n"));
        assert!(desk.run(["doctor"]).code(2).err.contains(problem), "{said}");
    }
}

/// Answers like Claude Code after changing a file, and cannot be measured.
const CODER: &str = r#"
case "$1" in --version) echo 9.9.9; exit;; esac
[ -n "$ANTHROPIC_BASE_URL" ] && exit 9
echo run >> "$HOME/runs"; cat > "$HOME/stdin"; echo made > made.txt
case "$*" in
    *slow*) echo under way; sleep 321;;
    *logged-out*) echo '{"is_error":true,"result":"Not logged in \u00b7 Please run /login"}'; echo why >&2; exit 1;;
esac
printf '{"is_error":false,"result":"{\\"pwd\\": \\"%s\\", \\"words\\": \\"%s\\"}","total_cost_usd":0.25}' "$PWD" "$*"
"#;

fn workflow(model: &str, more: &str) -> String {
    format!(
        "goal: g\nparticipants: [{{name: coder, model: {model}, tools: allowed{more}}}, {{persona: qa-lead}}]\nsteps:\n  \
         - {{id: code, type: agent, agent: coder, prompt: Write it., timeout: 3s}}\n"
    )
}

#[test]
fn an_agent_uses_its_tools_in_the_project_once_that_is_agreed_to() {
    let desk = with_program(Desk::with(&workflow("claude-cli/m", "")), "claude", CODER);
    let flags = "-p --setting-sources user --permission-mode acceptEdits --no-session-persistence \
                 --strict-mcp-config --output-format json --model m";
    let words = flags.split(' ').map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
    let folder = desk.path("").canonicalize().expect("a folder").display().to_string();
    let told = format!("it runs [\"claude\", {words}] in `{folder}` with PATH");
    let refused = desk.run(["--batch", "--json", "decide.yaml"]).code(2).err;
    assert!(refused.contains(&told) && refused.contains("--trust"), "{refused}");
    let variables =
        "with PATH, HOME, USER, LANG, TMPDIR, LC_*, TERM=dumb, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1";
    assert!(refused.contains(variables), "{refused}");
    let checked = desk.run(["check", "decide.yaml"]).code(0).out;
    assert!(checked.contains(&told) && !checked.contains("opening the round measures"), "{checked}");
    assert!(!desk.home().join("runs").exists());
    let ran = desk.saves(&["--json", "--trust"]).code(0);
    let lines = ran.lines();
    let data = &named(&lines, "work_item_returned")[0]["data"];
    assert_eq!((&data["pwd"], &data["words"]), (&folder.into(), &flags.into()));
    assert_eq!(desk.read("made.txt"), "made\n");
    has(&desk.read("../home/stdin"), &["Write it."]);
    ran.tells("$0.25");
    // Another model in this seat has no tools and needs no consent.
    desk.run(["--batch", "decide.yaml", "--model", "coder=rehearsal"]).code(0);
}

#[test]
fn an_agent_step_names_a_program_without_a_participant() {
    let step = |id: &str, tools: &str| {
        format!("  - {{id: {id}, type: agent, agent: claude-cli/m, prompt: Write it.{tools}}}\n")
    };
    let allowed = step("code", ", tools: allowed");
    let desk = with_program(Desk::with(&format!("goal: g\nsteps:\n{allowed}")), "claude", CODER);
    desk.run(["--batch", "decide.yaml"]).code(2).tells("\"acceptEdits\"").tells("--trust");
    assert!(!desk.home().join("runs").exists());
    let ran = desk.saves(&["--json", "--trust"]).code(0);
    let pwd = ran.lines().iter().find_map(|line| Some(line["data"]["pwd"].as_str()?.to_owned()));
    assert_eq!(pwd, Some(desk.path("").canonicalize().expect("a folder").display().to_string()));
    desk.run(["--batch", "decide.yaml", "--model", "claude-cli/m=rehearsal"]).code(0);
    // Without `tools` it has no tools and an empty folder, and needs no consent.
    let desk = with_claude(Desk::with(&format!("goal: g\nsteps:\n{}", step("code", ""))), CLAUDE);
    desk.run(["--batch", "decide.yaml"]).code(0);
    assert!(seen(&desk, "words")[0].contains("--tools") && seen(&desk, "files") == [""]);
    for (steps, problem) in [
        (allowed.clone() + &step("more", ""), "has `tools: allowed` in one step and not in another"),
        (allowed.replace("claude-cli/m", "openai/m"), "`openai/m` has no tools that could be allowed"),
        (allowed.replace("claude-cli/m", "qa-lead"), "needs a model as its `agent`"),
        (step("code", "").replace("claude-cli/m", "claud-cli/m"), "did you mean `claude-cli`?"),
    ] {
        desk.write("decide.yaml", format!("goal: g\nsteps:\n{steps}"));
        desk.run(["check", "decide.yaml"]).code(2).says(problem);
    }
}

#[test]
fn an_agent_with_tools_fails_with_what_it_printed_and_takes_no_blind_seat() {
    let failed = |model: &str| {
        let desk = with_program(Desk::with(&workflow(model, "")), "claude", CODER);
        let ran = desk.run(["--batch", "--json", "decide.yaml", "--trust"]).code(3);
        named(&ran.lines(), "work_item_returned")[0].clone()
    };
    let (slow, late) = (failed("claude-cli/slow"), "Step 'code' timed out after 3000ms");
    assert_eq!((&slow["error"], &slow["stdout"]), (&late.into(), &"under way\n".into()));
    let out = failed("claude-cli/logged-out");
    let error =
        "`claude` is not logged in: Not logged in \u{b7} Please run /login; run it once by itself and log in";
    assert_eq!((&out["error"], &out["stderr"]), (&error.into(), &"why\n".into()));
    let in_round = workflow("claude-cli/m", "") + "  - {id: vote, type: round, question: Which?}\n";
    for (definition, problem) in [
        (in_round, "`coder` may use tools and cannot take a seat in a blind round"),
        (workflow("openai/m", ""), "`openai/m` has no tools that could be allowed"),
        (workflow("claude-cli/m", ", command: [cat]"), "`tools` has no effect on a `command`"),
    ] {
        let desk = with_program(Desk::with(&definition), "claude", CODER);
        for run in [&["check", "decide.yaml"][..], &["--batch", "decide.yaml", "--trust"]] {
            desk.run(run).code(2).says(problem);
        }
        assert!(!desk.home().join("runs").exists());
    }
}
