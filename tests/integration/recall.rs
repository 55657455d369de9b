//! What a round's snapshot recalls of what was before: the key `context`, and its default.

use roundtable::history::{Event, RoundOpened};
use std::sync::Arc;

use crate::program::Desk;

fn rounds(definition: &str) -> Vec<Arc<RoundOpened>> {
    let desk = Desk::rehearsing(definition);
    let said = "{vote: redis, position: P., rationale: [r], confidence: 0.5}";
    desk.answered(format!("two: {{skeptic: {said}, qa-lead: {said}}}\n"), &[]).code(0);
    let opened = desk.kept("s.s2s").lines.into_iter().filter_map(|line| match line.stamped.event {
        Event::RoundOpened(opened) => Some(opened),
        _ => None,
    });
    opened.collect()
}

#[test]
fn the_snapshot_of_a_debate_stays_small() {
    let roster = "[software-architect, qa-lead, skeptic, technical-lead, devops-engineer]";
    let mut definition = format!("goal: \"Choose a cache\"\nparticipants: {roster}\nsteps:\n");
    for number in 1..=8 {
        definition +=
            &format!("  - {{id: r{number}, type: round, question: \"Which cache, and why ({number})?\"}}\n");
    }
    let sizes: Vec<usize> = rounds(&definition).iter().map(|round| round.snapshot_bytes).collect();
    assert_eq!(sizes.len(), 8);
    assert!(sizes[7] < 4 * sizes[1], "{sizes:?}");
}

fn last(top: &str, own: &str) -> serde_json::Value {
    let definition = format!(
        "goal: \"Choose a cache: in-process or redis\"\nparticipants: [skeptic, qa-lead]\n{top}steps:\n  \
         - {{id: plan, type: agent, agent: skeptic, prompt: \"Plan it.\"}}\n  \
         - {{id: one, type: round, question: \"In-process or redis?\", ballot: {{kind: choice, options: [in-process, redis]}}, rule: plurality}}\n  \
         - {{id: two, type: round, question: \"In-process or redis now?\", ballot: {{kind: choice, options: [in-process, redis]}}, rule: plurality}}\n  \
         - {{id: three, type: round, question: \"And then?\"{own}}}\n"
    );
    let opened = rounds(&definition);
    let snapshot = roundtable::yaml::read(&opened[2].snapshot, "snapshot").expect("YAML").to_json();
    snapshot["participant_context"].clone()
}

fn keys(map: &serde_json::Value) -> Vec<&str> {
    map.as_object().map(|map| map.keys().map(String::as_str).collect()).unwrap_or_default()
}

#[test]
fn a_snapshot_recalls_what_the_definition_and_the_round_say() {
    let by_default = last("", "");
    assert_eq!(keys(&by_default["context"]), ["plan", "two"]);
    let past = by_default["recent_rounds"].as_array().expect("rounds");
    assert_eq!(past.len(), 2);
    assert!(past.iter().all(|round| round["outcome"].is_string()), "{past:?}");
    let answer = &by_default["context"]["two"]["data"][0]["result"];
    assert!(answer["vote"].is_string() && answer["rationale"].is_array(), "{answer}");
    // What the round says goes before what the definition says, key by key.
    let positions = last("context: {answers: none, rounds: 1}\n", ", context: {answers: positions}");
    assert_eq!(keys(&positions["context"]["two"]["data"][0]["result"]), ["vote", "position"]);
    assert_eq!(positions["recent_rounds"].as_array().map(Vec::len), Some(1));
    let reasons = last("context: {answers: reasons, results: none}\n", "");
    assert_eq!(keys(&reasons["context"]), ["two"]);
    let answer = keys(&reasons["context"]["two"]["data"][0]["result"]).join(" ");
    assert!(
        answer.contains("rationale") && !answer.contains("vote") && !answer.contains("confidence"),
        "{answer}"
    );
    let none = last("context: {answers: none, results: [plan]}\n", "");
    assert_eq!(keys(&none["context"]), ["plan", "two"]);
    assert!(none["context"]["two"]["data"].is_null() && none["context"]["two"]["tally"].is_object());
    let rounds_0 = last("", ", context: {rounds: 0}");
    assert_eq!(keys(&rounds_0["context"]), ["plan"]);
    assert!(rounds_0["recent_rounds"].is_null());
    let nothing = last("", ", context: {rounds: 0, results: none}");
    assert!(nothing["context"].is_null());
}
