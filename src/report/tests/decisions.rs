//! Tests of sessions with several questions: each decision uses only its own rounds.

use serde_json::json;

use super::Table;
use crate::ballot::Ballot;
use crate::core::{Command, ExitCode, session_exit};
use crate::history::ApprovalGiven;
use crate::report::{Document, Look, Source, csv, glance, html, madr, markdown, result};

const SEATS: [&str; 3] = ["software-architect", "qa-lead", "skeptic"];

/// Step, question, and each seat's choice with its reason.
type Held<'a> = (&'a str, &'a str, [(&'a str, &'a str); 3]);

/// Runs a session of rounds with the same ballot form.
fn meeting(form: &str, rounds: &[Held<'_>]) -> Table {
    let step = |(id, question, _): &Held<'_>| {
        format!("  - {{id: {id}, type: round, question: \"{question}\", {form}}}\n")
    };
    let steps: String = rounds.iter().map(step).collect();
    let mut table = Table::open(
        &format!("goal: Settle it\nparticipants: [{}]\nsteps:\n{steps}", SEATS.join(", ")),
        "lab/m",
    );
    for (id, _, votes) in rounds {
        table.command(Command::StartStep);
        table.command(Command::OpenRound { project_summary: None, seal: None });
        for seat in SEATS {
            table.seal(seat);
        }
        let answers = SEATS.iter().zip(votes).map(|(seat, (option, why))| {
            let mut answer = table.vote(seat, option, json!({ "rationale": [why] }));
            answer.record.model = format!("lab/{seat}");
            answer
        });
        let answers = answers.collect();
        table.close(answers);
        table.command(Command::FinishStep { step: (*id).to_owned() });
    }
    table.command(Command::Close);
    table
}

const YES_NO: &str = "ballot: {kind: choice, options: [\"yes\", \"no\"]}, rule: majority";

fn two() -> Table {
    let docs = [("yes", "mdBook is quick"), ("yes", "it is known"), ("no", "links break")];
    let python = [("yes", "3.9 is old"), ("yes", "nobody uses it"), ("yes", "tests are slow")];
    meeting(YES_NO, &[("docs", "Move the docs?", docs), ("python", "Drop Python 3.9?", python)])
}

#[test]
fn two_questions_with_the_same_options_are_two_decisions() {
    let table = two();
    let document = table.document();
    let [docs, python] = document.decisions.as_slice() else { panic!("two decisions") };
    let [first, second] = [&docs.verdict.made, &python.verdict.made];
    assert_eq!((first.label.as_str(), second.label.as_str()), ("Decision: yes", "Decision: yes"));
    assert_eq!(first.sentence, "2 of 3 seats chose it (a majority needed). 1 chose no.");
    assert_eq!(second.sentence, "All 3 seats chose it.");
    assert!(python.moved.is_empty(), "nobody moved between two questions");

    let text = markdown(&document);
    let (head, sections) = text.split_once("## 1. Move the docs?").unwrap();
    let (first, second) = sections.split_once("## 2. Drop Python 3.9?").unwrap();
    let second = second.split("## Cost and check").next().unwrap();
    assert!(head.contains("> **2 decisions**") && head.contains("dissent: skeptic"));
    assert!(first.contains("links break") && !first.contains("3.9 is old"));
    assert!(second.contains("3.9 is old") && !second.contains("links break") && !second.contains("Movement"));

    let alone = |round| Document::for_round(&table.session, Source::default(), round);
    let [adr, other] = ["docs", "python"].map(|round| madr(&alone(round).unwrap()));
    assert!(adr.contains("# Move the docs? yes") && adr.contains("**skeptic** votes no"));
    assert!(other.contains("# Drop Python 3.9? yes") && !other.contains("skeptic** votes"));
    assert!(!other.contains("mdBook") && !other.contains("Moved in round"));

    let page = html(&document);
    assert_eq!(page.matches("<section class=\"one\">").count(), 2);
    let value = table.json();
    assert_eq!(value["verdict"]["headline"], "2 decisions");
    assert_eq!(value["decisions"][0]["dissent"][0]["participant"], "skeptic");
    assert_eq!(value["decisions"][1]["dissent"], json!([]));

    let look = Look { columns: 80, has_color: false, is_ascii: false, path: "x.s2s", name: "x" };
    let shown = glance(&document, &look);
    assert!(
        shown.lines().count() <= 24 && shown.contains("Move the docs?\n  yes\n  weak: 2 of 3"),
        "{shown}"
    );
}

#[test]
fn one_decision_can_be_reported_alone() {
    let table = two();
    let alone = |round| Document::for_round(&table.session, Source::default(), round);
    assert!(alone("none").is_none());
    let page = html(&table.document());
    let labels: Vec<&str> =
        page.split("aria-label=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let apart: std::collections::HashSet<&&str> = labels.iter().collect();
    assert_eq!(apart.len(), labels.len(), "regions have names of their own: {labels:?}");
    let alone = alone("docs").unwrap();
    assert_eq!((alone.task.title, alone.verdict.made.label.as_str()), ("Move the docs?", "Decision: yes"));
    assert!(markdown(&alone).starts_with("# Move the docs?\n\n> **Decision: yes**"));
    assert!(!markdown(&alone).contains("Drop Python 3.9") && !csv(&alone).contains("\"python\""));
}

/// Rounds without a rule belong to the record of their discussion's decision.
#[test]
fn a_decision_alone_has_the_open_rounds_of_its_discussion() {
    let mut table = Table::open(
        "goal: Settle it\nparticipants: [qa-lead]\nsteps:\n  - {id: talk-argue, type: round, question: Why?}\n  \
         - {id: talk-vote, type: round, question: Which?, output: talk, ballot: {kind: choice, options: [a, b]}, rule: plurality}\n  \
         - {id: other, type: round, question: What else?, ballot: {kind: choice, options: [a, b]}, rule: plurality}\n",
        "lab/m",
    );
    for id in ["talk-argue", "talk-vote", "other"] {
        table.command(Command::StartStep);
        table.command(Command::OpenRound { project_summary: None, seal: None });
        table.seal("qa-lead");
        let answer = match id {
            "talk-argue" => table.answer("qa-lead", Ballot::Position, json!({"position": "It is small."})),
            _ => table.vote("qa-lead", "a", json!({})),
        };
        table.close(vec![answer]);
        table.command(Command::FinishStep { step: id.to_owned() });
    }
    table.command(Command::Close);
    assert_eq!(table.document().decisions[0].rounds, ["talk-argue", "talk-vote"]);
    for round in ["talk-vote", "talk-argue"] {
        let alone = Document::for_round(&table.session, Source::default(), round).unwrap();
        assert!(markdown(&alone).contains("It is small.") && !markdown(&alone).contains("What else?"));
        assert!(
            madr(&alone).contains("* Said beforehand (Why?): It is small. (qa-lead)"),
            "{}",
            madr(&alone)
        );
    }
}

#[test]
fn the_result_line_and_the_exit_code_are_those_of_all_decisions() {
    let table = two();
    let line = result(&table.document(), 0, "x.s2s");
    assert_eq!(
        (&line["decided"], &line["winner"], &line["tier"]),
        (&json!(true), &json!(null), &json!(null))
    );
    assert_eq!((&line["headline"], &line["decisions"][0]["winner"]), (&json!(null), &json!("yes")));
    assert_eq!(line["decisions"][0]["dissent"], json!(["skeptic"]));
    assert_eq!(session_exit(&table.session), ExitCode::Finished);

    let tie = [("yes", "a"), ("no", "b"), ("yes", "c")]
        .map(|(vote, why)| (if why == "c" { "maybe" } else { vote }, why));
    let form = YES_NO.replace("\"no\"]", "\"no\", maybe]");
    let agreed = [("yes", "a"), ("yes", "b"), ("yes", "c")];
    let table = meeting(&form, &[("one", "First?", tie), ("two", "Second?", agreed)]);
    assert_eq!(session_exit(&table.session), ExitCode::Undecided, "the first is not decided");
    let line = result(&table.document(), 3, "x.s2s");
    assert_eq!((&line["decided"], &line["decisions"][1]["decided"]), (&json!(false), &json!(true)));
    assert!(csv(&table.document()).contains("\"two\""));
}

#[test]
fn thirty_decisions_have_a_line_a_section_and_a_record_each() {
    let texts: Vec<[String; 3]> =
        (1..=30).map(|at| [format!("q{at}"), format!("Question <{at}>?"), format!("reason {at}.")]).collect();
    let held: Vec<Held<'_>> = texts
        .iter()
        .map(|[id, question, why]| (&**id, &**question, [("yes", &**why), ("yes", &**why), ("no", &**why)]))
        .collect();
    let table = meeting(YES_NO, &held);
    let (document, look) =
        (table.document(), Look { columns: 80, has_color: false, is_ascii: false, path: "x.s2s", name: "x" });
    let (text, page, shown) = (markdown(&document), html(&document), glance(&document, &look));
    assert_eq!((document.decisions.len(), document.verdict.made.label.as_str()), (30, "30 decisions"));
    assert_eq!(page.matches("<section class=\"one\">").count(), 30);
    assert!(shown.lines().count() <= 24 && shown.contains("decisions: --full"), "{shown}");
    for (at, [id, question, why]) in texts.iter().enumerate() {
        let section = text.split("\n## ").nth(at + 1).unwrap();
        assert!(section.contains(why.trim_end_matches('.')) && section.starts_with(&format!("{}. ", at + 1)));
        assert_eq!(section.matches("reason ").count(), section.matches(why).count(), "{section}");
        let alone = Document::for_round(&table.session, Source::default(), id).unwrap();
        assert!(alone.task.title == question && madr(&alone).contains("**skeptic** votes no (round "));
    }
}

#[test]
fn an_approval_adopts_the_decisions_since_the_one_before() {
    let rounds =
        ["a", "b"].map(|id| format!("  - {{id: {id}, type: round, question: \"{id}?\", {YES_NO}}}\n"));
    let [before, between, after] = ["before", "between", "after"]
        .map(|id| format!("  - {{id: {id}, type: approval, message: \"Approve {id}?\"}}\n"));
    let [a, b] = rounds;
    let other = "  - {id: other, type: approval, message: Another?, adopts: [b]}\n";
    let steps = format!("{before}{a}{other}{between}{b}{after}");
    let mut table =
        Table::open(&format!("goal: g\nparticipants: [{}]\nsteps:\n{steps}", SEATS.join(", ")), "lab/m");
    for step in ["before", "a", "other", "between", "b", "after"] {
        table.command(Command::StartStep);
        if step.len() > 1 {
            table.command(Command::AskPerson { step: step.to_owned() });
            let approval = |at: usize| table.json()["decisions"][at]["verdict"]["approval"]["value"].clone();
            match step {
                "other" => assert_eq!(approval(0), "Not asked for"),
                "after" => assert_eq!([approval(0), approval(1)], ["Approved", "Waiting"]),
                _ => {}
            }
            let (step, approved) = (step.to_owned(), step != "after");
            let given = ApprovalGiven::by_person(approved, String::new());
            table.command(Command::Answer(ApprovalGiven { step, ..given }));
        } else {
            table.command(Command::OpenRound { project_summary: None, seal: None });
            for seat in SEATS {
                table.seal(seat);
            }
            let answers = SEATS.map(|seat| table.vote(seat, "yes", json!({})));
            table.close(answers.to_vec());
        }
        table.command(Command::FinishStep { step: step.to_owned() });
    }
    let decisions = &table.json()["decisions"];
    let outcome = |at: usize| (&decisions[at]["approval"]["message"], &decisions[at]["status"]);
    assert_eq!(outcome(0), (&json!("Approve between?"), &json!("accepted")));
    assert_eq!(outcome(1), (&json!("Approve after?"), &json!("rejected")));
}
