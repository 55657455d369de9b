//! Bad input: all errors of a file at once, with hints.
//!
//! Errors are quick and need little memory. Terms of other tools are synonyms or get a hint. The mistakes are in
//! `tests/fixtures/definitions.yaml`; a new case is a new entry. `UPDATE_DEFINITIONS=1` prints the current errors.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use roundtable::diagnostic::Diagnostic;
use roundtable::workflow::{CheckedDefinition, DEFAULT_PANEL, NO_OTHER, Source, StepKind, examine, load};
use roundtable::yaml::read;
use serde_json::Value;

use crate::patience::PATIENCE;
use crate::program::{Desk, sha256};

const SECRET: &str = "sk-0123456789-do-not-tell";

/// Runs an invalid definition, and requires these words in the error; fast even in a debug build.
#[track_caller]
fn refused(desk: &Desk, definition: impl AsRef<[u8]>, words: &[&str]) {
    desk.write("decide.yaml", definition);
    let started = Instant::now();
    let ran = desk.run(["--batch", "decide.yaml"]).code(2);
    assert!(started.elapsed() < PATIENCE, "it takes {:?}", started.elapsed());
    for word in words {
        ran.tells(word);
    }
    assert!(!ran.err.contains("panicked") && ran.err.len() < 10_000, "{}", ran.err.len());
    assert_eq!((ran.out.as_str(), desk.sessions().len()), ("", 0));
}

#[test]
fn a_definition_that_is_no_text_or_too_large_is_refused() {
    let desk = Desk::new();
    refused(&desk, b"question: \"a\xff\"\n", &["decide.yaml:1", "not UTF-8"]);
    refused(&desk, format!("question: {}\n", "x".repeat(10 << 20)), &["4 MiB"]);
    refused(&desk, "x".repeat(60 << 20), &["decide.yaml", "larger than"]);
    refused(&desk, format!("question: {}\n", "[".repeat(100_000)), &["decide.yaml"]);
    let options: Vec<String> = (0..100_000).map(|number| format!("o{number}")).collect();
    let many = format!("question: x\nballot: {{kind: choice, options: [{}]}}\n", options.join(", "));
    refused(&desk, many, &["decide.yaml:2:9", "there are more than 1000 options"]);
}

#[test]
fn a_bomb_of_aliases_is_refused_soon() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..30 {
        let all = vec![format!("*a{}", n - 1); 10].join(", ");
        writeln!(bomb, "a{n}: &a{n} [{all}]").expect("written");
    }
    bomb.push_str("question: x\n");
    refused(&Desk::new(), bomb, &["decide.yaml:"]);
    let items = "- *a\n".repeat(20_000);
    let long = format!("question: x\na: &a {}\nb:\n{items}", "y".repeat(60_000));
    refused(&Desk::new(), long, &["decide.yaml"]);
}

#[test]
fn a_key_in_a_file_is_refused_by_its_field_and_never_shown() {
    let desk = Desk::new();
    let field = "secret in file: `api_key`";
    let hint = "environment variable";
    let seat = format!("question: x\nparticipants: [{{persona: qa-lead, api_key: {SECRET}}}]\n");
    refused(&desk, seat, &["decide.yaml:2:35", field, hint]);
    let deep = format!("question: x\ninput: {{a: [{{api_key: {SECRET}}}]}}\n");
    refused(&desk, deep, &["decide.yaml:2:14", field]);
    refused(&desk, format!("question: x\nparticipants: [{{persona: a, token: {SECRET}}}]\n"), &["`token`"]);
    let persona = format!("---\nname: lab\ndescription: x\napi_key: {SECRET}\n---\n\nText.\n");
    desk.write(".s2s/personas/lab.md", persona);
    refused(&desk, "question: x\nparticipants: [lab]\n", &["personas/lab.md:4:1", field]);
    desk.write("decide.yaml", "question: x\nparticipants: [qa-lead]\n");
    desk.write(".s2s/config.yaml", format!("providers:\n  lab:\n    api_key: {SECRET}\n"));
    for verb in [&["--batch", "decide.yaml", "--json"][..], &["doctor"]] {
        let ran = desk.run(verb).code(2);
        ran.tells(".s2s/config.yaml:3:5: ").tells(field);
        assert!(!ran.err.contains(SECRET) && !ran.out.contains(SECRET));
    }
    desk.write(".s2s/config.yaml", "");
    let all = desk.run(["personas"]).code(0);
    assert!(all.err.contains(field) && !all.err.contains(SECRET), "{}", all.err);
}

#[test]
fn a_persona_that_cannot_sit_is_refused_and_says_why() {
    let desk = Desk::new();
    let odd = "question: x\nparticipants: [odd]\n";
    let front = "---\nname: odd\ndescription: x\n";
    let persona = |text: &str| desk.write(".s2s/personas/odd.md", text);
    persona(&format!("{front}tools: [Read, Bash]\n---\nText.\n"));
    refused(&desk, odd, &["decide.yaml:2:16", "persona `odd` declares tool `Read`", "tools: none"]);
    persona(front);
    refused(&desk, odd, &["odd.md:1:1", "no closing `---`"]);
    persona("Text.\n");
    refused(&desk, odd, &["odd.md:1:1", "no front matter"]);
    persona(&format!("{front}tags: {{a: 1}}\n---\n"));
    refused(&desk, odd, &["odd.md:4:", "`tags` must be a list"]);
    desk.write(".s2s/personas/other.md", "---\nname: \"elsewhere\"\ntags: 3\n---\n");
    refused(&desk, odd.replace("odd", "elsewhere"), &["persona `elsewhere` cannot be used: `tags` must be"]);
    persona(&format!("{front}---\n{}", "x".repeat(2 << 20)));
    refused(&desk, odd, &["odd.md", "larger than"]);
    refused(&desk, "question: x\nparticipants: [../../../etc/passwd]\n", &["decide.yaml:2:16"]);
    refused(&desk, "question: x\nparticipants: [{name: a, persona: ../x}]\n", &["decide.yaml:2:16"]);
}

/// Returns the bytes of a saved session with its first document changed and its hash recomputed.
pub fn forged(desk: &Desk, change: impl Fn(&str) -> String) -> String {
    desk.write("decide.yaml", "question: x\nparticipants: [qa-lead]\n");
    desk.run(["--batch", "decide.yaml"]);
    let log = std::fs::read_to_string(desk.session()).expect("a file");
    let head = &log[..=log.find("\nhash: ").expect("a hash")];
    let head = change(head);
    let hash = sha256(&head);
    format!("{head}hash: {hash}\n")
}

#[test]
fn a_file_that_is_no_session_of_ours_is_refused_and_left_alone() {
    let newer = forged(&Desk::new(), |head| head.replace("\nformat: 3\n", "\nformat: 99\n"));
    let good = forged(&Desk::new(), str::to_owned);
    let twisted = good.replace("question", "quest\0on");
    for (name, bytes, code, word) in [
        ("newer", newer.as_bytes(), 2, "version"),
        ("empty", b"".as_slice(), 2, "header"),
        ("picture", b"\x89PNG\r\n\x1a\n\0\0".as_slice(), 2, ""),
        ("text", b"Dear diary,\n".as_slice(), 2, ""),
        ("yaml", b"---\nquestion: x\n".as_slice(), 2, ""),
        ("nul", twisted.as_bytes(), 6, "document 0"),
        ("latin", b"---\nseq: 0\nprev: \xff\nhash: 00\n".as_slice(), 2, ""),
    ] {
        let desk = Desk::new();
        desk.write("odd.s2s", bytes);
        for verb in ["replay", "verify", "trace", "report", "resume"] {
            let ran = desk.run([verb, "odd.s2s"]);
            let is_fine =
                ran.code == code || (ran.code == 6 && verb == "verify") || (name == "nul" && ran.code == 2);
            assert!(is_fine && !ran.err.contains("panicked"), "{verb} {name}: {ran:?}");
            assert!(verb == "verify" || (ran.err.contains(word) && ran.err.contains("odd.s2s")), "{ran:?}");
        }
        assert_eq!(std::fs::read(desk.path("odd.s2s")).expect("a file"), bytes, "{name}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_line_of_100_megabytes_costs_no_more_memory_than_it_must() {
    let desk = Desk::new();
    let mut text = b"---\nseq: 0\nprev: ".to_vec();
    text.resize(100 << 20, b'x');
    desk.write("long.s2s", text);
    for verb in ["replay", "verify", "resume"] {
        let (ran, peak) = crate::memory::peak(desk.start([verb, "long.s2s"]));
        assert!(ran.code == 2 || ran.code == 6, "{verb}: {ran:?}");
        assert!(peak > 0 && peak < 200 << 20, "{verb}: {peak} bytes");
        assert!(ran.err.len() < 2000 && ran.out.len() < 2000);
    }
}

#[test]
fn answers_are_checked_before_anything_runs() {
    let desk = Desk::with(
        "participants: [qa-lead]\nsteps:\n  - {id: pick, question: x, ballot: {kind: choice, options: [a, b]}, ties: ask, \
         rule: majority}\n  - {id: ok, type: approval, message: \"Ok?\"}\n",
    );
    for (answers, words) in [
        ("ok: [{aproved: true}]\n", "answers.yaml:1:7: unknown key `aproved`"),
        ("ok: maybe\n", "must be a map of keys, found text"),
        ("ok: {comment: x}\n", "has no `approved`"),
        ("pick: [a]\n", "must be a map of seats, found text"),
        ("pick: {tie: c}\n", "cannot go to `c`"),
        ("- a\n", "a map of step ids"),
        ("ok: [\n", "answers.yaml:"),
    ] {
        desk.write("answers.yaml", answers);
        let ran = desk.run(["--batch", "decide.yaml", "--answers", "answers.yaml"]).code(2);
        ran.tells(words).tells("hint: ");
        assert!(desk.sessions().is_empty());
    }
    desk.run(["--batch", "decide.yaml", "--input", "{\"a\": 1"]).tells("warning: --input begins like JSON");
}

#[test]
fn a_context_that_cannot_be_read_stops_the_round() {
    let desk = Desk::with("question: Which?\n");
    desk.run(["init"]).code(0);
    desk.write(".s2s/CONTEXT.md", b"caf\xe9".as_slice());
    for args in ["--batch decide.yaml", "snapshot decide.yaml", "--batch decide.yaml --dry-run"] {
        desk.run(args.split(' ')).code(2).tells("CONTEXT.md").tells("not UTF-8");
    }
    desk.write(".s2s/CONTEXT.md", "A shop.");
    assert!(desk.run(["snapshot", "decide.yaml"]).code(0).out.contains("project_summary: \"A shop.\""));
}

const TABLE: &str = include_str!("../fixtures/words.tsv");
const BASE: [&str; 5] = [
    "participants: [qa-lead, skeptic]",
    "question: Which?",
    "ballot: {kind: choice, options: [a, b]}",
    "rule: majority",
    "",
];

/// Returns the inputs of a kind with the required hints; skips inputs that have no hint yet.
fn rows(kind: &str) -> Vec<(&'static str, &'static str)> {
    let cells =
        TABLE.lines().filter_map(|line| line.strip_prefix(kind)?.strip_prefix('\t')?.split_once('\t'));
    cells.filter(|(_, cure)| !cure.starts_with('?')).collect()
}

#[test]
fn command_lines_of_other_tools_get_their_cure() {
    let desk = Desk::new();
    let cache = "question: Which cache first?\nballot: {kind: score, options: [a, b]}\nrule: score\n";
    desk.write("cache.yaml", format!("participants: [qa-lead, skeptic]\n{cache}"));
    desk.run(["run", "cache.yaml", "--rehearse"]);
    let rows = rows("line");
    assert!(rows.len() >= 61, "fewer than before are cured");
    for (line, cure) in rows {
        let ran = desk.run(line.split(' '));
        let errors = ran.err.matches("error: ").count();
        assert_eq!(errors, usize::from(ran.code == 2), "{line}: {}", ran.err);
        assert!(ran.out.contains(cure) || ran.err.contains(cure), "{line}: {cure}\n{}", ran.err);
    }
}

#[test]
fn definitions_in_words_of_other_tools_load_or_get_their_cure() {
    let (desk, rows) = (Desk::new(), rows("file"));
    assert!(rows.len() >= 81, "fewer than before are cured");
    let names: Vec<String> = (0..rows.len()).map(|number| format!("{number}.yaml")).collect();
    for ((written, _), name) in rows.iter().zip(&names) {
        let parts: Vec<&str> = written.split(" | ").collect();
        let part = |at: usize| parts.get(at).copied().filter(|part| *part != "=").unwrap_or(BASE[at]);
        let whole = || [0, 1, 2, 3, 4].map(part).join("\n");
        let text = written.strip_prefix('!').map_or_else(whole, str::to_owned);
        desk.write(name, text.replace('¶', "\n"));
    }
    let found = desk.run(["check"].into_iter().chain(names.iter().map(String::as_str))).out;
    let found: Vec<&str> = found.lines().collect();
    for ((written, cure), name) in rows.iter().zip(&names) {
        let place = format!("{name}:");
        let is_its = |lines: &&[&str]| lines[0].starts_with(&place) && lines[0].contains(" error: ");
        let errors: Vec<_> = found.windows(2).filter(is_its).map(<[&str]>::concat).collect();
        assert_eq!(errors.len(), usize::from(!cure.is_empty()), "{written}: {errors:#?}");
        assert!(errors.iter().all(|said| said.contains(cure)), "{written}: {cure}\n{errors:#?}");
        let follows = |line: &&str| line.starts_with(&place) && line.contains(" has no rule");
        assert!(errors.is_empty() || !found.iter().any(follows), "{written}");
    }
}

const BAD: &str = "goal: g
stpes: 1
steps:
  - {id: a, type: round, question: q, next: b}
  - {id: c, type: approval, message: m}
";

#[test]
fn check_reports_all_errors_and_warnings_of_each_file() {
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
    assert!(found.contains("decide.yaml:3:") && found.matches("warning: ").count() == 1, "{found}");
    assert_eq!(desk.pipe(["check", "-"], "question: Which?\n").code(0).out, "");
    assert_eq!(desk.run(["schema"]).code(0).out, include_str!("../../docs/definition.schema.json"));
}

fn checked(seats: &str, keys: &str) -> String {
    let text = format!("participants: {seats}\nsteps:\n  - {{id: pick, type: round, question: q, {keys}}}\n");
    Desk::modelled(&text).run(["check", "decide.yaml"]).out
}

const CHOICE: &str = "ballot: {kind: choice, options: [a, b]}";
const ALIKE: &str = "[{name: ann, persona: skeptic, model: ollama/one}, {name: bob, persona: skeptic, model: openrouter/one}]";

#[test]
fn an_unreachable_strength_is_reported() {
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

fn source(text: &str) -> Source<'_> {
    Source { text, file: "f.yaml", id: "f" }
}

/// Fails unless a problem has a place and a hint.
fn is_in_our_style(problem: &Diagnostic) {
    let is_placed = problem.place.as_ref().is_some_and(|place| place.line > 0 && place.column > 0);
    assert!(is_placed, "no place: {problem}");
    assert!(problem.hint.as_deref().is_some_and(|hint| !hint.is_empty()), "no hint: {problem}");
    let is_upper = problem.message.starts_with(char::is_uppercase);
    assert!(!is_upper && !problem.message.ends_with('.'), "not our style: {problem}");
}

#[test]
fn every_mistake_is_named_with_its_place_and_the_next_step() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/definitions.yaml");
    let cases = read(&std::fs::read_to_string(path).expect("the cases"), "definitions.yaml").expect("YAML");
    let cases = cases.to_json();
    let cases = cases.as_array().expect("a list of cases");
    assert!(cases.len() > 40, "only {} cases", cases.len());
    let mut wrong = String::new();
    for case in cases {
        let text = case["text"].as_str().expect("a text");
        let CheckedDefinition { problems, warnings, .. } = examine(source(text), NO_OTHER);
        problems.iter().for_each(is_in_our_style);
        let (key, found) = if problems.is_empty() { ("warnings", warnings) } else { ("problems", problems) };
        let shown = |it: &Diagnostic| format!("{it} -> {}", it.hint.as_deref().unwrap_or_default()).into();
        let found: Vec<Value> = found.iter().map(shown).collect();
        if case.get(key) != Some(&Value::from(found.clone())) {
            let _ = writeln!(wrong, "- name: {}\n  {key}:", case["name"]);
            for line in found {
                let _ = writeln!(wrong, "    - {line}");
            }
        }
    }
    assert!(wrong.is_empty(), "these cases get something else:\n{wrong}");
}

#[test]
fn a_question_or_a_step_alone_is_a_workflow() {
    let text = "\u{feff}question: \"Which cache?\"\r\nexploration: |\r\n  one\r\n  two\r\n";
    let definition = load(source(text)).expect("loads");
    assert_eq!(definition.id, "f");
    let names: Vec<&str> = definition.participants.iter().map(|seat| seat.name.as_str()).collect();
    assert_eq!(names, DEFAULT_PANEL);
    assert_eq!(definition.steps.len(), 1);
    let round = definition.steps[0].round().expect("a round");
    assert_eq!((round.question.as_str(), round.exploration.as_deref()), ("Which cache?", Some("one\ntwo\n")));
    // A type at the top is a workflow of that step.
    let definition = load(source("type: approval\nmessage: Ship it?\n")).expect("loads");
    assert!(matches!(&definition.steps[..], [step] if matches!(step.kind, StepKind::Approval(_))));
}
