//! A value that fits a schema, for the rehearsal: built from what the schema says, with the input's
//! text where text is free, and tried against the schema before it is taken.

use serde_json::{Map, Value, json};

use super::schema::OutputSchema;

/// How far down a value is built; past it only what is required.
const DEEPEST: usize = 6;
/// How far down at all.
const FLOOR: usize = 24;
/// The longest list or text that is made to reach a minimum.
const LONGEST: u64 = 10_000;

pub fn sample(schema: &OutputSchema, input: &Value) -> Value {
    let text = match input {
        Value::String(text) => text.clone(),
        Value::Null => "rehearsal".to_owned(),
        other => other.to_string(),
    };
    let tries = [Breadth::Everything, Breadth::Required];
    let made = tries.map(|breadth| {
        Maker { root: schema.written(), text: text.trim(), breadth }.value(schema.written(), 0, 0)
    });
    let plain =
        [json!({"result": text}), json!(text), json!(0), json!(true), json!([]), json!({}), Value::Null];
    let [first, second] = made;
    let all = [first.clone(), second].into_iter().chain(plain);
    all.into_iter().find(|value| schema.check(value).is_ok()).unwrap_or(first)
}

/// Which properties are made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Breadth {
    Everything,
    Required,
}

struct Maker<'a> {
    root: &'a Value,
    text: &'a str,
    breadth: Breadth,
}

impl Maker<'_> {
    /// A value for `schema`; `nth` tells items of one list apart.
    fn value(&self, schema: &Value, depth: usize, nth: usize) -> Value {
        let Value::Object(written) = schema else { return json!(self.text) };
        if depth > FLOOR {
            return Value::Null;
        }
        let schema = self.merged(written, depth);
        for key in ["const", "default"] {
            if let Some(value) = schema.get(key) {
                return value.clone();
            }
        }
        for key in ["enum", "examples"] {
            if let Some(Value::Array(values)) = schema.get(key)
                && !values.is_empty()
            {
                return values[nth % values.len()].clone();
            }
        }
        match kind(&schema) {
            "object" => self.object(&schema, depth),
            "array" => self.array(&schema, depth),
            "integer" => number(&schema, true, nth),
            "number" => number(&schema, false, nth),
            "boolean" => json!(true),
            "null" => Value::Null,
            _ => self.string(&schema, nth),
        }
    }

    /// The schema with what `$ref`, `allOf` and the first of `oneOf` and `anyOf` add to it.
    fn merged(&self, schema: &Map<String, Value>, depth: usize) -> Map<String, Value> {
        let mut all = schema.clone();
        if depth > FLOOR {
            return all;
        }
        let mut parts: Vec<&Value> = Vec::new();
        if let Some(Value::String(to)) = schema.get("$ref") {
            parts.extend(to.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer)));
        }
        if let Some(Value::Array(list)) = schema.get("allOf") {
            parts.extend(list);
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(Value::Array(list)) = schema.get(key) {
                parts.extend(list.first());
            }
        }
        for part in parts {
            if let Value::Object(part) = part {
                merge(&mut all, self.merged(part, depth + 1 + FLOOR / 4));
            }
        }
        all
    }

    fn object(&self, schema: &Map<String, Value>, depth: usize) -> Value {
        let mut made = Map::new();
        let required: Vec<&str> = match schema.get("required") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let empty = Map::new();
        let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let all = self.breadth == Breadth::Everything && depth < DEEPEST;
        for (name, property) in known {
            if *property != Value::Bool(false) && (all || required.contains(&name.as_str())) {
                made.insert(name.clone(), self.value(property, depth + 1, 0));
            }
        }
        let others = schema.get("additionalProperties").unwrap_or(&Value::Bool(true));
        for name in required {
            if !made.contains_key(name) {
                made.insert(name.to_owned(), self.value(others, depth + 1, 0));
            }
        }
        let least = limit(schema, "minProperties");
        for nth in 1.. {
            if made.len() as u64 >= least {
                break;
            }
            made.insert(format!("field{nth}"), self.value(others, depth + 1, 0));
        }
        Value::Object(made)
    }

    fn array(&self, schema: &Map<String, Value>, depth: usize) -> Value {
        let fixed: &[Value] = match schema.get("prefixItems") {
            Some(Value::Array(items)) => items,
            _ => &[],
        };
        let any = Value::Bool(true);
        let items = schema.get("items").or_else(|| schema.get("contains")).unwrap_or(&any);
        let wished = u64::from(self.breadth == Breadth::Everything && depth < DEEPEST);
        let most = schema.get("maxItems").and_then(Value::as_u64).unwrap_or(LONGEST);
        let least = limit(schema, "minItems").max(u64::from(schema.contains_key("contains")));
        let free = if *items == Value::Bool(false) { 0 } else { wished };
        let count = least.max(free.max(fixed.len() as u64).min(most)) as usize;
        (0..count).map(|nth| self.value(fixed.get(nth).unwrap_or(items), depth + 1, nth)).collect()
    }

    fn string(&self, schema: &Map<String, Value>, nth: usize) -> Value {
        if let Some(text) = schema.get("format").and_then(Value::as_str).and_then(formatted) {
            return json!(text);
        }
        if let Some(text) = schema.get("pattern").and_then(Value::as_str).and_then(matching) {
            return json!(text);
        }
        let least = limit(schema, "minLength") as usize;
        let most = schema.get("maxLength").and_then(Value::as_u64).unwrap_or(200) as usize;
        let numbered = if nth == 0 { self.text.to_owned() } else { format!("{nth} {}", self.text) };
        let mut text: String = numbered.chars().take(most.max(least)).collect();
        let short = least.saturating_sub(text.chars().count());
        text.extend(std::iter::repeat_n('-', short));
        json!(text)
    }
}

fn limit(schema: &Map<String, Value>, key: &str) -> u64 {
    schema.get(key).and_then(Value::as_u64).unwrap_or(0).min(LONGEST)
}

fn merge(all: &mut Map<String, Value>, part: Map<String, Value>) {
    for (key, value) in part {
        match (all.get_mut(&key), value) {
            (Some(Value::Object(known)), Value::Object(new)) => {
                for (name, value) in new {
                    known.entry(name).or_insert(value);
                }
            }
            (Some(Value::Array(known)), Value::Array(new)) if key == "required" => known.extend(new),
            (Some(_), _) => {}
            (None, value) => {
                all.insert(key, value);
            }
        }
    }
}

/// The type a value is made of: the first that is named, else what the other words speak of.
fn kind(schema: &Map<String, Value>) -> &str {
    let has = |keys: &[&str]| keys.iter().any(|key| schema.contains_key(*key));
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => kinds.iter().find_map(Value::as_str).unwrap_or("string"),
        _ if has(&["properties", "required", "additionalProperties", "minProperties"]) => "object",
        _ if has(&["items", "prefixItems", "minItems", "contains"]) => "array",
        _ if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) => "number",
        _ => "string",
    }
}

fn number(schema: &Map<String, Value>, whole: bool, nth: usize) -> Value {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let step = bound("multipleOf").filter(|step| *step > 0.0).unwrap_or(1.0);
    let above = bound("exclusiveMinimum");
    let least =
        bound("minimum").or(above).unwrap_or(f64::NEG_INFINITY).max(above.unwrap_or(f64::NEG_INFINITY));
    let below = bound("exclusiveMaximum");
    let most = bound("maximum").or(below).unwrap_or(f64::INFINITY).min(below.unwrap_or(f64::INFINITY));
    let start = if least > 0.0 || most < 0.0 {
        let near = if least.is_finite() { (least / step).ceil() } else { (most / step).floor() };
        near * step
    } else {
        0.0
    };
    let mut value = start + step * nth as f64;
    if above.is_some_and(|above| value <= above) {
        value += step;
    }
    if below.is_some_and(|below| value >= below) {
        value -= step;
    }
    if !whole && (value > most || value < least || above == Some(value) || below == Some(value)) {
        value = f64::midpoint(least.max(most - 1.0), most.min(least + 1.0));
    }
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}

fn formatted(format: &str) -> Option<&'static str> {
    let formats = [
        ("date-time", "2026-01-01T00:00:00Z"),
        ("date", "2026-01-01"),
        ("time", "00:00:00Z"),
        ("email", "someone@example.org"),
        ("uri", "https://example.org/"),
        ("uri-reference", "/"),
        ("hostname", "example.org"),
        ("ipv4", "192.0.2.1"),
        ("ipv6", "2001:db8::1"),
        ("uuid", "00000000-0000-4000-8000-000000000000"),
    ];
    formats.iter().find(|(name, _)| *name == format).map(|(_, text)| *text)
}

/// A short text that matches a pattern, if it is a plain one.
fn matching(pattern: &str) -> Option<String> {
    let hir = regex_syntax::Parser::new().parse(pattern).ok()?;
    let mut text = String::new();
    write_match(&hir, &mut text)?;
    Some(text)
}

fn write_match(hir: &regex_syntax::hir::Hir, out: &mut String) -> Option<()> {
    use regex_syntax::hir::{Class, HirKind};
    if out.len() > LONGEST as usize {
        return None;
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.push_str(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(Class::Unicode(class)) => {
            let plain = |c: &char| class.ranges().iter().any(|r| r.start() <= *c && *c <= r.end());
            let first = class.ranges().first()?.start();
            out.push(('a'..='z').chain('0'..='9').chain('A'..='Z').find(plain).unwrap_or(first));
        }
        HirKind::Class(Class::Bytes(class)) => out.push(char::from(class.ranges().first()?.start())),
        HirKind::Repetition(repeat) => {
            for _ in 0..repeat.min {
                write_match(&repeat.sub, out)?;
            }
        }
        HirKind::Capture(capture) => write_match(&capture.sub, out)?,
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| write_match(part, out))?,
        HirKind::Alternation(parts) => write_match(parts.first()?, out)?,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_fits() {
        for schema in [
            json!(true),
            json!({}),
            json!({"type": "object"}),
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}, "b": {"type": "boolean"}}}),
            json!({"type": "object", "required": ["x", "y"]}),
            json!({"required": ["x"], "additionalProperties": {"type": "number", "exclusiveMinimum": 3}}),
            json!({"type": "array", "minItems": 3, "uniqueItems": true, "items": {"type": "string"}}),
            json!({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2, "uniqueItems": true}),
            json!({"prefixItems": [{"type": "string"}, {"type": "null"}], "items": false, "type": "array"}),
            json!({"type": "array", "contains": {"const": 7}}),
            json!({"type": "string", "minLength": 500}),
            json!({"type": "string", "maxLength": 3}),
            json!({"type": "string", "pattern": "^REQ-[0-9]{3}(\\.[a-z]+)?$"}),
            json!({"type": "string", "format": "date-time"}),
            json!({"type": "integer", "minimum": 3, "maximum": 3}),
            json!({"type": "integer", "maximum": -5}),
            json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}),
            json!({"type": "number", "minimum": 0.5, "multipleOf": 0.25}),
            json!({"enum": ["yes", "no"]}),
            json!({"const": {"a": [1]}}),
            json!({"type": ["null", "string"]}),
            json!({"oneOf": [{"type": "object", "required": ["ok"], "properties": {"ok": {"const": true}}}, {"type": "null"}]}),
            json!({"allOf": [{"required": ["a"]}, {"required": ["b"], "properties": {"b": {"type": "null"}}}]}),
            json!({"$ref": "#/$defs/t", "$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/u"}}, "u": {"type": "integer"}}}),
            json!({"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}}),
            json!({"type": "object", "minProperties": 2}),
            json!({"not": {"type": "object"}}),
            json!({"type": "object", "properties": {"issue": {"type": ["object", "null"], "properties": {"id": {"type": "string"}}}}}),
        ] {
            let parsed = OutputSchema::parse(&schema).expect("a schema");
            for input in [json!("Add dark mode"), json!({"a": 1}), Value::Null] {
                let made = parsed.sample(&input);
                assert_eq!(parsed.check(&made), Ok(()), "{schema} -> {made}");
                assert_eq!(made, parsed.sample(&input), "always the same");
            }
        }
    }

    #[test]
    fn the_input_is_in_free_text() {
        let schema =
            OutputSchema::parse(&json!({"type": "object", "properties": {"text": {"type": "string"}}}));
        let made = schema.expect("a schema").sample(&json!("Add dark mode"));
        assert_eq!(made, json!({"text": "Add dark mode"}));
    }

    #[test]
    fn what_nothing_fits_ends_too() {
        for schema in
            [json!(false), json!({"$ref": "#"}), json!({"allOf": [{"type": "null"}, {"type": "string"}]})]
        {
            if let Ok(parsed) = OutputSchema::parse(&schema) {
                let _ = parsed.sample(&json!("x"));
            }
        }
    }
}
