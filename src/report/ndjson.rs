//! Output of `--json`: one JSON object per event, in log order.
//!
//! Keys: `seq, at, event, session, prev`, the event's own, `hash` last. A work item contains the full input
//! of its seat, assembled from the log. Text is raw, escaped for terminals. No event is interpreted or left
//! out.

use serde_json::{Value, json};

use super::safe_json;
use crate::ballot::KindInfo;
use crate::history::{Event, RoundRun, Session, Timestamp, WorkItemOffered};

/// Formats one event without a line feed. `session` is the state after it.
pub fn line(seq: u64, prev: &str, hash: &str, at: Timestamp, event: &Event, session: &Session) -> String {
    let mut own = serde_json::to_value(event).unwrap_or_default();
    let own = own.as_object_mut().expect("an event is an object");
    let name = own.shift_remove("event");
    let id = own.shift_remove("session").unwrap_or_else(|| session.id.as_str().into());
    let mut line = json!({ "seq": seq, "at": at, "event": name, "session": id, "prev": prev });
    for (key, value) in std::mem::take(own) {
        line[key] = value;
    }
    if let Event::WorkItemOffered(item) = event {
        tell_offer(&mut line, item, session);
    }
    line["hash"] = hash.into();
    safe_json(&line)
}

/// Adds the full input of a seat.
fn tell_offer(line: &mut Value, item: &WorkItemOffered, session: &Session) {
    line["goal"] = json!(session.definition().goal);
    line["constraints"] = json!(session.definition().constraints);
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

/// Returns the seat's task in words, and earlier results.
fn stage_context(item: &WorkItemOffered, round: &RoundRun, session: &Session) -> Value {
    let step = session.definition().step(&item.step);
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
