//! Drawing: the frame of the screen, and which panes are on it.
//!
//! ```text
//!  session ▸ round 3 · OPEN                                         3 of 5 sealed
//! ╭ seats ─────────────────────────────╮╭ answer ────────────────────────────────╮
//! ├ tally ─────────────────────────────┤│                                        │
//! ╰────────────────────────────────────╯╰────────────────────────────────────────╯
//!  ▶ 1×  ├────●─────────◆═══════●──────┤  event 41 of 118 · 0:14 of 3:52
//!  space play  → event  ] round  Tab pane  ? help  q quit
//! ```
//!
//! Below 90 columns one pane is shown at a time; below 16 lines title and time line make room.

mod answer;
mod events;
mod overlay;
mod seats;
mod snapshot;
mod tally;
mod timeline;
mod title;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph};

use super::keymap::{Action, BINDINGS, Binding, label};
use super::model::{Model, Pane};

/// The narrowest screen with two columns.
const TWO_COLUMNS: u16 = 90;
/// The lowest screen with a title line.
const WITH_TITLE: u16 = 16;

/// Draws the whole screen.
pub fn draw(frame: &mut Frame<'_>, model: &Model) {
    let area = frame.area();
    if area.width < 24 || area.height < 6 {
        return frame.render_widget(Paragraph::new("too small: 24x6 at least"), area);
    }
    let is_low = area.height < WITH_TITLE;
    let rows = [
        Constraint::Length(u16::from(!is_low)),
        Constraint::Min(3),
        Constraint::Length(1),
        Constraint::Length(1),
    ];
    let [title, body, time, foot] = Layout::vertical(rows).areas(area);
    if !is_low {
        title::draw(frame, title, model);
    }
    panes(frame, body, model);
    timeline::draw(frame, time, model);
    footer(frame, foot, model);
    overlay::draw(frame, area, model);
    if model.theme.ascii {
        plain_signs(frame);
    }
}

/// Puts ASCII in the place of the signs and quotation marks this program writes itself.
fn plain_signs(frame: &mut Frame<'_>) {
    for cell in &mut frame.buffer_mut().content {
        let plain = match cell.symbol() {
            "·" | "–" => "-",
            "→" => ">",
            "←" => "<",
            "↑" => "^",
            "↓" => "v",
            "…" => ".",
            "“" | "”" => "\"",
            "’" => "'",
            _ => continue,
        };
        cell.set_symbol(plain);
    }
}

fn panes(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    if area.width < TWO_COLUMNS {
        return pane(frame, area, model, model.focus);
    }
    let [left, right] =
        Layout::horizontal([Constraint::Percentage(44), Constraint::Percentage(56)]).areas(area);
    let seats = model.replay.session().rounds.last().map_or(0, |round| round.seats.len());
    let tally_lines =
        u16::try_from(tally::lines(model, left.width.saturating_sub(2)).len()).unwrap_or(u16::MAX);
    let wanted = u16::try_from(seats).unwrap_or(u16::MAX).saturating_add(2);
    let most = area.height.saturating_sub(tally_lines.saturating_add(2).min(area.height / 2));
    let rows = [Constraint::Length(wanted.clamp(3, most.max(3))), Constraint::Min(3)];
    let [top, bottom] = Layout::vertical(rows).areas(left);
    pane(frame, top, model, Pane::Seats);
    pane(frame, bottom, model, Pane::Tally);
    let beside = match model.focus {
        Pane::Seats | Pane::Tally => Pane::Answer,
        other => other,
    };
    pane(frame, right, model, beside);
}

fn pane(frame: &mut Frame<'_>, area: Rect, model: &Model, pane: Pane) {
    let inner_width = area.width.saturating_sub(2);
    let height = usize::from(area.height.saturating_sub(2));
    let scroll = usize::from(model.scroll[pane.index()]);
    let (title, lines) = match pane {
        Pane::Seats => seats::pane(model, inner_width, scroll, height),
        Pane::Tally => (" tally ".to_owned(), from(tally::lines(model, inner_width), scroll, height)),
        Pane::Answer => answer::pane(model, inner_width, scroll, height),
        Pane::Snapshot => snapshot::pane(model, inner_width, scroll, height),
        Pane::Events => events::pane(model, inner_width, scroll, height),
    };
    let is_focused = model.focus == pane;
    let style = if is_focused { model.theme.strong() } else { model.theme.faint() };
    let block = Block::bordered().border_set(model.theme.border()).border_style(style).title(Line::styled(
        title,
        if is_focused { model.theme.strong() } else { ratatui::style::Style::new() },
    ));
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

/// The lines of a pane that are seen: at most `height` from `scroll` on, the last page at least.
fn from(lines: Vec<Line<'static>>, scroll: usize, height: usize) -> Vec<Line<'static>> {
    let start = scroll.min(lines.len().saturating_sub(height));
    lines.into_iter().skip(start).take(height).collect()
}

fn footer(frame: &mut Frame<'_>, area: Rect, model: &Model) {
    if let Some(notice) = &model.notice {
        let text = format!(" {}", super::text::safe(notice));
        return frame.render_widget(Paragraph::new(Line::styled(text, model.theme.under_way())), area);
    }
    let shown = footer_bindings(usize::from(area.width));
    let mut spans = vec![Span::raw(" ")];
    for binding in shown {
        spans.push(Span::styled(footer_key(binding), model.theme.key()));
        spans.push(Span::raw(format!(" {}   ", binding.footer.unwrap_or_default())));
    }
    frame.render_widget(Paragraph::new(Line::from(spans)), area);
}

fn footer_key(binding: &Binding) -> String {
    binding.keys.first().map(|key| label(*key)).unwrap_or_default()
}

/// The footer's keys that fit; what leads out and to the rest fits first.
fn footer_bindings(width: usize) -> Vec<&'static Binding> {
    let wide = |binding: &Binding| {
        footer_key(binding).chars().count() + binding.footer.unwrap_or_default().chars().count() + 4
    };
    let (mut shown, mut used) = (Vec::new(), 1);
    let is_first = |binding: &&Binding| matches!(binding.action, Action::Help | Action::Quit);
    let with_footer = || BINDINGS.iter().filter(|binding| binding.footer.is_some());
    for binding in with_footer().filter(is_first).chain(with_footer().filter(|binding| !is_first(binding))) {
        used += wide(binding);
        // The last one needs no room behind it.
        if used <= width + 3 {
            shown.push(binding);
        }
    }
    shown.sort_by_key(|binding| BINDINGS.iter().position(|other| other.action == binding.action));
    shown
}
