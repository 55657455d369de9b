//! Languages of a definition: round trips, limits of evaluation, places of errors.

use roundtable::workflow::{Condition, GrammarError, OutputSchema, Template, Transform, parse_duration};
use serde_json::{Value, json};

use super::{choose, text};

/// Reads any text as a condition, transform, template, output schema, duration or facilitator's input.
/// The first byte selects which.
pub fn grammar(data: &[u8]) {
    let (which, data) = choose(data);
    let text = text(data);
    match which % 5 {
        0 => condition(text),
        1 => transform(text),
        2 => template(text),
        3 => schema(text),
        _ => drop(parse_duration(text)),
    }
}

fn scope() -> Value {
    json!({
        "input": {"budget": 1e21, "small": -0.5, "n": null, "text": "a\nb{{input}}"},
        "context": {
            "plan": {"files": ["a.rs", "b.rs"], "size": 3, "ok": true, "empty": {}},
            "parallel-tests": {"data": [{"stepId": "unit", "result": {"passed": 50}}], "success": true},
            "none": null,
            "deep": [[["x", {"y": [1, 2, 3]}]]],
            "": "blank",
        },
        "error": {"stepId": "plan", "message": "no"},
        "goal": "g", "constraints": ["c", "d"],
    })
}

fn refused(error: &GrammarError, text: &str) {
    assert!(!error.message.is_empty());
    assert!(error.offset <= text.len(), "{error:?} in {text:?}");
    assert!(text.is_char_boundary(error.offset), "{error:?} in {text:?}");
}

fn condition(text: &str) {
    match Condition::parse(text) {
        Ok(read) => {
            assert_eq!(Condition::parse(read.text()).as_ref(), Ok(&read));
            let once = read.evaluate(&scope(), &|step| (step == "plan").then_some(true));
            assert_eq!(once, read.evaluate(&scope(), &|step| (step == "plan").then_some(true)));
            let not = Condition::parse(&format!("!({text})"));
            if let (Ok(holds), Ok(not)) = (once, not) {
                assert_eq!(not.evaluate(&scope(), &|step| (step == "plan").then_some(true)), Ok(!holds));
            }
        }
        Err(error) => refused(&error, text),
    }
}

fn transform(text: &str) {
    match Transform::parse(text) {
        Ok(read) => {
            assert_eq!(Transform::parse(read.text()).as_ref(), Ok(&read));
            let Value::Object(context) = scope()["context"].clone() else { return };
            match read.apply(&context) {
                Ok(value) => assert!(value.to_string().len() < 1 << 20, "a transform grew"),
                Err(error) => assert!(error.contains("not found") || !error.is_empty()),
            }
        }
        Err(error) => refused(&error, text),
    }
}

fn template(text: &str) {
    match Template::parse(text) {
        Ok(read) => {
            assert_eq!(Template::parse(read.text()).as_ref(), Ok(&read));
            for used in read.paths() {
                assert!(!used.is_empty());
            }
            let once = read.render(&scope());
            assert_eq!(once, read.render(&scope()));
            if !text.contains("{{") && !text.contains('\\') {
                assert_eq!(once.as_deref(), Ok(text), "text without a tag is itself");
            }
        }
        Err(error) => refused(&error, text),
    }
}

fn schema(text: &str) {
    let Ok(written) = serde_json::from_str::<Value>(text) else { return };
    match OutputSchema::parse(&written) {
        Ok(schema) => {
            assert_eq!(schema.written(), &written);
            let sample = schema.sample();
            assert_eq!(sample, schema.sample());
            assert!(sample.is_err() || sample.is_ok_and(|sample| schema.check(&sample).is_ok()));
            let _ = schema.check(&written);
        }
        Err(error) => assert!(!error.is_empty()),
    }
}
