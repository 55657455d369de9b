//! Tests of the JSON report: complete values, and open rounds.

use serde_json::{Value, json};

use super::{CHOICE, Table, decided};
use crate::history::Event;
use crate::round::snapshot::sha256_hex;

/// Asserts that `got` has the value of every key in `wanted`, at every depth.
fn assert_contains(got: &Value, wanted: &Value, place: &str) {
    match (got, wanted) {
        (Value::Object(got), Value::Object(keys)) => {
            for (key, value) in keys {
                assert_contains(got.get(key).unwrap_or(&Value::Null), value, &format!("{place}/{key}"));
            }
        }
        (Value::Array(got), Value::Array(items)) if got.len() == items.len() => {
            for (got, value) in got.iter().zip(items) {
                assert_contains(got, value, &format!("{place}[]"));
            }
        }
        _ => assert_eq!(got, wanted, "{place}"),
    }
}

fn seat(name: &str, vote: &str, answer: &Value) -> Value {
    json!({
        "participant": name, "origin": "model", "model": "ollama/llama3.2", "served": null, "outcome": "answered", "reason": null,
        "tries": 1, "latency_ms": 2400, "tokens": {"input": 600, "output": 80, "cached": 0},
        "cost": {"usd": null}, "seed": null, "temperature": null, "effort": null, "dropped": [], "weight": 1.0,
        "answer": answer, "ballot": {"choice": vote}, "unresolved_references": [], "flags": [],
    })
}

fn tally() -> Value {
    json!({
        "rule": "majority", "quorum_met": true, "decided": true, "winners": ["inline"],
        "tier": "weak", "tier_because": "2 of 3 seats asked chose it", "act_at": null, "tie": false, "order": [["inline"], ["redis"]], "order_by": "first places", "reason": null, "quorum": 2, "asked": 3, "sealed": 3, "answered": 3,
        "abstained": 0, "invalid": 0, "refused": 0, "failed": 0, "missing": 0, "excused": 0,
        "scores": {"inline": 2, "redis": 1}, "steps": ["ballots: inline 2, redis 1", "ballots that name an option: 3; majority: 2"],
        "trace": null,
    })
}

fn independence() -> Value {
    json!({
        "models": {"ollama/llama3.2": ["software-architect", "qa-lead", "devops-engineer"]},
        "makers": {"Meta": ["ollama/llama3.2"]},
        "people": [], "same_answers": [], "same_seats": [],
    })
}

#[test]
fn the_json_of_a_finished_session_is_complete() {
    let table = decided();
    let (step, run) = (&table.session.results["pick"], &table.session.rounds[0]);
    let architect = json!({"vote": "inline", "position": "Keep it in the process.", "confidence": 0.8});
    let devops = json!({
        "vote": "redis",
        "position": "Restarts empty an in-process cache.\nThat happens *daily*.",
        "rationale": ["deploys are frequent", "redis is there already"],
        "confidence": 0.6,
    });
    let tokens = json!({"input": 1800, "output": 240, "cached": 0});
    let cost = json!({"usd": null, "tokens": tokens, "complete": false});
    let expected = json!({
        "session": "s-1", "status": "finished", "outcome": "Decision: inline", "rehearsal": false,
        "decision": {"round": "pick", "rule": "majority", "winners": ["inline"], "by": null},
        "decisions": [{"round": "pick", "rule": "majority", "winners": ["inline"]}],
        "rounds": [{
            "id": "pick", "number": 1,
            "question": "Which cache first?",
            "exploration": null,
            "ballot": run.opened.ballot,
            "opened_at": run.opened_at.to_string(),
            "closed_at": run.closed_at.map(|at| at.to_string()),
            "close_reason": "facilitator",
            "snapshot_bytes": run.opened.snapshot_bytes,
            "snapshot_sha256": sha256_hex(&*table.session.rounds[0].opened.snapshot),
            "seats": [
                seat("software-architect", "inline", &architect),
                seat("qa-lead", "inline", &json!({"vote": "inline", "concerns": ["stale prices"]})),
                seat("devops-engineer", "redis", &devops),
            ],
            "tally": tally(),
            "cost": cost.clone(),
            "option_order": null,
            "movement": null,
            "independence": independence(),
        }],
        "not_held": [],
        "artifacts": [{"id": "REQ-001", "summary": "Prices change hourly"}],
        "agenda": [], "conflicts": [], "questions": [], "merges": [], "findings": [], "approvals": [],
        "steps": [{
            "stepId": "pick", "success": true, "data": step.data, "startTime": step.start_time,
            "endTime": step.end_time, "duration": step.duration,
        }],
        "cost": cost,
        "prices": {},
    });
    let got = table.json();
    assert_contains(&got, &expected, "");
    let rules = got["rounds"][0]["what_if"].as_array().unwrap();
    assert_eq!(rules.iter().filter(|rule| rule["what_if"] == false).count(), 1, "its own");
}

#[test]
fn the_json_contains_everything_the_pages_show() {
    let got = decided().json();
    let (verdict, task, options) = (&got["verdict"], &got["task"], &got["decisions"][0]["options"]);
    assert_eq!(
        (&verdict["headline"], &verdict["decided"], &got["decisions"][0]["round"]),
        (&json!("inline"), &json!(true), &json!("pick"))
    );
    assert_eq!(verdict["sentence"], "2 of 3 seats chose it (a majority needed). 1 chose redis.");
    assert_eq!(verdict["quorum"], json!({"value": "Met", "note": "3 of 3 took part, 2 needed"}));
    assert_eq!(task["constraints"], json!(["no new server"]));
    let reason = |text: &str| {
        json!({
            "text": text, "participants": ["devops-engineer"], "models": ["ollama/llama3.2"], "rounds": [1], "left": false, "who": "devops-engineer",
        })
    };
    assert_eq!(
        options[1],
        json!({
            "name": "redis", "proposal": false, "letter": "B", "tone": "o2", "description": null, "result": "1 of 3", "votes": 1,
            "votes_by_round": [[1, 1]], "chosen": false,
            "for": [reason("deploys are frequent"), reason("redis is there already")], "against": [],
        })
    );
}

#[test]
fn the_json_of_an_open_round_contains_no_answer() {
    let mut table = Table::round(CHOICE);
    table.seal("qa-lead");
    table.fail("devops-engineer", "connection refused");
    let early = table.vote("qa-lead", "inline", json!({"position": "SECRET"}));
    table.apply(Event::AnswerRevealed(early.into()));
    let got = table.json();
    assert_eq!((&got["status"], &got["decisions"][0]["winners"]), (&json!("open"), &json!([])));
    let unread = |name: &str, state: &str| {
        json!({
            "participant": name, "origin": "model", "model": "ollama/llama3.2", "served": null, "outcome": null, "reason": null,
            "tries": null, "latency_ms": null, "tokens": null, "cost": null, "seed": null,
            "temperature": null, "effort": null, "dropped": [], "weight": 1.0, "answer": null, "ballot": null,
            "unresolved_references": [], "flags": [], "state": state,
        })
    };
    let seats = &got["rounds"][0]["seats"];
    assert_contains(&seats[0], &unread("software-architect", "asking"), "");
    assert_contains(&seats[1], &unread("qa-lead", "sealed"), "");
    assert_eq!(
        (&seats[2]["outcome"], &seats[2]["reason"], &seats[2]["tries"]),
        (&json!("failed"), &json!("connection refused"), &json!(4))
    );
    assert_eq!(got["rounds"][0]["tally"], Value::Null);
    assert!(!got.to_string().contains("SECRET"));
    assert_eq!((&got["cost"], &got["rounds"][0]["cost"]), (&Value::Null, &Value::Null), "nor what it cost");
}
