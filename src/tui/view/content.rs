//! What a pane shows: its title, and all its lines where it is a text.

use ratatui::text::Line;

use super::{answer, checks, question, results, seat_card, snapshot, steps, tally};
use crate::tui::model::{Model, Pane};

pub fn title(model: &Model, pane: Pane) -> String {
    match pane {
        Pane::Question => question::title(model),
        Pane::Answer => answer::title(model),
        Pane::Snapshot => snapshot::title(model),
        Pane::Steps => " Steps ".to_owned(),
        Pane::Results => " Step results ".to_owned(),
        Pane::Checks => checks::title(model),
        _ if model.session().open_round().is_some() => seat_card::title(model),
        _ => " Tally ".to_owned(),
    }
}

pub fn lines(model: &Model, pane: Pane, width: u16) -> Vec<Line<'static>> {
    match pane {
        Pane::Question => question::lines(model, width),
        Pane::Tally => tally::lines(model, width),
        Pane::Answer => answer::lines(model, model.seat, width),
        Pane::Snapshot => snapshot::lines(model, width),
        Pane::Steps => steps::lines(model, width),
        Pane::Results => results::lines(model, width),
        Pane::Checks => checks::lines(model, width),
        Pane::Seats | Pane::Events => Vec::new(),
    }
}
