//! The parts of the screen: their names, their frames, and what was drawn where, for the mouse.
//!
//! A frame is a line with the title above a part, and one at its left where another part is.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};
use unicode_width::UnicodeWidthStr as _;

use super::keys::Action;
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
    Events,
    Steps,
    Checks,
}

use Pane::{Answer, Checks, Events, Question, Seats, Snapshot, Steps, Tally};

impl Pane {
    pub const ALL: [Self; 8] = [Question, Seats, Tally, Answer, Snapshot, Events, Steps, Checks];

    pub fn index(self) -> usize {
        self as usize
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    Pane(Pane),
    Seat(usize),
    /// A row of the home screen, by its place among those shown.
    Row(usize),
    Field(usize),
    Choice(usize),
    /// A moment of a replay, by how many events have happened.
    Moment(usize),
    Key(Action),
}

/// The places of what was drawn; the later lies over the earlier.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClickMap(Vec<(Rect, Target)>);

impl ClickMap {
    pub fn note(&mut self, place: Rect, target: Target) {
        self.0.push((place, target));
    }

    pub fn at(&self, column: u16, row: u16) -> Option<Target> {
        self.all_at(column, row).next()
    }

    pub fn pane_at(&self, column: u16, row: u16) -> Option<Pane> {
        self.all_at(column, row)
            .find_map(|target| if let Target::Pane(pane) = target { Some(pane) } else { None })
    }

    fn all_at(&self, column: u16, row: u16) -> impl Iterator<Item = Target> {
        let position = Position { x: column, y: row };
        let hits = self.0.iter().rev().filter(move |(place, _)| place.contains(position));
        hits.map(|(_, target)| *target)
    }
}

/// Returns the area of a part's lines: with a margin of one column at both sides.
pub fn inner(area: Rect) -> Rect {
    let left = if area.x == 0 { 1 } else { 2 };
    Rect {
        x: area.x + left,
        y: area.y + 1,
        width: area.width.saturating_sub(left + 1),
        height: area.height.saturating_sub(1),
    }
}

/// A count or width as the screen has it.
pub fn cells(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

pub fn height(lines: usize) -> u16 {
    cells(lines).saturating_add(1)
}

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
    // The note at the right gives way to the title.
    let note = heading.note.trim();
    let short = note.rsplit(" · ").next().unwrap_or_default();
    let fits = |note: &&str| !note.is_empty() && title.width() + note.width() + 4 <= room;
    let note = [note, short].into_iter().find(fits).map(|note| format!(" {note} ")).unwrap_or_default();
    let title = clipped(&title, title.width().min(room.saturating_sub(note.width())));
    let fill = usize::from(area.width).saturating_sub(title.width() + note.width() + 4);
    let (style, over) =
        if heading.is_focused { (theme.key(), theme.strong()) } else { (theme.faint(), Style::new()) };
    let line = Line::from(vec![
        Span::styled("─", style),
        Span::styled(format!(" {title} "), over),
        Span::styled("─".repeat(fill), style),
        Span::styled(note, theme.faint()),
        Span::styled("─", style),
    ]);
    frame.render_widget(Paragraph::new(line), Rect { height: 1, ..area });
    join(frame, area, theme);
    frame.render_widget(Paragraph::new(lines), inner(area));
}

/// Draws the line at the left, and joins the lines that meet.
fn join(frame: &mut Frame<'_>, area: Rect, theme: Theme) {
    let (bar, rule) = ("│", "─");
    let buffer = frame.buffer_mut();
    let is_bar = |symbol: &str| symbol == bar || symbol == "┤" || symbol == "├";
    let meets = |x: u16| area.y > 0 && is_bar(buffer[(x, area.y - 1)].symbol());
    let above: Vec<u16> = (area.x..area.right()).filter(|x| meets(*x)).collect();
    for x in above.iter().filter(|x| **x != area.x || area.x == 0) {
        if buffer[(*x, area.y)].symbol() == rule {
            buffer[(*x, area.y)].set_symbol("┴");
        }
    }
    if area.x == 0 {
        return;
    }
    let corner = if above.contains(&area.x) { "├" } else { "┬" };
    buffer[(area.x, area.y)].set_symbol(corner).set_style(theme.faint());
    for y in area.y + 1..area.bottom() {
        let meets_rule = buffer[(area.x - 1, y)].symbol() == rule;
        let symbol = if meets_rule { "┤" } else { bar };
        buffer[(area.x, y)].set_symbol(symbol).set_style(theme.faint());
    }
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

/// A box in the middle of the screen; the place of its lines.
pub fn popup(
    frame: &mut Frame<'_>,
    area: Rect,
    theme: Theme,
    title: &str,
    lines: Vec<Line<'static>>,
    width: u16,
) -> Rect {
    let height = height(lines.len()).saturating_add(1).min(area.height);
    let width = width.min(area.width);
    let place =
        Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
    let title = clipped(&harmless_line(title), usize::from(width.saturating_sub(4)));
    let block = theme.block(format!(" {} ", title.trim_end()), true);
    let inner = block.inner(place);
    frame.render_widget(Clear, place);
    frame.render_widget(Paragraph::new(lines).block(block), place);
    inner
}
