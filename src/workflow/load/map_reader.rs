//! Taking the keys of one mapping of a file that is no definition: each value checked, each key known.
//!
//! Problems are collected, not returned, so that a person sees all of them at once.

use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::yaml::{Map, Node, Value};

/// The entries of one mapping, taken key by key.
pub struct Fields<'a> {
    what: String,
    file: &'a str,
    map: &'a Map,
    taken: Vec<&'static str>,
    pub problems: Vec<Diagnostic>,
}

impl<'a> Fields<'a> {
    /// Starts on a mapping; `what` names it in messages.
    pub fn new(map: &'a Map, what: impl Into<String>, file: &'a str) -> Self {
        Self { what: what.into(), file, map, taken: Vec::new(), problems: Vec::new() }
    }

    /// Starts on a node that must be a mapping.
    pub fn from_node(node: &'a Node, what: impl Into<String>, file: &'a str) -> Result<Self, Diagnostic> {
        let what = what.into();
        match &node.value {
            Value::Map(map) => Ok(Self::new(map, what, file)),
            Value::Null => Err(node.problem(file, format!("{what} is empty")).hint("write its keys")),
            _ => Err(node
                .problem(file, format!("{what} must be a map of keys, found {}", node.kind()))
                .hint("write `key: value` lines, or `{key: value}`")),
        }
    }

    pub fn has(&self, key: &str) -> bool {
        self.map.iter().any(|(k, v)| k.text == key && v.value != Value::Null)
    }

    /// The node under `key`, now known; null counts as absent.
    pub fn node(&mut self, key: &'static str) -> Option<&'a Node> {
        if !self.taken.contains(&key) {
            self.taken.push(key);
        }
        let (_, node) = self.map.iter().find(|(k, _)| k.text == key)?;
        (node.value != Value::Null).then_some(node)
    }

    /// The entries of a map, by name; none, and a problem, where it is no map.
    pub fn entries(&mut self, key: &'static str) -> Vec<(String, &'a Node)> {
        match self.node(key) {
            None => Vec::new(),
            Some(Node { value: Value::Map(map), .. }) => {
                map.iter().map(|(key, value)| (key.text.clone(), value)).collect()
            }
            Some(node) => {
                self.wrong(node, key, "a map");
                Vec::new()
            }
        }
    }

    pub fn wrong(&mut self, node: &Node, key: &str, wanted: &str) {
        let message = format!("`{key}` of {} must be {wanted}, found {}", self.what, node.kind());
        let hint = match wanted.split(' ').next() {
            Some("text") if matches!(node.value, Value::Number(_) | Value::Bool(_)) => {
                "put it in quotes".to_owned()
            }
            Some("text") => format!("write `{key}: \"…\"`"),
            _ if wanted == "a list" => "write one item a line, each after `- `".to_owned(),
            _ => format!("correct it, or leave `{key}` out"),
        };
        self.refuse(node, message, hint);
    }

    pub fn refuse(&mut self, node: &Node, message: impl Into<String>, hint: impl Into<String>) {
        self.problems.push(node.problem(self.file, message).hint(hint));
    }

    /// Returns the value that `read` makes of the node under `key`; else notes that it should be `wanted`.
    fn value<T>(&mut self, key: &'static str, wanted: &str, read: impl Fn(&Node) -> Option<T>) -> Option<T> {
        let node = self.node(key)?;
        let value = read(node);
        if value.is_none() {
            self.wrong(node, key, wanted);
        }
        value
    }

    /// Text; whole numbers are taken as they are written.
    pub fn text(&mut self, key: &'static str) -> Option<String> {
        self.value(key, "text", as_text)
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

    pub fn whole_number(&mut self, key: &'static str, least: u64) -> Option<u64> {
        self.value(key, &format!("a whole number of at least {least}"), |node| match &node.value {
            Value::Number(number) => number.as_u64().filter(|number| *number >= least),
            _ => None,
        })
    }

    pub fn positive(&mut self, key: &'static str) -> Option<f64> {
        self.value(key, "a number greater than 0", |node| match &node.value {
            Value::Number(number) => number.as_f64().filter(|number| *number > 0.0),
            _ => None,
        })
    }

    pub fn flag(&mut self, key: &'static str) -> Option<bool> {
        self.value(key, "true or false", |node| match node.value {
            Value::Bool(flag) => Some(flag),
            _ => None,
        })
    }

    pub fn duration(&mut self, key: &'static str) -> Option<u64> {
        self.value(key, "a time such as `90s`, `2m` or `500ms`", |node| parse_duration(&as_text(node)?))
    }

    pub fn word<T: Copy>(&mut self, key: &'static str, words: &[(&'static str, T)]) -> Option<T> {
        let node = self.node(key)?;
        let Some(text) = as_text(node) else {
            self.wrong(node, key, "one of the words it knows");
            return None;
        };
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return Some(*value);
        }
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        self.refuse(node, format!("unknown {key} `{text}` in {}", self.what), did_you_mean(&text, &known));
        None
    }

    /// Refuses every key that was not taken; `also` are known ones that mean nothing here.
    pub fn finish(mut self, also: &[&'static str]) -> Vec<Diagnostic> {
        for (key, _) in self.map {
            if self.taken.iter().chain(also).any(|taken| *taken == key.text) {
                continue;
            }
            let mut known = self.taken.clone();
            known.extend(also);
            let problem = Diagnostic::new(format!("unknown key `{}` in {}", key.text, self.what))
                .hint(did_you_mean(&key.text, &known))
                .at(self.file, key.line, key.column);
            self.problems.push(problem);
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
