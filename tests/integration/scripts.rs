//! Answers files: used, repeated and missing answers.

use crate::program::Desk;

const LOOP: &str = "\
participants: [qa-lead, skeptic]
steps:
  - {id: pick, type: round, question: \"Which?\", ballot: {kind: choice, options: [a, b]}, rule: majority, next: ok}
  - {id: ok, type: approval, message: \"Accept?\", on_reject: pick}
";

#[test]
fn missing_answers_name_the_step_and_more_answers_resume() {
    // Too few answers of an approval, then of a seat.
    for (short, words) in [
        ("pick: {qa-lead: {vote: a}, skeptic: {vote: a}}\nok: [false]\n", "no more answers for step `ok`"),
        (
            "pick: {qa-lead: {vote: a}, skeptic: [{vote: a}]}\nok: [false, true]\n",
            "no more answers for step `pick` (seat `skeptic`)",
        ),
        (
            "pick: {qa-lead: [], skeptic: {vote: a}}\nok: true\n",
            "no more answers for step `pick` (seat `qa-lead`)",
        ),
    ] {
        let desk = Desk::with(LOOP);
        desk.answered(short, &[]).code(2).tells(words).tells("roundtable resume");
        desk.write("more.yaml", "pick: {qa-lead: {vote: a}, skeptic: {vote: a}}\nok: [false, true]\n");
        desk.run(["resume", "s.s2s", "--answers", "more.yaml"]).code(0);
        desk.is_sound("s.s2s");
    }
}

#[test]
fn a_definitions_own_answers_give_way() {
    let own = "answers: {pick: {qa-lead: {vote: a}, skeptic: {vote: a}}, ok: true}\n";
    let desk = Desk::with(&format!("{LOOP}{own}"));
    let run = |more: &[&str]| desk.run(["--batch", "decide.yaml"].iter().chain(more));
    run(&[]).code(0).shows("**Decision: a**").shows("scripted for this example; no model was asked");
    desk.write("answers.yaml", "pick: {qa-lead: {vote: b}, skeptic: {vote: b}}\n");
    run(&["--answers", "answers.yaml"]).code(0).shows("**Decision: b**");
    let rehearsed = run(&["--rehearse"]).code(0);
    assert!(rehearsed.out.contains("REHEARSAL") && !rehearsed.out.contains("scripted"), "{}", rehearsed.out);
    for flag in ["--model=skeptic=rehearsal", "--participants=qa-lead,skeptic"] {
        run(&[flag]).code(3).tells("2 of 2 seats are placeholders").tells("approved");
    }
    // A session continues with the options it was opened with.
    desk.write("decide.yaml", format!("{LOOP}{}", own.replace(", ok: true", "")));
    desk.write("ok.yaml", "ok: [false, true]\n");
    for (save, flag, seats) in
        [("a.s2s", None, "Scripted: 4 of 4"), ("b.s2s", Some("--model=rehearsal"), "REHEARSAL")]
    {
        run(&[&["--save", save][..], flag.as_slice()].concat()).code(4);
        let resumed = desk.run(["resume", save, "--answers", "ok.yaml"]).shows(seats).out.clone();
        assert_eq!(resumed.contains("Scripted"), flag.is_none(), "{resumed}");
    }
    for (last, code, says) in
        [("ok: 7", 2, "error: the answer to an approval must be"), ("pikc: x", 0, "no such step")]
    {
        desk.write("decide.yaml", format!("{LOOP}{}", own.replace("ok: true", last)));
        desk.run(["check", "decide.yaml"]).code(code).says("decide.yaml:5:").says(says);
    }
}

#[test]
fn unused_answers_are_a_warning() {
    let votes = "pick: {qa-lead: {vote: a}, skeptic: {vote: a}, skeptik: {vote: b}}\nok: true\nokay: true\n";
    let ran = Desk::with(LOOP).answered(votes, &[]).code(0);
    ran.tells("warning: answers.yaml:1:1: the answer for `skeptik` is unused");
    ran.tells("warning: answers.yaml:3:1: unused answers for `okay`");
    ran.tells("did you mean `skeptic`?").tells("known here: pick, ok");
}

#[test]
fn a_scripted_failure_is_a_recorded_outcome_and_an_unknown_persona_may_be_scripted() {
    let desk = Desk::with(
        "question: \"Which?\"\nparticipants: [{name: alice, persona: nobody}, qa-lead]\nquorum: 1\n\
         ballot: {kind: choice, options: [a, b]}\nrule: majority\n",
    );
    let ran = desk.answered("{decide: {alice: {vote: a}, qa-lead: {fail: offline}}}", &[]).code(0);
    ran.shows("scripted, not a model · failed: offline").shows("**Decision: a**");
    let ran = desk.answered(r#"{"decide": {"alice": {"vote": "c"}, "qa-lead": {"vote": "b"}}}"#, &[]).code(0);
    ran.shows("invalid: ").shows("**Decision: b**");
}
