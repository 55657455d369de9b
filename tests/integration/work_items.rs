//! Work items of agents: leases, refusals, retries, interleavings, resumes.

use proptest::prelude::*;
use roundtable::core::{Command, ItemHolder, LEASE_MS, NextAction, next};
use roundtable::history::{Event, ItemStatus, Timestamp, WorkItem, WorkItemReturned};
use serde_json::{Value, json};

use crate::cases;
use crate::cut::ends;
use crate::forge::{Checked, events, folded};
use crate::program::{Desk, named};
use crate::sitting::{Sitting, header, persona, seat};

type Tried = Result<usize, String>;

fn office(definition: &str, agents: &[&str]) -> Sitting {
    let mut seats: Vec<Value> = agents.iter().map(|name| seat(name, "ollama/llama3.2")).collect();
    for seat in &mut seats {
        seat["agent_only"] = true.into();
    }
    let mut personas: Vec<Value> = agents.iter().map(|name| persona(name, "")).collect();
    for known in &mut personas {
        known["tags"] = json!(["zeal", "art", "third"]);
    }
    let mut header = header(definition, &seats, &personas);
    header["input"] = "Build it".into();
    Sitting::new(header, 0)
}

impl Sitting {
    fn until_waiting(&mut self) {
        for _ in 0..200 {
            match next(&self.session) {
                NextAction::Decide(command) => self.does(command),
                _ => return,
            };
        }
        panic!("no end");
    }

    fn claim(&mut self, item: &str, who: &str, holder: Option<&str>) -> Tried {
        self.tries(Command::Claim(held(item, who, holder)))
    }

    fn renew(&mut self, item: &str, who: &str, holder: Option<&str>) -> Tried {
        self.tries(Command::Renew(held(item, who, holder)))
    }

    fn give_back(&mut self, item: &str, who: &str, holder: Option<&str>, data: &Value) -> Tried {
        let back = back(item, who, ItemStatus::Completed, data);
        self.tries(Command::Return(Box::new(WorkItemReturned { holder: holder.map(str::to_owned), ..back })))
    }

    fn inbox(&self, who: &str) -> Vec<String> {
        let now = Timestamp(self.now);
        let is_offered = |item: &&WorkItem| item.offered.participant == who && !item.is_held(now);
        self.session.open_items().filter(is_offered).map(|item| item.offered.item.clone()).collect()
    }
}

fn held(item: &str, who: &str, holder: Option<&str>) -> ItemHolder {
    ItemHolder { item: item.to_owned(), participant: who.to_owned(), holder: holder.map(str::to_owned) }
}

fn back(item: &str, who: &str, status: ItemStatus, data: &Value) -> WorkItemReturned {
    let error = (status == ItemStatus::Failed).then_some("tired");
    serde_json::from_value(json!({
        "step": "", "participant": who, "item": item, "attempt": 0, "status": status, "data": data, "error": error,
        "origin": "model", "model": "", "tries": 1, "latency_ms": 0,
    }))
    .expect("what an agent gives back")
}

const TWO: &str = "steps:\n  - id: both\n    type: parallel\n    steps:\n      - {id: one, type: agent, agent: ann}\n      - {id: two, type: agent, agent: bob}\n      - {id: three, type: agent, agent: ann}\n";

#[test]
fn one_of_two_claims_wins_and_refusals_say_which() {
    let mut office = office(TWO, &["ann", "bob"]);
    office.until_waiting();
    let starts = |found: Result<usize, String>, wanted: &str| {
        let found = found.expect_err("refused");
        assert!(found.starts_with(wanted), "{found}");
    };
    starts(office.claim("one/1", "cleo", None), "not a participant");
    starts(office.claim("one/1", "bob", None), "not offered");
    starts(office.claim("none/1", "ann", None), "not offered");
    starts(office.give_back("one/1", "ann", None, &json!(1)), "not lease holder");
    assert_eq!(office.claim("one/1", "ann", Some("left hand")), Ok(1));
    // Repeating a claim changes nothing for its holder; others are too late.
    assert_eq!(office.claim("one/1", "ann", Some("left hand")), Ok(0));
    starts(office.claim("one/1", "ann", Some("right hand")), "already claimed");
    starts(office.give_back("one/1", "ann", Some("right hand"), &json!(1)), "not lease holder");
    starts(office.renew("one/1", "ann", Some("right hand")), "not lease holder");
    // A renewed lease lasts; an expired one is offered again.
    office.now += LEASE_MS - 1;
    assert_eq!(office.renew("one/1", "ann", Some("left hand")), Ok(1));
    office.now += LEASE_MS - 1;
    assert_eq!(office.inbox("ann"), ["three/1"]);
    office.now += 1;
    assert_eq!(office.inbox("ann"), ["one/1", "three/1"]);
    starts(office.renew("one/1", "ann", Some("left hand")), "lease expired");
    starts(office.give_back("one/1", "ann", Some("left hand"), &json!(1)), "lease expired");
    assert_eq!(office.claim("one/1", "ann", Some("right hand")), Ok(1));
    assert_eq!(office.give_back("one/1", "ann", Some("right hand"), &json!({"done": 1})), Ok(2));
    starts(office.claim("one/1", "ann", None), "not offered");
    let states = office.session.items.values().map(|item| item.state(Timestamp(office.now)));
    assert!(states.eq(["completed", "offered", "offered"]));
}

#[test]
fn a_try_is_made_again_after_its_wait_and_no_further() {
    let text = "steps: [{id: a, type: agent, agent: ann, max_retries: 1, retry_delay_ms: 500}]\n";
    let mut office = office(text, &["ann"]);
    office.until_waiting();
    for _ in 0..2 {
        office.claim("a/1", "ann", None).expect("free");
        let failed = back("a/1", "ann", ItemStatus::Failed, &Value::Null);
        office.does(Command::Return(Box::new(failed)));
        assert!(office.claim("a/1", "ann", None).is_err(), "the wait is not over, or no try is left");
        office.now += 500;
    }
    assert_eq!(office.session.items["a/1"].state(Timestamp(office.now)), "failed");
    office.until_waiting();
    let closed = office.session.closed.as_ref().expect("over");
    assert_eq!((closed.status.name(), closed.reason.as_deref()), ("failed", Some("tired")));
}

#[test]
fn a_review_is_never_the_authors_and_needs_feedback() {
    let text = "participants: [{persona: ann, name: ann}, {persona: bob, name: bob}]\nsteps:\n  - {id: write, type: agent, agent: ann}\n  - {id: check, type: review, of: write, reviewers: all, criteria: [clarity]}\n";
    let mut office = office(text, &["ann", "bob"]);
    office.until_waiting();
    office.claim("write/1", "ann", None).expect("free");
    office.give_back("write/1", "ann", None, &json!({"text": "x"})).expect("held");
    office.until_waiting();
    assert_eq!((office.inbox("ann").len(), office.inbox("bob")), (0, vec!["check/1".to_owned()]));
    let item = &office.session.items["check/1"];
    let context = item.offered.task.as_ref().and_then(|task| task.review_context.as_ref()).expect("a review");
    assert_eq!([&*context.target_artifact_id, &*context.target_author_tag], ["write", "art / zeal"]);
    assert_eq!(context.review_criteria, ["clarity"]);
    office.claim("check/1", "bob", None).expect("free");
    for nothing in [json!(null), json!({"clarity": "good"}), json!({"approved": true, "feedback": " "})] {
        let refused = office.give_back("check/1", "bob", None, &nothing).expect_err("no feedback");
        assert!(refused.starts_with("no feedback"), "{refused}");
    }
    // Completing also writes the feedback and its link.
    let verdict = json!({"approved": true, "feedback": "It is clear."});
    assert_eq!(office.give_back("check/1", "bob", None, &verdict), Ok(3));
    let last: Vec<&Event> = office.events.iter().rev().take(3).map(|stamped| &stamped.event).collect();
    let [Event::LinkRecorded { .. }, Event::ReviewRecorded(_), Event::WorkItemReturned(_)] = last[..] else {
        panic!("{last:?}")
    };
    office.until_waiting();
    let view = roundtable::core::artifact_view(&office.session, &office.session.made["write"]);
    assert_eq!(view["reviews"][0]["feedback"], verdict);
    assert_eq!(view["links"][0]["toId"], "write");
}

#[test]
fn an_old_context_renders_the_same_after_the_run() {
    let text = "steps:\n  - {id: a, type: agent, agent: ann}\n  - {id: b, type: agent, agent: ann}\n";
    let mut office = office(text, &["ann"]);
    office.until_waiting();
    office.claim("a/1", "ann", None).expect("free");
    office.give_back("a/1", "ann", None, &json!({"n": 1})).expect("held");
    office.until_waiting();
    let frozen = office.session.items["b/1"].offered.clone();
    let before = (office.session.context(), serde_json::to_string(&*frozen).expect("JSON"));
    office.claim("b/1", "ann", None).expect("free");
    office.give_back("b/1", "ann", None, &json!({"n": 2})).expect("held");
    office.until_waiting();
    assert_eq!(before.0, json!({"a": {"n": 1}}).as_object().expect("a map").clone());
    assert_eq!(before.1, serde_json::to_string(&*office.session.items["b/1"].offered).expect("JSON"));
    assert_eq!(office.session.context()["b"], json!({"n": 2}));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Results, context and the fold of the log are the same.
    #[test]
    fn the_order_of_arrival_changes_nothing(order in Just(vec!["one/1", "two/1", "three/1"]).prop_shuffle(), fails in any::<bool>()) {
        let mut office = office(TWO, &["ann", "bob"]);
        office.until_waiting();
        for item in order {
            let who = if item == "two/1" { "bob" } else { "ann" };
            office.claim(item, who, None).expect("free");
            let status = if fails && item == "two/1" { ItemStatus::Failed } else { ItemStatus::Completed };
            let back = back(item, who, status, &json!({"of": item}));
            office.does(Command::Return(Box::new(back)));
            office.until_waiting();
        }
        let entry = |id: &str| json!({"stepId": id, "result": {"of": format!("{id}/1")}});
        let tired = json!({"stepId": "two", "status": "rejected", "result": null, "error": "tired"});
        let two = if fails { tired } else { entry("two") };
        let wanted = json!({"both": {"data": [entry("one"), two, entry("three")], "success": !fails}});
        prop_assert_eq!(Value::Object(office.session.context()), wanted);
        prop_assert_eq!(folded(&office.events), office.session);
    }
}

/// The workflow is cut after every document and resumed. Returned items are not offered again.
#[test]
fn a_workflow_cut_off_anywhere_reaches_the_same_outcome() {
    std::thread::scope(|scope| {
        for scenario in ["parallel-with-approval", "sequence", "each", "use", "led-discussion"] {
            scope.spawn(move || cut_anywhere(scenario));
        }
    });
}

fn cut_anywhere(scenario: &str) {
    let desk = Desk::new();
    let folder = format!("{}/tests/scenarios/{scenario}", env!("CARGO_MANIFEST_DIR"));
    let [definition, answers] = ["definition", "answers"].map(|name| format!("{folder}/{name}.yaml"));
    desk.run(["--batch", "--answers", &answers, "--save", "whole.s2s", "-o", "end.json", &definition]);
    let end = || -> (Value, Value) {
        let report: Value = serde_json::from_str(&desk.read("end.json")).expect("JSON");
        std::fs::remove_file(desk.path("end.json")).expect("it");
        let results = report["steps"].as_array().expect("steps").iter();
        (report["status"].clone(), results.map(|step| json!([step["stepId"], step["data"]])).collect())
    };
    let (wanted, whole) = (end(), desk.bytes("whole.s2s"));
    let (all, ends) = (events(&whole), ends(&whole));
    assert!(ends.len() > 30, "{}", ends.len());
    // What is before the cut was checked once.
    let checked = Checked::new(&all);
    for (count, cut) in (1..all.len()).zip(ends).step_by(cases(4, 1)) {
        let name = format!("{cut}.s2s");
        desk.write(&name, &whole[..cut]);
        let done = desk.run(["resume", &name, "--ask-again", "--answers", &answers, "-o", "end.json"]);
        let log = desk.kept(&name);
        assert_eq!(end(), wanted, "cut at {cut}: {}", done.err);
        assert!(log.torn == 0 && desk.bytes(&name).starts_with(&whole[..cut]), "cut at {cut}");
        let found = checked.findings(count, log.lines[count..].iter().map(|line| &line.stamped));
        assert_eq!(found, (vec![], log.lines[log.lines.len() - 1].hash.clone()), "cut at {cut}");
    }
}

/// The agent is no participant.
#[test]
fn an_agent_takes_a_model_by_flag_and_its_prompt_is_exact() {
    let desk = Desk::new();
    let sessions = concat!(env!("CARGO_MANIFEST_DIR"), "/sessions");
    let (alone, handoff) = (format!("{sessions}/coder-alone.yaml"), format!("{sessions}/issue-handoff.yaml"));
    let dry = desk.run(["--batch", "--dry-run", "--model", "coder=ollama/llama3.2", &alone]).code(0).out;
    assert!(dry.starts_with("=== coder (ollama/llama3.2)"), "{dry}");
    desk.run(["--batch", "--dry-run", "--model", "codr=ollama/llama3.2", &alone]).code(2);
    let lines = desk.run(["--batch", "--json", "--rehearse", &handoff]).code(0).lines();
    let offered = named(&lines, "work_item_offered");
    let prompt = |step: &str| &offered.iter().find(|line| line["step"] == step).expect("offered")["prompt"];
    assert_eq!(*prompt("status"), "Get status and next issue details");
    let wanted = "Implement issue APP-15: User Profile Page\n\nFull Description:\nCreate a user profile page showing the \
                  user's avatar, name, email,\nand settings. Include an edit button to modify profile fields.\n\nTest \
                  Steps:\n1. Navigate to http://localhost:3000/profile\n2. Verify avatar image loads\n3. Verify name \
                  and email display\n4. Click edit button\n5. Verify edit form appears\n\nProvide screenshot evidence.";
    assert_eq!(*prompt("implement"), wanted);
}

/// Tasks and links of the project are added to the definition's in every session, and frozen with it.
#[test]
fn the_projects_own_tasks_and_links_reach_the_snapshot() {
    let desk = Desk::rehearsing(
        "goal: \"Plan it\"\ntasks: [{id: APP-15, title: \"Profile\"}]\nparticipants: [skeptic]\nquestion: \"What could go wrong?\"\n",
    );
    let plain = desk.run(["snapshot", "decide.yaml"]).code(0);
    assert!(!plain.out.contains("linked_tasks"), "{}", plain.out);
    let text = "tasks: [{id: APP-12, title: \"Sign in\", createdAt: 2026-01-20T09:30:00Z}]\n\
         links: [{id: l1, fromId: APP-12, toId: APP-15, type: basic, createdAt: 2026-02-01T00:00:00Z}]\n";
    desk.write(".s2s/tasks.yaml", text);
    desk.run(["snapshot", "decide.yaml"]).code(0).shows("linked_tasks").shows("Sign in");
    desk.run(["--batch", "decide.yaml", "--save", "s.s2s"]).code(0);
    desk.write(".s2s/tasks.yaml", "tasks: [{id: APP-13, title: \"Another\"}]\n");
    assert!(desk.log("s.s2s").iter().any(|line| line["snapshot"].to_string().contains("Sign in")));
    desk.run(["verify", "s.s2s"]).code(0);
    desk.write(".s2s/tasks.yaml", "tasks: [{id: APP-12, titel: x}]\n");
    desk.run(["snapshot", "decide.yaml"]).code(0).tells("tasks.yaml").tells("titel");
    let link = "{id: l, fromId: s.s2s, toId: APP-1, type: basic, createdAt: 2026-01-01}";
    desk.write("next.yaml", format!("question: q\nparticipants: [skeptic]\ntask: APP-1\nlinks: [{link}]\n"));
    desk.run(["--batch", "next.yaml"]).code(0).tells("linked: ");
}

#[test]
fn in_items_of_items_the_links_are_those_of_the_innermost_task() {
    let desk = Desk::with(
        "input: {outer: [APP-1], inner: [APP-2]}\n\
         tasks: [{id: APP-1, title: One}, {id: APP-2, title: Two}, {id: APP-3, title: Three}, {id: APP-4, title: Four}]\n\
         links: [{id: l1, fromId: APP-3, toId: APP-1, type: basic, createdAt: 2026-02-01T00:00:00Z},\n\
         \x20 {id: l2, fromId: APP-4, toId: APP-2, type: basic, createdAt: 2026-02-01T00:00:00Z}]\nsteps:\n\
         - {id: a, type: each, of: input.outer, as: one, steps: [{id: b, type: each, of: input.inner, as: two, \
         steps: [{id: c, type: agent, agent: coder, prompt: Go on.}]}]}\n",
    );
    let lines = desk.run(["--batch", "--json", "--rehearse", "decide.yaml"]).code(0).lines();
    let offered = named(&lines, "work_item_offered");
    let text = offered[0].to_string();
    assert!(text.contains("Four") && !text.contains("Three"), "{text}");
}

#[test]
fn items_run_a_few_at_a_time() {
    let desk = Desk::new();
    let of_most = |count: usize| {
        let text = format!(
            "goal: g\ninput: {{list: [1, 2, 3, 4, 5]}}\nsteps:\n  - {{id: e, type: each, of: input.list, \
             concurrency: {count}, steps: [{{id: ask, type: agent, agent: coder}}]}}\n"
        );
        desk.write("each.yaml", text);
        let lines = desk.run(["--batch", "--json", "each.yaml"]).lines();
        let mut running: usize = 0;
        let counts = lines.iter().filter(|line| line["step"].as_str().is_some_and(|id| id.len() == 3));
        let counts = counts.filter_map(|line| {
            match line["event"].as_str()? {
                "step_started" => running += 1,
                "step_finished" => running -= 1,
                _ => return None,
            }
            Some(running)
        });
        counts.max()
    };
    assert_eq!([of_most(1), of_most(2), of_most(5)], [Some(1), Some(2), Some(5)]);
}

#[test]
fn a_definition_that_cannot_be_used_is_named() {
    let desk = Desk::new();
    let used = |path: &str| format!("goal: g\nsteps:\n  - {{id: a, type: use, definition: {path}}}\n");
    desk.write("circle.yaml", used("other.yaml"));
    desk.write("other.yaml", used("circle.yaml"));
    desk.write("faulty.yaml", "steps: [{id: x, type: agent}]\n");
    let (x, y) = ("{id: x, type: agent, agent: coder, next: y}", "{id: y, type: agent, agent: coder}");
    desk.write("routes.yaml", format!("steps:\n  - {x}\n  - {y}\n"));
    let led = "type: discussion\ntopic: t\nballot: {kind: choice, options: [a, b]}\nstrategy: delphi\n";
    desk.write("led.yaml", led);
    let few = "type: use, definition: few.yaml";
    desk.write("twice.yaml", format!("steps: [{{id: a, {few}}}, {{id: b, {few}}}]\n"));
    desk.write("few.yaml", format!("steps: [{y}]\n"));
    for (path, wanted) in [
        ("other.yaml", "use each other in a circle: main.yaml, other.yaml, circle.yaml, other.yaml"),
        ("missing.yaml", "`missing.yaml` cannot be used: "),
        ("/etc/hostname", "`/etc/hostname` cannot be used: "),
        ("faulty.yaml", "faulty.yaml:1:9: error: an agent step has no `agent`"),
        ("routes.yaml", "routes.yaml:2:5: error: step `x` has `next`, a route"),
        ("led.yaml", "led.yaml:1:1: error: a discussion has routes"),
    ] {
        desk.write("main.yaml", used(path));
        desk.run(["check", "main.yaml"]).code(2).says(wanted);
    }
    desk.write("main.yaml", used("twice.yaml"));
    desk.run(["--batch", "--save", "out.s2s", "main.yaml"]);
    desk.is_sound("out.s2s");
}
