//! Merged ideas and findings; a merge that loses one is refused.

use serde_json::{Value, json};

use crate::program::{Desk, Ran, rows};
use crate::pty::Screen;

const DEFINITION: &str = "goal: \"Survive the sale\"
participants: [{name: ann, model: human}, {name: bob, model: human}]
steps:
  - {id: gather, type: round, question: \"What could we do?\", ballot: ideas}
  - {id: merge, type: approval, message: \"Which belong together?\", merges: gather}
  - {id: vote, type: round, question: \"Which first?\", ballot: {kind: choice, options: [queue, cache]}, rule: majority}
";

const IDEAS: &str = "gather:
  ann: {ideas: [{title: Queue, text: Let writes wait.}, {title: Cache, text: Keep prices.}]}
  bob: {ideas: [{title: A queue, text: Take orders now.}]}
vote: {ann: {vote: queue}, bob: {vote: queue}}
";

fn merged(merge: &str) -> (Desk, Ran) {
    let desk = Desk::with(DEFINITION);
    desk.write("answers.yaml", format!("{IDEAS}{merge}\n"));
    let ran = desk.run(["--batch", "decide.yaml", "--answers", "answers.yaml", "--save=s.s2s"]);
    (desk, ran)
}

#[test]
fn a_merge_that_loses_an_idea_or_collides_is_refused_and_nothing_is_lost() {
    for (merge, wanted) in rows(
        "{options: [{title: Queue, from: [ann#1, bob#1]}]} => idea `ann#2` (Cache) is in no option
         {options: [{title: Q, from: [ann#1, bob#1]}, {title: q, from: [ann#2]}]} => two options have the id `q`
         {options: [{title: Q, from: [ann#1, ann#2, bob#1, bob#2]}]} => there is no idea `bob#2`
         {options: [{title: Q, from: [ann#1, ann#2, bob#1]}, {title: R, from: [ann#1]}]} => `ann#1` is placed twice",
    ) {
        let (desk, ran) = merged(&format!("merge: {merge}"));
        assert!(ran.code != 0 && ran.err.contains(wanted), "{}: {}", ran.code, ran.err);
        desk.is_sound("s.s2s");
        let whole = "{options: [{title: Q, from: [ann#1, ann#2, bob#1]}]}";
        desk.write("answers.yaml", format!("{IDEAS}merge: {whole}\n"));
        desk.run(["--batch", "s.s2s", "--answers", "answers.yaml"]).code(0);
        desk.is_sound("s.s2s");
    }
}

#[test]
fn an_invalid_merge_is_reported_before_the_run() {
    for (merge, wanted) in [
        ("true", "the answer to a merge has no `options`"),
        ("{options: [{title: Q, form: [ann#1]}]}", "did you mean `from`?"),
        ("{options: [queue]}", "an option must be a map"),
    ] {
        merged(&format!("merge: {merge}")).1.code(2).tells(wanted);
    }
    merged("").1.code(4).tells("ann#2").tells("Cache");
}

/// The person sees each seat's ideas, and edits the merge as YAML.
#[test]
fn ideas_are_merged_on_the_screen() {
    let desk = Desk::with(DEFINITION);
    desk.write("ideas.yaml", IDEAS);
    let mut screen = Screen::open(&desk, (80, 24), &["decide.yaml", "--answers", "ideas.yaml"]);
    screen.wait_for(&["DRAFT", "o open"]);
    screen.press("o", &["REVEAL", "A accept"]);
    screen.press("A", &[]);
    screen.press("y", &["Your decision", "bob: gives 1 idea: A queue"]);
    screen.press("\r", &["from:", "bob#1", "reason: \"…\"}]"]);
    screen.press("\x13", &["Which first?", "DRAFT"]);
}

const REVIEW: &str = "goal: \"Merge or not\"
participants: [{name: ann, model: human}, {name: bob, model: human}, {name: cid, model: human}]
steps:
  - {id: inspect, type: round, question: \"What is wrong?\", ballot: findings}
";

const ANSWERS: &str = "inspect:
  ann: {findings: [
    {file: src/a b.rs, lines: 10-20, severity: high, claim: \"Pays twice: 100% of retries,\\nalways\"},
    {severity: low, claim: No author}]}
  bob: {findings: [
    {file: src/a b.rs, lines: 18-30, severity: medium, claim: Untested},
    {file: src/a b.rs, lines: 30-31, severity: low, claim: Long},
    {file: src/c.rs, lines: 18-30, severity: medium, claim: Elsewhere},
    {severity: low, claim: No author}]}
  cid: {findings: []}
";

fn desk(definition: &str, answers: &str) -> Desk {
    let desk = Desk::with(definition);
    desk.answered(answers, &[]).code(0);
    desk
}

fn report(desk: &Desk, format: &str) -> Value {
    serde_json::from_str(&desk.run(["report", "s.s2s", "--format", format]).code(0).out).expect("JSON")
}

fn groups(desk: &Desk) -> Value {
    let report = report(desk, "json");
    let groups = report["findings"].as_array().expect("a list").iter();
    let claims = |group: &Value| -> Vec<Value> {
        group["findings"].as_array().expect("findings").iter().map(|one| one["claim"].clone()).collect()
    };
    groups.map(|group| json!([group["file"], group["lines"], group["seats"], claims(group)])).collect()
}

#[test]
fn findings_are_grouped_by_overlapping_lines_and_none_is_dropped() {
    let desk = desk(REVIEW, ANSWERS);
    let twice = "Pays twice: 100% of retries,\nalways";
    let wanted = json!([
        ["src/a b.rs", [10, 31], 2, [twice, "Untested", "Long"]],
        ["src/c.rs", [18, 30], 1, ["Elsewhere"]],
        [null, null, 1, ["No author"]],
        [null, null, 1, ["No author"]],
    ]);
    assert_eq!(groups(&desk), wanted);
    let markdown = desk.run(["report", "s.s2s"]).code(0).out;
    assert!(markdown.contains("- **high**, `src/a b.rs:10-31`: 2 of 3"), "{markdown}");
    assert!(markdown.find("Found by several seats") < markdown.find("Found by one seat"), "{markdown}");
    let html = desk.run(["report", "s.s2s", "--format", "html"]).code(0).out;
    assert!(html.contains("Found by several seats") && html.contains("Elsewhere"));
    desk.run(["report", "s.s2s", "--format", "csv"]).code(0).shows("medium src/c.rs:18-30: Elsewhere");
    sarif_has_each_group_with_its_place(&desk);
    // Annotations have file and line, and foreign text ends no line.
    let out = desk.run(["report", "s.s2s", "--format", "github"]).code(0).out;
    let line = out.lines().find(|line| line.contains("file=src/a b.rs,")).expect("an annotation");
    let head = "::error title=high%2C found by 2 of 3,file=src/a b.rs,line=10,endLine=31::";
    assert!(line.starts_with(head) && line.contains("100%25 of retries"), "{line}");
    assert!(out.lines().all(|line| line.starts_with("::")), "{out}");
}

fn sarif_has_each_group_with_its_place(desk: &Desk) {
    let sarif = report(desk, "sarif");
    assert_eq!((&sarif["version"], sarif["runs"].as_array().map(Vec::len)), (&json!("2.1.0"), Some(1)));
    let run = &sarif["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "roundtable");
    let results = run["results"].as_array().expect("results");
    assert_eq!(results.len(), 4);
    for result in results {
        let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().expect("an index") as usize];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(["note", "warning", "error"].contains(&result["level"].as_str().expect("a level")));
        assert!(result["message"]["text"].to_string().contains("of 3 seats."), "{result}");
    }
    let place = json!({"physicalLocation": {
        "artifactLocation": {"uri": "src/a%20b.rs"}, "region": {"startLine": 10, "endLine": 31},
    }});
    assert_eq!(results[0]["locations"], json!([place]));
    assert_eq!((&results[0]["level"], &results[3]["locations"]), (&json!("error"), &json!([])));
    desk.run(["report", "s.s2s", "--out", "x.sarif"]).code(0);
    assert_eq!(serde_json::from_str::<Value>(&desk.read("x.sarif")).expect("JSON"), sarif);
}

#[test]
fn a_person_joins_what_has_no_place() {
    let joined = "{id: join, type: approval, message: \"Same?\", merges: inspect}";
    let definition = format!("{REVIEW}  - {joined}\n");
    let join = "join:
  options:
    - {title: Authors, from: [ann#2, bob#4]}
    - {title: Retry, from: [ann#1]}
  set_aside: [{idea: bob#1, reason: later}, {idea: bob#2, reason: taste}, {idea: bob#3, reason: elsewhere}]
";
    let desk = desk(&definition, &format!("{ANSWERS}{join}"));
    assert_eq!(groups(&desk)[2], json!([null, null, 2, ["No author", "No author"]]));
    let sarif = report(&desk, "sarif");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    let aside: Vec<&Value> = results.iter().filter(|result| result.get("suppressions").is_some()).collect();
    assert_eq!(aside.len(), 1, "only what is set aside as a whole");
    assert_eq!(aside[0]["suppressions"][0]["justification"], "elsewhere");
}
