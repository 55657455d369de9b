//! Templates in rounds, approvals and directives, and options that an earlier step left.

use serde_json::{Value, json};

use crate::program::{Desk, Ran, rows};

fn run(round: &str, left: &Value) -> (Desk, Ran) {
    let desk = Desk::with(&format!(
        "participants: [skeptic, qa-lead]\nsteps:\n  - {{id: ask, type: agent, agent: skeptic, prompt: p}}\n  \
         - {{id: pick, type: round, {round}}}\n"
    ));
    let vote = json!({"skeptic": {"vote": "a"}, "qa-lead": {"vote": "a"}});
    desk.write("answers.yaml", json!({"ask": left, "pick": vote}).to_string());
    let ran = desk.run(["--batch", "--answers", "answers.yaml", "--save", "out.s2s", "decide.yaml"]);
    desk.run(["verify", "out.s2s"]).code(0);
    (desk, ran)
}

const FROM: &str =
    "question: q, ballot: {kind: choice, options: {from: context.ask.options}}, rule: majority";

#[test]
fn names_that_lead_nowhere_are_errors_of_check() {
    let check = |text: &str| {
        let definition = format!(
            "participants: [skeptic, qa-lead]\nfacilitator_directive: \"{{{{goal}}}}\"\nsteps:\n  \
             - {{id: ask, type: agent, agent: skeptic, prompt: p}}\n  \
             - {{id: both, type: parallel, steps: [{{id: x, type: round, question: q}}, \
             {{id: y, type: round, question: \"{{{{context.ask.result}}}}\"}}]}}\n  - {{id: r, type: {text}}}\n"
        );
        Desk::with(&definition).run(["check", "decide.yaml"])
    };
    let options = |of: &str| format!("round, question: q, ballot: {{{of}}}, rule: majority");
    for (step, wanted) in rows(
        r#"round, question: "{{context.aks.q}}" => reads `context.aks`
           round, question: "{{question}}" => reads `question`
           round, question: "{{#if a}}b" => is no template: block `if` is never closed
           round, question: q, exploration: "{{context.both.tally}}" => reads `context.both.tally`
           approval, message: "{{contxt}}" => reads `contxt`
           round, question: q, facilitator_directive: "{{answers}}" => reads `answers`"#,
    ) {
        check(step).code(2).says(wanted);
    }
    // What runs at the same time is in no context.
    let beside = "{id: m, type: round, question: q}, {id: n, type: round, question: \"{{context.m.data}}\"}";
    check(&format!("parallel, steps: [{beside}]")).code(2).says("reads `context.m`");
    for (of, wanted) in rows(
        "kind: choice, options: {from: context.aks.o} => reads `context.aks`
         kind: choice, options: {from: ask.o, most: 3} => unknown key `most`
         kind: position, options: {from: ask.o} => takes no options",
    ) {
        check(&options(of)).code(2).says(wanted);
    }
    check(r#"approval, message: "{{#each artifacts}}{{id}}{{/each}} \\{{x}} {{context.both.success}}""#)
        .code(0);
}

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
    // A round that looks back at its own last run has none the first time.
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
        (json!([["a"], "b"]), "holds what is no option"),
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
    ran.code(0);
    let log = desk.read("out.s2s");
    assert!(log.contains("left out of `context.ask.options`: 1 double option"), "{log}");
    assert!(log.contains("description: \"{{context.ask.x}} as written\""), "{log}");
    desk.run(["report", "--format", "madr", "out.s2s"]).code(0).shows("* b: {{context.ask.x}} as written");
}
