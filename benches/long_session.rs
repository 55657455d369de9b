//! Long sessions: file size by event, cost of running and verifying.
//!
//! Five rehearsal seats vote with short texts, with large artifacts and an earlier result, and with one step per
//! round. In a fourth session, a tracker assigns as many tasks. The last column compares the instruction counts
//! with those of half as many rounds, if `valgrind` is installed; times would also grow with cache misses. Run
//! with `cargo bench --bench long_session`, or with `-- 100` for fewer rounds.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const ROSTER: &str = "[software-architect, security-champion, product-manager, qa-lead, technical-lead]";
const LINE: &str = "a sentence of some length, as they stand in what people write down\n";

fn main() {
    let rounds = std::env::args().find_map(|word| word.parse().ok());
    // As a test, checks only that the benchmark works.
    let is_bench = std::env::args().any(|word| word == "--bench");
    let rounds = rounds.unwrap_or(if is_bench { 500_usize } else { 4 });
    let home = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder on disk");
    println!(
        "| {rounds} rounds | file | run | verify | peak of verify | growth |\n|---|---:|---:|---:|---:|---:|"
    );
    let mut tables = String::new();
    let sizes = [rounds / 2, rounds];
    let kinds = [
        ("short texts", sizes.map(short)),
        ("large artifacts", sizes.map(large)),
        ("different steps", sizes.map(different)),
        ("tasks", sizes.map(tasks)),
    ];
    for (name, [half, whole]) in kinds {
        let (.., half_counted, _) = measure(home.path(), &half);
        let (ran, verified, peak, counted, log) = measure(home.path(), &whole);
        let done =
            log.matches("\nevent: round_opened\n").count() + log.matches("\nstepId: implement\n").count();
        assert_eq!(done, rounds, "{name}");
        let grown = counted.zip(half_counted).map(|(whole, half)| [whole[0] / half[0], whole[1] / half[1]]);
        println!(
            "| {name} | {:.1} MB | {ran:.1} s | {verified:.2} s | {:.0} MB | {} |",
            log.len() as f64 / 1e6,
            peak as f64 / 1e3,
            grown.map_or("–".to_owned(), |[running, verifying]| format!("{running:.2}, {verifying:.2}")),
        );
        // With few rounds, the fixed cost of a session dominates.
        assert!(grown.is_none_or(|grown| grown.iter().all(|grown| *grown <= 2.2)), "{name}: {grown:?}");
        tables += &format!("\n{name}:\n\n{}", by_event(&log));
    }
    println!("{tables}");
}

const BATCH: [&str; 5] = ["--batch", "decide.yaml", "--rehearse", "--save", "out.s2s"];
const VERIFY: [&str; 2] = ["verify", "out.s2s"];

/// Runs and verifies a session. Returns both times in seconds, the peak memory of verifying, the instructions of
/// both, and the session.
fn measure(home: &Path, definition: &str) -> (f64, f64, u64, Option<[f64; 2]>, String) {
    std::fs::write(home.join("decide.yaml"), definition).expect("written");
    let (ran, _) = run(home, &BATCH);
    let (verified, peak) = run(home, &VERIFY);
    let verifying = instructions(home, &VERIFY);
    std::fs::remove_file(home.join("out.s2s")).expect("removed");
    let counted = instructions(home, &BATCH).zip(verifying).map(<[f64; 2]>::from);
    let log = std::fs::read_to_string(home.join("out.s2s")).expect("a session");
    std::fs::remove_file(home.join("out.s2s")).expect("removed");
    (ran, verified, peak, counted, log)
}

/// Returns the instruction count of a command, if `valgrind` is installed.
fn instructions(home: &Path, args: &[&str]) -> Option<f64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    command.arg(env!("CARGO_BIN_EXE_roundtable")).args(args).current_dir(home);
    let output = command.env("ROUNDTABLE_HOME", home.join("home")).output().ok()?;
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let count =
        told.lines().find_map(|line| line.split_once("refs:")?.1.trim().replace(',', "").parse().ok());
    Some(count.unwrap_or_else(|| panic!("no count: {told}")))
}

fn short(rounds: usize) -> String {
    format!(
        "goal: Pick one\nparticipants: {ROSTER}\nmax_iterations: {rounds}\nsteps:\n{}",
        round("pick", "pick")
    )
}

/// Returns a definition with one step per round.
fn different(rounds: usize) -> String {
    let steps: String =
        (1..=rounds).map(|n| round(&format!("v{n}"), &format!("v{}", n % rounds + 1))).collect();
    format!("goal: Pick one\nparticipants: {ROSTER}\nmax_iterations: {rounds}\nsteps:\n{steps}")
}

/// Returns a definition in which a tracker assigns `count` tasks and marks each done.
fn tasks(count: usize) -> String {
    let task = |n: usize| {
        format!("  - {{id: APP-{n}, title: T{n}, description: Do thing {n}., test_steps: [try it]}}\n")
    };
    let tasks: String = (1..=count).map(task).collect();
    let done = "{files_changed: [], screenshot_paths: [], test_results: {passed: true}}";
    format!(
        "goal: Work\nmax_iterations: {}\ntasks:\n{tasks}answers: {{implement: {done}}}\nsteps:\n\
         - {{id: status, type: agent, agent: tracker, prompt: Get status and next issue details, next: any-left}}\n\
         - {{id: any-left, type: condition, condition: \"context.status.next_issue !== null\", then: issue}}\n\
         - {{id: issue, type: transform, transform: context.status.next_issue, next: implement}}\n\
         - {{id: implement, type: agent, agent: coder, input: issue, prompt: \"Do {{{{issue.title}}}}.\", next: done}}\n\
         - {{id: done, type: agent, agent: tracker, input: implement, prompt: \"Mark issue {{{{context.issue.issue_id}}}} as Done\", next: status}}\n",
        5 * count + 2
    )
}

/// Returns a definition with three artifacts of 4 KB, a summary of 2 KB, and a step before the rounds.
fn large(rounds: usize) -> String {
    let text = |indent: usize, lines: usize| format!("{:indent$}{LINE}", "").repeat(lines);
    let artifacts = (1..=3)
        .map(|id| {
            let text = text(6, 63);
            format!(
                "  - id: REQ-00{id}\n    relevant: true\n    summary: part {id}\n    description: |\n{text}"
            )
        })
        .collect::<Vec<_>>()
        .concat();
    format!(
        "goal: Pick one\nparticipants: {ROSTER}\nmax_iterations: {}\nproject_summary: |\n{}artifacts:\n{artifacts}\
         steps:\n  - {{id: plan, type: agent, agent: technical-lead, prompt: Make a plan, output: plan, next: pick}}\n{}",
        rounds + 1,
        text(2, 27),
        round("pick", "pick")
    )
}

fn round(id: &str, next: &str) -> String {
    format!(
        "  - {{id: {id}, type: round, question: \"Which?\", ballot: {{kind: choice, options: [alpha, beta]}}, \
         rule: majority, next: {next}, on_error: {next}}}\n"
    )
}

/// Runs the program; returns the time in seconds and the peak memory in kB.
fn run(home: &Path, args: &[&str]) -> (f64, u64) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_roundtable"));
    command.args(args).current_dir(home).env("ROUNDTABLE_HOME", home.join("home"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = Instant::now();
    let mut child = command.spawn().expect("the program");
    let (status, mut peak) = (format!("/proc/{}/status", child.id()), 0);
    let code = loop {
        if let Some(code) = child.try_wait().expect("it can be asked") {
            break code.code();
        }
        let now = std::fs::read_to_string(&status).unwrap_or_default();
        let most = now.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        peak = peak.max(most.and_then(|most| most.parse().ok()).unwrap_or(0));
        std::thread::park_timeout(std::time::Duration::from_millis(2));
    };
    // Rounds that repeat up to the limit end without a decision.
    assert!(matches!(code, Some(0 | 3)), "{args:?}: {code:?}");
    (started.elapsed().as_secs_f64(), peak)
}

/// Returns a table of the file's size by event type.
fn by_event(log: &str) -> String {
    let mut sizes: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for document in log.split_inclusive("\nhash: ") {
        let Some((_, rest)) = document.split_once("\nevent: ") else { continue };
        let (count, bytes) = sizes.entry(rest.lines().next().unwrap_or_default()).or_default();
        (*count, *bytes) = (*count + 1, *bytes + document.len());
    }
    let mut sizes: Vec<_> = sizes.into_iter().collect();
    sizes.sort_by_key(|(_, (_, bytes))| std::cmp::Reverse(*bytes));
    let row = |(event, (count, bytes)): &(&str, (usize, usize))| {
        format!("| {event} | {count} | {:.2} MB | {} |\n", *bytes as f64 / 1e6, bytes / count)
    };
    let rows: String = sizes.iter().map(row).collect();
    format!("| event | count | in all | bytes each |\n|---|---:|---:|---:|\n{rows}")
}
