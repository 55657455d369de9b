//! What a pane shows: its title, and all its lines where it is a text.

use ratatui::text::Line;

use super::{answer, checks, question, seat_card, snapshot, steps, tally, votes};
use crate::tui::model::{Model, Pane};

pub fn title(model: &Model, pane: Pane) -> String {
    match pane {
        Pane::Question => question::title(model),
        Pane::Answer => answer::title(model),
        Pane::Snapshot => snapshot::title(model),
        Pane::Steps => " Steps ".to_owned(),
        Pane::Checks => checks::title(model),
        _ if model.session().open_round().is_some() => seat_card::title(model),
        _ => match model.shown_round().filter(|_| model.preview().is_none()) {
            Some(round) if super::reveal::round(model).is_some() => format!("Votes · {}", votes::unit(round)),
            _ => "Tally".to_owned(),
        },
    }
}

pub fn lines(model: &Model, pane: Pane, width: u16) -> Vec<Line<'static>> {
    match pane {
        Pane::Question => question::lines(model, width),
        Pane::Tally => tally::lines(model, width),
        Pane::Answer => answer::lines(model, model.seat, width),
        Pane::Snapshot => snapshot::lines(model, width),
        Pane::Steps => steps::lines(model, width),
        Pane::Checks => checks::lines(model, width),
        Pane::Seats | Pane::Events => Vec::new(),
    }
}
