//! What the rehearsal promises: same in, same out; a change of text or persona shows; nothing breaks it.

use super::*;
use crate::persona::builtin;
use crate::yaml::{Out, read};
use serde_json::json;

/// The snapshot of an example definition's step, put together from its keys.
fn snapshot_of(file: &str, step: usize) -> (Vec<Persona>, String) {
    let path = format!("{}/sessions/{file}", env!("CARGO_MANIFEST_DIR"));
    let definition = read(&std::fs::read_to_string(path).unwrap(), file).unwrap().to_json();
    let step = &definition["steps"][step];
    let mut context = serde_json::Map::new();
    let mut put = |key: &str, value: &Value| {
        if !value.is_null() {
            context.insert(key.to_owned(), value.clone());
        }
    };
    for key in ["project_summary", "goal", "constraints"] {
        put(key, &definition[key]);
    }
    for key in ["question", "exploration", "ballot"] {
        put(key, &step[key]);
    }
    put("agenda", &definition["agenda"]);
    put("artifacts_snapshot", &definition["artifacts"]);
    let names = definition["participants"].as_array().unwrap();
    let personas = names.iter().map(|name| builtin(name.as_str().unwrap()).unwrap()).collect();
    (personas, render(Value::Object(context)))
}

fn render(context: Value) -> String {
    let whole = Value::Object([("participant_context".to_owned(), context)].into_iter().collect());
    let Out::Map(entries) = Out::json(&whole, true) else { unreachable!() };
    let mut text = String::new();
    Out::write_entries(&entries, 0, &mut text);
    text
}

fn persona(priorities: &str) -> Persona {
    Persona::parse(&format!("---\nname: tester\npriorities: {{{priorities}}}\n---\nYou test.\n"), "t.md")
        .unwrap()
}

const VOTE: &str = "
### paper
- Good, because it is simple to build
- Bad, because it can lose data
### disk
- Good, because it is safe against loss
- Bad, because it is complex to build
";

fn vote(exploration: &str) -> String {
    render(json!({
        "question": "Which?", "exploration": exploration,
        "ballot": {"kind": "choice", "options": ["paper", "disk"]}, "artifacts_snapshot": [],
    }))
}

#[test]
fn the_same_in_gives_the_same_out() {
    let (personas, snapshot) = snapshot_of("context-passing.yaml", 0);
    let answers: Vec<Value> = personas.iter().map(|p| rehearse(&snapshot, p, Some(7))).collect();
    assert_eq!(answers, personas.iter().map(|p| rehearse(&snapshot, p, Some(7))).collect::<Vec<_>>());
    let mut positions: Vec<&str> = answers.iter().map(|a| a["position"].as_str().unwrap()).collect();
    positions.sort_unstable();
    positions.dedup();
    assert_eq!(positions.len(), personas.len());
}

#[test]
fn a_priority_decides_and_so_does_a_sentence() {
    let (builder, keeper) = (persona("simplicity: 5"), persona("loss: 5, data: 2"));
    assert_eq!(rehearse(&vote(VOTE), &builder, None)["vote"], "paper");
    assert_eq!(rehearse(&vote(VOTE), &keeper, None)["vote"], "disk");
    let turned = VOTE
        .replace("complex", "simple")
        .replace("- Bad, because it is simple", "- Good, because it is simple");
    let turned = turned.replacen(
        "- Good, because it is simple to build",
        "- Bad, because it is not simple to build",
        1,
    );
    let answer = rehearse(&vote(&turned), &builder, None);
    assert_eq!(answer["vote"], "disk");
    assert!(answer["rationale"].to_string().contains("(exploration)"), "{answer}");
}

#[test]
fn a_block_hinges_on_a_sentence() {
    let ask = |description: &str| {
        render(json!({
            "constraints": ["No person has access to the key alone"],
            "question": "Do you consent?", "ballot": {"kind": "consent"},
            "artifacts_snapshot": [{"id": "REL-1", "summary": "The release is simple", "description": description}],
        }))
    };
    let guard = persona("access: 5, keys: 4");
    let block = rehearse(&ask("One person has access to the key alone"), &guard, None);
    assert_eq!(block["consent"], "block");
    let change = block["minimum_change"].as_str().unwrap();
    assert!(
        change.contains("One person has access to the key alone") && change.contains("REL-1"),
        "{change}"
    );
    let calm = rehearse(&ask("Two people share the access to the key"), &guard, None);
    assert_eq!(calm["consent"], "support");
    assert_eq!(calm.get("minimum_change"), None);
}

#[test]
fn without_evidence_it_abstains() {
    let answer = rehearse(&vote("We meet on Thursday."), &persona("simplicity: 5"), None);
    assert_eq!(answer["vote"], "abstain");
    assert!(answer["rationale"][0].as_str().unwrap().contains("Nothing"), "{answer}");
    assert_eq!(answer.get("confidence"), None);
}

#[test]
fn equals_are_ordered_by_the_seed() {
    let even = "paper is simple.\ndisk is simple.";
    let by =
        |seed| rehearse(&vote(even), &persona("cost: 1"), Some(seed))["vote"].as_str().unwrap().to_owned();
    assert_eq!(by(1), by(1));
    let votes: Vec<String> = (0..16).map(by).collect();
    assert!(votes.contains(&"paper".to_owned()) && votes.contains(&"disk".to_owned()), "{votes:?}");
}

#[test]
fn other_ballots_have_their_keys() {
    let as_kind =
        |kind: &str| vote(VOTE).replace("kind: choice", &format!("kind: {kind}\n    min: 1\n    max: 5"));
    let builder = persona("simplicity: 5");
    assert_eq!(rehearse(&as_kind("approval"), &builder, None)["approve"], json!(["paper"]));
    assert_eq!(rehearse(&as_kind("ranking"), &builder, None)["ranking"], json!(["paper", "disk"]));
    let scores = rehearse(&as_kind("score"), &builder, None)["scores"].clone();
    assert_eq!(scores, json!({"paper": 5, "disk": 3}));
    let estimate = rehearse(&as_kind("estimate"), &builder, None)["estimate"].as_i64().unwrap();
    assert!((1..=5).contains(&estimate), "{estimate}");
    let cards = as_kind("estimate").replace("min: 1\n    max: 5", "cards: [\"S\", \"M\", \"L\"]");
    let card = rehearse(&cards, &builder, None)["estimate"].clone();
    assert!(["S", "M", "L"].contains(&card.as_str().unwrap()), "{card}");
}

#[test]
fn earlier_answers_make_a_risk_heavier() {
    let (personas, first) = snapshot_of("risk-review.yaml", 0);
    let answers: Vec<Value> =
        personas.iter().map(|p| json!({"stepId": p.name, "result": rehearse(&first, p, None)})).collect();
    let (_, second) = snapshot_of("risk-review.yaml", 1);
    let context = json!({"risks": {"data": answers, "success": true}});
    let mut with = read(&second, "s").unwrap().to_json()["participant_context"].clone();
    with["context"] = context;
    let answer = rehearse(&render(with), &personas[1], None);
    assert!(answer["rationale"].to_string().contains("earlier answers named it"), "{answer:#}");
}

#[test]
fn the_examples_come_out_as_they_say() {
    let outcome = |file: &str, key: &str| -> Vec<String> {
        let (personas, snapshot) = snapshot_of(file, 0);
        personas
            .iter()
            .map(|p| rehearse(&snapshot, p, None)[key].as_str().unwrap_or("-").to_owned())
            .collect()
    };
    assert_eq!(
        outcome("context-passing.yaml", "vote"),
        ["inline", "inline", "hybrid", "inline", "file-based"]
    );
    let consents = outcome("release-consent.yaml", "consent");
    assert_eq!(consents[1], "block");
    assert!(consents.iter().filter(|stance| *stance == "support").count() >= 2, "{consents:?}");
}

#[test]
fn hostile_text_does_no_harm() {
    let skeptic = builtin("skeptic").unwrap();
    let long = format!("participant_context:\n  question: \"{}\"\n", "no risk. ".repeat(40_000));
    let wide = format!("participant_context:\n  exploration: \"{}\"\n", "é“”".repeat(200_000));
    let options: Vec<String> = (0..500).map(|n| format!("o{n}")).collect();
    let many = render(
        json!({"ballot": {"kind": "choice", "options": options}, "exploration": "o7 is good. ".repeat(9_000)}),
    );
    for text in [
        "",
        "\0",
        "x",
        "- a\n- b",
        "participant_context: 3",
        "participant_context: [",
        "{}",
        long.as_str(),
        wide.as_str(),
        many.as_str(),
        "participant_context:\n  question: [1, {a: b}]\n  ballot: {kind: 7, options: {a: 1}}\n",
        "participant_context:\n  ballot: {kind: choice, options: [\"\", \"(\", \":\", \"…\", no]}\n  exploration: \"( : … no\"\n",
        "participant_context:\n  ballot: {kind: score, options: [a1], min: 9, max: 1}\n  exploration: \"a1: good.\"\n",
        "participant_context:\n  artifacts_snapshot: [1, {id: {}, summary: 3, acceptance: good}]\n  context: {risks: [\"“\"]}\n",
    ] {
        assert!(rehearse(text, &skeptic, Some(1)).is_object());
    }
}

#[test]
fn a_snapshot_is_read_once_for_all_who_share_it() {
    let participant = super::Rehearsal::default();
    let (one, other): (std::sync::Arc<str>, std::sync::Arc<str>) = (vote(VOTE).into(), vote("").into());
    let first = participant.scene(&one);
    assert!(std::sync::Arc::ptr_eq(&first, &participant.scene(&one)));
    assert_ne!(participant.scene(&other).statements, first.statements);
    assert_eq!(participant.scene(&one).statements, first.statements);
}
