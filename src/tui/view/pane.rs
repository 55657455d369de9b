//! A pane: its frame, and the part of its lines that is seen.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use ratatui::widgets::{Block, Paragraph};

use super::{
    ClickMap, answer, events, layout, question, results, rows, seats, snapshot, tally, workflow_map,
};
use crate::tui::model::{AnswerLayout, Model, Pane};
use crate::tui::update::Target;

/// Draws the panes that are seen.
pub fn draw_all(frame: &mut Frame<'_>, area: Rect, model: &Model, hits: &mut ClickMap) {
    for (pane, place) in layout::panes(area, model) {
        draw(frame, place, model, pane, hits);
    }
}

/// A pane's frame.
pub fn block(model: &Model, title: String, is_focused: bool) -> Block<'static> {
    let style = if is_focused { model.theme.strong() } else { model.theme.faint() };
    let over = if is_focused { model.theme.strong() } else { Style::new() };
    Block::bordered().border_set(model.theme.border()).border_style(style).title(Line::styled(title, over))
}

fn draw(frame: &mut Frame<'_>, area: Rect, model: &Model, pane: Pane, hits: &mut ClickMap) {
    let width = area.width.saturating_sub(2);
    let height = usize::from(area.height.saturating_sub(2));
    let scroll = model.scroll[pane.index()];
    hits.note(area, Target::Pane(pane));
    let (title, shown) = match pane {
        Pane::Seats => {
            let inner = Rect { x: area.x + 1, y: area.y + 1, width, height: area.height.saturating_sub(2) };
            seats::pane(model, inner, hits)
        }
        Pane::Events => events::pane(model, scroll, height),
        text => (title(model, text), from(lines(model, text, width), scroll, height)),
    };
    frame.render_widget(Paragraph::new(shown).block(block(model, title, model.focus == pane)), area);
}

fn title(model: &Model, pane: Pane) -> String {
    match pane {
        Pane::Question => question::title(model),
        Pane::Answer => answer::title(model),
        Pane::Snapshot => snapshot::title(model),
        Pane::Steps => " Workflow ".to_owned(),
        Pane::Results => " Step results ".to_owned(),
        _ => " Tally ".to_owned(),
    }
}

/// All lines of a pane of text.
pub fn lines(model: &Model, pane: Pane, width: u16) -> Vec<Line<'static>> {
    match pane {
        Pane::Question => question::lines(model, width),
        Pane::Tally => tally::lines(model, width),
        Pane::Answer => answer::lines(model, model.seat, width),
        Pane::Snapshot => snapshot::lines(model, width),
        Pane::Steps => workflow_map::lines(model, width),
        Pane::Results => results::lines(model, width),
        Pane::Seats | Pane::Events => Vec::new(),
    }
}

/// The lines of a pane that are seen: at most `height` from `scroll` on, the last page at least.
fn from(lines: Vec<Line<'static>>, scroll: usize, height: usize) -> Vec<Line<'static>> {
    let start = scroll.min(lines.len().saturating_sub(height));
    lines.into_iter().skip(start).take(height).collect()
}

/// Where a pane is on the screen, or would be if it were looked at.
fn place(model: &Model, pane: Pane) -> Rect {
    let (width, height) = model.size;
    let body = rows(Rect { x: 0, y: 0, width, height }, model)[1];
    let panes = layout::panes(body, model);
    panes.into_iter().find(|(other, _)| *other == pane).map_or(body, |(_, place)| place)
}

/// How far a pane can be scrolled.
pub fn max_scroll(model: &Model, pane: Pane) -> usize {
    let place = place(model, pane);
    let height = usize::from(place.height.saturating_sub(2));
    if pane == Pane::Answer && model.answer_layout == AnswerLayout::SideBySide {
        let (width, height) = model.size;
        return answer::most_beside(model, rows(Rect { x: 0, y: 0, width, height }, model)[1]);
    }
    match pane {
        Pane::Seats => 0,
        Pane::Events => model.replay.at().saturating_sub(1),
        text => lines(model, text, place.width.saturating_sub(2)).len().saturating_sub(height),
    }
}

/// The next line of a pane of text that holds `words`, after or before the first one seen.
pub fn find(model: &Model, pane: Pane, words: &str, forward: bool) -> Option<usize> {
    let place = place(model, pane);
    let lines = lines(model, pane, place.width.saturating_sub(2));
    let words = words.to_lowercase();
    let here = model.scroll[pane.index()].min(max_scroll(model, pane));
    let holds = |index: &usize| lines[*index].to_string().to_lowercase().contains(&words);
    let found = if forward {
        (here + 1..lines.len())
            .find(holds)
            .or_else(|| (0..=here.min(lines.len().saturating_sub(1))).find(holds))
    } else {
        (0..here.min(lines.len())).rev().find(holds)
    };
    found.filter(|_| !lines.is_empty())
}

/// The pane that is looked at as plain text, unless it is a list.
pub fn pane_text(model: &Model) -> Option<String> {
    let text: Vec<String> = lines(model, model.focus, 200).iter().map(ToString::to_string).collect();
    Some(text.join("\n")).filter(|text| !text.trim().is_empty())
}

/// The tally as plain text.
pub fn tally_text(model: &Model) -> Option<String> {
    model.session().rounds.last().and_then(crate::insight::round_view::tally)?;
    let text: Vec<String> = tally::lines(model, 100).iter().map(ToString::to_string).collect();
    Some(text.join("\n"))
}
