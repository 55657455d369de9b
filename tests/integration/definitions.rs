//! Errors of invalid definitions: place, message and hint, for every mistake.
//!
//! The cases are in `tests/fixtures/definitions.yaml`; a new case is a new entry. `UPDATE_DEFINITIONS=1` prints
//! the current errors.

use std::fmt::Write as _;
use std::path::Path;

use roundtable::diagnostic::Diagnostic;
use roundtable::workflow::{CheckedDefinition, DEFAULT_PANEL, NO_OTHER, Source, StepKind, examine, load};
use roundtable::yaml::read;
use serde_json::Value;

fn source(text: &str) -> Source<'_> {
    Source { text, file: "f.yaml", id: "f" }
}

fn shown(problem: &Diagnostic) -> Value {
    let hint = problem.hint.as_deref().unwrap_or_default();
    Value::from(format!("{problem} -> {hint}"))
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
fn a_question_alone_is_one_round_of_the_default_panel() {
    let text = "\u{feff}question: \"Which cache?\"\r\nexploration: |\r\n  one\r\n  two\r\n";
    let definition = load(source(text)).expect("loads");
    assert_eq!(definition.id, "f");
    let names: Vec<&str> = definition.participants.iter().map(|seat| seat.name.as_str()).collect();
    assert_eq!(names, DEFAULT_PANEL);
    assert_eq!(definition.steps.len(), 1);
    let round = definition.steps[0].round().expect("a round");
    assert_eq!((round.question.as_str(), round.exploration.as_deref()), ("Which cache?", Some("one\ntwo\n")));
}

#[test]
fn a_type_at_the_top_is_a_workflow_of_that_step() {
    let definition = load(source("type: approval\nmessage: Ship it?\n")).expect("loads");
    assert!(matches!(&definition.steps[..], [step] if matches!(step.kind, StepKind::Approval(_))));
}
