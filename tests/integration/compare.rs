//! `diff` of two sessions, and `calibrate`: what turned out right, over many of them.

use serde_json::{Value, json};

use crate::program::Desk;

const FIRST: &str = "\
goal: Choose a cache
participants: [qa-lead, skeptic, devops-engineer]
steps:
  - {id: pick, type: round, question: \"Which cache first?\", ballot: {kind: choice, options: [redis, inline]}, rule: majority}
";
const SECOND: &str = "\
goal: Choose a cache
constraints: [\"no new \\u001b]0;server\\u202e\"]
participants: [qa-lead, skeptic, product-manager]
steps:
  - {id: pick, type: round, question: \"Which cache should come first?\", ballot: {kind: choice, options: [redis, disk]}, rule: plurality}
  - {id: more, type: round, question: \"What else?\"}
";
const OTHER: &str = "\
participants: [qa-lead, skeptic]
steps:
  - {id: lunch, type: round, question: \"What is for lunch?\", ballot: {kind: estimate}, rule: median}
";

/// Saves a session of this definition with these answers of its first round.
fn save(desk: &Desk, name: &str, definition: &str, answers: &Value) {
    desk.write("d.yaml", definition);
    desk.write("a.json", answers.to_string());
    let ran = desk.run(["--batch", "d.yaml", "--answers", "a.json", "--save", name]);
    assert!([0, 3].contains(&ran.code), "{}", ran.err);
}

fn vote(option: &str, rationale: &str) -> Value {
    json!({"vote": option, "rationale": [rationale]})
}

fn two_sessions() -> Desk {
    let desk = Desk::new();
    let pick = json!({"qa-lead": vote("redis", "one"), "skeptic": vote("inline", "two"), "devops-engineer": vote("redis", "x")});
    save(&desk, "a.s2s", FIRST, &json!({"pick": pick}));
    let pick = json!({"qa-lead": vote("redis", "one"), "skeptic": vote("redis", "new"), "product-manager": vote("disk", "x")});
    let more = json!({"qa-lead": {"position": "p"}, "skeptic": {"position": "p"}, "product-manager": {"position": "p"}});
    save(&desk, "b.s2s", SECOND, &json!({"pick": pick, "more": more}));
    desk
}

#[test]
fn diff_shows_question_options_seats_votes_results_and_snapshot() {
    let desk = two_sessions();
    let text = desk.run(["diff", "a.s2s", "b.s2s"]).code(0).out;
    for line in [
        "round pick",
        "    - Which cache first?",
        "    + Which cache should come first?",
        "    - majority",
        "    + plurality",
        "  options: added: disk; removed: inline",
        "  seats: added: product-manager; removed: devops-engineer",
        "  votes: inline → redis: 1 (skeptic)",
        "  votes: unchanged: 1 (qa-lead)",
        "only in the second session: more",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\n{text}");
    }
    // The text of the snapshot is shown, and acts on no terminal.
    assert!(text.lines().any(|line| line.starts_with("    + ") && line.contains("no new")), "{text}");
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
    let json: Value =
        serde_json::from_str(&desk.run(["diff", "a.s2s", "b.s2s", "--json"]).code(0).out).expect("JSON");
    let round = &json["rounds"][0];
    assert_eq!(
        round["question"],
        json!({"from": "Which cache first?", "to": "Which cache should come first?"})
    );
    assert_eq!(round["options"], json!({"added": ["disk"], "removed": ["inline"]}));
    let moves = json!([{"participant": "skeptic", "from": "inline", "to": "redis", "new_argument": true}]);
    assert_eq!((&round["votes"]["moves"], &round["votes"]["unchanged"]), (&moves, &json!(["qa-lead"])));
    assert_eq!((&round["winners"]["from"], &round["winners"]["to"]), (&json!(["redis"]), &json!(["redis"])));
    assert_eq!((&round["same"], &json["only_in_second"]), (&json!(false), &json!(["more"])));
    assert!(round["snapshot"]["changes"].as_array().expect("changes").len() > 2);
    assert_eq!(json["first"]["file"], "a.s2s");
    // The other way round, the other way round.
    let back = desk.run(["diff", "b.s2s", "a.s2s"]).code(0).out;
    assert!(
        back.contains("  options: added: inline; removed: disk")
            && back.contains("only in the first session: more")
    );
    let same = desk.run(["diff", "a.s2s", "a.s2s"]).code(0).out;
    assert!(same.contains("round pick: the same question, votes and result"), "{same}");
}

#[test]
fn diff_says_that_sessions_are_unrelated_and_what_cannot_be_read() {
    let desk = two_sessions();
    save(&desk, "c.s2s", OTHER, &json!({"lunch": {"qa-lead": {"estimate": 1}, "skeptic": {"estimate": 3}}}));
    let text = desk.run(["diff", "a.s2s", "c.s2s"]).code(0).out;
    assert!(
        text.contains("no round in common") && text.contains("only in the first session: pick"),
        "{text}"
    );
    let json: Value =
        serde_json::from_str(&desk.run(["diff", "a.s2s", "c.s2s", "--json"]).code(0).out).expect("JSON");
    assert_eq!((&json["rounds"], &json["only_in_first"]), (&json!([]), &json!(["pick"])));
    desk.run(["diff", "a.s2s", "none.s2s"]).code(2);
    desk.run(["diff", "a.s2s"]).code(2);
    desk.write("torn.s2s", "nonsense");
    desk.run(["diff", "torn.s2s", "a.s2s"]).code(2);
}

/// A project whose sessions were recorded: `(votes for redis, votes for inline, what it was)`.
fn project(rounds: &[(usize, usize, &str)]) -> Desk {
    let desk = Desk::new();
    desk.run(["init"]).code(0);
    for (at, (redis, inline, was)) in rounds.iter().enumerate() {
        let names: Vec<String> = (0..redis + inline).map(|seat| format!("s{seat}")).collect();
        let seats: Vec<Value> =
            names.iter().map(|name| json!({"name": name, "persona": "skeptic"})).collect();
        let definition = json!({"participants": seats, "steps": [{
            "id": "pick", "type": "round", "question": "Which?", "rule": "majority",
            "ballot": {"kind": "choice", "options": ["redis", "inline"]}}]});
        let answer = |seat: usize| {
            let option = if seat < *redis { "redis" } else { "inline" };
            json!({"vote": option, "rationale": [format!("reason {seat} of its kind")], "confidence": 0.9})
        };
        let answers: serde_json::Map<_, _> =
            names.iter().enumerate().map(|(seat, name)| (name.clone(), answer(seat))).collect();
        let file = format!("s{at}.s2s");
        save(&desk, &file, &definition.to_string(), &json!({"pick": answers}));
        let ran = desk.run(["calibrate", &file, "--was", was]).code(0);
        assert!(ran.out.is_empty() && ran.err.contains(&format!("round pick was {was}")), "{}", ran.err);
    }
    desk
}

fn shown(desk: &Desk) -> Value {
    serde_json::from_str(&desk.run(["calibrate", "--json"]).code(0).out).expect("JSON")
}

#[test]
fn calibrate_counts_what_was_right_by_strength_seat_and_confidence() {
    let desk =
        project(&[(4, 0, "redis"), (3, 1, "redis"), (3, 1, "inline"), (2, 2, "redis"), (0, 4, "redis")]);
    let json = shown(&desk);
    assert_eq!((&json["rounds"], &json["undecided"]), (&json!(5), &json!(1)));
    let share = |value: &Value| (value["right"].as_u64(), value["of"].as_u64(), value["few"].as_bool());
    assert_eq!(share(&json["decisions"]), (Some(2), Some(4), Some(true)));
    assert_eq!(share(&json["tiers"]["unanimous"]), (Some(1), Some(2), Some(true)));
    assert_eq!(share(&json["tiers"]["strong"]), (Some(1), Some(2), Some(true)));
    assert_eq!(share(&json["seats"]["s0"]), (Some(3), Some(5), Some(true)));
    assert_eq!(share(&json["seats"]["s3"]), (Some(2), Some(5), Some(true)));
    // 4 + 3 + 1 + 2 + 0 of 20 votes named what it was, each with a confidence of 0.9.
    let top = &json["confidence"][4];
    assert_eq!((share(top), &top["stated"]), ((Some(10), Some(20), Some(false)), &json!(0.9)));
    assert_eq!(json["brier"], json!(0.41), "half at 0.01, half at 0.81");
    assert_eq!(json["decisions"]["low"], json!(0.15));
    let text = desk.run(["calibrate"]).code(0).out;
    for part in [
        "Few cases",
        "5 rounds with a recorded outcome: 2 right, 2 wrong, 1 without a decision",
        "15 to 85 %     few",
        "Brier score 0.410",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    // The newest outcome of a round counts, and the session files are what they were.
    desk.run(["calibrate", "s4.s2s", "--was", "inline", "--note", "seen: \"later\"\n- session: x"]).code(0);
    assert_eq!(shown(&desk)["decisions"]["right"], 3);
    desk.run(["verify", "s4.s2s"]).code(0);
    let page = desk.run(["calibrate", "--out", "track.html"]).code(0);
    assert!(page.out.is_empty());
    let page = desk.read("track.html");
    assert!(
        page.contains("role=\"img\" aria-label=\"Reliability diagram: stated 90 %: ")
            && page.contains("(few)")
    );
    for acting in ["<script", "http:", "https:", "url(", "src="] {
        assert!(!page.contains(acting), "{acting}");
    }
}

#[test]
fn calibrate_refuses_what_cannot_be_right_and_keeps_the_file() {
    let desk = project(&[(2, 0, "redis")]);
    let before = desk.read(".s2s/outcomes.yaml");
    let refused = |args: &[&str], words: &str| {
        let ran = desk.run(args).code(2);
        assert!(ran.err.contains(words), "{args:?}: {}", ran.err);
    };
    refused(&["calibrate", "s0.s2s", "--was", "redish"], "did you mean `redis`");
    refused(&["calibrate", "s0.s2s", "--was", "redis", "--round", "pik"], "did you mean `pick`");
    refused(&["calibrate", "--was", "redis"], "<FILE>");
    refused(&["calibrate", "s0.s2s", "s0.s2s", "--was", "redis"], "one session");
    refused(&["calibrate", "none.s2s", "--was", "redis"], "no such file");
    // A round of words, and a session that is not finished.
    save(
        &desk,
        "words.s2s",
        "participants: [qa-lead]\nquestion: Why?\n",
        &json!({"d": {"qa-lead": {"position": "p"}}}),
    );
    refused(&["calibrate", "words.s2s", "--was", "p"], "no round whose answers could be right");
    desk.write("ask.yaml", "participants: [qa-lead]\nsteps:\n  - {id: pick, type: round, question: Q?, ballot: {kind: choice, options: [a, b]}, rule: majority}\n  - {id: ok, type: approval, message: \"Yes?\"}\n");
    desk.run(["--batch", "ask.yaml", "--save", "open.s2s"]).code(4);
    refused(&["calibrate", "open.s2s", "--was", "a"], "not finished");
    assert_eq!(desk.read(".s2s/outcomes.yaml"), before);
    // What is no such list is refused with its place and stays.
    for odd in [
        "outcomes: 3\n",
        "- a\n",
        "outcomes:\n  - {session: x}\n",
        "outcomes: [",
        "outcomes:\n  - {session: &a b, hash: *a}\n",
    ] {
        desk.write(".s2s/outcomes.yaml", odd);
        let ran = desk.run(["calibrate"]).code(2);
        assert!(ran.err.contains("outcomes.yaml"), "{odd}: {}", ran.err);
        desk.run(["calibrate", "s0.s2s", "--was", "redis"]).code(2);
        assert_eq!(desk.read(".s2s/outcomes.yaml"), odd);
    }
    // A list in brackets, with no end to append to.
    let brackets = "outcomes: []\n";
    desk.write(".s2s/outcomes.yaml", brackets);
    refused(&["calibrate", "s0.s2s", "--was", "redis"], "not recorded");
    assert_eq!(desk.read(".s2s/outcomes.yaml"), brackets);
}

#[test]
fn calibrate_without_outcomes_or_project_says_so_and_counts_only_the_file_it_was_told_of() {
    let desk = Desk::new();
    let ran = desk.run(["calibrate"]).code(0);
    assert!(
        ran.err.contains("no outcomes recorded yet") && ran.out.contains("0 rounds"),
        "{}{}",
        ran.out,
        ran.err
    );
    save(
        &desk,
        "a.s2s",
        FIRST,
        &json!({"pick": {"qa-lead": vote("redis", "a"), "skeptic": vote("redis", "b"), "devops-engineer": vote("redis", "c")}}),
    );
    assert!(desk.run(["calibrate", "a.s2s", "--was", "redis"]).code(2).err.contains("roundtable init"));
    desk.run(["init"]).code(0);
    desk.run(["calibrate", "a.s2s", "--was", "redis"]).code(0);
    assert_eq!(shown(&desk)["rounds"], 1);
    // Another session in its place, one that leads out, and one that is gone: named, not counted.
    save(
        &desk,
        "b.s2s",
        FIRST,
        &json!({"pick": {"qa-lead": vote("redis", "a"), "skeptic": vote("redis", "b"), "devops-engineer": vote("redis", "c")}}),
    );
    let outcomes = desk.read(".s2s/outcomes.yaml");
    for (file, words) in
        [("b.s2s", "holds the session"), ("../out.s2s", "outside the project"), ("gone.s2s", "no such file")]
    {
        desk.write("../out.s2s", desk.read("a.s2s"));
        desk.write(".s2s/outcomes.yaml", outcomes.replace("\"a.s2s\"", &format!("{file:?}")));
        let json = shown(&desk);
        assert_eq!(json["rounds"], 0, "{file}");
        assert!(
            json["left_out"][0].as_str().is_some_and(|why| why.contains(words)),
            "{file}: {}",
            json["left_out"]
        );
    }
    let forged = outcomes.replace("hash: \"", "hash: \"f");
    desk.write(".s2s/outcomes.yaml", forged);
    assert!(shown(&desk)["left_out"][0].as_str().is_some_and(|why| why.contains("another last hash")));
}
