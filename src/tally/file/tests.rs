//! The same ballots in every file format, and the errors of malformed files.

use super::*;
use crate::tally::{CountableKind, Decimal, Rule, RuleOptions, count};

const JSON: &str = r#"{
  // ties are nested lists
  "options": ["a", "b", "c"],
  "ballots": [
    {"count": 3, "ranking": ["a", ["b"], "c"]},
    {"count": 2, "weight": 1, "ranking": [["b", "c"]]},
    {"ranking": [["c"], ["a", "b"]]},
  ],
}"#;
const CSV: &str = "count;ranking\r\n3;a > b > c\r\n2;b = c\r\n\r\n1;\"c > a=b\"\r\n";

fn found(text: &str, file: &str) -> BallotFile {
    read_ballots(text, file).unwrap_or_else(|problems| panic!("{file}: {problems:?}"))
}

#[test]
fn the_same_ballots_read_the_same_from_every_file() {
    let voters = CSV.replace("count", "voter;count").replace("\n3", "\nAna: a;3");
    let voters = voters.replace("\n2", "\nBo;2").replace("\n1", "\nCy;1");
    let read = ["x.json", "x.csv"].into_iter().zip([JSON, CSV]);
    for (file, text) in read.chain([JSON, CSV, &voters].map(|text| ("standard input", text))) {
        let file = found(text, file);
        assert_eq!(file.kind, CountableKind::Ranking);
        assert_eq!(file.profile.options, ["a", "b", "c"]);
        assert_eq!(file.profile.ballot_count(), 6);
        let borda = count(&file.profile, Rule::Borda, &RuleOptions::default());
        let points: Vec<String> = borda.scores.values().map(ToString::to_string).collect();
        assert_eq!(points, ["6.5", "6.5", "5"]);
    }
}

#[test]
fn a_file_may_contain_every_kind_of_answer() {
    let kinds = [
        ("{vote: a}", CountableKind::Choice),
        ("{approve: [a, b]}", CountableKind::Approval),
        ("{scores: {a: 4, b: 2.5}}", CountableKind::Score),
        ("{consent: block, minimum_change: x}", CountableKind::Consent),
        ("{estimate: 5}", CountableKind::Estimate),
        ("{ranking: []}", CountableKind::Ranking),
    ];
    for (ballot, kind) in kinds {
        let options = if kind == CountableKind::Estimate { "" } else { "options: [a, b]\n" };
        let text = format!(
            "{options}ballots:\n  - {ballot}\n  - {{vote: abstain}}\n  - {{abstain: true, count: 2}}\n"
        );
        let file = found(&text, "x.yaml");
        assert_eq!((file.kind, file.profile.ballot_count(), file.abstained), (kind, 1, 3), "{ballot}");
    }
    let csv = found("vote,weight\na,2\nb,0.5\nabstain,1\n", "x.csv");
    assert_eq!((csv.profile.total_weight(), csv.abstained), (Decimal::parse("2.5").expect("a number"), 1));
}

#[test]
fn a_ballot_without_answer_must_abstain() {
    let map = "options: [a]\nballots: [{vote: a, abstain: false}, {vote: abstain, abstain: true}]\n";
    let table = "vote,abstain\na,no\na,\n,TRUE\nabstain,yes\n,abstain\n";
    for (text, file, counts) in [(map, "x.yaml", (1, 1)), (table, "x.csv", (2, 3))] {
        let read = found(text, file);
        assert_eq!((read.profile.ballot_count(), read.abstained), counts, "{file}");
    }
    let both = read_ballots("vote,abstain\na,yes\n", "x.csv").expect_err("two answers");
    assert!(both[0].message.contains("more than one answer"), "{both:?}");
    for (text, file) in [("vote,abstain\na,maybe\n", "x.csv"), ("ballots: [{vote: a, abstain: 2}]", "x.yaml")]
    {
        let refused = read_ballots(text, file).expect_err("neither yes nor no");
        assert!(refused[0].message.contains("neither yes nor no"), "{refused:?}");
    }
}

#[test]
fn too_many_options_are_refused_with_their_line() {
    let names: Vec<String> = (0..200_000).map(|at| format!("o{at}")).collect();
    let list = format!("options: [{}]\nballots: [{{vote: o1}}]\n", names[..=MOST_OPTIONS].join(", "));
    let table = format!("vote\n{}\n", names.join("\n"));
    for (text, file, line) in [(list, "x.yaml", 1), (table, "x.csv", 1_002)] {
        let problems = read_ballots(&text, file).expect_err(file);
        assert!(problems[0].message.contains("more than 1000 options"), "{problems:?}");
        assert_eq!(problems[0].place.as_ref().map(|place| place.line), Some(line), "{file}");
        assert!(problems.len() <= MOST_PROBLEMS, "{file}");
    }
}

#[test]
fn mistakes_are_reported_with_their_line() {
    let cases = [
        ("x.yaml", "options: [a, b]\nballots:\n  - {vote: c}\n", 3, "`c` is not among the options"),
        ("x.yaml", "options: [a, a]\nballots:\n  - {vote: a}\n", 1, "given twice"),
        ("x.yaml", "ballots:\n  - {vote: a}\n", 2, "does not list its `options`"),
        ("x.yaml", "options: [a]\nballots: []\n", 0, "contains no ballots"),
        ("x.yaml", "options: [a, b]\nballots:\n  - {ranking: [a, a]}\n", 3, "appears twice"),
        ("x.yaml", "options: [a, b]\nballots:\n  - {vote: a, weight: 0.0000001}\n", 3, "six decimal places"),
        ("x.yaml", "options: [a, b]\nballots:\n  - {vote: a, count: -1}\n", 3, "whole number"),
        ("x.yaml", "options: [a, b]\nmax: 5\nballots: []\n", 2, "`max` is not known here"),
        ("x.yaml", "options: [a, b]\nballots:\n  - {approve: a}\n", 3, "no `approval` ballot"),
        (
            "x.yaml",
            "options: [a, b]\nballots:\n  - {vote: a, count: 1000000000000}\n  - {vote: a}\n",
            0,
            "million million",
        ),
        ("x.soi", "2\n1,a\n", 0, "does not end in `.soi`"),
        ("x.csv", "vote,wieght\na,1\n", 1, "`wieght` is not known here"),
        ("x.csv", ",Redis,Files\nAna,1,2\n", 1, "no column contains an answer"),
        ("x.csv", "ranking\na > b\na;b\n", 3, "`a;b` is no place of a ranking"),
        ("x.csv", "vote\nRed\n\u{a0}red\n", 3, "differ by case or blanks alone"),
        ("x.csv", "count,vote\n1,a,b\n", 2, "3 cells where the header has 2"),
        ("x.csv", "vote\n\"a\nb\n", 2, "never closed"),
        ("x.csv", "count,vote\nx,a\n", 2, "must be a whole number"),
        ("x.csv", "count,vote,approve\n1,a,b\n", 2, "more than one answer"),
        ("x.csv", "count,vote\n1,\n", 2, "has no answer"),
        ("x.csv", "scores\na=4; b\n", 2, "no number"),
        ("x.csv", "scores\na=4; a=5\n", 2, "appears twice"),
    ];
    for (file, text, line, message) in cases {
        let problems = read_ballots(text, file).expect_err(text);
        let problem = &problems[0];
        assert!(problem.message.contains(message), "{text:?}: {problem:?}");
        assert_eq!(problem.place.as_ref().map(|place| place.line), Some(line), "{text:?}: {problem:?}");
        assert!(problem.hint.is_some(), "{problem:?}");
    }
}

#[test]
fn an_alias_cannot_make_a_file_unfold() {
    let mut bomb = String::from("options: [a]\nballots:\n  - {vote: a}\nx0: &a0 [x,x,x,x,x,x,x,x,x]\n");
    for i in 1..10 {
        let previous = format!("*a{},", i - 1).repeat(9);
        bomb.push_str(&format!("x{i}: &a{i} [{previous}]\n"));
    }
    assert!(read_ballots(&bomb, "x.yaml").is_err());
}

#[test]
fn poker_cards_without_a_number_abstain() {
    let table = "estimate\n5\n5\n8\n?\n☕\n";
    let map = r#"{"ballots": [{"count": 2, "estimate": 5}, {"estimate": 8}, {"estimate": "?"}, {"estimate": "☕"}]}"#;
    for (text, file) in [(table, "b.csv"), (map, "b.json")] {
        let read = read_ballots(text, file).expect(file);
        assert_eq!((read.abstained, read.profile.total_weight()), (2, Decimal::whole(3)), "{file}");
    }
}
