//! The frame of a part of the screen: a line with its title above it, and one at its left where another part is.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use unicode_width::UnicodeWidthStr as _;

use crate::sanitize::harmless_line;
use crate::tui::cell_text::clipped;
use crate::tui::theme::Theme;

/// Where the lines of a part stand: with a margin of one column at both sides.
pub fn inner(area: Rect) -> Rect {
    let left = if area.x == 0 { 1 } else { 2 };
    Rect {
        x: area.x + left,
        y: area.y + 1,
        width: area.width.saturating_sub(left + 1),
        height: area.height.saturating_sub(1),
    }
}

/// How high a part with so many lines is.
pub fn height(lines: usize) -> u16 {
    u16::try_from(lines).unwrap_or(u16::MAX).saturating_add(1)
}

/// What stands in the line above a part.
pub struct Heading {
    pub title: String,
    /// Said at its right end.
    pub note: String,
    pub is_focused: bool,
}

impl Heading {
    pub fn of(title: impl Into<String>) -> Self {
        Self { title: title.into(), note: String::new(), is_focused: false }
    }
}

pub fn draw(frame: &mut Frame<'_>, area: Rect, theme: Theme, heading: &Heading, lines: Vec<Line<'static>>) {
    if area.height == 0 || area.width < 4 {
        return;
    }
    let room = usize::from(area.width).saturating_sub(4);
    let title = harmless_line(heading.title.trim());
    // What is said at the right gives way to the title.
    let note = heading.note.trim();
    let short = note.rsplit(" · ").next().unwrap_or_default();
    let fits = |note: &&str| !note.is_empty() && title.width() + note.width() + 4 <= room;
    let note = [note, short].into_iter().find(fits).map(|note| format!(" {note} ")).unwrap_or_default();
    let title = clipped(&title, title.width().min(room.saturating_sub(note.width())));
    let fill = usize::from(area.width).saturating_sub(title.width() + note.width() + 4);
    let rule = |count: usize| theme.sign("─", "-").repeat(count);
    let (style, over) = if heading.is_focused {
        (theme.key(), theme.strong())
    } else {
        (theme.faint(), ratatui::style::Style::new())
    };
    let line = Line::from(vec![
        Span::styled(rule(1), style),
        Span::styled(format!(" {title} "), over),
        Span::styled(rule(fill), style),
        Span::styled(note, theme.faint()),
        Span::styled(rule(1), style),
    ]);
    frame.render_widget(Paragraph::new(line), Rect { height: 1, ..area });
    join(frame, area, theme);
    frame.render_widget(Paragraph::new(lines), inner(area));
}

/// Draws the line at the left, and joins the lines that meet.
fn join(frame: &mut Frame<'_>, area: Rect, theme: Theme) {
    let (bar, rule) = (theme.sign("│", "|"), theme.sign("─", "-"));
    let buffer = frame.buffer_mut();
    let is_bar = |symbol: &str| symbol == bar || symbol == "┤" || symbol == "├";
    let meets = |x: u16| area.y > 0 && is_bar(buffer[(x, area.y - 1)].symbol());
    let above: Vec<u16> = (area.x..area.right()).filter(|x| meets(*x)).collect();
    for x in above.iter().filter(|x| **x != area.x || area.x == 0) {
        if buffer[(*x, area.y)].symbol() == rule {
            buffer[(*x, area.y)].set_symbol(theme.sign("┴", "+"));
        }
    }
    if area.x == 0 {
        return;
    }
    let corner = if above.contains(&area.x) { theme.sign("├", "+") } else { theme.sign("┬", "+") };
    buffer[(area.x, area.y)].set_symbol(corner).set_style(theme.faint());
    for y in area.y + 1..area.bottom() {
        let meets_rule = buffer[(area.x - 1, y)].symbol() == rule;
        let symbol = if meets_rule { theme.sign("┤", "+") } else { bar };
        buffer[(area.x, y)].set_symbol(symbol).set_style(theme.faint());
    }
}
