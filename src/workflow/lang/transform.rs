//! Transforms: paths into the results of earlier steps.
//!
//! `context.plan.files`, `plan.files[0]` and `plan.files.length` pick one value. The first `context.` is
//! optional.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::GrammarError;
use super::lexer::Lexer;
use super::value_path::walk;

const LONGEST: usize = 2_000;

/// The default replaces a text that does not parse.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Transform {
    text: String,
    /// `context`, the step, and the path into its result.
    path: Vec<String>,
}

impl Transform {
    pub fn parse(text: &str) -> Result<Self, GrammarError> {
        if text.len() > LONGEST {
            return Err(GrammarError::new(LONGEST, format!("a path is at most {LONGEST} bytes long")));
        }
        let mut scan = Lexer { text, at: 0 };
        scan.space();
        let (start, found) = (scan.at, scan.next_words());
        let first = scan.word();
        if first.is_empty() || first.starts_with('$') {
            let error = GrammarError::new(start, format!("a path begins with a name, found {found}"));
            return Err(error.hint("write for example `context.<step>.<field>`"));
        }
        let keys = scan.path_tail()?;
        scan.space();
        if !scan.rest().is_empty() {
            let error = scan.error(format!("{} does not belong here", scan.next_words()));
            return Err(error.hint("a path is names and numbers, such as `context.plan.files[0]`"));
        }
        let mut path = vec!["context".to_owned()];
        if first != "context" || keys.is_empty() {
            path.push(first.to_owned());
        }
        path.extend(keys);
        Ok(Self { text: text.trim().to_owned(), path })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn step(&self) -> &str {
        self.path.get(1).map_or("", String::as_str)
    }

    /// Returns the path, beginning with `context`.
    pub fn path(&self) -> &[String] {
        &self.path
    }

    /// Picks the value from `context`, the results as agents see them. Fails if the step or the path is
    /// absent.
    pub fn apply(&self, context: &Map<String, Value>) -> Result<Value, String> {
        let data = context.get(self.step()).ok_or_else(|| format!("Step not found: {}", self.step()))?;
        let found = self.path.get(2..).and_then(|keys| walk(data, keys));
        found.map(Cow::into_owned).ok_or_else(|| format!("Path not found: {}", self.text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::{any, proptest};
    use serde_json::json;

    fn context() -> Map<String, Value> {
        let value = json!({
            "plan": {"files": ["src/theme.ts", "src/toggle.tsx"], "approach": "CSS", "none": null},
            "parallel-tests": {
                "data": [
                    {"stepId": "unit", "result": {"passed": 50, "failed": 0}},
                    {"stepId": "integration", "result": {"passed": 20, "failed": 1}}
                ],
                "success": true
            },
            "e2e.run": [[1, 2], [3]]
        });
        value.as_object().cloned().unwrap_or_default()
    }

    fn apply(text: &str) -> Result<Value, String> {
        Transform::parse(text).map_err(|error| error.to_string())?.apply(&context())
    }

    #[test]
    fn transforms_pick_one_value() {
        for (text, value) in [
            ("context.plan.files", json!(["src/theme.ts", "src/toggle.tsx"])),
            ("plan.files", json!(["src/theme.ts", "src/toggle.tsx"])),
            (" context.plan.approach ", json!("CSS")),
            ("context.plan.files[1]", json!("src/toggle.tsx")),
            ("context.plan.files.1", json!("src/toggle.tsx")),
            ("context.plan.files.length", json!(2)),
            ("context.plan.none", json!(null)),
            ("context.parallel-tests.data[0].result.passed", json!(50)),
            ("context[\"e2e.run\"][0].length", json!(2)),
            ("context['e2e.run'].1[0]", json!(3)),
            ("parallel-tests.success", json!(true)),
        ] {
            assert_eq!(apply(text), Ok(value), "{text}");
        }
        assert_eq!(apply("context.plan"), Ok(context()["plan"].clone()));
    }

    #[test]
    fn absent_values_are_named_in_the_error() {
        for (text, message) in [
            ("context.code.files", "Step not found: code"),
            ("context.plan.filez", "Path not found: context.plan.filez"),
            ("plan.files[2]", "Path not found: plan.files[2]"),
            ("plan.approach.x", "Path not found: plan.approach.x"),
            ("plan.none.x", "Path not found: plan.none.x"),
            ("context", "Step not found: context"),
            ("context.context.plan", "Step not found: context"),
        ] {
            assert_eq!(apply(text), Err(message.to_owned()), "{text}");
        }
    }

    #[test]
    fn syntax_errors_have_a_place() {
        for (text, offset) in [
            ("", 0),
            ("  plan files", 7),
            ("plan..files", 5),
            ("plan.files[", 11),
            ("plan.files()", 10),
            ("${plan}", 0),
            ("$.plan.files", 0),
            ("plan.files[*]", 11),
        ] {
            assert_eq!(Transform::parse(text).map_err(|error| error.offset), Err(offset), "{text}");
        }
        assert!(Transform::parse(&format!("a{}", ".a".repeat(1_000))).is_err());
    }

    #[test]
    fn transforms_name_their_step() {
        for (text, step) in [
            ("context.plan.files", "plan"),
            ("plan", "plan"),
            ("context[\"parallel-tests\"].data", "parallel-tests"),
        ] {
            let transform = Transform::parse(text).expect(text);
            assert_eq!(transform.step(), step, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in any::<String>(), shaped in "[a-c.\\[\\]\"'()!&|=<>0-9 *?@:,-]{0,40}") {
            for text in [text, format!("${shaped}"), shaped] {
                if let Ok(transform) = Transform::parse(&text) {
                    let _ = transform.apply(&context());
                }
            }
        }
    }
}
