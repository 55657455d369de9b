//! Linked tasks of a work item, as exact JSON.
//!
//! The same tasks, links and reports produce the same bytes. If the JSON cannot be built, it is empty; an
//! unusable report is omitted from its row. Both are warnings and stop nothing.

use std::cmp::Reverse;
use std::sync::Arc;

use serde::Serialize as _;
use serde_json::{Value, json};

use crate::history::{LinkedSession, Session, StepFinished, Timestamp};
use crate::workflow::{Definition, LinkDefinition, Report, Step, Task};

pub const NO_LINKS: &str = "{}";
const AGENT_TASK: &str = "agent_task";
const TIMES: [&str; 2] = ["statusSince", "createdAt"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkedTasks {
    pub json: String,
    pub warnings: Vec<String>,
}

/// Tasks, links and reports of a session, and its linked sessions, which have rows too.
struct TaskLinks<'a> {
    tasks: &'a [Task],
    links: &'a [LinkDefinition],
    reports: &'a [Report],
    sessions: &'a [LinkedSession],
}

impl TaskLinks<'_> {
    fn linked(&self, task: &str) -> LinkedTasks {
        let mut warnings = Vec::new();
        match self.build(task, &mut warnings) {
            Ok(json) => LinkedTasks { json, warnings },
            Err(why) => {
                let warning = format!("the linked tasks of `{task}` could not be built: {why}");
                LinkedTasks { json: NO_LINKS.to_owned(), warnings: vec![warning] }
            }
        }
    }

    fn build(&self, task: &str, warnings: &mut Vec<String>) -> Result<String, String> {
        let links = || self.links.iter().filter(|link| link.kind != AGENT_TASK);
        let from: Vec<&str> = links().filter(|link| link.to == task).map(|link| &*link.from).collect();
        let to: Vec<&str> = links().filter(|link| link.from == task).map(|link| &*link.to).collect();
        let (from, to) = (self.rows(&from, warnings)?, self.rows(&to, warnings)?);
        if from.is_empty() && to.is_empty() {
            return Ok(NO_LINKS.to_owned());
        }
        Ok(indented(&json!({ "linked_from": from, "linked_to": to })))
    }

    /// Returns the rows of these tasks and sessions, the oldest first.
    fn rows(&self, ids: &[&str], warnings: &mut Vec<String>) -> Result<Vec<Value>, String> {
        let tasks = self.tasks.iter().filter(|task| !task.deleted && ids.contains(&&*task.id));
        let mut rows = tasks.map(|task| self.row(task, warnings)).collect::<Result<Vec<Value>, _>>()?;
        let sessions = self.sessions.iter().filter(|past| ids.contains(&&*past.id));
        rows.extend(sessions.map(LinkedSession::row));
        // All times have the same format, so they sort as text.
        let place = |row: &Value| ["createdAt", "id"].map(|key| row[key].as_str().map(str::to_owned));
        rows.sort_by_cached_key(place);
        Ok(rows)
    }

    fn row(&self, task: &Task, warnings: &mut Vec<String>) -> Result<Value, String> {
        let mut row = Value::Object(task.row.clone());
        for key in TIMES {
            if let Some(written) = task.row.get(key).filter(|written| !written.is_null()) {
                let at = time(written.as_str().unwrap_or_default());
                let at = at.ok_or_else(|| format!("`{key}` of `{}` is no time: {written}", task.id))?;
                row[key] = at.to_string().into();
            }
        }
        match self.report_on(task) {
            Ok(None) => {}
            Ok(Some((agent, report, at))) => {
                row["taskAgentId"] = agent.into();
                row["latestTaskAgentReport"] = report.content.trim().into();
                row["latestTaskAgentReportCreatedAt"] = at.to_string().into();
            }
            Err(why) => {
                warnings.push(format!("the report on linked task `{}` is left out: {why}", task.id));
            }
        }
        Ok(row)
    }

    /// Returns the latest report of the first agent that has one. Agents are ordered by their link to the task:
    /// the newest first, then by link id.
    fn report_on(&self, task: &Task) -> Result<Option<(&str, &Report, Timestamp)>, String> {
        let mut agents = Vec::new();
        for link in self.links.iter().filter(|link| link.kind == AGENT_TASK && link.to == task.id) {
            let at = time(&link.created_at).ok_or_else(|| {
                format!("`createdAt` of link `{}` is no time: {}", link.id, link.created_at)
            })?;
            agents.push((Reverse(at), &link.id, link.from.as_str()));
        }
        agents.sort();
        for (_, _, agent) in agents {
            let mut latest: Option<(&Report, Timestamp)> = None;
            let reports = self.reports.iter().filter(|report| report.agent == agent);
            for report in reports.filter(|it| it.scope == "current" && !it.content.trim().is_empty()) {
                let at = time(&report.created_at)
                    .ok_or_else(|| format!("its report's `createdAt` is no time: {}", report.created_at))?;
                if latest.is_none_or(|(_, before)| at > before) {
                    latest = Some((report, at));
                }
            }
            if let Some((report, at)) = latest {
                return Ok(Some((agent, report, at)));
            }
        }
        Ok(None)
    }
}

/// Parses a time with an offset, without one (UTC), or a date alone (its start).
fn time(written: &str) -> Option<Timestamp> {
    let text = written.trim();
    let moment = |text: &str| serde_json::from_value::<Timestamp>(text.into()).ok();
    moment(text).or_else(|| moment(&format!("{text}Z"))).or_else(|| moment(&format!("{text}T00:00:00Z")))
}

fn indented(value: &Value) -> String {
    let mut out = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
    let mut writer = serde_json::Serializer::with_formatter(&mut out, formatter);
    let is_written = value.serialize(&mut writer).is_ok();
    String::from_utf8(out).ok().filter(|_| is_written).unwrap_or_else(|| NO_LINKS.to_owned())
}

impl Session {
    pub fn linked(&self, step: &Step) -> LinkedTasks {
        let definition = self.definition();
        // Without links the task does not matter.
        let task = if definition.links.is_empty() { None } else { self.task_of(step) };
        let Some(task) = task else {
            return LinkedTasks { json: NO_LINKS.to_owned(), warnings: Vec::new() };
        };
        let sessions = self.header.as_ref().map_or(&[][..], |header| &header.linked_sessions);
        let Definition { links, reports, .. } = definition;
        TaskLinks { tasks: &self.tasks, links, reports, sessions }.linked(&task)
    }

    /// Returns the task that a step works on. The first one found counts: the step's `task`, a task in its
    /// input, its loop items or earlier results. Else: the session's input, the linked definition, the first
    /// task.
    fn task_of(&self, step: &Step) -> Option<String> {
        let definition = self.definition();
        if let Some(task) = &step.task {
            return Some(task.clone());
        }
        let is_task = |id: &&str| definition.tasks.iter().any(|task| task.id == *id);
        let named = |value: &Value| -> Option<String> {
            let id = value
                .as_str()
                .or_else(|| value.get("issue_id")?.as_str())
                .or_else(|| value.get("id")?.as_str());
            id.filter(is_task).map(str::to_owned)
        };
        // An envelope is not a task.
        let of_result = |result: &Arc<StepFinished>| {
            let made_by = definition.step(&result.step).filter(|step| !step.is_envelope())?;
            named(&self.context_value(made_by, result)?)
        };
        let reference = step.input.as_ref().and_then(|key| self.referenced(key, &step.id).ok());
        reference
            .and_then(|value| named(&value))
            .or_else(|| definition.items_for(&step.id).into_iter().rev().find_map(|item| named(&item.value)))
            .or_else(|| self.results_for(&step.id).into_iter().rev().find_map(of_result))
            .or_else(|| named(&self.given_input(&step.id)))
            .or_else(|| {
                let is_linked =
                    definition.links.iter().any(|link| [&link.from, &link.to].contains(&&definition.id));
                is_linked.then(|| definition.id.clone())
            })
            .or_else(|| definition.tasks.iter().find(|task| !task.deleted).map(|task| task.id.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::{Source, load};

    const DAY: &str = "2026-02-";

    fn definition(more: &str) -> Definition {
        let text = format!(
            "question: q
tasks:
  - {{id: A, title: Here, createdAt: {DAY}01}}
  - {{id: B, title: Later, status: OPEN, priority: P2, createdAt: \"{DAY}03T10:00:00+02:00\", labels: [x], latestSummary: old}}
  - {{id: C, title: Sooner, status: DONE, statusSince: {DAY}02T00:00:00Z, createdAt: {DAY}02, languageCode: de}}
  - {{id: D, title: Gone, deletedAt: {DAY}02, createdAt: {DAY}01}}
links:
  - {{id: l1, fromId: B, toId: A, type: basic, createdAt: {DAY}04}}
  - {{id: l2, fromId: C, toId: A, type: basic, createdAt: {DAY}04}}
  - {{id: l3, fromId: D, toId: A, type: basic, createdAt: {DAY}04}}
  - {{id: l4, fromId: A, toId: C, type: basic, createdAt: {DAY}04}}
  - {{id: a2, fromId: agent-2, toId: B, type: agent_task, createdAt: {DAY}05}}
  - {{id: a1, fromId: agent-1, toId: B, type: agent_task, createdAt: {DAY}05}}
  - {{id: a3, fromId: agent-3, toId: B, type: agent_task, createdAt: {DAY}06}}
{more}"
        );
        load(Source { text: &text, file: "f", id: "f" }).unwrap()
    }

    fn linked(definition: &Definition, task: &str) -> LinkedTasks {
        let Definition { tasks, links, reports, .. } = definition;
        TaskLinks { tasks, links, reports, sessions: &[] }.linked(task)
    }

    #[test]
    fn rows_are_exact_and_reports_come_from_the_first_agent_that_has_one() {
        let definition = definition(
            "reports:
  - {agentId: agent-3, scope: current, createdAt: 2026-02-07, content: \"  \"}
  - {agentId: agent-2, scope: current, createdAt: 2026-02-07, content: two}
  - {agentId: agent-1, scope: old, createdAt: 2026-02-09, content: never}
  - {agentId: agent-1, scope: current, createdAt: 2026-02-07, content: first}
  - {agentId: agent-1, scope: current, createdAt: 2026-02-08, content: \" latest \\n\"}
  - {agentId: agent-1, scope: current, createdAt: 2026-02-08, content: as late}
",
        );
        let LinkedTasks { json, warnings } = linked(&definition, "A");
        assert_eq!(warnings, Vec::<String>::new());
        let sooner = r#"        {
            "id": "C",
            "title": "Sooner",
            "status": "DONE",
            "statusSince": "2026-02-02T00:00:00.000Z",
            "priority": null,
            "estimate": null,
            "timeSpent": null,
            "createdAt": "2026-02-02T00:00:00.000Z",
            "labels": [],
            "languageCode": "de"
        }"#;
        let expected = format!(
            r#"{{
    "linked_from": [
{sooner},
        {{
            "id": "B",
            "title": "Later",
            "status": "OPEN",
            "statusSince": null,
            "priority": 2,
            "estimate": null,
            "timeSpent": null,
            "createdAt": "2026-02-03T08:00:00.000Z",
            "labels": [
                "x"
            ],
            "languageCode": null,
            "taskAgentId": "agent-1",
            "latestTaskAgentReport": "latest",
            "latestTaskAgentReportCreatedAt": "2026-02-08T00:00:00.000Z"
        }}
    ],
    "linked_to": [
{sooner}
    ]
}}"#
        );
        assert_eq!(json, expected);
    }

    #[test]
    fn rows_of_equal_time_are_sorted_by_id() {
        let mut definition = definition("");
        definition.tasks[2].row.insert("createdAt".to_owned(), format!("{DAY}03T08:00:00Z").into());
        definition.tasks[1].id = "X".to_owned();
        definition.tasks[1].row.insert("id".to_owned(), "X".into());
        definition.links[0].from = "X".to_owned();
        let json = linked(&definition, "A").json;
        assert!(json.find("Sooner").is_some() && json.find("Sooner") < json.find("Later"), "{json}");
    }

    #[test]
    fn unusable_reports_leave_their_row_unchanged() {
        let definition = definition("reports: [{agentId: agent-3, createdAt: someday, content: x}]\n");
        let LinkedTasks { json, warnings } = linked(&definition, "A");
        assert!(!json.contains("taskAgentId"), "{json}");
        assert!(
            matches!(&warnings[..], [one] if one.contains("`B`") && one.contains("someday")),
            "{warnings:?}"
        );
    }

    #[test]
    fn the_task_of_a_step_is_that_of_the_latest_result() {
        let text = "tasks: [{id: A, title: a}, {id: B, title: b}]\nsteps:\n- {id: one, type: transform, transform: x}\n- {id: two, type: transform, transform: one}\n- {id: three, type: agent, agent: ann}\n";
        let loaded = crate::workflow::examine(
            Source { text, file: "d.yaml", id: "d" },
            crate::workflow::OtherFiles {
                definition: &|_, _| Err(crate::diagnostic::Diagnostic::new("none")),
                strategy: &|_| Ok(None),
            },
        );
        let loaded = loaded.definition.expect("read");
        let mut session = Session { definition: Arc::new(loaded.clone()), ..Session::default() };
        for (step, task) in [("one", "A"), ("two", "B")] {
            let result = json!({
                "step": step, "stepId": step, "success": true, "data": {"issue_id": task},
                "startTime": Timestamp(0), "endTime": Timestamp(0), "duration": 0,
            });
            session.results.insert(step.to_owned(), serde_json::from_value(result).expect("a result"));
        }
        let step = loaded.step("three").expect("the step");
        assert_eq!(session.task_of(step).as_deref(), Some("B"));
    }

    #[test]
    fn without_linked_tasks_or_with_a_broken_one_the_json_is_empty() {
        let mut definition = definition("");
        assert!(linked(&definition, "D").json.contains("linked_to"));
        assert_eq!(linked(&definition, "nowhere"), LinkedTasks { json: "{}".into(), warnings: Vec::new() });
        definition.tasks[1].row.insert("createdAt".to_owned(), "then".into());
        let LinkedTasks { json, warnings } = linked(&definition, "A");
        assert_eq!((json.as_str(), warnings.len()), ("{}", 1));
    }
}
