//! The living agenda: conflicts opened by blocks, what later rounds see of them, what `verify` finds.

use roundtable::history::Event;
use roundtable::journal::verify;
use serde_json::{Value, json};

use crate::forge::{chained, events};
use crate::program::{Desk, Ran};

const CONSENT: &str = "pseudonyms: {seed: 7}
participants: [{name: skeptic, model: human}, {name: qa-lead, model: human}]
steps:
  - {id: adopt, type: round, question: \"Retry?\", ballot: consent, rule: consent, on_undecided: again, next: again}
  - {id: again, type: approval, message: \"Once more?\", on_approve: adopt, on_reject: after}
  - {id: after, type: round, question: \"What else?\"}
";

/// The votes of skeptic and qa-lead, one list each, and how often the facilitator asks again.
fn answers(skeptic: &str, lead: &str, again: &str) -> String {
    let after = "{skeptic: {position: Nothing.}, qa-lead: {position: Nothing.}}";
    format!("adopt: {{skeptic: {skeptic}, qa-lead: {lead}}}\nagain: {again}\nafter: {after}\n")
}

fn run(desk: &Desk, answers: &str) -> Ran {
    desk.write("answers.yaml", answers);
    desk.run(["--batch", "decide.yaml", "--answers", "answers.yaml", "--save=s.s2s"])
}

/// The snapshots of a session's rounds, as maps.
fn snapshots(desk: &Desk) -> Vec<Value> {
    let lines = desk.run(["replay", "s.s2s", "--json"]).code(0).lines();
    let opened = lines.iter().filter(|line| line["event"] == "round_opened");
    let text = |line: &Value| line["snapshot"].as_str().expect("a snapshot").to_owned();
    let map = |text: String| roundtable::yaml::read(&text, "s").expect("YAML").to_json();
    opened.map(text).map(map).map(|snapshot| snapshot["participant_context"].clone()).collect()
}

#[test]
fn a_block_opens_a_conflict_until_a_round_of_its_step_has_none() {
    let desk = Desk::with(CONSENT);
    let lead = "[{position: Too many., consent: block, minimum_change: cap them}, \
               {consent: block, minimum_change: cap them at two}, {consent: support}]";
    run(&desk, &answers("{consent: support}", lead, "[true, true, false]")).code(0);
    desk.run(["verify", "s.s2s"]).code(0);
    let seen: Vec<Value> = snapshots(&desk).into_iter().map(|one| one["open_conflicts"].clone()).collect();
    let conflict = |change: &str, round: &str| json!({"id": "CONF-001", "title": "Blocked: Retry?", "minimum_change": change, "round": round});
    let mut first = conflict("cap them", "adopt");
    first["description"] = "Too many.".into();
    assert_eq!(seen[0], Value::Null);
    assert_eq!(seen[1]["0"], Value::Null);
    assert_eq!(seen[1][0]["description"], "Too many.");
    assert_eq!(seen[1], json!([first]));
    assert_eq!(seen[2], json!([conflict("cap them at two", "adopt.2")]));
    assert_eq!(seen[3], Value::Null, "resolved by a round without a block");
    let report = desk.run(["report", "s.s2s"]).code(0).out;
    assert!(report.contains("## Resolved and answered"), "{report}");
    assert!(!report.contains("## Open conflicts"), "{report}");
    let json: Value =
        serde_json::from_str(&desk.run(["report", "s.s2s", "--format", "json"]).code(0).out).expect("JSON");
    assert_eq!(
        (&json["conflicts"][0]["id"], &json["conflicts"][0]["settled"]),
        (&json!("CONF-001"), &json!(""))
    );
}

#[test]
fn an_open_conflict_is_in_every_report_and_names_nobody_in_a_snapshot() {
    let desk = Desk::with(CONSENT);
    let skeptic = "{consent: block, minimum_change: ask qa-lead first}";
    run(&desk, &answers(skeptic, "{consent: support}", "false")).code(3);
    let seen = snapshots(&desk)[1]["open_conflicts"].clone();
    let change = seen[0]["minimum_change"].as_str().expect("a change");
    assert!(change.starts_with("ask participant-"), "names in it are masked: {change}");
    for format in ["md", "html"] {
        let report = desk.run(["report", "s.s2s", "--format", format]).code(0).out;
        assert!(
            report.contains("Open conflicts") && report.contains("ask qa-lead first"),
            "{format}: {report}"
        );
    }
    let replay = desk.run(["replay", "s.s2s", "--text"]).out;
    let told = desk.run(["replay", "s.s2s", "--json"]).code(0).out;
    assert!(told.contains("\"event\":\"conflict_opened\""), "{told} {replay}");
}

#[test]
fn a_round_without_quorum_resolves_nothing() {
    let desk = Desk::with(CONSENT);
    let skeptic = "[{consent: block, minimum_change: cap them}, {fail: offline}]";
    let lead = "[{consent: support}, {fail: offline}]";
    let definition = CONSENT.replace("rule: consent,", "rule: consent, on_failed: close,");
    desk.write("decide.yaml", definition);
    run(&desk, &answers(skeptic, lead, "[true, false]"));
    let seen = snapshots(&desk);
    assert_eq!(seen.last().expect("a round")["open_conflicts"][0]["id"], "CONF-001");
}

#[test]
fn verify_finds_a_conflict_that_is_missing_changed_or_made_up() {
    let desk = Desk::with(CONSENT);
    let lead = "[{consent: block, minimum_change: cap them}, {consent: support}]";
    run(&desk, &answers("{consent: support}", lead, "[true, false]")).code(0);
    let all = events(&std::fs::read(desk.path("s.s2s")).expect("a file"));
    assert_eq!(verify(&chained(&all), None).findings, []);
    let is_conflict = |event: &Event| matches!(event, Event::ConflictOpened(_) | Event::ConflictResolved(_));
    let at: Vec<usize> = (0..all.len()).filter(|at| is_conflict(&all[*at].event)).collect();
    assert_eq!(at.len(), 2, "one opened, one resolved");
    let is_found = |events: &[_]| !verify(&chained(events), None).findings.is_empty();
    for index in &at {
        let mut without = all.clone();
        without.remove(*index);
        assert!(is_found(&without), "{:?} is missing", all[*index].event);
        let mut twice = all.clone();
        twice.insert(*index, all[*index].clone());
        assert!(is_found(&twice), "{:?} is there twice", all[*index].event);
    }
    let mut changed = all.clone();
    let Event::ConflictOpened(opened) = &mut changed[at[0]].event else { panic!("the block comes first") };
    opened.minimum_change = Some("nothing".to_owned());
    assert!(is_found(&changed), "another minimum change");
}
