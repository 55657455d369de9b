//! What lies over the panes: the keys, the search line, the palette.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph};

use crate::tui::keymap::{BINDINGS, Binding, labels};
use crate::tui::model::{Model, Overlay};
use crate::tui::text::safe;
use crate::tui::update::matching;

/// Draws it, if there is one.
pub fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    match &model.overlay {
        None => {}
        Some(Overlay::Help) => help(frame, area, model),
        Some(Overlay::Search(words)) => {
            let line = Rect { y: area.bottom().saturating_sub(1), height: 1, ..area };
            frame.render_widget(Clear, line);
            let text = format!("/{}{}", safe(words), model.theme.sign("▏", "_"));
            frame.render_widget(Paragraph::new(Line::styled(text, model.theme.strong())), line);
        }
        Some(Overlay::Palette(typed, row)) => palette(frame, area, model, typed, *row),
    }
}

fn row(binding: &Binding, model: &Model) -> Line<'static> {
    let keys = labels(binding);
    Line::from(vec![Span::styled(format!(" {keys:14}"), model.theme.key()), Span::raw(binding.name)])
}

fn popup(frame: &mut Frame<'_>, area: Rect, model: &Model, title: &str, lines: Vec<Line<'static>>) {
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX).saturating_add(2).min(area.height);
    let width = 56.min(area.width);
    let place =
        Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
    let block = Block::bordered()
        .border_set(model.theme.border())
        .border_style(model.theme.strong())
        .title(format!(" {title} "));
    frame.render_widget(Clear, place);
    frame.render_widget(Paragraph::new(lines).block(block), place);
}

fn help(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    let room = usize::from(area.height.saturating_sub(2));
    let mut lines: Vec<Line<'static>> = BINDINGS.iter().map(|binding| row(binding, model)).collect();
    if lines.len() > room {
        // Where not all fit, the palette has the rest.
        lines.truncate(room.saturating_sub(1));
        lines.push(Line::styled(" more: press Esc, then : for every action", model.theme.faint()));
    }
    popup(frame, area, model, "keys", lines);
}

fn palette(frame: &mut Frame<'_>, area: Rect, model: &Model, typed: &str, chosen: usize) {
    let found = matching(typed);
    let room = usize::from(area.height.saturating_sub(4));
    let start = (chosen + 1).saturating_sub(room);
    let mut lines =
        vec![Line::styled(format!(" :{}{}", safe(typed), model.theme.sign("▏", "_")), model.theme.strong())];
    for (index, binding) in found.iter().enumerate().skip(start).take(room) {
        let line = row(binding, model);
        lines.push(if index == chosen { line.style(model.theme.chosen()) } else { line });
    }
    if found.is_empty() {
        lines.push(Line::from(" no such action"));
    }
    popup(frame, area, model, "find an action", lines);
}
