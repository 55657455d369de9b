//! Majority: an option that more than half of the ballots name wins.
//!
//! Source: Robert's Rules of Order Newly Revised (12th ed.), §44:1, "majority vote": more than half
//! of the votes cast, abstentions excluded.

use super::{Verdict, count, leaders, listed};

/// Counts `votes`, indices into `options`; abstentions are not among them.
pub fn majority(options: &[String], votes: &[usize]) -> Verdict {
    let scores = count(options, votes);
    let cast: u64 = scores.values().sum();
    let needed = cast / 2 + 1;
    let mut steps = vec![format!("ballots: {}", listed(&scores))];
    steps.push(format!("{cast} ballots name an option; a majority is {needed}"));
    let winners: Vec<String> =
        scores.iter().filter(|(_, score)| **score >= needed).map(|(option, _)| option.clone()).collect();
    if !winners.is_empty() {
        return Verdict { winners, tie: false, scores, steps, reason: None };
    }
    // Two options with exactly half each are a tie; anything else short of half is no majority.
    let first = leaders(&scores);
    let tie = first.len() == 2 && cast > 0 && scores[&first[0]] * 2 == cast;
    let reason = match (cast, tie) {
        (0, _) => "no ballot names an option".to_owned(),
        (_, true) => format!("tie between {}", first.join(" and ")),
        _ => format!("no majority: {} of {cast} is the most, {needed} are needed", scores[&first[0]]),
    };
    let winners = if tie { first } else { Vec::new() };
    Verdict { winners, tie, scores, steps, reason: Some(reason) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Vec<String> {
        ["a", "b", "c"].map(str::to_owned).to_vec()
    }

    #[test]
    fn more_than_half_wins() {
        assert_eq!(majority(&options(), &[0, 0, 1]).winners, ["a"]);
        assert_eq!(majority(&options(), &[0]).winners, ["a"]);
    }

    #[test]
    fn half_is_a_tie_and_less_is_no_majority() {
        let half = majority(&options(), &[0, 0, 1, 1]);
        assert_eq!((half.tie, half.winners.len()), (true, 2));
        let less = majority(&options(), &[0, 0, 1, 2]);
        assert_eq!((less.tie, less.winners.len()), (false, 0));
        assert!(less.reason.unwrap().contains("no majority: 2 of 4"));
        assert!(majority(&options(), &[]).winners.is_empty());
    }
}
