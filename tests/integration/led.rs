//! Discussions led by a model: its input, accepted and refused proposals.

use serde_json::{Value, json};

use crate::discussions::{both, run};
use crate::program::Desk;

fn desk(keys: &str) -> Desk {
    Desk::with(&format!(
        "goal: G\nfacilitator: rehearsal\nparticipants: [{{name: ann, model: human}}, {{name: bob, model: human}}]\n\
         steps:\n  - {{id: talk, type: discussion, topic: \"What first?\", {keys}}}\n"
    ))
}

fn questions(desk: &Desk) -> Vec<String> {
    let opened = desk.events("round_opened");
    opened.iter().map(|line| line["question"].as_str().expect("a question").to_owned()).collect()
}

const CHOICE: &str = "ballot: {kind: choice, options: [queue, cache]}";

#[test]
fn a_blocked_proposal_is_asked_again_as_the_model_amends_it() {
    let desk = desk("strategy: consent");
    let blocks =
        json!({"ann": {"consent": "support"}, "bob": {"consent": "block", "minimum_change": "Less."}});
    let blocked = json!({
        "synthesis": "It is too much for one.", "winner": null, "amended": "Half of it, {{goal}}?",
        "questions": ["Who pays?", "When?"],
    });
    // Later entries must not name what earlier ones have settled.
    let agreed = json!({
        "synthesis": "All agree.", "winner": "support", "conflicts": [], "amended": null,
        "answered": [{"id": "OQ-001", "answer": "We do."}, {"id": "OQ-002", "answer": "Now."}],
        "artifacts": [{"title": "Half", "summary": "Half of it."}],
    });
    let answers = json!({
        "talk-ask": [&blocks, &both(&json!({"consent": "support"}))], "talk-ask-note": [&blocked, agreed],
    });
    let ran = run(&desk, &answers).code(0);
    assert_eq!(questions(&desk), ["What first?", "Half of it, {{goal}}?"], "{}", ran.err);
    assert_eq!(desk.events("conflict_resolved").len(), 1);
    assert_eq!(desk.events("question_opened")[0]["title"], "Who pays?");
    assert_eq!(desk.events("question_answered").len(), 2);
    let recorded = desk.events("artifact_recorded").into_iter().find(|line| line["by"] == "step");
    assert_eq!(recorded.expect("an artifact")["artifact"]["title"], "Half");
    let notes = desk.events("synthesis_recorded").into_iter().map(|line| line["text"].clone());
    assert!(notes.eq(["It is too much for one.", "All agree."]));
    // A note may also leave the strategy.
    let mut left = blocked;
    left["leave"] = "Another day.".into();
    run(&desk, &json!({"talk-ask": blocks, "talk-ask-note": left})).code(3);
    let last = desk.events("step_finished").into_iter().rev().take(2).map(|line| line["stepId"].clone());
    assert!(last.eq(["talk-done", "talk-ask-leave"]));
}

fn tied(note: &Value, conclude: &Value) -> Value {
    json!({
        "talk-vote": {"ann": {"vote": "queue"}, "bob": {"vote": "cache"}},
        "talk-vote-note": note, "talk-conclude": conclude,
    })
}

fn end(action: &str, recommendation: &str) -> Value {
    json!({"action": action, "winner": null, "recommendation": recommendation, "summary": "Both have merit.", "reason": "Level."})
}

#[test]
fn an_answer_that_contradicts_the_log_is_asked_for_once_more_and_then_a_person_is_asked() {
    let good = json!({"synthesis": "Level.", "winner": null});
    let how = json!({"id": "CONF-001", "how": "x"});
    let cases = [
        (json!({"synthesis": "Queue won.", "winner": "queue"}), "/winner"),
        (json!({"synthesis": "Level.", "winner": null, "vote": "queue"}), "vote"),
        (json!({"synthesis": "Level, says participant-9.", "winner": null}), "no `participant-9`"),
        (json!({"synthesis": "", "winner": null}), "/synthesis"),
        (json!({"synthesis": "Level.", "winner": null, "amended": "Both?"}), "amended"),
        (json!({"synthesis": "Level.", "winner": null, "options": []}), "options"),
        (json!({"synthesis": "Level.", "winner": null, "resolved": [how]}), "resolved"),
        (json!("I would rather not."), "its form"),
        (json!({"synthesis": null, "winner": null}), "/synthesis"),
    ];
    for (at, (bad, wanted)) in cases.into_iter().enumerate() {
        let desk = desk(CHOICE);
        // Invalid twice: a person is needed, and none is there.
        run(&desk, &tied(&bad, &end("conclude", "queue"))).code(4);
        let asked = desk.events("approval_requested");
        let message = asked[0]["message"].as_str().expect("a message");
        assert!(message.contains("no valid proposal") && message.contains(wanted), "{wanted}: {message}");
        if at > 1 {
            continue;
        }
        // One re-ask, with the reason.
        let ran = run(&desk, &tied(&json!([bad, good]), &end("conclude", "queue"))).code(3);
        let is_note = |line: &Value| line["step"] == "talk-vote-note";
        let back = desk.events("work_item_returned").into_iter().find(is_note).expect("an answer");
        assert_eq!(back["replies"].as_array().map(Vec::len), Some(2), "{}", ran.err);
    }
}

#[test]
fn a_conclusion_may_repeat_the_vote_while_there_are_rounds_left_and_never_names_another_winner() {
    let note = json!({"synthesis": "Level.", "winner": null});
    let again = json!([end("repeat", "queue"), end("conclude", "queue")]);
    let desk_of = |keys: &str| desk(&format!("{CHOICE}, {keys}"));
    let desk = desk_of("max_rounds: 2");
    run(&desk, &tied(&json!([note, "No.", "No."]), &again)).code(4);
    assert!(!desk.run(["report", "s.s2s"]).out.contains("'s conclusion"), "another round is no conclusion");
    run(&desk, &tied(&note, &again)).code(3);
    assert_eq!(questions(&desk).len(), 2);
    // Without more rounds `repeat` is invalid; the second answer is valid.
    let desk = desk_of("max_rounds: 1");
    run(&desk, &tied(&note, &again)).code(3);
    assert_eq!(questions(&desk).len(), 1);
    let desk = desk_of("max_rounds: 3");
    run(&desk, &tied(&note, &end("ask_person", "queue"))).code(4);
    let mut won = tied(&json!({"synthesis": "Queue.", "winner": "queue"}), &Value::Null);
    won["talk-vote"] = both(&json!({"vote": "queue"}));
    won["talk-conclude"] = json!({
        "action": "conclude", "winner": "queue", "recommendation": "cache", "summary": "S.", "reason": "R."
    });
    run(&desk, &won).code(4);
}

#[test]
fn a_person_sees_proposals_first_where_that_is_asked_for() {
    let desk_of = |keys: &str| desk(&format!("{CHOICE}, {keys}"));
    let note = json!({"synthesis": "Level.", "winner": null});
    let mut answers = tied(&note, &end("conclude", "queue"));
    answers["talk-open"] = json!({"question": "Which of them first?"});
    let desk = desk_of("approve: all");
    run(&desk, &answers).code(4).tells("`talk-open-ok: true`, or `{edited: {question: …}}`");
    assert_eq!(questions(&desk).len(), 0, "the question waits for a person");
    answers["talk-open-ok"] = json!([{"approved": false, "comment": "Ask why, too."}, {"edited": {"question": "Which one, and why?"}}]);
    answers["talk-vote-note-ok"] = json!([false, {"edited": {"synthesis": "One each.", "winner": null}}]);
    answers["talk-conclude-ok"] = json!(true);
    run(&desk, &answers).code(3);
    assert_eq!(questions(&desk), ["Which one, and why?"]);
    let log = desk.log("s.s2s");
    let with_comment = log.iter().filter(|line| line["prompt"].to_string().contains("Ask why, too."));
    assert_eq!(with_comment.count(), 1, "the comment is sent with the next try only");
    assert_eq!(desk.events("synthesis_recorded")[0]["text"], "One each.");
    desk.run(["report", "s.s2s"]).code(0).shows("talk-vote-note-ok: changed and approved");
    // An edited proposal that contradicts the log is refused like the model's.
    answers["talk-vote-note-ok"] = json!({"edited": {"synthesis": "Queue won.", "winner": "queue"}});
    run(&desk, &answers).tells("the changed proposal does not fit");
}

#[test]
fn ideas_are_merged_by_the_model_without_knowing_whose_they_are() {
    let desk = desk("strategy: blind");
    let ideas = json!({
        "ann": {"ideas": [{"title": "Queue", "text": "Wait."}, {"title": "Rewrite", "text": "All."}]},
        "bob": {"ideas": [{"title": "A queue", "text": "Later."}, {"title": "Cache", "text": "Keep."}]},
    });
    run(&desk, &json!({"talk-ideas": ideas, "talk-vote": both(&json!({"vote": "queue"}))})).code(0);
    let prompt = desk.events("work_item_offered").into_iter().find(|line| line["step"] == "talk-ideas-note");
    let prompt = prompt.expect("an offer")["prompt"].as_str().expect("a prompt").to_owned();
    assert!(prompt.contains("\"Queue\"") && !prompt.contains("ann") && !prompt.contains("bob"), "{prompt}");
    // By their titles, in the order in which the model sees them.
    let yaml = roundtable::yaml::read(&prompt, "prompt").expect("YAML").to_json();
    let shown = yaml["participant_context"]["ideas"].as_array().expect("ideas").clone();
    let id = |title: &str| shown.iter().find(|idea| idea["title"] == title).expect("an idea")["id"].clone();
    let note = |from: Value, aside: Value| {
        json!({
            "synthesis": "Three.", "winner": null, "set_aside": aside,
            "options": [{"id": "queue", "title": "Queue", "from": from}, {"id": "cache", "title": "Cache", "from": [id("Cache")]}],
        })
    };
    let aside = json!([{"idea": id("Rewrite"), "reason": "too much"}]);
    let mut answers = json!({"talk-ideas": ideas, "talk-vote": both(&json!({"vote": "queue"}))});
    answers["talk-ideas-note"] = note(json!([id("Queue"), id("A queue")]), aside.clone());
    run(&desk, &answers).code(0);
    let merged = desk.events("ideas_merged").remove(0);
    assert_eq!(merged["by"], "step");
    let from = merged["options"][0]["from"].to_string();
    assert!(from.contains("ann#1") && from.contains("bob#1") && !from.contains('2'), "{from}");
    assert_eq!(merged["set_aside"][0]["idea"], "ann#2");
    // A thousand options, none, or a duplicate id.
    let option = |id: usize| json!({"id": format!("o{id}"), "title": "O", "from": [id]});
    let many: Value = (0..1000).map(option).collect();
    let twice = json!([{"id": "a", "title": "A", "from": [id("Queue"), id("A queue")]},
        {"id": "a", "title": "B", "from": [id("Cache"), id("Rewrite")]}]);
    for options in [many, json!([]), twice] {
        let mut bad = answers.clone();
        bad["talk-ideas-note"] = json!({"synthesis": "S.", "winner": null, "options": options});
        run(&desk, &bad).code(4);
    }
    // An idea is lost: one re-ask, then a person.
    answers["talk-ideas-note"] = note(json!([id("Queue")]), aside.clone());
    assert!(!run(&desk, &answers).code(4).err.contains("proposed options"), "with ids for the model alone");
    answers["talk-ideas-merge"] = json!({"edited": {"synthesis": "Mine.", "winner": null}});
    run(&desk, &answers).tells("a changed merge is written as `options`");
    answers["talk-ideas-merge"] = json!({"options": [
        {"title": "Queue", "from": ["ann#1", "bob#1"]}, {"title": "Rest", "from": ["ann#2", "bob#2"]},
    ]});
    run(&desk, &answers).code(0);
    assert_eq!(desk.events("ideas_merged")[0]["by"], "scripted");
    assert_eq!(desk.events("synthesis_recorded")[0]["round"], "talk-vote", "no note on ideas");
    // Who is asked about a merge reads that its note leaves the strategy.
    let desk = self::desk("strategy: blind, approve: all");
    answers["talk-ideas-note"] = note(json!([id("Queue"), id("A queue")]), aside);
    (answers["talk-ideas-note"]["leave"], answers["talk-open-ok"]) = ("Enough.".into(), true.into());
    answers.as_object_mut().expect("a map").remove("talk-ideas-merge");
    run(&desk, &answers).code(4);
    let asked = desk.events("approval_requested").remove(1)["message"].to_string();
    assert!(asked.contains("and leaves the strategy: Enough."), "{asked}");
}

#[test]
fn the_model_sees_closed_rounds_only_and_no_names() {
    // The first rounds of this strategy do not see each other.
    let phases = ["white", "red", "black", "yellow"];
    let blind = |id: &str| {
        format!("  - {{id: {id}, question: \"{{{{topic}}}}\", ballot: position, context: {{rounds: 0}}}}\n")
    };
    let desk = desk(&format!("strategy: hats, {CHOICE}"));
    std::fs::create_dir_all(desk.path(".s2s/strategies")).expect("a folder");
    let text = format!(
        "name: hats\nsummary: s\nfor: f\nlimits: l\nevidence: []\naccepts: [choice]\nrules: {{choice: majority}}\n\
             phases:\n{}  - {{id: vote, question: \"{{{{topic}}}}\", ballot: main}}\n",
        phases.map(blind).concat()
    );
    desk.write(".s2s/strategies/hats.yaml", text);
    let mut answers = json!({"talk-vote": {"ann": {"vote": "queue", "rationale": ["MARK-vote"]}, "bob": {"vote": "queue"}}});
    for phase in phases {
        answers[format!("talk-{phase}")] = both(&json!({"position": format!("MARK-{phase}")}));
    }
    run(&desk, &answers).code(0);
    let mut closed: Vec<String> = Vec::new();
    let mut prompts = 0;
    for line in desk.log("s.s2s") {
        if line["event"] == "round_closed" {
            closed.push(line["step"].as_str().expect("a step").replace("talk-", "MARK-"));
        }
        if line["participant"] != "talk-facilitator" {
            continue;
        }
        let Some(prompt) = line["prompt"].as_str() else { continue };
        prompts += 1;
        for mark in phases.map(|phase| format!("MARK-{phase}")).into_iter().chain(["MARK-vote".to_owned()]) {
            let is_last = closed.last() == Some(&mark);
            assert_eq!(prompt.contains(&mark), is_last, "{mark} after {closed:?}: {prompt}");
        }
        assert!(!prompt.contains("ann") && !prompt.contains("bob"), "{prompt}");
    }
    assert_eq!(prompts, 4, "the opening, notes after the last hat and the vote, and the conclusion");
}
