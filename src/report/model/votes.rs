//! Table of votes: one row per seat, one column per round with ballots.

use indexmap::IndexMap;
use serde::Serialize;

use super::dissent::sure;
use super::options::{Badge, Letters, stance_badge};
use super::question::QuestionRounds;
use crate::ballot::Ballot;
use crate::history::RoundRun;
use crate::insight::movement::earlier;
use crate::insight::{SeatView, seats};
use crate::round::answer::Outcome;

#[derive(Debug, Default, Serialize)]
pub struct Cell {
    /// Letter of the option, or ✓ support, – stand aside, ✕ block, ○ abstained, ! failed, ? invalid.
    #[serde(flatten)]
    pub badge: Badge,
    pub text: String,
    /// Set if the seat voted otherwise in the last round of the same question.
    pub moved: bool,
    pub sure: Option<String>,
}

#[derive(Debug, Serialize)]
pub struct Row<'a> {
    #[serde(rename = "participant")]
    pub seat: &'a str,
    pub model: &'a str,
    pub cells: Vec<Cell>,
}

#[derive(Debug, Serialize)]
pub struct Column<'a> {
    pub round: &'a str,
    pub number: u32,
}

#[derive(Debug, Serialize)]
pub struct Table<'a> {
    pub rounds: Vec<Column<'a>>,
    pub rows: Vec<Row<'a>>,
}

impl<'a> QuestionRounds<'a> {
    pub fn table(&self) -> Table<'a> {
        let mut rows: IndexMap<&'a str, Row<'a>> = IndexMap::new();
        let letters = self.letters();
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
                let mut cell = cell(&seat, &letters);
                let was = before.and_then(|before| row.cells.get(before));
                // A block that only adds its condition is the same block.
                let (mark, text) = (&cell.badge.mark, &cell.text);
                let is_other = |was: &Cell| was.badge.mark != *mark || mark.is_empty() && was.text != *text;
                cell.moved = was.is_some_and(|was| !was.text.is_empty() && is_other(was));
                row.cells.push(cell);
            }
        }
        let mut rows: Vec<Row<'a>> = rows.into_values().collect();
        for row in &mut rows {
            row.cells.resize_with(voted.len(), Cell::default);
        }
        let column = |run: &&'a RoundRun| Column { round: &run.opened.round, number: run.opened.number };
        Table { rounds: voted.iter().map(column).collect(), rows }
    }
}

fn cell(seat: &SeatView<'_>, letters: &Letters) -> Cell {
    let Some(ballot) = seat.ballot() else {
        let mark = match seat.outcome {
            None | Some(Outcome::Answered) => return Cell::default(),
            Some(Outcome::Abstained) => "○",
            Some(Outcome::Invalid) => "?",
            Some(Outcome::Refused | Outcome::Failed | Outcome::TimedOut) => "!",
            Some(Outcome::Missing | Outcome::Excused) => "·",
        };
        let text = seat.outcome.map_or("", |outcome| outcome.name()).replace('_', " ");
        let badge = Badge { mark: mark.to_owned(), tone: None };
        return Cell { badge, text, sure: sure(seat), moved: false };
    };
    let text = ballot.brief().unwrap_or_default();
    let badge = if let Ballot::Choice(option) = ballot { letters.badge(option) } else { stance_badge(seat) };
    Cell { badge: badge.unwrap_or_default(), text, moved: false, sure: sure(seat) }
}
