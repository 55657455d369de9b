//! Panes of the screen: names and frames.
//!
//! A frame is a title line above a pane, and a line between panes side by side.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::symbols::border;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Clear, Paragraph};
use unicode_width::UnicodeWidthStr as _;

use super::text::{clipped, clipped_middle};
use super::theme::Theme;
use crate::sanitize::harmless_line;

/// In the order of the Tab key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pane {
    Question,
    #[default]
    Seats,
    Tally,
    Answer,
    Snapshot,
    Steps,
    Checks,
}

use Pane::{Answer, Checks, Question, Seats, Snapshot, Steps, Tally};

impl Pane {
    pub const ALL: [Self; 7] = [Question, Seats, Tally, Answer, Snapshot, Steps, Checks];
}

/// Returns the area of a pane's lines, with a margin of one column at both sides.
pub fn inner(area: Rect) -> Rect {
    let left = if area.x == 0 { 1 } else { 2 };
    Rect {
        x: area.x + left,
        y: area.y + 1,
        width: area.width.saturating_sub(left + 1),
        height: area.height.saturating_sub(1),
    }
}

/// Converts a count to screen cells; saturates.
pub fn cells(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

pub fn height(lines: usize) -> u16 {
    cells(lines).saturating_add(1)
}

pub struct Heading {
    pub title: String,
    /// Shown at the right end of the title.
    pub note: String,
    pub is_focused: bool,
}

pub fn draw(frame: &mut Frame<'_>, area: Rect, theme: Theme, heading: &Heading, lines: Vec<Line<'static>>) {
    if area.height == 0 || area.width < 4 {
        return;
    }
    let room = usize::from(area.width).saturating_sub(4);
    let title = harmless_line(heading.title.trim());
    // A long title displaces the note.
    let note = format!(" {} ", heading.note.trim());
    let fits = note.width() > 2 && title.width() + note.width() + 2 <= room;
    let note = if fits { note + "─" } else { String::new() };
    let title = clipped(&title, title.width().min(room.saturating_sub(note.width())));
    let (style, over) =
        if heading.is_focused { (theme.key(), theme.strong()) } else { (theme.faint(), Style::new()) };
    let (sides, corner) = if area.x > 0 { (Borders::TOP | Borders::LEFT, "") } else { (Borders::TOP, "─") };
    let title = vec![Span::styled(corner, style), Span::styled(format!(" {title} "), over)];
    // Joins the vertical line of the pane above.
    let is_under = area.y > 0 && frame.buffer_mut()[(area.x, area.y - 1)].symbol() == "│";
    let block = Block::new()
        .borders(sides)
        .border_set(border::Set { top_left: if is_under { "├" } else { "┬" }, ..border::PLAIN })
        .border_style(style)
        .title(Line::from(title))
        .title(Line::styled(note, theme.faint()).right_aligned());
    frame.render_widget(block, area);
    frame.render_widget(Paragraph::new(lines), inner(area));
}

/// Returns the start of a row: a pointer at the chosen one, a sign, the name in `width` columns.
pub fn row_start(
    theme: Theme,
    is_chosen: bool,
    sign: Span<'static>,
    name: &str,
    width: usize,
) -> Line<'static> {
    let style = if is_chosen { theme.strong() } else { Style::new() };
    let pointer = if is_chosen { "▸" } else { " " };
    let name = format!(" {}  ", clipped_middle(&harmless_line(name), width));
    Line::from(vec![Span::raw(pointer), sign, Span::styled(name, style)])
}

/// Draws a box in the middle of the screen, with its keys in the lower edge.
pub fn popup(
    frame: &mut Frame<'_>,
    area: Rect,
    theme: Theme,
    title: &str,
    lines: Vec<Line<'static>>,
    foot: Line<'static>,
    width: u16,
) {
    let height = height(lines.len()).saturating_add(1).min(area.height);
    let width = width.min(area.width);
    let place =
        Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
    let block = theme.block(title, width).title_bottom(foot);
    frame.render_widget(Clear, place);
    frame.render_widget(Paragraph::new(lines).block(block), place);
}
