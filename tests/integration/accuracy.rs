//! What agreement is worth: recorded answers of four models, counted by the plurality rule.
//! `tests/fixtures/answers` says whence they are. The figures stand in `docs/TALLIES.md`.

use roundtable::tally::{IndexedBallot, Profile, Rule, RuleOptions, WeightedBallot, count};

/// The most votes that an answer has, and whether it is the true one.
fn counted(answers: &[&str]) -> (usize, bool) {
    let mut options: Vec<String> = answers.iter().map(|answer| (*answer).to_owned()).collect();
    options.retain(|option| option != "-");
    options.sort();
    options.dedup();
    let option = |answer: &str| options.iter().position(|option| option == answer);
    let ballots = answers.iter().filter_map(|answer| option(answer));
    let ballots = ballots.map(|option| WeightedBallot::one("m", IndexedBallot::Choice(option))).collect();
    let profile = Profile { options: options.clone(), ballots, ..Profile::default() };
    let verdict = count(&profile, Rule::Plurality, &RuleOptions::default());
    let leader = verdict.winners.first().cloned().unwrap_or_default();
    let votes = answers.iter().filter(|answer| **answer == leader).count();
    (votes, leader == "T" && !verdict.tie)
}

#[test]
fn accuracy_follows_agreement_in_recorded_answers() {
    let mut found = Vec::new();
    let mut best = 0;
    for row in include_str!("../fixtures/answers/gsm8k-votes.csv").lines().skip(1) {
        let (questions, answers) = row.split_once(',').expect("a pattern");
        let (questions, answers) =
            (questions.parse().expect("a number"), answers.split(',').collect::<Vec<_>>());
        found.extend(vec![counted(&answers); questions]);
        best += if answers[0] == "T" { questions } else { 0 };
    }
    let percent = |part: usize, whole: usize| format!("{:.1}", 100.0 * part as f64 / whole as f64);
    assert_eq!(found.len(), 1_319);
    for (least, share, right) in [(4, "12.4", "95.7"), (3, "30.9", "88.5")] {
        let enough: Vec<_> = found.iter().filter(|(votes, _)| *votes >= least).collect();
        let correct = enough.iter().filter(|(_, right)| *right).count();
        let told = (percent(enough.len(), found.len()), percent(correct, enough.len()));
        assert_eq!(told, (share.to_owned(), right.to_owned()), "at least {least} of 4");
    }
    assert_eq!(percent(best, found.len()), "56.3", "the best model alone");
}
