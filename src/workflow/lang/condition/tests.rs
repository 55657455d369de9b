//! Table tests of conditions.

use proptest::prelude::{any, proptest};
use serde_json::{Value, json};

use super::Condition;

fn scope() -> Value {
    json!({
        "input": "Add dark mode toggle",
        "context": {
            "plan": {"files": ["a", "b"], "approach": "x", "success": "no"},
            "parallel-tests": {
                "data": [
                    {"stepId": "unit", "result": {"passed": 15, "failed": 0}},
                    {"stepId": "integration", "result": {"passed": 5, "failed": 0}}
                ],
                "success": true
            },
            "e2e.run": {"n": -1, "empty": null, "deep": {"a": [1, {"b": 2}]}},
            "code": {"filesCreated": []}
        }
    })
}

fn evaluate(text: &str) -> Result<bool, String> {
    let condition = Condition::parse(text).map_err(|error| error.to_string())?;
    condition.evaluate(&scope(), &|step| (step == "code").then_some(true))
}

#[test]
fn conditions_read_step_results() {
    for text in [
        "context.parallel-tests.success === true",
        "context[\"parallel-tests\"].success===true",
        "context['parallel-tests']['success']",
        "context.parallel-tests.data[0].result.failed === 0",
        "context.parallel-tests.data.1.result.passed >= 5.0",
        "context.plan.files.length > 1 && context.plan.approach === 'x'",
        "context.code.success === true",
        "context.code.missing === undefined",
        "context.later === undefined",
        "context[\"e2e.run\"].n > -2",
        "context[\"e2e.run\"].empty === null && context[\"e2e.run\"].empty !== undefined",
        "!(false || context.plan.files.length === 3)",
        "true || context.nothing.here",
        "!false && !!true",
        "input === \"Add dark mode toggle\"",
        "error === undefined",
        "'b' > 'a'",
        "1 < 2 === true",
        "false && false || true",
        "9007199254740993 > 9007199254740992",
        "1.0 === 1",
        "context.plan === context.plan",
        "'A\\n' === \"A\\n\"",
        "(((true)))",
    ] {
        assert_eq!(evaluate(text), Ok(true), "{text}");
    }
}

#[test]
fn conditions_convert_nothing() {
    for text in [
        "context.parallel-tests.success === 'true'",
        "context.parallel-tests.data[0].result.failed === '0'",
        "context.parallel-tests.data[0].result.failed === false",
        "context[\"e2e.run\"].empty === undefined",
        "context.plan.count > 0",
        "context[\"e2e.run\"].empty <= 0",
        "context.plan.success === false",
    ] {
        assert_eq!(evaluate(text), Ok(false), "{text}");
    }
}

#[test]
fn undecidable_conditions_explain_why() {
    for (text, message) in [
        ("context.plan.approved", "`context.plan.approved` is undefined, where true or false is needed"),
        ("!context.plan.approach", "`context.plan.approach` is a text, where true or false is needed"),
        ("1 && true", "`1` is a number, where true or false is needed"),
        (
            "context.plan.approach > 5",
            "`context.plan.approach` is a text and `5` is a number: only two numbers or two texts have an order",
        ),
        (
            "true < false",
            "`true` is true or false and `false` is true or false: only two numbers or two texts have an order",
        ),
        ("context[\"e2e.run\"]", "`context.e2e.run` is a map, where true or false is needed"),
    ] {
        assert_eq!(evaluate(text), Err(message.to_owned()), "{text}");
    }
}

#[test]
fn syntax_errors_have_place_and_hint() {
    for (text, offset, message, hint) in [
        ("context.a == 1", 10, "`==` is not part of the language", "write `===`; nothing is converted"),
        ("context.a != 1", 10, "`!=` is not part of the language", "write `!==`; nothing is converted"),
        ("context.a = 1", 10, "`=` is not part of the language", "write `===` to compare"),
        ("(context.a === 1", 0, "`(` is never closed", "close it with `)`"),
        ("context.a === 1)", 15, "`)` closes nothing", "remove it, or open it with `(`"),
        ("true and false", 5, "`and` is not part of the language", "write `&&`"),
        (
            "plan.success",
            0,
            "`plan` is nothing a condition sees",
            "a step's result is `context.plan`, a text is `\"plan\"`",
        ),
        ("contxt.plan", 0, "`contxt` is nothing a condition sees", "did you mean `context`?"),
        (
            "context..plan",
            8,
            "a name must follow the `.`, found `.`",
            "other names go in brackets: `[\"any name\"]`",
        ),
        (
            "context[-1]",
            8,
            "brackets hold a name in quotes or an index from 0",
            "write `[\"name\"]` or `[0]`",
        ),
        ("context[\"a\" === 1", 7, "`[` is never closed", "close it with `]`"),
        ("'a", 0, "a quote is never closed", "close it with `'`"),
        ("01 === 1", 0, "`01` is no number", "write it as `12`, `-1` or `0.5`"),
        ("- === 1", 0, "`-` is no number", "write it as `12`, `-1` or `0.5`"),
        (
            "",
            0,
            "a path or a value must stand here, found the end",
            "write for example `context.<step>.success === true`",
        ),
        (
            "process.exit()",
            0,
            "`process` is nothing a condition sees",
            "a step's result is `context.process`, a text is `\"process\"`",
        ),
        (
            "context.a()",
            9,
            "`(` does not belong here",
            "a condition knows paths, values, `=== !== < > <= >= && || !` and parentheses",
        ),
    ] {
        let error = Condition::parse(text).expect_err(text);
        assert_eq!((error.offset, error.message.as_str()), (offset, message), "{text}");
        assert_eq!(error.hint.as_deref(), Some(hint), "{text}");
    }
}

#[test]
fn depth_and_length_have_limits() {
    for text in [
        "(".repeat(9_000),
        "!".repeat(9_000) + "true",
        format!("1{}", " === 1".repeat(1_500)),
        format!("true{}", " && true".repeat(2_000)),
    ] {
        assert!(Condition::parse(&text).is_err());
    }
    let long = format!("true{}", " && true".repeat(1_000));
    assert_eq!(evaluate(&long), Ok(true));
    assert_eq!(evaluate(&format!("{}true{}", "(".repeat(50), ")".repeat(50))), Ok(true));
}

#[test]
fn conditions_list_their_paths() {
    let text = "context.a.x === context['b-c'].y || !context.a || input.z === error.stepId || context === 1";
    let condition = Condition::parse(text).expect("reads");
    let paths: Vec<String> = condition.paths().into_iter().map(|path| path.join(".")).collect();
    assert_eq!(paths, ["context.a.x", "context.b-c.y", "context.a", "input.z", "error.stepId", "context"]);
    assert_eq!(condition.text(), text);
}

proptest! {
    #[test]
    fn no_text_panics(text in any::<String>(), shaped in "[a-c.\\[\\]\"'()!&|=<>0-9 -]{0,40}") {
        for text in [text, format!("context.{shaped}"), shaped] {
            if let Ok(condition) = Condition::parse(&text) {
                let _ = condition.evaluate(&scope(), &|_| None);
            }
        }
    }
}
