//! The `tally` command: ballot files, other rules on a saved round, errors.

use std::path::Path;

use serde_json::json;

use crate::program::Desk;

const BALLOTS: &str = r#"{"options": ["memphis", "nashville", "chattanooga", "knoxville"], "ballots": [
    {"count": 42, "ranking": ["memphis", "nashville", "chattanooga", "knoxville"]},
    {"count": 26, "ranking": [["nashville"], ["chattanooga"], ["knoxville"], ["memphis"]]},
    {"count": 15, "ranking": ["chattanooga", "knoxville", "nashville", "memphis"]},
    {"count": 17, "ranking": ["knoxville", "chattanooga", "nashville", "memphis"]}]}"#;

#[test]
fn a_file_is_counted_by_any_rule_that_fits() {
    let desk = Desk::new();
    desk.write("tn.json", BALLOTS);
    let found = desk.run(["tally", "--ballots", "tn.json", "--rule", "irv", "--json"]).code(0).lines();
    let keys: Vec<&String> = found[0].as_object().expect("a map").keys().collect();
    assert_eq!(keys[..5], ["rule", "winners", "tie", "scores", "steps"]);
    assert_eq!((&found[0]["winners"], &found[0]["tie"]), (&json!(["knoxville"]), &json!(false)));
    assert_eq!(found[0]["trace"]["rounds"][0]["out"], "chattanooga");
    let text = desk.run(["tally", "--ballots", "tn.json", "--rule", "schulze"]).code(0).out;
    let row = text.contains("2 nashville    58   ·  68  68");
    assert!(text.contains("winner: nashville") && row, "{text}");
    let lines = "options: [a, b, c, d]\nballots: [{approve: [a, b]}, {approve: [b, a, d]}, {approve: [c]}]\n";
    desk.write("two.yaml", lines);
    let chosen =
        |choose| desk.run(["tally", "--ballots", "two.yaml", "--rule", "approval", "--choose", choose]);
    assert!(chosen("half").code(0).out.contains("winners: a, b\n"));
    assert!(chosen("3").code(3).out.contains("tie for the last place between c and d; chosen: a, b\n"));
}

#[test]
fn another_rule_on_a_saved_round_is_a_what_if() {
    let desk = Desk::new();
    let saved = Path::new(env!("CARGO_MANIFEST_DIR")).join("sessions/context-passing.s2s");
    std::fs::copy(&saved, desk.path("s.s2s")).expect("copied");
    let before = std::fs::read(desk.path("s.s2s")).expect("readable");
    let args = ["tally", "s.s2s", "--round", "decide", "--rule", "unanimous", "--json"];
    let found = desk.run(args).code(3).lines();
    assert_eq!(found[0]["what_if"], true);
    assert_eq!(found[0]["differs"], true);
    assert_eq!(found[0]["recorded"], json!({"rule": "majority", "decided": true, "winners": ["inline"]}));
    let ran = desk.run(["tally", "s.s2s", "--all"]).code(0);
    assert!(ran.out.starts_with("Round decide under other rules."), "{}", ran.out);
    ran.shows("The recorded outcome stays: Decision: inline").shows("(this round's rule)").shows("← differs");
    assert_eq!(std::fs::read(desk.path("s.s2s")).expect("readable"), before);
}

#[test]
fn mistakes_are_reported_with_the_next_step() {
    let desk = Desk::new();
    desk.write("tn.json", BALLOTS);
    desk.write("esc.yaml", "options: [\"\\e[31mred\", b]\nballots: [{vote: \"\\e[31mred\"}]\n");
    let cases: [(&[&str], &str); 10] = [
        (&["--ballots", "tn.json", "--rule", "irv", "--choose", "2"], "--choose N is for approval"),
        (&["--ballots", "tn.json"], "--rule <RULE>"),
        (&["--rule", "irv"], "roundtable run FILE"),
        (&["--ballots", "tn.json", "--rule", "ivr"], "did you mean `irv`?"),
        (&["--ballots", "tn.json", "--rule", "approval"], "are counted by plurality"),
        (&["--ballots", "esc.yaml", "--rule", "approval", "--choose", "2"], "choose fewer than there are"),
        (&["--ballots", "tn.json", "--rule", "irv", "--threshold", "2/3"], "leave --threshold out"),
        (&["--ballots", "tn.json", "--rule", "supermajority", "--threshold", "3/2"], "2/3 or 0.6667"),
        (&["--ballots", "none.json", "--rule", "irv"], "check the path"),
        (&["ballots.csv", "--rule", "irv"], "give it with `--ballots`"),
    ];
    for (args, hint) in cases {
        let ran = desk.run(["tally"].iter().chain(args)).code(2);
        assert!(ran.err.contains(hint) && ran.out.is_empty(), "{args:?}: {}", ran.err);
    }
    let shown = desk.run(["tally", "--ballots", "esc.yaml", "--rule", "plurality"]).code(0).out;
    assert!(!shown.contains('\u{1b}') && shown.contains("red"), "{shown}");
}
