//! Who voted what: one row a seat, one column a round with ballots.

use indexmap::IndexMap;

use super::model::{Report, sure};
use crate::ballot::{Ballot, Stance};
use crate::history::RoundRun;
use crate::insight::movement::earlier;
use crate::insight::{SeatView, seats};
use crate::round::answer::Outcome;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mark {
    Letter(String),
    /// ✓ support, – stand aside, ✕ block, ○ abstained, ! failed, ? invalid.
    Sign(&'static str),
    None,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    pub mark: Mark,
    /// The option it chose, where it chose one.
    pub option: Option<String>,
    pub text: String,
    /// Whether it stood elsewhere in the last round of the same form.
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

impl Table<'_> {
    /// How many seats did the same in a round, most first.
    pub fn counts(&self, round: usize) -> Vec<(String, usize)> {
        let mut found: IndexMap<&str, usize> = IndexMap::new();
        for cell in self.rows.iter().filter_map(|row| row.cells.get(round)) {
            if !cell.text.is_empty() {
                *found.entry(&cell.text).or_default() += 1;
            }
        }
        let mut found: Vec<(String, usize)> =
            found.into_iter().map(|(text, count)| (text.to_owned(), count)).collect();
        found.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        found
    }
}

impl<'a> Report<'a> {
    pub fn table(&self) -> Table<'a> {
        let mut rows: IndexMap<&'a str, Row<'a>> = IndexMap::new();
        for (at, round) in self.voted.iter().enumerate() {
            let before = earlier(self.session, round);
            let before = before.and_then(|before| {
                self.voted.iter().position(|other| other.opened.round == before.opened.round)
            });
            for seat in seats(self.session, round) {
                let row = rows.entry(seat.name).or_insert_with(|| Row {
                    seat: seat.name,
                    model: seat.model,
                    cells: Vec::new(),
                });
                row.cells.resize_with(at, Cell::empty);
                let mut cell = self.cell(&seat);
                let was = before.and_then(|before| row.cells.get(before));
                cell.moved = was.is_some_and(|was| !was.text.is_empty() && was.text != cell.text);
                row.cells.push(cell);
            }
        }
        let mut rows: Vec<Row<'a>> = rows.into_values().collect();
        for row in &mut rows {
            row.cells.resize_with(self.voted.len(), Cell::empty);
        }
        Table { rounds: self.voted.clone(), rows }
    }

    fn cell(&self, seat: &SeatView<'_>) -> Cell {
        let sign = |sign: &'static str, text: &str| Cell {
            mark: Mark::Sign(sign),
            option: None,
            text: text.to_owned(),
            moved: false,
            sure: sure(seat),
        };
        let Some(ballot) = seat.ballot() else {
            return match seat.outcome() {
                Some(Outcome::Abstained) => sign("○", "abstained"),
                Some(Outcome::Invalid) => sign("?", "invalid"),
                Some(outcome @ (Outcome::Refused | Outcome::Failed | Outcome::TimedOut)) => {
                    sign("!", if outcome == Outcome::TimedOut { "timed out" } else { outcome.name() })
                }
                Some(outcome @ (Outcome::Missing | Outcome::Excused)) => sign("·", outcome.name()),
                Some(Outcome::Answered) | None => Cell::empty(),
            };
        };
        match ballot {
            Ballot::Consent(Stance::Support, _) => sign("✓", "support"),
            Ballot::Consent(Stance::StandAside, _) => sign("–", "stand aside"),
            Ballot::Consent(Stance::Block, _) => sign("✕", "block"),
            Ballot::Choice(option) => Cell {
                mark: self.letters.letter(option).map_or(Mark::None, Mark::Letter),
                option: Some(option.clone()),
                text: option.clone(),
                moved: false,
                sure: sure(seat),
            },
            Ballot::Position
            | Ballot::Approval(_)
            | Ballot::Ranking(_)
            | Ballot::Scores(_)
            | Ballot::Estimate(_)
            | Ballot::Ideas(_)
            | Ballot::Findings(_)
            | Ballot::Abstain => {
                let top = ballot.top_options().filter(|top| top.len() == 1).and_then(|mut top| top.pop());
                let text = ballot.brief().unwrap_or_default();
                Cell { mark: Mark::None, option: top, text, moved: false, sure: sure(seat) }
            }
        }
    }
}

impl Cell {
    fn empty() -> Self {
        Self { mark: Mark::None, option: None, text: String::new(), moved: false, sure: None }
    }
}
