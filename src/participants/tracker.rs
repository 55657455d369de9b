//! Built-in tracker: answers from the definition's tasks, without a model.
//!
//! It understands two requests. `Get …` returns `{done, todo, next_issue}`. `Mark issue ID as STATUS`, with
//! evidence in the following lines, returns `{issue_id, status, evidence}`. The session stores the tasks; the
//! tracker keeps nothing.

use futures::future::BoxFuture;
use serde_json::{Map, Value, json};

use super::{Failure, Origin, Participant, Reply, SeatRequest, TrackedTask, WorkItemView, ready_reply};

const MARK: &str = "the tracker needs `Mark issue ID as STATUS`";

#[derive(Debug, Clone, Copy, Default)]
pub struct Tracker;

impl Participant for Tracker {
    fn ask<'a>(&'a self, ask: &'a SeatRequest) -> BoxFuture<'a, Result<Reply, Failure>> {
        let answer = match &ask.task {
            Some(task) => answer(&ask.prompt.snapshot, task).map(|answer| answer.to_string()),
            None => Err("the tracker takes no seat in a round".to_owned()),
        };
        ready_reply(Origin::Tracker, answer)
    }
}

fn answer(prompt: &str, task: &WorkItemView) -> Result<Value, String> {
    let (first, more) = prompt.trim().split_once('\n').unwrap_or((prompt.trim(), ""));
    let words: Vec<&str> = first.split_whitespace().collect();
    match words.split_first().map(|(verb, words)| (verb.to_lowercase(), words)) {
        Some((verb, [_, ..])) if verb == "get" => Ok(status(&task.tasks)),
        Some((verb, words @ [_, ..])) if verb == "mark" => mark(words, first, more, task),
        _ => Err(format!(
            "the tracker understands `Get status and next issue details` and `Mark issue ID as Done`, not `{}`",
            first.trim()
        )),
    }
}

fn status(tasks: &[TrackedTask]) -> Value {
    let is_open = |task: &&TrackedTask| !TrackedTask::is_done(&task.status);
    let done = tasks.iter().filter(|task| TrackedTask::is_done(&task.status)).count();
    // By priority, urgent first and unset last; ties stay in list order.
    let rank = |task: &&TrackedTask| if task.priority == 0 { u8::MAX } else { task.priority };
    let next = tasks.iter().filter(is_open).min_by_key(rank);
    json!({ "done": done, "todo": tasks.len() - done, "next_issue": next.map(TrackedTask::issue) })
}

fn mark(words: &[&str], first: &str, more: &str, task: &WorkItemView) -> Result<Value, String> {
    let words: &[&str] = match words {
        [kind, rest @ ..] if matches!(kind.to_lowercase().as_str(), "issue" | "task" | "ticket") => rest,
        all => all,
    };
    let [id, to, status, ..] = words else { return Err(MARK.to_owned()) };
    if !to.eq_ignore_ascii_case("as") {
        return Err(MARK.to_owned());
    }
    let status = status.trim_end_matches([':', '.', ',']).to_uppercase();
    if !task.tasks.iter().any(|known| known.id == *id) {
        return Err(format!("the tracker has no issue `{id}`"));
    }
    let evidence = evidence(first, more);
    if TrackedTask::is_done(&status) && !task.is_rehearsal {
        let is_asked = first.to_lowercase().contains("evidence") || task.evidence_asked.contains(*id);
        if let Some(why) = not_done(&evidence, is_asked).or_else(|| failed_before(&task.input)) {
            return Err(format!("`{id}` is not marked done: {why}"));
        }
    }
    Ok(json!({ "issue_id": id, "status": status, "evidence": evidence }))
}

fn not_done(evidence: &Map<String, Value>, is_asked: bool) -> Option<String> {
    if is_asked && evidence.is_empty() {
        return Some("evidence was asked for and none came".to_owned());
    }
    for (label, value) in evidence {
        let value = value.as_str().unwrap_or_default();
        let says_nothing = ["", "-", "none", "n/a", "null", "undefined"].contains(&&*value.to_lowercase());
        if is_asked && says_nothing {
            return Some(format!("evidence was asked for and `{label}` is empty"));
        }
        let is_of_tests = [label.as_str(), value].iter().any(|text| text.to_lowercase().contains("test"));
        if is_of_tests && says_failed(value) {
            return Some(format!("its evidence says that a test failed (`{label}: {value}`)"));
        }
    }
    None
}

/// Returns the reason if an input result reports failed tests.
fn failed_before(input: &Map<String, Value>) -> Option<String> {
    let results = input.iter().filter(|(key, _)| !["input", "context"].contains(&key.as_str()));
    let mut passed = results.map(|(_, result)| &result["test_results"]["passed"]);
    passed.any(|passed| *passed == false).then(|| "the tests of its implementation failed".to_owned())
}

/// Words that negate a failure.
const NONE: [&str; 9] = ["0", "no", "none", "zero", "not", "never", "without", "nothing", "false"];

/// Returns true if a line reports a failed test: `FAILED`, `3 passed, 1 failed`, `passed: false`; not `0
/// failed`, `no failures`, `failed: 0`.
fn says_failed(text: &str) -> bool {
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    words.iter().enumerate().any(|(at, word)| {
        let (before, after) =
            (at.checked_sub(1).map_or("", |at| words[at]), words.get(at + 1).unwrap_or(&""));
        if word.starts_with("fail") || word.starts_with("error") {
            // In `failed: 0, passed: 7` the number belongs to the word before it.
            let is_labelled = after.parse::<u64>().is_ok();
            return !NONE.contains(after) && (is_labelled || !NONE.contains(&before));
        }
        word.starts_with("pass") && (["not", "didn", "t"].contains(&before) || *after == "false")
    }) || lower.trim() == "false"
}

/// Collects the text after the first line's colon and `label: value` lines; joins lines without a label.
fn evidence(first: &str, more: &str) -> Map<String, Value> {
    let mut found = Map::new();
    let behind = first.rsplit_once(':').map(|(_, behind)| behind.trim()).filter(|behind| !behind.is_empty());
    let mut unlabelled: Vec<&str> = behind.into_iter().collect();
    for line in more.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match line.split_once(':') {
            Some((label, value)) => {
                found.insert(label.trim().to_owned(), value.trim().into());
            }
            None => unlabelled.push(line),
        }
    }
    if !unlabelled.is_empty() {
        found.insert("evidence".to_owned(), unlabelled.join("\n").into());
    }
    found
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::workflow::{Source, load};

    fn task(evidence_asked: &[&str]) -> WorkItemView {
        let text = "question: q\ntasks:\n  - {id: APP-14, title: Old, status: DONE}\n  - {id: APP-16, title: Later, priority: low}\n  - {id: APP-15, title: User Profile Page, description: Create it, steps: [one, two], priority: 2}\n";
        let definition = load(Source { text, file: "f", id: "f" }).unwrap();
        WorkItemView {
            tasks: definition.tasks.into(),
            evidence_asked: Arc::new(evidence_asked.iter().map(|id| (*id).to_owned()).collect()),
            ..WorkItemView::default()
        }
    }

    #[test]
    fn status_has_counts_and_the_most_urgent_open_issue() {
        let found = answer("Get status and next issue details", &task(&[])).unwrap();
        let issue = json!({"issue_id": "APP-15", "title": "User Profile Page", "description": "Create it",
            "test_steps": ["one", "two"], "priority": 2});
        assert_eq!(found, json!({"done": 1, "todo": 2, "next_issue": issue}));
    }

    #[test]
    fn marks_done_with_evidence_and_refuses_without() {
        let prompt =
            "Mark issue APP-15 as Done with the following evidence:\nFiles changed: a\nScreenshot: b.png";
        let found = answer(prompt, &task(&[])).unwrap();
        let evidence = json!({"Files changed": "a", "Screenshot": "b.png"});
        assert_eq!(found, json!({"issue_id": "APP-15", "status": "DONE", "evidence": evidence}));
        let blank = "Mark issue APP-15 as Done with the following evidence:\nFiles changed: a\nScreenshot: ";
        assert!(answer(blank, &task(&[])).unwrap_err().contains("`Screenshot` is empty"));
        let none = "Mark issue APP-15 as Done";
        assert!(answer(none, &task(&[])).is_ok());
        assert!(answer(none, &task(&["APP-15"])).unwrap_err().contains("none came"));
        let rehearsed = WorkItemView { is_rehearsal: true, ..task(&["APP-15"]) };
        assert!(answer(none, &rehearsed).is_ok(), "placeholders have no evidence");
        assert!(answer("Mark issue APP-99 as Done", &task(&[])).unwrap_err().contains("no issue `APP-99`"));
        assert!(answer("Sing", &task(&[])).unwrap_err().contains("`Sing`"));
    }

    #[test]
    fn failed_work_is_not_marked_done() {
        let mark = |lines: &str| {
            answer(&format!("Mark issue APP-15 as Done with the following evidence:\n{lines}"), &task(&[]))
        };
        for failed in [
            "Test result: FAILED",
            "Test result: failed",
            "Tests: 3 passed, 1 failed",
            "Tests: 2 failures",
            "Test result: {\"passed\":false,\"details\":\"\"}",
            "Tests passed: false",
            "Test result: did not pass",
            "Test result: ERROR in setup",
            "Tests: failed: 1, passed: 7",
            "Files changed: a\nScreenshot: b\nTest result: FAILED",
            "all tests failed",
        ] {
            assert!(mark(failed).unwrap_err().contains("a test failed"), "{failed}");
        }
        for fine in [
            "Test result: PASSED",
            "Test result: 4 passed, 0 failed",
            "Tests: no failures",
            "Tests: failed: 0, passed: 7",
            "Tests passed: true",
            "Test result: {\"passed\":true,\"failed\":false}",
            "Tests: without errors",
            "Screenshot: screenshots/failed-login.png",
            "Files changed: src/failed.rs",
            "looks good",
        ] {
            assert!(mark(fine).is_ok(), "{fine}: {:?}", mark(fine));
        }
        for nothing in ["", "Screenshot: none", "Files changed: a\nTest result: -"] {
            assert!(mark(nothing).unwrap_err().contains("evidence was asked for"), "{nothing}");
        }
        let said = mark("see the report").unwrap();
        assert_eq!(said["evidence"], json!({"evidence": "see the report"}));
        let mut handed = task(&[]);
        handed.input = json!({"implement": {"test_results": {"passed": false}}}).as_object().unwrap().clone();
        let why = answer("Mark issue APP-15 as Done", &handed).unwrap_err();
        assert!(why.contains("the tests of its implementation failed"), "{why}");
        assert!(answer("Mark issue APP-15 as Open", &handed).is_ok());
    }
}
