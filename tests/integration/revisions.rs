//! Revisions, addressed lines and orders of options, with one snapshot.

use roundtable::history::{RoundRun, WorkItemOffered};
use roundtable::round::snapshot::sha256_hex;
use roundtable::yaml::read;
use serde_json::{Value, json};

use crate::program::{Desk, Ran, has};
use crate::recall::recalled;

fn run(definition: &str, answers: &Value, seed: u64) -> (Desk, Ran) {
    let desk = Desk::with(definition);
    let ran = desk.answered(answers, &["--seed", &seed.to_string()]);
    (desk, ran)
}

fn address(item: &WorkItemOffered) -> Value {
    let map = read(&format!("participant_context:\n{}", item.address), "address").expect("YAML").to_json();
    map["participant_context"].clone()
}

fn definition(order: &str, revise: &str) -> String {
    let ballot = format!("{{kind: choice, order: {order}, options: [a, b, {{id: c, description: third}}]}}");
    format!(
        "goal: G\nparticipants: [software-architect, qa-lead, skeptic, technical-lead, devops-engineer]\nsteps:\n  \
         - {{id: vote, type: round, question: \"Which one?\", ballot: {ballot}, rule: majority, \
         directives: {{qa-lead: \"Argue against {{{{goal}}}}.\", skeptic: \"Be brief.\"}}}}\n  \
         - {{id: between, type: round, question: \"And how?\"}}\n  \
         - {{id: again, type: round, question: \"Which one now?\", ballot: {ballot}, rule: majority, revises: vote{revise}}}\n  \
         - {{id: after, type: round, question: \"What next?\"}}\n"
    )
}

fn votes() -> Value {
    json!({
        "vote": {
            "software-architect": {"vote": "a", "rationale": ["Least code.", "Known to qa-lead."], "concerns": ["Slow start."]},
            "qa-lead": {"vote": "a", "rationale": ["least  code", "Easy to test."]},
            "skeptic": {"vote": "b", "rationale": ["No lock-in."]},
            "technical-lead": {"fail": "offline"},
            "devops-engineer": {"vote": "abstain", "rationale": ["Not mine to say."]},
        },
        "again": {
            "software-architect": {"vote": "b", "changed_by": "No lock-in."},
            "qa-lead": {"vote": "a"},
            "skeptic": {"vote": "a", "position": "I have nothing to add."},
            "technical-lead": {"vote": "a"},
            "devops-engineer": {"vote": "c"},
        },
    })
}

/// The hash is the same in the log and in every prompt. Orders are drawn from the seed as the format says.
#[test]
fn the_snapshot_is_the_same_for_all_seats() {
    for (order, seed) in [("same", 1), ("per-seat", 1), ("per-seat", 2), ("mirrored", 3), ("mirrored", 4)] {
        let (desk, _) = run(&definition(order, ""), &votes(), seed);
        let prompts = desk.run(["trace", "--json", "s.s2s"]).code(0).lines();
        let mut orders: Vec<Value> = Vec::new();
        for RoundRun { opened, seats, .. } in desk.state("s.s2s").rounds {
            let items: Vec<_> = seats.values().filter_map(|seat| seat.item.as_deref()).collect();
            assert_eq!(sha256_hex(&*opened.snapshot), opened.snapshot_sha256);
            assert_eq!(items.len(), 5);
            for item in items {
                assert_eq!(item.context_sha256, opened.snapshot_sha256);
                assert!(item.address.starts_with("  your_role: "), "{}", item.address);
                let shared = format!("{}\n{}{}", opened.rules, opened.snapshot, item.address);
                let sent = prompts.iter().find(|line| line["id"] == item.item.as_str()).expect("traced");
                assert!(sent["prompt"].as_str().expect("a prompt").starts_with(&shared));
                let own = address(item);
                let has_options = !opened.ballot.options.is_empty();
                let wanted = match (order, has_options) {
                    ("same", _) | (_, false) => Value::Null,
                    ("per-seat", true) => {
                        let mut options = opened.ballot.options.clone();
                        let head =
                            format!("roundtable order 1\n{seed}\n{}\n{}\n", opened.round, item.participant);
                        options.sort_by_cached_key(|option| sha256_hex(format!("{head}{option}")));
                        json!(options)
                    }
                    _ => own["your_option_order"].clone(),
                };
                assert_eq!(own["your_option_order"], wanted, "{order} {seed}");
                orders.extend(Some(wanted).filter(|order| !order.is_null()));
                let line = match (opened.step.as_str(), item.participant.as_str()) {
                    ("vote", "qa-lead") => json!("Argue against G."),
                    ("vote", "skeptic") => json!("Be brief."),
                    _ => Value::Null,
                };
                assert_eq!(own["your_directive"], line);
            }
        }
        orders.sort_by_key(Value::to_string);
        orders.dedup();
        match order {
            "same" => assert_eq!(orders, [] as [Value; 0]),
            "mirrored" => assert_eq!(orders, [json!(["a", "b", "c"]), json!(["c", "b", "a"])]),
            _ => assert!(orders.len() > 3, "{orders:?}"),
        }
    }
}

#[test]
fn a_revision_shows_reasons_and_neither_authors_nor_counts() {
    let (desk, ran) = run(&definition("same", ""), &votes(), 7);
    let rounds = desk.state("s.s2s").rounds;
    let (vote, between, again, after) = (&rounds[0], &rounds[1], &rounds[2], &rounds[3]);
    assert_eq!(again.opened.revises.as_deref(), Some("vote"));
    assert!(again.opened.ballot.is_revision && !vote.opened.ballot.is_revision);
    assert!(again.opened.rules.contains("changed_by") && !vote.opened.rules.contains("changed_by"));
    let shown = recalled(&again.opened);
    let blocks = shown["earlier_reasons"].as_array().expect("blocks");
    let of = |option: &str| blocks.iter().find(|block| block["option"] == option).expect("a block");
    // Duplicates are shown once; a name is masked.
    assert_eq!(of("a")["for"].as_array().map(Vec::len), Some(3));
    has(&of("a")["for"].to_string(), &["\"Easy to test.\"", "\"Known to participant-"]);
    assert_eq!(of("a")["against"], json!(["Slow start."]));
    assert_eq!(of("b")["for"], json!(["No lock-in."]));
    let is_open = |block: &Value| block["option"].is_null() && block["for"] == json!(["Not mine to say."]);
    assert!(blocks.iter().any(is_open));
    // Nothing else of the votes is shown, neither here nor in the round between.
    for round in [between, again] {
        let shown = recalled(&round.opened);
        assert!(shown["context"]["vote"].is_null() && shown["earlier_counts"].is_null(), "{shown}");
        assert_eq!(shown["recent_rounds"][0]["question"], "Which one?");
        assert!(shown["recent_rounds"][0]["outcome"].is_null(), "{shown}");
    }
    assert!(recalled(&between.opened)["earlier_reasons"].is_null());
    // After its decision, everything may be shown.
    let shown = recalled(&after.opened);
    assert!(shown["context"]["again"]["tally"]["decided"] == true, "{shown}");
    let own = |name: &str| address(again.seats[name].item.as_deref().expect("asked"));
    assert_eq!(own("skeptic")["your_earlier_ballot"], json!({"vote": "b"}));
    assert_eq!(own("devops-engineer")["your_earlier_ballot"], json!({"vote": "abstain"}));
    assert!(own("technical-lead")["your_earlier_ballot"].is_null(), "it failed");
    // Pseudonyms are on, because a round revises another.
    assert!(desk.read("s.s2s").contains("\npseudonyms:\n"));
    ran.code(0);
    let report = desk.report("s.s2s");
    let moved = &report["rounds"][2]["movement"];
    assert_eq!(moved["since"], "vote");
    assert_eq!(moved["joined_leader"], json!(["skeptic", "technical-lead"]));
    let new = |seat: &str| {
        let list = moved["moves"].as_array().expect("moves");
        list.iter().find(|one| one["participant"] == seat).expect("moved")["new_argument"].clone()
    };
    assert_eq!((new("software-architect"), new("skeptic")), (json!(true), json!(false)));
    let answers = &report["rounds"][2]["seats"][0]["answer"];
    assert_eq!(answers["changed_by"], "No lock-in.", "{answers}");
    let page = desk.run(["report", "s.s2s"]).code(0);
    page.shows("b → a, joining the leader, without");
    assert!(!page.out.contains("fewer than a third"), "{}", page.out);
    let mut late = votes();
    late["again"].as_object_mut().expect("votes").values_mut().for_each(|vote| *vote = json!({"vote": "c"}));
    let (desk, _) = run(&definition("same", ""), &late, 7);
    desk.run(["report", "s.s2s"]).code(0).shows("fewer than a third").shows("- **c** had 0 of 3 ballots");
}

#[test]
fn feedback_says_what_is_shown() {
    for (feedback, reasons, counts) in [("counts", false, true), ("both", true, true), ("none", false, false)]
    {
        let (desk, _) = run(&definition("same", &format!(", feedback: {feedback}")), &votes(), 7);
        let shown = recalled(&desk.state("s.s2s").rounds[2].opened);
        assert_eq!(shown["earlier_reasons"].is_array(), reasons, "{feedback}");
        let wanted = json!({"asked": 5, "answered": 3, "scores": {"a": 2, "b": 1, "c": 0}});
        assert_eq!(shown["earlier_counts"], if counts { wanted } else { Value::Null }, "{feedback}");
    }
}

#[test]
fn a_round_that_was_not_held_is_not_revised() {
    let text = "participants: [skeptic, qa-lead]\nsteps:\n  - {id: first, type: condition, condition: \"false\", then: one, else: two}\n  \
                - {id: one, type: round, question: q, ballot: {kind: choice, options: [a, b]}, rule: majority}\n  \
                - {id: two, type: round, question: q, ballot: {kind: choice, options: [a, b]}, rule: majority, revises: one}\n";
    let (_, ran) = run(text, &json!({}), 1);
    ran.code(3).tells("it revises `one`, which was not held");
}
