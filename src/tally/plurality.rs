//! Plurality: the option with more ballots than any other wins.
//!
//! Source: Robert's Rules of Order Newly Revised (12th ed.), §44:11, "plurality vote".

use super::{Verdict, count, leaders, listed};

/// Counts `votes`, indices into `options`.
pub fn plurality(options: &[String], votes: &[usize]) -> Verdict {
    let scores = count(options, votes);
    let winners = leaders(&scores);
    let steps = vec![format!("ballots: {}", listed(&scores))];
    let reason = match winners.len() {
        0 => Some("no ballot names an option".to_owned()),
        1 => None,
        _ => Some(format!("tie between {}", winners.join(" and "))),
    };
    Verdict { tie: winners.len() > 1, winners, scores, steps, reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options() -> Vec<String> {
        ["a", "b", "c"].map(str::to_owned).to_vec()
    }

    #[test]
    fn most_ballots_win_even_without_a_majority() {
        let verdict = plurality(&options(), &[1, 0, 1, 2, 2, 1]);
        assert_eq!(verdict.winners, ["b"]);
        assert_eq!(verdict.scores.values().copied().collect::<Vec<_>>(), [1, 3, 2]);
    }

    #[test]
    fn level_options_tie_in_the_order_of_the_form() {
        let verdict = plurality(&options(), &[2, 0]);
        assert_eq!((verdict.winners, verdict.tie), (vec!["a".to_owned(), "c".to_owned()], true));
        assert!(plurality(&options(), &[]).winners.is_empty());
    }
}
