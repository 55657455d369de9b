//! One JSON object an event: what `--json` prints, in the order of the log.
//!
//! Keys: `seq, at, event, session, prev`, the event's own, `hash` last. A work item carries the
//! whole of what its seat was handed, put together from the parts in the log. Text is raw, escaped
//! so that a terminal may show it. It adds no judgement: nothing here is counted or left out.

use serde_json::{Value, json};

use super::safe_json;
use crate::ballot::KindInfo;
use crate::history::{Event, RoundRun, Session, Timestamp, WorkItemOffered};

/// The line of one event, without a line feed. `session` is the state after it.
pub fn line(seq: u64, prev: &str, hash: &str, at: Timestamp, event: &Event, session: &Session) -> String {
    let mut line = json!({ "seq": seq });
    fill(&mut line, Some(prev), at, event, session);
    line["hash"] = hash.into();
    safe_json(&line)
}

/// An event that would be written: without the number and the hashes that only a log gives.
pub fn preview(at: Timestamp, event: &Event, session: &Session) -> String {
    let mut line = json!({ "dry_run": true });
    fill(&mut line, None, at, event, session);
    safe_json(&line)
}

fn fill(line: &mut Value, prev: Option<&str>, at: Timestamp, event: &Event, session: &Session) {
    let Ok(Value::Object(mut own)) = serde_json::to_value(event) else { return };
    line["at"] = json!(at);
    line["event"] = own.shift_remove("event").unwrap_or_default();
    line["session"] = own.shift_remove("session").unwrap_or_else(|| session.id.as_str().into());
    if let Some(prev) = prev {
        line["prev"] = prev.into();
    }
    for (key, value) in own {
        line[key] = value;
    }
    let Event::WorkItemOffered(item) = event else { return };
    let definition = session.definition.as_deref();
    line["goal"] = json!(definition.and_then(|definition| definition.goal.as_deref()));
    line["constraints"] = json!(definition.map_or(&[][..], |definition| &definition.constraints));
    if let Some(round) = session.round(&item.round) {
        line["stage_context"] = stage_context(item, round, session);
        line["input"] = format!("{}{}", round.opened.snapshot, item.address).into();
        line["prompt"] = session.prompt(round, item).text().into();
        return;
    }
    let (system, prompt) = session.agent_prompt(item);
    if !system.is_empty() {
        line["system"] = system.into();
    }
    line["prompt"] = prompt.into();
}

/// The task of a seat in words, and what was made before.
fn stage_context(item: &WorkItemOffered, round: &RoundRun, session: &Session) -> Value {
    let step = session.definition.as_deref().and_then(|definition| definition.step(&item.step));
    let asked = step.and_then(|step| step.description.as_deref()).unwrap_or(&round.opened.question);
    let KindInfo { description, length, .. } = round.opened.ballot.kind.info();
    let mut previous = session.previous_artifacts(true);
    previous.retain(|made| made.created_at <= round.opened_at);
    json!({
        "stage_description": asked,
        "expected_output": { "description": description, "length": length, "format": "yaml" },
        "available_skills": [],
        "previous_artifacts": previous,
    })
}
