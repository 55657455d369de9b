//! How far the seats of a round agree with each other: the same ballot, or the same reasons.

use std::collections::BTreeSet;

use super::movement::arguments;
use super::round_view;
use crate::core::profile;
use crate::history::{RoundRun, Session};
use crate::tally::{Decimal, IndexedBallot, Score, UNLISTED};

/// With more seats pairs are counted, and not shown one by one.
pub const MOST_SEATS: usize = 30;

/// The agreement of each seat with each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Likeness {
    /// The seats with a ballot, in roster order.
    pub seats: Vec<String>,
    /// For each pair how much their ballots are the same, from 0 to 1, and whether they share an argument.
    pub pairs: Vec<Vec<(f64, bool)>>,
}

/// The agreement of the seats of a revealed round; none with fewer than two ballots or more than
/// [`MOST_SEATS`].
pub fn likeness(session: &Session, round: &RoundRun) -> Option<Likeness> {
    if !round_view::is_revealed(round) {
        return None;
    }
    let ballots = profile(session, round).ballots;
    if !(2..=MOST_SEATS).contains(&ballots.len()) {
        return None;
    }
    let widths: Vec<f64> = widths(&ballots.iter().map(|ballot| &ballot.mark).collect::<Vec<_>>());
    let reasons: Vec<BTreeSet<String>> = ballots
        .iter()
        .map(|ballot| {
            let at = round.seats.get_index_of(&ballot.voter);
            let seat = at.and_then(|at| round_view::seat_at(session, round, at));
            seat.and_then(|seat| seat.answer()).map(|answer| arguments(answer, round)).unwrap_or_default()
        })
        .collect();
    let pair = |a: usize, b: usize| {
        let same = degree(&ballots[a].mark, &ballots[b].mark, &widths);
        (same, reasons[a].intersection(&reasons[b]).next().is_some())
    };
    let all = 0..ballots.len();
    let pairs = all.clone().map(|a| all.clone().map(|b| pair(a, b)).collect()).collect();
    Some(Likeness { seats: ballots.into_iter().map(|ballot| ballot.voter).collect(), pairs })
}

fn number(value: Decimal) -> f64 {
    Score::from(value).as_f64()
}

/// How far apart numbers are at most: of each option's scores, or of the estimates.
fn widths(marks: &[&IndexedBallot]) -> Vec<f64> {
    let values = |mark: &IndexedBallot| match mark {
        IndexedBallot::Scores(scores) => scores.iter().map(|score| score.map(number)).collect(),
        IndexedBallot::Number(value) => vec![Some(number(*value))],
        IndexedBallot::Card(card) => vec![Some(*card as f64)],
        IndexedBallot::Choice(_)
        | IndexedBallot::Approval(_)
        | IndexedBallot::Ranking(_)
        | IndexedBallot::Support
        | IndexedBallot::StandAside
        | IndexedBallot::Block(_) => Vec::new(),
    };
    let rows: Vec<Vec<Option<f64>>> = marks.iter().map(|mark| values(mark)).collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let given = || rows.iter().filter_map(|row| row.get(column).copied().flatten());
        given().fold(f64::MIN, f64::max) - given().fold(f64::MAX, f64::min)
    };
    (0..columns).map(width).collect()
}

/// How much two ballots are the same, from 0 to 1: of sets what they share, of orders the pairs in the same
/// order, of numbers how near they are.
fn degree(a: &IndexedBallot, b: &IndexedBallot, widths: &[f64]) -> f64 {
    let near = |a: f64, b: f64, width: f64| if width > 0.0 { 1.0 - (a - b).abs() / width } else { 1.0 };
    let width = widths.first().copied().unwrap_or(0.0);
    if let (IndexedBallot::Approval(a), IndexedBallot::Approval(b)) = (a, b) {
        let (a, b): (BTreeSet<_>, BTreeSet<_>) = (a.iter().collect(), b.iter().collect());
        let either = a.union(&b).count();
        return if either == 0 { 1.0 } else { a.intersection(&b).count() as f64 / either as f64 };
    }
    if let (IndexedBallot::Ranking(a), IndexedBallot::Ranking(b)) = (a, b) {
        let rank = |ranks: &[u16], at: usize| ranks.get(at).copied().unwrap_or(UNLISTED);
        let options = 0..a.len().max(b.len());
        let pairs: Vec<bool> = options
            .clone()
            .flat_map(|one| options.clone().skip(one + 1).map(move |other| (one, other)))
            .map(|(one, other)| rank(a, one).cmp(&rank(a, other)) == rank(b, one).cmp(&rank(b, other)))
            .collect();
        let same = pairs.iter().filter(|same| **same).count();
        return if pairs.is_empty() { 1.0 } else { same as f64 / pairs.len() as f64 };
    }
    if let (IndexedBallot::Scores(a), IndexedBallot::Scores(b)) = (a, b) {
        let both = a.iter().zip(b).zip(widths);
        let both = both.filter_map(|((a, b), width)| Some((a.as_ref()?, b.as_ref()?, *width)));
        let near: Vec<f64> = both.map(|(a, b, width)| near(number(*a), number(*b), width)).collect();
        return if near.is_empty() { 0.0 } else { near.iter().sum::<f64>() / near.len() as f64 };
    }
    if let (IndexedBallot::Number(a), IndexedBallot::Number(b)) = (a, b) {
        return near(number(*a), number(*b), width);
    }
    if let (IndexedBallot::Card(a), IndexedBallot::Card(b)) = (a, b) {
        return near(*a as f64, *b as f64, width);
    }
    let both_block = matches!((a, b), (IndexedBallot::Block(_), IndexedBallot::Block(_)));
    f64::from(u8::from(a == b || both_block))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ballots_of_each_kind_are_as_much_the_same_as_they_are() {
        let scores = |values: &[&str]| {
            IndexedBallot::Scores(values.iter().map(|value| Decimal::parse(value)).collect())
        };
        let estimate = |value: &str| IndexedBallot::Number(Decimal::parse(value).unwrap());
        for (a, b, all, expected) in [
            (IndexedBallot::Choice(1), IndexedBallot::Choice(1), vec![], 1.0),
            (IndexedBallot::Choice(1), IndexedBallot::Choice(0), vec![], 0.0),
            (IndexedBallot::Approval(vec![0, 1]), IndexedBallot::Approval(vec![1, 2]), vec![], 1.0 / 3.0),
            (IndexedBallot::Ranking(vec![0, 1, 2]), IndexedBallot::Ranking(vec![1, 0, 2]), vec![], 2.0 / 3.0),
            (IndexedBallot::Ranking(vec![0, UNLISTED]), IndexedBallot::Ranking(vec![0, 1]), vec![], 1.0),
            (scores(&["0", "10"]), scores(&["5", "10"]), vec![scores(&["10", "0"])], 0.75),
            (estimate("2"), estimate("4"), vec![estimate("10")], 0.75),
            (IndexedBallot::Block(None), IndexedBallot::Block(Some("x".to_owned())), vec![], 1.0),
            (IndexedBallot::Support, IndexedBallot::StandAside, vec![], 0.0),
        ] {
            let marks: Vec<&IndexedBallot> = [&a, &b].into_iter().chain(&all).collect();
            let found = degree(&a, &b, &widths(&marks));
            assert!((found - expected).abs() < 1e-9, "{a:?}, {b:?}: {found}");
        }
    }
}
