//! A simulated panel: copied answers and moves to the leader are planted by a seeded draw, the panel holds its
//! rounds in the built program, and the report names each of them and no other. Nothing is said about models.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::cases;
use crate::oracle::Dice;
use crate::program::Desk;

const SEATS: [&str; 5] = ["ann", "bob", "cid", "dan", "eva"];
const OPTIONS: [&str; 4] = ["north", "east", "south", "west"];

struct Planted {
    is_copied: bool,
    leader: Option<usize>,
    /// The seats that go over to the leader, each with whether it gives a new reason.
    moves: Vec<(&'static str, bool)>,
}

/// Plants one question: writes its two rounds and their answers.
fn planted(number: usize, dice: &mut Dice, steps: &mut String, answers: &mut String) -> Planted {
    let mut votes: Vec<usize> = SEATS.iter().map(|_| dice.below(6).min(3)).collect();
    let mut reasons: Vec<String> = SEATS.iter().map(|seat| format!("{seat} weighs case {number}")).collect();
    let is_copied = dice.below(4) == 0;
    if is_copied {
        (votes[4], reasons[4]) = (votes[0], format!("{}!", reasons[0].to_uppercase()));
    }
    let mut hold = |round: &str, keys: &str, votes: &[usize], reasons: &[String]| {
        let ballot = json!({"kind": "choice", "options": OPTIONS});
        let _ = writeln!(
            steps,
            "  - {{id: {round}{number}, type: round, question: \"Which way in case {number}?\", ballot: {ballot}, \
             rule: plurality{keys}}}"
        );
        let answer = |seat: usize| json!({"vote": OPTIONS[votes[seat]], "rationale": [reasons[seat]]});
        let all: Value = (0..5).map(|seat| (SEATS[seat].to_owned(), answer(seat))).collect();
        let _ = writeln!(answers, "{round}{number}: {all}");
    };
    hold("a", "", &votes, &reasons);
    let votes_for = |option: usize| votes.iter().filter(|vote| **vote == option).count();
    let most = (0..4).map(votes_for).max();
    let mut leaders = (0..4).filter(|option| Some(votes_for(*option)) == most);
    let leader = leaders.next().filter(|_| leaders.next().is_none());
    let (mut later, mut moves) = (votes.clone(), Vec::new());
    for seat in (0..5).filter(|seat| leader.is_some_and(|leader| votes[*seat] != leader)) {
        if dice.below(2) == 0 {
            let is_reasoned = dice.below(3) == 0;
            later[seat] = leader.expect("one leads");
            if is_reasoned {
                reasons[seat] = format!("{} now sees more in case {number}", SEATS[seat]);
            }
            moves.push((SEATS[seat], is_reasoned));
        }
    }
    hold("b", &format!(", revises: a{number}"), &later, &reasons);
    Planted { is_copied, leader, moves }
}

/// Holds the rounds of these steps with these answers; returns those of the JSON report.
pub fn held(seats: &[&str], steps: &str, answers: &str) -> Vec<Value> {
    let seats: Vec<String> = seats.iter().map(|seat| format!("{{name: {seat}, model: human}}")).collect();
    let desk = Desk::with(&format!(
        "goal: \"Find the way\"\nparticipants: [{}]\nmax_iterations: 5000\n\
         context: {{answers: none, rounds: 0, results: none}}\nsteps:\n{steps}",
        seats.join(", ")
    ));
    desk.write("answers.yaml", answers);
    desk.run(["--batch", "decide.yaml", "--answers", "answers.yaml", "--save", "s.s2s", "--quiet"]);
    desk.report("s.s2s")["rounds"].as_array().expect("rounds").clone()
}

#[test]
fn what_a_simulated_panel_copied_and_who_moved_is_reported_as_it_was_planted() {
    let mut dice = Dice(20_261_123);
    let (mut copies, mut goes_over) = (0, 0);
    for _ in 0..cases(1, 10) {
        let (mut steps, mut answers) = (String::new(), String::new());
        let questions: Vec<Planted> =
            (0..30).map(|number| planted(number, &mut dice, &mut steps, &mut answers)).collect();
        let rounds = held(&SEATS, &steps, &answers);
        assert_eq!(rounds.len(), 60);
        for (question, rounds) in questions.iter().zip(rounds.chunks(2)) {
            let same = if question.is_copied { json!([["ann", "eva"]]) } else { json!([]) };
            assert_eq!(rounds[0]["independence"]["same_answers"], same, "{}", rounds[0]["id"]);
            let moves = rounds[1]["movement"]["moves"].as_array().into_iter().flatten();
            let found: Value =
                moves.map(|one| json!([one["participant"], one["to"], one["new_argument"]])).collect();
            let to = question.leader.map(|leader| OPTIONS[leader]);
            let wanted = question.moves.iter().map(|(seat, reasoned)| json!([seat, to, reasoned]));
            assert_eq!(found, wanted.collect::<Value>(), "{}", rounds[1]["id"]);
            copies += usize::from(question.is_copied);
            goes_over += question.moves.len();
        }
    }
    assert!(copies > 3 && goes_over > 10, "{copies} {goes_over}");
}
