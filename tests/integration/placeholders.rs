//! Placeholders decide nothing, and every affected result says so.

use serde_json::{Value, json};

use crate::program::{Desk, Ran, has};
use crate::pty::Screen;
use crate::server::{Answer, Server};

const STEPS: &str = "ballot: {kind: choice, options: [a, b]}\nrule: majority\n";
const PERSONAS: &str = "question: \"Which?\"\nparticipants: [qa-lead, skeptic, devops-engineer]\n";

fn result(ran: &Ran) -> Value {
    ran.lines().pop().expect("a line")
}

/// Fails unless a map has these values.
#[track_caller]
pub fn is_as(found: &Value, wanted: &Value) {
    for (key, value) in wanted.as_object().expect("a map") {
        assert_eq!(&found[key], value, "{key}: {found}");
    }
}

/// Two seats of a model agree, and one is a placeholder.
#[test]
fn a_placeholder_beside_votes_decides_nothing_under_any_rule() {
    let server = Server::start(|_| Answer::chat("vote: a"));
    let desk = Desk::with(&format!(
        "question: \"Which?\"\nparticipants: [{{name: ann, model: lab/m}}, {{name: bob, model: lab/n}}, {{name: cy, model: rehearsal}}]\n{STEPS}"
    ))
    .served_by(&server);
    let why = "1 of 3 seats is a placeholder";
    let told = format!("round `decide` cannot decide: {why}");
    assert!(desk.run(["check", "decide.yaml"]).code(0).out.contains(&told));
    let ran = desk.saves(&["--json=result"]).code(3);
    ran.tells(&told);
    let line = result(&ran);
    let wanted = json!({"decided": false, "rehearsal": false, "winner": null, "order": [], "reason": why});
    is_as(&line, &wanted);
    // A placeholder is no model.
    is_as(&line, &json!({"tier": "none", "models": 2}));
    let report = desk.run(["report", "s.s2s"]).code(0).out;
    assert!(report.contains(&format!("**No decision: {why}**")), "{report}");
    let counts = desk.report("s.s2s")["rounds"][0]["tally"].clone();
    is_as(&counts, &json!({"answered": 3, "placeholders": 1}));
    desk.run(["report", "s.s2s", "--format", "madr", "--out", "record.md"]).code(3);
    let found = desk.run(["tally", "s.s2s", "--all", "--json"]).lines();
    assert!(found.len() > 1, "{found:?}");
    for rule in &found {
        is_as(rule, &json!({"winners": [], "order": [], "tie": false, "reason": why}));
    }
    let text = desk.run(["tally", "s.s2s", "--all"]).out;
    assert!(!text.contains(" winner: a") && !text.contains("differs"), "{text}");
}

#[test]
fn placeholders_alone_or_beside_a_script_decide_nothing() {
    let desk = Desk::with(&format!("{PERSONAS}{STEPS}"));
    let answers = "decide: {qa-lead: {vote: a}, skeptic: {vote: a}}\n";
    let line = result(&desk.answered(answers, &["--json=result"]).code(3));
    is_as(&line, &json!({"decided": false, "winner": null}));
    // With `--rehearse` it is a rehearsal in any case.
    let line = result(&desk.answered(answers, &["--json=result", "--rehearse"]).code(0));
    is_as(&line, &json!({"decided": false, "rehearsal": true, "winner": "a"}));
    let line = result(&desk.run(["--batch", "decide.yaml", "--json=result"]).code(3));
    is_as(&line, &json!({"decided": false, "rehearsal": true}));
    assert_eq!(line["headline"], "REHEARSAL: No decision: 3 of 3 seats are placeholders");
}

#[test]
fn one_rehearsed_round_marks_its_own_decision_alone() {
    let round = "type: round, question: Which?, ballot: {kind: choice, options: [a, b]}, rule: plurality";
    let steps = format!("[{{id: one, {round}}}, {{id: two, {round}}}]");
    let desk = Desk::with(&format!("participants: [qa-lead, skeptic]\nsteps: {steps}\n"));
    let answers = "one: {qa-lead: {vote: a}, skeptic: {vote: a}}\n";
    let line = result(&desk.answered(answers, &["--json=result"]).code(3));
    is_as(&line, &json!({"decided": false, "rehearsal": false}));
    is_as(&line["decisions"][0], &json!({"decided": true, "headline": "Decision: a"}));
    assert_eq!(line["decisions"][1]["headline"], "REHEARSAL: No decision: 2 of 2 seats are placeholders");
    let record = ["report", "s.s2s", "--round", "two", "--format", "madr", "--even-undecided"];
    desk.run(record).shows("\n# REHEARSAL: Which?");
}

#[test]
fn seats_without_a_model_are_refused_with_what_to_do() {
    let desk = Desk::with(&format!("{PERSONAS}{STEPS}")).configured("").set("OPENAI_API_KEY", "sk-1");
    let names = "no model: `qa-lead`, `skeptic`, `devops-engineer` have none";
    let ran = desk.run(["--batch", "decide.yaml"]).code(2);
    ran.tells(names);
    has(&ran.err, &["--model PROVIDER/MODEL", "`model:` in config.yaml", "ollama/llama3.2", "--rehearse"]);
    assert!(desk.sessions().is_empty() && ran.out.is_empty(), "{}", ran.out);
    desk.run(["check", "decide.yaml"]).code(0).shows(&format!("note: {names}"));
    // A dry run needs no model.
    desk.run(["--batch", "decide.yaml", "--dry-run"]).code(0);
    let answers = "decide: {qa-lead: {vote: a}, skeptic: {vote: a}, devops-engineer: {vote: b}}\n";
    let scripted = desk.answered(answers, &["--json=result"]).code(0);
    assert_eq!(result(&scripted)["winner"], "a", "a script needs no model");
    desk.run(["--batch", "decide.yaml", "--rehearse"]).code(0);
    let local = crate::ask::local();
    let desk = desk.set("OLLAMA_BASE_URL", &format!("{}/v1", local.url()));
    desk.run(["--batch", "decide.yaml"]).code(2).tells("that was found, `--model ollama/qwen3`");
}

#[test]
fn every_output_of_a_rehearsal_says_so() {
    let desk = Desk::with(&format!("{PERSONAS}{STEPS}")).configured("");
    let outs = ["o.md", "o.html", "o.madr.md", "o.csv", "o.json"];
    let run = ["--batch", "decide.yaml", "--rehearse", "--save", "s.s2s"];
    let ran = desk.run(run.into_iter().chain(outs.iter().flat_map(|out| ["--out", out]))).code(0);
    assert!(ran.out.starts_with("# REHEARSAL: "), "{}", ran.out);
    ran.shows("\n> **REHEARSAL: ");
    assert!(ran.err.starts_with("REHEARSAL: placeholders answer, no model is asked\n"), "{}", ran.err);
    ran.tells("\noutcome: REHEARSAL: ");
    assert!(desk.read("o.md").starts_with("# REHEARSAL: "));
    let page = desk.read("o.html");
    assert!(page.contains("<title>REHEARSAL: ") && page.contains(">REHEARSAL: Which?</h1>"), "{page}");
    let record = desk.read("o.madr.md");
    assert!(record.contains("\n# REHEARSAL: ") && record.contains("status: proposed"), "{record}");
    let table = desk.read("o.csv");
    let mut rows = table.lines();
    let after = rows.next().and_then(|head| head.rsplit(',').position(|name| name == "\"rehearsal\""));
    assert!(rows.all(|row| row.rsplit(',').nth(after.expect("a column")) == Some("\"yes\"")), "{table}");
    let json: Value = serde_json::from_str(&desk.read("o.json")).expect("JSON");
    assert_eq!([&json["rehearsal"], &json["rounds"][0]["tally"]["rehearsal"]], [&json!(true), &json!(true)]);
    assert_eq!(json["rounds"][0]["tally"]["tier"], "none");
    for format in ["junit", "github"] {
        desk.run(["report", "s.s2s", "--format", format]).shows("REHEARSAL: ");
    }
    let replay = desk.run(["replay", "s.s2s", "--text"]).code(0).out;
    assert!(replay.lines().next().is_some_and(|line| line.contains("REHEARSAL: ")), "{replay}");
    let line = result(&desk.run(["--batch", "decide.yaml", "--rehearse", "--json=result"]).code(0));
    is_as(&line, &json!({"decided": false, "rehearsal": true}));
    let events = desk.run(["--batch", "decide.yaml", "--rehearse", "--json"]).code(0).lines();
    let counted = events.iter().find(|event| event["event"] == "tally_made").expect("a count");
    assert_eq!([&events[0]["rehearse"], &counted["rehearsal"]], [&json!(true), &json!(true)]);

    let found =
        Desk::with("question: \"Wrong?\"\nparticipants: [qa-lead]\nballot: findings\n").configured("");
    found.run(["--batch", "decide.yaml", "--rehearse", "--out", "o.sarif"]).code(0);
    let sarif: Value = serde_json::from_str(&found.read("o.sarif")).expect("JSON");
    let text = sarif["runs"][0]["results"][0]["message"]["text"].as_str().expect("a text");
    assert!(text.starts_with("REHEARSAL: "), "{text}");
}

#[test]
fn on_the_screen_a_seat_without_a_model_is_rehearsed_only_if_that_is_said() {
    let desk = Desk::with(&format!("{PERSONAS}{STEPS}")).configured("");
    let mut screen = Screen::open(&desk, (80, 24), &["decide.yaml"]);
    screen.wait_for(&["DRAFT", "no model yet"]);
    screen.press("o", &["m chooses who answers", "y rehearses"]);
    screen.press("n", &["DRAFT"]);
    screen.press("o", &["y rehearses"]);
    screen.press("y", &["REHEARSAL"]);
    screen.press("o", &["A accept", "REHEARSAL: "]);
    screen.press("Ay", &["REHEARSAL: "]);
}

/// The rehearsal was interrupted.
#[test]
fn a_resumed_rehearsal_stays_one() {
    let keys = "type: round, question: \"Which?\", ballot: {kind: choice, options: [a, b]}, rule: majority";
    let steps = format!("steps: [{{id: one, {keys}}}, {{id: two, {keys}}}]\n");
    let desk =
        Desk::with(&format!("participants: [qa-lead, skeptic, devops-engineer]\n{steps}")).configured("");
    desk.saves(&["--rehearse"]).code(0);
    let whole = desk.read("s.s2s");
    let end = whole.find("event: step_finished").expect("a first round");
    let end = end + whole[end..].find("\n---\n").expect("a second round") + 1;
    desk.write("cut.s2s", &whole[..end]);
    let ran = desk.run(["resume", "cut.s2s", "--json"]).code(0);
    let counted = ran.lines().into_iter().find(|line| line["event"] == "tally_made").expect("a count");
    assert_eq!([&counted["step"], &counted["rehearsal"]], [&json!("two"), &json!(true)]);
    desk.is_sound("cut.s2s");
}

/// Models, programs and people are all replaced.
#[test]
fn a_rehearsal_asks_nobody() {
    let server = Server::start(|_| Answer::chat("vote: a"));
    let desk = Desk::with(
        "participants: [{name: ann, model: lab/m}, {name: me, model: human}, {name: dana, model: remote/link}, \
         {name: prog, command: [touch, ran.txt], tool_less: true}]\nsteps:\n  - {id: pick, type: round, question: q, \
         ballot: {kind: choice, options: [a, b]}, rule: majority, ties: ask, act_at: strong}\n  - {id: ok, type: approval, \
         message: \"Go?\"}\n",
    )
    .served_by(&server);
    desk.saves(&["--rehearse"]).code(0);
    assert!(server.requests().is_empty() && !desk.path("ran.txt").exists());
    let report = desk.run(["report", "s.s2s"]).code(0).out;
    for seat in ["ann", "me", "dana", "prog"] {
        assert!(report.contains(&format!("**{seat}** · placeholder, not a model · ")), "{seat}: {report}");
    }
    let stays = "**Yes**, by a placeholder. It stays proposed: it is a rehearsal.";
    has(&report, &["Placeholder: nobody was asked", stays]);
    assert!(!report.contains("aid for it"), "{report}");
}
