//! What lies over the panes: the keys, the search line, the palette.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};

use super::click_map::{ClickMap, Target};
use super::popup::popup;
use crate::sanitize::harmless_line;
use crate::tui::cell_text::{clipped, safe, wrapped};
use crate::tui::keymap::{KeyBinding, labels, matching};
use crate::tui::model::{Asking, LeaveTarget, Menu, MenuKind, Model, Overlay};

pub fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model, hits: &mut ClickMap) {
    match &model.overlay {
        None => {}
        Some(Overlay::Help(at)) => super::help::draw(frame, area, model, *at),
        Some(Overlay::Search(words)) => search(frame, area, model, words),
        Some(Overlay::Palette(typed, row)) => palette(frame, area, model, typed, *row, hits),
        Some(Overlay::Form(form)) => super::form::draw(frame, area, model, form, hits),
        Some(Overlay::Menu(menu))
            if menu.kind == MenuKind::Agenda && super::pane::has_agenda(model, area) => {}
        Some(Overlay::Menu(menu)) => draw_menu(frame, area, model, menu, hits),
        Some(Overlay::Text(read)) => super::reading::draw(frame, area, model, read),
        Some(Overlay::Agree(asking)) => agree(frame, area, model, asking),
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

/// The lines of what the person is asked to agree to, and how many of them fit at once.
fn agree_lines(asking: &Asking, width: u16, height: u16) -> (Vec<String>, usize) {
    let lines = wrapped(&asking.text, usize::from(width.saturating_sub(2)), usize::MAX);
    (lines, usize::from(height.saturating_sub(3)))
}

/// How far it can be scrolled: to where its end is on the screen.
pub fn most_agree(model: &Model) -> usize {
    let Some(Overlay::Agree(asking)) = &model.overlay else { return 0 };
    let (lines, room) = agree_lines(asking, model.size.0, model.size.1);
    lines.len().saturating_sub(room)
}

/// What the person is asked to agree to, over the whole screen; below it, what can be pressed.
fn agree(frame: &mut Frame<'_>, area: Rect, model: &Model, asking: &Asking) {
    let place = Rect { height: area.height.saturating_sub(1), ..area };
    let (all, room) = agree_lines(asking, area.width, area.height);
    let start = asking.scroll.min(all.len().saturating_sub(room));
    let left = all.len().saturating_sub(start + room);
    let shown: Vec<Line<'static>> = all.into_iter().skip(start).take(room).map(Line::from).collect();
    frame.render_widget(Clear, area);
    frame.render_widget(
        Paragraph::new(shown).block(model.theme.block(" Allow this? ".to_owned(), true)),
        place,
    );
    let keys = if left == 0 || asking.is_read {
        vec![Span::styled(" y", model.theme.key()), Span::raw(" agree, and keep that   ")]
    } else {
        vec![Span::styled(" j", model.theme.key()), Span::raw(format!(" {left} more lines   "))]
    };
    let no = [Span::styled("n", model.theme.key()), Span::raw(" no")];
    let line = Line::from(keys.into_iter().chain(no).collect::<Vec<_>>());
    let foot = Rect { y: area.bottom().saturating_sub(1), height: 1, ..area };
    frame.render_widget(Paragraph::new(line), foot);
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
