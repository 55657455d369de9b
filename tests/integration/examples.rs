//! Published examples of context passing: each step gets the documented context.

use serde_json::{Value, json};

use crate::program::{Desk, named};

const INPUT: &str = "Build a dark mode toggle";

/// Runs an example whose agents answer `{"by": "<step>"}` unless `answers` has their answer.
fn handed(example: &str, answers: &Value) -> Vec<(String, Value)> {
    let path = format!("{}/tests/fixtures/workflows/{example}.json", env!("CARGO_MANIFEST_DIR"));
    let desk = Desk::new();
    desk.write("answers.json", answers.to_string());
    let ran = desk.run(["--batch", "--json", "--input", INPUT, "--answers", "answers.json", &path]).code(0);
    named(&ran.lines(), "work_item_offered")
        .iter()
        .map(|line| {
            // Without a prompt, an agent gets the whole work item as JSON, with its input first.
            let prompt = line["prompt"].as_str().expect("a prompt");
            let prompt: Value = serde_json::from_str(prompt).expect("JSON");
            for (key, value) in line["input"].as_object().expect("a map") {
                assert_eq!(prompt[key], *value);
            }
            for key in ["goal", "constraints", "stage_context", "available_skills"] {
                assert!(prompt.get(key).is_some(), "{key}: {prompt}");
            }
            let keys: Vec<&String> = line["input"].as_object().expect("a map").keys().collect();
            assert_eq!((keys[0].as_str(), keys[keys.len() - 1].as_str()), ("input", "context"));
            (line["step"].as_str().expect("a step").to_owned(), line["input"].clone())
        })
        .collect()
}

fn by(step: &str) -> Value {
    json!({ "by": step })
}

fn answers(steps: &[&str]) -> Value {
    steps.iter().map(|step| ((*step).to_owned(), by(step))).collect::<serde_json::Map<_, _>>().into()
}

fn given(context: &Value) -> Value {
    json!({ "input": INPUT, "context": context })
}

#[test]
fn every_step_is_handed_what_the_text_says() {
    let (plan, code) = (by("plan"), by("code"));
    let theme = json!({"files": ["src/theme.ts"], "approach": "x"});
    let three = ["plan", "code", "test"];
    let in_order = [json!({}), json!({"plan": plan}), json!({"plan": plan, "code": code})]
        .map(|context| given(&context));
    let researched = json!({"research-1": by("research-1"), "research-2": by("research-2")});
    let mut synthesized = researched.clone();
    synthesized["synthesize"] = by("synthesize");
    let summed = [json!({}), json!({"research-1": by("research-1")}), researched, synthesized];
    let summed = summed.map(|context| given(&context)).to_vec();
    let beside = [
        json!({"input": INPUT, "plan": plan, "context": {"plan": plan}}),
        json!({"input": INPUT, "code": code, "context": {"plan": plan, "code": code}}),
    ];
    let context = json!({"plan": theme, "files": theme["files"]});
    let output = json!({"input": INPUT, "files": theme["files"], "context": context});
    for (example, answers, wanted) in [
        // Earlier results are injected in order.
        ("example-1", answers(&three), in_order.to_vec()),
        ("example-2", answers(&three), in_order.to_vec()),
        // A reference is added to the context.
        ("example-3", answers(&three), vec![given(&json!({})), beside[0].clone(), beside[1].clone()]),
        // A transform is referenced by its output.
        ("example-4", json!({"plan": theme, "code": code}), vec![given(&json!({})), output]),
        // Parallel steps share one context.
        ("example-5", answers(&["unit", "integration", "e2e"]), vec![given(&json!({})); 3]),
        // Results accumulate.
        ("example-6", answers(&["research-1", "research-2", "synthesize", "code"]), summed),
    ] {
        let steps: Vec<String> = answers.as_object().expect("a map").keys().cloned().collect();
        let wanted: Vec<_> = steps.into_iter().zip(wanted).collect();
        assert_eq!(handed(example, &answers), wanted, "{example}");
    }
}

#[test]
fn the_complete_example_runs() {
    let mut script = answers(&["plan", "code", "unit", "integration", "review"]);
    script["approve-plan"] = json!({"approved": true});
    let found = handed("example-7", &script);
    let steps: Vec<&str> = found.iter().map(|(step, _)| step.as_str()).collect();
    assert_eq!(steps, ["plan", "code", "unit", "integration", "review"]);
    let approved = json!({"approved": true});
    let data = ["unit", "integration"].map(|step| json!({"stepId": step, "result": by(step)}));
    let tests = json!({"data": data, "success": true});
    let context =
        json!({"plan": by("plan"), "approve-plan": approved, "code": by("code"), "parallel-tests": tests});
    assert_eq!(found[4].1, json!({"input": INPUT, "code": by("code"), "context": context}));
}
