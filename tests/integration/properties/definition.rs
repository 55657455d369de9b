//! Definitions: valid ones survive rewriting and run; errors have a place.

use roundtable::journal::{Chain, fold, read_log, verify};
use roundtable::report;
use roundtable::workflow::{Definition, Source, StepIndex, load};
use roundtable::yaml::{Out, read_yaml_or_json};
use serde_json::Value;

use super::drive::drive;
use super::{is_within, text};

pub fn definition(data: &[u8]) {
    let text = text(data);
    match load(source(text, "d.yaml")) {
        Ok(loaded) => {
            written_loads_equal(text, &loaded);
            is_driven(text, &loaded);
        }
        Err(problems) => {
            assert!(!problems.is_empty());
            for problem in problems {
                assert!(!problem.message.is_empty());
                assert!(is_within(problem.place.as_ref(), text, "d.yaml"), "{problem:?}");
            }
        }
    }
}

fn source<'a>(text: &'a str, file: &'a str) -> Source<'a> {
    Source { text, file, id: "d" }
}

fn written_loads_equal(text: &str, definition: &Definition) {
    let value = read_yaml_or_json(text, "d").expect("loaded").to_json();
    let json = value.to_string();
    let again = load(source(&json, "d.json")).expect("the same as JSON loads");
    assert_eq!(without_places(&again), without_places(definition), "{json}");
    let Value::Object(map) = &value else { panic!("a definition is a map") };
    let mut yaml = String::new();
    let entries: Vec<_> =
        map.iter().map(|(key, value)| (key.as_str().into(), Out::json(value, true))).collect();
    Out::write_entries(&entries, 0, &mut yaml);
    let again = load(source(&yaml, "d.yaml")).expect("the same as YAML loads");
    assert_eq!(without_places(&again), without_places(definition), "{yaml}");
}

fn without_places(definition: &Definition) -> String {
    // The index is filled by the first lookup of a step.
    let mut text = format!("{:?}", Definition { index: StepIndex::default(), ..definition.clone() });
    for (start, end) in [("place: (", ')'), ("place: Some(SourceLocation {", '}')] {
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(at) = rest.find(start) {
            out.push_str(&rest[..at]);
            rest = rest[at..].split_once(end).map_or("", |(_, rest)| rest);
        }
        text = out + rest;
    }
    text
}

fn is_driven(text: &str, definition: &Definition) {
    // Pseudonyms are assigned when a session begins, which does not happen here.
    if definition.pseudonyms {
        return;
    }
    let events = drive(text, definition);
    let (mut file, mut chain) = (String::new(), Chain::default());
    for stamped in &events {
        chain.write(stamped.clone(), &mut file);
    }
    if events.is_empty() {
        return;
    }
    let log = read_log(file.as_bytes()).expect("what was written is read");
    let read: Vec<_> = log.lines.iter().map(|line| &line.stamped).collect();
    assert_eq!(read, events.iter().collect::<Vec<_>>());
    let found = verify(file.as_bytes(), None);
    assert_eq!(found.findings, [], "{text}");
    let session = fold(&log);
    let document = report::Document::new(&session, report::Source::default());
    let _ = (report::markdown(&document), report::json(&document));
}
