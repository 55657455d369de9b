//! Tests of NDJSON lines: one parseable object per event, keys in order.

use serde_json::{Map, Value, json};

use super::{CHOICE, Table, decided};
use crate::history::{
    ApprovalGiven, ApprovalRequested, Event, PauseReason, Session, SessionClosed, Status, TimedEvent,
    Timestamp,
};
use crate::report::line;
use crate::round::snapshot::sha256_hex;

fn parsed(stamped: &TimedEvent, session: &Session) -> Map<String, Value> {
    let text = line(7, "p", "h", stamped.at, &stamped.event, session);
    assert!(!text.chars().any(crate::sanitize::is_unsafe), "{text}");
    serde_json::from_str(&text).unwrap()
}

/// Returns the events of a decided session, and kinds that it does not have.
fn all_kinds() -> Vec<Event> {
    let (step, round) = ("pick".to_owned(), "pick".to_owned());
    let participants = vec!["qa-lead".to_owned()];
    let mut table = Table::round(CHOICE);
    table.fail("qa-lead", "connection refused\u{1b}");
    let mut events: Vec<Event> = decided().events.into_iter().chain(table.events).map(|s| s.event).collect();
    events.extend([
        Event::SeatExcused {
            step: step.clone(),
            round: round.clone(),
            participant: "qa-lead".to_owned(),
            reason: "away".to_owned(),
        },
        Event::KeyLost { step: step.clone(), round: round.clone(), participants: participants.clone() },
        Event::SeatsAskedAgain { step: step.clone(), round, participants, seal: None },
        Event::ApprovalRequested(ApprovalRequested {
            step: step.clone(),
            message: "Accept?\u{202e}".to_owned(),
            written: None,
            proposal: None,
            choices: Vec::new(),
            ideas: Vec::new(),
            input: Value::Null,
            context: Map::new(),
        }),
        Event::ApprovalGiven(ApprovalGiven::yes(&step, "facilitator")),
        Event::Warning { message: "\u{9b}".to_owned(), step: None, round: None, participant: None },
        Event::SessionPaused { reason: PauseReason::Waiting("stop".to_owned()), step: Some(step) },
        Event::SessionResumed { program: "roundtable".to_owned(), texts: String::new(), torn_bytes: None },
        Event::SessionClosed(SessionClosed { status: Status::Finished, reason: None, exit_code: 0 }),
    ]);
    events
}

#[test]
fn every_event_is_one_object_with_its_hash_last() {
    let session = decided().session;
    let events = all_kinds();
    let kinds: std::collections::BTreeSet<_> =
        events.iter().map(std::mem::discriminant).map(|d| format!("{d:?}")).collect();
    assert_eq!(kinds.len(), 19, "every kind of event");
    for event in events {
        let stamped = TimedEvent { at: Timestamp(super::START), event };
        let line = parsed(&stamped, &session);
        let keys: Vec<&str> = line.keys().map(String::as_str).collect();
        assert_eq!(keys[..5], ["seq", "at", "event", "session", "prev"]);
        assert_eq!((keys[keys.len() - 1], &line["hash"]), ("hash", &json!("h")));
        assert_eq!((&line["session"], &line["at"]), (&json!("s-1"), &json!("2026-11-21T23:05:07.120Z")));
        let own = serde_json::to_value(&stamped.event).unwrap();
        for (key, value) in own.as_object().unwrap() {
            assert_eq!(line.get(key), Some(value), "raw text comes back");
        }
    }
}

#[test]
fn work_items_contain_the_full_input_of_their_seat() {
    let table = Table::round(CHOICE);
    let session = &table.session;
    let Some(offered) = table.events.iter().find(|s| matches!(s.event, Event::WorkItemOffered(_))) else {
        panic!("nothing was offered")
    };
    let line = parsed(offered, session);
    let prompt = line["prompt"].as_str().unwrap();
    assert_eq!(sha256_hex(prompt), line["prompt_sha256"].as_str().unwrap());
    let input = line["input"].as_str().unwrap();
    assert!(prompt.contains(input) && input.ends_with("  your_role: \"software-architect\"\n"), "{input}");
    assert_eq!(
        sha256_hex(&input[..input.find("  your_role:").unwrap()]),
        line["context_sha256"].as_str().unwrap()
    );
    assert_eq!(line["goal"], "Choose how the shop caches its price list");
    assert_eq!(line["constraints"], json!(["no new server"]));
    let stage = &line["stage_context"];
    assert_eq!(stage["stage_description"], "Which cache first?");
    assert_eq!(stage["expected_output"]["format"], "yaml");
    assert_eq!((&stage["available_skills"], &stage["previous_artifacts"]), (&json!([]), &json!([])));
}
