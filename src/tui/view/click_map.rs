//! Where things were drawn, and what a click there means.

use ratatui::layout::{Position, Rect};

use crate::tui::keymap::Action;
use crate::tui::model::Pane;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Pane(Pane),
    Seat(usize),
    /// A row of the home screen, by its place among those shown.
    Row(usize),
    Field(usize),
    /// A row of the menu or the palette.
    Choice(usize),
    /// A moment of a replay, by how many events have happened.
    Moment(usize),
    Key(Action),
}

/// What was drawn where; what was drawn later lies over what was drawn before.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClickMap(Vec<(Rect, Target)>);

impl ClickMap {
    pub fn note(&mut self, place: Rect, target: Target) {
        self.0.push((place, target));
    }

    pub fn at(&self, column: u16, row: u16) -> Option<Target> {
        let position = Position { x: column, y: row };
        self.0.iter().rev().find(|(place, _)| place.contains(position)).map(|(_, target)| *target)
    }

    pub fn pane_at(&self, column: u16, row: u16) -> Option<Pane> {
        let position = Position { x: column, y: row };
        self.0.iter().rev().filter(|(place, _)| place.contains(position)).find_map(|(_, target)| match target
        {
            Target::Pane(pane) => Some(*pane),
            _ => None,
        })
    }
}
