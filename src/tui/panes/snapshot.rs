//! Snapshot of the round, and the addressed lines of the chosen seat.

use ratatui::style::Style;
use ratatui::text::Line;

use crate::insight::wording::group_digits;
use crate::tui::model::Model;
use crate::tui::text::{paragraph, wrapped};

pub fn title(model: &Model) -> String {
    let shown = model.shown_round().map(|round| &*round.opened);
    let Some(opened) = model.preview().map(|preview| &preview.opened).or(shown) else {
        return "Snapshot".to_owned();
    };
    let shows_diff = model.live().is_some_and(|live| live.shows_diff && live.preview.is_some());
    let what = match model.preview() {
        Some(preview) if shows_diff && preview.is_changed => "Snapshot · what changed",
        _ if shows_diff => "Snapshot · diff with previous round",
        Some(_) => "Snapshot to be sent",
        None => "Snapshot",
    };
    let short: String = opened.snapshot_sha256.chars().take(12).collect();
    format!("{what} · {} bytes · sha256 {short}", group_digits(opened.snapshot_bytes))
}

pub fn lines(model: &Model, width: u16) -> Vec<Line<'static>> {
    let (width, theme) = (usize::from(width), model.theme);
    let whole = |text: &str| paragraph(text.trim_end(), width, usize::MAX, Style::new());
    if let Some(preview) = model.preview() {
        if !model.live().is_some_and(|live| live.shows_diff) || preview.diff.is_empty() {
            return whole(&preview.opened.snapshot);
        }
        let line = |(sign, text): &(char, String)| {
            let style = match sign {
                '+' => theme.good(),
                '-' => theme.bad(),
                _ => theme.faint(),
            };
            let lines = wrapped(text, width.saturating_sub(2), usize::MAX).into_iter();
            lines.map(|line| Line::styled(format!("{sign} {line}"), style)).collect::<Vec<_>>()
        };
        return preview.diff.iter().flat_map(line).collect();
    }
    let Some(round) = model.shown_round() else { return Vec::new() };
    let mut lines = whole(&round.opened.snapshot);
    let chosen = model.seat.min(round.seats.len().saturating_sub(1));
    if let Some(item) = round.seats.get_index(chosen).and_then(|(_, seat)| seat.item.as_ref()) {
        lines.extend(paragraph(item.address.trim_end(), width, 50, theme.faint()));
    }
    lines
}
