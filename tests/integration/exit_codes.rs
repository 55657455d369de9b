//! Interface for scripts: exit codes, messages, answers files, and every line of `--json`.

use std::io::{BufRead as _, BufReader};

use serde_json::Value;

use crate::program::{Desk, arg};
use crate::server::{Answer, Server};

const PICK: &str = "\
goal: Pick
question: \"Which?\"
participants: [qa-lead, skeptic]
ballot: {kind: choice, options: [a, b]}
rule: majority
";
const AGREED: &str = "decide: {qa-lead: {vote: a}, skeptic: {vote: a}}\n";
const TIED: &str = "decide: {qa-lead: {vote: a}, skeptic: {vote: b}}\n";

#[test]
fn usage_definition_and_configuration_are_2_and_save_nothing() {
    let desk = Desk::with(PICK);
    desk.write("typo.yaml", PICK.replace("question", "qestion"));
    for (args, said, hint) in [
        (&["--batch", "typo.yaml"][..], "typo.yaml:2:1: unknown key `qestion`", "did you mean `question`?"),
        (&["--batch", "."], ".: this is a folder", "give a file"),
        (&["resume"], "no session is saved yet", "roundtable ask"),
        (&["decide.yaml"], "the terminal UI needs a terminal", "roundtable run decide.yaml"),
        (&["--batch", "decide.yaml", "--model", "openai/gpt-4o"], "no key for `openai`", "OPENAI_API_KEY"),
        (&["--batch", "decide.yaml", "--model", "nosuch/x"], "unknown provider `nosuch`", "known here"),
        (&["--batch", "decide.yaml", "--max-usd", "nan"], "--max-usd", "greater than 0"),
        (&["--batch", "decide.yaml", "--save", "typo.yaml"], "typo.yaml", "--save does not overwrite"),
        (&["--batch", "decide.yaml", "decide.yaml", "--save", "typo.yaml"], "must be a directory", "--save"),
    ] {
        let ran = desk.run(args).code(2);
        ran.tells(said).tells(hint);
        assert_eq!(ran.err.matches(said).count(), 1, "said once: {}", ran.err);
        assert_eq!(ran.out, "", "{args:?}");
    }
    assert!(desk.sessions().is_empty());
    assert_eq!(desk.read("typo.yaml"), PICK.replace("question", "qestion"));
}

#[test]
fn waiting_for_a_person_is_4_and_an_answer_resumes() {
    let desk = Desk::with(
        "goal: Pick\nparticipants: [qa-lead, skeptic]\nsteps:\n  - {id: pick, type: round, question: \"Which?\", \
         ballot: {kind: choice, options: [a, b]}, rule: majority, ties: ask, next: ok}\n  \
         - {id: ok, type: approval, message: \"Accept?\", on_reject: pick}\n",
    );
    desk.write("votes.yaml", TIED.replace("decide", "pick"));
    let ran = desk.run(["--batch", "decide.yaml", "--answers", "votes.yaml"]).code(4);
    ran.tells("waiting: tie between a and b: which one?").tells("`pick: {tie: a}`");
    let session = arg(&desk.session());
    assert!(desk.run(["sessions"]).out.contains("a and b tie"));

    desk.write("tie.yaml", "pick: {qa-lead: {vote: a}, skeptic: {vote: b}, tie: b}\n");
    desk.run(["resume", &session, "--answers", "tie.yaml"]).code(4).tells("`ok: {approved: true}`");
    desk.write("p.yaml", "steps: [{id: p, type: parallel, steps: [{id: i, type: approval, message: m}]}]\n");
    desk.run(["--batch", "p.yaml", "--save", "p"]).code(4).tells("waiting: m").tells("`i: {approved: true}`");

    let no = "ok: [{approved: false, comment: \"too small\"}, {approved: true, comment: \"at last\"}]\n";
    desk.write("all.yaml", format!("pick: {{qa-lead: {{vote: a}}, skeptic: {{vote: b}}, tie: b}}\n{no}"));
    let ran = desk.run(["--batch", &session, "--answers", "all.yaml"]).code(0);
    ran.shows("**Decision: b (the facilitator broke the tie)**")
        .shows("**pick: b chosen among a, b**, by a script");
    ran.shows("**ok: rejected**, by a script").shows("> too small");
    ran.shows("**ok: approved**, by a script").shows("> at last");
    assert_eq!(ran.out.matches("b chosen among").count(), 2, "each run of the step is told");
    desk.is_sound(&session);
    assert_eq!(desk.sessions().len(), 1);
    desk.run(["resume", &session]).code(0).tells("already finished");
}

#[test]
fn nobody_reached_and_caps_are_5() {
    let server = Server::start(|_| Answer::json(401, &serde_json::json!({"error": {"message": "bad key"}})));
    let desk = Desk::with(PICK).served_by(&server);
    let ran = desk.run(["--batch", "decide.yaml", "--model", "lab/m"]).code(5);
    ran.shows("HTTP 401").tells("no seat answered");

    let quick =
        Desk::with(&format!("{PICK}timeout: 300ms\n")).configured("providers: {lab: {api: openai}}\n");
    let desk = quick.set("LAB_BASE_URL", "http://127.0.0.1:9/v1");
    desk.run(["--batch", "decide.yaml", "--model", "lab/m"]).code(5);

    let desk = Desk::with(PICK).served_by(&server);
    desk.configure("prices: {lab/m: {input: 5, output: 25}}\n");
    let sent = server.requests().len();
    let ran = desk.run(["--batch", "decide.yaml", "--model", "lab/m", "--max-usd", "0.0001"]).code(5);
    ran.shows("> **Stopped: ").tells("the limit is");
    assert_eq!(server.requests().len(), sent, "nothing is sent");

    let long = "goal: Pick\nmax_duration: 1ms\nparticipants: [qa-lead]\nsteps:\n  \
                - {id: one, type: round, question: \"1?\"}\n  - {id: two, type: round, question: \"2?\"}\n";
    Desk::with(long).run(["--batch", "decide.yaml"]).code(5).tells("`max_duration` is 1 ms");
    // Also in the last round.
    let silent = Server::start(|_| Answer::hang(b""));
    let desk = Desk::with(&format!("max_duration: 300ms\n{PICK}")).served_by(&silent);
    desk.run(["--batch", "decide.yaml", "--model", "lab/x"]).code(5).shows("max_duration");
    assert_eq!(desk.saved().closed.map(|closed| closed.status.name()), Some("stopped"));
}

#[test]
fn damage_is_6_wherever_the_file_is_read_and_the_file_stays_as_it_is() {
    let desk = Desk::with(PICK);
    desk.answered(TIED, &[]).code(3);
    let mut bytes = desk.bytes("s.s2s");
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    desk.write("s.s2s", &bytes);
    for verb in ["verify", "resume", "replay", "trace", "report"] {
        let ran = desk.run([verb, "s.s2s"]).code(6);
        assert!(verb == "verify" || ran.err.contains("damaged at document"), "{verb}: {}", ran.err);
    }
    assert_eq!(desk.bytes("s.s2s"), bytes);
}

#[test]
fn each_of_several_files_is_saved_and_the_highest_code_counts() {
    let desk = Desk::with(PICK);
    desk.write("tied.yaml", PICK);
    desk.write("broken.yaml", "question: [\n");
    desk.write("answers.yaml", format!("{AGREED}{}", TIED.replace("decide", "tied")));
    let run = ["--batch", "decide.yaml", "tied.yaml", "--answers", "answers.yaml", "--save", "kept"];
    std::fs::create_dir(desk.path("kept")).expect("a folder");
    desk.run(run).code(3);
    assert_eq!(desk.sessions().len(), 2);
    assert!(desk.sessions().iter().all(|path| path.starts_with(desk.path("kept"))));
    let run = ["run", "decide.yaml", "lost.yaml", "broken.yaml", "--answers", "answers.yaml"];
    desk.run(run).code(2).tells("lost.yaml: there is no such file").tells("broken.yaml:1:11: ");
    assert_eq!(desk.sessions().len(), 2, "all files are looked at before the first is run");
    let piped = desk.pipe(["--batch", "-", "--answers", "answers.yaml"], &format!("id: decide\n{PICK}"));
    piped.code(0).shows("Definition `stdin`");
    let ran = desk.pipe(["--batch", "-", "--json"], "question: [").code(2);
    assert_eq!(ran.lines()[0]["file"], "standard input");
}

#[test]
fn seats_without_a_ballot_are_listed_with_reasons_only_after_the_close() {
    let server = Server::start(|request| match request.seat().as_str() {
        "skeptic" => Answer::json(401, &serde_json::json!({"error": {"message": "no such key"}})),
        "qa-lead" => Answer::chat("I would rather not say."),
        _ => Answer::chat("vote: redis\n"),
    });
    let desk = Desk::with(
        "question: Which?\nballot: {kind: choice, options: [in-process, redis]}\nrule: plurality\nquorum: 2\n\
         participants: [software-architect, technical-lead, qa-lead, skeptic]\n",
    )
    .served_by(&server);
    for more in [&[][..], &["--json"]] {
        let ran = desk.run([&["--batch", "decide.yaml", "--model", "lab/m"][..], more].concat()).code(0);
        let told: Vec<&str> = ran.err.lines().filter(|line| line.starts_with("round 1: ")).collect();
        assert_eq!(told.len(), 3, "{}", ran.err);
        let hint = "round 1: hint: qa-lead: this model does not keep the form; try";
        assert!(told[1].starts_with(hint), "{told:?}");
        assert!(told[0].starts_with("round 1: invalid: qa-lead: "), "{told:?}");
        assert_eq!(told[2], "round 1: failed: skeptic: HTTP 401: no such key; check `LAB_KEY`");
    }
    let quiet = desk.run(["--batch", "decide.yaml", "--model", "lab/m", "--quiet"]).code(0);
    assert_eq!(quiet.err, "");
}

const TABLE: &str = "\
goal: \"Choose a cache\"
constraints: [\"no new server\"]
participants: [qa-lead, skeptic]
artifacts: [{id: REQ-1, summary: \"Fast\"}]
steps:
  - {id: pick, type: round, description: \"The choice\", question: \"Which?\", ballot: {kind: choice, options: [a, b]}, rule: majority}
  - {id: ok, type: approval, message: \"Accept?\"}
";
const ANSWERS: &str = "\
pick: {qa-lead: {vote: a, rationale: [fast]}, skeptic: {vote: a}}
ok: {approved: true, comment: \"good\"}
";
const RUN: [&str; 7] = ["--batch", "decide.yaml", "--json", "--answers", "answers.yaml", "--save", "s.s2s"];

#[test]
fn a_line_appears_once_its_event_is_in_the_file() {
    let desk = Desk::with(TABLE);
    desk.write("answers.yaml", ANSWERS);
    let mut child = desk.start(RUN);
    let out = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut events = Vec::new();
    for (number, line) in out.lines().enumerate() {
        let line: Value = serde_json::from_str(&line.expect("UTF-8")).expect("JSON");
        let hash = line["hash"].as_str().expect("a hash");
        let kept = desk.read("s.s2s");
        assert!(kept.contains(&format!("\nhash: {hash}\n")), "{line} is on disk");
        assert_eq!(line["seq"], number);
        assert!(line["at"].as_str().is_some_and(|at| at.ends_with('Z')));
        assert!(line["session"].as_str().is_some_and(|id| id.contains("decide")));
        events.push(line);
    }
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    let names: Vec<&str> = events.iter().map(|line| line["event"].as_str().expect("a name")).collect();
    let expected = "session_opened step_started round_opened work_item_offered work_item_offered ballot_sealed \
                    ballot_sealed round_closed answer_revealed answer_revealed tally_made step_finished \
                    step_started approval_requested approval_given step_finished session_closed";
    assert_eq!(names.join(" "), expected);
    assert_eq!(events[0]["prev"], "0".repeat(64));
    for pair in events.windows(2) {
        assert_eq!(pair[1]["prev"], pair[0]["hash"]);
    }
    assert_eq!(events[16]["status"], "finished");
    assert_eq!((&events[14]["approved"], &events[14]["by"]), (&Value::Bool(true), &Value::from("scripted")));
    assert_eq!(events[8]["participant"], "qa-lead", "revealed in the order of the roster");
    let result = &events[11];
    for key in ["stepId", "success", "data", "startTime", "endTime", "duration"] {
        assert!(result.get(key).is_some(), "{key}");
    }

    let again = desk.log("s.s2s");
    assert_eq!(again, events, "a replay prints the same lines");
    let up_to = desk.run(["replay", "s.s2s", "--json", "--at", "4"]).code(0).lines();
    assert_eq!(up_to, events[..5]);
}

#[test]
fn errors_are_lines_without_seq_and_are_on_standard_error_too() {
    let desk = Desk::with("goal: x\nqestion: y\n");
    let runs = "--batch decide.yaml --json; replay none.s2s --json; trace none.s2s --json; resume none.s2s --json; \
                --batch --json --bogus; --json";
    for args in runs.split("; ") {
        let ran = desk.run(args.split(' ')).code(2);
        let lines = ran.lines();
        assert!(!lines.is_empty(), "{args:?}");
        for line in lines {
            assert_eq!(line["event"], "error", "{args:?}");
            assert!(line.get("seq").is_none());
            let keys: Vec<&String> = line.as_object().expect("an object").keys().collect();
            assert_eq!(keys, ["event", "message", "hint", "file", "line", "column"]);
            let message = line["message"].as_str().expect("text");
            ran.tells(message.split('\n').next().expect("a line"));
        }
    }
    let line = &desk.run(["--batch", "decide.yaml", "--json"]).lines()[0];
    assert_eq!((&line["file"], line["line"].is_u64()), (&"decide.yaml".into(), true));
}

#[test]
fn without_json_the_result_alone_is_on_standard_output() {
    let desk = Desk::with(TABLE);
    let ran = desk.answered(ANSWERS, &[]).code(0);
    assert_eq!(ran.out, desk.run(["report", "s.s2s"]).code(0).out);
    ran.tells("saved: ").tells("last hash: ");
    let quiet = desk.run(["--batch", "decide.yaml", "--answers", "answers.yaml", "--quiet"]).code(0);
    assert_eq!(quiet.err, "");
    desk.run(["--batch", "decide.yaml", "--json", "--dry-run"]).code(2).tells("--json needs a run");
    assert_eq!(desk.sessions().len(), 2);
}

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
