//! Who voted what: one row a seat, one column a round with ballots.

use indexmap::IndexMap;

use super::model::{Report, sure};
use crate::ballot::{Ballot, Stance};
use crate::history::RoundRun;
use crate::insight::movement::earlier;
use crate::insight::{SeatView, seats};
use crate::round::answer::Outcome;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cell {
    /// The letter of its option, or ✓ support, – stand aside, ✕ block, ○ abstained, ! failed, ? invalid.
    pub mark: String,
    /// The place of its option among the letters.
    pub place: Option<usize>,
    pub text: String,
    /// Whether it stood elsewhere in the last round of the same question.
    pub moved: bool,
    pub sure: Option<String>,
}

#[derive(Debug)]
pub struct Row<'a> {
    pub seat: &'a str,
    pub model: &'a str,
    pub cells: Vec<Cell>,
}

#[derive(Debug)]
pub struct Table<'a> {
    pub rounds: Vec<&'a RoundRun>,
    pub rows: Vec<Row<'a>>,
}

impl<'a> Report<'a> {
    pub fn table(&self) -> Table<'a> {
        let mut rows: IndexMap<&'a str, Row<'a>> = IndexMap::new();
        let voted: Vec<&'a RoundRun> = self.voted().collect();
        for (at, round) in voted.iter().enumerate() {
            let before = earlier(self.session, round);
            let before = before
                .and_then(|before| voted.iter().position(|other| other.opened.round == before.opened.round));
            for seat in seats(self.session, round) {
                let row = rows.entry(seat.name).or_insert_with(|| Row {
                    seat: seat.name,
                    model: seat.model,
                    cells: Vec::new(),
                });
                row.cells.resize_with(at, Cell::default);
                let mut cell = self.cell(&seat);
                let was = before.and_then(|before| row.cells.get(before));
                cell.moved = was.is_some_and(|was| !was.text.is_empty() && was.text != cell.text);
                row.cells.push(cell);
            }
        }
        let mut rows: Vec<Row<'a>> = rows.into_values().collect();
        for row in &mut rows {
            row.cells.resize_with(voted.len(), Cell::default);
        }
        Table { rounds: voted, rows }
    }

    fn cell(&self, seat: &SeatView<'_>) -> Cell {
        let Some(ballot) = seat.ballot() else {
            let mark = match seat.outcome() {
                None | Some(Outcome::Answered) => return Cell::default(),
                Some(Outcome::Abstained) => "○",
                Some(Outcome::Invalid) => "?",
                Some(Outcome::Refused | Outcome::Failed | Outcome::TimedOut) => "!",
                Some(Outcome::Missing | Outcome::Excused) => "·",
            };
            let text = seat.outcome().map_or("", |outcome| outcome.name()).replace('_', " ");
            return Cell { mark: mark.to_owned(), text, sure: sure(seat), ..Cell::default() };
        };
        let (mark, text) = match ballot {
            Ballot::Consent(Stance::Support, _) => ("✓".to_owned(), "support".to_owned()),
            Ballot::Consent(Stance::StandAside, _) => ("–".to_owned(), "stand aside".to_owned()),
            Ballot::Consent(Stance::Block, _) => ("✕".to_owned(), "block".to_owned()),
            Ballot::Choice(option) => (self.letters.letter(option).unwrap_or_default(), option.clone()),
            Ballot::Position
            | Ballot::Approval(_)
            | Ballot::Ranking(_)
            | Ballot::Scores(_)
            | Ballot::Estimate(_)
            | Ballot::Ideas(_)
            | Ballot::Findings(_)
            | Ballot::Abstain => (String::new(), ballot.brief().unwrap_or_default()),
        };
        let place = if mark.is_empty() { None } else { self.letters.place(&text) };
        Cell { mark, place, text, moved: false, sure: sure(seat) }
    }
}
