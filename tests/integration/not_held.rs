//! Rounds without a decision: messages, end of the session, next steps.

use serde_json::{Value, json};

use crate::program::{Desk, Ran, has, named};

const ARTIFACT: &str =
    "artifacts: [{id: REQ-001, relevant: true, summary: s, description: \"A whole text\"}]\n";
const SEATS: &str = "participants: [qa-lead, skeptic]\n";
const AGREED: &str = "{qa-lead: {vote: a}, skeptic: {vote: a}}";
const TIED: &str = "{qa-lead: {vote: a}, skeptic: {vote: b}}";

fn round(id: &str, question: &str, keys: &str) -> String {
    let ballot = "ballot: {kind: choice, options: [a, b]}";
    format!("  - {{id: {id}, type: round, question: \"{question}\", {ballot}{keys}}}\n")
}

fn desk(definition: &str) -> Desk {
    Desk::modelled(&format!("{SEATS}{ARTIFACT}{definition}"))
}

#[track_caller]
fn ran(definition: &str, answers: &str) -> Ran {
    desk(definition).answered(answers, &[])
}

#[test]
fn a_round_that_was_not_held_ends_with_3_and_every_surface_says_so_first() {
    let refused = "Do we accept REQ-002?";
    let said = "No decision: round `pick` was not held: incomplete work item: `we accept REQ-002` \
                names `REQ-002`, which does not exist; there is `REQ-001`";
    for keys in ["", ", rule: majority"] {
        let desk = desk(&format!("goal: g\nsteps:\n{}", round("pick", refused, keys)));
        let ran = desk.answered("", &[]).code(3);
        ran.tells(&format!("outcome: {said} · "));
        let report = |format: &str| desk.run(["report", "s.s2s", "--format", format]).code(0).out;
        let third = |text: &str| text.lines().nth(2).unwrap_or_default().to_owned();
        assert!(third(&ran.out).starts_with("> **No decision: round \\`pick\\` was not held"), "{}", ran.out);
        assert_eq!(report("md"), ran.out);
        let head = "<h2 class=\"dec\"><span dir=\"auto\">No decision: round `pick` was not";
        has(&report("html"), &[head]);
        let madr = desk.run(["report", "s.s2s", "--format", "madr", "--even-undecided"]).code(0).out;
        has(
            &madr,
            &[
                "\n# g: No decision: round \\`pick\\` was not held",
                "## Decision Outcome\n\nNo decision: round",
            ],
        );
        let replayed = desk.run(["replay", "--text", "s.s2s"]).code(0).out;
        assert_eq!(replayed.lines().next(), Some(format!("outcome: {said}").as_str()));
        assert!(report("csv").contains("\"pick\",\"\",\"Do we accept REQ-002?\""), "{}", report("csv"));
        let json = desk.report("s.s2s");
        assert_eq!((&json["outcome"], &json["decisions"]), (&said.into(), &json!([])));
        assert_eq!(json["not_held"][0]["step"], "pick");
        desk.run(["--batch", "decide.yaml", "--answers", "answers.yaml"]).code(3);
        desk.run(["sessions"]).code(0).shows("No decision: round");
    }
}

#[test]
fn ids_from_the_input_are_checked_too() {
    let agent = "  - {id: pick, type: agent, agent: qa-lead, prompt: \"Implement {{input}}\"}\n".to_owned();
    for step in [round("pick", "Do we accept {{input}}?", ""), agent] {
        let ran = desk(&format!("steps:\n{step}")).answered("", &["--input", "REQ-9"]);
        ran.code(3).tells("names `REQ-9`, which does not exist");
    }
}

#[test]
fn check_reports_predictable_errors_also_of_later_rounds() {
    let (first, second) =
        (round("pick", "Which?", ", rule: majority"), round("then", "What of REQ-009?", ", rule: majority"));
    let desk = desk(&format!("steps:\n{first}{second}"));
    let ran = desk.run(["check", "decide.yaml"]).code(2);
    ran.shows("decide.yaml:5:5: error: step `then`: incomplete work item");
    desk.run(["--batch", "--dry-run", "decide.yaml"]).code(3).tells("step `then`: incomplete work item");
    // Earlier steps run, and the session ends without a decision.
    let ran = desk.answered(format!("pick: {AGREED}\nthen: {AGREED}\n"), &[]).code(3);
    ran.tells("round `then` was not held").tells("round `pick`: Decision: a");
    // The error of the first step does not depend on the second one.
    let steps = "  - {id: a, type: agent, agent: s, prompt: Do REQ-9}\n  - {id: b, type: agent, agent: s, prompt: x}\n";
    let first = self::desk(&format!("steps:\n{steps}")).run(["check", "decide.yaml"]).code(2);
    first.shows("error: step `a`: incomplete work item: `Do REQ-9` names `REQ-9`, which does not exist");
}

#[test]
fn guesses_are_warnings_strict_refuses_on_them_and_off_skips_them() {
    let steps = |keys: &str| {
        format!("steps:\n{}", round("pick", "Check Linear, then choose.", &format!("{keys}, rule: majority")))
    };
    let answers = format!("pick: {AGREED}\n");
    let warned = desk(&steps(""));
    warned.run(["check", "decide.yaml"]).code(0).shows("warning: step `pick`: the work item may");
    let ran = warned.answered(&answers, &["--json"]).code(0);
    let warning = ran.lines().into_iter().find(|line| line["event"] == "warning").expect("a warning");
    assert!(warning["message"].as_str().is_some_and(|said| said.contains("`Check Linear`")), "{warning}");
    for refusing in [steps(", completeness: strict"), format!("completeness: strict\n{}", steps(""))] {
        let strict = desk(&refusing);
        strict.run(["check", "decide.yaml"]).code(2);
        strict.answered(&answers, &[]).code(3);
    }
    let off = steps(", completeness: off");
    for silent in [off.clone(), format!("completeness: strict\n{off}")] {
        let off = desk(&silent);
        assert_eq!(off.run(["check", "decide.yaml"]).code(0).out, "");
        off.answered(&answers, &[]).code(0);
    }
}

#[test]
fn required_material_of_a_round_must_exist() {
    let steps = format!("steps:\n{}", round("pick", "Which?", ", requires: [issue.description]"));
    let desk = desk(&steps);
    let why = "lacks `issue.description`, which step `pick` requires";
    desk.run(["check", "decide.yaml"]).code(2).shows(why);
    desk.answered("", &[]).code(3).tells(why);
    let held = "{\"issue\": {\"description\": \"d\"}}";
    desk.run(["--batch", "decide.yaml", "--rehearse", "--input", held]).code(0);
}

/// A round without a rule after one with does not speak for it, and an error that is handled is no result.
#[test]
fn the_outcome_is_that_of_the_rounds_with_a_rule() {
    let pick = round("pick", "Which?", ", rule: majority");
    let none = format!(
        "  - {{id: no, type: condition, condition: \"1 === 2\", then: pick, else: end}}\n{}  \
         - {{id: end, type: round, question: \"What risks?\"}}\n",
        round("pick", "Which?", ", rule: majority, next: end")
    );
    let within =
        |step: &str| format!("  - {{id: both, type: parallel, steps: [{step}], on_error: pick}}\n{pick}");
    let refused = "{id: r, type: round, question: q, rule: majority, ballot: {kind: choice, options: [a, b]}, \
                   requires: [nothing.there]}";
    for (steps, answers, code, outcome) in [
        (
            none,
            "end: {qa-lead: {position: p}, skeptic: {position: p}}",
            3,
            "No decision: no round with a rule was held",
        ),
        (format!("{pick}{}", round("more", "And?", "")), &format!("more: {TIED}"), 0, "Decision: a"),
        (within("{id: ok, type: approval, message: Well?}"), "ok: false", 0, "Decision: a"),
        (within(refused), "", 0, "Decision: a"),
    ] {
        let ran = ran(&format!("steps:\n{steps}"), &format!("pick: {AGREED}\n{answers}\n")).code(code);
        ran.tells(&format!("outcome: {outcome} · "));
        assert_eq!(ran.out.contains("**Decision: a**"), code == 0, "{}", ran.out);
    }
}

#[test]
fn a_no_inside_a_parallel_is_no_success() {
    let parallel = "  - id: both\n    type: parallel\n    steps:\n      \
                    - {id: ok, type: approval, message: \"Fine?\"}\n      \
                    - {id: n, type: condition, condition: \"1 === 1\"}\n";
    let after = "  - {id: after, type: transform, transform: context.both}\n";
    for steps in [parallel.to_owned(), format!("{parallel}{after}")] {
        let desk = desk(&format!("steps:\n{steps}"));
        let rejected = "**Rejected by the facilitator: \\`ok\\` was rejected**";
        desk.answered("ok: false\n", &[]).code(3).shows(rejected);
        let json = desk.report("s.s2s");
        let entry =
            json!({"stepId": "ok", "status": "rejected", "result": {"approved": false}, "error": "rejected"});
        assert_eq!((&json["steps"][0]["success"], &json["steps"][0]["data"][0]), (&false.into(), &entry));
    }
    // A condition on the outcome handles it.
    let heard = format!(
        "steps:\n{parallel}    next: how\n  - {{id: how, type: condition, condition: \"context.both.success\"}}\n"
    );
    ran(&heard, "ok: false\n").code(0);
}

#[test]
fn a_round_leaves_one_shape_whatever_became_of_it() {
    let steps = |question: &str, keys: &str| {
        format!("steps:\n{}  - {{id: sum, type: agent, agent: writer}}\n", round("pick", question, keys))
    };
    let cases = [
        (", rule: majority", AGREED, "decided", true),
        (", rule: majority", TIED, "tie", false),
        (
            ", rule: majority, on_failed: close",
            "{qa-lead: {vote: a}, skeptic: {fail: x}}",
            "no_quorum",
            false,
        ),
        (", rule: majority", "{qa-lead: {vote: abstain}, skeptic: {vote: abstain}}", "abstained", false),
        (", rule: {name: supermajority, threshold: 0.9}", TIED, "undecided", false),
        ("", TIED, "undecided", true),
        (", requires: [nothing.there], rule: majority", AGREED, "failed", false),
    ];
    for (keys, votes, outcome, success) in cases {
        let ran = desk(&steps("Which?", keys)).answered(format!("pick: {votes}\nsum: s\n"), &["--json"]);
        let mut offers = named(&ran.lines(), "work_item_offered");
        offers.retain(|offer| offer["step"] == "sum");
        let found = &offers[0]["input"]["context"]["pick"];
        let keys_of = |value: &Value| value.as_object().expect("a map").keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys_of(found), ["data", "success", "outcome", "decision", "tally"]);
        let tally = "rule decided winners order tie scores tier quorum_met asked answered abstained invalid refused \
                     failed missing excused reason";
        assert_eq!(keys_of(&found["tally"]).join(" "), tally, "{outcome}");
        assert_eq!(found["outcome"], outcome, "{keys} {votes}");
        assert_eq!(found["success"], success, "{keys} {votes}");
        assert_eq!(found["tally"]["decided"], json!(outcome == "decided"));
    }
}

#[test]
fn a_round_that_did_not_decide_goes_where_on_undecided_says() {
    let routed = |keys: &str| {
        let keys = format!("{keys}, on_undecided: again, on_error: failed, next: well");
        let ends = ["again", "failed", "well"]
            .map(|id| format!("  - {{id: {id}, type: transform, transform: context.pick.outcome}}\n"));
        format!("steps:\n{}{}", round("pick", "Which?", &keys), ends.concat())
    };
    let ran = |keys: &str, votes: &str| -> String {
        let lines = desk(&routed(keys)).answered(format!("pick: {votes}\n"), &["--json"]).lines();
        named(&lines, "step_started")[1]["step"].as_str().expect("a second step").to_owned()
    };
    assert_eq!(ran(", rule: majority", AGREED), "well");
    assert_eq!(ran(", rule: majority", TIED), "again");
    let failed = "{qa-lead: {fail: x}, skeptic: {fail: y}}";
    assert_eq!(ran(", rule: majority, on_failed: close", failed), "again");
    assert_eq!(ran(", rule: majority, requires: [nothing.there]", AGREED), "failed");
}

#[test]
fn a_step_runs_as_often_as_max_runs_says_and_then_the_facilitator_is_asked() {
    let keys = ", rule: majority, max_runs: 2, on_undecided: pick, next: end";
    let end = "  - {id: end, type: transform, transform: context.pick.decision}\n";
    let steps = format!("steps:\n{}{end}", round("pick", "Which?", keys));
    for (said, exit, outcome, rounds) in [
        ("take", 3, "No decision: a and b tie", 2),
        ("[continue, take]", 3, "No decision: a and b tie", 4),
        ("stop", 3, "Stopped by the facilitator", 2),
    ] {
        let ran = ran(&steps, &format!("pick: {TIED}\npick-exhausted: {said}\n")).code(exit);
        ran.tells(&format!("outcome: {outcome}"));
        assert!(!ran.err.contains("serve nothing"), "{}", ran.err);
        assert_eq!(ran.err.matches(" open: ").count(), rounds, "{said}: {}", ran.err);
    }
    // Without an answer it waits; with one it continues.
    let desk = desk(&steps.replace("max_runs: 2", "max_runs: 1"));
    desk.answered(format!("pick: {TIED}\n"), &[])
        .code(4)
        .tells("has run 1 time, as often as `max_runs` allows")
        .tells("`pick-exhausted: take` (it continues with the last result");
    desk.write("answers.yaml", "pick-exhausted: {choice: decide, option: a}\n");
    let ran = desk.run(["--batch", "s.s2s", "--answers", "answers.yaml"]).code(0);
    ran.tells("outcome: Decided by the facilitator: a");
    desk.is_sound("s.s2s");
}

#[test]
fn on_exhausted_replaces_the_transition_and_conditions_see_the_count() {
    let steps = "steps:\n  - {id: try, type: transform, transform: context.count.none, max_runs: 3, on_error: try, on_exhausted: count}\n  \
                 - {id: count, type: condition, condition: \"runs.try === 3 && rounds === 0 && runs.pick === 0\", then: well, else: ill}\n  \
                 - {id: well, type: transform, transform: context.count.none, on_error: end}\n  \
                 - {id: ill, type: transform, transform: context.count.none}\n  \
                 - {id: end, type: condition, condition: \"runs.well === 1\"}\n";
    let steps = format!("{steps}{}", round("pick", "Which?", ""));
    let lines = desk(&steps).saves(&["--json"]).lines();
    let started = named(&lines, "step_started").into_iter().map(|line| line["step"].clone());
    assert!(started.eq(["try", "try", "try", "count", "well", "end"]));
}
