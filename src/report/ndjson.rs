//! One JSON object an event: what `--json` prints, in the order of the log.
//!
//! Keys: `seq, at, event, session, prev`, the event's own, `hash` last. A work item carries the
//! whole of what its seat was handed, put together from the parts in the log. Text is raw, escaped
//! so that a terminal may show it. It adds no judgement: nothing here is counted or left out.

use serde_json::{Map, Value, json};

use super::terminal_safe_json;
use crate::ballot::{BallotKind, KindInfo};
use crate::history::{Event, RoundRun, Session, Timestamp, WorkItemOffered};

/// The line of one event, without a line feed. `session` is the state after it.
pub fn line(seq: u64, prev: &str, hash: &str, at: Timestamp, event: &Event, session: &Session) -> String {
    let mut line = Map::new();
    line.insert("seq".to_owned(), seq.into());
    fill(&mut line, Some(prev), at, event, session);
    line.insert("hash".to_owned(), hash.into());
    terminal_safe_json(&Value::Object(line).to_string()).into_owned()
}

/// An event that would be written: without the number and the hashes that only a log gives.
pub fn preview(at: Timestamp, event: &Event, session: &Session) -> String {
    let mut line = Map::new();
    line.insert("dry_run".to_owned(), true.into());
    fill(&mut line, None, at, event, session);
    terminal_safe_json(&Value::Object(line).to_string()).into_owned()
}

fn fill(line: &mut Map<String, Value>, prev: Option<&str>, at: Timestamp, event: &Event, session: &Session) {
    let mut own = match serde_json::to_value(event) {
        Ok(Value::Object(own)) => own,
        _ => Map::new(),
    };
    line.insert("at".to_owned(), at.to_string().into());
    for (key, known) in [("event", None), ("session", Some(session.id.as_str()))] {
        let value = own.shift_remove(key).or_else(|| known.map(Value::from));
        line.insert(key.to_owned(), value.unwrap_or_default());
    }
    if let Some(prev) = prev {
        line.insert("prev".to_owned(), prev.into());
    }
    line.append(&mut own);
    if let Event::WorkItemOffered(item) = event {
        match session.round(&item.round) {
            Some(round) => hand_over(line, item, round, session),
            None => agent_hand_over(line, item, session),
        }
    }
}

/// Adds what an agent's work item has beside its own keys: the session's task and the exact prompt.
fn agent_hand_over(line: &mut Map<String, Value>, item: &WorkItemOffered, session: &Session) {
    let definition = session.definition.as_deref();
    let constraints = definition.map_or(&[][..], |definition| &definition.constraints);
    let (system, prompt) = session.agent_prompt(item);
    line.insert("goal".to_owned(), definition.and_then(|definition| definition.goal.as_deref()).into());
    line.insert("constraints".to_owned(), constraints.into());
    if !system.is_empty() {
        line.insert("system".to_owned(), system.into());
    }
    line.insert("prompt".to_owned(), prompt.into());
}

/// Adds what the seat is handed: the task in words, its context and the exact prompt.
fn hand_over(line: &mut Map<String, Value>, item: &WorkItemOffered, round: &RoundRun, session: &Session) {
    let definition = session.definition.as_deref();
    let step = definition.and_then(|definition| definition.step(&item.step));
    let description = step.and_then(|step| step.description.as_deref());
    let input = format!("{}{}", round.opened.snapshot, item.address);
    let previous = session.previous_artifacts(true).into_iter();
    let previous: Vec<_> = previous.filter(|made| made.created_at <= round.opened_at).collect();
    let stage_context = json!({
        "stage_description": description.unwrap_or(&round.opened.question),
        "expected_output": expected_output(round.opened.ballot.kind),
        "available_skills": [],
        "previous_artifacts": previous,
    });
    let constraints = definition.map_or(&[][..], |definition| &definition.constraints);
    line.insert("goal".to_owned(), definition.and_then(|definition| definition.goal.as_deref()).into());
    line.insert("constraints".to_owned(), constraints.into());
    line.insert("stage_context".to_owned(), stage_context);
    line.insert("input".to_owned(), input.into());
    line.insert("prompt".to_owned(), session.prompt(round, item).text().into());
}

fn expected_output(kind: BallotKind) -> Value {
    let KindInfo { description, length, .. } = kind.info();
    json!({ "description": description, "length": length, "format": "yaml" })
}
