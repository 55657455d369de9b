//! A transform: a path into what earlier steps left, or a `JSONPath` over it.
//!
//! `context.plan.files`, `plan.files[0]` and `plan.files.length` pick one value; the leading
//! `context.` is dropped once. A text that begins with `$` is RFC 9535 `JSONPath` with the context as
//! its root: a query for one place gives the value there, any other the list of all it finds.

use serde_json::{Map, Value};
use serde_json_path::JsonPath;

use super::GrammarError;
use super::lexer::Lexer;
use super::value_path::walk;

const LONGEST: usize = 2_000;
/// `..` this often at most: each multiplies what a query looks at.
const MOST_DESCENTS: usize = 4;
/// Brackets within brackets at most.
const DEEPEST: usize = 30;

#[derive(Debug, Clone, PartialEq)]
pub struct Transform {
    text: String,
    kind: TransformKind,
}

#[derive(Debug, Clone, PartialEq)]
enum TransformKind {
    Path { step: String, keys: Vec<String> },
    Query { step: Option<String>, one: bool, query: Box<JsonPath> },
}

impl Transform {
    /// Reads a transform.
    ///
    /// # Errors
    /// What does not belong, with its place.
    pub fn parse(text: &str) -> Result<Self, GrammarError> {
        if text.len() > LONGEST {
            return Err(GrammarError::new(LONGEST, format!("a transform is at most {LONGEST} bytes long")));
        }
        let start = text.len() - text.trim_start().len();
        let text = text.trim();
        let kind = if text.starts_with('$') { query(text) } else { path(text) };
        let kind = kind.map_err(|error| GrammarError { offset: error.offset + start, ..error })?;
        Ok(Self { text: text.to_owned(), kind })
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The step it reads from, if it names one.
    pub fn steps(&self) -> impl Iterator<Item = &str> {
        let step = match &self.kind {
            TransformKind::Path { step, .. } => Some(step),
            TransformKind::Query { step, .. } => step.as_ref(),
        };
        step.map(String::as_str).into_iter()
    }

    /// The path it takes from the context, the root first; none of a query.
    pub fn path(&self) -> Option<Vec<String>> {
        let TransformKind::Path { step, keys } = &self.kind else { return None };
        let root = ["context".to_owned(), step.clone()];
        Some(root.into_iter().chain(keys.iter().cloned()).collect())
    }

    /// What it picks from `context`, the results as agents see them.
    ///
    /// # Errors
    /// ``Step not found: <step>`` and ``Path not found: <the whole transform>``.
    pub fn apply(&self, context: &Map<String, Value>) -> Result<Value, String> {
        if let Some(step) = self.steps().find(|step| !context.contains_key(*step)) {
            return Err(format!("Step not found: {step}"));
        }
        let missing = || format!("Path not found: {}", self.text);
        match &self.kind {
            TransformKind::Path { step, keys } => {
                let found = context.get(step).and_then(|data| walk(data, keys));
                found.map(std::borrow::Cow::into_owned).ok_or_else(missing)
            }
            TransformKind::Query { one, query, .. } => {
                let root = Value::Object(context.clone());
                let found = query.query(&root).all();
                if *one {
                    return found.first().map(|value| (*value).clone()).ok_or_else(missing);
                }
                Ok(Value::Array(found.into_iter().cloned().collect()))
            }
        }
    }
}

fn path(text: &str) -> Result<TransformKind, GrammarError> {
    let mut scan = Lexer::new(text);
    let first = scan.word();
    if first.is_empty() {
        let found = scan.next_words();
        let error = scan.error(format!("a transform begins with a step's id, found {found}"));
        return Err(error.hint("write for example `context.<step>.<field>`"));
    }
    let mut keys = scan.path_tail()?;
    if !scan.rest().is_empty() {
        let error = scan.error(format!("{} does not belong here", scan.next_words()));
        return Err(error.hint("a transform is one path, such as `context.plan.files[0]`"));
    }
    let step = if first == "context" && !keys.is_empty() { keys.remove(0) } else { first.to_owned() };
    Ok(TransformKind::Path { step, keys })
}

fn query(text: &str) -> Result<TransformKind, GrammarError> {
    let text = &without_context(text);
    limits(text)?;
    let query = JsonPath::parse(text).map_err(|error| {
        let at = text.char_indices().nth(error.position().saturating_sub(1)).map_or(text.len(), |(at, _)| at);
        GrammarError::new(at, format!("this is no JSONPath: {}", error.message()))
            .hint("names that hold a `-` go in brackets: `$['parallel-tests'].data[*]`")
    })?;
    let mut scan = Lexer::new(text);
    scan.at = 1;
    let keys = scan.path_tail().ok();
    // Only names and single indices were passed over: the query is for one place.
    let one = keys.is_some() && scan.rest().trim().is_empty();
    let step = first_name(text);
    Ok(TransformKind::Query { step, one, query: Box::new(query) })
}

/// The query without a leading `.context`: the root of a query is the context already.
fn without_context(text: &str) -> String {
    for written in ["$.context", "$['context']", "$[\"context\"]"] {
        if let Some(rest) = text.strip_prefix(written)
            && (rest.is_empty() || rest.starts_with(['.', '[', ' ']))
        {
            return format!("${rest}");
        }
    }
    text.to_owned()
}

fn first_name(text: &str) -> Option<String> {
    let rest = text.strip_prefix('$')?.trim_start();
    let mut scan = Lexer::new(rest);
    if scan.eat("[") {
        scan.space();
        let name = scan.peek().filter(|c| matches!(c, '\'' | '"')).and_then(|_| scan.quoted().ok())?;
        scan.space();
        return scan.eat("]").then_some(name);
    }
    let word = if scan.eat(".") { scan.word() } else { "" };
    (!word.is_empty()).then(|| word.to_owned())
}

fn limits(text: &str) -> Result<(), GrammarError> {
    if text.matches("..").count() > MOST_DESCENTS {
        let error = GrammarError::new(0, format!("a query holds `..` at most {MOST_DESCENTS} times"));
        return Err(error.hint("name the way down instead"));
    }
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEEPEST {
            let error = GrammarError::new(at, format!("the query is nested more than {DEEPEST} levels deep"));
            return Err(error.hint("split it into several transform steps"));
        }
    }
    Ok(())
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
    fn picks_one_value() {
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
            ("$.plan.approach", json!("CSS")),
            ("$.context.plan.approach", json!("CSS")),
            ("$['parallel-tests'].data[1].result.failed", json!(1)),
        ] {
            assert_eq!(apply(text), Ok(value), "{text}");
        }
        assert_eq!(apply("context.plan"), Ok(context()["plan"].clone()));
    }

    #[test]
    fn queries_find_lists() {
        for (text, value) in [
            ("$['parallel-tests'].data[*].stepId", json!(["unit", "integration"])),
            ("$['parallel-tests'].data[?@.result.failed > 0].stepId", json!(["integration"])),
            ("$['context']['parallel-tests'].data[?@.stepId == 'none']", json!([])),
            ("$..passed", json!([50, 20])),
            ("$.plan.files[-1]", json!("src/toggle.tsx")),
            ("$.plan.files[0,1]", json!(["src/theme.ts", "src/toggle.tsx"])),
            ("$.plan.files[?match(@, '.*tsx')]", json!(["src/toggle.tsx"])),
            ("$.plan.files[1:]", json!(["src/toggle.tsx"])),
        ] {
            let expected = if text.ends_with("[-1]") { json!(["src/toggle.tsx"]) } else { value };
            assert_eq!(apply(text), Ok(expected), "{text}");
        }
        assert_eq!(apply("$"), Ok(Value::Object(context())));
    }

    #[test]
    fn says_what_is_not_there() {
        for (text, message) in [
            ("context.code.files", "Step not found: code"),
            ("context.plan.filez", "Path not found: context.plan.filez"),
            ("plan.files[2]", "Path not found: plan.files[2]"),
            ("plan.approach.x", "Path not found: plan.approach.x"),
            ("plan.none.x", "Path not found: plan.none.x"),
            ("context", "Step not found: context"),
            ("context.context.plan", "Step not found: context"),
            ("$.code[*]", "Step not found: code"),
            ("$.plan.filez", "Path not found: $.plan.filez"),
        ] {
            assert_eq!(apply(text), Err(message.to_owned()), "{text}");
        }
    }

    #[test]
    fn refuses_with_place() {
        for (text, offset) in [
            ("", 0),
            ("  plan files", 6),
            ("plan..files", 5),
            ("plan.files[", 11),
            ("plan.files()", 10),
            ("${plan}", 0),
            ("$.parallel-tests", 9),
            ("$..a..b..c..d..e", 0),
        ] {
            assert_eq!(Transform::parse(text).map_err(|error| error.offset), Err(offset), "{text}");
        }
        for deep in [format!("$[?{}", "(".repeat(1_900)), format!("$[?{}@]", "!".repeat(1_900))] {
            assert!(Transform::parse(&deep).is_err());
        }
        assert!(Transform::parse(&format!("a{}", ".a".repeat(1_000))).is_err());
    }

    #[test]
    fn names_its_step() {
        for (text, step) in [
            ("context.plan.files", Some("plan")),
            ("plan", Some("plan")),
            ("$.plan[*]", Some("plan")),
            ("$[\"parallel-tests\"].data", Some("parallel-tests")),
            ("$..passed", None),
            ("$[*].x", None),
        ] {
            let transform = Transform::parse(text).expect(text);
            assert_eq!(transform.steps().next(), step, "{text}");
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
