//! What lies over the panes: the search line, the palette, lists, questions.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use super::click_map::{ClickMap, Target};
use crate::sanitize::harmless_line;
use crate::tui::cell_text::{clipped, safe, wrapped};
use crate::tui::keymap::{KeyBinding, labels, matching};
use crate::tui::model::{LeaveTarget, Menu, MenuKind, Model, Overlay};

pub fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model, hits: &mut ClickMap) {
    match &model.overlay {
        None => {}
        Some(Overlay::Search(words)) => search(frame, area, model, words),
        Some(Overlay::Palette(typed, row)) => palette(frame, area, model, typed, *row, hits),
        Some(Overlay::Form(form)) => super::form::draw(frame, area, model, form, hits),
        Some(Overlay::Menu(menu))
            if menu.kind == MenuKind::Agenda && super::pane::has_agenda(model, area) => {}
        Some(Overlay::Menu(menu)) => draw_menu(frame, area, model, menu, hits),
        Some(Overlay::Text(read)) => super::reading::draw(frame, area, model, read),
        Some(Overlay::Confirm(asked)) => confirm(frame, area, model, &asked.title, &asked.text),
        Some(Overlay::Leave(to, _)) => leave(frame, area, model, *to),
    }
}

/// The words searched for, as a line at the bottom.
fn search(frame: &mut Frame<'_>, area: Rect, model: &Model, words: &str) {
    let line = Rect { y: area.bottom().saturating_sub(1), height: 1, ..area };
    frame.render_widget(Clear, line);
    let text = format!("/{}{}", safe(words), model.theme.sign("▏", "_"));
    frame.render_widget(Paragraph::new(Line::styled(text, model.theme.strong())), line);
}

fn row(binding: &KeyBinding, model: &Model) -> Line<'static> {
    let keys = labels(model.keys.keys_for(binding));
    Line::from(vec![Span::styled(format!(" {keys:16}"), model.theme.key()), Span::raw(binding.name)])
}

fn palette(
    frame: &mut Frame<'_>,
    area: Rect,
    model: &Model,
    typed: &str,
    chosen: usize,
    hits: &mut ClickMap,
) {
    let found = matching(model.screen_state(), typed);
    let room = usize::from(area.height.saturating_sub(4));
    let start = (chosen + 1).saturating_sub(room);
    let mut lines =
        vec![Line::styled(format!(" :{}{}", safe(typed), model.theme.sign("▏", "_")), model.theme.strong())];
    for (index, binding) in found.iter().enumerate().skip(start).take(room) {
        let line = row(binding, model);
        lines.push(if index == chosen { line.style(model.theme.chosen()) } else { line });
    }
    if found.is_empty() {
        lines.push(Line::from(" No matching action"));
    }
    let inner = popup(frame, area, model, "Command palette", lines, 60);
    for (row, index) in (inner.y + 1..inner.bottom()).zip(start..found.len()) {
        hits.note(Rect { y: row, height: 1, ..inner }, Target::Choice(index));
    }
}

fn draw_menu(frame: &mut Frame<'_>, area: Rect, model: &Model, menu: &Menu, hits: &mut ClickMap) {
    let room = usize::from(area.height.saturating_sub(2));
    let start = (menu.at + 1).saturating_sub(room);
    let rows = menu.rows.iter().chain([&menu.hint]);
    let widest = rows.map(|row| row.chars().count()).max().unwrap_or(0) + 6;
    let width = u16::try_from(widest.max(menu.title.chars().count() + 6)).unwrap_or(u16::MAX).clamp(40, 110);
    let line = |(index, row): (usize, &String)| {
        let is_chosen = index == menu.at && menu.kind != MenuKind::ReadOnly;
        let pointer = if is_chosen { model.theme.sign("▸", ">") } else { " " };
        let line = Line::from(format!(" {pointer} {}", harmless_line(row)));
        if is_chosen { line.style(model.theme.chosen()) } else { line }
    };
    let lines = menu.rows.iter().enumerate().skip(start).take(room).map(line).collect();
    let inner = popup(frame, area, model, &menu.title, lines, width);
    let hint = Rect { y: inner.bottom(), height: 1, ..inner }.intersection(area);
    if !menu.hint.is_empty() {
        let text =
            clipped(&harmless_line(&menu.hint), usize::from(inner.width).min(menu.hint.chars().count()));
        frame.render_widget(Paragraph::new(Line::styled(format!(" {text} "), model.theme.faint())), hint);
    }
    for (row, index) in (inner.y..inner.bottom()).zip(start..menu.rows.len()) {
        hits.note(Rect { y: row, height: 1, ..inner }, Target::Choice(index));
    }
}

fn leave(frame: &mut Frame<'_>, area: Rect, model: &Model, to: LeaveTarget) {
    let question = if to == LeaveTarget::Quit { "Quit roundtable?" } else { "Go to the home screen?" };
    let text = "A round is open. Sealed answers are saved; unfinished seats are asked again when you resume.";
    confirm(frame, area, model, question, text);
}

/// A question that `y` agrees to.
fn confirm(frame: &mut Frame<'_>, area: Rect, model: &Model, title: &str, text: &str) {
    let width = area.width.min(64);
    let text = wrapped(text, usize::from(width.saturating_sub(4)), 9);
    let mut lines: Vec<Line<'static>> = text.iter().map(|line| Line::from(format!(" {line}"))).collect();
    lines.push(Line::from(""));
    lines.push(Line::from(vec![
        Span::styled(" y", model.theme.key()),
        Span::raw(" yes   "),
        Span::styled("Esc", model.theme.key()),
        Span::raw(" no"),
    ]));
    popup(frame, area, model, title, lines, width);
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
