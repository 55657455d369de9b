//! Report files, decision records, the decision log; long answers and torn files.

use serde_json::{Value, json};

use crate::program::{Desk, has};
use crate::pty::Screen;

#[test]
fn reports_are_written_in_the_same_run_by_their_endings() {
    let desk = Desk::with(
        "question: Which?\nparticipants: [qa-lead, skeptic]\nballot: {kind: choice, options: [a, b]}\nrule: majority\n",
    );
    desk.write("answers.yaml", "decide: {qa-lead: {vote: a, rationale: [small], trade_offs: {risks: [cost]}, suggestions: [try it]}, skeptic: {vote: a}}\n");
    let run = |more: &[&str]| {
        let all = ["--batch", "decide.yaml", "--answers", "answers.yaml", "--save", "s.s2s"];
        desk.run(all.iter().chain(more).copied())
    };
    for (out, said) in [
        ("page.txt", "cannot tell the format of `page.txt`"),
        ("none/page.html", "no folder `none`"),
        ("s2.s2s", "refusing to overwrite a session file"),
    ] {
        run(&["--out", out]).code(2).tells(said);
        assert!(!desk.path("s.s2s").exists(), "nothing was asked");
    }
    let out = "--out page.html -o record.madr.md -o votes.csv -o all.json -o read.md";
    run(&out.split(' ').collect::<Vec<_>>()).code(0);
    for (file, words) in [
        ("page.html", "Both seats chose it."),
        ("record.madr.md", "Chosen option: \"a\", because small."),
        ("votes.csv", "\"votes a\""),
        ("votes.csv", "\"cost\",\"try it\""),
        ("read.md", "roundtable verify s.s2s"),
    ] {
        has(&desk.read(file), &[words]);
    }
    let all: Value = serde_json::from_str(&desk.read("all.json")).expect("JSON");
    assert_eq!(all["verdict"]["headline"], "a");
}

/// Columns: date, question, outcome, strength, status, who adopted it, what it replaces.
#[test]
fn the_log_of_decisions_has_a_row_for_each_decision_of_each_session() {
    let desk = Desk::new();
    let (round, long) =
        ("type: round, ballot: {kind: choice, options: [a, b]}, rule: majority", "so ".repeat(90));
    desk.write("two.yaml", format!(
        "supersedes: ADR-0007\nparticipants: [{{name: ann, model: human}}, {{name: bob, model: human}}]\nsteps:\n  \
         - {{id: one, question: \"First | one?\", {round}}}\n  - {{id: ok, type: approval, message: \"Adopt {{{{context.one.tally.winners}}}}?\"}}\n  \
         - {{id: two, question: \"Second? {long}\", {round}}}\n  - {{id: why, question: Why so?}}\n"
    ));
    let votes = "{ann: {vote: a}, bob: {vote: a}}";
    let (split, why) = ("{ann: {vote: a}, bob: {vote: b}}", "{ann: {position: p}, bob: {position: q}}");
    let answers = format!("one: {votes}\nok: {{approved: true, by: Ana}}\ntwo: {split}\nwhy: {why}\n");
    desk.write("answers.yaml", answers);
    let ran = desk.run("--batch two.yaml --answers answers.yaml -o r.madr.md".split(' ')).code(3);
    ran.tells("error: 2 decisions need a record each: one (First | one?); two (");
    desk.run(["report", "--round", "why"]).code(2).tells("known here: one, two");
    assert!(desk.run(["sessions"]).out.contains(" questions decided · Second? so so"));
    let rows = desk.run(["sessions", "--decisions", "--json"]).code(0).lines();
    let [first, second] = &rows[..] else { panic!("{rows:?}") };
    let found: Vec<&str> = first.as_object().expect("a map").keys().map(String::as_str).collect();
    let keys = "date question outcome strength status because adopted_by supersedes session";
    assert_eq!(found.join(" "), keys);
    assert_eq!((&first["question"], &first["outcome"]), (&json!("First | one?"), &json!("Decision: a")));
    assert_eq!(first["adopted_by"], "Ana (by answers file)");
    assert_eq!(first["supersedes"], "ADR-0007");
    assert_eq!((&second["status"], &second["adopted_by"]), (&json!("undecided"), &json!(null)));
    // Rehearsals and damaged files have no decisions; the latter are named.
    desk.run(["ask", "Which?", "a", "b", "--rehearse", "--yes"]).code(0);
    desk.write("../home/state/sessions/20990101-000000-x-0000.s2s", "---\nseq: 0\n");
    let ran = desk.run(["sessions", "--decisions"]).code(0);
    ran.tells("0000.s2s: ").tells("with --save").shows("date · question · ");
    ran.shows(" · First | one? · Decision: a · ");
    assert_eq!(ran.shows(" so… · ").shows(" · undecided · – · ").out.lines().count(), 3, "{}", ran.out);
    let table = desk.run(["sessions", "--decisions", "--markdown"]).code(0).out;
    assert!(table.starts_with("| date | question | ") && table.contains(" | First \\| one? | "), "{table}");
    desk.run(["sessions", "--json"]).code(2);
    let saved = desk.run("ask Which? a b --rehearse --yes --supersedes ADR-1 --save-as q.yaml".split(' '));
    assert!(saved.code == 0 && desk.read("q.yaml").contains("ADR-1"));
}

#[test]
fn decision_records_have_numbers_and_predecessors_and_need_a_decision() {
    let definition = "goal: \"Cache: which first?\"\nquestion: Which?\nparticipants: [qa-lead, skeptic]\n\
                      ballot: {kind: choice, options: [a, b]}\nrule: majority\nsupersedes: ADR-0007\n";
    let desk = Desk::with(definition);
    desk.write("answers.yaml", "decide: {qa-lead: {vote: a}, skeptic: {vote: a}}\n");
    desk.write("split.yaml", "decide: {qa-lead: {vote: a}, skeptic: {vote: b}}\n");
    let run = |answers: &str, file: &str, out: &str| {
        desk.run(["--batch", "decide.yaml", "--answers", answers, "--save", file, "--out", out])
    };
    run("answers.yaml", "s.s2s", "r.md").code(0);
    std::fs::create_dir(desk.path("adr")).expect("a folder");
    let record = ["report", "s.s2s", "--number", "14", "--out"];
    desk.run(record.iter().copied().chain(["adr"])).code(0);
    let text = std::fs::read_to_string(desk.path("adr/0014-cache-which-first.md")).expect("the record");
    assert!(text.starts_with("---\nstatus: \"proposed, supersedes ADR-0007\"\n"), "{text}");
    desk.run(record.iter().copied().chain(["adr"])).code(0);
    desk.write("adr/0014-other.md", "another");
    desk.run(record.iter().copied().chain(["adr"])).code(2).tells("number 14 is already used by `0014-");
    desk.run(record.iter().copied().chain(["r.madr.md"])).code(2).tells("--number needs a folder");
    desk.run(["report", "s.s2s", "--even-undecided"]).code(2).tells("needs a decision record");

    let ran = run("split.yaml", "tied.s2s", "tied.madr.md").code(3);
    ran.tells("no decision record written: No decision: a and b tie");
    let ran = desk.run(["report", "tied.s2s", "--out", "tied.madr.md", "--out", "tied.html"]).code(3);
    ran.tells("no decision record written: No decision: a and b tie");
    assert!(!desk.path("tied.madr.md").exists() && desk.path("tied.html").exists());
    let ran = desk.run(["report", "tied.s2s", "--format", "madr", "--even-undecided"]).code(0);
    assert!(ran.out.starts_with("---\nstatus: \"proposed, supersedes ADR-0007\"\n"), "{}", ran.out);
}

/// An answer of 1 MB is invalid. A long one is cut on pages, and complete for programs. The report of a torn
/// file shows its whole documents, and says that something is missing.
#[test]
fn long_answers_and_torn_files_are_reported() {
    let desk = Desk::with(
        "question: Which?\nparticipants: [qa-lead, skeptic, coder]\nballot: {kind: choice, options: [a, b]}\nrule: majority\n",
    );
    let (long, huge) = ("word & <b>text</b> ".repeat(5_800), "x".repeat(1_000_000));
    let answers = json!({ "decide": {
        "qa-lead": { "vote": "a", "position": long }, "skeptic": { "vote": "a" },
        "coder": { "vote": "b", "position": huge },
    } });
    desk.answered(answers, &["--quiet"]).code(0);
    let formats =
        [("html", 200_000, false), ("md", 400_000, false), ("csv", 400_000, true), ("json", 900_000, true)];
    for (format, at_most, is_whole) in formats {
        let text = desk.run(["report", "s.s2s", "--format", format]).code(0).out;
        assert!(text.len() < at_most, "{format}: {} bytes", text.len());
        let parts = text.matches("word &").count();
        assert!(parts > 500 && (parts >= 5_800) == is_whole, "{format}: {parts}");
        assert!(text.contains("the reply is too long to be kept"), "{format}");
    }

    let whole = desk.read("s.s2s");
    let at = whole.find("\nevent: tally_made").expect("a tally");
    desk.write("torn.s2s", &whole[..at + 20]);
    for format in ["md", "html", "madr"] {
        let even = (format == "madr").then_some("--even-undecided");
        let ran = desk.run(["report", "torn.s2s", "--format", format].into_iter().chain(even)).code(0);
        ran.tells("of an incomplete write at the end");
        ran.shows("of an incomplete write at the end of the file are left out");
        ran.shows("qa-lead");
    }
}

#[test]
fn a_second_estimate_is_compared_by_cards_where_there_are_some() {
    for (form, second, says) in [
        ("cards: [1, 3, 5, 8, 13]", [3, 3, 5], "became narrower"),
        ("cards: [1, 3, 5, 8, 13]", [1, 8, 13], "became wider"),
        ("cards: [1, 3, 5, 8, 13]", [3, 5, 13], "is as wide as before"),
        ("min: 1, max: 20", [3, 5, 13], "became wider"),
        ("min: 1, max: 20", [2, 5, 9], "is as wide as before"),
    ] {
        let step = format!("type: round, question: Size?, rule: median, ballot: {{kind: estimate, {form}}}");
        let answers = |of: [u8; 3]| {
            let [a, b, c] = of;
            format!(
                "{{qa-lead: {{estimate: {a}}}, skeptic: {{estimate: {b}}}, devops-engineer: {{estimate: {c}}}}}"
            )
        };
        let desk = Desk::with(&format!(
            "participants: [qa-lead, skeptic, devops-engineer]\n\
             steps: [{{id: one, {step}}}, {{id: two, {step}, revises: one}}]\n\
             answers: {{one: {}, two: {}}}\n",
            answers([1, 3, 8]),
            answers(second)
        ));
        desk.run(["--batch", "decide.yaml"])
            .code(0)
            .shows(&format!("the middle half {says}"))
            .shows(&format!("says {} (lowest)", second[0]));
    }
}

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
        let adopts = if by.starts_with("nobody") { "nothing" } else { "`pick`" };
        desk.run(["check", "decide.yaml"]).shows(&format!("note: approval `ok` adopts {adopts}"));
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
    let said = "pick-exhausted: {choice: decide, option: memory, comment: \"We know it.\", by: Ana Berg}\n";
    // The definition contains the votes, but not the decision.
    let people = format!("{PEOPLE}\nanswers: {{{}}}", tied.trim());
    let (head, desk) = record(&vote, &people, said);
    assert!(head.starts_with("status: accepted\n") && head.contains("Ana Berg (by answers"), "{head}");
    for format in ["md", "html", "madr"] {
        let out = desk.run(["report", "s.s2s", "--format", format]).code(0).out;
        for says in ["We know it.", "Dissent", "Ana Berg"] {
            assert!(out.contains(says), "{format} lacks {says}: {out}");
        }
        assert!(!out.contains("recommend") && !out.contains("nobody yet"), "{out}");
    }
    assert_eq!(desk.report("s.s2s")["decisions"][0]["dissent"][0]["participant"], "ann");
    desk.run(["report", "s.s2s", "--format", "github"]).shows("::Scripted: 4 of 4 answers were ");
    let mut screen = Screen::open(&desk, (80, 24), &["s.s2s"]);
    screen.wait_for(&["decided by Ana Berg"]);
    screen.kill();
    desk.write("answers.yaml", format!("{tied}{}", said.replace("option: memory", "option: memry")));
    let ran = desk.run(["--batch", "decide.yaml", "--answers", "answers.yaml"]).code(2);
    ran.tells("cannot continue with `decide: memry`").tells("`decide: memory`");
}
