//! JSON Schemas of the answer form, for providers with structured output.
//!
//! A schema depends on the form alone, so all seats of a round share it. It is not part of the prompt.
//! The plain schema uses only features that every provider supports: closed objects with all keys required
//! and no bounds. The bounded schema is for self-hosted servers, whose small models may never stop. A reply
//! that fits reads as a ballot or an abstention. The exceptions need checks that no schema can express: a
//! score off its scale, a duplicate option, a block without its change. The parser rejects those.

use indexmap::IndexSet;
use serde_json::{Map, Value, json};

use super::kind::whole;
use super::model::BallotForm;

/// Most options, and most bytes in their names, that every provider accepts.
const MOST_OPTIONS: usize = 250;
const MOST_BYTES: usize = 15_000;
/// Bounds of the bounded schema: characters of a text, items of a list.
const LONGEST_TEXT: usize = 300;
const LONGEST_LIST: usize = 3;
/// A scale with at most this many steps becomes a list of its numbers.
const MOST_STEPS: f64 = 20.0;

/// Answer form as two equivalent JSON Schemas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplySchema {
    pub plain: Value,
    /// With bounds, for servers that accept them.
    pub bounded: Value,
    /// Whether providers can enforce the schema strictly.
    pub is_strict: bool,
}

impl ReplySchema {
    /// Returns the schemas of an answer to this form; `None` if the form exceeds the providers' limits.
    pub fn for_form(form: &BallotForm) -> Option<Self> {
        let words = || form.options.iter().chain(&form.cards);
        if words().count() > MOST_OPTIONS || words().map(String::len).sum::<usize>() > MOST_BYTES {
            return None;
        }
        let spec = form.kind.spec();
        let plain = answer(form, spec.schemas(form));
        let mut bounded = answer(form, spec.bounded_schemas(form));
        bound(&mut bounded, form);
        Some(Self { plain, bounded, is_strict: true })
    }

    /// Wraps an agent's own schema, which may use features that strict modes reject.
    pub fn from_schema(schema: &Value) -> Self {
        Self { plain: schema.clone(), bounded: schema.clone(), is_strict: false }
    }
}

/// Puts the rationale before a ballot; an open question starts with its position and has more fields.
fn answer(form: &BallotForm, ballot: Vec<Value>) -> Value {
    let text = || json!({"type": "string"});
    let texts = || list(&text());
    let info = form.kind.info();
    let ballot = info.keys.iter().copied().zip(ballot);
    let confidence = ("confidence", described(json!({"type": ["number", "null"]}), "from 0 to 1"));
    let mut properties: Vec<(&str, Value)> = if info.asks_more {
        let trade_offs =
            object([("optimizing_for", text()), ("accepting_as_cost", text()), ("risks", texts())]);
        let before = [("rationale", texts()), ("trade_offs", trade_offs), ("concerns", texts())];
        let after = [("suggestions", texts()), confidence, ("references", texts())];
        ballot.chain(before).chain(after).collect()
    } else {
        [("rationale", texts())].into_iter().chain(ballot).chain([confidence]).collect()
    };
    if form.is_revision {
        let text = json!({"type": ["string", "null"]});
        let about = "which argument or fact changed your mind; null if none did";
        properties.push(("changed_by", described(text, about)));
    }
    object(properties)
}

/// Adds bounds to texts, lists and numbers that have none.
fn bound(schema: &mut Value, form: &BallotForm) {
    let Some(map) = schema.as_object_mut().filter(|map| !map.contains_key("enum")) else { return };
    let kind = map.get("type").map(|of| of.as_str().or(of[0].as_str()).unwrap_or_default().to_owned());
    match kind.as_deref() {
        Some("string") => {
            map.insert("maxLength".to_owned(), LONGEST_TEXT.into());
        }
        Some("array") => {
            map.entry("maxItems").or_insert(LONGEST_LIST.into());
        }
        // Only the confidence is a number that may be null.
        Some("number") if map["type"].is_array() => {
            map.remove("type");
            map.insert("enum".to_owned(), json!([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, null]));
        }
        Some("number") => return *schema = bounded_number(form),
        _ => {}
    }
    for (key, inner) in map.iter_mut() {
        match key.as_str() {
            "properties" => {
                inner.as_object_mut().into_iter().flatten().for_each(|(_, inner)| bound(inner, form));
            }
            "anyOf" => inner.as_array_mut().into_iter().flatten().for_each(|inner| bound(inner, form)),
            "items" => bound(inner, form),
            _ => {}
        }
    }
}

/// Returns the schema of a number on the scale: an enumeration if it has few steps, else an integer.
fn bounded_number(form: &BallotForm) -> Value {
    let end = |number: &Option<serde_json::Number>| number.as_ref().and_then(serde_json::Number::as_f64);
    let (min, max) = (end(&form.min), end(&form.max));
    if let (Some(min), Some(max)) = (min, max) {
        let is_whole = min.fract() == 0.0 && max.fract() == 0.0;
        let steps = if is_whole && max - min > 1.0 { max - min } else { 10.0 };
        if steps <= MOST_STEPS && max > min {
            let size = (max - min) / steps;
            let step = |nth: u32| whole(((min + size * f64::from(nth)) * 1e6).round() / 1e6);
            return json!({"enum": (0..=steps as u32).map(step).collect::<Vec<_>>()});
        }
    }
    let (min, max) = (min.unwrap_or(-1e6).ceil(), max.unwrap_or(1e6).floor());
    json!({"type": "integer", "minimum": whole(min), "maximum": whole(max)})
}

pub(super) fn options(form: &BallotForm) -> Value {
    word_enum(form.options.iter().map(String::as_str))
}

/// Returns an enumeration of these words without duplicates.
pub(super) fn word_enum<'a>(of: impl IntoIterator<Item = &'a str>) -> Value {
    json!({"type": "string", "enum": of.into_iter().collect::<IndexSet<_>>()})
}

pub(super) fn list(of: &Value) -> Value {
    json!({"type": "array", "items": of})
}

/// Returns a closed object schema with all keys required.
pub(super) fn object<'a>(properties: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let properties: Map<String, Value> =
        properties.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    let required: Vec<&String> = properties.keys().collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

pub(super) fn scale(form: &BallotForm) -> String {
    match (&form.min, &form.max) {
        (Some(min), Some(max)) => format!("from {min} to {max}"),
        (Some(min), None) => format!("from {min} on"),
        (None, Some(max)) => format!("up to {max}"),
        (None, None) => "a number".to_owned(),
    }
}

pub(super) fn described(mut schema: Value, about: &str) -> Value {
    schema["description"] = about.into();
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ballot::{Ballot, BallotKind, ParsedReply, read_reply};
    use serde_json::Number;

    fn forms() -> Vec<BallotForm> {
        let options = || vec!["in-process".to_owned(), "null".to_owned(), "1.10".to_owned()];
        let scale = (Some(Number::from(0)), Some(Number::from(5)));
        let cards = ["1", "2", "8", "?", "XL"].map(str::to_owned).to_vec();
        vec![
            BallotForm::position(),
            BallotForm::over(BallotKind::Choice, options()),
            BallotForm::over(BallotKind::Approval, options()),
            BallotForm::over(BallotKind::Ranking, options()),
            BallotForm { min: scale.0, max: scale.1, ..BallotForm::over(BallotKind::Score, options()) },
            BallotForm::over(BallotKind::Consent, Vec::new()),
            BallotForm::over(BallotKind::Ideas, Vec::new()),
            BallotForm::over(BallotKind::Findings, Vec::new()),
            BallotForm::over(BallotKind::Estimate, Vec::new()),
            BallotForm { cards, ..BallotForm::over(BallotKind::Estimate, Vec::new()) },
        ]
    }

    /// Returns values that fit a schema of this file: every word and branch, lists of one and of two.
    fn fitting(schema: &Value) -> Vec<Value> {
        if let Some(branches) = schema["anyOf"].as_array() {
            return branches.iter().flat_map(fitting).collect();
        }
        if let Some(words) = schema["enum"].as_array() {
            return words.clone();
        }
        match &schema["type"] {
            Value::String(kind) => match kind.as_str() {
                "string" => vec![json!("A reason: with # and a colon.")],
                "number" | "integer" => vec![json!(3)],
                "array" => {
                    let items = fitting(&schema["items"]);
                    let two: Vec<Value> = items.iter().take(2).cloned().collect();
                    vec![
                        json!([items[0]]),
                        if items[0].is_array() { json!([[items[0][0]], [items[1][1]]]) } else { json!(two) },
                    ]
                }
                _ => {
                    let properties = schema["properties"].as_object().expect("properties");
                    let first: Map<String, Value> = properties
                        .iter()
                        .map(|(key, value)| (key.clone(), fitting(value)[0].clone()))
                        .collect();
                    let mut all = Vec::new();
                    for (key, value) in properties {
                        for value in fitting(value) {
                            let mut one = first.clone();
                            one.insert(key.clone(), value);
                            all.push(Value::Object(one));
                        }
                    }
                    all
                }
            },
            Value::Array(_) => vec![
                json!(null),
                json!(schema["type"][0] == "number")
                    .as_bool()
                    .map_or(json!("x"), |number| if number { json!(0.5) } else { json!("a change") }),
            ],
            _ => panic!("{schema}"),
        }
    }

    /// Returns the plain and the bounded schema.
    fn schemas(form: &BallotForm) -> [Value; 2] {
        let schema = ReplySchema::for_form(form).expect("a schema");
        [schema.plain, schema.bounded]
    }

    #[test]
    fn answers_that_fit_the_schema_read_as_ballots_or_abstentions() {
        for (form, schema) in forms().iter().flat_map(|form| schemas(form).map(|schema| (form, schema))) {
            let (mut ballots, mut abstentions) = (0, 0);
            for answer in fitting(&schema) {
                if answer["consent"] == "block" && answer["minimum_change"].is_null() {
                    continue;
                }
                let ideas = answer["ideas"].as_array().map_or(&[][..], Vec::as_slice);
                if ideas.len() == 2 && ideas[0]["title"] == ideas[1]["title"] {
                    continue;
                }
                match read_reply(form, &answer.to_string()) {
                    ParsedReply::Answered(read) if read.ballot == Ballot::Abstain => abstentions += 1,
                    ParsedReply::Answered(_) => ballots += 1,
                    other => panic!("{:?}: {answer}: {other:?}", form.kind),
                }
            }
            assert!(ballots > 3, "{:?}", form.kind);
            assert!(abstentions > 0 || form.kind == BallotKind::Position, "{:?}", form.kind);
        }
        let abstains = r#"{"position":"abstain","rationale":[],"trade_offs":{"optimizing_for":"","accepting_as_cost":"","risks":[]},"concerns":[],"suggestions":[],"confidence":null,"references":[]}"#;
        match read_reply(&BallotForm::position(), abstains) {
            ParsedReply::Answered(read) => assert_eq!(read.ballot, Ballot::Abstain),
            other => panic!("{other:?}"),
        }
    }

    /// Asserts the restrictions that all documented schema subsets share.
    fn check(schema: &Value) {
        let known = [
            "type",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "enum",
            "anyOf",
            "description",
        ];
        let object = schema.as_object().expect("an object");
        assert!(object.keys().all(|key| known.contains(&key.as_str())), "{schema}");
        if schema["type"] == "object" {
            let properties = schema["properties"].as_object().expect("properties");
            assert_eq!(json!(properties.keys().collect::<Vec<_>>()), schema["required"]);
            assert_eq!(schema["additionalProperties"], false);
            properties.values().for_each(check);
        }
        for inner in schema["anyOf"].as_array().into_iter().flatten().chain(schema.get("items")) {
            check(inner);
        }
    }

    #[test]
    fn the_schema_uses_only_features_of_every_provider() {
        for form in forms() {
            let [schema, bounded] = schemas(&form);
            assert!(
                ["maxLength", "\"enum\":[0.1"].iter().all(|bound| bounded.to_string().contains(bound)),
                "{bounded}"
            );
            let keys = |schema: &Value| {
                schema["properties"].as_object().map(|of| of.keys().cloned().collect::<Vec<_>>())
            };
            assert_eq!(keys(&schema), keys(&bounded));
            assert_eq!(schema["type"], "object", "the root is an object, never a choice of several");
            check(&schema);
            assert!(schema.to_string().matches("anyOf").count() <= 1);
        }
        let many = (0..=MOST_OPTIONS).map(|n| n.to_string()).collect();
        assert_eq!(ReplySchema::for_form(&BallotForm::over(BallotKind::Choice, many)), None);
        let long = vec!["x".repeat(MOST_BYTES), "y".to_owned()];
        assert_eq!(ReplySchema::for_form(&BallotForm::over(BallotKind::Choice, long)), None);
    }
}
