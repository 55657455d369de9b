//! Pairwise comparison: the weight of ballots that prefer one option to another.
//!
//! Options that a ballot omits tie below those it lists. A ballot does not compare its voter's own option.

use std::cmp::Ordering;

use super::decimal::{Decimal, Score};
use super::profile::{Profile, UNLISTED};
use super::verdict::Trace;

/// Amounts by row and column, in units of [`Decimal`].
pub type Matrix = Vec<Vec<i128>>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairwise {
    /// Weight of the ballots that rank the row's option above the column's.
    pub prefer: Matrix,
    /// Weight of the ballots that compare the two and rank them as tied.
    pub tied: Matrix,
    /// Weight of the ballots that name an option.
    pub total: i128,
}

impl Pairwise {
    pub fn from_profile(profile: &Profile) -> Self {
        let options = profile.options.len();
        let none = vec![vec![0; options]; options];
        let mut pairs = Self { prefer: none.clone(), tied: none, total: 0 };
        for (ballot, ranks) in profile.ranked() {
            let worth = ballot.total_weight().0;
            pairs.total += if ranks.iter().any(|rank| *rank != UNLISTED) { worth } else { 0 };
            let others = || ranks.iter().enumerate().filter(|(option, _)| ballot.own != Some(*option));
            for (a, rank) in others() {
                for (b, other) in others().filter(|(b, _)| *b != a) {
                    match rank.cmp(other) {
                        Ordering::Less => pairs.prefer[a][b] += worth,
                        Ordering::Equal => pairs.tied[a][b] += worth,
                        Ordering::Greater => {}
                    }
                }
            }
        }
        pairs
    }

    pub fn trace(&self) -> Trace {
        Trace { pairwise: to_scores(&self.prefer), ..Trace::default() }
    }
}

/// Converts a matrix for output, with 0 on the diagonal.
pub fn to_scores(matrix: &Matrix) -> Vec<Vec<Score>> {
    let cell = |a, (b, amount): (usize, &i128)| Score::from(Decimal(if a == b { 0 } else { *amount }));
    let row = |(a, row): (usize, &Vec<i128>)| row.iter().enumerate().map(|at| cell(a, at)).collect();
    matrix.iter().enumerate().map(row).collect()
}
