//! Pair by pair: how many ballots put one option above another.
//!
//! Options that a ballot leaves out stand below those it lists, tied. A ballot says nothing of its voter's
//! own option.

use std::cmp::Ordering;

use super::decimal::{Decimal, Score};
use super::profile::{Profile, UNLISTED};
use super::verdict::Trace;

/// Amounts by row and column, in units.
pub type Matrix = Vec<Vec<i128>>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairwise {
    /// The weight of the ballots that put the row above the column.
    pub prefer: Matrix,
    /// The weight of the ballots that compare the two and put neither above the other.
    pub level: Matrix,
    /// The weight of the ballots that name an option.
    pub total: i128,
}

impl Pairwise {
    pub fn from_profile(profile: &Profile) -> Self {
        let options = profile.options.len();
        let none = vec![vec![0; options]; options];
        let mut pairs = Self { prefer: none.clone(), level: none, total: 0 };
        for (ballot, ranks) in profile.ranked() {
            let worth = ballot.total_weight().0;
            pairs.total += if ranks.iter().any(|rank| *rank != UNLISTED) { worth } else { 0 };
            let others = || ranks.iter().enumerate().filter(|(option, _)| ballot.own != Some(*option));
            for (a, rank) in others() {
                for (b, other) in others().filter(|(b, _)| *b != a) {
                    match rank.cmp(other) {
                        Ordering::Less => pairs.prefer[a][b] += worth,
                        Ordering::Equal => pairs.level[a][b] += worth,
                        Ordering::Greater => {}
                    }
                }
            }
        }
        pairs
    }

    pub fn trace(&self) -> Trace {
        Trace { pairwise: shown(&self.prefer), ..Trace::default() }
    }
}

/// A matrix as it is written, the diagonal 0.
pub fn shown(matrix: &Matrix) -> Vec<Vec<Score>> {
    let cell = |a, (b, amount): (usize, &i128)| Score::from(Decimal(if a == b { 0 } else { *amount }));
    let row = |(a, row): (usize, &Vec<i128>)| row.iter().enumerate().map(|at| cell(a, at)).collect();
    matrix.iter().enumerate().map(row).collect()
}
