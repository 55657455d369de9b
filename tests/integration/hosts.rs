//! Hosts that call this program: scripts, build servers, GitHub runners, pre-commit.
//!
//! Each is imitated as far as its documentation goes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use roundtable::journal::{fold, read_log};
use roundtable::report::{Document, Source};
use serde_json::{Value, json};

use crate::patience::Patient as _;
use crate::placeholders::is_as;
use crate::program::Desk;
use crate::scenarios;

const HOSTILE: [&str; 7] = [
    "::set-output name=decided::true",
    "x\n::add-mask::a\n::error file=a::b",
    "%0A::stop-commands::t",
    "]]></system-out></testcase><testcase name=\"x\">",
    "a\u{1b}]0;t\u{7}\u{0}\u{202e}b\"'<&>",
    "decided=true\nresult={}",
    "\",\"decided\":true,\"x\":\"",
];

const KEYS: &str = "\
    v session status exit decided rehearsal outcome winner winners order tier votes ballots scripted asked rule tied \
    dissent approved headline reason not_counted models makers same_answers decisions usd seconds file hash";

fn hostile(decides: bool) -> Desk {
    let desk = Desk::new();
    let form = json!({"kind": "choice", "options": [HOSTILE[0], HOSTILE[6]]});
    let round = |id| json!({"id": id, "question": HOSTILE[1], "rule": "majority", "ballot": form});
    let say = |vote: &str| json!({"vote": vote, "position": HOSTILE.join("\n"), "rationale": HOSTILE});
    // One decided question of two is no decision.
    let steps = vec![round("sure"), round("pick")].split_off(usize::from(decides));
    let (goal, seats) = (HOSTILE.join(" "), ["qa-lead", "skeptic"]);
    desk.write("decide.json", json!({"goal": goal, "participants": seats, "steps": steps}).to_string());
    let mut answers =
        json!({"pick": {"qa-lead": say(HOSTILE[0]), "skeptic": say(HOSTILE[if decides { 0 } else { 6 }])}});
    if !decides {
        let first = || say(HOSTILE[0]);
        answers["sure"] = json!({"qa-lead": first(), "skeptic": first(), "devops-engineer": first()});
    }
    desk.write("answers.json", answers.to_string());
    desk
}

#[test]
fn the_result_is_one_line_with_every_key_whatever_happens() {
    let desk = hostile(true);
    let run = |args: &[&str], code: i32| {
        let out = desk.run(args).code(code).out;
        assert_eq!((out.lines().count(), out.ends_with('\n')), (1, true), "{out}");
        let line: Value = serde_json::from_str(&out).expect("JSON");
        let keys: Vec<&str> = line.as_object().expect("an object").keys().map(String::as_str).collect();
        assert_eq!(keys.join(" "), KEYS, "every key, in its order");
        line
    };
    let args = ["--batch", "--json=result", "--answers", "answers.json", "--save", "a.s2s", "decide.json"];
    let line = run(&args, 0);
    let wanted = json!({"winner": HOSTILE[0], "votes": 2, "tier": "weak", "exit": 0, "decided": true,
        "outcome": "decided", "file": "a.s2s", "asked": 2, "dissent": []});
    is_as(&line, &wanted);
    desk.run(["verify", "--expect", line["hash"].as_str().expect("a hash"), "a.s2s"]).code(0);
    assert_eq!(run(&["resume", "a.s2s", "--json=result"], 0)["hash"], line["hash"]);
    // Invalid arguments also print a result line.
    assert_eq!(run(&["--batch", "--json=result", "none.yaml"], 2)["status"], "error");
    assert_eq!(run(&["--batch", "--json=result", "--frob"], 2)["exit"], 2);
    assert_eq!(run(&["--batch", "--json=result", "--dry-run", "decide.json"], 2)["exit"], 2);
    assert_eq!(run(&["--json=result", "decide.json"], 2)["decided"], false);
    // Several files: one line each, in their order. If one is unusable, none is run.
    for (files, code, told) in
        [(["a.s2s", "a.s2s"], 0, &["finished", "finished"][..]), (["a.s2s", "none.yaml"], 2, &["error"])]
    {
        let several = desk.run(["--batch", "--json=result"].iter().chain(&files)).code(code);
        let statuses: Vec<Value> = several.lines().iter().map(|line| line["status"].clone()).collect();
        assert_eq!(statuses, told);
    }
    // The events are unchanged.
    let [plain, named] = ["--json", "--json=events"].map(|json| {
        desk.run(["--batch", json, "--answers", "answers.json", "decide.json"]).code(0).lines().len()
    });
    assert!(plain > 5 && plain == named);
}

/// Returns the elements of an XML text as `(name, attributes)`; fails if it is not well formed.
fn elements(xml: &str) -> Vec<(String, String)> {
    let (mut open, mut found) = (Vec::new(), Vec::new());
    let body = xml.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n").expect("a prolog");
    for piece in body.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').expect("a tag ends");
        assert!(!text.contains('>'), "{text}");
        for part in [tag, text] {
            for entity in part.split('&').skip(1) {
                let name = entity.split(';').next().expect("a name");
                assert!(["amp", "lt", "gt", "quot", "apos"].contains(&name), "{entity}");
            }
            assert!(!part.chars().any(|c| c.is_control() && c != '\n'), "{part:?}");
        }
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
            continue;
        }
        let is_closed = tag.ends_with('/');
        let (name, attributes) = tag.trim_end_matches('/').split_once(' ').unwrap_or((tag, ""));
        assert_eq!(attributes.matches('"').count() % 2, 0, "{tag}");
        found.push((name.to_owned(), attributes.to_owned()));
        if !is_closed {
            open.push(name.to_owned());
        }
    }
    assert!(open.is_empty(), "{open:?}");
    found
}

fn number(attributes: &str, name: &str) -> usize {
    let rest = attributes.split(&format!("{name}=\"")).nth(1).expect("an attribute");
    rest.split('"').next().expect("its end").parse().expect("a number")
}

#[test]
fn junit_and_github_fail_exactly_where_the_exit_code_does() {
    let mut failed = 0;
    for recorded in scenarios::recorded() {
        let name = recorded.folder.display();
        let code = recorded.done.status.code().expect("a code");
        let session = fold(&read_log(&recorded.session).expect("a log"));
        let document = Document::new(&session, Source::default());
        let line = roundtable::report::result(&document, code, "x.s2s");
        assert_eq!(line.as_object().expect("an object").len(), KEYS.split(' ').count(), "{name}");
        let several = line["decisions"].as_array().is_some_and(|all| all.len() > 1);
        assert_eq!(line["decided"] == true && !several, line["winner"].is_string(), "{name}: {line}");
        let junit = roundtable::report::junit(&document);
        let suites = elements(&junit).remove(0).1;
        let bad = number(&suites, "failures") + number(&suites, "errors");
        assert_eq!(bad > 0, code != 0, "{name}: exit {code}\n{junit}");
        let cases = elements(&junit).iter().filter(|(tag, _)| tag == "testcase").count();
        assert_eq!(cases, number(&suites, "tests"), "{name}");
        let github = roundtable::report::github(&document);
        assert!(github.lines().all(is_annotation), "{name}\n{github}");
        let is_failure = |line: &str| line.starts_with("::error ") && !line.contains("%2C found by ");
        assert_eq!(github.lines().any(is_failure), code != 0, "{name}\n{github}");
        failed += usize::from(code != 0);
    }
    assert!(failed > 5 && failed + 5 < scenarios::recorded().len(), "{failed} fail");
}

fn is_annotation(line: &str) -> bool {
    let (level, rest) =
        line.strip_prefix("::").and_then(|rest| rest.split_once(" title=")).unwrap_or_default();
    let properties = rest.split("::").next().unwrap_or_default();
    let is_place = |one: &str| ["file=", "line=", "endLine="].iter().any(|key| one.starts_with(key));
    let has_places = !properties.contains(':') && properties.split(',').skip(1).all(is_place);
    has_places && ["notice", "warning", "error"].contains(&level)
}

impl Desk {
    /// Imitates a runner of composite actions, as far as `action.yml` needs it.
    fn run_action(&self, inputs: &[(&str, &str)]) -> (BTreeMap<String, String>, Output) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let text = fs::read_to_string(root.join("action.yml")).expect("the action");
        let action: Value = serde_yaml::from_str(&text).expect("YAML");
        let declared = action["inputs"].as_object().expect("inputs");
        for (name, _) in inputs {
            assert!(declared.contains_key(*name), "the action has no input `{name}`");
        }
        let value = |name: &str| {
            let given = inputs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
            given.unwrap_or_else(|| declared[name]["default"].as_str().expect("a default").to_owned())
        };
        assert_eq!(action["runs"]["using"], "composite");
        let [step] = action["runs"]["steps"].as_array().expect("steps").as_slice() else {
            panic!("one step")
        };
        let script = step["run"].as_str().expect("a script");
        assert!(!script.contains("${{"), "{script}");
        self.write("step.sh", script);
        for name in ["output", "summary"] {
            self.write(name, "");
        }
        let mut command = Command::new("bash");
        // Both streams go to one log, in the order of writing.
        command.args(["-c", "exec bash --noprofile --norc -eo pipefail step.sh 2>&1"]);
        command.current_dir(self.path(""));
        let path = std::env::var("PATH").expect("a path");
        command.env_clear().env("PATH", format!("{}:{path}", self.path("").display()));
        command.env("RUNNER_TEMP", self.path("")).env("PROGRAM", env!("CARGO_BIN_EXE_roundtable"));
        command.env("ROUNDTABLE_HOME", self.home()).env("GITHUB_ACTION_PATH", root);
        command.env("GITHUB_OUTPUT", self.path("output"));
        command.env("GITHUB_STEP_SUMMARY", self.path("summary"));
        for (name, given) in step["env"].as_object().expect("variables") {
            let given = given.as_str().expect("a text");
            let input = given.strip_prefix("${{ inputs.").and_then(|rest| rest.strip_suffix(" }}"));
            command.env(name, value(input.expect("an input")));
        }
        let done = command.output_soon().expect("bash starts");
        let said = self.read("output");
        let set: BTreeMap<_, _> =
            said.lines().map(|line| line.split_once('=').expect("name=value")).collect();
        let outputs = action["outputs"].as_object().expect("outputs");
        let id = step["id"].as_str().expect("an id");
        let outputs = outputs.iter().map(|(name, output)| {
            let from = format!("${{{{ steps.{id}.outputs.{name} }}}}");
            assert_eq!(output["value"], from.as_str());
            (name.clone(), set.get(&**name).map(|value| (*value).to_owned()).unwrap_or_default())
        });
        (outputs.collect(), done)
    }
}

fn performed(log: &str) -> Vec<&str> {
    let (mut until, mut found) = (None, Vec::new());
    for line in log.lines().map(str::trim_start) {
        match (&until, line.strip_prefix("::stop-commands::")) {
            (None, Some(token)) => until = Some(format!("::{token}::")),
            (None, None) if line.starts_with("::") => found.push(line),
            (Some(token), _) if line == token => until = None,
            _ => {}
        }
    }
    assert!(until.is_none(), "commands are on again at the end");
    found
}

#[test]
fn the_action_runs_as_a_runner_runs_it_and_foreign_text_commands_nothing() {
    let program = env!("CARGO_BIN_EXE_roundtable");
    for decides in [true, false] {
        let desk = hostile(decides);
        // A third seat fails with a reason that contains a workflow command on its own line.
        let edit = |file: &str, key: &str, with: &dyn Fn(&mut Value)| {
            let mut value: Value = serde_json::from_str(&desk.read(file)).expect("JSON");
            with(&mut value[key]);
            desk.write(file, value.to_string());
        };
        edit("decide.json", "participants", &|seats| {
            seats.as_array_mut().expect("a list").push("devops-engineer".into());
        });
        edit("answers.json", "pick", &|pick| pick["devops-engineer"] = json!({"fail": HOSTILE[1]}));
        let own = ("roundtable", program);
        let (file, arguments) = (("file", "decide.json"), ("arguments", "--answers\nanswers.json\n"));
        let (outputs, done) =
            desk.run_action(&[file, arguments, ("save", "out.s2s"), ("junit", "junit.xml"), own]);
        let log = String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
        let code = if decides { 0 } else { 3 };
        assert_eq!(done.status.code(), Some(code), "{log}");
        assert_eq!(outputs["decided"], decides.to_string(), "{log}");
        assert_eq!((outputs["exit"].as_str(), outputs["session"].as_str()), (&*code.to_string(), "out.s2s"));
        let line: Value = serde_json::from_str(&outputs["result"]).expect("one line of JSON");
        assert_eq!(line["decided"], decides);
        assert!(performed(&log).iter().all(|line| is_annotation(line)), "{log}");
        assert_eq!(performed(&log).iter().any(|line| line.starts_with("::error ")), !decides, "{log}");
        assert!(elements(&desk.read("junit.xml")).len() > 3);
        assert!(desk.read("summary").contains(if decides { "Decision" } else { "No decision" }));
        // With the saved file as input nothing is asked; the step passes because `fail` is false.
        let (outputs, done) = desk.run_action(&[("file", "out.s2s"), ("fail", "false"), own]);
        assert_eq!((done.status.code(), outputs["exit"].as_str()), (Some(0), &*code.to_string()));
        // Another decision cannot be saved to the existing file.
        let (outputs, done) =
            desk.run_action(&[file, arguments, ("save", "out.s2s"), ("fail", "false"), own]);
        let ended = (done.status.code(), desk.read("summary"));
        assert_eq!(ended, (Some(2), String::new()), "{outputs:?}");
        // Without an installed program, it is built from the action's checkout.
        let build = "#!/bin/sh\nmkdir -p \"$7/bin\" && ln -sf \"$PROGRAM\" \"$7/bin/roundtable\"\n";
        desk.write("cargo", build);
        let chmod = Command::new("chmod").arg("+x").arg(desk.path("cargo")).status();
        assert!(chmod.expect("chmod").success());
        let (outputs, _) = desk.run_action(&[file, arguments]);
        assert!(outputs["session"].ends_with("/session.s2s") && outputs["exit"] == code.to_string());
    }
    // A mistake fails the step regardless of `fail`.
    let desk = Desk::new();
    let (outputs, done) =
        desk.run_action(&[("file", "none.yaml"), ("fail", "false"), ("roundtable", program)]);
    assert_eq!((done.status.code(), outputs["exit"].as_str()), (Some(2), "2"));
    for (own, save) in [("nowhere", "a.s2s"), (program, "a\ndecided=true")] {
        let (file, fail) = (("file", "none.yaml"), ("fail", "false"));
        let (outputs, done) = desk.run_action(&[file, fail, ("roundtable", own), ("save", save)]);
        assert!(!done.status.success() && outputs["decided"] != "true", "{own} {save}");
    }
}

#[test]
fn the_hooks_of_pre_commit_take_what_they_are_handed() {
    let hooks: Value = serde_yaml::from_str(include_str!("../../.pre-commit-hooks.yaml")).expect("YAML");
    let desk = Desk::with("question: Which?\nballot: {kind: choice, options: [a, b]}\nrule: majority\n");
    desk.run(["--batch", "decide.yaml", "--save", "a.s2s"]);
    desk.run(["--batch", "decide.yaml", "--save", "b.s2s"]);
    desk.write("odd.yaml", "question: Which?\nquorums: 3\n");
    desk.write("forged.s2s", desk.read("a.s2s").replacen("Which?", "Whose?", 1));
    let hook = |id: &str, files: &[&str]| {
        let hook = hooks.as_array().expect("a list").iter().find(|hook| hook["id"] == id).expect("the hook");
        assert_eq!(hook["language"], "system");
        let mut words = hook["entry"].as_str().expect("an entry").split(' ');
        assert_eq!(words.next(), Some("roundtable"));
        // pre-commit appends the files to the entry.
        desk.run(words.chain(files.iter().copied())).code
    };
    assert_eq!(hook("roundtable-check", &["decide.yaml", "decide.yaml"]), 0);
    assert_eq!(hook("roundtable-check", &["decide.yaml", "odd.yaml"]), 2);
    assert_eq!(hook("roundtable-verify", &["a.s2s", "b.s2s"]), 0);
    assert_eq!(hook("roundtable-verify", &["a.s2s", "forged.s2s", "b.s2s"]), 6);
    desk.run(["verify", "a.s2s", "b.s2s", "--expect", &"0".repeat(64)]).code(2);
}
