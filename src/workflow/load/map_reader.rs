//! Taking the keys of one mapping of a file that is no definition: each value checked, each key known.
//!
//! Problems are collected, not returned, so that a person sees all of them at once.

use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::yaml::{Map, Node, Value};

/// The entries of one mapping, taken key by key.
pub struct Fields<'a> {
    what: String,
    file: &'a str,
    node: &'a Node,
    map: &'a Map,
    taken: Vec<&'static str>,
    problems: Vec<Diagnostic>,
}

impl<'a> Fields<'a> {
    /// Starts on a node that must be a mapping; `what` names it in messages.
    pub fn from_node(node: &'a Node, what: impl Into<String>, file: &'a str) -> Result<Self, Diagnostic> {
        let what = what.into();
        match &node.value {
            Value::Map(map) => Ok(Self { what, file, node, map, taken: Vec::new(), problems: Vec::new() }),
            Value::Null => Err(node.problem(file, format!("{what} is empty")).hint("write its keys")),
            _ => Err(node
                .problem(file, format!("{what} must be a map of keys, found {}", node.kind()))
                .hint("write `key: value` lines, or `{key: value}`")),
        }
    }

    /// The node under `key`, now known; null counts as absent.
    pub fn node(&mut self, key: &'static str) -> Option<&'a Node> {
        if !self.taken.contains(&key) {
            self.taken.push(key);
        }
        self.node.given(key)
    }

    fn wrong(&mut self, node: &Node, key: &str, wanted: &str) {
        let message = format!("`{key}` of {} must be {wanted}, found {}", self.what, node.kind());
        let hint = match node.value {
            _ if wanted != "text" => format!("correct it, or leave `{key}` out"),
            Value::Number(_) | Value::Bool(_) => "put it in quotes".to_owned(),
            _ => format!("write `{key}: \"…\"`"),
        };
        self.problems.push(node.problem(self.file, message).hint(hint));
    }

    /// Text; whole numbers are taken as they are written.
    pub fn text(&mut self, key: &'static str) -> Option<String> {
        let node = self.node(key)?;
        let text = as_text(node);
        if text.is_none() {
            self.wrong(node, key, "text");
        }
        text
    }

    pub fn texts(&mut self, key: &'static str) -> Vec<String> {
        let Some(node) = self.node(key) else { return Vec::new() };
        let items: &[Node] = match &node.value {
            Value::List(items) => items,
            _ => std::slice::from_ref(node),
        };
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            match as_text(item) {
                Some(text) => texts.push(text),
                None => self.wrong(item, key, "text"),
            }
        }
        texts
    }

    pub fn flag(&mut self, key: &'static str) -> Option<bool> {
        let node = self.node(key)?;
        if let Value::Bool(flag) = node.value {
            return Some(flag);
        }
        self.wrong(node, key, "true or false");
        None
    }

    /// Refuses every key that was not taken.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        for (key, _) in self.map.iter().filter(|(key, _)| !self.taken.contains(&key.text.as_str())) {
            let problem = Diagnostic::new(format!("unknown key `{}` in {}", key.text, self.what))
                .hint(did_you_mean(&key.text, &self.taken));
            self.problems.push(problem.at(self.file, key.line, key.column));
        }
        self.problems
    }
}

pub fn as_text(node: &Node) -> Option<String> {
    match &node.value {
        Value::Text(text) => Some(text.clone()),
        Value::Number(n) if n.is_u64() || n.is_i64() => Some(n.to_string()),
        _ => None,
    }
}

/// Milliseconds of a time such as `90s`, `1.5m`, `2h`, `500ms`; at most a year.
pub fn parse_duration(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(digits);
    let factor = match unit.trim() {
        "ms" => 1.0,
        "s" => 1000.0,
        "m" | "min" => 60_000.0,
        "h" => 3_600_000.0,
        _ => return None,
    };
    let millis = number.parse::<f64>().ok()? * factor;
    // At most a year: past that a typing error is likelier than a wish.
    (0.0 < millis && millis <= 31_536_000_000.0).then_some(millis.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::parse_duration;

    #[test]
    fn reads_spans_of_time() {
        assert_eq!(parse_duration("90s"), Some(90_000));
        assert_eq!(parse_duration("1.5m"), Some(90_000));
        assert_eq!(parse_duration("500ms"), Some(500));
        for bad in ["90", "s", "-1s", "0s", "1e9h", "9999999h", "1d"] {
            assert_eq!(parse_duration(bad), None, "{bad}");
        }
    }
}
