//! Commands of the documents and the help, run as printed.
//!
//! Services answer from this machine. Output shown in a document must be in the real output.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Output;

use roundtable::workflow::{Source, load};

use crate::no_persona::{any_service, three_services};
use crate::patience::Patient as _;
use crate::program::Desk;
use crate::server::Server;
use crate::tidy::pages;

/// Prefixes of commands that are not run, and the reasons.
const NOT_RUN: [(&str, &str); 13] = [
    ("roundtable serve ", "goes on until somebody votes; see serve.rs"),
    ("roundtable inbox ", "needs a session that is served; see inbox.rs"),
    ("export ROUNDTABLE_URL=", "needs a session that is served; see inbox.rs"),
    ("roundtable worker ", "needs a server and a feature; see nats_session.rs"),
    ("roundtable mcp", "speaks to a client, and needs a feature; see mcp.rs"),
    ("cargo ", "builds this program again"),
    (".ci/", "runs these tests"),
    ("tests/size.sh", "needs Python; .ci/run does it"),
    ("UPDATE_", "changes this repository"),
    ("python3 -m venv ", "fetches packages; .ci/run does it"),
    ("venv/bin/", "needs the packages; .ci/run does it"),
    ("roundtable --batch cache.yaml --model claude-cli/", "needs the program; see seat_programs.rs"),
    ("roundtable --batch cache.yaml --model qa-lead=codex-cli/", "needs the program; see seat_programs.rs"),
];
/// Commands that open the terminal UI; the tests of the screen cover them.
const ON_SCREEN: [&str; 3] =
    ["roundtable", "roundtable cache.yaml", "roundtable ask \"Which?\" in-process redis"];

const CACHE: &str = "\
goal: \"Choose how the shop caches its price list\"
participants: [qa-lead, skeptic, devops-engineer]
question: \"Which cache first?\"
ballot: {kind: choice, options: [in-process, redis]}
rule: majority
";

fn folder(server: &Server) -> Desk {
    let desk = three_services(CACHE, server);
    desk.write("cache.yaml", CACHE);
    desk.write("review.yaml", CACHE);
    desk.write("answers.yaml", "adopt: {approved: true}\n");
    let ballots = r#"{"options": ["a", "b"], "ballots": [{"count": 3, "ranking": [["a"], ["b"]]}]}"#;
    desk.write("ballots.json", ballots);
    desk.write("src/cache.rs", "// a line\n".repeat(100));
    desk.write("docs/adr/README.md", "Decisions");
    for entry in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/sessions")).expect("examples") {
        let path = entry.expect("an example").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_file() {
            desk.write(&format!("sessions/{name}"), fs::read(&path).expect("readable"));
        }
    }
    let git = "git init -q -b main && git add -A && git -c user.name=a -c user.email=a@b commit -qm one && \
               git checkout -q -b topic && echo two >> src/cache.rs && \
               git -c user.name=a -c user.email=a@b commit -qam two && echo three >> src/cache.rs";
    let done = bash(&desk, git);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    for name in ["session.s2s", "before.s2s", "after.s2s"] {
        desk.run(["--batch", "cache.yaml", "--rehearse", "--save", name]).code(0);
    }
    desk.run(["init"]).code(0);
    desk
}

/// Runs a script in a shell with the program in `PATH`.
fn bash(desk: &Desk, script: &str) -> Output {
    let mut command = desk.shell("exec bash --noprofile --norc -eo pipefail -c \"$1\"", &[script]);
    let folder = Path::new(env!("CARGO_BIN_EXE_roundtable")).parent().expect("a folder");
    let mut path = vec![folder.to_owned()];
    path.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
    command.env("PATH", std::env::join_paths(path).expect("a path")).env("HOME", desk.home());
    command.output_soon().expect("bash starts")
}

#[derive(Debug)]
enum Deed {
    Write { file: String, text: String },
    Run { script: String, exit: i32, shown: Vec<String> },
}

impl Deed {
    /// Returns a command with the exit code of its comment, or 0.
    fn run(script: &str) -> Self {
        let rest = script.split_once("# exit ").map_or("0", |(_, rest)| rest);
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let exit = digits.parse().expect("an exit code");
        Self::Run { script: script.to_owned(), exit, shown: Vec::new() }
    }
}

fn blocks(page: &str) -> Vec<(&str, &str)> {
    let pieces = page.split("\n```").collect::<Vec<_>>();
    pieces.chunks(2).filter_map(|pair| pair.get(1)?.split_once('\n')).collect()
}

fn deeds(page: &str) -> Vec<Deed> {
    let mut found = Vec::new();
    for (language, text) in blocks(page) {
        match language {
            "yaml" => {
                let name = text.lines().next().and_then(|line| line.strip_prefix("# "));
                let is_file = |name: &&str| Path::new(name).extension() == Some("yaml".as_ref());
                if let Some(file) = name.filter(is_file).filter(|name| !name.contains(' ')) {
                    found.push(Deed::Write { file: file.to_owned(), text: format!("{text}\n") });
                }
            }
            "sh" | "bash" if text.contains("<<") => {
                found.push(Deed::run(text));
            }
            "sh" | "bash" => {
                found.extend(text.lines().filter(|line| !line.starts_with('#')).map(Deed::run));
            }
            "console" => {
                for line in text.lines() {
                    match (line.strip_prefix("$ "), found.last_mut()) {
                        (Some(line), _) => found.push(Deed::run(line)),
                        (None, Some(Deed::Run { shown, .. })) => shown.push(line.to_owned()),
                        (None, _) => panic!("output before a command: {line}"),
                    }
                }
            }
            _ => {}
        }
    }
    found
}

/// Checks that the output contains the shown lines in their order; `…` matches anything.
fn is_shown(shown: &[String], output: &str) -> Result<(), String> {
    let mut rest = output;
    let pieces = shown.iter().flat_map(|line| line.split('…')).map(str::trim);
    for piece in pieces.filter(|piece| !piece.is_empty()) {
        let at = rest.find(piece).ok_or_else(|| format!("`{piece}` is not in the output, or not there"))?;
        rest = &rest[at + piece.len()..];
    }
    Ok(())
}

/// Performs the actions of a text; returns the number of commands, and marks the exemptions that were used.
fn perform(name: &str, deeds: Vec<Deed>, desk: &Desk, used: &mut BTreeSet<&'static str>) -> usize {
    let mut ran = 0;
    for deed in deeds {
        let (script, exit, shown) = match deed {
            Deed::Run { script, exit, shown } => (script, exit, shown),
            Deed::Write { file, text } => {
                desk.write(&file, text);
                continue;
            }
        };
        let command = script.split(" #").next().unwrap_or_default().trim();
        if command.is_empty() || ON_SCREEN.contains(&command) {
            continue;
        }
        if let Some((start, _)) = NOT_RUN.iter().find(|(start, _)| command.starts_with(start)) {
            used.insert(start);
            continue;
        }
        // A reader's second run may overwrite files of the first.
        let done = bash(desk, &script);
        let output =
            String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(exit), "{name}: {script}\n{output}");
        if let Err(missing) = is_shown(&shown, &output) {
            panic!("{name}: {script}: {missing}\n{output}");
        }
        ran += 1;
    }
    ran
}

#[test]
fn every_command_of_the_documents_runs_and_shows_what_is_shown() {
    let server = any_service();
    let (mut ran, mut used) = (0, BTreeSet::new());
    for (path, text) in pages() {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let deeds = deeds(&text);
        if deeds.iter().any(|deed| matches!(deed, Deed::Run { .. })) {
            // The tutorial begins with an empty folder.
            let desk = if name == "TUTORIAL.md" { three_services("", &server) } else { folder(&server) };
            ran += perform(&name, deeds, &desk, &mut used);
        }
    }
    assert!(ran > 30, "only {ran} commands ran");
    let idle: Vec<_> = NOT_RUN.iter().filter(|(start, _)| !used.contains(start)).collect();
    assert!(idle.is_empty(), "exemptions nobody needs: {idle:?}");
}

/// Covers only examples that are whole definitions.
#[test]
fn every_definition_in_the_documents_loads_unmodified() {
    let mut found = 0;
    for (path, page) in pages() {
        for (_, text) in blocks(&page).into_iter().filter(|(language, _)| *language == "yaml") {
            if text.lines().any(|line| line.starts_with("question:") || line.starts_with("steps:")) {
                found += 1;
                let loaded = load(Source { text, file: "example", id: "example" });
                assert!(loaded.is_ok(), "{}: {:?}\n{text}", path.display(), loaded.err());
            }
        }
    }
    assert!(found >= 2, "only {found} definitions are in the documents");
}
