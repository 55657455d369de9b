//! Identity leaks in answers: found before disclosure, handled by the definition.
//!
//! Pseudonyms hide participants from each other. Recorded answers stay unchanged.

use roundtable::history::{Event, TimedEvent};
use roundtable::journal::verify;
use serde_json::Value;

use crate::forge::{chained, events as read};
use crate::program::{Desk, has, named};

const ANSWERS: &str = "\
pick:
  abe: {vote: red, rationale: [\"As Claude, made by Anthropic, I take red\"], concerns: [\"bert-2 will not\"]}
  bert-2: {vote: red, rationale: [\"Claude, openai\"]}
  cleo: {vote: blue, rationale: [\"a llama in a mistral wind\"]}
again:
  abe: {vote: red}
  bert-2: {vote: red}
  cleo: {vote: blue}
";

fn definition(more: &str) -> String {
    format!(
        "participants: [{{name: abe, prompt: \"You paint.\"}}, {{name: bert-2, prompt: \"You paint.\"}}, \
         {{name: cleo, prompt: \"You paint.\"}}]
{more}
steps:
  - {{id: pick, type: round, question: \"Which paint?\", rule: majority, \
     ballot: {{kind: choice, options: [red, blue]}}}}
  - {{id: again, type: round, question: \"Still?\", rule: majority, \
     ballot: {{kind: choice, options: [red, blue]}}}}
"
    )
}

fn desk_of(more: &str) -> Desk {
    Desk::with(&definition(more))
}

fn run(desk: &Desk, options: &[&str]) -> Vec<Value> {
    desk.answered(ANSWERS, &[&["--json"], options].concat()).code(0).lines()
}

/// Returns the part of the second snapshot with the first round's answers.
fn handed_on(lines: &[Value]) -> String {
    let opened = named(lines, "round_opened");
    let snapshot = opened[1]["snapshot"].as_str().expect("a snapshot");
    snapshot[snapshot.find("  context:").expect("a context")..].to_owned()
}

#[test]
fn by_default_findings_are_flagged_and_nothing_is_changed() {
    let desk = desk_of("");
    let lines = run(&desk, &[]);
    let found = named(&lines, "leaks_found");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["round"], "pick");
    let found = found[0]["found"].as_array().expect("a list");
    let texts = found.iter().map(|leak| leak["text"].as_str().expect("a text"));
    assert_eq!(texts.collect::<Vec<_>>(), ["Claude", "Anthropic", "Claude", "openai"]);
    assert!(found.iter().all(|leak| leak.get("as").is_none()));
    let handed = handed_on(&lines);
    has(&handed, &["As Claude, made by Anthropic", "bert-2 will not"]);
    assert!(handed.contains("stepId: bert-2") || handed.contains("stepId: \"bert-2\""), "{handed}");
    // Without the check, nothing is found.
    let lines = run(&desk_of("leaks: off"), &[]);
    assert!(named(&lines, "leaks_found").is_empty());
    assert!(handed_on(&lines).contains("As Claude, made by Anthropic"));
}

#[test]
fn masked_answers_are_handed_on_masked_and_revealed_as_they_were() {
    let desk = desk_of("leaks: mask");
    let lines = run(&desk, &[]);
    let handed = handed_on(&lines);
    has(&handed, &["As [model], made by [maker], I take red", "[participant] will not", "[model], [maker]"]);
    has(&handed, &["a llama in a mistral wind"]);
    // Later prompts do not contain it elsewhere.
    for item in named(&lines, "work_item_offered").iter().filter(|item| item["round"] == "again") {
        let prompt = item["prompt"].as_str().expect("a prompt");
        assert!(!prompt.contains("Claude") && !prompt.contains("Anthropic"), "{prompt}");
    }
    // The sealed and revealed answer is unchanged.
    let revealed = named(&lines, "answer_revealed");
    assert_eq!(revealed[0]["answer"]["rationale"][0], "As Claude, made by Anthropic, I take red");
    let report = desk.report("s.s2s");
    let seat = &report["rounds"][0]["seats"][0];
    assert_eq!(seat["answer"]["rationale"][0], "As Claude, made by Anthropic, I take red");
    let leak = &seat["leaks"][0];
    assert_eq!(leak["as"], "[model]");
    assert!(report["rounds"][0]["seats"][2].get("leaks").is_none());
    desk.run(["report", "s.s2s"]).code(0).shows("Leak scan").shows("“Claude”");
    desk.run(["replay", "--text", "s.s2s"]).code(0).shows("leak scan: 5 findings in what abe, bert-2 said");
}

#[test]
fn pseudonyms_are_all_that_later_rounds_see_and_the_end_tells_who_was_who() {
    for seed in 1..6 {
        let desk = desk_of("pseudonyms: true");
        let lines = run(&desk, &["--seed", &seed.to_string()]);
        let names = lines[0]["pseudonyms"]["names"].as_object().expect("the names").clone();
        assert_eq!(lines[0]["pseudonyms"]["seed"], seed);
        let handed = handed_on(&lines);
        for (name, shown) in &names {
            let shown = shown.as_str().expect("a pseudonym");
            assert!(!handed.contains(name.as_str()), "{name}: {handed}");
            assert_eq!(handed.matches(&format!("stepId: \"{shown}\"")).count(), 1, "{shown}: {handed}");
        }
        has(&handed, &[&format!("{} will not", names["bert-2"].as_str().expect("a pseudonym"))]);
        // Listed by number, whatever the roster's order.
        let at = (1..=3).map(|n| handed.find(&format!("participant-{n}\"")).expect("each"));
        assert!(at.is_sorted(), "{handed}");
        assert!(handed.contains("As [model], made by [maker]"), "masked unless said otherwise: {handed}");
        desk.run(["report", "s.s2s"]).code(0).shows("- **abe** · ").shows("abe as participant-");
    }
    // Without a seed they differ from session to session.
    let drawn = |_| run(&desk_of("pseudonyms: true"), &[])[0]["pseudonyms"]["seed"].as_u64().expect("a seed");
    assert_eq!((0..4).map(drawn).collect::<std::collections::BTreeSet<_>>().len(), 4);
}

#[test]
fn who_is_who_is_not_reported_before_the_end() {
    let stop = "  - {id: ok, type: approval, message: \"Enough?\"}\n";
    let desk = Desk::with(&(definition("pseudonyms: true") + stop));
    desk.answered(ANSWERS, &[]).code(4);
    let shown = desk.run(["report", "s.s2s"]).code(0).out;
    assert!(!shown.contains("participant-"), "{shown}");
    assert!(desk.report("s.s2s").get("pseudonyms").is_none());
}

#[test]
fn what_is_said_to_be_found_or_masked_is_checked() {
    let desk = desk_of("leaks: mask\npseudonyms: true");
    run(&desk, &[]);
    let bytes = std::fs::read(desk.path("s.s2s")).expect("the file");
    let events = || read(&bytes);
    let at =
        events().iter().position(|stamped| matches!(stamped.event, Event::LeaksFound { .. })).expect("it");
    let wrong = |events: Vec<TimedEvent>| !verify(&chained(&events), None).findings.is_empty();
    assert!(!wrong(events()));
    let forge = |change: &dyn Fn(&mut Vec<roundtable::history::Leak>)| {
        let mut events = events();
        if let Event::LeaksFound { found, .. } = &mut events[at].event {
            change(found);
        }
        events
    };
    assert!(wrong(forge(&|found| found[0].mask = Some("[maker]".to_owned()))), "another mask");
    assert!(wrong(forge(&|found| found[0].mask = None)), "no mask");
    assert!(wrong(forge(&|found| drop(found.remove(0)))), "one left out");
    assert!(wrong(forge(&|found| found[0].text.push('0'))), "another name");
    let mut without = events();
    without.remove(at);
    assert!(wrong(without), "all left out");
    let mut swapped = events();
    if let Event::SessionOpened(opened) = &mut swapped[0].event
        && let Some(drawn) = &mut opened.pseudonyms
    {
        drawn.names.swap_indices(0, 1);
        let names: Vec<String> = drawn.names.keys().cloned().collect();
        let shown: Vec<String> = drawn.names.values().rev().cloned().collect();
        drawn.names = names.into_iter().zip(shown).collect();
    }
    assert!(wrong(swapped), "other pseudonyms");
}
