//! The spread of estimates over the rounds of a question.

use super::round_view;
use super::wording::pluralize;
use crate::core::earlier_rounds;
use crate::history::{RoundRun, Session};
use crate::tally::Quartiles;

pub fn spread(round: &RoundRun) -> Option<&Quartiles> {
    round_view::tally(round)?.verdict.trace.as_ref()?.spread.as_ref()
}

/// The estimate of each round of a question under its name, and whether the last two came closer; empty for one
/// round alone.
pub fn estimates(session: &Session, round: &RoundRun) -> Vec<(String, String)> {
    let alike = |before: &&RoundRun| before.opened.ballot.is_like(&round.opened.ballot);
    let rounds = [round].into_iter().chain(earlier_rounds(session, round).filter(alike));
    let mut found: Vec<(&RoundRun, &Quartiles)> =
        rounds.filter_map(|round| Some((round, spread(round)?))).collect();
    found.reverse();
    let [.., (_, before), (_, now)] = found.as_slice() else { return Vec::new() };
    let line = |(round, spread): &(&RoundRun, &Quartiles)| {
        let answered = round_view::tally(round).map_or(0, |tally| tally.answered);
        let said = format!(
            "median {}, middle half {} to {}, extremes {} and {}, {}",
            spread.median,
            spread.first_quartile,
            spread.third_quartile,
            spread.lowest,
            spread.highest,
            pluralize(answered, "seat")
        );
        (format!("Round {}", round.opened.number), said)
    };
    let change = match now.iqr.as_f64().total_cmp(&before.iqr.as_f64()) {
        std::cmp::Ordering::Less => "became narrower",
        std::cmp::Ordering::Equal => "is as wide as before",
        std::cmp::Ordering::Greater => "became wider",
    };
    found.iter().map(line).chain([("Change".to_owned(), format!("the middle half {change}"))]).collect()
}
