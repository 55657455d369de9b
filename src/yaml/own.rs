//! Reader of documents that this program wrote, within a memory limit.
//!
//! Anchors and aliases are rejected, so nothing can expand. A document with too many values is rejected
//! while it is read.

use serde_json::Value;

use super::reader::{MAX_DEPTH, explain, options};
use crate::diagnostic::Diagnostic;

/// Most keys and values in a document.
const MAX_NODES: usize = 1_000_000;
/// Memory of a key or value in addition to its text, in bytes.
const NODE: usize = 100;
/// Keys and values per document that do not count against the limit; a usual event has fewer.
const FREE: usize = 48;

/// Reads a document written by [`super::Out`] and subtracts the memory of its values from `room`.
pub fn read_own(text: &str, room: &mut usize) -> Result<Value, Diagnostic> {
    let budget = serde_yaml::budget! {
        max_depth: MAX_DEPTH,
        flow_nesting_limit: MAX_DEPTH,
        max_events: usize::MAX,
        max_nodes: MAX_NODES.min(FREE + *room / NODE),
        max_anchors: 0,
        max_aliases: 0,
        max_total_scalar_bytes: usize::MAX,
    };
    let value = serde_yaml::from_str_with_options::<Value>(text, options(budget)).map_err(|error| {
        let said = error.without_snippet().to_string();
        if said.contains("anchors") || said.contains("alias") {
            return Diagnostic::new("it contains an anchor or an alias (`&`, `*`), which no session does");
        }
        explain(&error, text, "")
    })?;
    *room = room.saturating_sub(nodes(&value).saturating_sub(FREE) * NODE);
    Ok(value)
}

/// Counts the keys and values in a value.
fn nodes(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(nodes).sum(),
        Value::Object(map) => map.values().map(|value| 1 + nodes(value)).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oversized_documents_are_rejected_while_reading() {
        let items = |item: &str, count: usize| format!("a:\n{}", format!("  - {item}\n").repeat(count));
        for text in
            [items("1", 9_000), items("\"\\t\"", 9_000), format!("a: [{}]\n", "{b: c}, ".repeat(3_000))]
        {
            let mut room = 10_000_000;
            read_own(&text, &mut room).unwrap();
            let weight = 10_000_000 - room;
            assert!(weight > 800_000, "{weight}");
            assert!(read_own(&text, &mut { weight + 10 * NODE }).is_ok());
            let refused = read_own(&text, &mut (weight - 10 * NODE)).unwrap_err();
            assert!(refused.message.contains("more values"), "{refused}");
        }
        let mut room = 10;
        read_own("seq: 1\nevent: x\n", &mut room).unwrap();
        assert_eq!(room, 10);
    }

    #[test]
    fn anchors_and_aliases_are_rejected() {
        for text in ["a: &x 1\n", "a: &x [1]\nb: *x\n", "a: {&x b: 1}\n", "a: *x\n", "a: [*x]\n"] {
            let refused = read_own(text, &mut 10_000).unwrap_err();
            assert!(refused.message.contains("an anchor or an alias"), "{text}: {refused}");
        }
        assert_eq!(read_own("a: \"&x *x\"\n", &mut 10_000).unwrap()["a"], "&x *x");
        assert!(read_own("a: 1\na: 2\n", &mut 10_000).unwrap_err().message.contains("uplicate"));
        let many = format!("a: [{}]\n", "1,".repeat(MAX_NODES));
        assert!(read_own(&many, &mut { usize::MAX }).unwrap_err().message.contains("more values"));
    }
}
