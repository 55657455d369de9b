//! What a model that leads is told to do, and the JSON Schema of its answer.

use serde_json::{Map, Value, json};

use super::{FormFacts, LEAST_OPTIONS, MOST_OPTIONS};
use crate::workflow::{FacilitatorForm, OutputSchema};

/// Limits in characters.
pub const SHORTEST_QUESTION: usize = 8;
pub const LONGEST_QUESTION: usize = 600;
pub const LONGEST_PROPOSAL: usize = 6000;
pub const LONGEST_TITLE: usize = 120;

impl FormFacts {
    /// What the model is told to do, and the form of its answer in words.
    pub fn instructions(&self) -> String {
        let mut said = String::from(
            "You lead this discussion. You do not vote. Rely on the rounds below alone: invent no \
             participant, option, number or agreement.\n",
        );
        said.push_str(match self.form {
            FacilitatorForm::Open => {
                "Write the question of the first round. `exploration` is background that helps to answer \
                 it; leave it out if there is none.\n"
            }
            FacilitatorForm::Synthesize => {
                "Write the note on the round that was closed last: `synthesis` says what is agreed and \
                 what is disputed. `winner` is the winner of its count, null if there is none. Lists that \
                 have nothing to add are left out.\n"
            }
            FacilitatorForm::Conclude => {
                "Say how the discussion ends. `conclude` ends it, `repeat` holds the last round once \
                 more, `ask_person` leaves it to a person. `winner` is the winner of the count, null if \
                 there is none; `recommendation` is yours, and the winner where there is one.\n"
            }
        });
        if !self.ideas.is_empty() {
            said.push_str(
                "Merge the ideas into options: each idea stands in `from` of exactly one option, or in \
                 `set_aside` with a reason.\n",
            );
        }
        if self.is_blocked && self.form == FacilitatorForm::Synthesize {
            said.push_str(
                "The proposal is blocked: `amended` is the proposal as it is asked next, changed no more \
                 than lifts the blocks.\n",
            );
        }
        said + &self.output_schema().map(|schema| schema.in_words()).unwrap_or_default()
    }

    /// The JSON Schema of the answer; what the log settles has one value only.
    pub fn output_schema(&self) -> Result<OutputSchema, String> {
        OutputSchema::parse(&self.schema())
    }

    /// The same for services that hold a reply to a schema: without limits, and every key required; one that
    /// may be left out is null or an empty list.
    pub fn service_schema(&self) -> Value {
        for_service(&self.schema())
    }

    pub(super) fn without_nulls(&self, answer: &Value) -> Value {
        without_nulls(answer, &self.schema())
    }

    fn schema(&self) -> Value {
        let text = |most: usize| json!({ "type": "string", "minLength": 1, "maxLength": most });
        let winner = json!({ "enum": [self.winner] });
        match self.form {
            FacilitatorForm::Open => object(
                &["question"],
                json!({
                    "question": { "type": "string", "minLength": SHORTEST_QUESTION, "maxLength": LONGEST_QUESTION },
                    "exploration": { "type": "string", "maxLength": 6000 },
                }),
            ),
            FacilitatorForm::Synthesize => self.note_schema(),
            FacilitatorForm::Conclude => {
                let mut actions = vec!["conclude", "ask_person"];
                if self.can_repeat {
                    actions.push("repeat");
                }
                let options: Vec<Value> =
                    self.options.iter().map(|id| id.as_str().into()).chain([Value::Null]).collect();
                let recommendation = match &self.winner {
                    Some(_) => winner.clone(),
                    None if self.options.is_empty() => {
                        json!({ "type": ["string", "null"], "maxLength": 600 })
                    }
                    None => json!({ "enum": options }),
                };
                object(
                    &["action", "winner", "recommendation", "summary", "reason"],
                    json!({
                        "action": { "enum": actions },
                        "winner": winner,
                        "recommendation": recommendation,
                        "summary": text(2000),
                        "reason": text(600),
                    }),
                )
            }
        }
    }

    fn note_schema(&self) -> Value {
        let text = |most: usize| json!({ "type": "string", "minLength": 1, "maxLength": most });
        let list = |most: usize, item: Value| json!({ "type": "array", "maxItems": most, "items": item });
        let titled = object(&["title"], json!({ "title": text(200), "description": text(2000) }));
        let one_of = |ids: &[String], key: &str| {
            let item = json!({ "id": { "enum": ids }, key: text(600) });
            list(ids.len(), object(&["id", key], item))
        };
        let mut keys = Map::new();
        let mut add = |key: &str, schema: Value| keys.insert(key.to_owned(), schema);
        add("synthesis", text(2000));
        add("winner", json!({ "enum": [self.winner] }));
        let mut required = vec!["synthesis", "winner"];
        if !self.ideas.is_empty() {
            let ids: Vec<&str> = self.ideas.iter().map(|(idea, _)| idea.id.as_str()).collect();
            let from = json!({ "type": "array", "minItems": 1, "items": { "enum": ids } });
            let id = json!({ "type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,39}$" });
            let option =
                json!({ "id": id, "title": text(LONGEST_TITLE), "description": text(600), "from": from });
            let mut options = list(MOST_OPTIONS, object(&["id", "title", "from"], option));
            options["minItems"] = LEAST_OPTIONS.min(self.ideas.len()).into();
            add("options", options);
            let aside = json!({ "idea": { "enum": ids }, "reason": text(300) });
            add("set_aside", list(ids.len(), object(&["idea", "reason"], aside)));
            required.push("options");
        }
        if self.is_blocked {
            add("amended", text(LONGEST_PROPOSAL));
            required.push("amended");
        }
        let artifact = json!({ "title": text(200), "summary": text(200), "description": text(2000) });
        add("artifacts", list(5, object(&["title", "summary"], artifact)));
        add("conflicts", list(5, titled));
        add("questions", list(5, text(200)));
        for (key, ids, how) in [("resolved", &self.conflicts, "how"), ("answered", &self.questions, "answer")]
        {
            if !ids.is_empty() {
                add(key, one_of(ids, how));
            }
        }
        if !self.items.is_empty() {
            let status = json!({ "enum": ["done", "dropped"] });
            let item = json!({ "id": { "enum": self.items }, "status": status, "reason": text(600) });
            add("agenda", list(self.items.len(), object(&["id", "status", "reason"], item)));
        }
        object(&required, keys)
    }
}

fn object(required: &[&str], properties: impl Into<Value>) -> Value {
    json!({
        "type": "object", "additionalProperties": false, "required": required, "properties": properties.into(),
    })
}

/// Limits that not every service takes.
const LIMITS: [&str; 5] = ["minLength", "maxLength", "minItems", "maxItems", "pattern"];

fn is_required(schema: &Value, key: &str) -> bool {
    schema["required"].as_array().is_some_and(|required| required.iter().any(|name| name == key))
}

fn for_service(schema: &Value) -> Value {
    let mut made = schema.clone();
    let Some(keys) = made.as_object_mut() else { return made };
    keys.retain(|key, _| !LIMITS.contains(&key.as_str()));
    if let Some(words) = schema["enum"].as_array() {
        let is_text = words.iter().any(Value::is_string);
        let kinds: Vec<&str> = is_text
            .then_some("string")
            .into_iter()
            .chain(words.contains(&Value::Null).then_some("null"))
            .collect();
        keys.insert("type".to_owned(), if let [one] = kinds.as_slice() { json!(one) } else { json!(kinds) });
    }
    if let Some(items) = schema.get("items") {
        keys.insert("items".to_owned(), for_service(items));
    }
    if let Some(properties) = schema["properties"].as_object() {
        let mut all = Map::new();
        for (key, inner) in properties {
            let mut made = for_service(inner);
            if !is_required(schema, key) && made["type"] == "string" {
                made["type"] = json!(["string", "null"]);
            }
            all.insert(key.clone(), made);
        }
        keys.insert("required".to_owned(), all.keys().cloned().collect());
        keys.insert("properties".to_owned(), all.into());
    }
    made
}

fn without_nulls(value: &Value, schema: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| without_nulls(item, &schema["items"])).collect(),
        Value::Object(map) => {
            let kept = map.iter().filter(|(key, value)| !value.is_null() || is_required(schema, key));
            let inner = |key: &String, value| without_nulls(value, &schema["properties"][key.as_str()]);
            Value::Object(kept.map(|(key, value)| (key.clone(), inner(key, value))).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_for_services_requires_every_key_and_has_no_limits() {
        let schema = object(
            &["id", "winner"],
            json!({
                "id": {"type": "string", "minLength": 1},
                "winner": {"enum": ["a", null]},
                "how": {"type": "string", "maxLength": 9},
                "parts": {"type": "array", "maxItems": 2, "items": {"enum": ["x"]}},
            }),
        );
        let held = for_service(&schema);
        assert_eq!(held["required"], json!(["id", "winner", "how", "parts"]));
        assert_eq!(
            held["properties"],
            json!({
                "id": {"type": "string"},
                "winner": {"enum": ["a", null], "type": ["string", "null"]},
                "how": {"type": ["string", "null"]},
                "parts": {"type": "array", "items": {"enum": ["x"], "type": "string"}},
            })
        );
        let answer = json!({"id": "1", "winner": null, "how": null, "parts": []});
        assert_eq!(without_nulls(&answer, &schema), json!({"id": "1", "winner": null, "parts": []}));
    }
}
