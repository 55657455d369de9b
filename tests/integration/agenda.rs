//! The living agenda: conflicts opened by blocks, what later rounds see of them, what `verify` finds.

use serde_json::{Value, json};

use crate::program::{Desk, Ran, has};

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

fn snapshots(desk: &Desk) -> Vec<Value> {
    let text = |line: &Value| line["snapshot"].as_str().expect("a snapshot").to_owned();
    let map = |text: String| roundtable::yaml::read(&text, "s").expect("YAML").to_json();
    let opened = desk.events("round_opened");
    opened.iter().map(text).map(map).map(|snapshot| snapshot["participant_context"].clone()).collect()
}

#[test]
fn an_open_conflict_is_in_every_report_and_names_nobody_in_a_snapshot() {
    let desk = Desk::with(CONSENT);
    let skeptic = "{consent: block, minimum_change: ask qa-lead first}";
    desk.answered(answers(skeptic, "{consent: support}", "false"), &[]).code(0);
    let seen = snapshots(&desk)[1]["open_conflicts"].clone();
    let change = seen[0]["minimum_change"].as_str().expect("a change");
    assert!(change.starts_with("ask participant-"), "names in it are masked: {change}");
    for format in ["md", "html"] {
        let report = desk.run(["report", "s.s2s", "--format", format]).code(0).out;
        has(&report, &["Open conflicts", "ask qa-lead first"]);
    }
    desk.run(["replay", "s.s2s", "--json"]).code(0).shows("\"event\":\"conflict_opened\"");
}

#[test]
fn a_round_without_quorum_resolves_nothing() {
    let desk = Desk::with(CONSENT);
    let skeptic = "[{consent: block, minimum_change: cap them}, {fail: offline}]";
    let lead = "[{consent: support}, {fail: offline}]";
    desk.write("decide.yaml", CONSENT.replace("rule: consent,", "rule: consent, on_failed: close,"));
    desk.answered(answers(skeptic, lead, "[true, false]"), &[]);
    let seen = snapshots(&desk);
    assert_eq!(seen.last().expect("a round")["open_conflicts"][0]["id"], "CONF-001");
}

const RECORD: &str = "participants: [{name: ann, model: human}]
agenda: [{id: where, title: \"Where?\"}]
open_conflicts: [\"speed or safety\"]
artifacts: [{id: REQ-004, summary: Old}]
steps:
  - {id: synth, type: agent, agent: facilitator, prompt: p, record: {from: context.synth}, next: ask, on_error: lost}
  - {id: ask, type: condition, condition: \"agenda.where.status === 'done' && agenda.open === 1 && conflicts.open === 1 && questions.open === 1 && runs.synth === 1\", then: look, else: lost}
  - {id: look, type: round, question: \"What else?\", next: end}
  - {id: lost, type: transform, transform: context.synth, next: end}
  - {id: end, type: transform, transform: context.synth}
";

fn recorded(synth: &Value) -> (Desk, Ran) {
    let desk = Desk::with(RECORD);
    let ran = desk.answered(json!({ "synth": synth, "look": {"ann": {"position": "Nothing."}} }), &[]);
    (desk, ran)
}

#[test]
fn a_step_records_what_its_result_names_and_conditions_see_it() {
    let (desk, ran) = recorded(&json!({
        "synthesis": "We agree.",
        "artifacts": [{"title": "Prices agree", "description": "within a second"}, {"id": "REQ-009", "summary": "Own id"}],
        "conflicts": [{"title": "Who pays?", "minimum_change": "name a budget"}],
        "resolved": [{"id": "speed or safety", "how": "safety first"}],
        "questions": ["Who is on call?"],
        "agenda": [{"id": "where", "status": "done", "reason": "in Redis"}, {"id": "when", "title": "When?"}],
    }));
    ran.code(0);
    let seen = &snapshots(&desk)[0];
    let item = |id: &str, title: &str, status: &str| json!({"id": id, "title": title, "status": status});
    assert_eq!(seen["agenda"], json!([item("where", "Where?", "done"), item("when", "When?", "open")]));
    assert_eq!(seen["artifacts_snapshot"][1], json!({"id": "REQ-005", "summary": "Prices agree"}));
    assert_eq!(seen["artifacts_snapshot"][2]["id"], "REQ-009");
    let conflict = json!({"id": "CONF-001", "title": "Who pays?", "minimum_change": "name a budget"});
    assert_eq!(seen["open_conflicts"], json!([conflict]));
    assert_eq!(seen["open_questions"], json!([{"id": "OQ-001", "title": "Who is on call?"}]));
    // A list is what the last name of its path says.
    let desk = Desk::with(&RECORD.replace("from: context.synth}", "from: context.synth.questions}"));
    desk.answered(json!({"synth": {"questions": ["Who pays?"]}}), &[]);
    assert_eq!(desk.report("s.s2s")["questions"][0]["title"], "Who pays?");
}

#[test]
fn what_cannot_be_recorded_fails_the_step_and_nothing_of_it_is_recorded() {
    let how = &json!({"id": "speed or safety", "how": "a"});
    for (synth, wanted) in [
        (json!({"synthesis": "x"}), "`context.synth` has none of artifacts, conflicts"),
        (json!({"questions": "Who?"}), "`context.synth`.questions is no list"),
        (json!({"questions": ["Who?", 3]}), "`context.synth`.questions[1]: invalid type"),
        (json!({"conflicts": [{"id": "CONF-001", "title": "x"}]}), "unknown field `id`"),
        (json!({"conflicts": [{"title": " "}]}), "the title of a conflict is empty"),
        (json!({"artifacts": [{"id": "REQ-004", "title": "x"}]}), "the id `REQ-004` is taken"),
        (json!({"artifacts": [{"id": "A", "title": "x"}, {"id": "A", "title": "y"}]}), "the id `A` is taken"),
        (json!({"artifacts": [{"title": "x", "file": "/etc/passwd"}]}), "has no `file`"),
        (json!({"resolved": [{"id": "CONF-009", "how": "so"}]}), "no conflict `CONF-009`"),
        (json!({"resolved": [how, how]}), "conflict `speed or safety` is already resolved"),
        (json!({"answered": [{"id": "OQ-001", "answer": "x"}]}), "no question `OQ-001`"),
        (json!({"agenda": [{"id": "where"}]}), "nothing changes of agenda item `where`"),
    ] {
        let (desk, _) = recorded(&synth);
        let report = desk.report("s.s2s");
        let error = report["steps"][0]["error"].as_str().unwrap_or_default();
        assert!(error.starts_with("nothing is recorded: ") && error.contains(wanted), "{synth}: {error}");
        assert_eq!(report["questions"], json!([]), "{synth}");
        assert!(desk.read("s.s2s").contains("event: work_item_returned"), "the answer itself is kept");
    }
}
