//! The snapshot: exactly what the chosen seat was sent above its own lines, and those lines.

use ratatui::text::Line;

use crate::report::words::grouped;
use crate::tui::model::Model;
use crate::tui::text::wrapped;

/// The pane's title and the lines that are seen.
pub fn pane(model: &Model, width: u16, scroll: usize, height: usize) -> (String, Vec<Line<'static>>) {
    let Some(round) = model.replay.session().rounds.last() else {
        return (" snapshot ".to_owned(), Vec::new());
    };
    let opened = &round.opened;
    let short: String = opened.snapshot_sha256.chars().take(12).collect();
    let title = format!(" snapshot · {} bytes · sha256 {short} ", grouped(opened.snapshot_bytes));
    let chosen = model.seat.min(round.seats.len().saturating_sub(1));
    let address = round.seats.get_index(chosen).and_then(|(_, seat)| seat.item.as_ref());
    let text = format!("{}{}", opened.snapshot, address.map_or("", |item| item.address.as_str()));
    let lines = wrapped(text.trim_end(), usize::from(width), usize::MAX);
    let faint = model.theme.faint();
    let own = lines.len().saturating_sub(1);
    let line = |(index, line): (usize, String)| {
        if index == own && address.is_some() { Line::styled(line, faint) } else { Line::from(line) }
    };
    (title, super::from(lines.into_iter().enumerate().map(line).collect(), scroll, height))
}
