//! What lies over the panes: the search line, lists, questions.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};
use unicode_width::UnicodeWidthStr as _;

use super::click_map::{ClickMap, Target};
use crate::sanitize::harmless_line;
use crate::tui::cell_text::{clipped, cut_middle, safe, wrapped};
use crate::tui::list::{List, ListKind};
use crate::tui::model::{Ask, Model, Overlay};

pub fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model, hits: &mut ClickMap) {
    match &model.overlay {
        None => {}
        Some(Overlay::Search(words)) => search(frame, area, model, words),
        Some(Overlay::Form(form)) => super::form::draw(frame, area, model, form, hits),
        Some(Overlay::List(shown)) => list(frame, area, model, shown, hits),
        Some(Overlay::Text(read)) => super::reading::draw(frame, area, model, read),
        Some(Overlay::Ask(asked)) => ask(frame, area, model, asked),
    }
}

fn search(frame: &mut Frame<'_>, area: Rect, model: &Model, words: &str) {
    let line = Rect { y: area.bottom().saturating_sub(1), height: 1, ..area };
    frame.render_widget(Clear, line);
    let text = format!("/{}{}", safe(words), model.theme.sign("▏", "_"));
    frame.render_widget(Paragraph::new(Line::styled(text, model.theme.strong())), line);
}

/// Lists with more rows have room for what is typed from the start, so that they keep their height.
const LONG: usize = 8;

fn list(frame: &mut Frame<'_>, area: Rect, model: &Model, list: &List, hits: &mut ClickMap) {
    let theme = model.theme;
    let rows = list.shown();
    let has_line = list.is_typed_in() && (list.rows.len() > LONG || !list.typed.is_empty());
    let width = |row: &str| harmless_line(row).width();
    let about = list.rows.iter().map(|row| width(&row.about)).max().unwrap_or(0);
    let most = if about == 0 { 104 } else { 48 };
    let text = list.rows.iter().map(|row| width(&row.text)).max().unwrap_or(0).min(most);
    let widest = (text + about + 8).max(list.title.width() + 6).max(list.keys.width() + 6);
    let inside = usize::from(area.width.min(110)).min(widest.max(44)).saturating_sub(2);
    let room = usize::from(area.height.saturating_sub(2 + u16::from(has_line)));
    let start = (list.at + 1).saturating_sub(room);
    let mut lines = Vec::new();
    if has_line {
        let typed = format!(" > {}{}", safe(&list.typed), theme.sign("▏", "_"));
        let count = format!("{} of {} ", rows.len(), list.rows.len());
        let gap = inside.saturating_sub(typed.width() + count.width());
        let count = Span::styled(format!("{}{count}", " ".repeat(gap)), theme.faint());
        lines.push(Line::from(vec![Span::styled(typed, theme.strong()), count]));
    }
    for (at, (_, row)) in rows.iter().enumerate().skip(start).take(room) {
        let pointer = if at == list.at { theme.sign("▸", ">") } else { " " };
        let style = if list.kind == ListKind::Palette { theme.key() } else { ratatui::style::Style::new() };
        let text = text.min(inside.saturating_sub(3));
        let name = clipped(&cut_middle(&harmless_line(&row.text), text), text);
        let about = clipped(&harmless_line(&row.about), inside.saturating_sub(text + 5));
        let line = Line::from(vec![
            Span::raw(format!(" {pointer} ")),
            Span::styled(name, style),
            Span::styled(format!("  {}", about.trim_end()), theme.faint()),
        ]);
        lines.push(if at == list.at { line.style(theme.chosen()) } else { line });
    }
    if rows.is_empty() {
        lines.push(Line::from("   nothing holds this; Esc empties it"));
    }
    // It keeps its height while it is narrowed.
    let height = list.rows.len().min(room) + usize::from(has_line);
    lines.resize(height.max(lines.len()), Line::default());
    let inner = popup(frame, area, model, &list.title, lines, u16::try_from(inside + 2).unwrap_or(u16::MAX));
    let keys = Rect { x: inner.x + 1, y: inner.bottom(), height: 1, width: inner.width.saturating_sub(2) };
    let text = clipped(&harmless_line(&list.keys), list.keys.width().min(usize::from(keys.width)));
    let keys = Rect { width: u16::try_from(text.width() + 2).unwrap_or(u16::MAX), ..keys }.intersection(area);
    frame.render_widget(Paragraph::new(Line::styled(format!(" {text} "), theme.faint())), keys);
    let first = inner.y + u16::from(has_line);
    for (y, at) in (first..inner.bottom()).zip(start..rows.len()) {
        hits.note(Rect { y, height: 1, ..inner }, Target::Choice(at));
    }
}

/// A question that `y` agrees to.
fn ask(frame: &mut Frame<'_>, area: Rect, model: &Model, asked: &Ask) {
    let width = area.width.min(64);
    let text = wrapped(&asked.text, usize::from(width.saturating_sub(4)), 9);
    let mut lines: Vec<Line<'static>> = text.iter().map(|line| Line::from(format!(" {line}"))).collect();
    lines.push(Line::from(""));
    lines.push(Line::from(vec![
        Span::styled(" y", model.theme.key()),
        Span::raw(" yes   "),
        Span::styled("Esc", model.theme.key()),
        Span::raw(" no"),
    ]));
    popup(frame, area, model, &asked.title, lines, width);
}

/// A box in the middle of the screen; the place of its lines.
fn popup(
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
