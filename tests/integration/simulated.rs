//! A simulated panel with planted properties: what the reports measure must be what was planted.
//!
//! Accuracy, common errors, copied answers, conformity and a bias to the first option are planted by a
//! seeded draw, the panel holds its rounds in the built program, and each figure is recovered from the report
//! within three standard errors. Nothing is said about models.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::cases;
use crate::program::Desk;

/// The seats; the last one copies the first now and then.
const SEATS: [&str; 5] = ["ann", "bob", "cid", "dan", "eva"];
/// The options; which is right is drawn for each question.
const OPTIONS: [&str; 4] = ["north", "east", "south", "west"];

/// How often a seat is right.
const ACCURACY: f64 = 0.7;
/// How often a seat answers as the common source does; the errors of two seats correlate by its square.
const COMMON: f64 = 0.6;
/// How often the last seat hands in the first one's answer, in other type.
const COPIES: f64 = 0.25;
/// How often a seat that is not with the leader goes over to it.
const CONFORMITY: f64 = 0.55;
/// How often one that goes over gives a new reason.
const REASONED: f64 = 0.4;
/// How often a seat takes the first option, whatever it is.
const FIRST: f64 = 0.3;

/// Draws that are the same on every machine (`SplitMix64`).
struct Draws(u64);

impl Draws {
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn happens(&mut self, chance: f64) -> bool {
        ((self.number() >> 11) as f64) < chance * (1_u64 << 53) as f64
    }

    fn below(&mut self, count: usize) -> usize {
        (self.number() % count as u64) as usize
    }

    /// An option: the right one as often as seats are right, else one of the others.
    fn option(&mut self, truth: usize) -> usize {
        if self.happens(ACCURACY) { truth } else { (truth + 1 + self.below(3)) % 4 }
    }
}

/// What was planted, question by question.
struct Planted {
    truths: Vec<usize>,
    /// Questions in which the last seat copies the first.
    copies: usize,
    /// Moves to the leader that come with a new reason.
    reasoned: usize,
    /// The steps of each session, and its answers.
    sessions: Vec<(String, String)>,
}

/// Options beginning with another one for each question.
fn turned(number: usize) -> Vec<&'static str> {
    (0..4).map(|at| OPTIONS[(at + number) % 4]).collect()
}

fn planted(questions: usize) -> Planted {
    let mut draws = Draws(20_261_123);
    let (mut truths, mut copies, mut reasoned) = (Vec::new(), 0, 0);
    let mut sessions: Vec<(String, String)> = Vec::new();
    let form = |number: usize| json!({"kind": "choice", "options": turned(number)});
    let mut hold = |id: String, question: String, number: usize, votes: &Value| {
        sessions.resize(number / 30 + 1, Default::default());
        let (steps, answers) = &mut sessions[number / 30];
        let _ = writeln!(
            steps,
            "  - {{id: {id}, type: round, question: \"{question}\", ballot: {}, rule: plurality}}",
            form(number)
        );
        let _ = writeln!(answers, "{id}: {votes}");
    };
    for number in 0..questions {
        let truth = draws.below(4);
        truths.push(truth);
        let source = draws.option(truth);
        let mut votes: Vec<usize> =
            SEATS.iter().map(|_| if draws.happens(COMMON) { source } else { draws.option(truth) }).collect();
        let mut reasons: Vec<String> =
            SEATS.iter().map(|seat| format!("{seat} weighs case {number}")).collect();
        if draws.happens(COPIES) {
            (votes[4], reasons[4]) = (votes[0], format!("{}!", reasons[0].to_uppercase()));
            copies += 1;
        }
        let ballots = |votes: &[usize], reasons: &[String]| -> Value {
            let answer = |seat: usize| json!({"vote": OPTIONS[votes[seat]], "rationale": [reasons[seat]]});
            SEATS.iter().enumerate().map(|(at, seat)| ((*seat).to_owned(), answer(at))).collect()
        };
        let question = format!("Which way in case {number}?");
        hold(format!("a{number}"), question.clone(), number, &ballots(&votes, &reasons));
        let votes_for = |option: usize| votes.iter().filter(|vote| **vote == option).count();
        let most = (0..4).map(votes_for).max();
        let leaders: Vec<usize> = (0..4).filter(|option| Some(votes_for(*option)) == most).collect();
        let mut later = votes.clone();
        if let [leader] = leaders[..] {
            for seat in (0..5).filter(|seat| votes[*seat] != leader) {
                if draws.happens(CONFORMITY) {
                    later[seat] = leader;
                    if draws.happens(REASONED) {
                        reasons[seat] = format!("{} now sees more in case {number}", SEATS[seat]);
                        reasoned += 1;
                    }
                }
            }
        }
        hold(format!("b{number}"), question, number, &ballots(&later, &reasons));
        let firsts: Vec<usize> =
            SEATS.iter().map(|_| if draws.happens(FIRST) { number % 4 } else { draws.below(4) }).collect();
        hold(format!("c{number}"), format!("And of case {number}?"), number, &ballots(&firsts, &reasons));
    }
    Planted { truths, copies, reasoned, sessions }
}

/// Holds the rounds of a session; returns those of the JSON report.
fn held((steps, answers): &(String, String)) -> Vec<Value> {
    let seats: Vec<String> = SEATS.iter().map(|seat| format!("{{name: {seat}, model: human}}")).collect();
    let desk = Desk::with(&format!(
        "goal: \"Find the way\"\nparticipants: [{}]\nmax_iterations: 5000\n\
         context: {{answers: none, rounds: 0, results: none}}\nsteps:\n{}",
        seats.join(", "),
        steps
    ));
    desk.write("answers.yaml", answers);
    desk.run(["--batch", "decide.yaml", "--answers", "answers.yaml", "--save", "s.s2s", "--quiet"]);
    let report = desk.run(["report", "s.s2s", "--format", "json"]).code(0).out;
    let report: Value = serde_json::from_str(&report).expect("JSON");
    report["rounds"].as_array().expect("rounds").clone()
}

/// The option that each seat voted for.
fn votes(round: &Value) -> Vec<usize> {
    let vote = |seat: &Value| OPTIONS.iter().position(|option| seat["ballot"]["choice"] == *option);
    round["seats"].as_array().expect("seats").iter().map(|seat| vote(seat).expect("a vote")).collect()
}

/// Checks a measured share against the planted one, within three standard errors.
fn recovers(what: &str, planted: f64, measured: f64, error: f64) {
    println!("{what}: planted {planted:.3}, measured {measured:.3}, standard error {error:.3}");
    assert!((measured - planted).abs() <= 3.0 * error, "{what}: {measured} is not {planted} ± 3 × {error}");
}

/// The standard error of a share of so many draws.
fn error(share: f64, draws: usize) -> f64 {
    (share * (1.0 - share) / draws as f64).sqrt()
}

#[test]
fn a_simulated_panel_is_measured_as_it_was_planted() {
    let planted = planted(cases(30, 300));
    let rounds: Vec<Value> = planted.sessions.iter().flat_map(held).collect();
    let of = |kind: char| {
        rounds.iter().filter(move |round| round["id"].as_str().is_some_and(|id| id.starts_with(kind)))
    };
    let questions = planted.truths.len();

    // Accuracy and common errors, of the four seats that copy nobody.
    let rights: Vec<Vec<f64>> = of('a')
        .zip(&planted.truths)
        .map(|(round, truth)| {
            votes(round)[..4].iter().map(|vote| f64::from(u8::from(vote == truth))).collect()
        })
        .collect();
    let mean = rights.iter().flatten().sum::<f64>() / (4 * questions) as f64;
    // Four seats with this correlation are as many draws as 4 / (1 + 3 × correlation).
    let correlation = COMMON * COMMON;
    let independent = 4.0 / (1.0 + 3.0 * correlation);
    recovers(
        "accuracy",
        ACCURACY,
        mean,
        (ACCURACY * (1.0 - ACCURACY) / (questions as f64 * independent)).sqrt(),
    );
    let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
    let product = |(one, other): &(usize, usize)| -> f64 {
        rights.iter().map(|right| (right[*one] - mean) * (right[*other] - mean)).sum()
    };
    let covariance = pairs.iter().map(product).sum::<f64>() / (pairs.len() * questions) as f64;
    let measured = covariance / (mean * (1.0 - mean));
    recovers("correlation of errors", correlation, measured, 1.0 / (questions as f64).sqrt());
    let votes_worth = |correlation: f64| 4.0 / (1.0 + 3.0 * correlation);
    println!("four seats are worth {:.2} votes, planted {:.2}", votes_worth(measured), independent);

    // Copied answers are found, each of them and no other.
    let groups = |round: &Value| round["independence"]["same_answers"].clone();
    let copies = of('a').filter(|round| groups(round) == json!([["ann", "eva"]])).count();
    let others = of('a').filter(|round| groups(round) != json!([])).count();
    assert_eq!((copies, others), (planted.copies, planted.copies), "copied answers");
    recovers("copied answers", COPIES, copies as f64 / questions as f64, error(COPIES, questions));

    // Conformity: who was not with the leader and went over to it.
    let (mut could, mut joined, mut reasoned, mut elsewhere) = (0, 0, 0, 0);
    for (before, after) in of('a').zip(of('b')) {
        let [leader] = &before["tally"]["winners"].as_array().expect("winners")[..] else { continue };
        could += votes(before).iter().filter(|vote| *leader != OPTIONS[**vote]).count();
        let moves = after["movement"]["moves"].as_array().expect("moves");
        assert_eq!(after["movement"]["since"], before["id"]);
        joined += moves.iter().filter(|one| one["to"] == *leader).count();
        elsewhere += moves.iter().filter(|one| one["to"] != *leader).count();
        reasoned += moves.iter().filter(|one| one["new_argument"] == true).count();
    }
    recovers("conformity", CONFORMITY, joined as f64 / could as f64, error(CONFORMITY, could));
    assert_eq!((elsewhere, reasoned), (0, planted.reasoned), "moves elsewhere, moves with a new reason");
    recovers("moves with a new reason", REASONED, reasoned as f64 / joined as f64, error(REASONED, joined));

    // The bias to the first option: what it has beyond its quarter.
    let first = |(number, round): (usize, &Value)| {
        votes(round).iter().filter(|vote| OPTIONS[**vote] == turned(number)[0]).count()
    };
    let share = of('c').enumerate().map(first).sum::<usize>() as f64 / (5 * questions) as f64;
    let expected = FIRST + (1.0 - FIRST) / 4.0;
    let measured = (share - 0.25) / 0.75;
    recovers("bias to the first option", FIRST, measured, error(expected, 5 * questions) / 0.75);
}
