//! Table of headlines: the words of every outcome, equal in all formats.

use indexmap::IndexMap;
use serde_json::{Number, Value, json};

use super::Table;
use crate::ballot::{Ballot, Stance};
use crate::core::Command;
use crate::history::AnswerRevealed;
use crate::insight::session_headline;

/// Opens a round with seats named from `a` to `f`.
fn open(ask: &str, seats: usize) -> Table {
    let names: Vec<String> = (0..seats)
        .map(|at| format!("{{name: {}, prompt: You judge.}}", char::from(b'a' + at as u8)))
        .collect();
    let definition = format!("question: Which one?\nparticipants: [{}]\n{ask}", names.join(", "));
    let mut table = Table::open(&definition, "lab/m");
    table.command(Command::StartStep);
    table.command(Command::OpenRound { project_summary: None, seal: None });
    table
}

/// Answers for each seat: a ballot, `-` abstains, `!why` fails, `?` is invalid, `b:why` blocks, empty is
/// missing.
fn cast(table: &mut Table, said: &[&str]) {
    let seats: Vec<String> = table.session.rounds.last().unwrap().seats.keys().cloned().collect();
    let mut answers: Vec<AnswerRevealed> = Vec::new();
    for (at, (seat, word)) in seats.iter().zip(said).enumerate() {
        if let Some(why) = word.strip_prefix('!') {
            table.fail(seat, why);
            continue;
        }
        if word.is_empty() {
            continue;
        }
        table.seal(seat);
        let mut answer = match *word {
            "?" => table.invalid(seat, "no idea"),
            word => table.answer(
                seat,
                ballot(word),
                json!({ "position": format!("reason {at} of {seat}, in words of its own") }),
            ),
        };
        // Different models, so that a single model does not limit the strength.
        answer.record.model = format!("lab/m{at}");
        answers.push(answer);
    }
    table.close(answers);
    table.finish();
}

fn ballot(word: &str) -> Ballot {
    let stance =
        |stance, change: &str| Ballot::Consent(stance, (!change.is_empty()).then(|| change.to_owned()));
    match word.split_once(':') {
        None if word == "-" => Ballot::Abstain,
        None if word == "support" => stance(Stance::Support, ""),
        None if word == "aside" => stance(Stance::StandAside, ""),
        None if word == "position" => Ballot::Position,
        None if word.parse::<u32>().is_ok() => Ballot::Estimate(word.into()),
        None if word.contains('>') => Ballot::Ranking(
            word.split('>').map(|place| place.split('=').map(str::to_owned).collect()).collect(),
        ),
        None if word.contains('+') => {
            Ballot::Approval(word.trim_end_matches('+').split('+').map(str::to_owned).collect())
        }
        None => Ballot::Choice(word.to_owned()),
        Some(("b", change)) => stance(Stance::Block, change),
        Some(_) => {
            let scores = word.split(',').filter_map(|one| one.split_once(':'));
            let scores = scores
                .map(|(option, score)| (option.to_owned(), Number::from(score.parse::<u64>().unwrap())));
            Ballot::Scores(scores.collect::<IndexMap<_, _>>())
        }
    }
}

const CHOICE: &str = "ballot: {kind: choice, options: [x, y, z]}\n";
const SCORE: &str = "ballot: {kind: score, options: [x, y], min: 0, max: 10}\n";
const RANKING: &str = "ballot: {kind: ranking, options: [x, y, z]}\n";
const CARDS: &str = "ballot: {kind: estimate, cards: [\"1\", \"2\", \"3\", \"5\", \"8\", \"13\"]}\n";

/// Ballot, rule, answers, and the resulting line.
const TABLE: [(&str, &str, &[&str], &str); 33] = [
    (CHOICE, "rule: majority", &["x", "x", "x", "x", "x", "x"], "Decision: x. All 6 seats chose it."),
    (CHOICE, "rule: majority", &["x", "x"], "Decision: x. Both seats chose it."),
    (CHOICE, "rule: majority", &["x"], "Decision: x. The only seat chose it."),
    (
        CHOICE,
        "rule: {name: supermajority, threshold: 2/3}",
        &["x", "y", "x", "x", "x", "-"],
        "Decision: x. 4 of 6 seats chose it (4 of the 5 who did not abstain; two thirds needed). 1 chose y, 1 abstained.",
    ),
    (
        CHOICE,
        "rule: plurality",
        &["x", "y", "x", "z"],
        "Decision: x. 2 of 4 seats chose it. 1 chose y, 1 chose z.",
    ),
    (
        CHOICE,
        "rule: plurality\nquorum: 1",
        &["x", "!refused", "!refused", ""],
        "Decision: x. 1 of 4 seats chose it (the only ballot). 2 failed, 1 missing.",
    ),
    (
        CHOICE,
        "rule: {name: supermajority, threshold: 2/3}",
        &["x", "x", "x", "y", "z", "z"],
        "No decision: no option reached two thirds. x leads with 3 of 6 ballots.",
    ),
    (
        CHOICE,
        "rule: majority",
        &["x", "x", "y", "y", "z"],
        "No decision: no option reached a majority. x and y lead with 2 of 5 ballots each.",
    ),
    (
        CHOICE,
        "rule: majority",
        &["x", "x", "y", "z", "z", "z"],
        "No decision: no option reached a majority. z leads with 3 of 6 ballots.",
    ),
    (
        CHOICE,
        "rule: unanimous",
        &["x", "x", "y"],
        "No decision: the ballots are not unanimous. x leads with 2 of 3 ballots.",
    ),
    (
        CHOICE,
        "rule: plurality",
        &["x", "x", "y", "y"],
        "No decision: x and y tie. Both have 2 of 4 ballots; the rule breaks no ties.",
    ),
    (
        CHOICE,
        "rule: plurality\nties: {seeded: 4}",
        &["x", "x", "y", "y"],
        "Decision: x (drawn by lot). 2 of 4 seats chose it. 2 chose y.",
    ),
    (
        CHOICE,
        "rule: majority\nquorum: 3",
        &["x", "x", "!HTTP 401 invalid_api_key", "!HTTP 401 invalid_api_key", "?"],
        "No decision: too few took part. 2 of 5 took part, 3 are needed. 1 invalid, 2 failed. \
         The 2 ballots cast: x 2.",
    ),
    (
        CHOICE,
        "rule: majority",
        &["-", "-", "-"],
        "No decision: all 3 abstained. Every seat answered, and none named an option.",
    ),
    (
        CHOICE,
        "rule: majority",
        &["!connection refused", "!connection refused"],
        "No decision: no seat could be reached. None of 2 seats answered. 2 failed.",
    ),
    (
        CHOICE,
        "rule: majority\nact_at: strong",
        &["x", "x", "x", "x", "y", "z"],
        "No decision: the result is weak. x leads: 4 of 6 seats asked chose it; strong was asked for.",
    ),
    (CHOICE, "", &["x", "x", "y"], "No rule: counted only. x leads with 2 of 3 ballots."),
    (
        "ballot: consent\n",
        "rule: consent",
        &["support", "support", "aside", "aside", "-"],
        "Adopted: nobody blocks. 2 of 5 seats support it, 2 stand aside, 1 abstained.",
    ),
    (
        "ballot: consent\n",
        "rule: consent",
        &["support", "support"],
        "Adopted: nobody blocks. Both seats support it.",
    ),
    (
        "ballot: consent\n",
        "rule: consent",
        &["aside", "aside"],
        "Adopted: nobody blocks. 0 of 2 seats support it, 2 stand aside. Adopted without a single supporter.",
    ),
    (
        "ballot: consent\n",
        "rule: consent",
        &["support", "b:encrypt at rest.", "aside"],
        "Blocked by b. 1 of 3 seats supports it, 1 stands aside, 1 blocks. It would pass with this change: “encrypt at rest”.",
    ),
    (
        "ballot: consent\n",
        "rule: consent",
        &["support", "b:"],
        "Blocked by b. 1 of 2 seats supports it, 1 blocks. No change is stated by b.",
    ),
    (
        RANKING,
        "rule: schulze",
        &["x>y>z", "x>z>y", "y>x>z", "x>y>z"],
        "Decision: x first. 3 of 4 seats put it before each other option. Decided by Schulze.",
    ),
    (
        RANKING,
        "rule: borda",
        &["x>y>z", "y>x>z"],
        "No decision: x and y tie. Both come first by Borda; the rule breaks no ties.",
    ),
    (
        CARDS,
        "rule: median",
        &["3", "5", "8", "8", "8", "13"],
        "Estimate: 8. Median of 6 seats. The middle half says 5 to 8; the extremes are 3 and 13.",
    ),
    (CARDS, "rule: median", &["8", "8", "8"], "Estimate: 8. All 3 seats said so."),
    (
        CARDS,
        "rule: median",
        &["5", "8"],
        "No decision: 5 and 8 tie. The median lies between them. Median of 2 seats. The middle half says 5 to 8; the \
         extremes are 5 and 8.",
    ),
    (
        SCORE,
        "rule: score",
        &["x:8,y:7", "x:6,y:7", "x:8,y:6", "!refused"],
        "Decision: x. Mean 7.33; next y with 6.67. 2 of 4 seats score it highest. Of 4 seats 1 failed.",
    ),
    (
        "ballot: {kind: approval, options: [x, y]}\n",
        "rule: approval",
        &["x+y", "x+", "y+", "x+"],
        "Decision: x. 3 of 4 seats approve of it. Next y with 2.",
    ),
    (
        "",
        "",
        &["position", "position", "-"],
        "Opinions collected. 3 of 3 seats answered; nothing was to be decided. 1 abstained.",
    ),
    (
        "ballot: consent\n",
        "",
        &["support", "aside"],
        "No rule: counted only. 1 of 2 seats supports it, 1 stands aside.",
    ),
    (
        "",
        "quorum: 3",
        &["position", "!refused", "!refused"],
        "Too few took part. 1 of 3 took part, 3 are needed. 2 failed.",
    ),
    (
        CARDS,
        "rule: median\nquorum: 1",
        &["5", ""],
        "Estimate: 5. The only seat said so. Of 2 seats 1 missing.",
    ),
];

#[test]
fn every_outcome_is_worded_as_the_table_says() {
    let mut wrong = Vec::new();
    for (ballot, rule, said, line) in TABLE {
        let mut table = open(&format!("{ballot}{rule}\n"), said.len());
        cast(&mut table, said);
        let found = session_headline(&table.session).line();
        if found != line {
            wrong.push(format!("{ballot}{rule}: {said:?}\n  {found}\n  {line}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Removes the markup of a format.
fn plain(text: &str) -> String {
    let text = text.replace("&#39;", "'").replace("&quot;", "\"").replace("&gt;", ">").replace("&amp;", "&");
    text.replace('\\', "")
}

#[test]
fn every_format_says_the_same_sentence() {
    for (ballot, rule, said, line) in TABLE {
        let mut table = open(&format!("{ballot}{rule}\n"), said.len());
        cast(&mut table, said);
        let (made, document) = (session_headline(&table.session), table.document());
        assert!(line.starts_with(&made.label), "{line}");
        let line_of_text = crate::report::in_one_line(&document).unwrap();
        assert!(line_of_text.starts_with(&made.label), "stderr: {line_of_text}");
        let json = table.json();
        assert_eq!(json["verdict"]["headline"], Value::from(made.name.as_str()), "{line}");
        assert_eq!(json["verdict"]["sentence"], Value::from(made.sentence.as_str()), "{line}");
        for (format, text) in [
            ("md", crate::report::markdown(&document)),
            ("html", crate::report::html(&document)),
            ("madr", crate::report::madr(&document)),
        ] {
            let text = plain(&text);
            assert!(text.contains(&made.name), "{format}: {}\n{text}", made.name);
            assert!(text.contains(&made.sentence), "{format}: {}\n{text}", made.sentence);
        }
    }
}
