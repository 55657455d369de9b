//! The home screen: what was begun, and ways to begin.
//!
//! ```text
//!  roundtable                                               ~/shop · 3 sessions
//! ╭ Sessions ──────────────────────────────────────────────────────────────────╮
//! │ ▸ ● context-passing   round 2 open, 4/5 sealed                     resume   │
//! ├ New session ───────────────────────────────────────────────────────────────┤
//! │   + New question…                                                          │
//! ╰────────────────────────────────────────────────────────────────────────────╯
//! ```

use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use unicode_width::UnicodeWidthStr as _;

use super::click_map::{ClickMap, Target};
use crate::sanitize::harmless_line;
use crate::tui::cell_text::clipped;
use crate::tui::home::{HomeRow, HomeSection};
use crate::tui::model::Model;

pub fn draw(frame: &mut Frame<'_>, title: Rect, body: Rect, model: &Model, hits: &mut ClickMap) {
    let left = Line::styled(" roundtable", model.theme.strong());
    let right = harmless_line(&format!("{} · {} ", model.home.project, model.home.ready));
    frame.render_widget(Paragraph::new(left), title);
    if right.width() + 14 < usize::from(title.width) && title.height > 0 {
        frame.render_widget(Paragraph::new(right).alignment(Alignment::Right), title);
    }
    let shown = model.home.shown();
    let sessions = shown.iter().take_while(|row| row.part == HomeSection::Sessions).count();
    let rest = shown.len() - sessions;
    let of_rest = u16::try_from(rest).unwrap_or(u16::MAX).saturating_add(2).clamp(3, body.height / 2);
    let [over, under] =
        Layout::vertical([Constraint::Min(3), Constraint::Length(of_rest.max(3))]).areas(body);
    let is_above = model.home.at < sessions;
    let name = match model.home.words.as_str() {
        _ if model.home.is_reading => " Sessions · loading… ".to_owned(),
        "" => " Sessions ".to_owned(),
        words => format!(" Sessions with “{}” ", harmless_line(words)),
    };
    frame.render_widget(model.theme.block(name, is_above), over);
    frame.render_widget(model.theme.block(" New session ".to_owned(), !is_above), under);
    list(frame, inner(over), model, &shown[..sessions], 0, hits);
    list(frame, inner(under), model, &shown[sessions..], sessions, hits);
    if sessions == 0 && !model.home.is_reading {
        let words = if model.home.words.is_empty() {
            " No sessions yet. Pick an example below, or press n to ask your own question."
        } else {
            " No matching sessions. Esc clears the search."
        };
        frame.render_widget(Paragraph::new(Line::styled(words, model.theme.faint())), inner(over));
    }
}

fn inner(area: Rect) -> Rect {
    Rect {
        x: area.x + 1,
        y: area.y + 1,
        width: area.width.saturating_sub(2),
        height: area.height.saturating_sub(2),
    }
}

fn list(
    frame: &mut Frame<'_>,
    area: Rect,
    model: &Model,
    rows: &[&HomeRow],
    first: usize,
    hits: &mut ClickMap,
) {
    let height = usize::from(area.height);
    let chosen = model.home.at.checked_sub(first).filter(|at| *at < rows.len());
    let start = chosen.map_or(0, |at| (at + 1).saturating_sub(height));
    let longest = rows.iter().map(|row| row.name.width()).max().unwrap_or(0).min(28);
    for (line, (index, row)) in (0..area.height).zip(rows.iter().enumerate().skip(start)) {
        let place = Rect { y: area.y + line, height: 1, ..area };
        hits.note(place, Target::Row(first + index));
        draw_row(frame, place, model, row, chosen == Some(index), longest);
    }
}

fn draw_row(
    frame: &mut Frame<'_>,
    place: Rect,
    model: &Model,
    row: &HomeRow,
    is_chosen: bool,
    longest: usize,
) {
    let theme = model.theme;
    let pointer = if is_chosen { theme.sign("▸", ">") } else { " " };
    let name = clipped(&harmless_line(&row.name), longest);
    let room = usize::from(place.width).saturating_sub(longest + row.verb.len() + 9);
    let about = clipped(&harmless_line(&row.about), room);
    let line = Line::from(vec![
        Span::raw(format!(" {pointer} ")),
        Span::raw(format!("{} ", theme.sign(row.sign.0, row.sign.1))),
        Span::styled(name, if is_chosen { theme.strong() } else { ratatui::style::Style::new() }),
        Span::raw("  "),
        Span::raw(about),
        Span::styled(format!(" {}", row.verb), theme.faint()),
    ]);
    let line = if is_chosen { line.style(theme.chosen()) } else { line };
    frame.render_widget(Paragraph::new(line), place);
}
