//! The events up to the one shown; of those to come only their number.

use ratatui::text::Line;

use crate::tui::cell_text::{safe, without_cut_number};
use crate::tui::model::{Mode, Model};

/// The pane's title and the lines that are seen.
pub fn pane(model: &Model, scroll: usize, (width, height): (usize, usize)) -> (String, Vec<Line<'static>>) {
    let replay = &model.replay;
    let seat = if model.only_seat { model.seat_name() } else { None };
    let is_shown = |index: &usize| seat.is_none_or(|seat| replay.is_about(*index, seat));
    let text = |index: usize| replay.text(index).map(|text| (index, text));
    // What is still to come is not shown: the reveal happens as it happened.
    let mut shown: Vec<(usize, String)> = (0..replay.at())
        .rev()
        .filter(is_shown)
        .filter_map(text)
        .skip(scroll)
        .take(height.saturating_sub(1))
        .collect();
    shown.reverse();
    let is_replay = matches!(model.mode, Mode::Replay);
    let line = |(index, text): (usize, String)| {
        let text = format!("{:>5}  {}", replay.lines()[index].seq, safe(&text).replace('\n', " "));
        let text = without_cut_number(&text, width);
        let is_current = is_replay && index + 1 == replay.at();
        if is_current { Line::styled(text, model.theme.chosen()) } else { Line::from(text) }
    };
    let to_come = replay.len() - replay.at();
    let mut lines: Vec<Line<'static>> = shown.into_iter().map(line).collect();
    if to_come > 0 {
        let text = format!("{} {to_come} later events", model.theme.sign("…", "..."));
        lines.push(Line::styled(format!("       {text}"), model.theme.faint()));
    }
    let title = match seat {
        Some(seat) => format!(" Events of {} ", crate::sanitize::harmless_line(seat)),
        None => " Events ".to_owned(),
    };
    (title, lines)
}
