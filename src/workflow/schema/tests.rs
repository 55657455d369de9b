//! The schema against the loader: the same keys in every mapping, and every example fits.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{STEPS, definition_schema};
use crate::workflow::{OutputSchema, Source, load};
use crate::yaml::read;

/// A key that is like no other, so that the loader lists all it knows.
const STRANGE: &str = "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzz";

/// The keys the loader names when it meets a strange one in this definition.
fn loader_knows(text: &str) -> BTreeSet<String> {
    let problems = load(Source { text, file: "a.yaml", id: "a" }).expect_err("a strange key");
    let about =
        problems.iter().find(|problem| problem.message.starts_with(&format!("unknown key `{STRANGE}`")));
    let hint =
        about.and_then(|problem| problem.hint.clone()).unwrap_or_else(|| panic!("{text}: {problems:?}"));
    let known = hint.strip_prefix("known here: ").unwrap_or_else(|| panic!("{hint}"));
    known.split(", ").map(str::to_owned).collect()
}

fn schema_knows(mapping: &Value) -> BTreeSet<String> {
    mapping["properties"].as_object().expect("properties").keys().cloned().collect()
}

#[test]
fn steps_have_the_keys_the_loader_knows() {
    let schema = definition_schema();
    for (name, ..) in STEPS {
        let text = format!("steps:\n  - {{id: a, type: {name}, {STRANGE}: 1}}\n");
        assert_eq!(schema_knows(&schema["$defs"][format!("{name}_step")]), loader_knows(&text), "{name}");
    }
}

#[test]
fn mappings_have_the_keys_the_loader_knows() {
    let schema = definition_schema();
    for (name, text) in [
        ("participant_map", format!("question: q\nparticipants: [{{{STRANGE}: 1}}]\n")),
        ("grid", format!("question: q\nparticipants: [{{grid: {{{STRANGE}: 1}}}}]\n")),
        ("temperature", format!("question: q\nparticipants: [{{name: a, temperature: {{{STRANGE}: 1}}}}]\n")),
        ("artifact", format!("question: q\nartifacts: [{{{STRANGE}: 1}}]\n")),
        ("agenda_item", format!("question: q\nagenda: [{{{STRANGE}: 1}}]\n")),
        ("task", format!("question: q\ntasks: [{{{STRANGE}: 1}}]\n")),
        ("link", format!("question: q\nlinks: [{{{STRANGE}: 1}}]\n")),
        ("report", format!("question: q\nreports: [{{{STRANGE}: 1}}]\n")),
        ("ballot", format!("question: q\nballot: {{{STRANGE}: 1}}\n")),
        ("rule", format!("question: q\nrule: {{{STRANGE}: 1}}\n")),
        ("ties", format!("question: q\nties: {{{STRANGE}: 1}}\n")),
        ("context", format!("question: q\ncontext: {{{STRANGE}: 1}}\n")),
        ("pseudonyms", format!("question: q\npseudonyms: {{{STRANGE}: 1}}\n")),
        (
            "expected_output",
            format!("steps:\n  - {{id: a, type: agent, agent: x, expected_output: {{{STRANGE}: 1}}}}\n"),
        ),
    ] {
        assert_eq!(schema_knows(&schema["$defs"][name]), loader_knows(&text), "{name}");
    }
}

#[test]
fn a_definition_has_the_keys_the_loader_knows_in_one_form_or_another() {
    let mut known = loader_knows(&format!("{STRANGE}: 1\nsteps: []\n"));
    for (name, ..) in STEPS {
        known.extend(loader_knows(&format!("{STRANGE}: 1\ntype: {name}\n")));
    }
    assert_eq!(schema_knows(&definition_schema()), known);
}

#[test]
fn examples_fit_and_mistakes_do_not() {
    let schema = OutputSchema::parse(&definition_schema()).expect("a schema");
    let fits = |text: &str| schema.check(&read(text, "a.yaml").expect("YAML").to_json());
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let scenarios = std::fs::read_dir(root.join("tests/scenarios")).expect("scenarios");
    let mut files: Vec<_> =
        scenarios.map(|entry| entry.expect("a scenario").path().join("definition.yaml")).collect();
    let examples = std::fs::read_dir(root.join("sessions")).expect("examples");
    files.extend(examples.map(|entry| entry.expect("an example").path()));
    files.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    assert!(files.len() > 10);
    for path in files {
        if let Ok(text) = std::fs::read_to_string(&path) {
            assert_eq!(fits(&text), Ok(()), "{}", path.display());
        }
    }
    for wrong in [
        "goal: g\n",
        "question: [q]\n",
        "question: q\nstpes: []\n",
        "question: q\nrule: mayority\n",
        "question: q\ndeadline: soon\n",
        "steps: [{id: a, type: agnet}]\n",
        "steps: [{id: a, type: agent}]\n",
        "steps: [{id: a, type: condition, condition: c, question: q}]\n",
    ] {
        assert!(fits(wrong).is_err(), "{wrong}");
    }
}

/// `UPDATE_SCHEMA=1` writes it again.
#[test]
fn the_file_beside_the_documents_is_this_schema() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/definition.schema.json");
    let text = format!("{:#}\n", definition_schema());
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(path, &text).expect("a file");
    }
    assert_eq!(std::fs::read_to_string(path).expect("the file"), text, "run this test with UPDATE_SCHEMA=1");
}
