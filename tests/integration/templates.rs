//! Templates in rounds, approvals and directives, and options from an earlier step.

use serde_json::{Value, json};

use crate::program::{Desk, Ran};

fn run(round: &str, left: &Value) -> (Desk, Ran) {
    let desk = Desk::with(&format!(
        "participants: [skeptic, qa-lead]\nsteps:\n  - {{id: ask, type: agent, agent: skeptic, prompt: p}}\n  \
         - {{id: pick, type: round, {round}}}\n"
    ));
    let vote = json!({"skeptic": {"vote": "a"}, "qa-lead": {"vote": "a"}});
    let ran = desk.answered(json!({"ask": left, "pick": vote}), &[]);
    (desk, ran)
}

const FROM: &str =
    "question: q, ballot: {kind: choice, options: {from: context.ask.options}}, rule: majority";

#[test]
fn a_place_without_a_value_fails_the_step_and_is_named() {
    let question =
        "question: \"{{context.ask.question}}\", ballot: {kind: choice, options: [a, b]}, rule: majority";
    let (_, ran) = run(question, &json!({"other": 1}));
    ran.code(3).tells("`question` cannot be rendered: `context.ask.question` has no value");
    let asks = "question: \"{{#if context.ask.none}}x{{else}}y{{/if}}{{context.ask.list}}\", ballot: {kind: choice, options: [a, b]}, rule: majority";
    let (desk, ran) = run(asks, &json!({"list": []}));
    ran.code(0);
    assert_eq!(desk.events("round_opened")[0]["question"], "y");
    // The same names as in prompts.
    let desk = Desk::rehearsing(
        "type: round\nlabel: Talk\ntask: B\ntasks: [{id: A, title: One}, {id: B, title: Two}]\n\
         links: [{id: l, fromId: A, toId: B, type: basic}]\n\
         question: \"{{stage_context.stage_description}}{{linked_tasks}}\"\n",
    );
    desk.answered("{}", &[]);
    let asked = desk.events("round_opened")[0]["question"].to_string();
    assert!(asked.starts_with("\"Talk{") && asked.contains("One"), "{asked}");
    // A round that refers to its own last run has none the first time.
    let own = "question: \"{{context.pick.tally.answered}}\", ballot: {kind: choice, options: [a, b]}, rule: majority";
    let (_, ran) = run(own, &json!("x"));
    assert!(ran.code(3).err.contains("`context.pick.tally.answered` has no value"));
}

#[test]
fn options_of_a_result_are_taken_whole_or_the_step_fails() {
    let many: Vec<String> = (0..1000).map(|n| format!("option {n}")).collect();
    for (options, wanted) in [
        (json!([]), "`context.ask.options` has 0 options; a ballot needs at least two"),
        (json!(["a", "a", "", "  ", null]), "has 1 option;"),
        (json!(many), "has 1000 options; at most 12 are accepted: `max`"),
        (json!("a, b"), "which is no list"),
        (json!([["a"], "b"]), "contains an invalid option"),
        (json!(["a", "A"]), "two options have the name `A`"),
        (json!([{"id": "a", "title": "x"}, {"id": "a", "title": "y"}]), "two options have the name `a`"),
        (json!(["a", "Abstain"]), "`abstain` is always possible"),
        (json!(["a", "b\nc"]), "is not one line of text"),
        (json!(["a", "x".repeat(201)]), "is longer than 200 characters"),
    ] {
        run(FROM, &json!({"options": options})).1.code(3).tells(wanted);
    }
    let (_, ran) = run(FROM, &json!({"other": 1}));
    assert!(ran.code(3).err.contains("Path not found: context.ask.options"));
    let options = json!(["a", {"id": "b", "description": "{{context.ask.x}} as written"}, "a", 3]);
    let (desk, ran) = run(FROM, &json!({"options": options}));
    ran.code(0).tells("warning: round `pick`: left out of `context.ask.options`: 1 double option");
    let log = desk.read("s.s2s");
    assert!(log.contains("description: \"{{context.ask.x}} as written\""), "{log}");
    desk.run(["report", "--format", "madr", "s.s2s"]).code(0).shows("* b: {{context.ask.x}} as written");
}
