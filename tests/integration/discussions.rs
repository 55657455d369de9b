//! Discussions: every strategy, the expanded steps, refusals, conflicts from blocks.

use serde_json::{Value, json};

use crate::program::{Desk, Ran, has};
use crate::recall::recalled;

fn desk(keys: &str) -> Desk {
    Desk::with(&format!(
        "goal: G\nparticipants: [{{name: ann, model: human}}, {{name: bob, model: human}}]\nsteps:\n  \
         - {{id: talk, type: discussion, topic: \"What first?\", {keys}}}\n"
    ))
}

pub fn run(desk: &Desk, answers: &Value) -> Ran {
    desk.answered(answers, &["--json=result", "--seed=7"])
}

fn rounds(desk: &Desk) -> Vec<String> {
    desk.events("round_opened").iter().map(|line| line["step"].as_str().expect("an id").to_owned()).collect()
}

pub fn both(answer: &Value) -> Value {
    json!({"ann": answer, "bob": answer})
}

#[test]
fn every_strategy_runs_to_its_end() {
    let ideas = json!({"ann": {"ideas": [{"title": "Queue", "text": "Wait."}]}, "bob": {"ideas": [{"title": "Cache", "text": "Keep."}]}});
    let (queue, cache) =
        (json!({"title": "Queue", "from": ["ann#1"]}), json!({"title": "Cache", "from": ["bob#1"]}));
    let merge = json!({"options": [queue, cache]});
    let position = both(&json!({"position": "It depends."}));
    let vote = both(&json!({"vote": "queue"}));
    let approve = both(&json!({"approve": ["queue"]}));
    let collected = |votes: Value| {
        let mut answers = json!({"talk-ideas": ideas, "talk-ideas-merge": merge});
        answers.as_object_mut().expect("a map").extend(votes.as_object().expect("a map").clone());
        answers
    };
    let debate = collected(json!({"talk-argue": position, "talk-answer": position, "talk-vote": vote}));
    let number = both(&json!({"estimate": 7}));
    let ranks = json!({"ann": {"ranking": ["participant-1"]}, "bob": {"ranking": ["participant-2"]}});
    let cases = [
        ("blind", collected(json!({"talk-vote": vote})), 2, 1),
        ("delphi", collected(json!({"talk-vote": vote})), 2, 1),
        ("estimate", json!({"talk-first": number, "talk-second": number}), 2, 0),
        ("draft-rank", json!({"talk-draft": position, "talk-rank": ranks}), 2, 0),
        ("consent", json!({"talk-ask": both(&json!({"consent": "support"}))}), 1, 0),
        ("findings", json!({"talk-review": both(&json!({"findings": []}))}), 1, 0),
        ("premortem", collected(json!({"talk-vote": approve})), 2, 1),
        ("debate", debate, 4, 1),
    ];
    let listed = desk("strategy: blind").run(["strategies"]).code(0).out;
    let names: Vec<&str> = listed.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names, cases.iter().map(|case| case.0).collect::<Vec<_>>());
    let page = include_str!("../../docs/TALLIES.md");
    assert!(names.iter().all(|name| page.contains(&format!("\n| `{name}`"))), "a row for each");
    for (strategy, answers, held, merges) in cases {
        let desk = desk(&format!("strategy: {strategy}"));
        // Findings are collected, not decided; each author ranks only the other draft.
        let is_decided = !["findings", "draft-rank"].contains(&strategy);
        let ran = run(&desk, &answers).code(if strategy == "draft-rank" { 3 } else { 0 });
        assert_eq!(rounds(&desk).len(), held, "{strategy}");
        if strategy == "estimate" {
            assert_eq!(recalled(&desk.state("s.s2s").rounds[1].opened)["earlier_counts"]["median"], "7");
        }
        assert_eq!(ran.out.contains("\"decided\":true"), is_decided, "{strategy}: {}", ran.out);
        assert_eq!(desk.report("s.s2s")["merges"].as_array().map_or(0, Vec::len), merges, "{strategy}");
    }
}

#[test]
fn nobody_ranks_their_own_draft() {
    let desk = Desk::with(
        "goal: G\nparticipants: [{name: ann, model: human}, {name: bob, model: human}, \
         {name: cy, model: human}]\nsteps:\n  - {id: talk, type: discussion, topic: \"A slogan?\", strategy: \
         draft-rank}\n",
    );
    let draft = |text: &str| json!({"position": text});
    let drafts = json!({"ann": draft("First."), "bob": draft("Second."), "cy": draft("Third.")});
    let one = |ranked: &str| json!({"ranking": [ranked]});
    let any = json!({"ann": one("participant-1"), "bob": one("participant-1"), "cy": one("participant-1")});
    run(&desk, &json!({"talk-draft": drafts, "talk-rank": any}));
    let opened = desk.events("round_opened").pop().expect("a round");
    let about = opened["ballot"]["about"].as_object().expect("options with texts");
    let named =
        |text: &str| about.iter().find(|(_, said)| said["description"] == text).expect("a draft").0.clone();
    let [ann, bob, cy] = ["First.", "Second.", "Third."].map(named);
    for line in desk.events("work_item_offered").iter().filter(|line| line["step"] == "talk-rank") {
        let own = [("ann", &ann), ("bob", &bob), ("cy", &cy)];
        let own = own.iter().find(|(name, _)| line["participant"] == *name).expect("a seat").1;
        let address = line["address"].as_str().expect("an address");
        let shown = address.split("your_option_order:").nth(1).expect("options");
        assert!(!shown.contains(own.as_str()) && shown.contains("participant-"), "{own}: {shown}");
    }
    // Everyone ranks their draft first, which is not allowed and not counted. Bob leads among the others.
    let rank = |order: [&String; 3]| json!({"ranking": order});
    let ranks = json!({"ann": rank([&ann, &bob, &cy]), "bob": rank([&bob, &ann, &cy]), "cy": rank([&cy, &bob, &ann])});
    run(&desk, &json!({"talk-draft": drafts, "talk-rank": ranks})).code(0);
    let tally = desk.events("tally_made").pop().expect("a tally");
    assert_eq!(tally["winners"], json!([bob]), "{tally}");
    assert_eq!(tally["tier"], "unanimous", "both who could chose it: {tally}");
    let ran = desk.run(["report", "s.s2s"]).code(0);
    ran.shows("by bob. Second.").shows(&format!("**Decision: {bob} (by bob) first**")).shows("\nNo dissent ");
}

#[test]
fn the_saved_session_and_the_expansion_hold_the_same_plain_steps() {
    let desk = desk("strategy: delphi, ballot: {kind: choice, options: [a, b]}");
    let expanded = desk.run(["check", "--expand", "decide.yaml"]).code(0).out;
    assert!(!expanded.contains("discussion"), "{expanded}");
    let votes = json!({"ann": {"vote": "a"}, "bob": {"vote": "b"}});
    run(&desk, &json!({"talk-vote": votes, "talk-revise": both(&json!({"vote": "a"}))})).code(0);
    assert_eq!(rounds(&desk), ["talk-vote", "talk-revise"]);
    let header = &desk.log("s.s2s")[0];
    assert_eq!(header["definition"], expanded);
    desk.write("decide.yaml", &expanded);
    assert_eq!(desk.run(["check", "--expand", "decide.yaml"]).code(0).out, expanded);
    // A unanimous first vote is not repeated.
    run(&desk, &json!({"talk-vote": both(&json!({"vote": "a"}))}));
    assert_eq!(rounds(&desk), ["talk-vote"]);
}

#[test]
fn a_discussion_has_transitions_like_any_step() {
    let choice = "ballot: {kind: choice, options: [a, b]}";
    let text = format!(
        "participants: [{{name: ann, model: human}}, {{name: bob, model: human}}]\nsteps:\n  \
         - {{id: go, type: approval, message: m, on_approve: talk, on_reject: no}}\n  \
         - {{id: no, type: transform, transform: context.go}}\n  \
         - {{id: talk, type: discussion, topic: \"What?\", {choice}, next: yes-it-is, on_undecided: no}}\n  \
         - {{id: yes-it-is, type: approval, message: \"Take {{{{context.talk.tally.winners.[0]}}}}?\"}}\n"
    );
    let desk = Desk::with(&text);
    let split = json!({"ann": {"vote": "a"}, "bob": {"vote": "b"}});
    for (votes, code, last) in [(both(&json!({"vote": "b"})), 0, "Take b?"), (split, 0, "no")] {
        let yes = json!({"approved": true});
        run(&desk, &json!({"go": yes, "talk-vote": votes, "yes-it-is": yes})).code(code);
        let lines = desk.log("s.s2s");
        assert!(lines.iter().any(|line| line.to_string().contains(last)), "{last}");
    }
    let votes =
        json!({"go": true, "yes-it-is": true, "talk-vote": {"ann": {"vote": "a"}, "bob": {"vote": "b"}}});
    run(&Desk::with(&text.replace("on_undecided: no", "on_undecided: yes-it-is")), &votes).code(0);
    run(&Desk::with(&text.replace(", on_undecided: no", "")), &votes).code(3);
}

#[test]
fn the_sides_of_a_debate_are_given_to_the_seats_in_turn() {
    let desk = desk("strategy: debate, ballot: {kind: choice, options: [queue, cache]}");
    let argued = |reason| both(&json!({"position": "It depends.", "rationale": [reason]}));
    let (first, then, vote) = (argued("Because."), argued("But."), both(&json!({"vote": "queue"})));
    run(&desk, &json!({"talk-argue": first, "talk-answer": then, "talk-vote": vote})).code(0);
    let opened = desk.events("round_opened");
    let shows = |at: usize, why: &str| opened[at]["snapshot"].to_string().contains(why);
    assert!(shows(1, "Because.") && shows(2, "But."));
    assert_eq!(opened[0]["question"], "What first? Options: queue, cache.");
    let line = |round: usize, seat: &str| opened[round]["directives"][seat].as_str().unwrap_or_default();
    assert!(line(0, "ann").contains("for the first") && line(0, "bob").contains("against the first"));
    assert!(line(1, "ann").contains("for the first") && line(1, "bob").contains("against the first"));
    assert_eq!(opened[2]["directives"], Value::Null);
}

#[test]
fn a_project_has_strategies_of_its_own() {
    let keys = "strategy: twice, ballot: {kind: choice, options: [a, b]}";
    let desk = desk(keys);
    desk.run(["check", "decide.yaml"]).code(2).shows("there is no strategy `twice`");
    let own = "name: twice\nsummary: Vote twice.\nfor: tests\nlimits: none\nevidence: []\naccepts: [choice]\n\
               rules: {choice: plurality}\nphases:\n  - {id: one, question: \"{{topic}}\", ballot: main}\n  \
               - {id: two, question: \"{{topic}} Again.\", ballot: main, revises: one}\n";
    std::fs::create_dir_all(desk.path(".s2s/strategies")).expect("a folder");
    desk.write(".s2s/strategies/twice.yaml", own);
    let votes = both(&json!({"vote": "a"}));
    run(&desk, &json!({"talk-one": votes, "talk-two": votes})).code(0);
    assert_eq!(rounds(&desk), ["talk-one", "talk-two"]);
    assert!(desk.run(["strategies"]).code(0).out.contains("twice       Vote twice. Good for tests."));
    assert_eq!(desk.run(["strategies", "twice"]).code(0).out.trim_end(), own.trim_end());
    // Errors of the expanded rounds are found, too.
    desk.write(".s2s/strategies/twice.yaml", own.replace("revises: one", "revises: one, feedback: names"));
    desk.run(["check", "decide.yaml"]).code(2).shows("names");
    // A saved session does not need the file.
    desk.write(".s2s/strategies/twice.yaml", own.replace("revises: one", "command: [sh]"));
    desk.run(["verify", "s.s2s"]).code(0);
    let ran = desk.run(["check", "decide.yaml"]).code(2);
    let (out, wanted) = (ran.out.as_str(), "strategy `twice` cannot be used: unknown field `command`");
    assert!(out.contains(".s2s/strategies/twice.yaml") && out.contains(wanted), "{out}");
}

const CONSENT: &str = "pseudonyms: true
participants: [{name: skeptic, model: human}, {name: qa-lead, model: human}]
steps:
  - {id: adopt, type: round, question: \"Retry?\", ballot: consent, rule: consent, on_undecided: again, next: again}
  - {id: again, type: approval, message: \"Once more?\", on_approve: adopt, on_reject: after}
  - {id: after, type: round, question: \"What else?\"}
";

/// Returns the answers file with the votes of skeptic and qa-lead, and the facilitator's answers.
fn answers(skeptic: &str, lead: &str, again: &str) -> String {
    let after = "{skeptic: {position: Nothing.}, qa-lead: {position: Nothing.}}";
    format!("adopt: {{skeptic: {skeptic}, qa-lead: {lead}}}\nagain: {again}\nafter: {after}\n")
}

fn snapshots(desk: &Desk) -> Vec<Value> {
    desk.state("s.s2s").rounds.iter().map(|round| recalled(&round.opened)).collect()
}

#[test]
fn an_open_conflict_is_in_every_report_and_names_nobody_in_a_snapshot() {
    let desk = Desk::with(CONSENT);
    let skeptic = "{consent: block, minimum_change: ask qa-lead first}";
    desk.answered(answers(skeptic, "{consent: support}", "false"), &["--seed=7"]).code(0);
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
    desk.answered(answers(skeptic, lead, "[true, false]"), &["--seed=7"]);
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
    // The heading of a list is the last name of its path.
    let desk = Desk::with(&RECORD.replace("from: context.synth}", "from: context.synth.questions}"));
    desk.answered(json!({"synth": {"questions": ["Who pays?"]}}), &[]);
    assert_eq!(desk.report("s.s2s")["questions"][0]["title"], "Who pays?");
}

#[test]
fn an_invalid_record_fails_the_step_and_is_not_stored() {
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
