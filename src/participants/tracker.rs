//! The built-in tracker: answers over the tasks of the definition, as they stand. No model, no
//! network.
//!
//! It understands two requests. `Get …` is answered with `{done, todo, next_issue}`; `Mark issue ID
//! as STATUS`, with evidence in the lines that follow, with `{issue_id, status, evidence}`. What
//! stands where is the session's to know: it keeps nothing between two requests.

use futures::future::{BoxFuture, FutureExt as _, ready};
use serde_json::{Map, Value, json};

use super::{Ask, Failure, Finish, Participant, Reply, Task, TrackedTask};

pub use crate::session::TRACKER;

/// Answers at once, from the tasks it is shown.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tracker;

impl Participant for Tracker {
    fn ask<'a>(&'a self, ask: &'a Ask) -> BoxFuture<'a, Result<Reply, Failure>> {
        let answer = match &ask.task {
            Some(task) => answer(&ask.prompt.snapshot, task),
            None => Err("the tracker takes no seat in a round".to_owned()),
        };
        ready(match answer {
            Ok(answer) => {
                Ok(Reply { text: answer.to_string(), finish: Finish::Complete, usage: None, tries: 1 })
            }
            Err(reason) => Err(Failure { reason, timed_out: false, tries: 1 }),
        })
        .boxed()
    }
}

fn answer(prompt: &str, task: &Task) -> Result<Value, String> {
    let prompt = prompt.trim();
    let first = prompt.lines().next().unwrap_or_default().trim();
    let lower = first.to_lowercase();
    if lower.starts_with("get ") {
        return Ok(status(&task.tasks));
    }
    if let Some(rest) = lower.strip_prefix("mark ") {
        let words: Vec<&str> = first[first.len() - rest.len()..].split_whitespace().collect();
        return mark(&words, prompt, task);
    }
    Err(format!(
        "the tracker understands `Get status and next issue details` and `Mark issue ID as Done`, not `{first}`"
    ))
}

fn status(tasks: &[TrackedTask]) -> Value {
    let is_open = |task: &&TrackedTask| !TrackedTask::is_done(&task.status);
    let done = tasks.iter().filter(|task| TrackedTask::is_done(&task.status)).count();
    // Urgent first, those without a priority last, else in the order of the list.
    let rank = |task: &&TrackedTask| if task.priority == 0 { u8::MAX } else { task.priority };
    let next = tasks.iter().filter(is_open).min_by_key(rank);
    json!({ "done": done, "todo": tasks.len() - done, "next_issue": next.map(TrackedTask::issue) })
}

fn mark(words: &[&str], prompt: &str, task: &Task) -> Result<Value, String> {
    let words: &[&str] = match words {
        [kind, rest @ ..] if matches!(kind.to_lowercase().as_str(), "issue" | "task" | "ticket") => rest,
        all => all,
    };
    let [id, to, status, ..] = words else {
        return Err("the tracker needs `Mark issue ID as STATUS`".to_owned());
    };
    if !to.eq_ignore_ascii_case("as") {
        return Err("the tracker needs `Mark issue ID as STATUS`".to_owned());
    }
    let status = status.trim_end_matches([':', '.', ',']).to_uppercase();
    if !task.tasks.iter().any(|known| known.id == *id) {
        return Err(format!("the tracker has no issue `{id}`"));
    }
    let evidence = evidence(prompt);
    if TrackedTask::is_done(&status) {
        let first = prompt.lines().next().unwrap_or_default().to_lowercase();
        let is_asked = first.contains("evidence") || task.evidence_asked.iter().any(|asked| asked == id);
        let blank = evidence.iter().find(|(_, value)| value.as_str().is_some_and(str::is_empty));
        match blank {
            Some((label, _)) if is_asked => {
                return Err(format!(
                    "`{id}` is not marked done: evidence was asked for and `{label}` is empty"
                ));
            }
            None if is_asked && evidence.is_empty() => {
                return Err(format!("`{id}` is not marked done: evidence was asked for and none came"));
            }
            _ => {}
        }
    }
    Ok(json!({ "issue_id": id, "status": status, "evidence": evidence }))
}

/// The `label: value` lines after the first.
fn evidence(prompt: &str) -> Map<String, Value> {
    let lines = prompt.lines().skip(1).filter_map(|line| line.split_once(':'));
    lines.map(|(label, value)| (label.trim().to_owned(), value.trim().into())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::{Source, load};

    fn task(evidence_asked: &[&str]) -> Task {
        let text = "question: q\ntasks:\n  - {id: APP-14, title: Old, status: DONE}\n  - {id: APP-16, title: Later, priority: low}\n  - {id: APP-15, title: User Profile Page, description: Create it, steps: [one, two], priority: 2}\n";
        let definition = load(Source { text, file: "f", id: "f" }).unwrap().definition;
        Task {
            tasks: definition.tasks,
            evidence_asked: evidence_asked.iter().map(|id| (*id).to_owned()).collect(),
            ..Task::default()
        }
    }

    #[test]
    fn gives_counts_and_the_most_urgent_open_issue() {
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
        assert!(answer("Mark issue APP-99 as Done", &task(&[])).unwrap_err().contains("no issue `APP-99`"));
        assert!(answer("Sing", &task(&[])).unwrap_err().contains("`Sing`"));
    }
}
