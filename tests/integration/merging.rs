//! Ideas merged into options: by an answers file, refused where one is lost, found by `verify`.

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

/// Runs the definition with this merge in the answers file.
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
        merged(&format!("merge: {merge}")).1.code(2).tells(wanted);
    }
    merged("").1.code(4).tells("ann#2").tells("Cache");
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
