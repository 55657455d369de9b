//! The desk on which ideas are merged: options, ideas that are not placed yet, ideas set aside.
//!
//! ```text
//!  9 ideas: 7 in 4 options, 1 set aside, 1 left
//! ╭ options ────────────────────╮╭ not placed (1) ───────────────╮
//! │▸A redis: One Redis          ││▸Let the browser cache it      │
//! │   One Redis for all hosts   ││ Cache-Control: max-age=60 …   │
//! │ B in-process: In process    │├ set aside (1) ────────────────┤
//! ╰─────────────────────────────╯╰───────────────────────────────╯
//! ```

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use crate::sanitize::harmless_line;
use crate::tui::cell_text::{clipped, wrapped};
use crate::tui::form::{MergeDesk, Row, Typing};
use crate::tui::model::Model;

/// From this width on the two lists stand beside each other.
const WIDE: u16 = 70;

pub fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model, desk: &MergeDesk, is_at: bool) {
    let [head, body] = Layout::vertical([Constraint::Length(1), Constraint::Min(1)]).areas(area);
    let (words, style) = match &desk.typing {
        Some((purpose, text)) => {
            let what = match purpose {
                Typing::Title(_) => "title",
                Typing::Reason(_) => "set aside because",
            };
            (format!(" {what}: {}{}", harmless_line(text), model.theme.sign("▏", "_")), model.theme.strong())
        }
        None => (format!(" {}", desk.summary()), model.theme.faint()),
    };
    let words = clipped(&words, usize::from(head.width));
    frame.render_widget(Paragraph::new(Line::styled(words, style)), head);
    let halves = [Constraint::Ratio(1, 2), Constraint::Ratio(1, 2)];
    let [left, right] = if body.width >= WIDE {
        Layout::horizontal(halves).areas(body)
    } else {
        Layout::vertical(halves).areas(body)
    };
    column(frame, left, model, desk, false, is_at);
    column(frame, right, model, desk, true, is_at);
}

/// One of the two lists, with the idea of its cursor in full where there is room.
fn column(frame: &mut Frame<'_>, area: Rect, model: &Model, desk: &MergeDesk, is_right: bool, is_at: bool) {
    let is_active = is_at && desk.is_right == is_right;
    let rows = if is_right { desk.right() } else { desk.left() };
    let at = desk.at[usize::from(is_right)];
    let title = if is_right {
        format!(" not placed ({}) · set aside ({}) ", desk.unplaced().len(), desk.merge.set_aside.len())
    } else {
        format!(" options ({}) ", desk.merge.options.len())
    };
    let title = clipped(&title, usize::from(area.width.saturating_sub(2)));
    let block = model.theme.block(title, is_active);
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let (width, height) = (usize::from(inner.width), usize::from(inner.height));
    let below = about(desk, rows.get(at), width, height.saturating_sub(3).min(5));
    let room = height.saturating_sub(below.len());
    let start = (at + 1).saturating_sub(room);
    let mut lines = Vec::new();
    for (index, row) in rows.iter().enumerate().skip(start).take(room) {
        let line = Line::from(clipped(&row_text(model, desk, row, is_right, index == at), width));
        let is_marked = desk.marked.as_ref() == Some(row);
        lines.push(match (index == at && is_active, is_marked) {
            (true, _) => line.style(model.theme.chosen()),
            (_, true) => line.style(model.theme.key()),
            _ => line,
        });
    }
    lines.resize(room, Line::default());
    lines.extend(below.into_iter().map(|line| Line::styled(line, model.theme.faint())));
    frame.render_widget(Paragraph::new(lines), inner);
}

fn row_text(model: &Model, desk: &MergeDesk, row: &Row, is_right: bool, is_here: bool) -> String {
    let pointer = if is_here { model.theme.sign("▸", ">") } else { " " };
    let mark = if desk.marked.as_ref() == Some(row) { "*" } else { "" };
    let text = match row {
        Row::Option(index) => {
            let option = &desk.merge.options[*index];
            let letter = char::from_digit(u32::try_from(*index).unwrap_or(0) % 26 + 10, 36).unwrap_or('?');
            format!("{} {}: {}", letter.to_ascii_uppercase(), option.id, option.title)
        }
        Row::Idea(id) => {
            let title = desk.idea(id).map_or("", |idea| idea.title.as_str());
            let aside = desk.merge.set_aside.iter().find(|aside| aside.idea == *id);
            match (is_right, aside) {
                (true, Some(aside)) => format!("{} {title} – {}", model.theme.sign("✕", "x"), aside.reason),
                (true, None) => title.to_owned(),
                (false, _) => format!("    {title}"),
            }
        }
    };
    format!("{pointer}{mark}{}", harmless_line(&text))
}

/// The text of the idea, or of the option, that the cursor is on.
fn about(desk: &MergeDesk, row: Option<&Row>, width: usize, most: usize) -> Vec<String> {
    let text = match row {
        Some(Row::Idea(id)) => desk.idea(id).map(|idea| idea.text.clone()),
        Some(Row::Option(index)) => desk.merge.options[*index].description.clone(),
        None => None,
    };
    wrapped(&text.unwrap_or_default(), width, most)
}
