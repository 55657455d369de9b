//! What agreement is worth: recorded answers of four models through the count and its strength.
//! The answers are public and the true ones are known: `tests/fixtures/answers`. The figures stand in
//! `docs/TALLIES.md`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use roundtable::tally::{IndexedBallot, Profile, Rule, RuleOptions, WeightedBallot, count};
use serde_json::Value;

use crate::cases;
use crate::simulated::held;

const MODELS: [&str; 4] = ["175b_verification", "6b_verification", "175b_finetuning", "6b_finetuning"];

/// A question: its true answer, and what each model answered, if it was a number.
struct Question {
    truth: String,
    answers: [Option<String>; 4],
}

impl Question {
    fn options(&self) -> Vec<String> {
        let mut options: Vec<String> = Vec::new();
        for answer in self.answers.iter().flatten() {
            if !options.contains(answer) {
                options.push(answer.clone());
            }
        }
        options
    }

    /// The most votes that an answer has, and whether it is the true one, by the plurality rule.
    fn counted(&self) -> (usize, bool) {
        let options = self.options();
        let ballot = |(model, answer): (usize, &Option<String>)| {
            let option = options.iter().position(|option| Some(option) == answer.as_ref())?;
            Some(WeightedBallot::one(MODELS[model], IndexedBallot::Choice(option)))
        };
        let ballots = self.answers.iter().enumerate().filter_map(ballot).collect();
        let profile = Profile { options: options.clone(), ballots, ..Profile::default() };
        let verdict = count(&profile, Rule::Plurality, &RuleOptions::default());
        let leader = verdict.winners.first().cloned().unwrap_or_default();
        let votes = self.answers.iter().flatten().filter(|answer| **answer == leader).count();
        (votes, leader == self.truth && !verdict.tie)
    }
}

fn questions() -> Vec<Question> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/answers/gsm8k-votes.csv");
    let text = fs::read_to_string(path).expect("recorded answers");
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(format!("question,truth,{}", MODELS.join(",")).as_str()));
    let question = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let answer = |at: usize| (!cells[at].is_empty()).then(|| cells[at].to_owned());
        Question { truth: cells[1].to_owned(), answers: [2, 3, 4, 5].map(answer) }
    };
    lines.map(question).collect()
}

fn percent(part: usize, whole: usize) -> String {
    format!("{:.1}", 100.0 * part as f64 / whole as f64)
}

#[test]
fn accuracy_follows_agreement_in_recorded_answers() {
    let questions = questions();
    let found: Vec<(usize, bool)> = questions.iter().map(Question::counted).collect();
    let all = found.len();
    assert_eq!(all, 1_319);
    for (name, least, share, right) in [("4 of 4", 4, "12.4", "95.7"), ("at least 3 of 4", 3, "30.9", "88.5")]
    {
        let enough: Vec<_> = found.iter().filter(|(votes, _)| *votes >= least).collect();
        let correct = enough.iter().filter(|(_, right)| *right).count();
        let told = (percent(enough.len(), all), percent(correct, enough.len()));
        assert_eq!(told, (share.to_owned(), right.to_owned()), "{name}");
    }
    let best = questions.iter().filter(|q| q.answers[0].as_ref() == Some(&q.truth)).count();
    assert_eq!(percent(best, all), "56.3");
}

fn rounds_of(questions: &[Question]) -> Vec<Value> {
    let (mut steps, mut answers) = (String::new(), String::new());
    for (number, question) in questions.iter().enumerate() {
        let mut options = question.options();
        options.push("another answer".to_owned());
        let options = serde_json::to_string(&options).expect("texts");
        let _ = writeln!(
            steps,
            "  - {{id: q{number}, type: round, question: \"What is the answer to question {number}?\", \
             ballot: {{kind: choice, options: {options}}}, rule: plurality}}"
        );
        let votes = question.answers.iter().enumerate().map(|(model, answer)| {
            let vote = answer.as_deref().unwrap_or("abstain");
            format!("m{model}: {{vote: \"{vote}\", rationale: [\"m{model} counts\"]}}")
        });
        let _ = writeln!(answers, "q{number}: {{{}}}", votes.collect::<Vec<_>>().join(", "));
    }
    held(&["m0", "m1", "m2", "m3"], &steps, &answers)
}

/// The strength that a session states is the agreement of the seats asked.
#[test]
fn accuracy_follows_the_strength_of_recorded_rounds() {
    let questions: Vec<Question> = questions().into_iter().take(cases(30, 1_319)).collect();
    let rounds: Vec<Value> = questions.chunks(120).flat_map(rounds_of).collect();
    assert_eq!(rounds.len(), questions.len());
    for (round, question) in rounds.iter().zip(&questions) {
        let tally = &round["tally"];
        let wanted = match question.counted().0 {
            _ if tally["decided"] == false => "none",
            4 => "unanimous",
            3 => "strong",
            _ => "weak",
        };
        assert_eq!(tally["tier"], wanted, "{tally}");
    }
    let right = |tier: &str| {
        let of: Vec<bool> = rounds
            .iter()
            .zip(&questions)
            .filter(|(round, _)| round["tally"]["tier"] == tier)
            .map(|(round, question)| round["tally"]["winners"][0] == question.truth.as_str())
            .collect();
        of.iter().filter(|right| **right).count() as f64 / of.len() as f64
    };
    assert!(right("unanimous") >= right("strong") && right("strong") > right("weak"));
}
