//! Ideas merged into options: by an answers file, refused where one is lost, found by `verify`.

use crate::program::{Desk, rows};
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

fn desk(merge: &str) -> Desk {
    let desk = Desk::with(DEFINITION);
    desk.write("answers.yaml", format!("{IDEAS}{merge}\n"));
    desk
}

const RUN: [&str; 5] = ["--batch", "decide.yaml", "--answers", "answers.yaml", "--save=s.s2s"];

#[test]
fn a_merge_by_an_answers_file_leaves_options_and_tells_nobody_who_had_which_idea() {
    let desk = desk(
        "merge: {options: [{title: \"One queue\", from: [ann#1, bob#1]}], set_aside: [{idea: ann#2, reason: later}]}",
    );
    desk.run(RUN).code(0);
    desk.run(["verify", "s.s2s"]).code(0);
    let report = desk.report("s.s2s");
    let merge = &report["steps"].as_array().expect("steps")[1];
    assert_eq!(merge["data"]["options"], serde_json::json!([{"id": "one-queue", "title": "One queue"}]));
    assert_eq!(report["merges"][0]["set_aside"][0]["idea"], "ann#2");
    let rounds = desk.events("round_opened");
    let snapshot = rounds[1]["snapshot"].as_str().expect("a snapshot");
    assert!(snapshot.contains("One queue") && !snapshot.contains("Take orders now"), "{snapshot}");
    assert!(!snapshot.contains("ann"), "{snapshot}");
}

#[test]
fn a_merge_that_loses_an_idea_or_collides_is_refused_and_nothing_is_lost() {
    for (merge, wanted) in rows(
        "{options: [{title: Queue, from: [ann#1, bob#1]}]} => idea `ann#2` (Cache) is in no option
         {options: [{title: Q, from: [ann#1, bob#1]}, {title: q, from: [ann#2]}]} => two options have the id `q`
         {options: [{title: Q, from: [ann#1, ann#2, bob#1, bob#2]}]} => there is no idea `bob#2`
         {options: [{title: Q, from: [ann#1, ann#2, bob#1]}, {title: R, from: [ann#1]}]} => `ann#1` is placed twice",
    ) {
        let desk = desk(&format!("merge: {merge}"));
        let ran = desk.run(RUN);
        assert!(ran.code != 0 && ran.err.contains(wanted), "{}: {}", ran.code, ran.err);
        desk.run(["verify", "s.s2s"]).code(0);
        let whole = "{options: [{title: Q, from: [ann#1, ann#2, bob#1]}]}";
        desk.write("answers.yaml", format!("{IDEAS}merge: {whole}\n"));
        desk.run(["--batch", "s.s2s", "--answers", "answers.yaml"]).code(0);
        desk.run(["verify", "s.s2s"]).code(0);
    }
}

#[test]
fn an_answer_that_is_no_merge_is_told_before_the_run() {
    for (merge, wanted) in [
        ("true", "the answer to a merge has no `options`"),
        ("{options: [{title: Q, form: [ann#1]}]}", "did you mean `from`?"),
        ("{options: [queue]}", "an option must be a map"),
    ] {
        desk(&format!("merge: {merge}")).run(RUN).code(2).tells(wanted);
    }
    desk("").run(RUN).code(4).tells("ann#2").tells("Cache");
    let bad = DEFINITION.replace("merges: gather", "merges: vote");
    let ran = Desk::with(&bad).run(["check", "decide.yaml"]).code(2);
    ran.says("`merges` of step `merge` names no round of ideas: `vote`");
}

/// The person who merges sees what each seat gave, and edits the merge as YAML.
#[test]
fn ideas_are_merged_on_the_screen() {
    let desk = Desk::with(DEFINITION);
    desk.write("ideas.yaml", IDEAS);
    let mut screen = Screen::open(&desk, (100, 30), &["decide.yaml", "--answers", "ideas.yaml"]);
    screen.wait_for(&["DRAFT", "o open"]);
    screen.press("o", &["REVEAL", "A accept"]);
    screen.press("A", &[]);
    screen.press("y", &["Your decision", "bob: gives 1 idea: A queue"]);
    screen.press("\r", &["from:", "bob#1"]);
    screen.press("\x13", &["Which first?", "DRAFT"]);
}
