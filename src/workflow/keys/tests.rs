//! Key table compared with its examples, the JSON Schema and the reference page.

use serde_json::Value;

use super::check::Keys;
use super::definition_reference;
use super::schema::{definition_schema, definition_schema_text, root_keys};
use super::spec::{KeySpec, KeyType, MapSpec};
use crate::workflow::OutputSchema;
use crate::workflow::load::entries::Findings;
use crate::yaml::read;

fn schema() -> OutputSchema {
    OutputSchema::parse(&definition_schema()).expect("a schema")
}

fn fits(schema: &OutputSchema, text: &str) -> Result<(), String> {
    schema.check(&read(text, "a.yaml").expect("YAML").to_json())
}

#[test]
fn every_example_is_a_value_of_its_key_in_checks_and_schema() {
    fn go_through(keys: &[&'static KeySpec], seen: &mut Vec<&'static str>) {
        for key in keys {
            let text = format!("{}: {}\n", key.name, key.example);
            let found = Findings::new("f");
            let keys = Keys { what: "the example", places: &[], known: keys, is_open: false };
            keys.check(&read(&text, "f").expect(&text), &found);
            assert_eq!(found.problems.take(), [], "{text}");
            assert!(key.about.ends_with('.') && !key.example.contains('|'), "{text}");
            inside(&key.kind, seen);
        }
    }
    fn inside(kind: &'static KeyType, seen: &mut Vec<&'static str>) {
        match kind {
            KeyType::Map(of) if !seen.contains(&of.name) => {
                let of: &'static MapSpec = of;
                seen.push(of.name);
                go_through(&of.keys.iter().collect::<Vec<_>>(), seen);
            }
            KeyType::List(item) => inside(item, seen),
            KeyType::Either(kinds) => kinds.iter().for_each(|kind| inside(kind, seen)),
            _ => {}
        }
    }
    let mut seen = Vec::new();
    go_through(&root_keys(), &mut seen);
    assert!(seen.len() > 12, "{seen:?}");
}

#[test]
fn the_schema_accepts_every_loadable_file() {
    let schema = schema();
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
            assert_eq!(fits(&schema, &text), Ok(()), "{}", path.display());
        }
    }
    assert_eq!(fits(&schema, "type: parallel\nsteps: [{id: a, question: q}]\n"), Ok(()));
}

#[test]
fn the_schema_refuses_unknown_keys_and_wrong_types_and_nothing_that_loads() {
    let schema = schema();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/definitions.yaml");
    let cases = read(&std::fs::read_to_string(path).expect("the cases"), "cases").expect("YAML").to_json();
    for case in cases.as_array().expect("cases") {
        let (name, text) = (case["name"].as_str().expect("a name"), case["text"].as_str().expect("a text"));
        let Ok(node) = read(text, "f") else { continue };
        let is_fit = schema.check(&node.to_json()).is_ok();
        let is_sound =
            case["problems"] == Value::Null && case["warnings"] == Value::from(Vec::<Value>::new());
        assert!(is_fit || !is_sound, "{name}");
    }
    for wrong in [
        "goal: g\n",
        "question: q\nquorm: 3\n",
        "question: q\nquorum: many\n",
        "question: q\nballot: {kind: dice}\n",
        "question: q\nartifacts: [{summary: s}]\n",
        "steps: [{id: a, type: condition}]\n",
        "steps: [{id: a, type: agent, agent: coder, ballot: choice}]\n",
        "steps: [{question: q}]\n",
    ] {
        assert!(fits(&schema, wrong).is_err(), "{wrong}");
    }
}

/// `UPDATE_SCHEMA=1` rewrites the files.
#[test]
fn generated_docs_match_the_table() {
    let schema = definition_schema_text() + "\n";
    for (name, text) in [("definition.schema.json", schema), ("DEFINITION.md", definition_reference())] {
        let path = format!("{}/docs/{name}", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write(&path, &text).expect("a file");
        }
        assert_eq!(
            std::fs::read_to_string(path).expect("the file"),
            text,
            "run this test with UPDATE_SCHEMA=1"
        );
    }
}
