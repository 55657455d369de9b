//! YAML: written values read back equal, whatever their texts.

use roundtable::yaml::{Out, literal_keys, read, read_large, read_own, read_yaml_or_json};
use serde_json::Value;

use super::{is_within, text};

pub fn yaml(data: &[u8]) {
    let text = text(data);
    for node in [read(text, "f"), read_yaml_or_json(text, "f"), read_large(text, "f")] {
        match node {
            Ok(node) => {
                literal_keys(&node, "f", &["key"]);
                comes_back(&node.to_json());
            }
            Err(problem) => {
                assert!(!problem.message.is_empty() && !problem.message.contains('\n'), "{problem}");
                assert!(is_within(problem.place.as_ref(), text, "f"), "{problem:?}");
            }
        }
    }
    comes_back(&Value::from(text));
    let lines: Vec<Value> = text.split('\u{1f}').map(Value::from).collect();
    comes_back(&Value::from(lines));
    as_key(text);
}

fn comes_back(value: &Value) {
    if roundtable::workflow::depth(value) > 40 {
        return;
    }
    let mut out = String::new();
    Out::write_entries(&[("value".into(), Out::json(value, true))], 0, &mut out);
    assert!(!out.contains('\r'));
    let again = read_own(&out, &mut { usize::MAX }).expect("what was written is read");
    assert_eq!(again["value"], *value, "{out}");
    // No line looks like the end of a document.
    assert!(!out.lines().any(|line| line == "---" || line.starts_with("hash: ")), "{out}");
}

fn as_key(text: &str) {
    let mut out = String::new();
    Out::write_entries(&[(text.into(), Out::Raw("1".into())), ("z".into(), Out::text(text))], 0, &mut out);
    if text == "z" {
        return;
    }
    let again = read_own(&out, &mut { usize::MAX }).expect("what was written is read");
    assert_eq!(again[text], 1, "{out}");
    assert_eq!(again["z"], text, "{out}");
}
