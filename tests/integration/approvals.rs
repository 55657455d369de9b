//! Who adopts a decision: an answer given after the count and about it, by name; nobody else.

use crate::program::Desk;

const PEOPLE: &str = "[{name: ann, model: human}, {name: bob, model: human}]";
const VOTE: &str = "{id: pick, type: round, question: \"Which cache?\", ballot: {kind: choice, options: [redis, memory]}, rule: majority}";
const VOTES: &str = "pick: {ann: {vote: redis}, bob: {vote: redis}}\n";
const OK: &str = "{id: ok, type: approval, message: \"Adopt it?\"}";

fn record(steps: &str, seats: &str, answers: &str) -> (String, Desk) {
    let desk = Desk::with(&format!("goal: Choose a cache\nparticipants: {seats}\nsteps: [{steps}]\n"));
    desk.answered(answers, &[]);
    let out = desk.run(["report", "s.s2s", "--format", "madr", "--even-undecided"]).code(0).out;
    (out.lines().skip(1).take(3).collect::<Vec<_>>().join("\n"), desk)
}

#[test]
fn an_approval_adopts_what_was_counted_before_it_was_asked() {
    let none = OK.replace("it?\"", "nothing?\", adopts: none");
    let ana = "ok: {approved: true, by: Ana Berg}\nmore: true\n";
    for (steps, models, said, status, by) in [
        ("OK, VOTE", false, ana, "proposed", "nobody yet\""),
        ("VOTE, NONE", false, ana, "proposed", "nobody yet\""),
        ("VOTE, OK", false, ana, "accepted", "Ana Berg (by answers file) at "),
        ("VOTE, OK", true, ana, "proposed", "Ana Berg (by answers file) at "),
        ("VOTE, OK", false, "ok: true\n", "accepted", "a script at "),
        ("VOTE, OK", false, "ok: false\n", "rejected", "a script at "),
        ("VOTE, OK, {id: more, type: approval, message: More?}", false, ana, "accepted", "Ana Berg (by "),
    ] {
        let steps = steps.replace("VOTE", VOTE).replace("OK", OK).replace("NONE", &none);
        let seats =
            if models { "[{name: ann, model: rehearsal}, {name: bob, model: rehearsal}]" } else { PEOPLE };
        let (head, desk) = record(&steps, seats, &format!("{VOTES}{said}"));
        assert!(head.starts_with(&format!("status: {status}\n")), "{steps}: {head}");
        assert!(head.contains(&format!("decision-makers: \"{by}")), "{steps}: {head}");
        desk.write("../home/state/sessions/s.s2s", desk.read("s.s2s"));
        let told = desk.run(["check", "decide.yaml"]).out.contains("note: approval `ok` adopts `pick`");
        assert_eq!(told, !by.starts_with("nobody"), "{steps}");
        for (command, says) in [
            ("report s.s2s --format madr --even-undecided", "**Proposed: a script stood for a model.**"),
            ("report s.s2s", "It stays proposed: a script stood for a model."),
            ("sessions --decisions", " · proposed: a script stood for a model · "),
        ] {
            assert_eq!(desk.run(command.split(' ')).out.contains(says), models, "{steps}: {command}");
        }
    }
}

#[test]
fn a_decision_of_the_facilitator_says_so_with_its_reason_and_the_dissent() {
    let vote = VOTE.replace("rule: majority", "rule: majority, max_runs: 2, on_undecided: pick");
    let tied = "pick: {ann: {vote: redis}, bob: {vote: memory}}\n";
    let said =
        "pick-exhausted: {choice: decide, option: memory, comment: \"We know it.\", by: \"Ana Berg\"}\n";
    let (head, desk) = record(&vote, PEOPLE, &format!("{tied}{said}"));
    assert!(head.starts_with("status: accepted\n") && head.contains("Ana Berg (by answers"), "{head}");
    for format in ["md", "html", "madr"] {
        let out = desk.run(["report", "s.s2s", "--format", format]).code(0).out;
        for says in ["We know it.", "Dissent", "Ana Berg"] {
            assert!(out.contains(says), "{format} lacks {says}: {out}");
        }
        assert!(!out.contains("recommend") && !out.contains("nobody yet"), "{out}");
    }
    assert_eq!(desk.report("s.s2s")["decisions"][0]["dissent"][0]["participant"], "ann");
    desk.write("answers.yaml", format!("{tied}{}", said.replace("option: memory", "option: memry")));
    let ran = desk.run(["--batch", "decide.yaml", "--answers", "answers.yaml"]).code(2);
    ran.tells("cannot go on with `decide: memry`").tells("`decide: memory`");
}
