//! Unwritable output: every command reports it and fails.
//!
//! The exit code is 1. A closed reader is no error, and no partial file is left.

use std::collections::BTreeSet;
use std::process::Stdio;

use crate::program::{Desk, ran};

/// Runs of each command. Commands without a result, or that wait for others, only show their help.
const VERBS: &str = "resume done.s2s; serve --help; mcp --help; inbox --help; worker --help; replay done.s2s --text; \
    verify done.s2s; trace done.s2s; report done.s2s; tally done.s2s --round decide --rule plurality; \
    check odd.yaml; schema; snapshot decide.yaml; personas; strategies; sessions; doctor ollama; \
    completions bash; init --help; --batch decide.yaml; run decide.yaml; \
    ask Which? a b --rehearse";
/// Commands that `--help` does not list.
const HIDDEN: [&str; 2] = ["--batch", "completions"];
const MORE: &str = "--batch decide.yaml --json; --batch decide.yaml --dry-run; replay done.s2s --json; \
    report done.s2s --format json; --help; --version";

fn desk() -> Desk {
    let desk = Desk::with(
        "id: decide\nquestion: Which?\nballot: {kind: choice, options: [alpha, beta]}\nrule: plurality\n",
    );
    desk.write("odd.yaml", "question: Which?\nquorums: 3\n");
    let done = desk.run(["--batch", "decide.yaml", "--save", "done.s2s"]);
    assert!([0, 3].contains(&done.code), "{}", done.err);
    desk.run(["--batch", "decide.yaml"]);
    desk
}

fn rows() -> impl Iterator<Item = Vec<&'static str>> {
    VERBS.split("; ").chain(MORE.split("; ")).map(|row| row.split(' ').collect())
}

pub fn listed(help: &str) -> impl Iterator<Item = &str> {
    let groups = help.lines().take_while(|line| *line != "Arguments:");
    groups.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).filter(|name| !name.is_empty())
}

#[test]
fn the_table_has_every_verb() {
    let help = Desk::new().run(["--help"]).out;
    let listed: BTreeSet<&str> = listed(&help).collect();
    let known: BTreeSet<&str> = VERBS
        .split("; ")
        .filter_map(|row| row.split(' ').next())
        .filter(|verb| !HIDDEN.contains(verb))
        .collect();
    assert_eq!(listed, known, "a new verb needs a row");
}

#[cfg(target_os = "linux")]
#[test]
fn no_verb_loses_its_result_without_a_word() {
    let desk = desk();
    for row in rows() {
        let mut command = desk.command(&row);
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
        let ran = ran(command.stdout(full).stderr(Stdio::piped()).output().expect("runs"));
        assert_eq!(ran.code, 1, "{row:?}: {}", ran.err);
        ran.tells("cannot write standard output (/dev/full): No space left");
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_has_left_is_no_error() {
    let desk = desk();
    for row in rows() {
        let expected = desk.run(&row);
        let (read, write) = std::io::pipe().expect("a pipe");
        drop(read);
        let mut command = desk.command(&row);
        let ran = ran(command.stdout(write).stderr(Stdio::piped()).output().expect("runs"));
        assert_eq!(ran.code, expected.code, "{row:?}: {}", ran.err);
        assert!(!ran.err.contains("standard output"), "{row:?}: {}", ran.err);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_no_file_is_written_to_as_it_is() {
    let desk = desk();
    desk.run(["report", "done.s2s", "-o", "/dev/full"]).code(1).tells("/dev/full: No space left");
    assert!(std::fs::metadata("/dev/full").is_ok_and(|there| !there.is_file()));
    let ran = desk.run(["report", "done.s2s", "-o", "/dev/stdout"]).code(0);
    assert_eq!(ran.out, desk.run(["report", "done.s2s"]).out);
}
