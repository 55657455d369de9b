//! Table tests of templates: documented prompts, output of handlebars.js, errors.

use proptest::prelude::{any, proptest};
use serde_json::{Value, json};

use super::Template;

fn scope() -> Value {
    json!({
        "input": "Add dark mode toggle",
        "code": {"filesCreated": ["src/theme.ts", "src/toggle.tsx"], "filesModified": ["src/App.tsx"], "changes": "Added"},
        "context": {
            "plan": {"files": ["src/theme.ts", "src/toggle.tsx"], "approach": "Use CSS", "steps": ["a", "b"]},
            "research-1": {"findings": "<b>1</b>"},
            "parallel-tests": {
                "data": [
                    {"stepId": "unit", "result": {"passed": 15, "failed": 0}},
                    {"stepId": "integration", "result": {"passed": 5, "failed": 0}}
                ],
                "success": true
            },
            "e2e.run": {"n": 1}
        },
        "goal": "g",
        "constraints": ["c1", "c2"]
    })
}

fn render(text: &str) -> String {
    Template::parse(text).expect(text).render(&scope()).expect(text)
}

#[test]
fn documented_prompts_render() {
    let coder = "## Plan (if available)\n{{#if context.plan}}\nFiles to create: {{context.plan.files}}\n\
                 Approach: {{context.plan.approach}}\nSteps: {{context.plan.steps}}\n{{/if}}\n\n## Your Job\n";
    let printed = "## Plan (if available)\nFiles to create: src/theme.ts,src/toggle.tsx\nApproach: Use CSS\n\
                   Steps: a,b\n\n## Your Job\n";
    assert_eq!(render(coder), printed);
    let reviewer = "## Test Results\n{{#if context.parallel-tests}}\n{{#each context.parallel-tests.data}}\n\
                    - {{this.stepId}}: {{this.result.passed}} passed, {{this.result.failed}} failed\n\
                    {{/each}}\n{{/if}}\n\n## Your Job\n";
    let printed =
        "## Test Results\n- unit: 15 passed, 0 failed\n- integration: 5 passed, 0 failed\n\n## Your Job\n";
    assert_eq!(render(reviewer), printed);
    let synthesizer = "## Available Research\n\n{{#each context}}\n### {{@key}}\n{{this.findings}}\n{{/each}}\n\n## Your Task\n";
    let printed = "## Available Research\n\n### plan\n\n### research-1\n<b>1</b>\n### parallel-tests\n\n### e2e.run\n\n\n## Your Task\n";
    assert_eq!(render(synthesizer), printed);
}

#[test]
fn templates_render_for_models() {
    for (template, printed) in [
        ("{{input}}!", "Add dark mode toggle!"),
        (
            "{{context.plan}}",
            "{\"files\":[\"src/theme.ts\",\"src/toggle.tsx\"],\"approach\":\"Use CSS\",\"steps\":[\"a\",\"b\"]}",
        ),
        ("{{code.filesModified}}", "src/App.tsx"),
        ("[{{context.nothing.here}}]", "[]"),
        ("{{context.research-1.findings}}{{{context.research-1.findings}}}", "<b>1</b><b>1</b>"),
        ("{{context.[e2e.run].n}}", "1"),
        ("{{context.plan.files.length}} {{context.plan.files.[1]}}", "2 src/toggle.tsx"),
        ("{{#each constraints}}{{number @index}}. {{this}}\n{{/each}}", "1. c1\n2. c2\n"),
        (
            "{{join constraints \", \"}} {{join constraints}} {{join goal \"-\"}} {{join nothing \"-\"}}",
            "c1, c2 c1,c2 g ",
        ),
        ("{{#each context.[e2e.run]}}{{@key}}{{/each}}{{join context.plan.steps '+'}}", "na+b"),
        ("{{#if nothing}}a{{else if goal}}b{{else}}c{{/if}}", "b"),
        ("{{#each constraints}}{{../goal}}{{@root.goal}}{{#unless @last}},{{/unless}}{{/each}}", "gg,gg"),
        ("{{#with code}}{{changes}}{{/with}}{{#with nothing}}{{else}}none{{/with}}", "Addednone"),
        (
            "{{number 2}} {{number -1.5}}{{#if true}}a{{/if}}{{#unless null}}b{{/unless}}{{join 'c' \",\"}}",
            "3 -0.5abc",
        ),
        ("{{! note }}{{!-- {{goal}} --}}{{goal}}", "g"),
        ("\\{{goal}} \\\\{{goal}}", "{{goal}} \\g"),
    ] {
        assert_eq!(render(template), printed, "{template}");
    }
}

#[test]
fn truth_matches_handlebars() {
    let scope = json!({"list": [], "zero": 0, "empty": "", "none": null, "map": {}, "no": false, "text": "0", "one": [0]});
    let template = Template::parse(
        "{{#each this}}{{@key}}:{{#if this}}1{{else}}0{{/if}}{{#unless this}}1{{else}}0{{/unless}} {{/each}}{{#if missing}}1{{else}}0{{/if}}",
    );
    let printed = template.expect("reads").render(&scope);
    assert_eq!(printed.as_deref(), Ok("list:01 zero:01 empty:01 none:01 map:10 no:01 text:10 one:10 0"));
}

/// Compares with recorded output of handlebars.js 4.7, set to print maps as JSON.
#[test]
fn output_matches_handlebars_js() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/handlebars.json");
    let cases: Value = serde_json::from_str(&std::fs::read_to_string(path).expect("the file")).expect("JSON");
    let mut wrong: Vec<String> = Vec::new();
    let list = cases["cases"].as_array().expect("a list");
    assert!(list.len() > 90);
    for case in list {
        let text = case["template"].as_str().expect("a template");
        let template = Template::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        let printed = template.render(&cases["data"]);
        if printed.as_deref() != Ok(case["printed"].as_str().expect("a text")) {
            wrong.push(format!("{text:?}\n  ours   {printed:?}\n  theirs {:?}", case["printed"]));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn syntax_errors_have_a_place() {
    for (text, offset, message) in [
        ("a {{> x}}", 4, "partials are not part of the language"),
        ("{{#> x}}{{/x}}", 3, "partials are not part of the language"),
        ("{{#*inline \"a\"}}x{{/inline}}", 3, "decorators are not part of the language"),
        ("{{* x}}", 2, "decorators are not part of the language"),
        ("{{^a}}x{{/a}}", 2, "`^` is not part of the language"),
        ("{{#a}}x{{/a}}", 3, "unknown block `a`"),
        ("{{{{raw}}}}{{{{/raw}}}}", 3, "raw blocks are not part of the language"),
        ("a {{goal", 2, "`{{` is never closed"),
        ("{{{goal}}", 0, "`{{{` is never closed"),
        ("{{! x", 0, "a comment is never closed"),
        ("{{#if goal}}", 3, "block `if` is never closed"),
        ("{{#if goal}}{{/each}}", 15, "`each` closes block `if`"),
        ("{{/if}}", 3, "`if` closes nothing"),
        ("{{else}}", 2, "`else` outside a block"),
        ("{{#if a}}{{else}}{{else}}{{/if}}", 19, "block `if` has a second `else`"),
        ("{{#if}}{{/if}}", 5, "`if` is given nothing"),
        ("{{#fi a}}{{/fi}}", 3, "unknown block `fi`"),
        ("{{uppercase goal}}", 2, "unknown helper `uppercase`"),
        ("{{number}} {{number @index 2}}", 27, "`2` does not belong here"),
        ("{{join a b}}", 9, "`b` is no text"),
        ("a {{~goal~}} b", 4, "`~` is not part of the language"),
        ("{{@depth}}", 2, "`@depth` is nothing a template knows"),
        ("{{a..b}}", 4, "a name must stand here, found `.`"),
        ("{{}}", 2, "a name must stand here, found the end"),
        ("{{join a \"x}}", 0, "`{{` is never closed"),
        ("{{#if a includeZero=true}}{{/if}}", 8, "`includeZero` does not belong here"),
        ("{{#each a as |b|}}{{/each}}", 10, "`as` does not belong here"),
    ] {
        let error = Template::parse(text).expect_err(text);
        assert_eq!((error.offset, error.message.as_str()), (offset, message), "{text}");
    }
}

#[test]
fn helpers_reject_wrong_values() {
    let printed = Template::parse("{{number goal}}").expect("reads").render(&scope());
    assert_eq!(printed, Err("`number` counts from a number, and was given a text".to_owned()));
}

#[test]
fn numbers_print_as_in_javascript() {
    let scope = json!([1.0, -0.0, 0.5, 1e21, 1e20, 1.5e-7, 0.000_001, u64::MAX, [1, null, [2, [3]], {"a": 1}, false]]);
    let printed = Template::parse("{{join this ' '}}").expect("reads").render(&scope);
    let wanted =
        "1 0 0.5 1e+21 100000000000000000000 1.5e-7 0.000001 18446744073709551615 1,,2,3,{\"a\":1},false";
    assert_eq!(printed.as_deref(), Ok(wanted));
}

#[test]
fn paths_are_those_that_reach_the_scope() {
    let template = Template::parse(
        "{{input}}{{#each context.plan.files}}{{this}}{{name}}{{../goal}}{{@root.code.x}}{{#if ../constraints}}{{join ../context}}{{/if}}{{else}}{{gaol}}{{number 2}}{{#if false}}{{/if}}{{/each}}{{#with context.a}}{{b}}{{/with}}",
    );
    let template = template.expect("reads");
    let paths: Vec<String> = template.paths().iter().map(|path| path.join(".")).collect();
    assert_eq!(
        paths,
        ["input", "context.plan.files", "goal", "code.x", "constraints", "context", "gaol", "context.a"]
    );
}

#[test]
fn size_work_and_depth_have_limits() {
    assert!(Template::parse(&"{{#if a}}".repeat(9_000)).is_err());
    let many: Vec<u32> = (0..300).collect();
    let scope = json!({"many": many, "text": "x".repeat(100_000)});
    let loops = format!("{}{}", "{{#each @root.many}}".repeat(8), "{{/each}}".repeat(8));
    let rendered = Template::parse(&loops).expect("reads").render(&scope);
    assert_eq!(rendered, Err("the template takes too long: its loops multiply".to_owned()));
    let large = Template::parse("{{#each many}}{{@root.text}}{{/each}}").expect("reads").render(&scope);
    assert_eq!(large, Err("the text is larger than 8 MiB".to_owned()));
}

#[test]
fn values_are_never_templates() {
    let template = Template::parse("{{a}}").expect("reads");
    assert_eq!(template.render(&json!({"a": "{{b}}", "b": 1})).as_deref(), Ok("{{b}}"));
}

proptest! {
    #[test]
    fn no_text_panics(text in any::<String>(), shaped in "(\\{\\{[#/^!~@.a-c\\[\\]\"() |=]{0,8}\\}\\}|\\{|\\}|[a \\n\\\\é]){0,12}") {
        for text in [text, shaped] {
            if let Ok(template) = Template::parse(&text) {
                let _ = template.render(&scope());
                let _ = template.paths();
            }
        }
    }
}

#[test]
fn literal_text_renders_unchanged() {
    for text in
        ["", "a", "{{", "{{{", "{{{{", "{{a}}", "\\{{a}}", "\\\\{{a}}", "{{#if}}", "a\\", "{ {", "{{\"{{\"}}"]
    {
        let literal = Template::literal(text);
        let template = Template::parse(&literal).unwrap_or_else(|error| panic!("{text}: {literal}: {error}"));
        assert_eq!(template.render_in_full(&Value::Null), Ok(text.to_owned()), "{literal}");
    }
}
