//! What a pane shows: its title, and all its lines where it is a text.

use ratatui::text::Line;

use super::{answer, question, results, snapshot, tally, workflow_map};
use crate::tui::model::{Model, Pane};

pub fn title(model: &Model, pane: Pane) -> String {
    match pane {
        Pane::Question => question::title(model),
        Pane::Answer => answer::title(model),
        Pane::Snapshot => snapshot::title(model),
        Pane::Steps => " Workflow ".to_owned(),
        Pane::Results => " Step results ".to_owned(),
        _ => " Tally ".to_owned(),
    }
}

/// All lines of a pane of text.
pub fn lines(model: &Model, pane: Pane, width: u16) -> Vec<Line<'static>> {
    match pane {
        Pane::Question => question::lines(model, width),
        Pane::Tally => tally::lines(model, width),
        Pane::Answer => answer::lines(model, model.seat, width),
        Pane::Snapshot => snapshot::lines(model, width),
        Pane::Steps => workflow_map::lines(model, width),
        Pane::Results => results::lines(model, width),
        Pane::Seats | Pane::Events => Vec::new(),
    }
}
