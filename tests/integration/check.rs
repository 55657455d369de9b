//! `check`: everything wrong in a file at once, as lines that editors read.

use crate::program::Desk;

const BAD: &str = "goal: g
stpes: 1
steps:
  - {id: a, type: round, question: q, next: b}
  - {id: c, type: approval, message: m}
";

#[test]
fn tells_all_errors_and_warnings_of_each_file() {
    let desk = Desk::modelled("");
    desk.write("bad.yaml", BAD);
    desk.write("good.yaml", "question: Which?\n");
    let ran = desk.run(["check", "bad.yaml", "good.yaml", "none.yaml"]).code(2);
    for line in [
        "bad.yaml:2:1: error: unknown key `stpes` in the definition",
        "  hint: did you mean `steps`?",
        "bad.yaml:4:5: error: `next` of step `a` names no step: `b`",
        "bad.yaml:5:5: warning: unreachable step `c`",
        "none.yaml: error: ",
    ] {
        assert!(ran.out.lines().any(|found| found.starts_with(line)), "{line}\n{}", ran.out);
    }
    assert!(!ran.out.contains("good.yaml"), "{}", ran.out);
    ran.tells("3 definitions checked: ");
    assert!(desk.sessions().is_empty());
}

/// Names, types, graph, templates, quorum, personas, models, tasks and secrets in one run, each once.
#[test]
fn errors_of_every_kind_are_found_in_one_run() {
    let desk = Desk::with(
        "stpes: 1
participants: [nobody, {persona: qa-lead, model: opnai/gpt-x}, {name: A B}, {persona: skeptic, token: t}]
tracker: {file: none.yaml}
steps:
  - {id: a, type: round, question: q, next: b, quorum: 9, ballot: choice}
  - {id: c, type: agent, agent: ghost, prompt: \"{{#if x}}\", max_runs: lots}
  - {id: d, type: agent, agent: skeptic, prompt: p, requires: [input.ticket.title, issue.title]}
  - {id: e, type: condition, condition: \"context.a.tally.winner === 'x'\", then: a}
  - {type: review, of: c, criteria: [risk], reviewers: [skeptc]}
input: {ticket: {title: T}}
",
    );
    let ran = desk.run(["check", "decide.yaml"]).code(2);
    let found: Vec<&str> = ran.out.lines().filter(|line| !line.starts_with("  hint: ")).collect();
    let errors = [
        "1:1: error: unknown key `stpes`",
        "2:16: error: no persona `nobody`",
        "2:24: error: unknown provider `opnai`",
        "2:64: error: `A B` is not a participant's name",
        "2:96: error: secret in file: `token`",
        "3:10: error: there is no file",
        "5:5: error: `next` of step `a` names no step: `b`",
        "5:5: error: round `a` can never reach its quorum: 4 seats",
        "5:67: error: a `choice` ballot needs at least two options",
        "6:48: error: `prompt` cannot be read",
        "6:71: error: `max_runs` of an agent step must be a whole number",
        "7:5: error: step `d`: the work item lacks `issue.title`",
        "8:5: error: `condition` of step `e` reads `context.a.tally.winner`",
        "9:5: error: a review step has no `id`",
    ];
    let are_errors = found.iter().filter(|line| line.contains(" error: "));
    for (line, wanted) in are_errors.clone().zip(errors) {
        assert!(line.starts_with(&format!("decide.yaml:{wanted}")), "{wanted}\n{}", ran.out);
    }
    assert_eq!(are_errors.count(), errors.len(), "{}", ran.out);
    ran.shows("9:5: warning: unknown agent `skeptc`");
    assert!(!ran.out.contains("ghost"), "its step brings a prompt: {}", ran.out);
}

#[test]
fn a_good_file_says_nothing_and_a_doubt_is_a_line() {
    let steps = "steps:\n  - {id: a, question: q, on_error: a}\n  - {id: c, type: approval, message: m}\n";
    let desk = Desk::modelled(steps);
    let found = desk.run(["check", "decide.yaml"]).code(0).out;
    assert!(found.starts_with("decide.yaml:3:") && found.matches("warning: ").count() == 1, "{found}");
    assert_eq!(desk.pipe(["check", "-"], "question: Which?\n").code(0).out, "");
}

#[test]
fn schema_prints_the_file_beside_the_documents() {
    let printed = Desk::new().run(["schema"]).code(0).out;
    assert_eq!(printed, include_str!("../../docs/definition.schema.json"));
}

fn checked(seats: &str, keys: &str) -> String {
    let text = format!("participants: {seats}\nsteps:\n  - {{id: pick, type: round, question: q, {keys}}}\n");
    Desk::modelled(&text).run(["check", "decide.yaml"]).out
}

const CHOICE: &str = "ballot: {kind: choice, options: [a, b]}";
const ALIKE: &str = "[{name: ann, persona: skeptic, model: ollama/one}, {name: bob, persona: skeptic, model: openrouter/one}]";

#[test]
fn a_strength_that_cannot_be_reached_is_told() {
    let asks = |tier: &str| format!("{CHOICE}, rule: majority, act_at: {tier}");
    for tier in ["strong", "unanimous"] {
        let told = checked(ALIKE, &asks(tier));
        let line = format!(
            "decide.yaml:3:5: warning: round `pick` can never reach `act_at: {tier}`: all of its seats are one model (ollama/one), which is weak at most\n  hint: seat another model or a person"
        );
        assert!(told.contains(&line), "{tier}: {told}");
    }
    let reached =
        |seats: &str, keys: &str| assert!(!checked(seats, keys).contains("never reach"), "{seats}: {keys}");
    reached(ALIKE, &asks("weak"));
    reached(ALIKE, &format!("{CHOICE}, rule: majority"));
    reached(&ALIKE.replace("openrouter/one", "openrouter/two"), &asks("strong"));
    reached(&ALIKE.replace("openrouter/one", "human"), &asks("strong"));
}
