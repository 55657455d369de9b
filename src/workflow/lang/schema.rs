//! Output schema of an agent's answer: JSON Schema, by default draft 2020-12.
//!
//! A `$ref` out of the schema is rejected, so nothing is ever loaded. Violations are reported with their
//! JSON pointer.

use std::error::Error;
use std::sync::Arc;
use std::{fmt, thread};

use boon::{CompileError, Compiler, Draft, SchemaIndex, Schemas, UrlLoader, ValidationError};
use serde_json::Value;

use super::sample;
use super::value_path::depth;

/// Name of a schema inside the validator.
const NAME: &str = "schema:///output_schema";
/// Deepest nesting of a schema or an answer.
const DEEPEST: usize = 100;
/// Most `$ref`s in a schema.
const MOST_REFS: usize = 500;
/// Most recursion steps: at each level of an answer, every `$ref` can add one.
const MOST_STEPS: usize = 10_000;
/// Stack size for the recursive validator, in bytes; enough for the limits above. Unused pages take no
/// memory.
const STACK: usize = 128 * 1024 * 1024;
const MOST_LISTED: usize = 5;

#[derive(Clone)]
pub struct OutputSchema {
    written: Value,
    compiled: Arc<(Schemas, SchemaIndex)>,
}

impl PartialEq for OutputSchema {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

impl fmt::Debug for OutputSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OutputSchema({})", self.written)
    }
}

struct NoExternalSchemas;

impl UrlLoader for NoExternalSchemas {
    fn load(&self, _: &str) -> Result<Value, Box<dyn Error>> {
        Err("a schema may only point into itself".into())
    }
}

impl OutputSchema {
    /// Compiles a schema. Errors contain the JSON pointer of the place.
    pub fn parse(schema: &Value) -> Result<Self, String> {
        if !matches!(schema, Value::Object(_) | Value::Bool(_)) {
            return Err("a JSON Schema is a map, such as `{type: object}`".to_owned());
        }
        if depth(schema) > DEEPEST {
            return Err(format!("the schema is nested more than {DEEPEST} levels deep"));
        }
        if refs(schema) > MOST_REFS {
            return Err(format!("the schema contains more than {MOST_REFS} references"));
        }
        let compiled = on_deep_stack(|| compile(schema))?;
        Ok(Self { written: schema.clone(), compiled: Arc::new(compiled) })
    }

    pub fn written(&self) -> &Value {
        &self.written
    }

    /// Describes the required form, followed by the schema itself.
    pub fn in_words(&self) -> String {
        sample::in_words(&self.written)
    }

    /// Validates an answer. The error lists the first violations: JSON pointer and expected value.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        if depth(value) > DEEPEST {
            return Err(format!("the answer is nested more than {DEEPEST} levels deep"));
        }
        if depth(value) * refs(&self.written) > MOST_STEPS {
            return Err("the answer is nested too deeply for a schema with so many references".to_owned());
        }
        let (schemas, index) = &*self.compiled;
        on_deep_stack(|| schemas.validate(value, *index).map_err(|error| violations(&error)))
    }

    /// Returns the smallest value that fits. Fails if the schema needs other keywords than `sample` knows.
    pub fn sample(&self) -> Result<Value, String> {
        let made = sample::sample(&self.written);
        self.check(&made)
            .map_err(|why| format!("a placeholder cannot be made for this `output_schema`: {why}"))?;
        Ok(made)
    }
}

fn compile(schema: &Value) -> Result<(Schemas, SchemaIndex), String> {
    let mut compiler = Compiler::new();
    compiler.set_default_draft(Draft::V2020_12);
    compiler.use_loader(Box::new(NoExternalSchemas));
    let mut schemas = Schemas::new();
    compiler.add_resource(NAME, schema.clone()).map_err(|error| explain(&error))?;
    let index = compiler.compile(NAME, &mut schemas).map_err(|error| explain(&error))?;
    Ok((schemas, index))
}

fn on_deep_stack<T: Send>(work: impl FnOnce() -> Result<T, String> + Send) -> Result<T, String> {
    thread::scope(|scope| {
        let worker = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let worker = worker.map_err(|error| format!("the schema cannot be tried: {error}"))?;
        worker.join().unwrap_or_else(|_| Err("the schema cannot be tried".to_owned()))
    })
}

fn refs(schema: &Value) -> usize {
    match schema {
        Value::Array(items) => items.iter().map(refs).sum(),
        Value::Object(map) => {
            let here = map.keys().filter(|key| key.ends_with("Ref") || *key == "$ref").count();
            here + map.values().map(refs).sum::<usize>()
        }
        _ => 0,
    }
}

fn explain(error: &CompileError) -> String {
    match error {
        CompileError::ValidationError { src, .. } => format!("this is no JSON Schema: {}", violations(src)),
        CompileError::LoadUrlError { url, .. } | CompileError::UnsupportedUrlScheme { url } => {
            format!("`{url}` lies outside the schema, and nothing is loaded")
        }
        other => other.to_string().replace(NAME, "the schema"),
    }
}

/// Lists the innermost violations, without duplicates.
fn violations(error: &ValidationError<'_, '_>) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut todo = vec![error];
    while let Some(error) = todo.pop() {
        if error.causes.is_empty() {
            let text = violation(error);
            if !lines.contains(&text) {
                lines.push(text);
            }
        }
        todo.extend(error.causes.iter().rev());
    }
    let more = lines.len().saturating_sub(MOST_LISTED);
    lines.truncate(MOST_LISTED);
    let mut text = lines.join("; ");
    if more > 0 {
        text.push_str(&format!("; and {more} more"));
    }
    text
}

fn violation(error: &ValidationError<'_, '_>) -> String {
    let (pointer, said) =
        (error.instance_location.to_string(), error.kind.to_string().replace(NAME, "").replace('\'', "`"));
    if pointer.is_empty() { said } else { format!("`{pointer}`: {said}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema(value: &Value) -> OutputSchema {
        OutputSchema::parse(value).expect("a schema")
    }

    #[test]
    fn violations_name_each_place() {
        let schema = schema(&json!({
            "type": "object",
            "required": ["passed", "details"],
            "additionalProperties": false,
            "properties": {
                "passed": {"type": "integer", "minimum": 0},
                "details": {"type": "string"},
                "files": {"type": "array", "items": {"type": "string"}}
            }
        }));
        assert_eq!(schema.check(&json!({"passed": 1, "details": "ok", "files": ["a"]})), Ok(()));
        for (value, error) in [
            (json!([]), "want object, but got array"),
            (json!({"passed": 1}), "missing properties `details`"),
            (json!({"passed": -1, "details": "x"}), "`/passed`: must be >=0, but got -1"),
            (json!({"passed": 1, "details": "x", "extra": 1}), "additionalProperties `extra` not allowed"),
            (
                json!({"passed": "1", "details": "x", "files": ["a", 2]}),
                "`/passed`: want integer, but got string; `/files/1`: want string, but got number",
            ),
        ] {
            assert_eq!(schema.check(&value), Err(error.to_owned()), "{value}");
        }
        let many: Vec<u32> = (0..9).collect();
        let error = schema.check(&json!({"passed": 1, "details": "x", "files": many})).expect_err("nine");
        assert!(error.ends_with("; and 4 more"), "{error}");
    }

    #[test]
    fn invalid_schemas_are_rejected() {
        for (value, part) in [
            (json!("object"), "a JSON Schema is a map"),
            (json!({"type": "objekt"}), "this is no JSON Schema: `/type`"),
            (json!({"required": "a"}), "`/required`: want array, but got string"),
            (json!({"pattern": "("}), "`/pattern`: `(` is not valid regex"),
            (json!({"$ref": "file:///etc/passwd"}), "`file:///etc/passwd` lies outside the schema"),
            (json!({"$ref": "https://example.org/a.json"}), "lies outside the schema"),
            (json!({"$ref": "#/$defs/none"}), "json-pointer in the schema#/$defs/none not found"),
            (json!({"$schema": "https://example.org/draft"}), "lies outside the schema"),
        ] {
            let error = OutputSchema::parse(&value).expect_err("no schema");
            assert!(error.contains(part), "{value}: {error}");
        }
        let deep = (0..200).fold(json!({}), |inner, _| json!({"not": inner}));
        assert!(OutputSchema::parse(&deep).is_err());
    }

    #[test]
    fn circular_schemas_terminate() {
        if let Ok(circle) = OutputSchema::parse(&json!({"$ref": "#"})) {
            assert!(circle.check(&json!(1)).is_err());
        }
        let tree = schema(&json!({
            "type": "object",
            "properties": {"inner": {"$ref": "#"}},
            "required": ["name"],
        }));
        let deep = (0..98).fold(json!({"name": 1}), |inner, _| json!({"name": 1, "inner": inner}));
        assert_eq!(tree.check(&deep), Ok(()));
        let chain: serde_json::Map<String, Value> = (0..100)
            .map(|n| (n.to_string(), json!({"$ref": format!("#/$defs/{}", n + 1)})))
            .chain([("100".to_owned(), json!({"properties": {"inner": {"$ref": "#"}}}))])
            .collect();
        let chain = schema(&json!({"$ref": "#/$defs/0", "$defs": chain}));
        assert!(chain.check(&deep).is_err());
        let deep = (0..90).fold(json!({"name": 1}), |inner, _| json!({"name": 1, "inner": inner}));
        assert_eq!(chain.check(&deep), Ok(()));
        let deeper = (0..5_000).fold(json!({}), |inner, _| Value::Array(vec![inner]));
        assert!(tree.check(&deeper).is_err());
        std::mem::forget(deeper);
    }
}
