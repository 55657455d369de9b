//! The snapshot: exactly what would be sent, or what the chosen seat was sent, and its own lines.

use ratatui::text::Line;

use crate::insight::wording::group_digits;
use crate::tui::cell_text::wrapped;
use crate::tui::model::Model;

pub fn title(model: &Model) -> String {
    let opened = match model.preview() {
        Some(preview) => &preview.opened,
        None => match model.shown_round() {
            Some(round) => &*round.opened,
            None => return " Snapshot ".to_owned(),
        },
    };
    let short: String = opened.snapshot_sha256.chars().take(12).collect();
    let what = match model.live().filter(|live| live.shows_diff && live.preview.is_some()) {
        Some(_) if model.preview().is_some_and(|preview| preview.is_changed) => "Snapshot · what changed",
        Some(_) => "Snapshot · diff with previous round",
        None if model.preview().is_some() => "Snapshot to be sent",
        None => "snapshot",
    };
    format!(" {what} · {} bytes · sha256 {short} ", group_digits(opened.snapshot_bytes))
}

pub fn lines(model: &Model, width: u16) -> Vec<Line<'static>> {
    let width = usize::from(width);
    if let Some(preview) = model.preview() {
        if model.live().is_some_and(|live| live.shows_diff) && !preview.diff.is_empty() {
            return difference(model, &preview.diff, width);
        }
        let text = preview.opened.snapshot.trim_end();
        return wrapped(text, width, usize::MAX).into_iter().map(Line::from).collect();
    }
    let Some(round) = model.shown_round() else { return Vec::new() };
    let chosen = model.seat.min(round.seats.len().saturating_sub(1));
    let address = round.seats.get_index(chosen).and_then(|(_, seat)| seat.item.as_ref());
    let mut lines: Vec<Line<'static>> =
        wrapped(round.opened.snapshot.trim_end(), width, usize::MAX).into_iter().map(Line::from).collect();
    if let Some(item) = address {
        let own = wrapped(item.address.trim_end(), width, 50);
        lines.extend(own.into_iter().map(|line| Line::styled(line, model.theme.faint())));
    }
    lines
}

fn difference(model: &Model, diff: &[(char, String)], width: usize) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for (sign, text) in diff {
        let style = match sign {
            '+' => model.theme.good(),
            '-' => model.theme.bad(),
            _ => model.theme.faint(),
        };
        for line in wrapped(text, width.saturating_sub(2), usize::MAX) {
            lines.push(Line::styled(format!("{sign} {line}"), style));
        }
    }
    lines
}
