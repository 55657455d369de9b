//! A box in the middle of the screen.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Clear, Paragraph};

use crate::sanitize::harmless_line;
use crate::tui::cell_text::clipped;
use crate::tui::model::Model;

/// A box in the middle of the screen; the place of its lines.
pub fn popup(
    frame: &mut Frame<'_>,
    area: Rect,
    model: &Model,
    title: &str,
    lines: Vec<Line<'static>>,
    width: u16,
) -> Rect {
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(2).min(area.height);
    let width = width.min(area.width);
    let place =
        Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
    let title = clipped(&harmless_line(title), usize::from(width.saturating_sub(4)));
    frame.render_widget(Clear, place);
    let framed = Paragraph::new(lines).block(model.theme.block(format!(" {} ", title.trim_end()), true));
    frame.render_widget(framed, place);
    Rect { x: place.x + 1, y: place.y + 1, width: width.saturating_sub(2), height: height.saturating_sub(2) }
}
