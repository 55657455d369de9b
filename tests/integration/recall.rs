//! Earlier rounds in a snapshot: the key `context`, and its default.

use roundtable::history::{RoundOpened, RoundRun};
use serde_json::{Value, json};

use crate::program::Desk;

fn rounds(definition: &str) -> Vec<RoundRun> {
    let desk = Desk::rehearsing(definition);
    let said = "{vote: redis, position: P., rationale: [r], confidence: 0.5}";
    desk.answered(format!("two: {{skeptic: {said}, qa-lead: {said}}}\n"), &[]).code(0);
    desk.state("s.s2s").rounds
}

/// Returns the content of a round's snapshot.
pub fn recalled(opened: &RoundOpened) -> Value {
    let snapshot = roundtable::yaml::read(&opened.snapshot, "snapshot").expect("YAML").to_json();
    snapshot["participant_context"].clone()
}

#[test]
fn the_snapshot_of_a_debate_stays_small() {
    let roster = "[software-architect, qa-lead, skeptic, technical-lead, devops-engineer]";
    let mut definition = format!("goal: \"Choose a cache\"\nparticipants: {roster}\nsteps:\n");
    for number in 1..=8 {
        definition +=
            &format!("  - {{id: r{number}, type: round, question: \"Which cache, and why ({number})?\"}}\n");
    }
    let sizes: Vec<usize> = rounds(&definition).iter().map(|round| round.opened.snapshot_bytes).collect();
    assert_eq!(sizes.len(), 8);
    assert!(sizes[7] < 4 * sizes[1], "{sizes:?}");
}

fn last(top: &str, own: &str) -> Value {
    let definition = format!(
        "goal: \"Choose a cache: in-process or redis\"\nparticipants: [skeptic, qa-lead]\n{top}steps:\n  \
         - {{id: plan, type: agent, agent: skeptic, prompt: \"Plan it.\"}}\n  \
         - {{id: one, type: round, question: \"In-process or redis?\", ballot: {{kind: choice, options: [in-process, redis]}}, rule: plurality}}\n  \
         - {{id: two, type: round, question: \"In-process or redis now?\", ballot: {{kind: choice, options: [in-process, redis]}}, rule: plurality}}\n  \
         - {{id: three, type: round, question: \"And then?\"{own}}}\n"
    );
    recalled(&rounds(&definition)[2].opened)
}

fn keys(map: &Value) -> Vec<&str> {
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
    // The round's keys override the definition's, key by key.
    let positions = last("context: {answers: none, rounds: 1}\n", ", context: {answers: positions}");
    assert_eq!(keys(&positions["context"]["two"]["data"][0]["result"]), ["vote", "position"]);
    assert_eq!(positions["recent_rounds"].as_array().map(Vec::len), Some(1));
    let reasons = last("context: {answers: reasons, results: none}\n", "");
    assert_eq!(keys(&reasons["context"]), ["two"]);
    let answer = keys(&reasons["context"]["two"]["data"][0]["result"]).join(" ");
    let is_reasons = answer.contains("rationale") && !answer.contains("vote");
    assert!(is_reasons && !answer.contains("confidence"), "{answer}");
    let none = last("context: {answers: none, results: [plan]}\n", "");
    assert_eq!(keys(&none["context"]), ["plan", "two"]);
    assert!(none["context"]["two"]["data"].is_null() && none["context"]["two"]["tally"].is_object());
    let rounds_0 = last("", ", context: {rounds: 0}");
    assert_eq!(keys(&rounds_0["context"]), ["plan"]);
    assert!(rounds_0["recent_rounds"].is_null());
    let nothing = last("", ", context: {rounds: 0, results: none}");
    assert!(nothing["context"].is_null());
}

const ROUND: &str = "ballot: {kind: choice, options: [a, b]}, rule: plurality";

#[test]
fn an_agent_writes_the_note_on_a_round() {
    let desk = Desk::with(&format!(
        "participants: [skeptic, qa-lead]\nsteps:\n  - {{id: one, type: round, question: q, {ROUND}}}\n  \
         - {{id: sum, type: agent, agent: skeptic, prompt: p, synthesis_of: one}}\n  \
         - {{id: two, type: round, question: r, {ROUND}}}\n  - {{id: end, type: agent, agent: skeptic, prompt: p, synthesis_of: two}}\n"
    ));
    let content = json!({
        "sum": "A is ahead, {{goal}}.", "end": {"synthesis": "B came back.", "more": 1},
        "one": {"skeptic": {"vote": "a"}, "qa-lead": {"vote": "a"}},
        "two": {"skeptic": {"vote": "b"}, "qa-lead": {"vote": "b"}},
    });
    desk.answered(content, &[]).code(0);
    let log = desk.read("s.s2s");
    assert_eq!(log.matches("\nevent: synthesis_recorded\n").count(), 2);
    assert!(log.contains("text: \"B came back.\""));
    let shown = recalled(&desk.state("s.s2s").rounds[1].opened);
    assert_eq!(shown["recent_rounds"][0]["synthesis"], "A is ahead, {{goal}}.");
    desk.run(["report", "s.s2s"]).code(0).shows("A is ahead").shows("B came back.");
}

#[test]
fn the_answers_file_has_notes() {
    let text = format!(
        "participants: [skeptic, qa-lead]\nsteps:\n  - {{id: one, type: round, question: q, {ROUND}, max_runs: 2, on_exhausted: two, next: one}}\n  \
         - {{id: two, type: round, question: r, {ROUND}}}\n"
    );
    let desk = Desk::with(&text);
    let votes = "{skeptic: {vote: a}, qa-lead: {vote: a}}";
    let notes = "{one: [First time., Second time.], two: The end.}";
    desk.answered(format!("one: {votes}\ntwo: {votes}\nsynthesis: {notes}\n"), &[]).code(0);
    let log = desk.read("s.s2s");
    let notes = recalled(&desk.state("s.s2s").rounds[2].opened)["recent_rounds"].clone();
    assert_eq!([0, 1].map(|nth| notes[nth]["synthesis"].clone()), ["First time.", "Second time."]);
    assert!(log.contains("text: \"The end.\""));
}

const BLOCK: &str = "participant_context:\n  project_summary: \"...\"\n  current_round: 3\n  question: \"What risks do you see?\"\n  \
                     artifacts_snapshot:\n    - id: REQ-001\n      summary: \"...\"\n  your_role: \"software-architect\"\n";
const HASH: &str = "b727d2cee6d9a9b4b0e68b404270082455219a3ba65f116bc7a879df881ed400";

/// The snapshot is the same, byte for byte.
#[test]
fn a_block_of_context_becomes_a_definition() {
    let desk = Desk::new();
    desk.write("record.md", format!("# Context\n\n```yaml\n{BLOCK}```\n\nIdentical for all.\n"));
    let text = desk.run(["init", "--from", "record.md"]).code(0).out;
    desk.write("round.yaml", &text);
    desk.run(["check", "round.yaml"]).code(0);
    let shown = desk.run(["snapshot", "round.yaml"]).code(0).out;
    let bytes = shown.split("  your_role").next().expect("a snapshot");
    let hash = roundtable::round::snapshot::sha256_hex(bytes);
    assert_eq!((bytes.len(), hash.as_str()), (163, HASH), "{shown}");
    desk.write("none.yaml", "question: q\n");
    desk.run(["init", "--from", "none.yaml"]).code(2).tells("there is no `participant_context` block");
    desk.run(["init", "--from", "missing.yaml"]).code(2);
}
