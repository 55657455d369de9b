//! What must hold between the keys of a map, as far as a JSON Schema can say it.
//!
//! The loader checks the same and more, with better messages; these find a mistake in the editor.

use serde_json::{Value, json};

use crate::ballot::{BallotKind, Scale};
use crate::tally::Rule;

/// `key` only together with `needed`.
fn needs(key: &str, needed: &str) -> Value {
    json!({"dependentRequired": {key: [needed]}})
}

fn is(key: &str, words: &[&str]) -> Value {
    json!({"properties": {key: {"enum": words}}, "required": [key]})
}

fn without(keys: &[&str]) -> Value {
    let none = keys.iter().map(|key| ((*key).to_owned(), Value::Bool(false))).collect();
    json!({"properties": Value::Object(none)})
}

pub fn definition() -> Vec<Value> {
    let name = json!({"if": {"type": "string"}, "then": {"pattern": "^[\\p{L}\\p{N}_-]{1,64}$|/"}});
    vec![
        json!({"not": {"required": ["tasks", "tracker"]}}),
        json!({"properties": {"participants": {"minItems": 1, "items": name}}}),
    ]
}

pub fn participant() -> Vec<Value> {
    let of_program = ["cwd", "env", "ok_exit", "tool_less"];
    let mut rules: Vec<Value> = of_program.iter().map(|key| needs(key, "command")).collect();
    let named = ["persona", "name", "model"].map(|key| json!({"required": [key]}));
    rules.push(json!({"anyOf": named}));
    rules.push(json!({"not": {"required": ["tools", "command"]}}));
    rules
}

pub fn artifact() -> Vec<Value> {
    let any = ["summary", "title", "file", "diff"].map(|key| json!({"required": [key]}));
    let never = [["file", "diff"], ["file", "content"], ["diff", "content"]];
    let never = never.iter().map(|keys| json!({"not": {"required": keys}}));
    never.chain([json!({ "anyOf": any })]).collect()
}

pub fn task() -> Vec<Value> {
    vec![json!({"anyOf": [{"required": ["id"]}, {"required": ["issue_id"]}]})]
}

pub fn ballot() -> Vec<Value> {
    let rule = |(name, kind): &(&str, BallotKind)| {
        let takes = kind.spec().form_keys();
        let mut unknown = Vec::new();
        if !takes.options {
            unknown.extend(["options", "order"]);
        }
        if !takes.cards {
            unknown.push("cards");
        }
        if takes.scale == Scale::None {
            unknown.extend(["min", "max"]);
        }
        let mut then = without(&unknown);
        if takes.options {
            // Without blanks around it; `abstain` is always possible.
            let option = json!({"pattern": "^\\S([\\s\\S]*\\S)?$", "not": {"type": "string", "pattern": "^[Aa][Bb][Ss][Tt][Aa][Ii][Nn]$"}});
            then["properties"]["options"] =
                json!({"type": ["array", "object"], "minItems": 2, "uniqueItems": true, "items": option});
        }
        if let Scale::Default(..) = takes.scale {
            then["dependentRequired"] = json!({"min": ["max"], "max": ["min"]});
        }
        if takes.cards {
            then["properties"]["cards"] = json!({"minItems": 2, "uniqueItems": true});
            then["not"] =
                json!({"required": ["cards"], "anyOf": [{"required": ["min"]}, {"required": ["max"]}]});
        }
        json!({"if": of_kind(name), "then": then})
    };
    BallotKind::ALL.iter().map(rule).collect()
}

/// A ballot map of a kind; without a kind it is the default one.
fn of_kind(name: &str) -> Value {
    let named = is("kind", &[name]);
    let is_default = BallotKind::default().name() == name;
    if is_default { json!({"anyOf": [named, {"not": {"required": ["kind"]}}]}) } else { named }
}

pub fn rule() -> Vec<Value> {
    let others: Vec<&str> =
        Rule::all().filter(|rule| rule.default_threshold().is_none()).map(Rule::name).collect();
    vec![
        json!({"if": is("name", &others), "then": without(&["threshold"])}),
        json!({
            "if": is("name", &[Rule::Supermajority.name()]),
            "then": {"properties": {"threshold": {"minimum": 0.5}}},
        }),
    ]
}

pub fn round() -> Vec<Value> {
    let named = |takes_options: bool| -> Vec<&str> {
        let kinds = BallotKind::ALL.iter();
        let of = kinds.filter(|(_, kind)| kind.spec().form_keys().options == takes_options);
        of.map(|(name, _)| *name).collect()
    };
    // Of a discussion without options the seats propose some: these rules are a round's.
    let with_options =
        json!({"type": "object", "required": ["kind"], "properties": {"kind": {"enum": named(true)}}});
    let mut rules = vec![
        json!({"properties": {"ballot": {"if": {"type": "string"}, "then": {"enum": named(false)}}}}),
        json!({"properties": {"ballot": {"if": with_options, "then": {"required": ["options"]}}}}),
        json!({"if": is("close", &["deadline"]), "then": {"required": ["deadline"]}}),
        needs("act_at", "rule"),
        needs("on_undecided", "rule"),
    ];
    rules.extend(BallotKind::ALL.iter().map(|(name, kind)| fitting_rules(name, *kind)));
    rules
}

fn fitting_rules(name: &str, kind: BallotKind) -> Value {
    let of_kind = json!({
        "properties": {"ballot": {"anyOf": [{"const": name}, {"type": "object", "allOf": [of_kind(name)]}]}},
        "required": ["ballot"],
    });
    let is_default = BallotKind::default() == kind;
    let condition =
        if is_default { json!({"anyOf": [of_kind, {"not": {"required": ["ballot"]}}]}) } else { of_kind };
    let fitting = kind.spec().countable().map(Rule::for_kind).unwrap_or_default();
    let named = json!({"properties": {"name": {"enum": fitting}}});
    let then = if fitting.is_empty() {
        without(&["rule"])
    } else {
        json!({"properties": {"rule": {"anyOf": [{"enum": fitting}, {"type": "object", "allOf": [named]}]}}})
    };
    json!({"if": condition, "then": then})
}

pub fn step() -> Vec<Value> {
    let reserved = json!({"not": {"enum": ["input", "context", "error"]}});
    vec![needs("on_exhausted", "max_runs"), json!({"properties": {"id": reserved, "output": reserved}})]
}

/// Steps inside another lead nowhere.
pub fn nested() -> Vec<Value> {
    let routes = [
        "next",
        "on_error",
        "on_undecided",
        "on_exhausted",
        "max_runs",
        "then",
        "else",
        "on_approve",
        "on_reject",
    ];
    vec![json!({"properties": {"steps": {"minItems": 1, "items": without(&routes)}}})]
}
