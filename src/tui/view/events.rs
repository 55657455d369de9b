//! The events up to the one shown, and those to come, faint.

use ratatui::text::Line;

use crate::tui::model::Model;
use crate::tui::text::safe;

/// The pane's title and the lines that are seen.
pub fn pane(model: &Model, _width: u16, scroll: usize, height: usize) -> (String, Vec<Line<'static>>) {
    let replay = &model.replay;
    let seat = if model.only_seat { model.seat_name() } else { None };
    let is_shown =
        |index: &usize| !replay.text(*index).is_empty() && seat.is_none_or(|seat| replay.is_about(*index, seat));
    let current = replay.at().saturating_sub(1);
    // As many before the current event as fit in half the pane, then what follows.
    let mut before: Vec<usize> = (0..=current.min(replay.len().saturating_sub(1)))
        .rev()
        .filter(is_shown)
        .skip(scroll)
        .take(height.div_ceil(2))
        .collect();
    before.reverse();
    let next = before.last().map_or(current, |last| last + 1);
    let after = (next..replay.len()).filter(is_shown).take(height.saturating_sub(before.len()));
    let line = |index: usize| {
        let text = format!("{:>5}  {}", replay.lines()[index].seq, safe(replay.text(index)).replace('\n', " "));
        match index {
            index if index == current && replay.at() > 0 => Line::styled(text, model.theme.chosen()),
            index if index < replay.at() => Line::from(text),
            _ => Line::styled(text, model.theme.faint()),
        }
    };
    let lines = if replay.is_empty() { Vec::new() } else { before.into_iter().chain(after).map(line).collect() };
    let title = match seat {
        Some(seat) => format!(" events of {} ", crate::text::harmless_line(seat)),
        None => " events ".to_owned(),
    };
    (title, lines)
}
