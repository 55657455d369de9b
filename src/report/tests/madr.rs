//! Property test: every sentence of a decision record is true.
//!
//! Random sessions ask one to five questions with the same form, each up to five times. No format may
//! attribute anything to another question.

use proptest::prelude::*;
use serde_json::json;

use super::Table;
use crate::ballot::Ballot;
use crate::core::Command;
use crate::report::{Document, Source, madr};

const SEATS: [&str; 4] = ["ann", "ben", "cem", "dora"];
const OPTIONS: [&str; 3] = ["red", "green", "blue"];
const REASONS: [&str; 5] = ["it is cheap", "it is quick", "it is known", "it can be undone", "it scales"];
const CONCERNS: [&str; 3] = ["it is dear", "it is slow", "nobody knows it"];

/// Turn of a seat: an option, 3 to abstain, 4 to fail, 5 for an invalid answer; indices of reasons and
/// concerns.
type Turn = (usize, Vec<usize>, Vec<usize>);

fn turns() -> impl Strategy<Value = Vec<Vec<Vec<Turn>>>> {
    let turn = (
        0..6_usize,
        prop::collection::vec(0..REASONS.len(), 0..3),
        prop::collection::vec(0..CONCERNS.len(), 0..2),
    );
    let rounds = prop::collection::vec(prop::collection::vec(turn, SEATS.len()), 1..6);
    prop::collection::vec(rounds, 1..6)
}

/// Asks each question once per round, by repeating its step.
fn held(questions: &[Vec<Vec<Turn>>]) -> Table {
    let step = |(at, rounds): (usize, &Vec<Vec<Turn>>)| {
        let (number, last) =
            (at + 1, if at + 1 < questions.len() { format!(", else: q{}", at + 2) } else { String::new() });
        format!(
            "  - {{id: q{number}, type: round, question: Which colour for {number}?, ballot: {{kind: choice, options: [red, \
             green, blue]}}, rule: plurality, quorum: 1, next: again{number}}}\n  - {{id: again{number}, type: condition, \
             condition: \"runs.q{number} < {}\", then: q{number}{last}}}\n",
            rounds.len()
        )
    };
    let steps: String = questions.iter().enumerate().map(step).collect();
    let seats: Vec<String> =
        SEATS.iter().map(|name| format!("{{name: {name}, prompt: You paint.}}")).collect();
    let definition = format!("goal: Paint the shed\nparticipants: [{}]\nsteps:\n{steps}", seats.join(", "));
    let mut table = Table::open(&definition, "lab/m");
    for (at, rounds) in questions.iter().enumerate() {
        for round in rounds {
            ask(&mut table, at + 1, round);
            table.command(Command::FinishStep { step: format!("q{}", at + 1) });
            table.command(Command::StartStep);
            table.command(Command::FinishStep { step: format!("again{}", at + 1) });
        }
    }
    table.command(Command::Close);
    table
}

/// Runs one round; every text ends with the number of its question.
fn ask(table: &mut Table, number: usize, round: &[Turn]) {
    table.command(Command::StartStep);
    table.command(Command::OpenRound { project_summary: None, seal: None });
    let mut answers = Vec::new();
    for (seat, (what, reasons, concerns)) in SEATS.iter().zip(round) {
        if *what == 4 {
            table.fail(seat, "out of paint");
            continue;
        }
        table.seal(seat);
        let words = |all: &[&str], places: &[usize]| {
            places.iter().map(|at| format!("{} for {number}", all[*at])).collect::<Vec<_>>()
        };
        let content =
            json!({ "rationale": words(&REASONS, reasons), "concerns": words(&CONCERNS, concerns) });
        let mut answer = match what {
            3 => table.answer(seat, Ballot::Abstain, content),
            5 => table.invalid(seat, "no idea"),
            option => table.vote(seat, OPTIONS[*option], content),
        };
        answer.record.model = format!("lab/{seat}");
        answers.push(answer);
    }
    table.close(answers);
}

/// Returns the seats that voted for an option in a round.
fn votes(round: &[Turn], option: usize) -> Vec<&'static str> {
    SEATS.iter().zip(round).filter(|(_, turn)| turn.0 == option).map(|(seat, _)| *seat).collect()
}

/// Returns the rounds, counted from 1, in which a seat gave a text with its vote for an option.
fn gave(rounds: &[Vec<Turn>], seat: &str, option: usize, text: &str, is_reason: bool) -> Vec<usize> {
    let at = SEATS.iter().position(|name| *name == seat).expect("a seat");
    let said = |turn: &Turn| {
        let (all, places): (&[&str], _) = if is_reason { (&REASONS, &turn.1) } else { (&CONCERNS, &turn.2) };
        turn.0 == option && places.iter().any(|place| all[*place] == text)
    };
    (1..=rounds.len()).filter(|round| said(&rounds[round - 1][at])).collect()
}

/// Splits "it is cheap (ann, ben in round 1)" into text, seats, rounds if named, and whether they left it.
fn parts(line: &str, before: usize) -> (&str, Vec<&str>, Option<Vec<usize>>, bool) {
    let (text, who) =
        line.rsplit_once(" (").map(|(text, who)| (text, who.trim_end_matches(')'))).expect("who");
    if let Some((text, who)) = line.strip_suffix(" (left it))").and_then(|line| line.rsplit_once(" (")) {
        return (text, who.split(", ").collect(), None, true);
    }
    let (names, rounds) = match who.split_once(" in round") {
        Some((names, rounds)) => {
            let rounds = rounds.trim_start_matches('s').trim();
            (
                names,
                Some(
                    rounds
                        .split(", ")
                        .map(|round| round.parse::<usize>().expect("a round") - before)
                        .collect(),
                ),
            )
        }
        None => (who, None),
    };
    (
        text,
        names
            .split(", ")
            .flat_map(|name| name.split(" and 2 more"))
            .filter(|name| !name.is_empty())
            .collect(),
        rounds,
        false,
    )
}

/// Checks one line under an option.
fn check(
    line: &str,
    option: usize,
    rounds: &[Vec<Turn>],
    before: usize,
    number: usize,
) -> Result<(), TestCaseError> {
    let last = rounds.len();
    if line == "* Nobody voted for it." {
        prop_assert!(rounds.iter().all(|round| votes(round, option).is_empty()), "{line}");
        return Ok(());
    }
    if let Some(said) = line.strip_prefix("* No votes in the last round; before it ") {
        prop_assert!(votes(&rounds[last - 1], option).is_empty(), "{line}");
        let counted: Vec<String> = (1..last)
            .filter(|round| !votes(&rounds[round - 1], option).is_empty())
            .map(|round| format!("{} in round {}", votes(&rounds[round - 1], option).len(), round + before))
            .collect();
        prop_assert_eq!(said.trim_end_matches('.'), counted.join(", "));
        return Ok(());
    }
    let (is_reason, rest) = match line.split_once(", because ") {
        Some(("* Good", rest)) => (true, rest),
        Some(("* Bad", rest)) => (false, rest),
        _ => return Err(TestCaseError::fail(format!("a sentence of no known form: {line}"))),
    };
    let (text, seats, named, left) = parts(rest, before);
    let text = text.strip_suffix(&format!(" for {number}")).expect("the text of its own question");
    for seat in seats {
        if left {
            let at = SEATS.iter().position(|name| *name == seat).expect("a seat");
            let chose: Vec<usize> = rounds.iter().map(|round| round[at].0).filter(|what| *what < 3).collect();
            prop_assert!(chose.windows(2).any(|pair| pair[0] == option && pair[1] != option), "{line}");
            continue;
        }
        let in_rounds = gave(rounds, seat, option, text, is_reason);
        prop_assert!(!in_rounds.is_empty(), "{seat} never said so: {line}");
        match &named {
            Some(named) => {
                prop_assert!(in_rounds.iter().all(|round| named.contains(round)), "{line}: {in_rounds:?}");
            }
            None => prop_assert!(
                in_rounds.contains(&last) || seats_said_last(rounds, option, text, is_reason),
                "{line}"
            ),
        }
    }
    Ok(())
}

/// Returns whether any seat gave a text in the last round.
fn seats_said_last(rounds: &[Vec<Turn>], option: usize, text: &str, is_reason: bool) -> bool {
    SEATS.iter().any(|seat| gave(rounds, seat, option, text, is_reason).contains(&rounds.len()))
}

/// Checks a line about a changed vote.
fn check_move(rest: &str, rounds: &[Vec<Turn>], before: usize) -> Result<(), TestCaseError> {
    let (number, rest) = rest.split_once(": ").expect("a number");
    let (seat, way) = rest.trim_end_matches('.').split_once(", ").expect("a seat");
    let (from, to) = way.split_once(" → ").expect("a way");
    let number: usize = number.parse::<usize>().expect("a number") - before;
    let at = SEATS.iter().position(|name| *name == seat).expect("a seat");
    let stood = |round: &[Turn]| match round[at].0 {
        3 => "abstains".to_owned(),
        4 | 5 => "no ballot".to_owned(),
        option => OPTIONS[option].to_owned(),
    };
    prop_assert_eq!(
        (stood(&rounds[number - 2]), stood(&rounds[number - 1])),
        (from.to_owned(), to.to_owned())
    );
    Ok(())
}

/// Checks the record of one question that begins after `before` rounds.
fn check_record(
    record: &str,
    rounds: &[Vec<Turn>],
    before: usize,
    number: usize,
) -> Result<(), TestCaseError> {
    let last = rounds.last().expect("a round");
    let counts: Vec<usize> = (0..3).map(|option| votes(last, option).len()).collect();
    let most = counts.iter().copied().max().unwrap_or(0);
    let leads: Vec<usize> = (0..3).filter(|option| most > 0 && counts[*option] == most).collect();
    let mut option = None;
    for line in record.lines() {
        if let Some(name) = line.strip_prefix("### ") {
            option = OPTIONS.iter().position(|known| *known == name);
            if name == "Consequences" {
                option = leads.first().copied();
            }
            continue;
        }
        if line.starts_with("## ") {
            option = None;
        }
        if let (Some(option), true) = (option, line.starts_with("* ")) {
            check(line, option, rounds, before, number)?;
        } else if let Some(chosen) = line.strip_prefix("Chosen option: \"") {
            let name = chosen.split('"').next().unwrap_or_default();
            prop_assert_eq!(
                leads.as_slice(),
                &[OPTIONS.iter().position(|known| *known == name).expect("an option")]
            );
        } else if let Some((votes_said, _)) = line.split_once(" of 4 seats chose it") {
            prop_assert_eq!(votes_said, most.to_string());
        } else if let Some(rest) = line.strip_prefix("* Round ") {
            let (number, said) = rest.split_once(": ").expect("a number");
            let round = &rounds[number.parse::<usize>().expect("a number") - 1 - before];
            for (at, name) in OPTIONS.iter().enumerate() {
                let count = votes(round, at).len();
                prop_assert!(said.contains(&format!("{name} {count}")), "{line}");
            }
        } else if let Some(rest) = line.strip_prefix("* Moved in round ") {
            check_move(rest, rounds, before)?;
        } else if let Some((seat, rest)) =
            line.strip_prefix("**").and_then(|line| line.split_once("** votes "))
        {
            let name = rest.split(' ').next().unwrap_or_default();
            let voted = OPTIONS.iter().position(|known| *known == name).expect("an option");
            prop_assert!(
                votes(last, voted).contains(&seat) && leads.len() == 1 && !leads.contains(&voted),
                "{line}"
            );
        }
    }
    if leads.len() == 1 {
        prop_assert!(record.contains("Chosen option: \""));
        let dissent = (0..3)
            .filter(|option| !leads.contains(option))
            .map(|option| votes(last, option).len())
            .sum::<usize>();
        prop_assert_eq!(record.matches("** votes ").count(), dissent, "{}", record);
    } else {
        prop_assert!(!record.contains("Chosen option"));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases::cases(10, 100)))]

    #[test]
    fn every_sentence_of_a_record_is_true(questions in turns()) {
        let table = held(&questions);
        let (document, json) = (table.document(), table.json());
        prop_assert_eq!(document.pages().count(), questions.len());
        let (text, page_text) = (crate::report::markdown(&document), crate::report::html(&document));
        let sections: Vec<&str> = text.split("## The record").next().unwrap_or_default().split("\n## ").collect();
        let first_page = page_text.split("The whole record").next().unwrap_or_default();
        let of_html: Vec<&str> = first_page.split("<section class=\"one\">").collect();
        let mut before = 0;
        for (at, (page, rounds)) in document.pages().zip(&questions).enumerate() {
            let of = page.round.unwrap();
            let record = madr(&Document::for_round(&table.session, Source::default(), of).unwrap());
            check_record(&record, rounds, before, at + 1)?;
            before += rounds.len();
            // The other formats show the same parts.
            let title = format!("Which colour for {}?", at + 1);
            prop_assert!(record.contains(&title) && text.contains(&title));
            let said = &json["decisions"][at];
            for other in (1..=questions.len()).filter(|other| *other != at + 1) {
                let parts = [&record, &said.to_string(), sections[at + 1], of_html[at + 1]];
                for part in parts {
                    prop_assert!(!part.contains(&format!(" for {other}")), "{other} in {part}");
                }
            }
            prop_assert_eq!(&said["question"], &title);
            prop_assert_eq!(said["rounds"].as_array().map(Vec::len), Some(rounds.len()));
            prop_assert_eq!(&said["verdict"]["headline"], &page.verdict.made.name);
        }
        let all_decided = document.verdict.decided;
        let exit = crate::core::session_exit(&table.session);
        prop_assert_eq!(exit == crate::core::ExitCode::Finished, all_decided);
    }
}
